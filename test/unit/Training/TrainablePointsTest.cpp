// SPDX-License-Identifier: Apache-2.0
//
// Points whose thresholds and ranges are learned or observed, executed, against
// their definitions on lists of numbers, and against the ordinary points that
// they become.
#include "ReferenceQuantizers.h"
#include "TrainablePointsFixture.h"
#include "mlir/AsmParser/AsmParser.h"

#include <functional>

using namespace mct;
using namespace mlir;
using namespace mct::testing;
using namespace mct::testing::trainable;

//===----------------------------------------------------------------------===//
// Thresholds
//===----------------------------------------------------------------------===//

namespace {
struct ThresholdCase {
  LearnedThreshold quantizer;
  std::optional<double> scale;
};
} // namespace

TEST_F(TrainablePoints, ThresholdsLearnAsTheirDefinition) {
  std::vector<ThresholdCase> cases;
  std::vector<Point> all;
  unsigned number = 0;
  for (bool isWeight : {false, true})
    for (bool isPerChannel : {false, true})
      for (StepGradient gradient :
           {StepGradient::StraightThrough, StepGradient::LearnedStep})
        for (bool isPowerOfTwo : {false, true}) {
          // Activations are quantized per tensor.
          if (isPerChannel && !isWeight)
            continue;
          ThresholdCase next;
          next.quantizer.bits = 2 + number % 7;
          next.quantizer.isSigned = number % 3 != 0;
          next.quantizer.isPowerOfTwo = isPowerOfTwo;
          next.quantizer.gradient = gradient;
          next.quantizer.clip =
              number % 4 < 2 ? ClipGradient::Masked : ClipGradient::Passed;
          if (number % 5 == 0)
            next.scale = 0.25;
          ++number;
          Point point;
          const LearnedThreshold &q = next.quantizer;
          auto isTrue = [](bool value) { return value ? "true" : "false"; };
          point.trainable =
              "#tpc.learned_threshold<bits = " + std::to_string(q.bits) +
              ", is_signed = " + isTrue(q.isSigned) +
              ", power_of_two = " + isTrue(q.isPowerOfTwo) + ", gradient = " +
              (gradient == StepGradient::LearnedStep ? "learned_step"
                                                     : "straight_through") +
              ", clip = " +
              (q.clip == ClipGradient::Masked ? "masked" : "passed") +
              (next.scale ? ", gradient_scale = 0.25>" : ">");
          if (isPerChannel)
            point.axes = {0, 2};
          if (isWeight)
            point.weights = randomFloats(point.count(), -1.6f, 1.6f);
          std::vector<double> thresholds(isPerChannel ? 12 : 1, 1.0);
          point.parameters =
              "#tpc.symmetric<threshold = " + listText(thresholds) +
              ", bits = 4>";
          cases.push_back(next);
          all.push_back(point);
        }
  ASSERT_NO_FATAL_FAILURE(build(all));
  for (size_t i = 0; i != all.size(); ++i)
    for (float &threshold : learnedOf(i, LearnedRole::Threshold))
      threshold = uniform(0.3f, 1.5f);
  // Below the smallest one, and a power of two.
  learnedOf(8, LearnedRole::Threshold)[3] = -1;
  learnedOf(9, LearnedRole::Threshold)[3] = 1e-9f;
  learnedOf(11, LearnedRole::Threshold)[2] = 0.5f;
  std::vector<Outcome> outcomes = run();
  for (auto [i, outcome] : llvm::enumerate(outcomes)) {
    SCOPED_TRACE(all[i].trainable);
    const Floats &thresholds = outcome.learned[LearnedRole::Threshold];
    LearnedThreshold quantizer = cases[i].quantizer;
    int64_t parameters =
        all[i].isWeight() ? int64_t(thresholds.size()) : all[i].shape.back();
    if (cases[i].scale)
      quantizer.gradientScale = *cases[i].scale;
    else if (quantizer.gradient == StepGradient::LearnedStep)
      quantizer.gradientScale = learnedStepGradientScale(
          quantizer.bits, quantizer.isSigned, parameters);
    for (Channel &channel : channelsOf(i, outcome, thresholds.size())) {
      float threshold = thresholds[channel.number];
      Floats result(channel.values.size());
      quantizer.forward(threshold, channel.values, result);
      // The same operations of f32.
      EXPECT_EQ(channel.result, result);
      EXPECT_EQ(channel.frozen, result);
      Floats back = channel.resultGradient;
      double expected = quantizer.backward(threshold, channel.values, back);
      EXPECT_EQ(channel.gradient, back);
      EXPECT_NEAR(outcome.gradients[LearnedRole::Threshold][channel.number],
                  expected,
                  sumTolerance(channel, 2 / std::max(threshold, 0.01f)));
    }
  }
}

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

