// SPDX-License-Identifier: Apache-2.0
//
// The error methods besides no-clipping, mse and norms; outliers, and the
// search for an axis. Cases with a T number are derived by hand.

#include "RandomValues.h"
#include "SelectionFixture.h"
#include "lib/Quantization/DivergenceSearch.h"
#include "mct/Quantization/Parallel.h"
#include "mct/Quantization/Selection.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <random>

using namespace mct::quantization;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr ErrorMethod kMethods[] = {
    ErrorMethod::NoClipping, ErrorMethod::MSE,  ErrorMethod::MAE,
    ErrorMethod::LP,         ErrorMethod::KL,   ErrorMethod::HMSE,
    ErrorMethod::Percentile, ErrorMethod::OCTAV};

/// The methods whose error is a mean of |e|^p, with the p of makeOptions.
constexpr std::pair<ErrorMethod, double> kNorms[] = {
    {ErrorMethod::MSE, 2}, {ErrorMethod::MAE, 1}, {ErrorMethod::LP, 3}};

//===----------------------------------------------------------------------===//
// KL
//===----------------------------------------------------------------------===//

ScaledAtoms binCentres(const std::vector<double> &counts) {
  // The largest magnitude is scaled to [1, 2), so that the bins of width 1 are
  // one or two to the scaled unit.
  std::vector<double> values, weights;
  for (size_t i = 0; i < counts.size(); ++i)
    if (counts[i] > 0) {
      values.push_back(i + 0.5);
      weights.push_back(counts[i]);
    }
  return ScaledAtoms(values, weights);
}

TEST(DivergenceTest, OneLevelForThreeBins) {
  // T40: MCT's reference of the range (0, 4) is 4, 2, 2.
  BinnedDistribution distribution(binCentres({4, 2, 2}), 2);
  EXPECT_EQ(distribution.binWidth(), 0.5);
  double expected = 0.5 * std::log(1.5) + 0.5 * std::log(0.75);
  EXPECT_NEAR(expected, 0.0588915, 1e-7);
  EXPECT_NEAR(distribution.divergence({0, 0}, 1, 0, 4), expected, 1e-12);
}

TEST(DivergenceTest, SmoothingFillsEmptyBins) {
  // T42: .5 .5 0 0 becomes .4375 .4375 .0625 .0625.
  Smoothing smooth = smoothing(0.5, 2, 2);
  EXPECT_EQ(smooth.added, 0.0625);
  EXPECT_EQ(0.5 - smooth.removed, 0.4375);
}

TEST(DivergenceTest, ClippedWeightCosts) {
  // T41: MCT finds no divergence in the range (0, 2), which has half the bins.
  BinnedDistribution distribution(binCentres({4, 2, 1, 1}), 2);
  // In scaled units a bin is half wide; with two levels in each, rounding costs
  // nothing.
  double whole = distribution.divergence({0, 7}, 0.25, 0, 2);
  double half = distribution.divergence({0, 3}, 0.25, 0, 1);
  EXPECT_NEAR(whole, 0, 1e-12);
  EXPECT_GT(half, 0.05);
}

