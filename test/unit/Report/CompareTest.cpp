// SPDX-License-Identifier: Apache-2.0
#include "mct/Report/Compare.h"
#include "Filled.h"
#include "gtest/gtest.h"
#include <cmath>
#include <limits>

using namespace mct::report;
namespace json = llvm::json;
using Names = std::vector<std::string>;

static std::string toText(const Comparison &comparison) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  json::OStream json(stream);
  print(json, comparison);
  return text;
}

/// A report with a network of these activations.
static Report makeReport(std::initializer_list<const char *> names) {
  Report report;
  report.metric = "kl";
  report.distance = 0.5;
  for (const char *name : names) {
    Point &point = report.points.emplace_back();
    point.name = name;
    point.total = Distance{20, 1, 0.5};
    point.parameters.emplace().text = "#tpc.power_of_two<8>";
    report.operators.emplace_back().name = name;
  }
  return report;
}

static const Change *find(const std::vector<Change> &changes,
                          llvm::StringRef name) {
  for (const Change &change : changes)
    if (change.name == name)
      return &change;
  return nullptr;
}

TEST(CompareTest, EqualReportsDifferNowhere) {
  Report report = createFilled();
  Comparison comparison = compare(report, report);
  EXPECT_TRUE(comparison.sameSamples);
  EXPECT_TRUE(comparison.sameCalibration);
  ASSERT_EQ(comparison.points.size(), report.points.size());
  ASSERT_EQ(comparison.operators.size(), report.operators.size());
  auto expectNone = [](const std::vector<Change> &changes) {
    EXPECT_FALSE(changes.empty());
    for (const Change &change : changes)
      EXPECT_EQ(change.difference, 0) << change.name;
  };
  expectNone(comparison.numbers);
  for (const Matched &point : comparison.points) {
    expectNone(point.numbers);
    EXPECT_TRUE(point.texts.empty());
  }
  for (const Matched &op : comparison.operators) {
    expectNone(op.numbers);
    EXPECT_TRUE(op.texts.empty());
  }
  EXPECT_TRUE(comparison.pointsOnlyBefore.empty());
  EXPECT_TRUE(comparison.pointsOnlyAfter.empty());
  EXPECT_TRUE(comparison.diagnosesThatCame.empty());
  EXPECT_TRUE(comparison.diagnosesThatWent.empty());
  EXPECT_EQ(comparison.diagnosesThatStayed.size(), report.diagnoses.size());
}

TEST(CompareTest, DifferencesAreLaterMinusEarlier) {
  Report before = makeReport({"a", "b"}), after = makeReport({"a", "b"});
  after.distance = 0.125;
  after.simulated.top1 = 0.75;
  after.points[1].total->sqnr = 26;
  after.resources.weightBytes = 100;
  Comparison comparison = compare(before, after);
  EXPECT_EQ(find(comparison.numbers, "distance")->difference, -0.375);
  EXPECT_EQ(find(comparison.numbers, "resources.weight_bytes")->difference,
            100);
  const Change *top1 = find(comparison.numbers, "simulated.top1");
  EXPECT_FALSE(top1->before);
  EXPECT_EQ(top1->after, 0.75);
  EXPECT_FALSE(top1->difference);
  EXPECT_EQ(find(comparison.points[0].numbers, "total.sqnr")->difference, 0);
  EXPECT_EQ(find(comparison.points[1].numbers, "total.sqnr")->difference, 6);
}

TEST(CompareTest, WhatOnlyOneReportHasIsNamed) {
  Report before = makeReport({"a", "old", "c"});
  Report after = makeReport({"c", "new", "a"});
  Comparison comparison = compare(before, after);
  EXPECT_EQ(comparison.pointsOnlyBefore, (Names{"old"}));
  EXPECT_EQ(comparison.pointsOnlyAfter, (Names{"new"}));
  EXPECT_EQ(comparison.operatorsOnlyBefore, (Names{"old"}));
  EXPECT_EQ(comparison.operatorsOnlyAfter, (Names{"new"}));
  ASSERT_EQ(comparison.points.size(), 2u);
  EXPECT_EQ(comparison.points[0].name, "c");
  EXPECT_EQ(comparison.points[1].name, "a");
}

TEST(CompareTest, ShiftedValuesAreThoseOfTheirOldNames) {
  Report before =
      makeReport({"act", "act/kernel_attr", "model/relu", "other_shifted"});
  Report after = makeReport({"act_shifted", "act_shifted/kernel_attr",
                             "model/relu_shifted_1", "other"});
  Comparison comparison = compare(before, after);
  EXPECT_TRUE(comparison.pointsOnlyBefore.empty());
  EXPECT_TRUE(comparison.pointsOnlyAfter.empty());
  ASSERT_EQ(comparison.points.size(), 4u);
  for (auto [index, point] : llvm::enumerate(comparison.points)) {
    EXPECT_EQ(point.nameBefore, before.points[index].name);
    EXPECT_EQ(point.name, after.points[index].name);
  }
}

