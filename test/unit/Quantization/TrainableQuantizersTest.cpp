// SPDX-License-Identifier: Apache-2.0
//
// Values, gradients and initial states that were derived by hand, and what must
// hold of any.
#include "ReferenceQuantizers.h"
#include "gtest/gtest.h"
#include <cmath>
#include <random>

using namespace mct::quantization;
using Floats = std::vector<float>;
using Range = LearnedRange::Range;

namespace {

/// Derived with eight digits.
constexpr double kDigits = 1e-6;

void expectNear(const Floats &found, const std::vector<double> &expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i != found.size(); ++i)
    EXPECT_NEAR(found[i], expected[i], kDigits) << i;
}

template <typename Quantizer, typename Parameters>
Floats forward(const Quantizer &quantizer, Parameters parameters,
               const Floats &values) {
  Floats results(values.size());
  quantizer.forward(parameters, values, results);
  return results;
}

template <typename Quantizer, typename Parameters>
auto backward(const Quantizer &quantizer, Parameters parameters,
              const Floats &values, Floats &gradients) {
  gradients.assign(values.size(), 1);
  return quantizer.backward(parameters, values, gradients);
}

LearnedThreshold straightThrough(unsigned bits, bool isSigned) {
  return {bits, isSigned, /*isPowerOfTwo=*/false, StepGradient::StraightThrough,
          ClipGradient::Passed};
}

LearnedRange straightThroughRange(unsigned bits) {
  return {bits, StepGradient::StraightThrough, ClipGradient::Passed};
}

const Floats kFive = {-3, -.3f, .1f, 1, 2.5f};
const Floats kRanged = {-2, -.3f, .6f, 1.4f, 5};

//===----------------------------------------------------------------------===//
// Thresholds
//===----------------------------------------------------------------------===//

TEST(LearnedThreshold, StraightThroughPassesEverything) {
  LearnedThreshold quantizer = straightThrough(4, true);
  EXPECT_EQ(forward(quantizer, 2.0, kFive), (Floats{-2, -.25f, 0, 1, 1.75f}));
  Floats back;
  // (4 + .2 - .4 + 0 - 3) / 8
  EXPECT_NEAR(backward(quantizer, 2.0, kFive, back), 0.1, kDigits);
  EXPECT_EQ(back, Floats(5, 1));
}

TEST(LearnedThreshold, StraightThroughMasksWhatIsCutOff) {
  LearnedThreshold quantizer = straightThrough(4, true);
  quantizer.clip = ClipGradient::Masked;
  Floats back;
  EXPECT_NEAR(backward(quantizer, 2.0, kFive, back), 0.1, kDigits);
  EXPECT_EQ(back, (Floats{0, 1, 1, 1, 0}));
}

TEST(LearnedThreshold, LearnedStepSeesTheCut) {
  LearnedThreshold quantizer{4, true};
  quantizer.gradientScale = learnedStepGradientScale(4, true, 5);
  EXPECT_NEAR(quantizer.gradientScale, 0.1690309, kDigits);
  EXPECT_EQ(forward(quantizer, 2.0, kFive), (Floats{-2, -.25f, 0, 1, 1.75f}));
  Floats back;
  // g / 8 * (-8 + .2 - .4 + 0 + 7)
  EXPECT_NEAR(backward(quantizer, 2.0, kFive, back), -0.0253546, kDigits);
  EXPECT_EQ(back, (Floats{0, 1, 1, 1, 0}));
}

// Half a step beyond the last level still rounds to it.
TEST(LearnedThreshold, TheMaskIsThatOfTheRoundedValue) {
  LearnedThreshold quantizer{4, true};
  Floats values = {7.4f * .25f, 7.6f * .25f, -8.4f * .25f, -8.6f * .25f}, back;
  EXPECT_EQ(forward(quantizer, 2.0, values), (Floats{1.75f, 1.75f, -2, -2}));
  backward(quantizer, 2.0, values, back);
  EXPECT_EQ(back, (Floats{1, 0, 1, 0}));
}