/// The divergence by definition, one bin after the other, on real values.
double bruteDivergence(const std::map<int64_t, double> &counts, double width,
                       const Grid &grid, double lo, double hi) {
  int64_t first = counts.begin()->first, last = counts.rbegin()->first;
  size_t bins = last - first + 1;
  std::vector<double> p(bins), g(bins);
  double total = 0;
  for (auto [bin, count] : counts)
    total += count;
  for (auto [bin, count] : counts)
    p[bin - first] = count / total;
  std::vector<bool> isInside(bins);
  std::vector<int64_t> level(bins);
  std::map<int64_t, double> weight;
  std::map<int64_t, int> members;
  size_t insideBins = 0;
  for (size_t i = 0; i < bins; ++i) {
    double centre = (first + int64_t(i) + 0.5) * width;
    level[i] = std::clamp<int64_t>(int64_t(std::nearbyint(centre / grid.step)) +
                                       grid.zeroPoint,
                                   grid.qmin, grid.qmax);
    double left = double(first + int64_t(i)) * width;
    isInside[i] = left <= hi && left + width > lo;
    insideBins += isInside[i];
    weight[level[i]] += p[i];
    members[level[i]] += isInside[i] && p[i] > 0;
  }
  double levels = double(grid.qmax - grid.qmin + 1);
  if (insideBins < std::min(levels, bins / 8.0))
    return kInfinity;
  for (size_t i = 0; i < bins; ++i)
    if (isInside[i] && p[i] > 0)
      g[i] = weight[level[i]] / members[level[i]];
  auto smoothed = [&](std::vector<double> h) {
    double smallest = kInfinity;
    size_t empty = 0;
    for (double x : h) {
      empty += x == 0;
      if (x > 0)
        smallest = std::min(smallest, x);
    }
    if (empty == bins)
      return std::vector<double>();
    double added = smallest / (2.0 * bins);
    for (double &x : h)
      x = x == 0 ? added : x - added * empty / (bins - empty);
    return h;
  };
  p = smoothed(p);
  g = smoothed(g);
  if (g.empty())
    return kInfinity;
  double sum = 0;
  for (size_t i = 0; i < bins; ++i)
    sum += p[i] * std::log(p[i] / g[i]);
  return sum;
}

/// Counts of values in bins of the given width, zeros left out.
std::map<int64_t, double> binned(const std::vector<float> &values,
                                 double width) {
  std::map<int64_t, double> counts;
  for (double value : values)
    if (value != 0)
      ++counts[int64_t(std::floor(value / width))];
  return counts;
}

double binWidthOf(const std::vector<float> &values, unsigned bits) {
  double largest = 0;
  for (double value : values)
    largest = std::max(largest, std::fabs(value));
  // Two bins per level of the largest power of two not above the values, at
  // least 256.
  return std::ldexp(1.0,
                    std::ilogb(largest) - int(std::clamp(bits + 1, 8u, 12u)));
}

TEST(DivergenceTest, IsTheMinimumOfADenseSweep) {
  for (unsigned bits : {2, 4, 6})
    for (unsigned seed = 0; seed < 4; ++seed) {
      std::vector<float> values = randomValues(400, seed);
      double width = binWidthOf(values, bits);
      std::map<int64_t, double> counts = binned(values, width);
      SelectionOptions options = makeOptions(QuantizationMethod::Symmetric,
                                             bits, ErrorMethod::NoClipping);
      double covering = selectForValues(values, options).threshold;
      options.errorMethod = ErrorMethod::KL;
      auto divergenceOf = [&](double threshold) {
        return bruteDivergence(counts, width,
                               symmetricGrid(threshold, bits, true), -threshold,
                               threshold);
      };
      double dense = divergenceOf(covering);
      for (double bins = 1; bins * width <= covering; ++bins)
        dense = std::min(dense, divergenceOf(bins * width));
      SelectedParameters selected = selectForValues(values, options);
      EXPECT_NEAR(selected.error, dense, 1e-6 * dense + 1e-12)
          << bits << " bits, seed " << seed;
      EXPECT_NEAR(divergenceOf(selected.threshold), selected.error,
                  1e-9 * dense + 1e-12);
      EXPECT_EQ(selected.certificate, Certificate::Exact);

      options.kind = QuantizationMethod::PowerOfTwo;
      selected = selectForValues(values, options);
      dense = kInfinity;
      for (double t = selected.threshold / 256; t <= selected.threshold * 256;
           t *= 2)
        if (t <= 4 * covering)
          dense = std::min(dense, divergenceOf(t));
      EXPECT_NEAR(selected.error, dense, 1e-6 * dense + 1e-12);
    }
}

