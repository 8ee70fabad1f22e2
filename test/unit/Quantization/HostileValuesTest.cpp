// SPDX-License-Identifier: Apache-2.0
//
// Every error method and every quantizer on values that are far from any
// network's: each search ends, with a grid that exists.
#include "SelectionFixture.h"
#include "mct/Quantization/HistogramShift.h"
#include "mct/Quantization/Lut.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

using namespace mct::quantization;

namespace {
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kLargest = std::numeric_limits<float>::max();
constexpr float kDenormal = std::numeric_limits<float>::denorm_min();

struct Row {
  const char *name;
  std::vector<float> values;
};

/// 24 values between -1 and 1 times `scale`.
std::vector<float> spread(float scale) {
  std::vector<float> values;
  for (int i = 0; i < 24; ++i)
    values.push_back(scale * (float(i * 7 % 24) / 12 - 1));
  return values;
}

std::vector<Row> hostileRows() {
  std::vector<float> mixed = spread(1);
  mixed.insert(mixed.end(), {1e38f, -1e-38f, kDenormal, 0.0f, -0.0f});
  std::vector<float> notNumbers = spread(1);
  notNumbers.insert(notNumbers.end(), {kNaN, kInfinity, -kInfinity});
  return {{"1e20", spread(1e20f)},
          {"1e38", spread(1e38f)},
          {"largest", {kLargest, -kLargest, 1.0f}},
          {"1e-20", spread(1e-20f)},
          {"1e-38", spread(1e-38f)},
          {"denormal", spread(64 * kDenormal)},
          {"smallest", {kDenormal, -kDenormal}},
          {"all equal", std::vector<float>(24, 0.3f)},
          {"all equal and below zero", std::vector<float>(24, -1e38f)},
          {"one value", {2.5f}},
          {"one tiny value", {kDenormal}},
          {"zeros", std::vector<float>(24, 0.0f)},
          {"nothing", {}},
          {"all magnitudes", mixed},
          {"not numbers", notNumbers},
          {"nothing but not numbers", {kNaN, kInfinity, -kInfinity}}};
}

std::vector<SelectionOptions> allOptions() {
  std::vector<SelectionOptions> all;
  for (QuantizationMethod kind :
       {QuantizationMethod::PowerOfTwo, QuantizationMethod::Symmetric,
        QuantizationMethod::Uniform})
    for (ErrorMethod method :
         {ErrorMethod::NoClipping, ErrorMethod::MSE, ErrorMethod::MAE,
          ErrorMethod::LP, ErrorMethod::KL, ErrorMethod::HMSE,
          ErrorMethod::Percentile, ErrorMethod::OCTAV})
      for (unsigned bits : {1u, 2u, 8u, 16u}) {
        SelectionOptions options;
        options.kind = kind;
        options.errorMethod = method;
        options.bits = bits;
        options.lpNorm = 3;
        all.push_back(options);
      }
  return all;
}

std::string nameOf(const SelectionOptions &options) {
  return "kind " + std::to_string(int(options.kind)) + ", method " +
         std::to_string(int(options.errorMethod)) + ", " +
         std::to_string(options.bits) + " bits";
}

void expectGrid(const SelectedParameters &selected,
                const SelectionOptions &options) {
  if (options.kind == QuantizationMethod::Uniform) {
    EXPECT_TRUE(selected.step > 0 && std::isfinite(selected.step))
        << selected.step;
    EXPECT_GE(selected.zeroPoint, 0);
    EXPECT_LT(selected.zeroPoint, int64_t(1) << options.bits);
  } else {
    EXPECT_TRUE(selected.threshold > 0 && std::isfinite(selected.threshold))
        << selected.threshold;
  }
  EXPECT_FALSE(std::isnan(selected.error));
}

double largestOf(const std::vector<float> &values) {
  double largest = 0;
  for (double x : values)
    if (std::isfinite(x))
      largest = std::max(largest, std::fabs(x));
  return largest;
}
} // namespace

TEST(HostileValues, EverySearchOfWeightsEnds) {
  for (const Row &row : hostileRows())
    for (const SelectionOptions &options : allOptions()) {
      SCOPED_TRACE(std::string(row.name) + ", " + nameOf(options));
      SelectedParameters selected = selectForValues(row.values, options);
      expectGrid(selected, options);
      // No search loses to what it starts from. Errors far below the square of
      // a step are summed in parts of it, which leaves them six digits.
      SelectionOptions covering = options;
      covering.errorMethod = ErrorMethod::NoClipping;
      if (options.errorMethod == ErrorMethod::MSE ||
          options.errorMethod == ErrorMethod::MAE) {
        double p = options.errorMethod == ErrorMethod::MAE ? 1 : 2;
        Grid grid = gridFor(selectForValues(row.values, covering), options);
        // Differences below 1e-7 of the largest value may be lost.
        EXPECT_LE(selected.error,
                  meanError(row.values, p, grid) * (1 + 1e-6) +
                      std::pow(1e-7 * largestOf(row.values), p));
      }
    }
}

