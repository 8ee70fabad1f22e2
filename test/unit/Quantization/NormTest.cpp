// SPDX-License-Identifier: Apache-2.0
//
// Errors that are norms of the differences, and weights of elements. Cases with
// a T number are derived by hand.
#include "RandomValues.h"
#include "SelectionFixture.h"
#include "mct/Quantization/Selection.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

using namespace mct::quantization;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

//===----------------------------------------------------------------------===//
// MAE and LP
//===----------------------------------------------------------------------===//

TEST(NormTest, PowerOfTwoCasesDerivedByHand) {
  // T28: candidates 64, 32, 16, 8 with errors .199, .159, .119, .159.
  std::vector<float> values(99, 0.1f);
  values.push_back(10);
  SelectedParameters selected = selectForValues(
      values, makeOptions(QuantizationMethod::PowerOfTwo, 2, ErrorMethod::MAE));
  EXPECT_EQ(selected.threshold, 16);
  EXPECT_NEAR(selected.error, 0.119, 1e-6);

  // T29
  values.assign(50, 0.3f);
  values.push_back(1);
  for (auto [p, threshold] :
       {std::pair(1.0, 0.5), std::pair(2.0, 0.5), std::pair(4.0, 1.0)})
    EXPECT_EQ(
        selectForValues(values, makeOptions(QuantizationMethod::PowerOfTwo, 2,
                                            ErrorMethod::LP, p))
            .threshold,
        threshold)
        << p;
  SelectedParameters fourth =
      selectForValues(values, makeOptions(QuantizationMethod::PowerOfTwo, 2,
                                          ErrorMethod::LP, 4));
  EXPECT_NEAR(fourth.error, 0.0027941, 1e-6);
}

TEST(NormTest, UnsignedAtoms) {
  // T37: threshold 4 has no error, by MAE and by L4.
  for (double p : {1.0, 4.0}) {
    SelectedParameters selected =
        selectForAtoms({{0, 1}, {1, 1}, {2, 1}, {3, 1}},
                       makeOptions(QuantizationMethod::PowerOfTwo, 2,
                                   ErrorMethod::LP, p, false));
    EXPECT_EQ(selected.threshold, 4);
    EXPECT_EQ(selected.error, 0);
  }
}

/// The smallest mean absolute error over all steps. It is piecewise linear in
/// the step, and bends upwards only where a value is on a level.
double exactMeanAbsolute(const std::vector<float> &values, double lo,
                         double hi) {
  double best = meanError(values, 1, 1e30, 0, 0);
  for (double x : values)
    for (double level = 1; level <= (x < 0 ? -lo : hi); ++level)
      if (x != 0)
        best =
            std::min(best, meanError(values, 1, std::fabs(x) / level, lo, hi));
  return best;
}

void expectCertified(const SelectedParameters &selected, double optimum,
                     double scale, const std::string &what) {
  EXPECT_LE(selected.bound, 1.1e-5) << what;
  EXPECT_TRUE(selected.certificate == Certificate::Bound ||
              selected.certificate == Certificate::Exact)
      << what;
  // Residuals below 1e-7 of the values count as zero.
  EXPECT_LE(selected.error, optimum * (1 + selected.bound) + 2e-7 * scale)
      << what;
  EXPECT_GE(selected.error, optimum * (1 - 1e-9)) << what;
}

TEST(NormTest, SymmetricMeanAbsoluteErrorIsCertified) {
  for (unsigned bits : {1, 2, 3, 5, 8})
    for (unsigned seed = 0; seed < 12; ++seed) {
      std::vector<float> values = randomValues(1 + seed * 3, seed);
      double half = std::ldexp(1.0, bits - 1);
      SelectionOptions options =
          makeOptions(QuantizationMethod::Symmetric, bits, ErrorMethod::MAE);
      SelectedParameters selected = selectForValues(values, options);
      expectCertified(selected, exactMeanAbsolute(values, -half, half - 1),
                      meanError(values, 1, 1e30, 0, 0),
                      std::to_string(bits) + " bits, seed " +
                          std::to_string(seed));
      EXPECT_NEAR(selected.error,
                  meanError(values, 1, gridFor(selected, options)),
                  1e-9 * selected.error + 1e-12);
    }
}

