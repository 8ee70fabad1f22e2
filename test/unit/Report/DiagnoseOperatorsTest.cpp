// SPDX-License-Identifier: Apache-2.0
//
// Every rule about operators and corrections at its condition and just below
// it, and the order, names and verdict of diagnoses.
#include "HealthyNetwork.h"

#include <limits>

using namespace mct::report;
using namespace mct::testing::diagnosis;

//===----------------------------------------------------------------------===//
// Operators
//===----------------------------------------------------------------------===//

TEST(DiagnoseTest, AnUnmatchedOperatorIsQuantizedByDefault) {
  Network network;
  Operator &op = network.addOperator("log", "tosa.log", "", "conv");
  network.addActivation("log", spread(-1, 1), grid(1, true), 0.008);
  Diagnosis diagnosis = network.only();
  EXPECT_EQ(diagnosis.rule, "unmatched-operator");
  EXPECT_EQ(diagnosis.subject, "log");
  EXPECT_EQ(diagnosis.paste, "name \"log\" activation=float");
  op.operatorSet = "Log";
  EXPECT_EQ(network.rules(), Rules());
}

TEST(DiagnoseTest, AnUnfusedActivationLeavesTwoQuantizers) {
  Network network;
  network.addOperator("relu", "tosa.clamp", "ReLU", "conv");
  network.addActivation("relu", spread(0, 1), grid(1, false), 0.008);
  Diagnosis diagnosis = network.only();
  EXPECT_EQ(diagnosis.rule, "unfused-activation");
  EXPECT_EQ(diagnosis.subject, "conv");
  EXPECT_EQ(diagnosis.paste, "name \"conv\" activation=float");
  // Somebody else needs what is between them.
  network.addOperator("sum", "tosa.add", "Add", "conv").inputs = {"conv",
                                                                  "relu"};
  EXPECT_EQ(network.rules(), Rules());
}

TEST(DiagnoseTest, MovedValuesNeedNoQuantizer) {
  Network network;
  network.addOperator("flat", "tosa.reshape", "Reshape", "conv");
  network.addActivation("flat", spread(-1, 1), grid(1.5, true), 0.008);
  Diagnosis diagnosis = network.only();
  EXPECT_EQ(diagnosis.rule, "needless-quantizer");
  EXPECT_EQ(diagnosis.paste, "name \"flat\" activation=float");
  // The same levels change nothing.
  network.report.points.back().parameters = grid(1, true);
  EXPECT_EQ(network.rules(), Rules());
  // Its operand is float.
  network.report.points.back().parameters = grid(1.5, true);
  network.conv().parameters.reset();
  EXPECT_EQ(network.rules(), Rules());
}

TEST(DiagnoseTest, PartsOfAConcatenationShareAGrid) {
  Network network;
  network.addOperator("scores", "tosa.sigmoid", "Sigmoid", "conv");
  network.addActivation("scores", spread(0, 1), grid(1, false), 0.001);
  network.addOperator("boxes", "tosa.mul", "Mul", "conv");
  network.addActivation("boxes", spread(0, 600), grid(1024, false), 0.001);
  network.addOperator("moved", "tosa.transpose", "", "scores").points = {};
  network.addOperator("head", "tosa.concat", "Concat", "boxes").inputs = {
      "boxes", "moved"};
  network.addActivation("head", spread(0, 600), grid(1024, false), 0.001);
  Diagnosis diagnosis = network.only();
  EXPECT_EQ(diagnosis.rule, "shared-grid-concat");
  EXPECT_EQ(diagnosis.subject, "head");
  EXPECT_EQ(diagnosis.paste, "name \"head\" activation=float");
  // A step of 4 makes 0 of every score: an error of 1/3, on 256 levels of
  // 2^-16 / 12, which is 54 dB.
  EXPECT_GE(diagnosis.severity, kGrave);
  // Samples of the bins of a histogram stand for the values.
  ASSERT_EQ(diagnosis.numbers.back().name, "loss");
  EXPECT_NEAR(diagnosis.numbers.back().value, 54.2, 2);
  // Without a point there is no grid to share.
  network.report.points.back().parameters.reset();
  EXPECT_EQ(network.rules(), Rules());
}

TEST(DiagnoseTest, PartsOfAnEighthOfTheRangeMayShareAGrid) {
  Network network;
  network.addOperator("small", "tosa.sigmoid", "Sigmoid", "conv");
  size_t small = network.report.points.size();
  network.addActivation("small", spread(0, 1), grid(1, false), 0.001);
  network.addOperator("large", "tosa.mul", "Mul", "conv");
  network.addActivation("large", spread(0, 8), grid(8, false), 0.001);
  network.addOperator("head", "tosa.concat", "Concat", "large").inputs = {
      "large", "small"};
  network.addActivation("head", spread(0, 8), grid(8, false), 0.001);
  EXPECT_EQ(network.rules(), Rules());
  network.see(network.report.points[small], spread(0, 0.9));
  Diagnosis diagnosis = network.only();
  EXPECT_EQ(diagnosis.rule, "shared-grid-concat");
  // 3 of 8 bits are 18 dB.
  EXPECT_GE(diagnosis.severity, kGrave);
}