TEST(CompareTest, AShiftedNameOfItsOwnIsNotTaken) {
  Comparison comparison = compare(makeReport({"a", "a_shifted"}),
                                  makeReport({"a", "a_shifted", "b_shifted"}));
  EXPECT_EQ(comparison.pointsOnlyAfter, (Names{"b_shifted"}));
  EXPECT_EQ(comparison.points[1].nameBefore, "a_shifted");
}

TEST(CompareTest, TextsThatDifferAreShown) {
  Report before = makeReport({"a"}), after = makeReport({"a"});
  after.points[0].parameters->text = "#tpc.power_of_two<4>";
  after.operators[0].cover = "float";
  Comparison comparison = compare(before, after);
  ASSERT_EQ(comparison.points[0].texts.size(), 1u);
  const TextChange &change = comparison.points[0].texts[0];
  EXPECT_EQ(change.name, "parameters");
  EXPECT_EQ(change.before, "#tpc.power_of_two<8>");
  EXPECT_EQ(change.after, "#tpc.power_of_two<4>");
  ASSERT_EQ(comparison.operators[0].texts.size(), 1u);
  EXPECT_EQ(comparison.operators[0].texts[0].name, "cover");
}

TEST(CompareTest, DiagnosesGoComeAndStay) {
  auto diagnose = [](Report &report, const char *rule, const char *subject,
                     double severity) {
    Diagnosis &diagnosis = report.diagnoses.emplace_back();
    diagnosis.rule = rule;
    diagnosis.subject = subject;
    diagnosis.severity = severity;
  };
  Report before = makeReport({}), after = makeReport({});
  diagnose(before, "clipped-tail", "a", 0.5);
  diagnose(before, "wasted-sign", "a", 0.25);
  diagnose(after, "wasted-sign", "b", 0.25);
  diagnose(after, "clipped-tail", "a", 0.125);
  Comparison comparison = compare(before, after);
  ASSERT_EQ(comparison.diagnosesThatWent.size(), 1u);
  EXPECT_EQ(comparison.diagnosesThatWent[0].rule, "wasted-sign");
  EXPECT_EQ(comparison.diagnosesThatWent[0].subject, "a");
  ASSERT_EQ(comparison.diagnosesThatCame.size(), 1u);
  EXPECT_EQ(comparison.diagnosesThatCame[0].subject, "b");
  ASSERT_EQ(comparison.diagnosesThatStayed.size(), 1u);
  EXPECT_EQ(comparison.diagnosesThatStayed[0].severityBefore, 0.5);
  EXPECT_EQ(comparison.diagnosesThatStayed[0].severityAfter, 0.125);
}

TEST(CompareTest, OtherUnitsAndInfinitiesHaveNoDifference) {
  Report before = makeReport({"a"}), after = makeReport({"a"});
  before.metric = "mse";
  before.points[0].effect = after.points[0].effect = Effect{1, 2, {}};
  before.points[0].total->sqnr = std::numeric_limits<double>::infinity();
  Comparison comparison = compare(before, after);
  EXPECT_FALSE(find(comparison.numbers, "distance")->difference);
  EXPECT_EQ(find(comparison.numbers, "distance")->before, 0.5);
  const std::vector<Change> &changes = comparison.points[0].numbers;
  EXPECT_FALSE(find(changes, "effect.gain")->difference);
  EXPECT_FALSE(find(changes, "total.sqnr")->difference);
  EXPECT_EQ(find(changes, "total.largest")->difference, 0);
}

TEST(CompareTest, SamplesThatNobodyKnowsAreNotTheSame) {
  Report before = makeReport({}), after = makeReport({});
  EXPECT_FALSE(compare(before, after).sameSamples);
  before.digest = "aa";
  after.digest = "ab";
  EXPECT_FALSE(compare(before, after).sameSamples);
  after.digest = "aa";
  EXPECT_TRUE(compare(before, after).sameSamples);
}

TEST(CompareTest, WhatIsPrintedIsReadAndPrintedTheSame) {
  Report before = createFilled(), after = makeReport({"a", "b"});
  after.points[0].total->sqnr = std::numeric_limits<double>::infinity();
  std::string text = toText(compare(before, after));
  EXPECT_EQ(toText(llvm::cantFail(parseComparison(text))), text);
  EXPECT_EQ(toText(compare(before, after)), text);
  // Reports that were printed and read compare the same.
  Report again = llvm::cantFail(parse(toText(after)));
  EXPECT_EQ(toText(compare(before, again)), text);
}

TEST(CompareTest, ALaterVersionIsRefused) {
  json::Value value =
      llvm::cantFail(json::parse(toText(compare(Report(), Report()))));
  (*value.getAsObject())["version"] = 2;
  std::string text;
  llvm::raw_string_ostream(text) << value;
  llvm::Expected<Comparison> comparison = parseComparison(text);
  ASSERT_FALSE(bool(comparison));
  EXPECT_EQ(llvm::toString(comparison.takeError()),
            "comparison has version 2, and 1 is the latest that is known here: "
            "read it with the mct that made it, or make it again");
}