TEST(LearnedThreshold, UnsignedLevelsBeginAtZero) {
  LearnedThreshold quantizer = straightThrough(2, false);
  Floats values = {-1, .2f, .9f, 3}, back;
  EXPECT_EQ(forward(quantizer, 1.0, values), (Floats{0, .25f, .75f, .75f}));
  // (4 + .2 - .6 - 9) / 4
  EXPECT_NEAR(backward(quantizer, 1.0, values, back), -1.35, kDigits);
}

TEST(LearnedThreshold, PowersOfTwoAreThoseFromTheThresholdOn) {
  EXPECT_EQ(getEffectiveThreshold(.7, true), 1);
  EXPECT_EQ(getEffectiveThreshold(.5, true), .5);
  EXPECT_EQ(getEffectiveThreshold(.50001, true), 1);
  EXPECT_EQ(getEffectiveThreshold(3, true), 4);
  EXPECT_EQ(getEffectiveThreshold(1e-9, true), 0x1p-16);
  LearnedThreshold quantizer = straightThrough(4, true);
  quantizer.isPowerOfTwo = true;
  EXPECT_EQ(quantizer.freeze(.7), symmetricGrid(1, 4, true));
  // At the power itself 1, below it as much more as it is larger.
  Floats values = {.3f}, back;
  double at = backward(quantizer, 1.0, values, back);
  EXPECT_NEAR(backward(quantizer, .7, values, back), at * 1.4285714, kDigits);
}

TEST(LearnedThreshold, NoThresholdIsTooSmall) {
  LearnedThreshold quantizer{8, true};
  for (double threshold : {0.0, -1.0, 1e-30}) {
    EXPECT_EQ(quantizer.freeze(threshold), symmetricGrid(0x1p-16, 8, true));
    Floats back;
    EXPECT_EQ(backward(quantizer, threshold, kFive, back), 0);
  }
}

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

TEST(LearnedRange, ZeroIsALevel) {
  auto ends = [](Range range, unsigned bits) {
    Grid grid = LearnedRange{bits}.freeze(range);
    return std::pair(grid.step * double(grid.qmin - grid.zeroPoint),
                     grid.step * double(grid.qmax - grid.zeroPoint));
  };
  auto expect = [&](Range range, unsigned bits, double min, double max) {
    EXPECT_NEAR(ends(range, bits).first, min, kDigits);
    EXPECT_NEAR(ends(range, bits).second, max, kDigits);
  };
  expect({-1, 2}, 2, -1, 2);
  expect({-.9, 2.1}, 2, -1, 2);
  expect({.5, 3}, 2, 0, 3);
  expect({-3, -.5}, 2, -3, 0);
  expect({-1, 1}, 8, -1.0039216, 0.9960784);
}

TEST(LearnedRange, StraightThroughMovesBothEndsAlike) {
  LearnedRange quantizer = straightThroughRange(2);
  EXPECT_EQ(forward(quantizer, Range{-.9, 2.1}, kRanged),
            (Floats{-1, 0, 1, 1, 2}));
  Floats back;
  // (1 + .3 + .4 - .4 - 3) / 3
  Range ends = backward(quantizer, Range{-.9, 2.1}, kRanged, back);
  EXPECT_NEAR(ends.max, -0.5666667, kDigits);
  EXPECT_NEAR(ends.min, 0.5666667, kDigits);
  EXPECT_EQ(back, Floats(5, 1));
  quantizer.clip = ClipGradient::Masked;
  backward(quantizer, Range{-.9, 2.1}, kRanged, back);
  EXPECT_EQ(back, (Floats{0, 1, 1, 1, 0}));
}

TEST(LearnedRange, AnEndAtZeroStaysThere) {
  LearnedRange quantizer = straightThroughRange(2);
  Floats back;
  EXPECT_EQ(forward(quantizer, Range{.5, 3}, kRanged), (Floats{0, 0, 1, 1, 3}));
  Range ends = backward(quantizer, Range{.5, 3}, kRanged, back);
  EXPECT_NEAR(ends.max, 0.1, kDigits);
  EXPECT_EQ(ends.min, 0);
  EXPECT_EQ(forward(quantizer, Range{-3, -.5}, kRanged),
            (Floats{-2, 0, 0, 0, 0}));
  ends = backward(quantizer, Range{-3, -.5}, kRanged, back);
  EXPECT_NEAR(ends.min, 2.2333333, kDigits);
  EXPECT_EQ(ends.max, 0);
}

