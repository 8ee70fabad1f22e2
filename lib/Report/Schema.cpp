// SPDX-License-Identifier: Apache-2.0
#include "CompareFields.h"
#include "TraceFields.h"

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
struct SchemaBuilder {
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
  void dropped(StringRef) {}
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
  SchemaBuilder builder;
  T object;
  visitFields(Fields<T>(), builder, object);
  return builder.take();
}

template <typename Document>
static void printDocumentSchema(json::OStream &stream, StringRef format,
                                int64_t version, StringRef title) {
  SchemaBuilder builder;
  builder.add("format", json::Object{{"const", format}},
              "kind of the document");
  builder.add("version", json::Object{{"const", version}},
              "version of the document");
  builder.required = json::Array{"format", "version"};
  Document document;
  visitFields(Fields<Document>(), builder, document);
  json::Object schema = builder.take();
  schema["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  schema["title"] = title;
  schema["description"] = "Keys that are not required are left out where there "
                          "is nothing to say; a "
                          "number that is infinite or not defined is null.";
  stream.value(std::move(schema));
}

void mct::report::printSchema(json::OStream &stream) {
  printDocumentSchema<Report>(stream, kReportFormat, kFormatVersion,
                              "mct report");
}

void mct::report::printTraceSchema(json::OStream &stream) {
  printDocumentSchema<Trace>(stream, kTraceFormat, kTraceVersion, "mct trace");
}

void mct::report::printComparisonSchema(json::OStream &stream) {
  printDocumentSchema<Comparison>(stream, kComparisonFormat, kComparisonVersion,
                                  "mct comparison of reports");
}