TEST(DivergenceTest, UniformIsTheMinimumOfADenseSweep) {
  for (unsigned bits : {2, 4})
    for (unsigned seed = 0; seed < 4; ++seed) {
      std::vector<float> values = randomValues(150, seed);
      double width = binWidthOf(values, bits);
      std::map<int64_t, double> counts = binned(values, width);
      SelectionOptions options = makeOptions(QuantizationMethod::Uniform, bits,
                                             ErrorMethod::NoClipping);
      SelectedParameters covering = selectForValues(values, options);
      double least = std::min(0.0, counts.begin()->first * width);
      double most = std::max(0.0, (counts.rbegin()->first + 1) * width);
      int last = (1 << bits) - 1;
      double dense = kInfinity;
      for (int zeroPoint = 0; zeroPoint <= last; ++zeroPoint)
        for (int part = 1; part <= 256; ++part) {
          double step = covering.step * part / 256;
          double lo = -zeroPoint * step, hi = (last - zeroPoint) * step;
          bool isCovering = part == 256 && zeroPoint == covering.zeroPoint;
          if (!isCovering &&
              (lo + 0.5 * step < least || hi - 0.5 * step > most))
            continue;
          dense = std::min(dense,
                           bruteDivergence(counts, width,
                                           uniformGrid(step, zeroPoint, bits),
                                           lo - 0.5 * step, hi + 0.5 * step));
        }
      options.errorMethod = ErrorMethod::KL;
      SelectedParameters selected = selectForValues(values, options);
      EXPECT_NEAR(selected.error, dense, 1e-6 * dense + 1e-12)
          << bits << " bits, seed " << seed;
    }
}

TEST(DivergenceTest, DoesNotCollapseOnNormalSamples) {
  // T43: MCT gives 2^-9.
  std::mt19937 generator(3);
  std::normal_distribution<float> normal;
  std::vector<float> values(20000);
  for (float &value : values)
    value = normal(generator);
  HistogramScratch scratch;
  Histogram histogram;
  histogram.observe(values.data(), values.size(), scratch);
  SelectionOptions options =
      makeOptions(QuantizationMethod::PowerOfTwo, 8, ErrorMethod::KL);
  double threshold =
      llvm::cantFail(selectForHistogram(histogram, options)).threshold;
  EXPECT_TRUE(threshold == 2 || threshold == 4 || threshold == 8) << threshold;
  threshold = selectForValues(values, options).threshold;
  EXPECT_TRUE(threshold == 2 || threshold == 4 || threshold == 8) << threshold;
  options.kind = QuantizationMethod::Symmetric;
  EXPECT_GT(llvm::cantFail(selectForHistogram(histogram, options)).threshold,
            2);
}

TEST(DivergenceTest, UniformGridsDependOnTheBits) {
  // T45: MCT evaluates 8 bits for any number of bits.
  std::vector<float> values = randomValues(2000, 1);
  std::vector<double> widths;
  for (unsigned bits : {2, 4, 8}) {
    SelectedParameters selected =
        selectForValues(values, makeOptions(QuantizationMethod::Uniform, bits,
                                            ErrorMethod::KL));
    widths.push_back(selected.step * ((1 << bits) - 1));
  }
  EXPECT_NE(widths[0], widths[1]);
  EXPECT_NE(widths[1], widths[2]);
  EXPECT_LT(widths[0], widths[2]);
}

TEST(DivergenceTest, GridsAHistogramCannotTellApartAreNotClipped) {
  std::vector<float> values = randomValues(500, 1);
  SelectedParameters selected = selectForValues(
      values, makeOptions(QuantizationMethod::Symmetric, 12, ErrorMethod::KL));
  expectSameParameters(
      selected,
      selectForValues(values, makeOptions(QuantizationMethod::Symmetric, 12,
                                          ErrorMethod::NoClipping)));
  EXPECT_EQ(selected.certificate, Certificate::None);
}

//===----------------------------------------------------------------------===//
// Percentile and OCTAV
//===----------------------------------------------------------------------===//