TEST(LearnedRange, LearnedStepMovesTheOffsetWithWhatIsCutOff) {
  LearnedRange quantizer{2};
  quantizer.gradientScale = .5;
  Floats back;
  // -1/3 + .05 + .0666667 - .0666667 + .1666667
  Range ends = backward(quantizer, Range{-.9, 2.1}, kRanged, back);
  EXPECT_NEAR(ends.max, -0.1166667, kDigits);
  EXPECT_NEAR(ends.min, 0.1166667, kDigits);
  EXPECT_EQ(back, (Floats{0, 1, 1, 1, 0}));
  ends = backward(quantizer, Range{.5, 3}, kRanged, back);
  EXPECT_NEAR(ends.max, 0.55, kDigits);
  EXPECT_EQ(ends.min, 0);
  EXPECT_EQ(back, (Floats{0, 1, 1, 1, 0}));
}

// Halfway between levels, counted from an odd one, MCT's trained and deployed
// quantizers disagree; there is one rule here.
TEST(LearnedRange, HalvesGoWhereTheDeployedQuantizerPutsThem) {
  LearnedRange quantizer{2};
  Range range{-1, 2};
  Floats values = {.5f, 1.5f, -.5f}, deployed(3);
  Grid grid = quantizer.freeze(range);
  EXPECT_EQ(grid.step, 1);
  fakeQuantize(grid, values.data(), deployed.data(), 3);
  EXPECT_EQ(forward(quantizer, range, values), deployed);
  EXPECT_EQ(deployed, (Floats{0, 2, 0}));
}

TEST(LearnedRange, NoRangeIsTooNarrow) {
  for (Range range : {Range{1, 1}, Range{2, -2}, Range{0, 0}}) {
    Grid grid = LearnedRange{8}.freeze(range);
    EXPECT_GT(grid.step, 0);
    EXPECT_TRUE(std::isfinite(grid.step));
  }
}

// With rounding held as it is, the learned step is an ordinary derivative: by
// differences, of random values, thresholds and ranges.
TEST(LearnedStep, AgreesWithDifferences) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> unit(0, 1);
  constexpr double kDelta = 1e-5;
  for (int trial = 0; trial != 200; ++trial) {
    unsigned bits = 2 + trial % 7;
    double size = std::exp(4 * unit(random) - 2);
    Floats values(16);
    for (float &value : values)
      value = float((3 * unit(random) - 1.5) * size);
    Floats weights(16);
    for (float &weight : weights)
      weight = float(unit(random) - .5);

    // Quantizes one value, the level that it is rounded to being held.
    auto held = [&](double value, double step, double offset, double lowest,
                    double highest, double step0, double offset0) {
      double level0 = (value - offset0) / step0;
      double rounded =
          std::nearbyint(value / step0) - std::nearbyint(offset0 / step0);
      if (rounded < lowest || rounded > highest)
        return std::clamp(rounded, lowest, highest) * step + offset;
      return ((value - offset) / step + (rounded - level0)) * step + offset;
    };
    {
      bool isSigned = trial % 2;
      LearnedThreshold quantizer{bits, isSigned};
      Grid grid = quantizer.freeze(size);
      auto sum = [&](double threshold) {
        double all = 0;
        for (size_t i = 0; i != values.size(); ++i)
          all += weights[i] * held(values[i], threshold / size * grid.step, 0,
                                   double(grid.qmin), double(grid.qmax),
                                   grid.step, 0);
        return all;
      };
      Floats gradients = weights;
      double found = quantizer.backward(size, values, gradients);
      EXPECT_NEAR(
          found, (sum(size + kDelta) - sum(size - kDelta)) / (2 * kDelta), 1e-5)
          << trial;
    }
    {
      LearnedRange quantizer{bits};
      Range range{-size * unit(random), size * unit(random)};
      if (trial % 5 == 0)
        range.min = range.max / 2;
      if (trial % 5 == 1)
        range.max = range.min / 2;
      Grid grid = quantizer.freeze(range);
      double levels = double(grid.qmax);
      double offset = -grid.step * double(grid.zeroPoint);
      auto sum = [&](Range moved) {
        double step = (moved.max - moved.min) / levels,
               zero = -double(grid.zeroPoint) * step;
        if (range.min > 0)
          step = moved.max / levels, zero = 0;
        else if (range.max < 0)
          step = -moved.min / levels, zero = moved.min;
        double all = 0;
        for (size_t i = 0; i != values.size(); ++i)
          all += weights[i] *
                 held(values[i], step, zero, 0, levels, grid.step, offset);
        return all;
      };
      Floats gradients = weights;
      Range found = quantizer.backward(range, values, gradients);
      auto by = [&](double min, double max) {
        return (sum({range.min + min, range.max + max}) -
                sum({range.min - min, range.max - max})) /
               (2 * kDelta);
      };
      EXPECT_NEAR(found.min, by(kDelta, 0), 1e-4) << trial;
      EXPECT_NEAR(found.max, by(0, kDelta), 1e-4) << trial;
    }
  }
}

