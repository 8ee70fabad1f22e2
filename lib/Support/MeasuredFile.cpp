// SPDX-License-Identifier: Apache-2.0
#include "mct/Support/MeasuredFile.h"

#include "mct/Support/InputFile.h"
#include "mct/Support/ParseJson.h"

using namespace mct;
namespace json = llvm::json;

static constexpr int64_t kVersion = 1;

/// Reads a name, or an array of names.
static bool readNames(const json::Value &value, std::set<std::string> &names,
                      json::Path path) {
  if (auto name = value.getAsString()) {
    names.insert(name->str());
    return true;
  }
  const json::Array *array = value.getAsArray();
  for (size_t index = 0; array && index != array->size(); ++index) {
    auto name = (*array)[index].getAsString();
    if (!name) {
      path.index(unsigned(index)).report("expected a name");
      return false;
    }
    names.insert(name->str());
  }
  if (!array)
    path.report("expected a name or an array of names");
  return array != nullptr;
}

llvm::Error support::readMeasuredFile(
    llvm::StringRef path, llvm::StringRef format,
    std::set<std::string> &instructionSets,
    llvm::function_ref<bool(json::Object &, json::Path, std::string &)> read) {
  auto buffer = readInputFile(path);
  if (!buffer)
    return llvm::createFileError(path, buffer.takeError());
  llvm::Expected<json::Value> document = parseJson((*buffer)->getBuffer());
  if (!document)
    return llvm::createFileError(path, document.takeError());
  llvm::StringRef name = format;
  name.consume_front("mct-");
  json::Object *object = document->getAsObject();
  if (!object || object->getString("format") != format)
    return llvm::createFileError(
        path, llvm::createStringError("expected an object with \"format\": \"" +
                                      format + "\" when parsing " + name));
  json::Path::Root root(name);
  json::Path at(root);
  std::string detail;
  auto readAll = [&] {
    if (object->getInteger("version") != kVersion) {
      at.field("version").report("expected version 1");
      return false;
    }
    if (const json::Value *names = object->get("instruction_set"))
      if (!readNames(*names, instructionSets, at.field("instruction_set")))
        return false;
    return read(*object, at, detail);
  };
  if (readAll())
    return llvm::Error::success();
  std::string message = llvm::toString(root.getError());
  if (!detail.empty())
    message += ": " + detail;
  return llvm::createFileError(path, llvm::createStringError(message));
}

void support::writeMeasuredHeader(
    json::OStream &stream, llvm::StringRef format,
    const std::set<std::string> &instructionSets) {
  stream.attribute("format", format);
  stream.attribute("version", kVersion);
  if (instructionSets.size() == 1)
    stream.attribute("instruction_set", *instructionSets.begin());
  else if (!instructionSets.empty())
    stream.attribute("instruction_set", json::Array(instructionSets));
}
