// SPDX-License-Identifier: Apache-2.0
//
// Weights with more than the least error, so that their codes are small.

#include "RandomValues.h"
#include "SelectionFixture.h"
#include "mct/Quantization/Selection.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

using namespace mct::quantization;

namespace {

SelectionOptions tolerant(QuantizationMethod kind, unsigned bits,
                          double tolerance) {
  SelectionOptions options = makeOptions(kind, bits);
  options.errorTolerance = tolerance;
  return options;
}

double largestMagnitude(const std::vector<float> &values) {
  double largest = 0;
  for (float value : values)
    largest = std::max(largest, std::fabs(double(value)));
  return largest;
}

/// The smallest mean squared error of all steps from `from` to `to`: for each
/// set of levels that some step gives, the bottom of its parabola or the nearer
/// end of its interval.
double leastErrorBetween(const std::vector<float> &values, const Grid &grid,
                         double from, double to) {
  double lo = double(grid.qmin - grid.zeroPoint),
         hi = double(grid.qmax - grid.zeroPoint);
  std::vector<double> ends = {from, to};
  for (double x : values)
    for (double level = 0; level < (x < 0 ? -lo : hi); ++level)
      if (double end = std::fabs(x) / (level + 0.5); end > from && end < to)
        ends.push_back(end);
  std::sort(ends.begin(), ends.end());
  double best = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i + 1 < ends.size(); ++i) {
    double middle = 0.5 * (ends[i] + ends[i + 1]);
    double product = 0, square = 0, error = 0;
    for (double x : values) {
      double level = std::clamp(std::nearbyint(x / middle), lo, hi);
      product += level * x;
      square += level * level;
    }
    double step =
        square > 0 ? std::clamp(product / square, ends[i], ends[i + 1]) : to;
    for (double x : values) {
      double level = std::clamp(std::nearbyint(x / middle), lo, hi);
      error += (x - step * level) * (x - step * level);
    }
    best = std::min(best, error / double(values.size()));
  }
  return best;
}

TEST(ErrorToleranceTest, NoLargerStepIsWithinIt) {
  for (QuantizationMethod kind :
       {QuantizationMethod::Symmetric, QuantizationMethod::Uniform})
    for (unsigned bits : {2, 3, 5, 8})
      for (size_t count : {2, 9, 27, 150})
        for (unsigned seed = 0; seed < 4; ++seed)
          for (double tolerance : {1.01, 2.0, 4.0}) {
            SCOPED_TRACE("kind " + std::to_string(int(kind)) + ", bits " +
                         std::to_string(bits) + ", values " +
                         std::to_string(count) + ", seed " +
                         std::to_string(seed) + ", tolerance " +
                         std::to_string(tolerance));
            std::vector<float> values = randomValues(count, seed);
            SelectionOptions options = tolerant(kind, bits, tolerance);
            SelectedParameters found = selectForValues(values, options);
            SelectedParameters least =
                selectForValues(values, makeOptions(kind, bits));
            Grid grid = gridFor(found, options);
            Grid leastGrid = gridFor(least, options);
            EXPECT_GE(grid.step, leastGrid.step);
            EXPECT_EQ(grid.zeroPoint, leastGrid.zeroPoint);
            EXPECT_EQ(found.isLarger, grid.step != leastGrid.step);
            EXPECT_LE(found.error, tolerance * least.error * (1 + 1e-12));
            // Values of about 1 are rounded to 2^-53.
            EXPECT_NEAR(found.error, meanError(values, 2, grid),
                        1e-9 * found.error + 1e-20);
            double last = largestMagnitude(values);
            if (found.error <= 1e-13) // nothing to tolerate
              continue;
            // The search does not distinguish nearer ones.
            double next = grid.step * (1 + 0x1p-18);
            if (next < last) {
              EXPECT_GT(leastErrorBetween(values, grid, next, last),
                        tolerance * least.error * (1 - 1e-9));
            }
          }
}

TEST(ErrorToleranceTest, TheNextPowersOfTwoAreBeyondIt) {
  int larger = 0;
  for (unsigned bits : {2, 4, 8, 12})
    for (size_t count : {2, 9, 27, 1000})
      for (unsigned seed = 0; seed < 8; ++seed)
        for (double tolerance : {2.0, 4.0, 100.0}) {
          std::vector<float> values = randomValues(count, seed);
          SelectionOptions options =
              tolerant(QuantizationMethod::PowerOfTwo, bits, tolerance);
          SelectedParameters least = selectForValues(
              values, makeOptions(QuantizationMethod::PowerOfTwo, bits));
          SelectedParameters found = selectForValues(values, options);
          auto errorAt = [&](double threshold) {
            return meanError(values, 2, symmetricGrid(threshold, bits, true));
          };
          double expected = least.threshold;
          double last = std::ldexp(largestMagnitude(values), int(bits) - 1);
          for (double t = 2 * expected; t <= last; t *= 2)
            if (errorAt(t) <= tolerance * least.error)
              expected = t;
          EXPECT_EQ(found.threshold, expected);
          EXPECT_NEAR(found.error, errorAt(expected), 1e-9 * found.error);
          EXPECT_EQ(found.isLarger, expected != least.threshold);
          larger += found.isLarger;
        }
  EXPECT_GT(larger, 20);
}

