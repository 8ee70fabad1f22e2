// SPDX-License-Identifier: Apache-2.0
#include "mct/Report/Trace.h"
#include "Filled.h"
#include "lib/Report/TraceFields.h"
#include "gtest/gtest.h"

using namespace mct::report;
namespace json = llvm::json;
using Names = std::vector<std::string>;

static std::string toText(const Trace &trace) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  json::OStream json(stream);
  print(json, trace);
  return text;
}

static Trace createFilledTrace() {
  Trace trace;
  Filler filler;
  visitFields(Fields<Trace>(), filler, trace);
  return trace;
}

static std::string lineOf(const Trace &trace,
                          std::vector<std::string> &placeholders) {
  return makeReproduceLine(trace, placeholders);
}

TEST(TraceTest, WhatIsPrintedIsReadAndPrintedTheSame) {
  for (const Trace &trace : {Trace(), createFilledTrace()}) {
    std::string text = toText(trace);
    EXPECT_EQ(toText(llvm::cantFail(parseTrace(text))), text);
  }
}

TEST(TraceTest, DamagedDocumentsAreRefused) {
  auto errorOf = [](llvm::function_ref<void(json::Object &)> damage) {
    json::Value value =
        llvm::cantFail(json::parse(toText(createFilledTrace())));
    damage(*value.getAsObject());
    std::string text;
    llvm::raw_string_ostream(text) << value;
    llvm::Expected<Trace> trace = parseTrace(text);
    return trace ? "" : llvm::toString(trace.takeError());
  };
  EXPECT_EQ(errorOf([](json::Object &o) { o["format"] = "mct-report"; }),
            "expected an object with \"format\": \"mct-trace\" when parsing "
            "trace");
  EXPECT_EQ(errorOf([](json::Object &o) { o["version"] = 2; }),
            "trace has version 2, and 1 is the latest that is known here: read "
            "it with the mct that made it, or make it again");
  EXPECT_EQ(errorOf([](json::Object &o) {
              (*o.getArray("records"))[1].getAsObject()->erase("reason");
            }),
            "is missing at trace.records[1].reason");
}

TEST(TraceTest, RecordsReachWhatTheyAreAbout) {
  Report report;
  for (const char *name : {"act_shifted", "conv/kernel_attr", "conv2"})
    report.points.emplace_back().name = name;
  for (const char *name : {"conv", "conv2", "act_shifted"})
    report.operators.emplace_back().name = name;
  Trace trace;
  for (const char *name :
       {"act", "conv/kernel_attr", "conv", "conv2", "gone", ""}) {
    TracedRecord &record = trace.records.emplace_back();
    record.name = name;
    record.decision.text = name;
  }
  trace.records[0].decision.numbers = {{"error_before", 4}, {"error_after", 1}};
  addTrace(report, trace);
  auto texts = [](const std::vector<report::Decision> &decisions) {
    std::vector<std::string> all;
    for (const report::Decision &decision : decisions)
      all.push_back(decision.text);
    return all;
  };
  EXPECT_EQ(texts(report.points[0].decisions), (Names{"act"}));
  ASSERT_EQ(report.points[0].decisions[0].numbers.size(), 2u);
  EXPECT_EQ(report.points[0].decisions[0].numbers[1].value, 1);
  EXPECT_EQ(texts(report.points[1].decisions), (Names{"conv/kernel_attr"}));
  EXPECT_EQ(texts(report.points[2].decisions), (Names{"conv2"}));
  EXPECT_EQ(texts(report.operators[0].decisions), (Names{"conv"}));
  EXPECT_TRUE(texts(report.operators[1].decisions).empty());
  EXPECT_TRUE(texts(report.operators[2].decisions).empty());
  EXPECT_EQ(texts(report.decisions), (Names{"gone", ""}));
}

TEST(TraceTest, ARecordTakesThePlaceOfWhatTheModuleSays) {
  Report report;
  Point &point = report.points.emplace_back();
  point.name = "act";
  point.decisions.resize(2);
  point.decisions[0].pass = "mct-correct-shift-negative";
  point.decisions[0].decision = "applied";
  point.decisions[0].reason = "shifted";
  point.decisions[1] = point.decisions[0];
  point.decisions[1].reason = "other";
  Trace trace;
  TracedRecord &record = trace.records.emplace_back();
  record.name = "act";
  record.decision = point.decisions[0];
  record.decision.text = "with thresholds";
  addTrace(report, trace);
  ASSERT_EQ(point.decisions.size(), 2u);
  EXPECT_EQ(point.decisions[0].reason, "other");
  EXPECT_EQ(point.decisions[1].text, "with thresholds");
}

TEST(TraceTest, AReportTakesTheRest) {
  Trace trace = createFilledTrace();
  Report report;
  addTrace(report, trace);
  EXPECT_EQ(report.target, trace.target);
  EXPECT_EQ(report.calibrationDigest, trace.calibrationDigest);
  EXPECT_EQ(report.calibrationSamples, trace.calibrationSamples);
  EXPECT_EQ(report.frontOperators, trace.frontOperators);
  EXPECT_EQ(report.front.size(), trace.front.size());
  EXPECT_EQ(report.passes.size(), trace.passes.size());
  EXPECT_EQ(report.placeholders, trace.placeholders);
  EXPECT_NE(report.reproduce, "");
}

TEST(TraceTest, CommandsAreQuotedForAShell) {
  Trace trace;
  trace.command = {"mct-opt",
                   "my model.mlir",
                   "--mct-ptq=target=imx500 a={b}",
                   "it's",
                   "-o",
                   "q.mlirbc",
                   ""};
  trace.requested = {"mct-ptq"};
  std::vector<std::string> placeholders;
  EXPECT_EQ(lineOf(trace, placeholders),
            "mct-opt 'my model.mlir' '--mct-ptq=target=imx500 a={b}' "
            "'it'\\''s' -o q.mlirbc ''");
  EXPECT_TRUE(placeholders.empty());
}

TEST(TraceTest, PipelinesAreACommandOfMctOpt) {
  Trace trace;
  trace.input = "model.mlirbc";
  trace.requested = {"a{x=1}", "b{calibration-data=SAMPLES.npy}"};
  trace.placeholders = {"SAMPLES.npy"};
  std::vector<std::string> placeholders;
  EXPECT_EQ(lineOf(trace, placeholders),
            "mct-opt model.mlirbc '--pass-pipeline=builtin.module(a{x=1},"
            "b{calibration-data=SAMPLES.npy})' -o QUANTIZED.mlirbc");
  EXPECT_EQ(placeholders, (Names{"SAMPLES.npy", "QUANTIZED.mlirbc"}));
}

TEST(TraceTest, AModelThatMctOptCannotReadIsAPlaceholder) {
  Trace trace;
  trace.input = "model.tflite";
  trace.requested = {"a"};
  std::vector<std::string> placeholders;
  EXPECT_EQ(lineOf(trace, placeholders),
            "mct-opt MODEL.mlirbc '--pass-pipeline=builtin.module(a)' -o "
            "QUANTIZED.mlirbc");
  EXPECT_EQ(placeholders, (Names{"MODEL.mlirbc", "QUANTIZED.mlirbc"}));
}

TEST(TraceTest, NothingRanNothingToReproduce) {
  std::vector<std::string> placeholders{"old"};
  EXPECT_EQ(lineOf(Trace(), placeholders), "");
  EXPECT_TRUE(placeholders.empty());
}