TEST(DiagnoseTest, ChannelsThatSlicesSeparateShareAGrid) {
  Network network;
  Statistics values = spread(-1, 1);
  values.channelMin = {-1, -1, -0.1, -1};
  values.channelMax = {1, 1, 0.1, 1};
  network.see(network.conv(), values);
  for (const char *name : {"boxes", "scores"}) {
    Operator &slice = network.addOperator(name, "tosa.slice", "", "conv");
    slice.points = {};
    slice.shape = {1, 8, 8, 2};
  }
  Diagnosis diagnosis = network.only();
  EXPECT_EQ(diagnosis.rule, "shared-grid-concat");
  EXPECT_EQ(diagnosis.subject, "conv");
  EXPECT_NE(diagnosis.cause.find("channel 2 up to 0.1"), std::string::npos)
      << diagnosis.cause;
  // Slices of the image keep all channels.
  for (Operator &op : network.report.operators)
    if (op.ops.front() == "tosa.slice")
      op.shape = {1, 4, 8, 4};
  EXPECT_EQ(network.rules(), Rules());
}

TEST(DiagnoseTest, ABiasBeyond32BitsTakesALargerThreshold) {
  Network network;
  network.kernel().parameters->threshold = {1, 0x1p-10, 1};
  Operator::Sums sums;
  sums.largestBias = 0x1p31;
  sums.biasChannel = 1;
  sums.largest = 0x1p32;
  network.layer().sums = sums;
  Diagnosis diagnosis = network.only();
  EXPECT_EQ(diagnosis.rule, "bias-off-grid");
  EXPECT_EQ(diagnosis.paste, "min-threshold=0.00195");
  EXPECT_GE(diagnosis.severity, kGrave);
  network.layer().sums->largest = network.layer().sums->largestBias = 0x1p30;
  EXPECT_EQ(network.rules(), Rules());
}

TEST(DiagnoseTest, ABiasThatIsFurtherOffThanRoundingTakesMoreBits) {
  Network network;
  network.kernel().parameters->bits = 4;
  Decision decision;
  decision.pass = "mct-round-weights";
  network.kernel().decisions = {decision};
  Operator::Sums sums;
  sums.biasError = 0.28;
  network.layer().sums = sums;
  EXPECT_EQ(network.rules(), Rules());
  network.layer().sums->biasError = 0.29;
  Diagnosis diagnosis = network.only();
  EXPECT_EQ(diagnosis.rule, "bias-off-grid");
  EXPECT_EQ(diagnosis.paste, "name \"conv\" weights.kernel_attr=8");
  // 4 more bits divide by 16.
  network.layer().sums->biasError = 4.7;
  EXPECT_EQ(network.only().paste, "name \"conv\" weights.kernel_attr=float");
  network.layer().sums->biasError = 4.6;
  EXPECT_EQ(network.only().paste, "name \"conv\" weights.kernel_attr=8");
}

TEST(DiagnoseTest, SumsThatLeaveTheAccumulatorTakeFewerBits) {
  Network network;
  Operator::Sums sums;
  sums.largest = 0x1p31 - 1;
  network.layer().sums = sums;
  EXPECT_EQ(network.rules(), Rules());
  network.layer().sums->largest = 0x1p31;
  Diagnosis diagnosis = network.only();
  EXPECT_EQ(diagnosis.rule, "saturated-accumulator");
  EXPECT_EQ(diagnosis.paste, "name \"conv\" weights.kernel_attr=4");
  // Wider accumulators, of 48 bits, hold it easily.
  network.layer().sums->bits = 48;
  EXPECT_EQ(network.rules(), Rules());
  network.layer().sums->bits = 32;
  network.layer().alternatives.clear();
  EXPECT_EQ(network.only().paste, "min-threshold=2");
}

//===----------------------------------------------------------------------===//
// Order, names and verdict
//===----------------------------------------------------------------------===//