TEST(PercentileTest, CoversThatPartOfTheMagnitudes) {
  // 1, 2, …, 100, every second one negative.
  std::vector<Atom> atoms;
  for (int i = 1; i <= 100; ++i)
    atoms.push_back({i % 2 ? double(i) : -double(i), 1});
  SelectionOptions options =
      makeOptions(QuantizationMethod::Symmetric, 8, ErrorMethod::Percentile);
  for (auto [percentile, threshold] :
       {std::pair(100.0, 100.0), std::pair(90.0, 90.0), std::pair(0.5, 1.0)}) {
    options.percentile = percentile;
    EXPECT_EQ(selectForAtoms(atoms, options).threshold, threshold);
  }
  options.percentile = 60;
  options.kind = QuantizationMethod::PowerOfTwo;
  EXPECT_EQ(selectForAtoms(atoms, options).threshold, 64);
  // The 10 largest values are above 79 (81, 83, …, 99), the 10 least
  // below -80.
  options.percentile = 90;
  options.kind = QuantizationMethod::Uniform;
  SelectedParameters selected = selectForAtoms(atoms, options);
  UniformParameters expected = uniformParametersForRange(-80, 79, 8);
  EXPECT_EQ(selected.step, expected.step);
  EXPECT_EQ(selected.zeroPoint, expected.zeroPoint);
  EXPECT_EQ(selected.certificate, Certificate::None);
}

TEST(PercentileTest, WeightsAreWidenedLikeThoseThatAreNotClipped) {
  std::vector<float> values(99, 1.0f);
  values.push_back(50);
  SelectionOptions options =
      makeOptions(QuantizationMethod::Symmetric, 8, ErrorMethod::Percentile);
  options.percentile = 99;
  EXPECT_NEAR(selectForValues(values, options).threshold, 128.0 / 127, 1e-12);
}

/// Returns the threshold where the derivative of rounding noise inside plus
/// clipping error vanishes for a normal distribution.
double octavOfNormal(unsigned bits) {
  double noise = std::pow(4.0, -double(bits)) / 3, low = 0, high = 10;
  while (high - low > 1e-9) {
    double s = 0.5 * (low + high);
    double inside = std::erf(s / std::sqrt(2.0));
    double density = std::exp(-0.5 * s * s) / std::sqrt(2 * M_PI);
    double excess = 2 * density - s * (1 - inside); // mean of (|x| - s)+
    (noise * s * inside < excess ? low : high) = s;
  }
  return low;
}

TEST(OctavTest, NormalSamplesHaveTheKnownClippingValues) {
  // Banner et al., "Post training 4-bit quantization of convolutional networks
  // for rapid-deployment", 2019, has 2.55 for 4 bits.
  EXPECT_NEAR(octavOfNormal(4), 2.55, 0.02);
  std::mt19937 generator(5);
  std::normal_distribution<float> normal;
  std::vector<float> values(400000);
  for (float &value : values)
    value = normal(generator);
  for (unsigned bits = 2; bits <= 6; ++bits) {
    double threshold =
        selectForValues(values, makeOptions(QuantizationMethod::Symmetric, bits,
                                            ErrorMethod::OCTAV))
            .threshold;
    // Few samples are above it at 6 bits: sampling moves it by less than 1 %.
    double expected = octavOfNormal(bits);
    EXPECT_NEAR(threshold, expected, 0.01 * expected) << bits;
    // A symmetric distribution gives a uniform range of the same width, which
    // the zero point keeps.
    SelectedParameters uniform =
        selectForValues(values, makeOptions(QuantizationMethod::Uniform, bits,
                                            ErrorMethod::OCTAV));
    EXPECT_NEAR(uniform.step * ((1 << bits) - 1), 2 * expected, 0.02 * expected)
        << bits;
  }
}

TEST(OctavTest, IsAFixedPointOfTheRecursion) {
  std::vector<float> values = randomValues(3000, 1);
  for (bool isSigned : {true, false}) {
    std::vector<Atom> atoms;
    for (float value : values)
      atoms.push_back({value, 1});
    double s =
        selectForAtoms(atoms, makeOptions(QuantizationMethod::Symmetric, 4,
                                          ErrorMethod::OCTAV, 3, isSigned))
            .threshold;
    double sumAbove = 0, above = 0, below = 0;
    for (double value : values) {
      double magnitude = isSigned ? std::fabs(value) : value;
      if (magnitude > s) {
        sumAbove += magnitude;
        ++above;
      } else if (magnitude > 0) {
        ++below;
      }
    }
    double noise = std::pow(4.0, -4) / (isSigned ? 3 : 12);
    EXPECT_NEAR(sumAbove / (noise * below + above), s, 1e-6 * s);
  }
}