TEST_F(TrainablePoints, RangesOfEverySignLearnAsTheirDefinition) {
  // Ranges of both signs, of one, at zero, and the narrowest.
  const std::vector<TrainedRange> ranges = {
      {-1, 0.9}, {0.25, 1.2}, {-1.3, -0.4}, {0, 1},
      {-0.8, 0}, {-0.1, 1.4}, {0.3, 0.299}, {1e-6, 0}};
  std::vector<Point> all;
  std::vector<LearnedRange> quantizers;
  std::vector<std::vector<TrainedRange>> rangesOf;
  unsigned number = 0;
  auto add = [&](bool isWeight, StepGradient gradient, unsigned bits,
                 const std::vector<TrainedRange> &own) {
    LearnedRange quantizer;
    quantizer.bits = bits;
    quantizer.gradient = gradient;
    quantizer.clip = ++number % 2 ? ClipGradient::Masked : ClipGradient::Passed;
    Point point;
    point.shape = {3, 8, 11};
    point.trainable =
        "#tpc.learned_range<bits = " + std::to_string(bits) + ", gradient = " +
        (gradient == StepGradient::LearnedStep ? "learned_step"
                                               : "straight_through") +
        ", clip = " +
        (quantizer.clip == ClipGradient::Masked ? "masked>" : "passed>");
    if (isWeight) {
      point.axes = {1};
      point.weights = randomFloats(point.count(), -1.6f, 1.6f);
    }
    if (gradient == StepGradient::LearnedStep)
      quantizer.gradientScale = learnedStepGradientScale(
          bits, false, isWeight ? int64_t(own.size()) : point.shape.back());
    std::string scales, zeroPoints;
    for (size_t c = 0; c != own.size(); ++c) {
      scales += c ? ", 0.1" : "0.1";
      zeroPoints += c ? ", 1" : "1";
    }
    point.parameters = "#tpc.uniform<scale = [" + scales + "], zero_point = [" +
                       zeroPoints + "], bits = 4>";
    all.push_back(point);
    quantizers.push_back(quantizer);
    rangesOf.push_back(own);
  };
  for (StepGradient gradient :
       {StepGradient::StraightThrough, StepGradient::LearnedStep})
    for (unsigned bits : {2u, 4u, 8u}) {
      add(/*isWeight=*/true, gradient, bits, ranges);
      for (size_t c = bits % 3; c < ranges.size(); c += 2)
        add(/*isWeight=*/false, gradient, bits, {ranges[c]});
    }
  ASSERT_NO_FATAL_FAILURE(build(all));
  for (size_t i = 0; i != all.size(); ++i)
    for (size_t c = 0; c != rangesOf[i].size(); ++c) {
      learnedOf(i, LearnedRole::Minimum)[c] = float(rangesOf[i][c].min);
      learnedOf(i, LearnedRole::Maximum)[c] = float(rangesOf[i][c].max);
    }
  std::vector<Outcome> outcomes = run();
  for (auto [i, outcome] : llvm::enumerate(outcomes)) {
    SCOPED_TRACE(all[i].trainable);
    const LearnedRange &quantizer = quantizers[i];
    for (Channel &channel : channelsOf(i, outcome, rangesOf[i].size())) {
      SCOPED_TRACE(channel.number);
      TrainedRange range{outcome.learned[LearnedRole::Minimum][channel.number],
                         outcome.learned[LearnedRole::Maximum][channel.number]};
      Floats result(channel.values.size());
      quantizer.forward(range, channel.values, result);
      // The step is the product with a rounded 1 / levels.
      for (size_t j = 0; j != result.size(); ++j)
        EXPECT_NEAR(channel.result[j], result[j], 3e-7 * std::abs(result[j]));
      // The deployed point is the one that was trained.
      EXPECT_EQ(channel.frozen, channel.result);
      Floats back = channel.resultGradient;
      TrainedRange expected = quantizer.backward(range, channel.values, back);
      EXPECT_EQ(channel.gradient, back);
      double step = quantizer.freeze(range).step;
      // Values of 1.6 divided by the step.
      double tolerance = sumTolerance(channel, 2 / step);
      EXPECT_NEAR(outcome.gradients[LearnedRole::Minimum][channel.number],
                  expected.min, tolerance);
      EXPECT_NEAR(outcome.gradients[LearnedRole::Maximum][channel.number],
                  expected.max, tolerance);
    }
  }
}

