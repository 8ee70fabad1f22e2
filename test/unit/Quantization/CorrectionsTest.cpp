// SPDX-License-Identifier: Apache-2.0
//
// Cases derived by hand. The recorded ones are in unit/Golden.

#include "mct/Quantization/Corrections.h"
#include "gtest/gtest.h"

#include <cmath>
#include <random>

using namespace mct::quantization;

namespace {

TEST(Equalization, MatchesTheMomentsDerivedByHand) {
  EXPECT_NEAR(rectifiedMoments({0, 4}).deviation, 2.335277, 1e-6);
  EXPECT_NEAR(rectifiedMoments({0, .5}).deviation, .291910, 1e-6);
  EXPECT_NEAR(equalizationFactor({0, 4}), .428215, 1e-6);
  EXPECT_EQ(equalizationFactor({0, .5}), 1);
  EXPECT_NEAR(rectifiedMoments({2, 2}).mean, 2.166631, 1e-6);
  EXPECT_NEAR(rectifiedMoments({2, 2}).deviation, 1.733306, 1e-6);
  EXPECT_NEAR(equalizationFactor({2, 2}), .576932, 1e-6);
  EXPECT_EQ(equalizationFactor({0, 1.7}), 1);
}

TEST(Equalization, AgreesWithRectifiedSamples) {
  std::mt19937 random(3);
  for (Moments moments : {Moments{1.5, 2.0}, {-2.0, 1.0}, {5.0, 0.5}}) {
    std::normal_distribution<double> normal(moments.mean, moments.deviation);
    double sum = 0, squares = 0;
    const int count = 400000;
    for (int i = 0; i != count; ++i) {
      double value = std::max(0.0, normal(random));
      sum += value;
      squares += value * value;
    }
    double mean = sum / count;
    Moments rectified = rectifiedMoments(moments);
    // Six standard errors of the sample mean.
    double tolerance = 6 * moments.deviation / std::sqrt(double(count));
    EXPECT_NEAR(rectified.mean, mean, tolerance);
    EXPECT_NEAR(rectified.deviation, std::sqrt(squares / count - mean * mean),
                tolerance);
  }
}

TEST(Equalization, LeavesAConstantChannelAlone) {
  EXPECT_EQ(equalizationFactor({3, 0}), 1);
  EXPECT_EQ(rectifiedMoments({-3, 0}).mean, 0);
  EXPECT_EQ(rectifiedMoments({3, 0}).mean, 3);
}

TEST(ShiftNegative, IsTheSmallestStepThatLiftsTheMinimum) {
  EXPECT_EQ(shiftForNegative(-.279, 16, 8), .3125);
  EXPECT_EQ(shiftForNegative(-.279, 8, 8), .28125);
  EXPECT_EQ(shiftForNegative(-.279, 4, 8), .28125);
  EXPECT_EQ(shiftForNegative(-.17, 32, 8), .25);
  EXPECT_EQ(shiftForNegative(-.25, 16, 8), .25); // exactly a multiple
  EXPECT_EQ(shiftForNegative(.5, 16, 8), 0);
  EXPECT_EQ(shiftForNegative(-16, 16, 8), std::nullopt);
  EXPECT_EQ(shiftForNegative(-15.9375, 16, 8), 15.9375);
}

TEST(ShiftNegative, LiftsTheMinimumForAnyThreshold) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform(1e-3, 10);
  for (int i = 0; i != 2000; ++i) {
    double threshold = uniform(random), minimum = -0.3 * uniform(random);
    std::optional<double> shift = shiftForNegative(minimum, threshold, 4);
    if (!shift) {
      EXPECT_GT(-minimum, threshold * 15 / 16);
      continue;
    }
    EXPECT_GE(*shift + minimum, 0);
    // One step less would not do, but for the rounding of the multiple.
    EXPECT_LT(*shift - threshold / 16 + minimum, 1e-12);
  }
}

TEST(ShiftNegative, AppliesUpToTheRatio) {
  EXPECT_TRUE(isShortNegativeTail(-.279, 16, .05));
  EXPECT_FALSE(isShortNegativeTail(-.279, 4, .05));
  EXPECT_TRUE(isShortNegativeTail(-.279, 4, .07));
  EXPECT_FALSE(isShortNegativeTail(-1, 8, .05));
  EXPECT_FALSE(isShortNegativeTail(0, 8, .05));
  EXPECT_TRUE(isShortNegativeTail(-100, 8, INFINITY));
}

TEST(ShiftNegative, SearchIsTheBestOfAllShifts) {
  std::mt19937 random(11);
  std::normal_distribution<double> normal(1, 1);
  std::vector<Atom> atoms;
  for (int i = 0; i != 300; ++i) {
    double x = normal(random);
    atoms.push_back({x / (1 + std::exp(-x)), 1.0 + i % 3}); // swish
  }
  double smallest = 0, total = 0;
  for (const Atom &atom : atoms) {
    smallest = std::min(smallest, atom.value);
    total += atom.weight;
  }
  NegativeShift found = searchNegativeShift(atoms, 4, 4);
  double best = INFINITY;
  for (double threshold : {4.0, 8.0})
    for (int multiple = 0; multiple != 16; ++multiple) {
      double step = threshold / 16, error = 0;
      if ((multiple - 1) * step + smallest >= 0)
        break; // the one before lifts everything
      for (const Atom &atom : atoms) {
        double shifted = atom.value + multiple * step;
        double level = std::clamp(std::nearbyint(shifted / step), 0.0, 15.0);
        double difference = level * step - shifted;
        error += atom.weight * difference * difference / total;
      }
      best = std::min(best, error);
    }
  EXPECT_NEAR(found.error, best, 1e-12);
  EXPECT_LE(found.shift, -smallest + found.threshold / 16);
}

TEST(MeanQuantizationError, MatchesTheCaseDerivedByHand) {
  // Quantized edges 0 0 2 2, mean 1.25 against 1.75.
  Grid grid = symmetricGrid(4, 1, /*isSigned=*/false);
  EXPECT_DOUBLE_EQ(meanQuantizationError({0, 1, 2, 3}, {1, 1, 2}, grid), -.5);
  EXPECT_EQ(meanQuantizationError({0, 1}, {0}, grid), 0);
  EXPECT_EQ(meanQuantizationError({}, {}, grid), 0);
}

TEST(SecondMoment, RestoresMeanAndDeviation) {
  // Prior 0.5 and 2, observed 0.7 and sqrt(3.24), bias 1.
  Affine affine = secondMomentCorrection({.5, 2}, {.7, 1.8});
  EXPECT_NEAR(affine.scale, 1.111111, 1e-6);
  EXPECT_NEAR(affine.scale * 1 + affine.offset, .833333, 1e-6);
  // A constant channel keeps its scale and gets its mean.
  affine = secondMomentCorrection({.5, 0}, {.7, 1.8});
  EXPECT_EQ(affine.scale, 1);
  EXPECT_DOUBLE_EQ(affine.scale * .7 + affine.offset, .5);
}

TEST(SoftmaxShift, CentresTheRange) {
  EXPECT_EQ(softmaxShift(-1, 5), -2);
  EXPECT_EQ(softmaxShift(-2, 10), -4);
}

} // namespace
