// SPDX-License-Identifier: Apache-2.0
//
// Every rule about samples and points at its condition and just below it, on
// reports made by hand.
#include "HealthyNetwork.h"
#include "llvm/ADT/StringSet.h"

#include <limits>

using namespace mct::report;
using namespace mct::testing::diagnosis;

TEST(DiagnoseTest, NothingIsWrongWithAHealthyNetwork) {
  EXPECT_EQ(Network().rules(), Rules());
}

TEST(DiagnoseTest, EveryRuleHasAName) {
  llvm::StringSet<> names;
  for (const RuleDescription &rule : listRules()) {
    EXPECT_TRUE(names.insert(rule.name).second) << rule.name.str();
    EXPECT_FALSE(rule.condition.empty());
    EXPECT_FALSE(rule.remedy.empty());
  }
}

//===----------------------------------------------------------------------===//
// Samples
//===----------------------------------------------------------------------===//

TEST(DiagnoseTest, AFloatNetworkThatGuessesComesFirst) {
  Network network;
  // 10 classes, 100 samples: 0.1 + 3 * sqrt(0.09 / 100) = 0.19.
  network.report.confusion.assign(10, std::vector<int64_t>(10));
  network.report.floating.samples = 100;
  network.report.floating.top1 = 0.2;
  EXPECT_EQ(network.rules(), Rules());
  network.report.floating.top1 = 0.18;
  network.image().statistics = constant(0);
  EXPECT_EQ(network.rules(), (Rules{"float-network-fails", "one-value"}));
}

TEST(DiagnoseTest, BlackImagesAreOneValue) {
  Network network;
  network.image().statistics = constant(0);
  Diagnosis diagnosis = network.only();
  EXPECT_EQ(diagnosis.rule, "one-value");
  EXPECT_EQ(diagnosis.subject, "image");
  EXPECT_GT(diagnosis.severity, kWorthless);
  EXPECT_EQ(diagnosis.kind, "data");
}

TEST(DiagnoseTest, AnotherRangeIsScaledBack) {
  Network network;
  network.image().statistics = spread(0, 255);
  Diagnosis diagnosis = network.only();
  EXPECT_EQ(diagnosis.rule, "other-range");
  EXPECT_EQ(diagnosis.paste, "input-scale=0.003921569");
  network.image().statistics = spread(0, 16);
  network.report.reproduce = "mct-opt --mct-ptq=\"input-scale=0.5 target=x\"";
  EXPECT_EQ(network.only().paste, "input-scale=0.03125");
  // -1 to 1 instead of 0 to 1: x / 2 + 1 / 2.
  network.report.reproduce.clear();
  network.image().statistics = spread(-1, 1);
  EXPECT_EQ(network.only().paste, "input-scale=0.5 input-offset=0.5");
}

TEST(DiagnoseTest, ARangeThatIsAlmostTwiceAsWideIsOnlyUnlike) {
  Network network;
  network.image().statistics = spread(0, 1.9);
  EXPECT_EQ(network.only().rule, "unlike-samples");
}

TEST(DiagnoseTest, AWiderRangeOfFewSamplesIsChance) {
  Network network;
  network.report.calibrationSamples = 20;
  // A third lies elsewhere; 1.95 * sqrt(1 / 20 + 1 / 1000) is 0.44.
  network.image().statistics = spread(0, 1.5, 20 * 64);
  EXPECT_EQ(network.rules(), Rules());
  network.report.calibrationSamples = 200;
  network.image().statistics = spread(0, 1.5, 200 * 64);
  EXPECT_EQ(network.rules(), Rules{"unlike-samples"});
}