TEST(NormTest, UniformMeanAbsoluteErrorIsCertified) {
  for (unsigned bits : {1, 2, 4})
    for (unsigned seed = 0; seed < 12; ++seed) {
      std::vector<float> values = randomValues(1 + seed * 3, seed);
      int last = (1 << bits) - 1;
      double exact = kInfinity;
      for (int zeroPoint = 0; zeroPoint <= last; ++zeroPoint)
        exact = std::min(
            exact, exactMeanAbsolute(values, -zeroPoint, last - zeroPoint));
      SelectionOptions options =
          makeOptions(QuantizationMethod::Uniform, bits, ErrorMethod::MAE);
      expectCertified(selectForValues(values, options), exact,
                      meanError(values, 1, 1e30, 0, 0),
                      std::to_string(bits) + " bits, seed " +
                          std::to_string(seed));
    }
}

TEST(NormTest, NeverWorseThanADenseSweep) {
  for (double p : {1.0, 1.5, 3.0, 4.0, 7.25})
    for (unsigned bits : {2, 4, 8})
      for (unsigned seed = 0; seed < 4; ++seed) {
        std::vector<float> values = randomValues(60, seed);
        float largest = 0;
        for (float value : values)
          largest = std::max(largest, std::fabs(value));
        double half = std::ldexp(1.0, bits - 1), dense = kInfinity;
        for (int i = 0; i < 5000; ++i)
          dense = std::min(dense,
                           meanError(values, p,
                                     2 * largest / half * std::exp(-i / 1200.0),
                                     -half, half - 1));
        SelectionOptions options = makeOptions(QuantizationMethod::Symmetric,
                                               bits, ErrorMethod::LP, p);
        SelectedParameters selected = selectForValues(values, options);
        EXPECT_LE(selected.bound, 1.1e-5);
        // Residuals below 1e-7 of the values count as zero.
        double zero = std::pow(2e-7 * largest, p);
        EXPECT_LE(selected.error, dense * (1 + selected.bound) + zero)
            << bits << " bits, p " << p << ", seed " << seed;
        EXPECT_NEAR(selected.error,
                    meanError(values, p, gridFor(selected, options)),
                    1e-8 * selected.error);

        dense = kInfinity;
        options.kind = QuantizationMethod::Uniform;
        int last = (1 << bits) - 1;
        double width = largest * (seed % 4 == 2 ? 1 : 2);
        for (int zeroPoint = 0; zeroPoint <= last; ++zeroPoint)
          for (int i = 0; i < 60; ++i)
            dense = std::min(dense, meanError(values, p,
                                              width / last * (0.4 + i * 0.015),
                                              -zeroPoint, last - zeroPoint));
        selected = selectForValues(values, options);
        if (p <= 4) // the passes may not suffice for more
          EXPECT_LE(selected.bound, 1.1e-5)
              << bits << " bits, p " << p << ", seed " << seed;
        EXPECT_LE(selected.error, dense * 1.001 + zero)
            << bits << " bits, p " << p << ", seed " << seed << ", uniform";
      }
}

TEST(NormTest, WideGridsSayHowFarTheyMayBeOff) {
  std::vector<float> values = randomValues(500, 0);
  for (QuantizationMethod kind :
       {QuantizationMethod::Symmetric, QuantizationMethod::Uniform}) {
    SelectionOptions options = makeOptions(kind, 12, ErrorMethod::MAE);
    SelectedParameters searched = selectForValues(values, options);
    options.errorMethod = ErrorMethod::NoClipping;
    SelectedParameters covering = selectForValues(values, options);
    options.errorMethod = ErrorMethod::MAE;
    EXPECT_LE(searched.error, meanError(values, 1, gridFor(covering, options)));
    EXPECT_TRUE(searched.certificate == Certificate::None
                    ? std::isinf(searched.bound)
                    : searched.bound >= 0 && std::isfinite(searched.bound));
  }
}