TEST(ErrorToleranceTest, OneIsTheLeastError) {
  for (QuantizationMethod kind : kKinds)
    for (unsigned seed = 0; seed < 4; ++seed) {
      std::vector<float> values = randomValues(200, seed);
      SelectedParameters least = selectForValues(values, makeOptions(kind, 8));
      SelectedParameters one = selectForValues(values, tolerant(kind, 8, 1));
      EXPECT_EQ(one.threshold, least.threshold);
      EXPECT_EQ(one.step, least.step);
      EXPECT_EQ(one.zeroPoint, least.zeroPoint);
      EXPECT_EQ(one.error, least.error);
      EXPECT_EQ(one.certificate, least.certificate);
      EXPECT_EQ(one.bound, least.bound);
      EXPECT_FALSE(one.isLarger);
    }
}

TEST(ErrorToleranceTest, TheBoundIsTheDistanceFromTheLeastError) {
  for (QuantizationMethod kind : kKinds) {
    std::vector<float> values = randomValues(300, 0);
    double tolerance = 5;
    SelectedParameters least = selectForValues(values, makeOptions(kind, 8));
    SelectedParameters found =
        selectForValues(values, tolerant(kind, 8, tolerance));
    ASSERT_EQ(least.certificate, Certificate::Exact);
    EXPECT_TRUE(found.isLarger);
    EXPECT_EQ(found.certificate, Certificate::Bound);
    EXPECT_DOUBLE_EQ(found.error / (1 + found.bound), least.error);
    EXPECT_LE(found.bound, tolerance - 1);
  }
}

TEST(ErrorToleranceTest, TwoSavesHalfABit) {
  // The error of fine steps is step^2 / 12 (without clipping), and the entropy
  // of the codes that of the density less log2(step).
  std::vector<float> values = randomValues(20000, 0);
  auto entropy = [&](const SelectedParameters &found) {
    Grid grid = gridFor(found, makeOptions(QuantizationMethod::Symmetric, 8));
    std::map<double, double> counts;
    for (float value : values)
      ++counts[std::nearbyint(value / grid.step)];
    double bits = 0;
    for (auto [code, count] : counts)
      bits -= count / 20000 * std::log2(count / 20000);
    return bits;
  };
  SelectedParameters least =
      selectForValues(values, makeOptions(QuantizationMethod::Symmetric, 8));
  SelectedParameters found =
      selectForValues(values, tolerant(QuantizationMethod::Symmetric, 8, 2));
  EXPECT_NEAR(found.threshold / least.threshold, std::sqrt(2.0), 0.1);
  EXPECT_NEAR(entropy(least) - entropy(found), 0.5, 0.1);
}

TEST(ErrorToleranceTest, WhatLiesOnAGridStaysThere) {
  for (QuantizationMethod kind : kKinds)
    for (const std::vector<float> &values :
         {std::vector<float>{0, 0, 0}, std::vector<float>{-1, 0.5, 0.25},
          std::vector<float>{3}}) {
      SelectedParameters least = selectForValues(values, makeOptions(kind, 8));
      SelectedParameters found =
          selectForValues(values, tolerant(kind, 8, 1e6));
      EXPECT_EQ(found.threshold, least.threshold);
      EXPECT_EQ(found.step, least.step);
      EXPECT_FALSE(found.isLarger);
      EXPECT_EQ(found.certificate, Certificate::Exact);
    }
}

TEST(ErrorToleranceTest, TheLargestMagnitudeKeepsACode) {
  // Rounding everything to zero is within this tolerance. The fourth law is on
  // a grid.
  for (QuantizationMethod kind : kKinds)
    for (unsigned seed = 0; seed < 8; ++seed) {
      std::vector<float> values = randomValues(27, seed);
      if (seed % 4 == 3)
        continue;
      SelectionOptions options = tolerant(kind, 8, 1e9);
      SelectedParameters found = selectForValues(values, options);
      double step = gridFor(found, options).step;
      EXPECT_LE(step, largestMagnitude(values));
      EXPECT_GT(2 * step, largestMagnitude(values));
    }
}

TEST(ErrorToleranceTest, ThresholdsStayFloats) {
  for (QuantizationMethod kind :
       {QuantizationMethod::Symmetric, QuantizationMethod::Uniform})
    for (float largest : {3e38f, 1e-30f, 1e-44f}) {
      std::vector<float> values = {largest, largest * 0.31234f,
                                   -largest * 0.77f};
      SelectedParameters found =
          selectForValues(values, tolerant(kind, 8, 1e30));
      // The threshold of the least error may be larger.
      double most = std::max<double>(
          std::numeric_limits<float>::max(),
          selectForValues(values, makeOptions(kind, 8)).threshold);
      EXPECT_LE(found.threshold, most);
      EXPECT_LE(found.step, most);
    }
}