//===----------------------------------------------------------------------===//
// Nudged ranges
//===----------------------------------------------------------------------===//

TEST(NudgedRange, MovesTheRangeAndRoundsHalvesUp) {
  expectNear(forward(NudgedRange{8}, Range{-6, 6}, {-7, 0, .05f, .1f, 3, 6}),
             {-6.0235294, 0., .0470588, .0941176, 3.0117647, 5.9764706});
  expectNear(forward(NudgedRange{4}, Range{-2, 1.75},
                     {-3, -.3f, .125f, .375f, 1, 2.5}),
             {-2, -.25, .25, .5, 1, 1.75});
  // An ordinary symmetric quantizer of the same levels rounds to the even code.
  const float values[] = {-3, -.3f, .125f, .375f, 1, 2.5};
  Floats ordinary(6);
  fakeQuantize(symmetricGrid(2, 4, true), values, ordinary.data(), 6);
  EXPECT_EQ(ordinary, (Floats{-2, -.25, 0, .5, 1, 1.75}));
  expectNear(forward(NudgedRange{8, true}, Range{-1, 1}, {-2, -.3f, .004f, 1}),
             {-1, -.2992126, .0078740, 1});
}

TEST(NudgedRange, ValuesPassToTheEndThatTheyWereCutOffAt) {
  Floats values = {-3, -2, 0, 1.75f, 2, 4}, back;
  Range ends = backward(NudgedRange{4}, Range{-2, 1.75}, values, back);
  EXPECT_EQ(back, (Floats{0, 1, 1, 1, 0, 0}));
  EXPECT_EQ(ends.min, 1);
  EXPECT_EQ(ends.max, 2);
}

TEST(NudgedRange, AnEmptyRangeIsZeroAndPassesToTheValues) {
  EXPECT_EQ(forward(NudgedRange{8}, Range{0, 0}, {1, -1}), (Floats{0, 0}));
  Floats back;
  Range ends = backward(NudgedRange{8}, Range{0, 0}, {1, -1}, back);
  EXPECT_EQ(back, (Floats{1, 1}));
  EXPECT_EQ(ends.max, 0);
  Floats values = {1, -1}, deployed(2);
  fakeQuantize(NudgedRange{8}.freeze({0, 0}), values.data(), deployed.data(),
               2);
  EXPECT_EQ(deployed, (Floats{0, 0}));
}

// Apart from ties, where one rounds x - min and the other x.
TEST(NudgedRange, BecomesAnOrdinaryGrid) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> unit(-1, 1);
  for (int trial = 0; trial != 100; ++trial) {
    NudgedRange quantizer{unsigned(2 + trial % 7), trial % 3 == 0};
    Range range{-1.1 + .9 * unit(random), 1.1 + .9 * unit(random)};
    Grid grid = quantizer.freeze(range);
    Floats values(64), deployed(64);
    for (float &value : values)
      value = float(3 * unit(random));
    fakeQuantize(grid, values.data(), deployed.data(), values.size());
    expectNear(forward(quantizer, range, values),
               std::vector<double>(deployed.begin(), deployed.end()));
  }
}