TEST(NormTest, WideGridsSpreadTheBinsOfAHistogram) {
  // With a bin as one value the search would put levels on the middles of the
  // bins, and lose to no-clipping on the values.
  for (unsigned bits : {10, 12, 16})
    for (double p : {1.0, 3.0})
      for (unsigned seed : {0, 1, 2}) {
        std::vector<float> values = randomValues(4000, seed);
        HistogramScratch scratch;
        Histogram histogram;
        histogram.observe(values.data(), values.size(), scratch);
        for (QuantizationMethod kind :
             {QuantizationMethod::Symmetric, QuantizationMethod::Uniform}) {
          SelectionOptions options =
              makeOptions(kind, bits, ErrorMethod::NoClipping);
          options.isSigned = seed != 2;
          SelectedParameters covering =
              llvm::cantFail(selectForHistogram(histogram, options));
          options.errorMethod = ErrorMethod::LP;
          options.lpNorm = p;
          SelectedParameters selected =
              llvm::cantFail(selectForHistogram(histogram, options));
          double error = meanError(values, p, gridFor(selected, options));
          // Values are not quite even in their bins: by few percent here.
          EXPECT_LE(error,
                    1.05 * meanError(values, p, gridFor(covering, options)))
              << bits << " bits, p " << p << ", seed " << seed;
          EXPECT_NEAR(selected.error, error, 0.1 * error)
              << bits << " bits, p " << p << ", seed " << seed;
        }
      }
}

TEST(NormTest, SpreadAtomsAreTheLimitOfManyPoints) {
  // 4000 points in place of every width.
  std::vector<Atom> wide = {
      {0.3, 2, 0.04}, {-0.7, 1, 0.1}, {0.95, 3, 0.1}, {0.0, 5, 0.0}};
  std::vector<Atom> points;
  for (const Atom &atom : wide)
    for (int i = 0; i < 4000; ++i)
      points.push_back({atom.value + atom.width * ((i + 0.5) / 4000 - 0.5),
                        atom.weight / 4000});
  for (double p : {1.0, 2.5, 3.0})
    for (bool isSigned : {true, false}) {
      SelectionOptions options =
          makeOptions(QuantizationMethod::Symmetric, 9, ErrorMethod::LP, p);
      options.isSigned = isSigned;
      SelectedParameters selected = selectForAtoms(wide, options);
      Grid grid = gridFor(selected, options);
      double expected = 0, weight = 0;
      for (const Atom &point : points) {
        double level = std::clamp<double>(
            std::nearbyint(point.value / grid.step), grid.qmin, grid.qmax);
        expected += point.weight *
                    std::pow(std::fabs(point.value - grid.step * level), p);
        weight += point.weight;
      }
      expected /= weight;
      // A point more or less at the edge of a cell.
      EXPECT_NEAR(selected.error, expected, 2e-3 * expected);
    }
}

TEST(NormTest, TheSquareIsTheSearchForTheSquaredError) {
  for (QuantizationMethod kind : kKinds)
    for (unsigned seed = 0; seed < 4; ++seed) {
      std::vector<float> values = randomValues(100, seed);
      expectSameParameters(
          selectForValues(values, makeOptions(kind, 5, ErrorMethod::LP, 2)),
          selectForValues(values, makeOptions(kind, 5, ErrorMethod::MSE)));
      SelectedParameters one =
          selectForValues(values, makeOptions(kind, 5, ErrorMethod::LP, 1));
      SelectedParameters mae =
          selectForValues(values, makeOptions(kind, 5, ErrorMethod::MAE));
      expectSameParameters(one, mae);
    }
}

