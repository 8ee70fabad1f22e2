// SPDX-License-Identifier: Apache-2.0
//
// Conversion between structs that have Fields and JSON.
#ifndef MCT_LIB_REPORT_JSONFIELDS_H
#define MCT_LIB_REPORT_JSONFIELDS_H

#include "Fields.h"
#include "mct/Support/ParseJson.h"
#include "llvm/ADT/StringSet.h"
#include <cmath>
#include <limits>

namespace mct::report {

namespace json = llvm::json;
using llvm::StringRef;

/// Prints the members of an object that has begun.
class Printer {
public:
  explicit Printer(json::OStream &stream) : stream(stream) {}

  template <typename T>
  void operator()(StringRef key, const T &member, StringRef) {
    stream.attributeBegin(key);
    print(member);
    stream.attributeEnd();
  }
  template <typename T>
  void operator()(StringRef key, const std::optional<T> &member,
                  StringRef meaning) {
    if (member)
      (*this)(key, *member, meaning);
  }
  template <typename T>
  void since(int64_t, StringRef key, const T &member, StringRef meaning) {
    (*this)(key, member, meaning);
  }
  void dropped(StringRef) {}

private:
  void print(bool value) { stream.value(value); }
  void print(int64_t value) { stream.value(value); }
  void print(Real value) {
    if (std::isfinite(value))
      stream.value(value == 0 ? 0.0 : value); // no -0, which is read as 0
    else
      stream.value(nullptr);
  }
  void print(const std::string &value) { stream.value(json::fixUTF8(value)); }
  template <typename T> void print(const std::vector<T> &values) {
    stream.array([&] {
      for (const T &value : values)
        print(value);
    });
  }
  template <typename T> void print(const T &object) {
    stream.object([&] { visitFields(Fields<T>(), *this, object); });
  }

  json::OStream &stream;
};

/// One object with the format, the version and the members.
template <typename Document>
void printDocument(json::OStream &stream, StringRef format, int64_t version,
                   const Document &document) {
  stream.object([&] {
    stream.attribute("format", format);
    stream.attribute("version", version);
    Printer printer(stream);
    visitFields(Fields<Document>(), printer, document);
  });
}

inline bool read(const json::Value &value, bool &to, json::Path path) {
  if (std::optional<bool> found = value.getAsBoolean()) {
    to = *found;
    return true;
  }
  path.report("expected true or false");
  return false;
}

inline bool read(const json::Value &value, int64_t &to, json::Path path) {
  if (std::optional<int64_t> found = value.getAsInteger()) {
    to = *found;
    return true;
  }
  path.report("expected an integer");
  return false;
}

inline bool read(const json::Value &value, Real &to, json::Path path) {
  std::optional<double> found = value.getAsNumber();
  if (value.getAsNull())
    found = std::numeric_limits<double>::quiet_NaN();
  else if (found && !std::isfinite(*found))
    found = std::nullopt;
  if (found) {
    to = *found;
    return true;
  }
  path.report("expected a finite number or null");
  return false;
}

inline bool read(const json::Value &value, std::string &to, json::Path path) {
  if (std::optional<StringRef> found = value.getAsString()) {
    to = found->str();
    return true;
  }
  path.report("expected a string");
  return false;
}

/// Returns an object.
template <typename T>
bool read(const json::Value &value, T &to, json::Path path);

template <typename T>
bool read(const json::Value &value, std::vector<T> &to, json::Path path) {
  const json::Array *array = value.getAsArray();
  if (!array) {
    path.report("expected an array");
    return false;
  }
  to.reserve(array->size());
  for (size_t index = 0; index != array->size(); ++index)
    if (!read((*array)[index], to.emplace_back(), path.index(unsigned(index))))
      return false;
  return true;
}

class Reader {
public:
  /// `version` is that of the document; members that were added later may be
  /// missing.
  Reader(const json::Object &object, json::Path path,
         int64_t version = std::numeric_limits<int64_t>::max())
      : object(object), path(path), version(version) {}

  template <typename T> void operator()(StringRef key, T &member, StringRef) {
    if (!take(key))
      return;
    if (const json::Value *value = object.get(key))
      isGood = read(*value, member, path.field(key));
    else
      refuse(key, "is missing");
  }
  template <typename T>
  void operator()(StringRef key, std::optional<T> &member, StringRef) {
    const json::Value *value = object.get(key);
    if (take(key) && value)
      isGood = read(*value, member.emplace(), path.field(key));
  }

  template <typename T>
  void since(int64_t first, StringRef key, T &member, StringRef meaning) {
    if (version >= first)
      (*this)(key, member, meaning);
  }

  void dropped(StringRef key) { skip(key); }

  /// Returns whether the whole object is valid, without other members.
  bool finish() {
    for (const auto &entry : object)
      if (isGood && !known.contains(StringRef(entry.first)))
        refuse(entry.first, "is not known");
    return isGood;
  }
  void skip(StringRef key) { known.insert(key); }

private:
  bool take(StringRef key) {
    known.insert(key);
    return isGood;
  }
  void refuse(StringRef key, llvm::StringLiteral why) {
    path.field(key).report(why);
    isGood = false;
  }

  const json::Object &object;
  json::Path path;
  int64_t version;
  llvm::StringSet<> known;
  bool isGood = true;
};

template <typename T>
bool read(const json::Value &value, T &to, json::Path path) {
  const json::Object *object = value.getAsObject();
  if (!object) {
    path.report("expected an object");
    return false;
  }
  Reader reader(*object, path);
  visitFields(Fields<T>(), reader, to);
  return reader.finish();
}

/// Parses the result of printDocument. `what` is the name of the document in
/// errors.
template <typename Document>
llvm::Expected<Document> parseDocument(StringRef text, StringRef what,
                                       StringRef format, int64_t latest) {
  llvm::Expected<json::Value> value = support::parseJson(text);
  if (!value)
    return value.takeError();
  json::Path::Root root(what);
  json::Path path(root);
  const json::Object *object = value->getAsObject();
  if (!object || object->getString("format") != format)
    return llvm::createStringError("expected an object with \"format\": \"" +
                                   format + "\" when parsing " + what);
  std::optional<int64_t> version = object->getInteger("version");
  if (!version || *version < 1) {
    path.field("version").report("expected a version from 1 on");
    return root.getError();
  }
  if (*version > latest)
    return llvm::createStringError(
        what + " has version " + llvm::Twine(*version) + ", and " +
        llvm::Twine(latest) +
        " is the latest that is known here: read it with the mct that made "
        "it, or make it again");
  Document document;
  Reader reader(*object, path, *version);
  reader.skip("format");
  reader.skip("version");
  visitFields(Fields<Document>(), reader, document);
  if (!reader.finish())
    return root.getError();
  return document;
}

} // namespace mct::report

#endif // MCT_LIB_REPORT_JSONFIELDS_H
