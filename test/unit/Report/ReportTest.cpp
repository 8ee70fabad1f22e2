// SPDX-License-Identifier: Apache-2.0
#include "mct/Report/Report.h"
#include "Filled.h"
#include "gtest/gtest.h"
#include <cmath>
#include <limits>

using namespace mct::report;
namespace json = llvm::json;

static json::Object toObject(const Report &report) {
  return std::move(*llvm::cantFail(json::parse(toText(report))).getAsObject());
}

static std::string errorOf(json::Object document) {
  std::string text;
  llvm::raw_string_ostream(text) << json::Value(std::move(document));
  llvm::Expected<Report> report = parse(text);
  return report ? "" : llvm::toString(report.takeError());
}

TEST(ReportTest, WhatIsPrintedIsReadAndPrintedTheSame) {
  std::string text = toText(createFilled());
  Report report = llvm::cantFail(parse(text));
  EXPECT_EQ(toText(report), text);
  EXPECT_EQ(report.points.size(), 2u);
  EXPECT_EQ(report.points[1].selection->curve[1].scale,
            createFilled().points[1].selection->curve[1].scale);
}

TEST(ReportTest, AnEmptyReportIsReadAndPrintedTheSame) {
  std::string text = toText(Report());
  EXPECT_EQ(toText(llvm::cantFail(parse(text))), text);
}

TEST(ReportTest, KeysAreTheMembersInSnakeCase) {
  Report report;
  report.mctVersion = "1.2";
  report.effectSamples = 128;
  Operator &layer = report.operators.emplace_back();
  layer.floatReason = "no set";
  layer.floatWeightBytes = 12;
  json::Object document = toObject(report);
  EXPECT_EQ(document.getString("format"), "mct-report");
  EXPECT_EQ(document.getInteger("version"), 3);
  EXPECT_EQ(document.getString("mct_version"), "1.2");
  EXPECT_EQ(document.getInteger("effect_samples"), 128);
  const json::Object &object =
      *document.getArray("operators")->front().getAsObject();
  EXPECT_EQ(object.getString("why_float"), "no set");
  EXPECT_EQ(object.getNumber("float_weight_bytes"), 12);
}

TEST(ReportTest, WhatIsNotThereHasNoKey) {
  Report report;
  report.points.emplace_back();
  json::Object document = toObject(report);
  EXPECT_EQ(document.get("integer"), nullptr);
  const json::Object &point =
      *document.getArray("points")->front().getAsObject();
  for (const char *key : {"statistics", "parameters", "selection", "clipped",
                          "own", "inherited", "effect", "integer"})
    EXPECT_EQ(point.get(key), nullptr) << key;
  EXPECT_FALSE(llvm::cantFail(parse(toText(report))).points[0].clipped);
}

TEST(ReportTest, InfiniteAndUndefinedNumbersAreNull) {
  Report report;
  report.distance = std::numeric_limits<double>::quiet_NaN();
  Point &point = report.points.emplace_back();
  point.total = Distance{std::numeric_limits<double>::infinity(), 1, 0};
  point.clipped = -std::numeric_limits<double>::infinity();
  json::Object document = toObject(report);
  EXPECT_TRUE(document.get("distance")->getAsNull());
  const json::Object &object =
      *document.getArray("points")->front().getAsObject();
  EXPECT_TRUE(object.getObject("total")->get("sqnr")->getAsNull());
  EXPECT_TRUE(object.get("clipped")->getAsNull());
  Report again = llvm::cantFail(parse(toText(report)));
  EXPECT_TRUE(std::isnan(again.points[0].total->sqnr));
  EXPECT_TRUE(again.points[0].clipped && std::isnan(*again.points[0].clipped));
  EXPECT_EQ(toText(again), toText(report));
}

TEST(ReportTest, NumbersAreExact) {
  Report report;
  double numbers[] = {0.1, 1e-300, 5e-324, 1.7976931348623157e308, -1.0 / 3};
  for (double number : numbers)
    report.front.emplace_back().sensitivities = number;
  report.numChanged = std::numeric_limits<int64_t>::max();
  report.distance = -0.0;
  Report again = llvm::cantFail(parse(toText(report)));
  for (auto [point, number] : llvm::zip_equal(again.front, numbers))
    EXPECT_EQ(point.sensitivities, number);
  EXPECT_EQ(again.numChanged, report.numChanged);
  EXPECT_EQ(toText(again), toText(report));
}