TEST(ErrorToleranceTest, DegenerateValuesGiveFiniteParameters) {
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<std::vector<float>> rows = {
      {},
      {1e-45f, 3e-45f, -1e-44f, 7e-45f},
      {3.4e38f, -1.23e38f, 0.77e38f, 1e-38f},
      {1e30f, 1, 1e-30f, -0.3f},
      {inf, 1, std::nanf(""), -0.3f},
  };
  const std::vector<std::vector<float>> weights = {
      {1, 1, 1, 1}, {0, 0, 0, 0}, {inf, 1, 1, 0}, {3e38f, 1e-38f, 2, 1}};
  for (QuantizationMethod kind : kKinds)
    for (unsigned bits : {1, 2, 8, 16})
      for (double tolerance : {2.0, 1e300})
        for (const std::vector<float> &row : rows)
          for (const std::vector<float> &weight : weights) {
            SelectionOptions options = tolerant(kind, bits, tolerance);
            options.errorMethod = ErrorMethod::HMSE;
            SelectedParameters found = selectForValues(
                row, options, llvm::ArrayRef(weight).take_front(row.size()));
            Grid grid = gridFor(found, options);
            EXPECT_TRUE(std::isfinite(grid.step) && grid.step > 0);
          }
}

TEST(ErrorToleranceTest, WeightsOfElementsCount) {
  // One element of weight 3 is three elements.
  std::vector<float> values = randomValues(60, 1), repeated = values,
                     weights(60, 1.0f);
  for (size_t i = 0; i < 60; i += 7) {
    weights[i] = 3;
    repeated.insert(repeated.end(), 2, values[i]);
  }
  for (QuantizationMethod kind : kKinds) {
    SelectionOptions options = tolerant(kind, 8, 3);
    SelectedParameters many = selectForValues(repeated, options);
    options.errorMethod = ErrorMethod::HMSE;
    SelectedParameters weighted = selectForValues(values, options, weights);
    double step = gridFor(many, options).step;
    EXPECT_NEAR(gridFor(weighted, options).step, step, 1e-6 * step);
  }
}

TEST(ErrorToleranceTest, WideGridsTakeWhatTheyFind) {
  for (QuantizationMethod kind :
       {QuantizationMethod::Symmetric, QuantizationMethod::Uniform})
    for (unsigned bits : {10, 16})
      for (unsigned seed = 0; seed < 3; ++seed) {
        std::vector<float> values = randomValues(500, seed);
        SelectedParameters least =
            selectForValues(values, makeOptions(kind, bits));
        SelectionOptions options = tolerant(kind, bits, 2);
        SelectedParameters found = selectForValues(values, options);
        EXPECT_LE(found.error, 2 * least.error * (1 + 1e-12));
        double ratio =
            gridFor(found, options).step / gridFor(least, options).step;
        // The error is about step^2 / 12; the least one is below that.
        EXPECT_GT(ratio, 1.2);
        EXPECT_LT(ratio, 1.5);
      }
}

TEST(ErrorToleranceTest, OtherMethodsAndActivationsDoNotReadIt) {
  std::vector<float> values = randomValues(100, 1);
  for (QuantizationMethod kind : kKinds) {
    for (ErrorMethod method : {ErrorMethod::NoClipping, ErrorMethod::MAE,
                               ErrorMethod::KL, ErrorMethod::OCTAV}) {
      SelectionOptions options = tolerant(kind, 8, 3);
      options.errorMethod = method;
      SelectedParameters found = selectForValues(values, options);
      SelectedParameters least =
          selectForValues(values, makeOptions(kind, 8, method));
      EXPECT_EQ(gridFor(found, options).step, gridFor(least, options).step);
    }
    SelectionOptions options = tolerant(kind, 8, 3);
    auto found = selectForHistogram(observed(values), options);
    auto least = selectForHistogram(observed(values), makeOptions(kind, 8));
    ASSERT_TRUE(bool(found) && bool(least));
    EXPECT_EQ(gridFor(*found, options).step, gridFor(*least, options).step);
  }
}

TEST(ErrorToleranceTest, ScalesWithTheDataInAnyOrderAndOnAnyProcessor) {
  std::vector<float> values = randomValues(100, 1), turned = values;
  std::reverse(turned.begin(), turned.end());
  for (float &value : turned)
    value *= 0x1p-7f;
  for (QuantizationMethod kind : kKinds) {
    SelectionOptions options = tolerant(kind, 8, 2.5);
    double step = gridFor(selectForValues(values, options), options).step;
    withEveryInstructionSet([&] {
      EXPECT_EQ(gridFor(selectForValues(values, options), options).step, step);
      EXPECT_EQ(gridFor(selectForValues(turned, options), options).step,
                step * 0x1p-7);
    });
  }
}

} // namespace