//===----------------------------------------------------------------------===//
// Learned rounding
//===----------------------------------------------------------------------===//

TEST(SoftRounding, BeginsWhereNothingIsRounded) {
  SoftRounding quantizer = SoftRounding::ofThreshold(8, 4);
  expectNear(quantizer.initialize({0, .25f, .5f, .75f, .9f}),
             {-2.3978953, -.8873032, 0., .8873032, 1.6094379});
  EXPECT_NEAR(soften(-2.3978953), 0, kDigits);
}

const Floats kWeights = {.30f, -.13f, .9f, 1.2f, -1.3f};

TEST(SoftRounding, IsTheFloatWeightUntilItIsHard) {
  SoftRounding quantizer = SoftRounding::ofThreshold(1, 4);
  EXPECT_EQ(quantizer.step, .125);
  Floats variables = quantizer.initialize(kWeights), results(5);
  quantizer.forward(kWeights, variables, /*isHard=*/false, results);
  expectNear(results, {.30, -.13, .875, .875, -1});
  quantizer.forward(kWeights, variables, /*isHard=*/true, results);
  EXPECT_EQ(results, (Floats{.25f, -.125f, .875f, .875f, -1}));
}

TEST(SoftRounding, GradientsOfVariables) {
  SoftRounding quantizer = SoftRounding::ofThreshold(1, 4);
  Floats variables = quantizer.initialize(kWeights), back(5, 1);
  quantizer.backward(kWeights, variables, back);
  EXPECT_NEAR(back[0], .0364583, kDigits);
  EXPECT_NEAR(back[1], .0154583, kDigits);
  EXPECT_EQ(back[3], 0);
  EXPECT_EQ(back[4], 0);
  quantizer.clip = ClipGradient::Passed;
  back.assign(5, 1);
  quantizer.backward(kWeights, variables, back);
  EXPECT_NEAR(back[3], .0114583, kDigits);
  EXPECT_NEAR(back[4], .0114583, kDigits);
}

// By differences, of thresholds and ranges, with a scale.
TEST(SoftRounding, GradientsAgreeWithDifferences) {
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> unit(-1, 1);
  constexpr float kDelta = 1e-2f;
  for (int trial = 0; trial != 100; ++trial) {
    unsigned bits = 2 + trial % 4;
    SoftRounding quantizer = trial % 2
                                 ? SoftRounding::ofThreshold(1, bits)
                                 : SoftRounding::ofRange({-.6, 1.1}, bits);
    double scale = 1 + .3 * unit(random);
    Floats weights(8), variables(8), factors(8);
    for (size_t i = 0; i != 8; ++i) {
      weights[i] = float(.5 * unit(random));
      variables[i] = float(1.5 * unit(random));
      factors[i] = float(unit(random));
    }
    auto sum = [&](const Floats &at, double by) {
      Floats results(8);
      quantizer.forward(weights, at, /*isHard=*/false, results, by);
      double all = 0;
      for (size_t i = 0; i != 8; ++i)
        all += factors[i] * results[i];
      return all;
    };
    Floats back = factors;
    double ofScale = quantizer.backward(weights, variables, back, scale);
    EXPECT_NEAR(ofScale,
                (sum(variables, scale + .01) - sum(variables, scale - .01)) /
                    .02,
                1e-4);
    for (size_t i = 0; i != 8; ++i) {
      Floats more = variables, less = variables;
      more[i] += kDelta;
      less[i] -= kDelta;
      // The error is of third order in kDelta, and of rounding to f32.
      EXPECT_NEAR(back[i], (sum(more, scale) - sum(less, scale)) / (2 * kDelta),
                  5e-5)
          << trial;
    }
  }
}