TEST(OctavTest, ThePowerOfTwoIsTheBetterNeighbour) {
  for (unsigned seed = 0; seed < 4; ++seed) {
    std::vector<float> values = randomValues(1000, seed);
    SelectionOptions options =
        makeOptions(QuantizationMethod::Symmetric, 4, ErrorMethod::OCTAV);
    double s = selectForValues(values, options).threshold;
    options.kind = QuantizationMethod::PowerOfTwo;
    SelectedParameters selected = selectForValues(values, options);
    double above = std::exp2(std::ceil(std::log2(s)));
    double errors[] = {meanError(values, 2, symmetricGrid(above, 4, true)),
                       meanError(values, 2, symmetricGrid(above / 2, 4, true))};
    EXPECT_EQ(selected.threshold, errors[0] <= errors[1] ? above : above / 2);
  }
}

//===----------------------------------------------------------------------===//
// Outliers and axes
//===----------------------------------------------------------------------===//

std::vector<double> weightsWithoutOutliers(const std::vector<Atom> &atoms,
                                           double zThreshold) {
  std::vector<double> weights;
  for (const Atom &atom : withoutOutliers(atoms, zThreshold))
    weights.push_back(atom.weight);
  return weights;
}

TEST(OutlierTest, FollowsTheScoreOfEachValue) {
  // T52: the last score is 10. T53: the largest is 2.81.
  EXPECT_EQ(weightsWithoutOutliers({{0, 100}, {10, 1}}, 3),
            std::vector<double>({100}));
  EXPECT_EQ(
      weightsWithoutOutliers({{0, 50}, {1, 30}, {2, 20}, {3, 1}}, 3).size(),
      4u);
  // No deviation, no outlier.
  EXPECT_EQ(weightsWithoutOutliers({{5, 3}}, 0.1), std::vector<double>({3}));
}

TEST(OutlierTest, TheRangeAndTheSignAreThoseOfTheRest) {
  // T54
  std::mt19937 generator(7);
  std::normal_distribution<float> normal;
  std::vector<float> values(10000);
  for (float &value : values)
    value = normal(generator);
  auto [least, most] = std::minmax_element(values.begin(), values.end());
  double low = *least, high = *most;
  double largest = std::max(-low, high);
  values.push_back(50);
  HistogramScratch scratch;
  Histogram histogram;
  histogram.observe(values.data(), values.size(), scratch);
  SelectionOptions options =
      makeOptions(QuantizationMethod::Symmetric, 8, ErrorMethod::NoClipping);
  EXPECT_EQ(llvm::cantFail(selectForHistogram(histogram, options)).threshold,
            50);
  options.zThreshold = 10;
  for (QuantizationMethod kind : kKinds) {
    options.kind = kind;
    SelectedParameters selected =
        llvm::cantFail(selectForHistogram(histogram, options));
    if (kind == QuantizationMethod::Symmetric) {
      EXPECT_NEAR(selected.threshold, 3.87, 0.3);
      // The largest of the rest shares a bin of 1 / 64.
      EXPECT_NEAR(selected.threshold, largest, 1.0 / 64);
    } else if (kind == QuantizationMethod::PowerOfTwo) {
      EXPECT_EQ(selected.threshold, std::exp2(std::ceil(std::log2(largest))));
    } else {
      EXPECT_NEAR(selected.step * 255, high - low, 2.0 / 64);
    }
  }

  values.assign(10000, 1.0f);
  values.push_back(-30);
  values.push_back(2);
  Histogram positive;
  positive.observe(values.data(), values.size(), scratch);
  EXPECT_TRUE(hasNegativeValue(positive, kInfinity));
  EXPECT_FALSE(hasNegativeValue(positive, 10));
}