TEST(DiagnoseTest, TheVerdictNamesTheWorstGroupFirst) {
  Network network;
  network.report.simulated.samples = 10;
  Result boxes, rest;
  boxes.name = "out";
  boxes.simulated = {50, 1, 0.1};
  boxes.groups.resize(2);
  boxes.groups[0].name = "boxes";
  boxes.groups[0].simulated = {50, 1, 0.1};
  boxes.groups[1].name = "scores";
  boxes.groups[1].simulated = {3, 0.5, 1};
  boxes.groups[1].worstPoint = "conv";
  boxes.groups[1].worstShare = 0.75;
  rest.name = "rest";
  rest.simulated = {std::numeric_limits<Real>::infinity(), 1, 0};
  network.report.results = {boxes, rest};
  EXPECT_EQ(describeVerdict(network.report),
            "The worst of 3 results and groups of their channels, 'scores' of "
            "'out', is at 3 dB, 'boxes' of 'out' at 50 dB, 'rest' as in float, "
            "on 10 samples. In 'scores' of 'out', the largest part of its "
            "error, 75 %, comes from 'conv'.");
  EXPECT_EQ(describeResult(network.report, network.report.results[0]),
            "'out' is at 50 dB; its worst group, 'scores', is at 3 dB; the "
            "largest part of its error, 75 %, comes from 'conv'.");
  // From 10 dB on it is no loss.
  network.report.results[0].groups[1].simulated.sqnr = 10;
  EXPECT_NE(describeVerdict(network.report).find("No remedy was tried."),
            std::string::npos);
}

TEST(DiagnoseTest, AHarmfulCorrectionIsWorthItsLoss) {
  Network network;
  network.report.metric = "mse";
  CorrectionEffect effect;
  effect.correction = "quantized_network";
  effect.layers = {"conv/kernel_attr", "other/kernel_attr"};
  effect.isWhole = true;
  effect.loss = 0.75 * network.report.distance;
  effect.without = network.report.distance - effect.loss;
  effect.worst = "out";
  effect.worstWith = network.report.distance;
  effect.worstWithout = effect.without;
  network.report.corrections = {effect};
  EXPECT_TRUE(network.rules().empty());
  network.report.corrections[0].isHarmful = true;
  Diagnosis found = network.only();
  EXPECT_EQ(found.rule, "harmful-correction");
  EXPECT_DOUBLE_EQ(found.severity, 0.75);
  EXPECT_EQ(found.paste, "weights-bias-correction=false");
  // One layer alone has no option.
  network.report.corrections[0].isWhole = false;
  network.report.corrections[0].layers.pop_back();
  found = network.only();
  EXPECT_EQ(found.subject, "conv/kernel_attr");
  EXPECT_EQ(found.paste, "");
}

TEST(DiagnoseTest, TheWorstComesFirst) {
  Network network;
  network.see(network.conv(), spread(0, 1));
  network.see(network.image(), spread(0, 0.51));
  network.setGain(network.conv(), 0.02);
  EXPECT_EQ(network.rules(), (Rules{"wasted-sign", "above-power-of-two"}));
  network.setGain(network.image(), 0.03);
  EXPECT_EQ(network.rules(), (Rules{"above-power-of-two", "wasted-sign"}));
  network.report.calibrationSamples = 4;
  EXPECT_EQ(network.rules(),
            (Rules{"too-few-samples", "above-power-of-two", "wasted-sign"}));
}

TEST(DiagnoseTest, ASmallDistanceMakesNothingGrave) {
  Network network;
  network.see(network.conv(), spread(0, 1));
  EXPECT_DOUBLE_EQ(network.only().severity, 0.2);
  // A hundredth of what matters in mean squares.
  network.report.distance = network.report.deviation = 1e-4;
  EXPECT_DOUBLE_EQ(network.only().severity, 0.002);
}

TEST(DiagnoseTest, WhatChangesNoPredictionIsNotGrave) {
  Network network;
  network.see(network.conv(), spread(0, 1));
  network.report.simulated.agreement = 0.99;
  EXPECT_DOUBLE_EQ(network.only().severity, 0.2);
  network.report.simulated.agreement = 1;
  EXPECT_DOUBLE_EQ(network.only().severity, 0.2 * kGrave / 2);
}

TEST(DiagnoseTest, WhatChanceMayHaveMadeIsNotGrave) {
  Network network;
  network.see(network.conv(), spread(0, 1));
  network.report.effectSamples = 4;
  EXPECT_DOUBLE_EQ(network.only().severity, 0.2);
  network.report.deviation = 1.01 * network.report.distance;
  EXPECT_EQ(network.rules(), (Rules{"wasted-sign", "few-report-samples"}));
  EXPECT_DOUBLE_EQ(diagnose(network.report)[0].severity, 0.2 * kGrave / 2);
}

TEST(DiagnoseTest, NamesAreWrittenAsPatternsOfThemselves) {
  Network network;
  network.see(network.conv(), spread(0, 1));
  network.layer().name = network.conv().owner = "a*[b]\"c\"\nd\\e";
  network.kernel().owner = network.layer().name;
  EXPECT_EQ(network.only().paste,
            "name \"a\\*\\[b\\]?c??d\\\\e\" activation=16");
}

