// SPDX-License-Identifier: Apache-2.0
#include "Fields.h"
#include "mct/Report/Report.h"

using namespace mct;
using namespace mct::report;
namespace json = llvm::json;
using llvm::StringRef;

static json::Object schemaOf(bool *) {
  return json::Object{{"type", "boolean"}};
}
static json::Object schemaOf(int64_t *) {
  return json::Object{{"type", "integer"}};
}
static json::Object schemaOf(Real *) {
  return json::Object{{"type", json::Array{"number", "null"}}};
}
static json::Object schemaOf(std::string *) {
  return json::Object{{"type", "string"}};
}
template <typename T> static json::Object schemaOf(std::vector<T> *);
template <typename T> static json::Object schemaOf(T *);

namespace {
struct SchemaMaker {
  template <typename T> void operator()(StringRef key, T &, StringRef meaning) {
    add(key, schemaOf(static_cast<T *>(nullptr)), meaning);
    required.push_back(key);
  }
  template <typename T>
  void operator()(StringRef key, std::optional<T> &, StringRef meaning) {
    add(key, schemaOf(static_cast<T *>(nullptr)), meaning);
  }
  template <typename T>
  void since(int64_t, StringRef key, T &member, StringRef meaning) {
    (*this)(key, member, meaning);
  }
  void add(StringRef key, json::Object schema, StringRef meaning) {
    schema["description"] = meaning;
    properties[key] = std::move(schema);
  }
  json::Object take() {
    return json::Object{{"type", "object"},
                        {"properties", std::move(properties)},
                        {"required", std::move(required)},
                        {"additionalProperties", false}};
  }

  json::Object properties;
  json::Array required;
};
} // namespace

template <typename T> static json::Object schemaOf(std::vector<T> *) {
  return json::Object{{"type", "array"},
                      {"items", schemaOf(static_cast<T *>(nullptr))}};
}

template <typename T> static json::Object schemaOf(T *) {
  SchemaMaker maker;
  T object;
  Fields<T>::visit(maker, object);
  return maker.take();
}

void mct::report::printSchema(json::OStream &stream) {
  SchemaMaker maker;
  maker.add("format", json::Object{{"const", "mct-report"}},
            "kind of the document");
  maker.add("version", json::Object{{"const", kFormatVersion}},
            "version of the document");
  maker.required = json::Array{"format", "version"};
  Report report;
  Fields<Report>::visit(maker, report);
  json::Object schema = maker.take();
  schema["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  schema["title"] = "mct report";
  schema["description"] = "Keys that are not required are left out where there "
                          "is nothing to say; a "
                          "number that is infinite or not defined is null.";
  stream.value(std::move(schema));
}
