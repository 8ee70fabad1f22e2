// SPDX-License-Identifier: Apache-2.0
//
// Every rule of a diagnosis at its condition and just below it, on reports made
// by hand: layer `conv` reads the input `image` and is all there is.
#include "mct/Report/Diagnose.h"
#include "llvm/ADT/StringSet.h"
#include "gtest/gtest.h"
#include <cmath>
#include <limits>

using namespace mct::report;

/// `count` values spread evenly over [min, max], in 64 bins.
static Statistics spread(Real min, Real max, int64_t count = 64 * 1000) {
  Statistics statistics;
  statistics.count = count;
  statistics.min = min;
  statistics.max = max;
  statistics.histogram =
      Histogram{min, (max - min) / 64, std::vector<int64_t>(64, count / 64)};
  return statistics;
}

static Statistics constant(Real value, int64_t count = 64 * 1000) {
  Statistics statistics;
  statistics.count = count;
  statistics.zeros = value == 0 ? count : 0;
  statistics.min = statistics.max = value;
  return statistics;
}

static Parameters grid(Real threshold, bool isSigned, int64_t bits = 8) {
  Parameters parameters;
  parameters.bits = bits;
  parameters.isSigned = isSigned;
  parameters.hasPowersOfTwo = true;
  Real step = threshold / std::exp2(bits - (isSigned ? 1 : 0));
  parameters.threshold = {threshold};
  parameters.step = {step};
  parameters.lowest = {isSigned ? -threshold : 0};
  parameters.highest = {threshold - step};
  return parameters;
}

namespace {
/// A healthy network: image -> conv -> result, 64 values a sample, 1000 samples
/// in calibration and report.
struct Network {
  Report report;
  Network() {
    report.metric = "mse";
    report.distance = 0.04;
    report.deviation = 0.04;
    report.samples = report.effectSamples = 1000;
    report.calibrationSamples = 1000;
    report.operators.reserve(8);
    Operator &argument = report.operators.emplace_back();
    argument.name = "image";
    argument.ops = {"argument"};
    argument.points = {"image"};
    Operator &op = report.operators.emplace_back();
    op.name = "conv";
    op.ops = {"tosa.conv2d"};
    op.operatorSet = "Conv";
    op.cover = "point";
    op.inputs = {"image"};
    op.points = {"conv/kernel_attr", "conv"};
    op.alternatives = {{8, 8}, {8, 4}, {16, 8}};
    addActivation("image", spread(0, 1), grid(1, false), 0.004);
    Point &kernel = report.points.emplace_back();
    kernel.name = "conv/kernel_attr";
    kernel.owner = "conv";
    kernel.weight = "kernel_attr";
    kernel.shape = {3, 1, 1, 1};
    kernel.axes = {0};
    kernel.parameters = grid(1, true);
    for (auto *each :
         {&kernel.parameters->threshold, &kernel.parameters->lowest,
          &kernel.parameters->highest, &kernel.parameters->step})
      each->assign(3, each->front());
    kernel.channels = {
        {-0.9, 0.9, 1e-6, 50}, {-0.8, 0.8, 1e-6, 50}, {-0.7, 0.7, 1e-6, 50}};
    kernel.effect = Effect{0.008, 0.008, 0.008, {}};
    addActivation("conv", spread(-1, 1), grid(1, true), 0.008);
  }
  Point &addActivation(const char *name, const Statistics &values,
                       Parameters parameters, Real own) {
    Point &point = report.points.emplace_back();
    point.name = point.owner = name;
    point.shape = {1, 8, 8, 1};
    point.statistics = values;
    point.observed = values;
    point.parameters = std::move(parameters);
    point.own = Distance{45, 1, 0.01};
    point.effect = Effect{own, own, own, {}};
    Selection selection;
    selection.errorMethod = "mse";
    point.selection = selection;
    return point;
  }
  Operator &addOperator(const char *name, const char *op, const char *set,
                        const char *input) {
    Operator &added = report.operators.emplace_back();
    added.name = name;
    added.ops = {op};
    added.operatorSet = set;
    added.inputs = {input};
    added.points = {name};
    added.cover = "point";
    return added;
  }
  Point &image() { return report.points[0]; }
  Point &kernel() { return report.points[1]; }
  Point &conv() { return report.points[2]; }
  Operator &layer() { return report.operators[1]; }
  void see(Point &point, const Statistics &values) {
    point.statistics = point.observed = values;
  }

  std::vector<std::string> rules() const {
    std::vector<std::string> names;
    for (const Diagnosis &diagnosis : diagnose(report))
      names.push_back(diagnosis.rule);
    return names;
  }
  /// The only diagnosis.
  Diagnosis only() const {
    std::vector<Diagnosis> found = diagnose(report);
    EXPECT_EQ(found.size(), 1u);
    return found.empty() ? Diagnosis() : found.front();
  }
};
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
  EXPECT_NE(describeVerdict(network.report).find("No cause stands out"),
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
  // Of one layer there is no option.
  network.report.corrections[0].isWhole = false;
  network.report.corrections[0].layers.pop_back();
  found = network.only();
  EXPECT_EQ(found.subject, "conv/kernel_attr");
  EXPECT_EQ(found.paste, "");
}

} // namespace