TEST(AxisTest, TakesTheAxisThatFitsBest) {
  // T47
  std::vector<float> values(12);
  std::iota(values.begin(), values.end(), 0.0f);
  AxisSelection selection = selectAxis(
      values, {3, 4},
      makeOptions(QuantizationMethod::Symmetric, 8, ErrorMethod::NoClipping),
      1);
  EXPECT_EQ(selection.axis, 0);
  ASSERT_EQ(selection.parameters.size(), 3u);
  for (int i = 0; i < 3; ++i)
    EXPECT_NEAR(selection.parameters[i].threshold, (3 + 4 * i) * 128.0 / 127,
                1e-12);

  // Rows, or columns, have scales of their own.
  std::mt19937 generator(1);
  std::normal_distribution<float> normal;
  for (int64_t axis : {0, 1})
    for (ErrorMethod method : kMethods) {
      // Divergences of short rows do not distinguish scales.
      if (method == ErrorMethod::KL)
        continue;
      values.clear();
      for (int row = 0; row < 40; ++row)
        for (int column = 0; column < 40; ++column)
          values.push_back(normal(generator) *
                           std::exp2((axis == 0 ? row : column) % 8));
      EXPECT_EQ(
          selectAxis(values, {40, 40},
                     makeOptions(QuantizationMethod::Symmetric, 4, method), 2)
              .axis,
          axis);
    }
  // All equal: the first one.
  values.assign(8, 1.0f);
  EXPECT_EQ(selectAxis(
                values, {2, 2, 2},
                makeOptions(QuantizationMethod::Symmetric, 4, ErrorMethod::MSE),
                1)
                .axis,
            0);
}

//===----------------------------------------------------------------------===//
// Properties of all methods
//===----------------------------------------------------------------------===//

TEST(ErrorMethodTest, ScalingByAPowerOfTwoScalesTheResultExactly) {
  // T35
  for (QuantizationMethod kind : kKinds)
    for (ErrorMethod method : kMethods)
      for (int exponent : {-90, -9, 5, 90}) {
        SelectionOptions options = makeOptions(kind, 4, method);
        options.minThreshold = 0x1p-200;
        std::vector<float> values = randomValues(60, exponent & 3);
        SelectedParameters before = selectForValues(values, options);
        for (float &value : values)
          value = std::ldexp(value, exponent);
        SelectedParameters after = selectForValues(values, options);
        EXPECT_EQ(after.threshold, std::ldexp(before.threshold, exponent));
        EXPECT_EQ(after.step, std::ldexp(before.step, exponent));
        EXPECT_EQ(after.zeroPoint, before.zeroPoint);
        int power = method == ErrorMethod::KL    ? 0
                    : method == ErrorMethod::MAE ? 1
                    : method == ErrorMethod::LP  ? 3
                                                 : 2;
        EXPECT_EQ(after.error, std::ldexp(before.error, power * exponent));
        EXPECT_EQ(after.bound, before.bound);
      }
}