TEST(DiagnoseTest, FourSamplesAreTooFew) {
  Network network;
  network.report.calibrationSamples = 15;
  EXPECT_EQ(network.rules(), Rules());
  network.report.calibrationSamples = 14;
  EXPECT_EQ(network.only().rule, "too-few-samples");
  // The number of samples is not given, and is counted from 64 values a sample.
  network.report.calibrationSamples.reset();
  network.see(network.image(), spread(0, 1, 4 * 64));
  Diagnosis diagnosis = network.only();
  EXPECT_EQ(diagnosis.rule, "too-few-samples");
  EXPECT_EQ(diagnosis.numbers.front().value, 4);
  EXPECT_GT(diagnosis.severity, kWorthless);
}

TEST(DiagnoseTest, AStandardErrorOfMoreThanHalfIsTooFewSamples) {
  Network network;
  network.report.calibrationSamples = 100;
  network.report.deviation = 5 * network.report.distance;
  EXPECT_EQ(network.rules(), Rules());
  network.report.deviation = 5.1 * network.report.distance;
  Diagnosis diagnosis = network.only();
  EXPECT_EQ(diagnosis.rule, "too-few-samples");
  // Better than none: other numbers still mean something.
  EXPECT_LT(diagnosis.severity, kWorthless);
  EXPECT_NE(diagnosis.remedy.find("417 samples"), std::string::npos)
      << diagnosis.remedy;
}

TEST(DiagnoseTest, FewSamplesOfTheReportMakeTheOrderUncertain) {
  Network network;
  network.report.effectSamples = 4;
  network.report.deviation = 1.01 * network.report.distance;
  EXPECT_EQ(network.only().rule, "few-report-samples");
  network.report.deviation = network.report.distance;
  EXPECT_EQ(network.rules(), Rules());
}

TEST(DiagnoseTest, UnlikeSamplesAreShownAtTheInput) {
  Network network;
  network.conv().statistics = spread(-0.5, 0.5);
  EXPECT_EQ(network.only().subject, "conv");
  // Less of it lies elsewhere, and that is where the rest comes from.
  network.image().statistics = spread(0, 1.5);
  Diagnosis diagnosis = network.only();
  EXPECT_EQ(diagnosis.rule, "unlike-samples");
  EXPECT_EQ(diagnosis.subject, "image");
  EXPECT_NEAR(diagnosis.numbers.front().value, 1 / 3.0, 1 / 64.0);
}

TEST(DiagnoseTest, ATenthElsewhereIsUnlike) {
  Network network;
  // With 1000 samples on each side, 0.087 is beyond chance.
  network.image().statistics = spread(0, 1 / 0.91);
  EXPECT_EQ(network.rules(), Rules());
  network.image().statistics = spread(0, 1 / 0.87);
  EXPECT_EQ(network.rules(), Rules{"unlike-samples"});
}

TEST(DiagnoseTest, ZerosBelongToTheDistribution) {
  Network network;
  // Half of the values of the calibration are zeros.
  Statistics statistics = spread(0, 1);
  statistics.zeros = statistics.count;
  statistics.count *= 2;
  network.image().statistics = statistics;
  Diagnosis diagnosis = network.only();
  EXPECT_EQ(diagnosis.rule, "unlike-samples");
  // Never above; below by no more than half of a bin.
  EXPECT_NEAR(diagnosis.numbers.front().value, 0.5, 0.5 / 64);
}

TEST(DiagnoseTest, TheSamplesOfTheCalibrationAreNoJudges) {
  Network network;
  network.report.digest = network.report.calibrationDigest = "0123";
  Diagnosis diagnosis = network.only();
  EXPECT_EQ(diagnosis.rule, "same-samples");
  EXPECT_EQ(diagnosis.severity, 0);
  network.report.calibrationDigest = "4567";
  EXPECT_EQ(network.rules(), Rules());
}

//===----------------------------------------------------------------------===//
// Points
//===----------------------------------------------------------------------===//