TEST(HostileValues, EverySearchOfActivationsEnds) {
  HistogramScratch scratch;
  for (const Row &row : hostileRows()) {
    Histogram histogram;
    histogram.observe(row.values.data(), row.values.size(), scratch);
    for (SelectionOptions options : allOptions())
      for (double zThreshold : {1.0, double(kInfinity)}) {
        SCOPED_TRACE(std::string(row.name) + ", " + nameOf(options));
        options.zThreshold = zThreshold;
        auto selected = selectForHistogram(histogram, options);
        ASSERT_EQ(bool(selected), !histogram.empty());
        if (selected)
          expectGrid(*selected, options);
        else
          llvm::consumeError(selected.takeError());
      }
  }
}

// The mean square of values about 1e20 is no float.
TEST(HostileValues, AnyElementWeightsAreWeights) {
  std::vector<float> values = spread(1);
  for (const SelectionOptions &options : allOptions())
    for (float large : {kInfinity, kNaN, kLargest, kDenormal, -1.0f, 0.0f}) {
      SCOPED_TRACE(nameOf(options) + ", weight " + std::to_string(large));
      std::vector<float> weights(values.size(), large);
      expectGrid(selectForValues(values, options, weights), options);
      weights.back() = 1;
      expectGrid(selectForValues(values, options, weights), options);
    }
}

TEST(HostileValues, OnlyRatiosOfElementWeightsCount) {
  std::vector<float> values = spread(1), weights, scaled;
  for (size_t i = 0; i < values.size(); ++i) {
    weights.push_back(float(1 + i % 5));
    scaled.push_back(std::ldexp(weights.back(), 120));
  }
  for (const SelectionOptions &options : allOptions()) {
    SCOPED_TRACE(nameOf(options));
    SelectedParameters once = selectForValues(values, options, weights);
    SelectedParameters other = selectForValues(values, options, scaled);
    EXPECT_EQ(once.threshold, other.threshold);
    EXPECT_EQ(once.step, other.step);
    EXPECT_EQ(once.error, other.error);
  }
}

TEST(HostileValues, AnyLeastThresholdIsTaken) {
  for (const Row &row : hostileRows())
    for (SelectionOptions options : allOptions())
      for (double least :
           {double(std::numeric_limits<float>::min()), double(kLargest)}) {
        SCOPED_TRACE(std::string(row.name) + ", " + nameOf(options));
        options.minThreshold = least;
        expectGrid(selectForValues(row.values, options), options);
      }
}

TEST(HostileValues, EverySearchOfTablesEnds) {
  HistogramScratch scratch;
  for (const Row &row : hostileRows())
    for (QuantizationMethod kind :
         {QuantizationMethod::LutPowerOfTwo, QuantizationMethod::LutSymmetric})
      for (unsigned bits : {1u, 4u, 8u})
        for (bool isSigned : {false, true}) {
          SCOPED_TRACE(row.name);
          SelectionOptions options;
          options.kind = kind;
          options.bits = bits;
          options.isSigned = isSigned;
          auto expectTable = [](const LutParameters &found) {
            EXPECT_FALSE(found.table.empty());
            for (double threshold : found.thresholds)
              EXPECT_TRUE(threshold > 0 && std::isfinite(threshold));
          };
          expectTable(selectLut(row.values, {int64_t(row.values.size())}, {},
                                options, 1));
          Histogram histogram;
          histogram.observe(row.values.data(), row.values.size(), scratch);
          if (auto found = selectLutForHistogram(histogram, options))
            expectTable(*found);
          else
            llvm::consumeError(found.takeError());
        }
}

// Half of the threshold is the largest level of one bit, and the shift is as
// large: nothing covers what is above zero.
TEST(HostileValues, AShiftThatNoThresholdCoversIsNone) {
  SelectionOptions options;
  options.bits = 1;
  options.errorMethod = ErrorMethod::NoClipping;
  for (QuantizationMethod kind :
       {QuantizationMethod::PowerOfTwo, QuantizationMethod::Symmetric}) {
    options.kind = kind;
    EXPECT_FALSE(
        selectNegativeShift({{-0.125, 1}, {3.0, 1}}, -0.125, 4, options));
  }
}