TEST_F(TrainablePoints, HalvesStayWhereTheyGo) {
  ASSERT_NO_FATAL_FAILURE(build(
      {{"#tpc.learned_threshold<bits = 4>",
        "#tpc.symmetric<threshold = [0.7], bits = 4, rounding = half_up>"},
       {"#tpc.learned_threshold<bits = 4, power_of_two = true>",
        "#tpc.symmetric<threshold = [0.7], bits = 4>"},
       {"#tpc.learned_range<bits = 4>",
        "#tpc.symmetric<threshold = [0.7], bits = 4, rounding = half_up>"}}));
  std::vector<Outcome> outcomes = run();
  EXPECT_EQ(outcomes[0].parameters.getRoundingMode(), Rounding::HalfUp);
  EXPECT_EQ(outcomes[1].parameters.getRoundingMode(), Rounding::HalfToEven);
  EXPECT_EQ(outcomes[2].parameters.getRoundingMode(), Rounding::HalfUp);
}

TEST_F(TrainablePoints, RangesBeginAtTheGridThatIsThere) {
  Point uniform{"#tpc.learned_range<bits = 8>",
                "#tpc.uniform<scale = [0.013, 0.4, 0.002], zero_point = [128, "
                "0, 255], bits = 8>"};
  uniform.axes = {0};
  uniform.weights = randomFloats(uniform.count(), -1, 1);
  Point symmetric{"#tpc.learned_range<bits = 4>",
                  "#tpc.symmetric<threshold = [0.7], bits = 4>"};
  build({uniform, symmetric});
  // -t to t - t / 8
  EXPECT_FLOAT_EQ(learnedOf(1, LearnedRole::Minimum)[0], -0.7f);
  EXPECT_FLOAT_EQ(learnedOf(1, LearnedRole::Maximum)[0], 0.7f * 0.875f);
  std::vector<Outcome> outcomes = run();
  auto frozen = dyn_cast<tpc::UniformAttr>(outcomes[0].parameters);
  ASSERT_TRUE(frozen);
  EXPECT_EQ(frozen.getZeroPoint(), (llvm::ArrayRef<int64_t>{128, 0, 255}));
  for (auto [found, scale] :
       llvm::zip(frozen.getScale(), std::vector<double>{0.013, 0.4, 0.002}))
    // The roundings of f32 of both ends and of the width.
    EXPECT_NEAR(found, scale, 3e-7 * scale);
  auto shifted = dyn_cast<tpc::UniformAttr>(outcomes[1].parameters);
  ASSERT_TRUE(shifted);
  EXPECT_EQ(shifted.getZeroPoint(), (llvm::ArrayRef<int64_t>{8}));
}