TEST(DiagnoseTest, AClippedTailTakesTheMethodThatClipsLess) {
  Network network;
  network.see(network.conv(), spread(-2, 2));
  network.conv().selection->errorMethod = "percentile";
  Diagnosis diagnosis = network.only();
  EXPECT_EQ(diagnosis.rule, "clipped-tail");
  EXPECT_EQ(diagnosis.subject, "conv");
  EXPECT_EQ(diagnosis.paste, "activation-error-method=mse");
  network.conv().selection->errorMethod = "mse";
  EXPECT_EQ(network.only().paste, "z-threshold=0");
  network.conv().selection->errorMethod = "given";
  EXPECT_EQ(network.only().paste, "name \"conv\" activation=16");
}

TEST(DiagnoseTest, ALittleClippingIsRight) {
  Network network;
  // The step of 4 bits is 1/8, its error 1/768 = 1.3e-3. What lies up to e
  // beyond 7/8 adds e^3 / 3 of 2; at 1.2 that is 5.7e-3, and the grid twice as
  // wide has 5.2e-3.
  network.conv().parameters = grid(1, true, 4);
  network.see(network.conv(), spread(-1, 1.2));
  network.setGain(network.conv(), 0);
  EXPECT_EQ(network.rules(), Rules());
}

TEST(DiagnoseTest, NothingNegativeNeedsNoSign) {
  Network network;
  network.see(network.conv(), spread(0, 1));
  Diagnosis diagnosis = network.only();
  EXPECT_EQ(diagnosis.rule, "wasted-sign");
  EXPECT_EQ(diagnosis.paste, "name \"conv\" activation=16");
  network.conv().parameters->isSigned = false;
  EXPECT_EQ(network.rules(), Rules());
}

TEST(DiagnoseTest, AShortNegativeTailIsShifted) {
  Network network;
  network.see(network.conv(), spread(-0.25, 0.75));
  Diagnosis diagnosis = network.only();
  EXPECT_EQ(diagnosis.rule, "wasted-sign");
  EXPECT_EQ(diagnosis.paste, "shift-negative-activation-correction=true "
                             "shift-negative-ratio=0.25");
  // Other reasons than the ratio: more bits.
  Decision decision;
  decision.pass = "mct-correct-shift-negative";
  decision.reason = "leaves-function";
  network.conv().decisions = {decision};
  EXPECT_EQ(network.only().paste, "name \"conv\" activation=16");
}

TEST(DiagnoseTest, AQuarterOfTheThresholdIsNoShortTail) {
  Network network;
  network.see(network.conv(), spread(-0.26, 0.74));
  EXPECT_EQ(network.rules(), Rules());
  // Shifted, a tenth would be cut off.
  network.see(network.conv(), spread(-0.2, 0.9));
  EXPECT_EQ(network.rules(), Rules());
}

TEST(DiagnoseTest, NegativeValuesNeedASign) {
  Network network;
  network.conv().parameters = grid(1, false);
  Diagnosis diagnosis = network.only();
  EXPECT_EQ(diagnosis.rule, "missing-sign");
  EXPECT_EQ(diagnosis.paste, "name \"conv\" activation=float");
  // A little below zero costs less than rounding does.
  network.see(network.conv(), spread(-0.01, 0.99));
  EXPECT_EQ(network.rules(), Rules());
}

TEST(DiagnoseTest, NegativeValuesThatCalibrationHasNotSeenAreItsFault) {
  Network network;
  network.conv().parameters = grid(1, false);
  network.conv().statistics = spread(0, 1);
  EXPECT_EQ(network.rules(), (Rules{"unlike-samples", "missing-sign"}));
  EXPECT_EQ(diagnose(network.report)[1].kind, "data");
}

TEST(DiagnoseTest, JustAboveAPowerOfTwoHalfOfTheGridIsEmpty) {
  Network network;
  network.see(network.conv(), spread(-0.5625, 0.5625));
  Diagnosis diagnosis = network.only();
  EXPECT_EQ(diagnosis.rule, "above-power-of-two");
  EXPECT_EQ(diagnosis.paste, "name \"conv\" activation=16");
  network.see(network.conv(), spread(-0.57, 0.57));
  EXPECT_EQ(network.rules(), Rules());
  network.see(network.conv(), spread(-0.51, 0.51));
  network.conv().parameters->hasPowersOfTwo = false;
  EXPECT_EQ(network.rules(), Rules());
}