using Rules = std::vector<std::string>;

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
  // Not told, counted: 64 values a sample.
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
  // 1000 samples on each side tell 0.087 from chance.
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
  // Of 4 bits: the step is 1/8, its error 1/768 = 1.3e-3. What lies up to e
  // beyond 7/8 adds e^3 / 3 of 2; at 1.2 that is 5.7e-3, and the grid twice as
  // wide has 5.2e-3.
  network.conv().parameters = grid(1, true, 4);
  network.see(network.conv(), spread(-1, 1.2));
  network.conv().effect->own = 0;
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
  network.conv().effect->own = 0.04 / 3;
  network.image().effect->own = 0;
  network.kernel().effect->own = 0;
  network.report.distance = 0.04;
  EXPECT_EQ(network.only().rule, "sensitive-tensor");
  EXPECT_EQ(network.only().paste, "name \"conv\" activation=16");
  network.conv().effect->own = 0.0099;
  EXPECT_EQ(network.rules(), Rules());
  // A cause explains it.
  network.conv().effect->own = 0.04 / 3;
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
  kernel.effect->own = 0;
  network.report.points.push_back(kernel);
  EXPECT_EQ(network.rules(), Rules());
  network.kernel().effect->own = 0.021;
  Diagnosis diagnosis = network.only();
  EXPECT_EQ(diagnosis.rule, "few-bits-in-sensitive-layer");
  EXPECT_EQ(diagnosis.paste, "name \"conv\" weights.kernel_attr=8");
}

TEST(DiagnoseTest, FewBitsOfAnActivation) {
  Network network;
  network.conv().parameters = grid(1, true, 4);
  network.conv().effect->own = 0.003;
  EXPECT_EQ(network.rules(), Rules());
  network.conv().effect->own = 0.005;
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

TEST(DiagnoseTest, ShiftsSayWhatTheyGained) {
  Network network;
  network.conv().shift = Point::Shift{0.3125, 1e-3, 2.5e-4};
  Diagnosis diagnosis = network.only();
  EXPECT_EQ(diagnosis.rule, "shifted-activation");
  EXPECT_EQ(diagnosis.severity, 0);
  EXPECT_NE(diagnosis.cause.find("6.02 dB"), std::string::npos)
      << diagnosis.cause;
}

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
  // What it reads is float.
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
  // Of the 48 bits of wider accumulators that is nothing.
  network.layer().sums->bits = 48;
  EXPECT_EQ(network.rules(), Rules());
  network.layer().sums->bits = 32;
  network.layer().alternatives.clear();
  EXPECT_EQ(network.only().paste, "min-threshold=2");
}

//===----------------------------------------------------------------------===//
// Order, names and verdict
//===----------------------------------------------------------------------===//

TEST(DiagnoseTest, TheWorstComesFirst) {
  Network network;
  network.see(network.conv(), spread(0, 1));
  network.see(network.image(), spread(0, 0.51));
  network.conv().effect->own = 0.02;
  EXPECT_EQ(network.rules(), (Rules{"wasted-sign", "above-power-of-two"}));
  network.image().effect->own = 0.03;
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
  for (Point &point : network.report.points)
    point.effect->own *= 1e-4 / 0.04;
  EXPECT_DOUBLE_EQ(network.only().severity, 0.002);
}

TEST(DiagnoseTest, WhatChangesNoPredictionIsNotGrave) {
  Network network;
  network.see(network.conv(), spread(0, 1));
  network.conv().effect->agreement = 0.99;
  EXPECT_DOUBLE_EQ(network.only().severity, 0.2);
  network.conv().effect->agreement = 1;
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

TEST(DiagnoseTest, TheVerdictSaysWhatHappenedAndWhy) {
  Network network;
  network.report.simulated.samples = 1000;
  network.report.floating.top1 = 0.75;
  network.report.simulated.top1 = 0.5;
  network.report.simulated.agreement = 0.6;
  EXPECT_EQ(describeVerdict(network.report),
            "Top-1 is 50 % instead of 75 % in float, and 60 % of the "
            "predictions are the same, on 1000 samples. No cause stands out; "
            "the largest part of the error, 20 %, comes from "
            "'conv/kernel_attr'.");
  network.see(network.conv(), spread(0, 1));
  network.report.diagnoses = diagnose(network.report);
  EXPECT_EQ(describeVerdict(network.report),
            "Top-1 is 50 % instead of 75 % in float, and 60 % of the "
            "predictions are the same, on 1000 samples. 'conv' is never "
            "negative, and half of the levels of its signed grid are.");
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