//===----------------------------------------------------------------------===//
// Observed ranges
//===----------------------------------------------------------------------===//

namespace {
const char *nameOf(RangeObserver::Kind kind) {
  switch (kind) {
  case RangeObserver::Kind::LastValue:
    return "last_value";
  case RangeObserver::Kind::MovingAverage:
    return "moving_average";
  case RangeObserver::Kind::AllValues:
    return "all_values";
  case RangeObserver::Kind::Fixed:
    return "fixed";
  }
  return "";
}
} // namespace

TEST_F(TrainablePoints, ObserversFollowWhatTheySee) {
  std::vector<Point> all;
  std::vector<RangeObserver> observers;
  unsigned number = 0;
  for (auto kind :
       {RangeObserver::Kind::LastValue, RangeObserver::Kind::MovingAverage,
        RangeObserver::Kind::AllValues, RangeObserver::Kind::Fixed})
    for (bool isSymmetric : {false, true})
      for (bool isNarrow : {false, true})
        for (bool isWeight : {false, true}) {
          RangeObserver observer;
          observer.kind = kind;
          observer.bits = 3 + number % 6;
          observer.isSymmetric = isSymmetric;
          observer.isNarrow = isNarrow;
          auto isTrue = [](bool value) { return value ? "true" : "false"; };
          Point point;
          point.shape = {4, 9, 3};
          point.trainable = std::string("#tpc.observed_range<observer = ") +
                            nameOf(kind) +
                            ", bits = " + std::to_string(observer.bits) +
                            ", is_symmetric = " + isTrue(isSymmetric) +
                            ", is_narrow = " + isTrue(isNarrow);
          if (kind == RangeObserver::Kind::MovingAverage && number % 3 == 0) {
            observer.decay = 0.75;
            point.trainable += ", decay = 0.75";
          }
          point.trainable += ">";
          if (isWeight && number % 4 == 1)
            point.axes = {2};
          // A grid of as many numbers as there will be.
          point.parameters = point.axes.empty()
                                 ? "#tpc.symmetric<threshold = [1.0], bits = 4>"
                                 : "#tpc.symmetric<threshold = [1.0, 2.0, "
                                   "0.5], bits = 4>";
          if (isWeight) {
            point.weights = randomFloats(point.count(), -0.5f, 1.6f);
            // Nothing but zeros has no range.
            if (!point.axes.empty())
              for (size_t i = 1; i < point.count(); i += 3)
                point.weights[i] = 0;
          }
          ++number;
          all.push_back(point);
          observers.push_back(observer);
        }
  ASSERT_NO_FATAL_FAILURE(build(all));
  for (size_t i = 0; i != all.size(); ++i)
    for (auto [min, max] :
         llvm::zip(learnedOf(i, LearnedRole::ObservedMinimum),
                   learnedOf(i, LearnedRole::ObservedMaximum))) {
      min = uniform(-2, -0.1f);
      max = uniform(0.1f, 1.2f);
    }
  std::vector<Outcome> outcomes = run();
  for (auto [i, outcome] : llvm::enumerate(outcomes)) {
    SCOPED_TRACE(all[i].trainable);
    EXPECT_TRUE(outcome.gradients.empty());
    const Floats &before = outcome.learned[LearnedRole::ObservedMinimum];
    for (Channel &channel : channelsOf(i, outcome, before.size())) {
      SCOPED_TRACE(channel.number);
      RangeObserver observer = observers[i];
      observer.range = {
          before[channel.number],
          outcome.learned[LearnedRole::ObservedMaximum][channel.number]};
      observer.observe(channel.values);
      TrainedRange after{
          outcome.states[LearnedRole::ObservedMinimum][channel.number],
          outcome.states[LearnedRole::ObservedMaximum][channel.number]};
      // A few operations of f32.
      EXPECT_NEAR(after.min, observer.range.min, 4e-7);
      EXPECT_NEAR(after.max, observer.range.max, 4e-7);
      // With the range as it is now.
      NudgedRange quantizer{observer.bits, observer.isNarrow};
      Floats result(channel.values.size());
      quantizer.forward(after, channel.values, result);
      for (size_t j = 0; j != result.size(); ++j)
        EXPECT_NEAR(channel.result[j], result[j], 1e-6) << j;
      Floats back = channel.resultGradient;
      quantizer.backward(after, channel.values, back);
      Grid grid = quantizer.freeze(after);
      double low = grid.step * double(grid.qmin - grid.zeroPoint);
      double high = grid.step * double(grid.qmax - grid.zeroPoint);
      for (size_t j = 0; j != back.size(); ++j)
        // The extremes themselves lie on the ends, up to a rounding.
        if (std::abs(channel.values[j] - low) > 1e-6 &&
            std::abs(channel.values[j] - high) > 1e-6)
          EXPECT_EQ(channel.gradient[j], back[j]) << j;
      // An ordinary activation point has one level more than a narrow one.
      if (!observer.isNarrow || all[i].isWeight()) {
        for (size_t j = 0; j != result.size(); ++j)
          EXPECT_NEAR(channel.frozen[j], channel.result[j], 1e-6) << j;
      }
    }
    // One grid for both signs, where that is what it is.
    if (observers[i].isSymmetric &&
        observers[i].kind == RangeObserver::Kind::LastValue)
      EXPECT_TRUE(isa<tpc::SymmetricAttr>(outcome.parameters));
  }
}