TEST(DiagnoseTest, AnInputJustAboveAPowerOfTwoIsScaled) {
  Network network;
  network.see(network.image(), spread(0, 0.51));
  Diagnosis diagnosis = network.only();
  EXPECT_EQ(diagnosis.rule, "above-power-of-two");
  EXPECT_EQ(diagnosis.paste, "input-scaling=true");
}

TEST(DiagnoseTest, HalfOfTheChannelsJustAboveAPowerOfTwoAreChance) {
  Network network;
  network.kernel().statistics = spread(-1, 1);
  network.kernel().parameters->threshold = {1, 1, 1, 1};
  network.kernel().channels = {
      {-0.51, 0, 0, 0}, {-0.51, 0, 0, 0}, {-0.9, 0, 0, 0}, {-0.9, 0, 0, 0}};
  EXPECT_EQ(network.rules(), Rules());
  network.kernel().channels[2].min = -0.51;
  EXPECT_EQ(network.only().rule, "above-power-of-two");
  EXPECT_EQ(network.only().paste, "name \"conv\" weights.kernel_attr=float");
}

TEST(DiagnoseTest, EightBitsThatLeaveTenDecibelAreTooFew) {
  Network network;
  network.conv().own->sqnr = 19;
  Diagnosis diagnosis = network.only();
  EXPECT_EQ(diagnosis.rule, "wide-range");
  EXPECT_EQ(diagnosis.paste, "name \"conv\" activation=16");
  network.conv().own->sqnr = 20;
  EXPECT_EQ(network.rules(), Rules());
  // An error of zero: JSON has null for it.
  network.conv().own->sqnr = std::numeric_limits<Real>::quiet_NaN();
  EXPECT_EQ(network.rules(), Rules());
}

TEST(DiagnoseTest, AConstantActivationStaysFloat) {
  Network network;
  network.see(network.conv(), constant(3));
  Diagnosis diagnosis = network.only();
  EXPECT_EQ(diagnosis.rule, "constant-activation");
  EXPECT_EQ(diagnosis.paste, "name \"conv\" activation=float");
  network.conv().observed = spread(-1, 1);
  EXPECT_EQ(network.only().rule, "constant-activation");
}

TEST(DiagnoseTest, OneThresholdForUnequalChannelsIsAnOutlier) {
  Network network;
  network.kernel().parameters = grid(8, true);
  network.kernel().channels[2] = {-7.2, 6.3, 1e-6, 50};
  Diagnosis diagnosis = network.only();
  EXPECT_EQ(diagnosis.rule, "outlier-channels");
  EXPECT_EQ(diagnosis.subject, "conv/kernel_attr");
  EXPECT_EQ(diagnosis.paste, "name \"conv\" weights.kernel_attr=float");
  EXPECT_NE(diagnosis.cause.find("Channel 2 "), std::string::npos);
  // The one in the middle has 0.9: 7.2 is 8 times that. Dead ones do not count.
  network.kernel().channels.push_back({0, 0, 0, 0});
  network.kernel().channels.push_back({0, 0, 0, 0});
  EXPECT_EQ(network.rules(), (Rules{"outlier-channels", "dead-channels"}));
  network.kernel().channels.resize(3);
  network.kernel().channels[2] = {-7.1, 7.1, 1e-6, 50};
  EXPECT_EQ(network.rules(), Rules());
}

TEST(DiagnoseTest, ChannelsWithThresholdsOfTheirOwnMayBeUnequal) {
  Network network;
  network.kernel().channels[2] = {-64, 64, 1e-6, 50};
  EXPECT_EQ(network.rules(), Rules());
}

