// SPDX-License-Identifier: Apache-2.0
//
// Cases with a T number are derived by hand.

#include "mct/Quantization/Selection.h"
#include "RandomValues.h"
#include "SelectionFixture.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

using namespace mct::quantization;

namespace {

SelectedParameters powerOfTwo(const std::vector<float> &values, unsigned bits,
                              ErrorMethod errorMethod = ErrorMethod::MSE) {
  return selectForValues(
      values, makeOptions(QuantizationMethod::PowerOfTwo, bits, errorMethod));
}
SelectedParameters symmetric(const std::vector<float> &values, unsigned bits,
                             ErrorMethod errorMethod = ErrorMethod::MSE) {
  return selectForValues(
      values, makeOptions(QuantizationMethod::Symmetric, bits, errorMethod));
}
SelectedParameters uniform(const std::vector<float> &values, unsigned bits,
                           ErrorMethod errorMethod = ErrorMethod::MSE) {
  return selectForValues(
      values, makeOptions(QuantizationMethod::Uniform, bits, errorMethod));
}

/// The smallest error over all steps: for each set of levels that some step
/// gives, the bottom of its parabola or the nearer end of its interval.
double exactOptimum(const std::vector<float> &values, double lo, double hi) {
  std::vector<double> events;
  for (double x : values)
    for (double level = 0; level < (x < 0 ? -lo : hi); ++level)
      if (x != 0)
        events.push_back(std::fabs(x) / (level + 0.5));
  std::sort(events.begin(), events.end());
  // Below all events every value is clipped; a tiny step stands for none.
  double best = meanError(values, 2, 1e-30, lo, hi);
  if (events.empty())
    return best;
  for (size_t i = 0; i <= events.size(); ++i) {
    double from = i == 0 ? 0 : events[i - 1];
    double to = i < events.size() ? events[i] : 2 * events.back();
    double middle = 0.5 * (from + to), product = 0, square = 0;
    for (double x : values) {
      double level = std::clamp(std::nearbyint(x / middle), lo, hi);
      product += level * x;
      square += level * level;
    }
    double step = square > 0 ? std::clamp(product / square, from, to) : middle;
    if (step > 0)
      best = std::min(best, meanError(values, 2, step, lo, hi));
  }
  return best;
}

TEST(NoClippingTest, PowerOfTwoIsTheSmallestNotBelowTheBound) {
  // T18
  for (auto [bound, threshold] :
       std::vector<std::pair<double, double>>{{0, 0x1p-16},
                                              {1e-9, 0x1p-16},
                                              {1, 1},
                                              {1.0000001, 2},
                                              {3, 4},
                                              {0x1p-16, 0x1p-16},
                                              {std::exp2(-15.5), 0x1p-15}})
    EXPECT_EQ(selectForBounds(0, bound,
                              makeOptions(QuantizationMethod::PowerOfTwo, 8))
                  .threshold,
              threshold);
}

TEST(NoClippingTest, WeightThresholdMakesTheLargestValueALevel) {
  // T19; one bit has no positive level, so the largest value is ignored.
  const std::vector<std::pair<unsigned, double>> expected = {
      {1, 0x1p-16}, {2, 2.0},         {3, 4.0 / 3},
      {4, 8.0 / 7}, {8, 128.0 / 127}, {16, 32768.0 / 32767}};
  for (auto [bits, threshold] : expected)
    EXPECT_DOUBLE_EQ(
        symmetric({1.0f, 0.5f}, bits, ErrorMethod::NoClipping).threshold,
        threshold);
}

TEST(NoClippingTest, WeightThresholdsOfBothKinds) {
  // T20
  const ErrorMethod noClipping = ErrorMethod::NoClipping;
  EXPECT_EQ(powerOfTwo({-1, 127.0f / 128}, 8, noClipping).threshold, 1);
  EXPECT_DOUBLE_EQ(symmetric({-1, 127.0f / 128}, 8, noClipping).threshold, 1);
  EXPECT_EQ(powerOfTwo({-1, 1}, 8, noClipping).threshold, 2);
  EXPECT_NEAR(symmetric({-1, 1}, 8, noClipping).threshold, 1.0078740, 1e-6);
  // T21
  EXPECT_DOUBLE_EQ(symmetric({2, 1}, 2, noClipping).threshold, 4);
  EXPECT_DOUBLE_EQ(symmetric({-2, 1}, 2, noClipping).threshold, 2);
  EXPECT_NEAR(symmetric({0.5f}, 4, noClipping).threshold, 0.5714286, 1e-6);
  EXPECT_DOUBLE_EQ(symmetric({7}, 4, noClipping).threshold, 8);
}

TEST(NoClippingTest, UniformRangeIsThatOfTheValuesAndZero) {
  // T12 and T23: MCT ends the last at 5 instead of 1.
  auto expectRange = [](const std::vector<float> &values, unsigned bits,
                        double lo, double hi) {
    SelectedParameters selected =
        uniform(values, bits, ErrorMethod::NoClipping);
    UniformParameters expected = uniformParametersForRange(lo, hi, bits);
    EXPECT_EQ(selected.step, expected.step);
    EXPECT_EQ(selected.zeroPoint, expected.zeroPoint);
  };
  expectRange({4, 5, 6, 7}, 4, 0, 7);
  expectRange({-3, -2, -1, -1}, 4, -3, 0);
  expectRange({-5, 1, 0, -2}, 8, -5, 1);
}

TEST(NoClippingTest, ReportsTheErrorItCauses) {
  std::vector<float> values = randomValues(100, 0);
  for (QuantizationMethod kind : kKinds) {
    SelectionOptions options = makeOptions(kind, 3, ErrorMethod::NoClipping);
    SelectedParameters selected = selectForValues(values, options);
    EXPECT_NEAR(selected.error,
                meanError(values, 2, gridFor(selected, options)), 1e-12);
    EXPECT_GT(selected.error, 0);
  }
}

TEST(BoundsTest, BothBoundsCount) {
  // T24; T25: MCT reads the upper bound only and gives 1.
  struct Case {
    double lo, hi, powerOfTwo, symmetric;
  };
  for (Case bounds : {Case{-1, 1, 1, 1}, Case{0, 1, 1, 1}, Case{0, 6, 8, 6},
                      Case{-3, 1, 4, 3}}) {
    bool isSigned = bounds.lo < 0;
    auto select = [&](QuantizationMethod kind) {
      return selectForBounds(bounds.lo, bounds.hi,
                             makeOptions(kind, 8, ErrorMethod::MSE, isSigned));
    };
    EXPECT_EQ(select(QuantizationMethod::PowerOfTwo).threshold,
              bounds.powerOfTwo);
    EXPECT_EQ(select(QuantizationMethod::Symmetric).threshold,
              bounds.symmetric);
    UniformParameters expected =
        uniformParametersForRange(bounds.lo, bounds.hi, 8);
    EXPECT_EQ(select(QuantizationMethod::Uniform).step, expected.step);
    EXPECT_EQ(select(QuantizationMethod::Uniform).zeroPoint,
              expected.zeroPoint);
  }
}

TEST(PowerOfTwoTest, PicksTheSmallestError) {
  // T26 and T27
  SelectedParameters selected = powerOfTwo({-1, 0.5f, 0.25f, 0}, 2);
  EXPECT_EQ(selected.threshold, 1);
  EXPECT_DOUBLE_EQ(selected.error, 0.015625);
  selected = powerOfTwo({0.6f, 0.6f, 0.6f, -0.6f}, 2);
  EXPECT_EQ(selected.threshold, 1);
  EXPECT_NEAR(selected.error, 0.01, 1e-7);
}

TEST(PowerOfTwoTest, OneOutlierDoesNotDecide) {
  // T28 and T29
  std::vector<float> values(99, 0.1f);
  values.push_back(10);
  SelectedParameters selected = powerOfTwo(values, 2);
  EXPECT_EQ(selected.threshold, 16);
  EXPECT_NEAR(selected.error, 0.0499, 1e-6);
  values.assign(50, 0.3f);
  values.push_back(1);
  selected = powerOfTwo(values, 2);
  EXPECT_EQ(selected.threshold, 0.5);
  EXPECT_NEAR(selected.error, 0.013480, 1e-6);
}

TEST(PowerOfTwoTest, TiesTakeTheSmallestThresholdThatDoesNotClip) {
  // T34: MCT gives 2, 4 and 2^-15.
  EXPECT_EQ(powerOfTwo({0.25f, -0.25f, 0.5f}, 8).threshold, 1.0);
  EXPECT_EQ(powerOfTwo({1, 1, 1, 1}, 8).threshold, 2.0);
  EXPECT_EQ(powerOfTwo({0, 0, 0}, 8).threshold, 0x1p-16);
}

TEST(PowerOfTwoTest, MinimumThresholdIsRoundedUpToAPowerOfTwo) {
  // T46: MCT returns 0.3, which its quantizer rejects.
  SelectionOptions options = makeOptions(QuantizationMethod::PowerOfTwo, 8);
  options.minThreshold = 0.3;
  EXPECT_EQ(selectForValues({0.01f, -0.02f}, options).threshold, 0.5);
}

TEST(PowerOfTwoTest, UnsignedAtoms) {
  // T37: the left edges of four bins of one count each.
  SelectedParameters selected =
      selectForAtoms({{0, 1}, {1, 1}, {2, 1}, {3, 1}},
                     makeOptions(QuantizationMethod::PowerOfTwo, 2,
                                 ErrorMethod::MSE, 3, false));
  EXPECT_EQ(selected.threshold, 4);
  EXPECT_EQ(selected.error, 0);
}

TEST(SymmetricTest, ClipsAnOutlierThatLocalSearchKeeps) {
  // T30: MCT stays at threshold 2 with error 0.0882353.
  std::vector<float> values(50, 0.3f);
  values.push_back(1);
  SelectedParameters selected = symmetric(values, 2);
  EXPECT_NEAR(selected.threshold, 32.0 / 51, 1e-6);
  EXPECT_NEAR(selected.error, 0.0094195, 1e-6);
  EXPECT_LE(selected.error, 0.00942);
}

TEST(SymmetricTest, ReachesOptimaDerivedByHand) {
  // T31, T32, T33
  SelectedParameters selected = symmetric({1, 2, 3, 4}, 3);
  EXPECT_NEAR(selected.threshold, 5.6, 1e-9);
  EXPECT_NEAR(selected.error, 0.15, 1e-12);
  selected = symmetric({-4, -2, 1, 1, 1, 1}, 2);
  EXPECT_NEAR(selected.threshold, 28.0 / 9, 1e-9);
  EXPECT_NEAR(selected.error, 10.0 / 27, 1e-12);
  selected = symmetric({-1, 1}, 2);
  EXPECT_EQ(selected.threshold, 2);
  EXPECT_EQ(selected.error, 0);
}

TEST(SymmetricTest, IsTheExactOptimum) {
  // T36, with the set of all steps instead of a grid of them.
  for (unsigned bits : {1, 2, 3, 4, 6})
    for (unsigned seed = 0; seed < 24; ++seed) {
      std::vector<float> values = randomValues(1 + seed * 2, seed);
      double half = std::ldexp(1.0, bits - 1);
      double exact = exactOptimum(values, -half, half - 1);
      SelectionOptions options =
          makeOptions(QuantizationMethod::Symmetric, bits);
      SelectedParameters selected = selectForValues(values, options);
      double energy = meanError(values, 2, 1e30, 0, 0);
      // Errors below 1e-14 of the energy are not distinguished from zero.
      EXPECT_LE(selected.error, exact * (1 + 1e-8) + 2e-14 * energy)
          << bits << " bits, seed " << seed;
      EXPECT_NEAR(selected.error,
                  meanError(values, 2, gridFor(selected, options)),
                  1e-9 * selected.error + 1e-14 * energy);
    }
}

TEST(SymmetricTest, EightBitsAreNeverWorseThanADenseSweep) {
  for (unsigned seed = 0; seed < 4; ++seed) {
    std::vector<float> values = randomValues(300, seed);
    SelectedParameters selected = symmetric(values, 8);
    double dense = std::numeric_limits<double>::infinity();
    for (int i = 0; i < 20000; ++i)
      dense = std::min(
          dense,
          meanError(values, 2, 4.0 / 128 * std::exp(-i / 4000.0), -128, 127));
    EXPECT_LE(selected.error, dense * (1 + 1e-9)) << seed;
  }
}

TEST(SymmetricTest, NormalSamplesHaveTheKnownThresholds) {
  // T39
  std::mt19937 generator(5);
  std::normal_distribution<float> normal;
  std::vector<float> values(1000000);
  for (float &value : values)
    value = normal(generator);
  const std::pair<unsigned, double> expected[] = {
      {2, 2.095}, {3, 2.405}, {4, 2.71}, {8, 3.94}};
  const double powers[] = {2, 2, 4, 4};
  for (int i = 0; i < 4; ++i) {
    auto [bits, threshold] = expected[i];
    EXPECT_NEAR(symmetric(values, bits).threshold, threshold, 0.01 * threshold);
    EXPECT_EQ(powerOfTwo(values, bits).threshold, powers[i]);
  }
}

TEST(UniformTest, FindsAGridThatHoldsEveryValue) {
  // T22: left edges of four bins; MCT's stored range misses zero error by 1e-6.
  SelectedParameters selected =
      selectForAtoms({{-1, 1}, {0, 1}, {1, 1}, {2, 1}},
                     makeOptions(QuantizationMethod::Uniform, 2));
  EXPECT_EQ(selected.step, 1);
  EXPECT_EQ(selected.zeroPoint, 1);
  EXPECT_EQ(selected.error, 0);
}

TEST(UniformTest, IsTheExactOptimumOverStepsAndZeroPoints) {
  for (unsigned bits : {1, 2, 3, 4})
    for (unsigned seed = 0; seed < 24; ++seed) {
      std::vector<float> values = randomValues(1 + seed * 2, seed);
      double exact = std::numeric_limits<double>::infinity();
      int last = (1 << bits) - 1;
      for (int zeroPoint = 0; zeroPoint <= last; ++zeroPoint)
        exact =
            std::min(exact, exactOptimum(values, -zeroPoint, last - zeroPoint));
      SelectionOptions options = makeOptions(QuantizationMethod::Uniform, bits);
      SelectedParameters selected = selectForValues(values, options);
      double energy = meanError(values, 2, 1e30, 0, 0);
      EXPECT_LE(selected.error, exact * (1 + 1e-8) + 2e-14 * energy)
          << bits << " bits, seed " << seed;
      EXPECT_NEAR(selected.error,
                  meanError(values, 2, gridFor(selected, options)),
                  1e-9 * selected.error + 1e-14 * energy);
    }
}

TEST(UniformTest, EightBitsAreNeverWorseThanADenseSweep) {
  for (unsigned seed = 0; seed < 4; ++seed) {
    std::vector<float> values = randomValues(40, seed);
    SelectedParameters selected = uniform(values, 8);
    auto [lo, hi] = std::minmax_element(values.begin(), values.end());
    double width = (std::max(*hi, 0.0f) - std::min(*lo, 0.0f)) / 255.0;
    double dense = std::numeric_limits<double>::infinity();
    for (int zeroPoint = 0; zeroPoint < 256; ++zeroPoint)
      for (int i = 0; i < 300; ++i)
        dense =
            std::min(dense, meanError(values, 2, width * (0.7 + 0.4 * i / 300),
                                      -zeroPoint, 255 - zeroPoint));
    EXPECT_LE(selected.error, dense * (1 + 1e-9)) << seed;
  }
}

TEST(SelectionTest, NeverWorseThanNoClipping) {
  for (QuantizationMethod kind : kKinds)
    for (unsigned bits : {1, 2, 5, 8, 12, 16})
      for (unsigned seed = 0; seed < 8; ++seed) {
        std::vector<float> values = randomValues(1 + seed * 13, seed);
        SelectionOptions options = makeOptions(kind, bits);
        double searched = selectForValues(values, options).error;
        options.errorMethod = ErrorMethod::NoClipping;
        EXPECT_LE(searched, selectForValues(values, options).error);
      }
}

TEST(SelectionTest, ScalingByAPowerOfTwoScalesTheResultExactly) {
  // T35
  for (QuantizationMethod kind : kKinds)
    for (int exponent : {-90, -9, 5, 90})
      for (unsigned seed = 0; seed < 4; ++seed) {
        SelectionOptions options = makeOptions(kind, 4);
        options.minThreshold = 0x1p-200;
        std::vector<float> values = randomValues(50, seed);
        SelectedParameters before = selectForValues(values, options);
        for (float &value : values)
          value = std::ldexp(value, exponent);
        SelectedParameters after = selectForValues(values, options);
        EXPECT_EQ(after.threshold, std::ldexp(before.threshold, exponent));
        EXPECT_EQ(after.step, std::ldexp(before.step, exponent));
        EXPECT_EQ(after.zeroPoint, before.zeroPoint);
        EXPECT_EQ(after.error, std::ldexp(before.error, 2 * exponent));
      }
}

TEST(SelectionTest, OrderOfTheValuesDoesNotMatter) {
  for (QuantizationMethod kind : kKinds)
    for (unsigned bits : {2, 8}) {
      std::vector<float> values = randomValues(200, 0);
      SelectionOptions options = makeOptions(kind, bits);
      SelectedParameters before = selectForValues(values, options);
      std::shuffle(values.begin(), values.end(), std::mt19937(1));
      SelectedParameters after = selectForValues(values, options);
      // The sums are rounded in another order.
      EXPECT_NEAR(after.threshold, before.threshold, 1e-9 * before.threshold);
      EXPECT_NEAR(after.step, before.step, 1e-9 * before.step);
      EXPECT_EQ(after.zeroPoint, before.zeroPoint);
      EXPECT_NEAR(after.error, before.error, 1e-9 * before.error);
    }
}

TEST(SelectionTest, InstructionSetsAndThreadsGiveTheSameBits) {
  std::vector<float> values = randomValues(30 * 200, 1);
  for (QuantizationMethod kind : kKinds)
    for (unsigned bits : {3, 8}) {
      SelectionOptions options = makeOptions(kind, bits);
      std::vector<SelectedParameters> reference =
          selectPerChannel(values, {20, 30, 10}, {1}, options, 1);
      for (InstructionSet set : {InstructionSet::Portable, InstructionSet::AVX2,
                                 InstructionSet::AVX512})
        for (unsigned threads : {1, 2, 5}) {
          if (!forceInstructionSetForTesting(set))
            continue;
          std::vector<SelectedParameters> other =
              selectPerChannel(values, {20, 30, 10}, {1}, options, threads);
          forceInstructionSetForTesting(std::nullopt);
          for (size_t i = 0; i < reference.size(); ++i) {
            EXPECT_EQ(other[i].threshold, reference[i].threshold);
            EXPECT_EQ(other[i].step, reference[i].step);
            EXPECT_EQ(other[i].zeroPoint, reference[i].zeroPoint);
            EXPECT_EQ(other[i].error, reference[i].error);
          }
        }
    }
}

TEST(SelectionTest, DegenerateValuesGiveFiniteParameters) {
  float largest = std::numeric_limits<float>::max();
  const std::vector<std::vector<float>> tensors = {
      {},
      {0},
      {0, 0, -0.0f},
      {1},
      {-1},
      {1e30f, -1e30f, 3e29f},
      {largest, -largest},
      {0x1p-149f},
      {-0x1p-149f, 0x1p-140f, 0},
      {1e-40f, 1e30f},
      {5, 5, 5, 5},
      {-5, -5},
      {std::nanf(""), std::numeric_limits<float>::infinity(), 2}};
  for (const std::vector<float> &values : tensors)
    for (QuantizationMethod kind : kKinds)
      for (unsigned bits : {1, 2, 8, 16})
        for (ErrorMethod method : {ErrorMethod::NoClipping, ErrorMethod::MSE}) {
          SelectionOptions options = makeOptions(kind, bits, method);
          SelectedParameters selected = selectForValues(values, options);
          Grid grid = gridFor(selected, options);
          EXPECT_TRUE(std::isfinite(grid.step) && grid.step > 0);
          EXPECT_TRUE(std::isfinite(selected.error) && selected.error >= 0);
          EXPECT_GE(selected.zeroPoint, 0);
          EXPECT_LT(selected.zeroPoint, int64_t(1) << bits);
          float zero = 0;
          fakeQuantize(grid, &zero, &zero, 1);
          EXPECT_EQ(zero, 0);
        }
}

TEST(SelectionTest, ZerosTakeTheMinimumThreshold) {
  for (ErrorMethod method : {ErrorMethod::NoClipping, ErrorMethod::MSE}) {
    EXPECT_EQ(symmetric({0, 0}, 8, method).threshold, 0x1p-16);
    EXPECT_EQ(uniform({0, 0}, 8, method).step, 0x1p-16);
    EXPECT_EQ(uniform({0, 0}, 8, method).zeroPoint, 0);
  }
}

TEST(SelectionTest, ThresholdsDoNotFallBelowTheMinimum) {
  SelectionOptions options = makeOptions(QuantizationMethod::Symmetric, 8);
  for (float value : {1e-8f, 1e-5f, 1.4e-5f})
    for (ErrorMethod method : {ErrorMethod::NoClipping, ErrorMethod::MSE}) {
      options.errorMethod = method;
      EXPECT_GE(selectForValues({value, -value / 3}, options).threshold,
                0x1p-16);
    }
}

SelectedParameters selected(const Histogram &histogram,
                            const SelectionOptions &options) {
  return llvm::cantFail(selectForHistogram(histogram, options));
}

TEST(HistogramSelectionTest, NothingObservedIsAnError) {
  auto result = selectForHistogram(observed({std::nanf("")}), {});
  EXPECT_EQ(llvm::toString(result.takeError()),
            "no finite value was observed (1 values that are not finite)");
}

TEST(HistogramSelectionTest, LinearRampTakesItsCoveringThreshold) {
  // T38
  std::vector<float> values;
  for (int i = 0; i <= 6000; ++i)
    values.push_back(i / 1000.0f);
  Histogram histogram = observed(values);
  SelectedParameters power =
      selected(histogram, makeOptions(QuantizationMethod::PowerOfTwo, 8,
                                      ErrorMethod::MSE, 3, false));
  EXPECT_EQ(power.threshold, 8);
  // Quantizing midpoints instead of values changes the error by their spread.
  EXPECT_NEAR(power.error, 8.17e-5, 0.02 * 8.17e-5);
  EXPECT_NEAR(selected(histogram, makeOptions(QuantizationMethod::Symmetric, 8,
                                              ErrorMethod::MSE, 3, false))
                  .threshold,
              6.01, 0.005 * 6.01);
}

TEST(HistogramSelectionTest, NoClippingIsTheExactRangeWithoutWidening) {
  Histogram histogram = observed({-0.7f, 0.1f, 0.25f, 2.0f});
  const ErrorMethod noClipping = ErrorMethod::NoClipping;
  EXPECT_EQ(selected(histogram,
                     makeOptions(QuantizationMethod::PowerOfTwo, 8, noClipping))
                .threshold,
            2);
  EXPECT_EQ(selected(histogram,
                     makeOptions(QuantizationMethod::Symmetric, 8, noClipping))
                .threshold,
            2);
  SelectedParameters uniformParameters = selected(
      histogram, makeOptions(QuantizationMethod::Uniform, 8, noClipping));
  EXPECT_EQ(uniformParameters.step, (2.0 + 0.7f) / 255);
}

TEST(HistogramSelectionTest, ConstantActivationsAreRepresentedExactly) {
  for (float constant : {1.558f, -1.21f, 1e-7f})
    for (QuantizationMethod kind :
         {QuantizationMethod::Symmetric, QuantizationMethod::Uniform}) {
      SelectionOptions options = makeOptions(kind, 8);
      options.minThreshold = 0x1p-40;
      std::vector<float> values(64, constant);
      SelectedParameters parameters = selected(observed(values), options);
      EXPECT_LE(meanError(values, 2, gridFor(parameters, options)),
                1e-13 * constant * constant);
    }
}

TEST(HistogramSelectionTest, AllZeroActivationsTakeTheMinimumThreshold) {
  // T51: MCT gives 1 for power of two with mse.
  Histogram histogram = observed(std::vector<float>(100, 0.0f));
  for (ErrorMethod method : {ErrorMethod::NoClipping, ErrorMethod::MSE}) {
    EXPECT_EQ(selected(histogram, makeOptions(QuantizationMethod::PowerOfTwo, 8,
                                              method, 3, false))
                  .threshold,
              0x1p-16);
    EXPECT_EQ(
        selected(histogram, makeOptions(QuantizationMethod::Uniform, 8, method))
            .step,
        0x1p-16);
  }
}

TEST(HistogramSelectionTest, ReportedErrorIsCloseToThatOfTheSamples) {
  for (unsigned seed = 0; seed < 3; ++seed)
    for (QuantizationMethod kind : kKinds) {
      std::vector<float> values = randomValues(20000, seed);
      Histogram histogram = observed(values);
      SelectionOptions options = makeOptions(kind, 6);
      options.isSigned = histogram.min() < 0;
      SelectedParameters parameters = selected(histogram, options);
      double actual = meanError(values, 2, gridFor(parameters, options));
      // The spread inside a bin is lost: about (64 / 8192)^2 of a step's error,
      // more where the range is much wider than the threshold.
      EXPECT_NEAR(parameters.error, actual, 0.02 * actual);
    }
}

} // namespace