// Names come out of files from anywhere.
TEST(ReportTest, NamesMayBeAnything) {
  Report report;
  for (const std::string &name :
       {std::string(10000, 'x'), std::string("</script>\"'\\\n\0", 14),
        std::string("\xff\xfe")})
    report.points.emplace_back().name = name;
  Report again = llvm::cantFail(parse(toText(report)));
  EXPECT_EQ(again.points[0].name, report.points[0].name);
  EXPECT_EQ(again.points[1].name, report.points[1].name);
  EXPECT_EQ(again.points[2].name, "\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(toText(again), toText(report));
}

TEST(ReportTest, ALaterVersionIsRefused) {
  json::Object document = toObject(createFilled());
  document["version"] = 4;
  EXPECT_EQ(errorOf(std::move(document)),
            "report has version 4, and 3 is the latest that is known here: "
            "read it with the mct that made it, or make it again");
}

// Fields that version 2 has and version 1 has not are empty; fields that only
// they have are ignored.
TEST(ReportTest, EarlierVersionsAreRead) {
  Report filled = createFilled();
  json::Object document = toObject(filled);
  document["version"] = 1;
  for (const char *key :
       {"results", "corrections", "rejected_corrections", "trials"})
    ASSERT_TRUE(document.erase(key)) << key;
  document["uncorrected_distance"] = 0.5;
  for (json::Value &point : *document.getArray("points")) {
    json::Object *effect = point.getAsObject()->getObject("effect");
    ASSERT_TRUE(effect && effect->erase("share"));
    (*effect)["own"] = 0.25;
    (*effect)["agreement"] = 1;
  }
  std::string text;
  llvm::raw_string_ostream(text) << json::Value(std::move(document));
  Report read = llvm::cantFail(parse(text));
  EXPECT_TRUE(read.results.empty());
  for (Point &point : filled.points)
    point.effect->share.reset();
  filled.results.clear();
  filled.corrections.clear();
  filled.rejectedCorrections.clear();
  filled.trials.clear();
  EXPECT_EQ(toText(read), toText(filled));
}

TEST(ReportTest, DamagedDocumentsAreRefusedWithThePlace) {
  auto damaged = [](llvm::function_ref<void(json::Object &)> damage) {
    json::Object document = toObject(createFilled());
    damage(document);
    return errorOf(std::move(document));
  };
  auto point = [](json::Object &document) -> json::Object & {
    return *(*document.getArray("points"))[1].getAsObject();
  };
  EXPECT_EQ(damaged([](json::Object &o) { o["format"] = "other"; }),
            "expected an object with \"format\": \"mct-report\" when parsing "
            "report");
  EXPECT_EQ(damaged([](json::Object &o) { o["version"] = "1"; }),
            "expected a version from 1 on at report.version");
  EXPECT_EQ(damaged([&](json::Object &o) { point(o).erase("name"); }),
            "is missing at report.points[1].name");
  EXPECT_EQ(damaged([&](json::Object &o) { point(o)["name"] = 3; }),
            "expected a string at report.points[1].name");
  EXPECT_EQ(damaged([&](json::Object &o) { point(o)["extra"] = 3; }),
            "is not known at report.points[1].extra");
  EXPECT_EQ(damaged([&](json::Object &o) { point(o)["shape"] = 3; }),
            "expected an array at report.points[1].shape");
  EXPECT_EQ(damaged([&](json::Object &o) {
              point(o)["shape"] = json::Array{1, 2.5};
            }),
            "expected an integer at report.points[1].shape[1]");
  EXPECT_EQ(damaged([&](json::Object &o) { point(o)["clipped"] = "much"; }),
            "expected a finite number or null at report.points[1].clipped");
  EXPECT_EQ(damaged([&](json::Object &o) { point(o)["total"] = nullptr; }),
            "expected an object at report.points[1].total");
  EXPECT_EQ(damaged([](json::Object &o) { o["has_labels"] = 1; }),
            "expected true or false at report.has_labels");
}

TEST(ReportTest, WhatIsNoJsonIsRefused) {
  std::string text = toText(createFilled());
  for (llvm::StringRef broken :
       {llvm::StringRef(), llvm::StringRef(text).drop_back(),
        llvm::StringRef("[]")}) {
    llvm::Expected<Report> report = parse(broken);
    ASSERT_FALSE(bool(report));
    EXPECT_NE(llvm::toString(report.takeError()), "");
  }
  std::string deep(100000, '[');
  llvm::Expected<Report> report = parse(deep);
  ASSERT_FALSE(bool(report));
  llvm::consumeError(report.takeError());
}

/// Every key of `value` stands in `schema`, with a meaning.
static void expectDescribed(const json::Value &value,
                            const json::Object &schema,
                            const std::string &path) {
  if (const json::Array *array = value.getAsArray()) {
    ASSERT_EQ(schema.getString("type"), "array") << path;
    for (const json::Value &element : *array)
      expectDescribed(element, *schema.getObject("items"), path + "[]");
  }
  const json::Object *object = value.getAsObject();
  if (!object)
    return;
  ASSERT_TRUE(schema.getObject("properties")) << path;
  EXPECT_EQ(schema.getObject("properties")->size(), object->size()) << path;
  for (const auto &[key, member] : *object) {
    std::string at = path + "." + key.str();
    const json::Object *known = schema.getObject("properties")->getObject(key);
    ASSERT_TRUE(known) << at;
    EXPECT_TRUE(known->getString("description")) << at;
    expectDescribed(member, *known, at);
  }
}

TEST(ReportTest, TheSchemaHasEveryKey) {
  std::string text;
  {
    llvm::raw_string_ostream stream(text);
    json::OStream json(stream);
    printSchema(json);
  }
  json::Value schema = llvm::cantFail(json::parse(text));
  expectDescribed(toObject(createFilled()), *schema.getAsObject(), "report");
  // A field that may be left out is not required.
  std::string required;
  llvm::raw_string_ostream(required) << *schema.getAsObject()->get("required");
  EXPECT_NE(required.find("\"simulated\""), std::string::npos);
  EXPECT_EQ(required.find("\"integer\""), std::string::npos);
}