TEST(DiagnoseTest, OutlierChannelsOfActivationsAreObserved) {
  Network network;
  network.conv().observed->channelMin = {-0.1, -0.1, 0};
  network.conv().observed->channelMax = {0.1, 0.1, 0.8};
  EXPECT_EQ(network.only().rule, "outlier-channels");
  network.conv().observed->channelMax = {0.1, 0.11, 0.79};
  EXPECT_EQ(network.rules(), Rules());
}

TEST(DiagnoseTest, DeadChannelsCostNoAccuracy) {
  Network network;
  network.kernel().channels[1] = {0, 0, 0, 0};
  Diagnosis diagnosis = network.only();
  EXPECT_EQ(diagnosis.rule, "dead-channels");
  EXPECT_EQ(diagnosis.severity, 0);
  EXPECT_NE(diagnosis.cause.find("Channel 1 of the 3 "), std::string::npos);
}

TEST(DiagnoseTest, DeadChannelsOfManyTensorsAreOneLine) {
  Network network;
  network.conv().observed->channelMin = {-1, 0, 0};
  network.conv().observed->channelMax = {1, 0, 0};
  network.image().observed->channelMin = {0, 0.5};
  network.image().observed->channelMax = {1, 0.5};
  Diagnosis diagnosis = network.only();
  EXPECT_EQ(diagnosis.subject, "conv");
  EXPECT_EQ(diagnosis.cause, "Channels 1 and 2 of the 3 of 'conv' never "
                             "change; so do some of 1 other tensors.");
}

TEST(DiagnoseTest, AQuarterOfTheErrorWithoutAnotherCauseIsSensitivity) {
  Network network;
  network.setGain(network.conv(), 0.04 / 3);
  network.setGain(network.image(), 0);
  network.setGain(network.kernel(), 0);
  network.report.distance = 0.04;
  EXPECT_EQ(network.only().rule, "sensitive-tensor");
  EXPECT_EQ(network.only().paste, "name \"conv\" activation=16");
  network.setGain(network.conv(), 0.0099);
  EXPECT_EQ(network.rules(), Rules());
  // A cause explains it.
  network.setGain(network.conv(), 0.04 / 3);
  network.see(network.conv(), spread(0, 1));
  EXPECT_EQ(network.only().rule, "wasted-sign");
}

TEST(DiagnoseTest, AChannelThatCalibrationSawChangeIsNotDead) {
  Network network;
  network.conv().observed->channelMin = {-1, 0.5};
  network.conv().observed->channelMax = {1, 0.5};
  EXPECT_EQ(network.only().rule, "dead-channels");
  network.conv().statistics->channelMin = {-1, 0.25};
  network.conv().statistics->channelMax = {1, 0.5};
  EXPECT_EQ(network.rules(), Rules());
}

TEST(DiagnoseTest, FewBitsInTheFirstLayer) {
  Network network;
  network.kernel().parameters->bits = 4;
  Decision decision;
  decision.pass = "mct-round-weights";
  network.kernel().decisions = {decision};
  // The only layer: not more than its part.
  EXPECT_EQ(network.rules(), Rules());
  Operator second = network.layer();
  second.name = "second";
  network.report.operators.push_back(second);
  Point kernel = network.kernel();
  kernel.name = "second/kernel_attr";
  kernel.owner = "second";
  kernel.parameters->bits = 8;
  network.setGain(kernel, 0);
  network.report.points.push_back(kernel);
  EXPECT_EQ(network.rules(), Rules());
  network.setGain(network.kernel(), 0.021);
  Diagnosis diagnosis = network.only();
  EXPECT_EQ(diagnosis.rule, "few-bits-in-sensitive-layer");
  EXPECT_EQ(diagnosis.paste, "name \"conv\" weights.kernel_attr=8");
}