TEST_F(TrainablePoints, ObserversBeginWithTheRangeThatIsThere) {
  auto observed = [](const std::string &observer, const char *more = "") {
    return "#tpc.observed_range<observer = " + observer + ", bits = 8" + more +
           ">";
  };
  const char *grid = "#tpc.symmetric<threshold = [2.0], bits = 8>";
  build({{observed("last_value"), ""},
         {observed("moving_average"), ""},
         {observed("all_values"), ""},
         {observed("all_values"), grid},
         {observed("moving_average"), grid},
         {observed("fixed", ", is_narrow = true"), grid}});
  auto expect = [&](size_t point, double min, double max) {
    EXPECT_EQ(learnedOf(point, LearnedRole::ObservedMinimum),
              Floats{float(min)});
    EXPECT_EQ(learnedOf(point, LearnedRole::ObservedMaximum),
              Floats{float(max)});
  };
  expect(0, -6, 6);
  expect(1, -6, 6);
  // Everything that was seen: nothing.
  expect(2, 0, 0);
  expect(3, 0, 0);
  // Levels from -128 to 127, of 2 / 128; a narrow grid begins at -127.
  expect(4, -2, 2 - 2.0 / 128);
  expect(5, -2 + 2.0 / 128, 2 - 2.0 / 128);
}

// 6 is 127.5 steps; TensorFlow rounds them up.
TEST_F(TrainablePoints, TheRangeThatObserversBeginWithIsMovedUp) {
  build({{"#tpc.observed_range<observer = fixed, bits = 8>",
          "#tpc.uniform<scale = [0.5], zero_point = [3], bits = 8>"}});
  learnedOf(0, LearnedRole::ObservedMinimum) = {-6};
  learnedOf(0, LearnedRole::ObservedMaximum) = {6};
  std::vector<Outcome> outcomes = run(8);
  EXPECT_NEAR(*llvm::min_element(outcomes[0].result), -6.0235294, 1e-6);
  EXPECT_NEAR(*llvm::max_element(outcomes[0].result), 5.9764706, 1e-6);
  EXPECT_EQ(outcomes[0].frozen, outcomes[0].result);
}