TEST(ErrorMethodTest, OrderOfTheValuesDoesNotMatter) {
  for (QuantizationMethod kind : kKinds)
    for (ErrorMethod method : kMethods) {
      std::vector<float> values = randomValues(300, 0);
      SelectionOptions options = makeOptions(kind, 8, method);
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

TEST(ErrorMethodTest, ShardsOfAHistogramDoNotMatter) {
  std::vector<float> values = randomValues(3000, 1);
  HistogramScratch scratch;
  Histogram whole, first, second;
  whole.observe(values.data(), 3000, scratch);
  first.observe(values.data(), 100, scratch);
  second.observe(values.data() + 100, 2900, scratch);
  second.merge(first);
  for (QuantizationMethod kind : kKinds)
    for (ErrorMethod method : kMethods) {
      SelectionOptions options = makeOptions(kind, 6, method);
      options.zThreshold = 20;
      expectSameParameters(llvm::cantFail(selectForHistogram(whole, options)),
                           llvm::cantFail(selectForHistogram(second, options)));
    }
}

TEST(ErrorMethodTest, InstructionSetsAndThreadsGiveTheSameBits) {
  std::vector<float> values = randomValues(30 * 200, 1);
  for (QuantizationMethod kind : kKinds)
    for (ErrorMethod method : kMethods) {
      SelectionOptions options = makeOptions(kind, 5, method, 2.5);
      std::vector<SelectedParameters> reference =
          selectPerChannel(values, {20, 30, 10}, {1}, options, 1);
      withEveryInstructionSet([&] {
        std::vector<SelectedParameters> other =
            selectPerChannel(values, {20, 30, 10}, {1}, options, 3);
        for (size_t i = 0; i < reference.size(); ++i)
          expectSameParameters(other[i], reference[i]);
      });
    }
}

TEST(ErrorMethodTest, DegenerateValuesGiveFiniteParameters) {
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
        for (ErrorMethod method : kMethods)
          for (bool isActivation : {false, true}) {
            SelectionOptions options = makeOptions(kind, bits, method);
            SelectedParameters selected;
            if (isActivation) {
              HistogramScratch scratch;
              Histogram histogram;
              histogram.observe(values.data(), values.size(), scratch);
              if (histogram.empty())
                continue;
              selected = llvm::cantFail(selectForHistogram(histogram, options));
            } else {
              selected = selectForValues(values, options);
            }
            Grid grid = gridFor(selected, options);
            EXPECT_TRUE(std::isfinite(grid.step) && grid.step > 0);
            EXPECT_GE(selected.error, 0);
            // The third power of 1e38 is not a double. A signed grid of one bit
            // has no level for a positive value, so its divergence is infinite
            // for every threshold.
            if (method != ErrorMethod::LP && method != ErrorMethod::KL)
              EXPECT_TRUE(std::isfinite(selected.error));
            EXPECT_GE(selected.bound, 0);
            EXPECT_GE(selected.zeroPoint, 0);
            EXPECT_LT(selected.zeroPoint, int64_t(1) << bits);
            float zero = 0;
            fakeQuantize(grid, &zero, &zero, 1);
            EXPECT_EQ(zero, 0);
          }
}

TEST(ErrorMethodTest, TheReportedErrorIsThatOfTheParameters) {
  for (QuantizationMethod kind : kKinds)
    for (auto [method, p] : kNorms)
      for (unsigned seed = 0; seed < 4; ++seed) {
        std::vector<float> values = randomValues(150, seed);
        SelectionOptions options = makeOptions(kind, 5, method);
        SelectedParameters selected = selectForValues(values, options);
        EXPECT_NEAR(selected.error,
                    meanError(values, p, gridFor(selected, options)),
                    1e-6 * selected.error);
      }
}

TEST(ErrorMethodTest, NeverWorseThanNoClippingByTheirOwnMeasure) {
  for (QuantizationMethod kind : kKinds)
    for (auto [method, p] : kNorms)
      for (unsigned bits : {1, 3, 8, 11})
        for (unsigned seed = 0; seed < 4; ++seed) {
          std::vector<float> values = randomValues(1 + seed * 37, seed);
          SelectionOptions options =
              makeOptions(kind, bits, ErrorMethod::NoClipping);
          SelectedParameters covering = selectForValues(values, options);
          options.errorMethod = method;
          // Both sums, of values around 1, are rounded.
          EXPECT_LE(selectForValues(values, options).error,
                    (1 + 1e-6) *
                            meanError(values, p, gridFor(covering, options)) +
                        std::pow(1e-14, p));
        }
}

TEST(ErrorMethodTest, ThresholdsDoNotFallBelowTheMinimum) {
  for (QuantizationMethod kind :
       {QuantizationMethod::PowerOfTwo, QuantizationMethod::Symmetric})
    for (ErrorMethod method : kMethods) {
      // T46 for power of two.
      SelectionOptions options = makeOptions(kind, 8, method);
      options.minThreshold = 0.3;
      double threshold =
          selectForValues({0.01f, -0.02f, 0.005f}, options).threshold;
      EXPECT_EQ(threshold, kind == QuantizationMethod::PowerOfTwo ? 0.5 : 0.3);
    }
}

TEST(ParallelTest, EveryIndexOnce) {
  for (unsigned threads : {0, 1, 3, 64}) {
    std::vector<int> calls(17, 0);
    parallelFor(calls.size(), threads, [&](size_t i) { ++calls[i]; });
    EXPECT_EQ(calls, std::vector<int>(17, 1));
  }
}

} // namespace