TEST(DiagnoseTest, FewBitsOfAnActivation) {
  Network network;
  network.conv().parameters = grid(1, true, 4);
  network.setGain(network.conv(), 0.003);
  EXPECT_EQ(network.rules(), Rules());
  network.setGain(network.conv(), 0.005);
  Diagnosis diagnosis = network.only();
  EXPECT_EQ(diagnosis.rule, "few-bits");
  EXPECT_EQ(diagnosis.paste, "name \"conv\" activation=8");
}

TEST(DiagnoseTest, FewBitsThatWereRoundedOneByOne) {
  Network network;
  network.kernel().parameters->bits = 6;
  Diagnosis diagnosis = network.only();
  EXPECT_EQ(diagnosis.rule, "rounded-one-by-one");
  EXPECT_EQ(diagnosis.paste, "round-weights=true");
  network.kernel().parameters->bits = 8;
  EXPECT_EQ(network.rules(), Rules());
}

TEST(DiagnoseTest, ThresholdsThatWereChosenByTheErrorsOfTensors) {
  Network network;
  auto isFound = [&] {
    return llvm::is_contained(network.rules(), "unrefined-thresholds");
  };
  network.addActivation("other", spread(-1, 1), grid(1, true), 0.008);
  network.addOperator("other", "tosa.conv2d", "Conv", "conv");
  // 0.003 + 0.0089 + 0.008 of 0.04.
  network.setGain(network.conv(), 0.0089);
  EXPECT_EQ(network.rules(), Rules());
  network.setGain(network.conv(), 0.0091);
  Diagnosis diagnosis = network.only();
  EXPECT_EQ(diagnosis.rule, "unrefined-thresholds");
  EXPECT_EQ(diagnosis.subject, "");
  EXPECT_NE(diagnosis.cause.find("3 activations, first of all 'conv'"),
            std::string::npos)
      << diagnosis.cause;
  EXPECT_EQ(diagnosis.paste, "refine-thresholds=true");
  EXPECT_DOUBLE_EQ(diagnosis.severity, 0.0201 / 0.04 / 2);

  // Compared already, according to the trace, or undone.
  network.image().decisions = {
      {"mct-refine-thresholds", "declined", "threshold-kept", "", {}}};
  EXPECT_FALSE(isFound());
  network.image().decisions.clear();
  RejectedCorrection rejected;
  rejected.correction = "threshold_refinement";
  network.report.rejectedCorrections = {rejected};
  EXPECT_FALSE(isFound());
  network.report.rejectedCorrections.clear();
  EXPECT_TRUE(isFound());
}

TEST(DiagnoseTest, ThresholdsThatWereGivenAreNotCompared) {
  Network network;
  auto isFound = [&] {
    return llvm::is_contained(network.rules(), "unrefined-thresholds");
  };
  network.addActivation("first", spread(-1, 1), grid(1, true), 0.009);
  network.addActivation("second", spread(-1, 1), grid(1, true), 0.009);
  Point &third =
      network.addActivation("third", spread(-1, 1), grid(1, true), 0);
  EXPECT_TRUE(isFound());
  // Without a trace, the pass may be what gave it.
  third.selection->errorMethod = "given";
  EXPECT_FALSE(isFound());
  third.shift = Point::Shift{0.3125, 1e-3, 2.5e-4};
  EXPECT_TRUE(isFound());
  third.shift.reset();
  network.report.passes = {{"mct-select-parameters", 1}};
  EXPECT_TRUE(isFound());
  // Its error does not count.
  network.image().selection->errorMethod = "given";
  network.conv().selection->errorMethod = "given";
  EXPECT_FALSE(isFound());
}

TEST(DiagnoseTest, ShiftsSayWhatTheyGained) {
  Network network;
  network.conv().shift = Point::Shift{0.3125, 1e-3, 2.5e-4};
  Diagnosis diagnosis = network.only();
  EXPECT_EQ(diagnosis.rule, "shifted-activation");
  EXPECT_EQ(diagnosis.severity, 0);
  EXPECT_NE(diagnosis.cause.find("6.02 dB"), std::string::npos)
      << diagnosis.cause;
}