TEST(SoftRounding, AScaleThatIsNotAboveZeroIsTheSmallest) {
  SoftRounding quantizer = SoftRounding::ofThreshold(1, 4);
  Floats variables = quantizer.initialize(kWeights), results(5), back(5, 1);
  quantizer.forward(kWeights, variables, /*isHard=*/true, results, -2);
  EXPECT_EQ(results[0], .25f * 0x1p-16f);
  EXPECT_EQ(quantizer.backward(kWeights, variables, back, -2), 0);
}

// u = 2.4 and -1.04, h = .4 and .96 of a step: (f + h - u) is 0 at the
// beginning, and -u + f + 1 where everything goes up.
TEST(SoftRounding, GradientOfTheStep) {
  SoftRounding quantizer = SoftRounding::ofThreshold(1, 4);
  Floats weights = {.30f, -.13f}, ones = {1, 1};
  EXPECT_NEAR(
      quantizer.stepGradient(weights, quantizer.initialize(weights), ones), 0,
      kDigits);
  EXPECT_NEAR(quantizer.stepGradient(weights, Floats{20, 20}, ones), .6 + .04,
              kDigits);
}

TEST(RoundingRegularizer, IsZeroWhenEverythingIsDecided) {
  // h = 0, 1/4, 1/2, .9, 1
  Floats variables = SoftRounding{1, 0, -8, 8}.initialize({0, .25f, .5f, .9f});
  variables.push_back(20);
  EXPECT_NEAR(roundingRegularizer(variables, 2), 2.11, 1e-5);
  EXPECT_NEAR(roundingRegularizer(variables, 20), 2.9884698, 1e-5);
  EXPECT_EQ(roundingRegularizer({20, -20}, 2), 0);
}

// By h: 4, 2, 0, -3.2, -4; by the variable times h's derivative, which is 0 at
// both ends.
TEST(RoundingRegularizer, Gradient) {
  Floats variables = SoftRounding{1, 0, -8, 8}.initialize({0, .25f, .5f, .9f});
  variables.push_back(20);
  Floats gradients(5, 1);
  addRoundingRegularizerGradient(variables, 2, 10, gradients);
  const double byH[] = {4, 2, 0, -3.2, -4};
  for (size_t i = 0; i != 5; ++i)
    EXPECT_NEAR(gradients[i], 1 + 10 * byH[i] * softenDerivative(variables[i]),
                1e-4);
}

TEST(RoundingRegularizer, LayersCountByTheirImportance) {
  auto factors = llvm::cantFail(regularizerFactors({1, 4}, 2, 10));
  EXPECT_NEAR(factors[0] * 2.11 + factors[1] * 1, 15.275, kDigits);
  EXPECT_EQ(llvm::toString(regularizerFactors({1, 4}, 3, 10).takeError()),
            "expected the importances of 3 layers, found 2");
  EXPECT_EQ(llvm::toString(regularizerFactors({1, -4}, 2, 10).takeError()),
            "an importance is a finite number from 0 on, found -4");
  EXPECT_EQ(llvm::toString(regularizerFactors({0, 0}, 2, 10).takeError()),
            "all importances are 0");
}