TEST(DiagnoseTest, ShiftedActivationsAreMeantByTheNameTheyHadBefore) {
  Network network;
  network.see(network.conv(), constant(3));
  network.conv().owner = "conv_shifted";
  EXPECT_EQ(network.only().paste, "name \"conv\" activation=float");
}

/// A trial of lines on the network, by which the distance goes from 0.04 to
/// `after`.
static Trial makeTrial(std::vector<std::string> lines, Real after,
                       bool isWorthwhile) {
  Trial trial;
  trial.kind = "overrides";
  trial.lines = std::move(lines);
  trial.before = 0.04;
  trial.after = after;
  trial.gain = 0.04 - after;
  trial.isWorthwhile = isWorthwhile;
  return trial;
}

TEST(DiagnoseTest, TheVerdictIsARemedyThatHelpedOrSaysThatNoneDid) {
  Network network;
  Report &report = network.report;
  report.simulated.samples = 1000;
  report.floating.top1 = 0.75;
  report.simulated.top1 = 0.5;
  report.simulated.agreement = 0.6;
  const std::string results =
      "Top-1 is 50 % instead of 75 % in float, and 60 % of the predictions are "
      "the same, on 1000 samples. ";
  EXPECT_EQ(describeVerdict(report), results + "No remedy was tried.");
  report.noEffectsReason = "it calls other functions";
  EXPECT_EQ(describeVerdict(report),
            results + "No remedy was tried: it calls other functions.");
  report.noEffectsReason.clear();
  // A gain that may be chance is none, however large.
  report.trials = {makeTrial({"a"}, 0.01, false)};
  EXPECT_EQ(describeVerdict(report),
            results + "The only remedy that was tried does not help beyond "
                      "chance. No cause stands out.");
  report.trials.push_back(makeTrial({"b"}, 0.03, true));
  report.trials.push_back(makeTrial({"c"}, 0.02, true));
  report.trials.push_back(makeTrial({"b", "c"}, 0.019, false));
  EXPECT_EQ(describeVerdict(report),
            results + "Of 4 remedies that were tried, this one helps most, "
                      "`c`: the divergence of the results goes from 0.04 to "
                      "0.02.");
  report.trials.back() = makeTrial({"b", "c"}, 0.017, true);
  report.trials.back().worst = "out";
  report.trials.back().worstBefore = 0.04;
  report.trials.back().worstAfter = 0.017;
  report.trials.back().worstGain = 3.7;
  EXPECT_EQ(describeVerdict(report),
            results + "Of 4 remedies that were tried, this one helps most, `b` "
                      "with `c`: 'out' goes from 14 dB to 17.7 dB.");
}

TEST(DiagnoseTest, TheVerdictNamesTheCauseThatTheRemedyRemoves) {
  Network network;
  Report &report = network.report;
  report.simulated.samples = 10;
  network.see(network.conv(), spread(0, 1));
  report.diagnoses = diagnose(report);
  ASSERT_EQ(report.diagnoses.size(), 1u);
  const std::string results = "The results are those of float, on 10 samples. ",
                    cause = "'conv' is never negative, and half of the levels "
                            "of its signed grid are.";
  report.trials = {makeTrial({report.diagnoses[0].paste}, 0.02, true)};
  report.diagnoses[0].trial = 0;
  EXPECT_EQ(describeVerdict(report),
            results + cause +
                " The only remedy that was tried helps, `name \"conv\" "
                "activation=16`: the divergence of the results goes from 0.04 "
                "to 0.02.");
  // The cause stays true if its remedy does not help, and is not its headline.
  report.trials[0].isWorthwhile = false;
  EXPECT_EQ(describeVerdict(report),
            results +
                "The only remedy that was tried does not help beyond "
                "chance. " +
                cause);
  // If the samples are wrong, a gain on them is worth nothing.
  report.trials[0].isWorthwhile = true;
  Diagnosis samples;
  samples.severity = 2;
  samples.cause = "All samples are black.";
  report.diagnoses.insert(report.diagnoses.begin(), samples);
  EXPECT_EQ(describeVerdict(report), results + samples.cause);
}

TEST(DiagnoseTest, TheVerdictOfANetworkWithoutScoresHasDecibels) {
  Network network;
  network.report.simulated.samples = 10;
  network.report.simulated.output = Distance{39.9, 1, 0.1};
  std::string verdict = describeVerdict(network.report);
  EXPECT_EQ(verdict.find("The results are 39.9 dB above their error, on 10 "
                         "samples. "),
            0u)
      << verdict;
  network.report.simulated.output->sqnr = std::numeric_limits<Real>::infinity();
  verdict = describeVerdict(network.report);
  EXPECT_EQ(verdict.find("The results are those of float, on 10 samples. "), 0u)
      << verdict;
}