//===----------------------------------------------------------------------===//
// Weights of elements
//===----------------------------------------------------------------------===//

TEST(ElementWeightTest, OnesGiveTheBitsOfNoWeights) {
  // T44: rows of different laws. MCT gives every channel the same relative
  // threshold.
  std::vector<float> values;
  for (unsigned seed = 0; seed < 4; ++seed) {
    std::vector<float> row = randomValues(200, seed);
    values.insert(values.end(), row.begin(), row.end());
  }
  std::vector<float> ones(values.size(), 1);
  for (QuantizationMethod kind : kKinds) {
    std::vector<SelectedParameters> mse = selectPerChannel(
        values, {4, 200}, {0}, makeOptions(kind, 4, ErrorMethod::MSE), 1);
    std::vector<SelectedParameters> hmse =
        selectPerChannel(values, {4, 200}, {0},
                         makeOptions(kind, 4, ErrorMethod::HMSE), 1, ones);
    for (size_t i = 0; i < mse.size(); ++i)
      expectSameParameters(mse[i], hmse[i]);
  }
}

TEST(ElementWeightTest, AWeightIsThatManyElements) {
  std::mt19937 generator(1);
  for (QuantizationMethod kind : kKinds)
    for (ErrorMethod method : {ErrorMethod::HMSE, ErrorMethod::MAE})
      for (unsigned seed = 0; seed < 8; ++seed) {
        std::vector<float> values = randomValues(80, seed), weights, repeated;
        for (float value : values) {
          int weight = generator() % 5;
          // The range is that of all values, so the ends must remain.
          weight += value == *std::max_element(values.begin(), values.end()) ||
                    value == *std::min_element(values.begin(), values.end());
          weights.push_back(weight);
          repeated.insert(repeated.end(), weight, value);
        }
        SelectionOptions options = makeOptions(kind, 4, method);
        SelectedParameters weighted = selectForValues(values, options, weights);
        SelectedParameters expected = selectForValues(repeated, options);
        EXPECT_NEAR(weighted.error, expected.error,
                    (method == ErrorMethod::MAE ? 1e-3 : 1e-8) * expected.error)
            << seed;
        double p = method == ErrorMethod::MAE ? 1 : 2;
        EXPECT_NEAR(meanError(repeated, p, gridFor(weighted, options)),
                    weighted.error, 1e-6 * weighted.error);
      }
}

TEST(ElementWeightTest, WeightsGoWithTheirElementsOnAnyAxis) {
  // Channel c of the last axis: the element of row c counts, the other not.
  std::vector<float> values = {0.5f, 3.0f, 0.7f, 0.2f};
  std::vector<float> weights = {1, 0, 0, 1};
  std::vector<SelectedParameters> selected = selectPerChannel(
      values, {2, 2}, {1},
      makeOptions(QuantizationMethod::Symmetric, 4, ErrorMethod::HMSE), 1,
      weights);
  ASSERT_EQ(selected.size(), 2u);
  for (size_t channel : {0, 1}) {
    // The one element that counts is on a level.
    double value = channel == 0 ? 0.5f : 0.2f;
    double level = value / (selected[channel].threshold / 8);
    EXPECT_NEAR(level, std::round(level), 1e-6);
    EXPECT_NEAR(selected[channel].error, 0, 1e-13);
  }
}

TEST(ElementWeightTest, NoWeightAtAllIsNoClipping) {
  std::vector<float> values = {1, -3, 2};
  std::vector<float> zeros(3, 0);
  for (QuantizationMethod kind : kKinds) {
    SelectedParameters selected =
        selectForValues(values, makeOptions(kind, 4, ErrorMethod::HMSE), zeros);
    SelectedParameters covering =
        selectForValues(values, makeOptions(kind, 4, ErrorMethod::NoClipping));
    EXPECT_EQ(selected.threshold, covering.threshold);
    EXPECT_EQ(selected.step, covering.step);
    EXPECT_EQ(selected.error, 0);
  }
}

} // namespace