TEST(PerturbedRounding, MovesByWholeLevels) {
  PerturbedRounding quantizer = PerturbedRounding::ofThreshold(1, 4);
  Floats results(3);
  quantizer.forward({.3f, -.13f, .9f}, {.2f, -.05f, .07f}, results);
  EXPECT_EQ(results, (Floats{.375f, -.125f, .875f}));
  quantizer.mostLevels = 2;
  quantizer.forward({.3f, -.13f, .9f}, {.25f, -.3f, .07f}, results);
  EXPECT_EQ(results, (Floats{.5f, -.375f, .875f}));
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

TEST(LinearAnnealing, IsConstantOutside) {
  auto power = llvm::cantFail(LinearAnnealing::create(20, 100, 20, 2));
  EXPECT_EQ(power.at(0), 20);
  EXPECT_EQ(power.at(20), 20);
  EXPECT_NEAR(power.at(40), 15.5, kDigits);
  EXPECT_NEAR(power.at(60), 11, kDigits);
  EXPECT_EQ(power.at(100), 2);
  auto other = llvm::cantFail(LinearAnnealing::create(10, 35, 3.4, -1.6));
  EXPECT_NEAR(other.at(11), 3.2, kDigits);
  EXPECT_NEAR(other.at(27), 0, kDigits);
  EXPECT_NEAR(other.at(34), -1.4, kDigits);
  EXPECT_NEAR(other.at(1000), -1.6, kDigits);
}

TEST(LinearAnnealing, RefusesStepsThatDoNotAscend) {
  EXPECT_EQ(llvm::toString(LinearAnnealing::create(5, 4, 0, 1).takeError()),
            "expected steps 0 <= start < end, found 5 and 4");
  EXPECT_EQ(llvm::toString(LinearAnnealing::create(-1, 4, 0, 1).takeError()),
            "expected steps 0 <= start < end, found -1 and 4");
}

TEST(QuantizedFraction, BlendsFromNothingToEverything) {
  auto fraction = llvm::cantFail(createQuantizedFraction(0, 1, 0, 15));
  EXPECT_EQ(fraction.at(0), 0);
  EXPECT_EQ(fraction.at(15), 1);
  EXPECT_EQ(llvm::toString(createQuantizedFraction(.5, .5, 0, 9).takeError()),
            "expected fractions 0 <= initial < target <= 1, found 0.5 and 0.5");
  EXPECT_EQ(llvm::toString(createQuantizedFraction(0, 1, -1, 9).takeError()),
            "expected steps 0 <= start < end, found -1 and 9");
  EXPECT_EQ(llvm::toString(createQuantizedFraction(0, 1, 5, 5).takeError()),
            "expected steps 0 <= start < end, found 5 and 5");
}

//===----------------------------------------------------------------------===//
// Observers
//===----------------------------------------------------------------------===//

void expectRange(const RangeObserver &observer, double min, double max) {
  EXPECT_NEAR(observer.range.min, min, 1e-9);
  EXPECT_NEAR(observer.range.max, max, 1e-9);
}

TEST(RangeObserver, LastValueIsWideOnBothSides) {
  RangeObserver observer =
      RangeObserver::create(RangeObserver::Kind::LastValue);
  expectRange(observer, -6, 6);
  observer.isSymmetric = true;
  observer.observe({-1, .25f, .5f});
  expectRange(observer, -1, .9921875);
  observer.observe({.5f, 1});
  EXPECT_NEAR(observer.range.min, -1.0078740, kDigits);
  EXPECT_EQ(observer.range.max, 1);
  observer.isNarrow = true;
  observer.observe({-1, .5f});
  expectRange(observer, -1, 1);
}

TEST(RangeObserver, MovingAverageForgetsSlowly) {
  RangeObserver observer =
      RangeObserver::create(RangeObserver::Kind::MovingAverage);
  observer.range = {0, 0};
  observer.observe({-1, 1});
  observer.observe({0, 0});
  expectRange(observer, -.000999, .000999);
  observer = RangeObserver::create(RangeObserver::Kind::MovingAverage);
  observer.observe({-1, 2});
  expectRange(observer, -5.995, 5.996);
  observer.observe({.5f, 4});
  expectRange(observer, -5.989005, 5.994004);
  observer.decay = 0;
  observer.observe({-1, 2});
  expectRange(observer, -1, 2);
}

TEST(RangeObserver, AllValuesOnlyGrows) {
  RangeObserver observer =
      RangeObserver::create(RangeObserver::Kind::AllValues);
  expectRange(observer, 0, 0);
  observer.observe({-5, 1});
  observer.observe({-1, 5});
  observer.observe({});
  expectRange(observer, -5, 5);
}

// With the bits that were asked for, unlike TensorFlow's.
TEST(RangeObserver, FixedStays) {
  RangeObserver observer = RangeObserver::create(RangeObserver::Kind::Fixed);
  observer.range = {0, 1};
  observer.observe({-5, 9});
  expectRange(observer, 0, 1);
  expectNear(forward(NudgedRange{4}, observer.range, {.5f}), {.5333333});
  expectNear(forward(NudgedRange{8}, observer.range, {.5f}), {.5019608});
}

} // namespace
