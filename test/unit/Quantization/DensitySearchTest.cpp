// SPDX-License-Identifier: Apache-2.0

#include "lib/Quantization/DensitySearch.h"
#include "SelectionFixture.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

using namespace mct::quantization;

namespace {

struct Bins {
  std::vector<double> values, weights, widths;
  ScaledAtoms atoms() const { return ScaledAtoms(values, weights, widths); }
};

/// Bins of width 1/64 side by side in [-1, 2), with one gap, and three single
/// values.
Bins exampleBins(unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_int_distribution<int> count(1, 50);
  Bins bins;
  auto add = [&](double value, double weight, double width) {
    bins.values.push_back(value);
    bins.weights.push_back(weight);
    bins.widths.push_back(width);
  };
  for (int i = -64; i < 128; ++i)
    if (i < 40 || i > 50)
      add((i + 0.5) / 64, count(generator), 1.0 / 64);
  add(-1, 1, 0);
  add(0, 17, 0);
  add(1.9999, 1, 0);
  return bins;
}

/// The error by definition, each bin as `parts` single values.
double summedError(const ScaledAtoms &atoms, LevelRange levels, double step,
                   int parts) {
  double sum = 0;
  for (size_t i = 0; i < atoms.size(); ++i)
    for (int part = 0; part < parts; ++part) {
      double x =
          atoms.values()[i] + atoms.widths()[i] * ((part + 0.5) / parts - 0.5);
      double residual =
          x - step * std::clamp(std::nearbyint(x / step), levels.lo, levels.hi);
      sum += atoms.weights()[i] / parts * residual * residual;
    }
  return sum;
}

TEST(DensityTest, ErrorIsTheIntegralOverTheBins) {
  ScaledAtoms atoms = exampleBins(1).atoms();
  Density density(atoms);
  for (double step : {0.3, 1.0 / 64, 1.0 / 128, 0.0101, 0.0017})
    for (LevelRange levels :
         {LevelRange{-1000, 1000}, LevelRange{-40, 39}, LevelRange{0, 90}}) {
      // The midpoint rule is off by a relative (step / part)^-2.
      double expected = summedError(atoms, levels, step, 2000);
      EXPECT_NEAR(density.error(levels, step), expected, 1e-4 * expected)
          << step;
    }
}

TEST(DensityTest, ServesBinsAboveEightBits) {
  ScaledAtoms atoms = exampleBins(1).atoms();
  EXPECT_FALSE(Density::serves(atoms, 8));
  EXPECT_TRUE(Density::serves(atoms, 9));
  Bins bins = exampleBins(1);
  ScaledAtoms values(bins.values, bins.weights);
  EXPECT_FALSE(Density::serves(values, 16));
}

TEST(DensityTest, BoundsHoldAgainstADenseSweep) {
  for (unsigned seed = 0; seed < 4; ++seed) {
    Bins bins = exampleBins(seed);
    // From a tail that is worth clipping to none.
    for (size_t i = 0; i < bins.values.size(); ++i)
      if (bins.values[i] > 0.5)
        bins.weights[i] *= std::pow(10.0, -2.0 * seed);
    ScaledAtoms atoms = bins.atoms();
    Density density(atoms);
    for (unsigned bits : {9, 10, 12, 16}) {
      double half = std::ldexp(1.0, static_cast<int>(bits) - 1);
      LevelRange levels = {-half, half - 1};
      StepCandidate start;
      start.step = atoms.largestMagnitude() / half;
      start.error = density.error(levels, start.step);
      StepCandidate best = density.searchStep(levels, 0x1p-60, start);
      EXPECT_LE(best.error, start.error);
      EXPECT_DOUBLE_EQ(best.error, density.error(levels, best.step));
      double dense = std::numeric_limits<double>::infinity();
      for (int i = -200; i < 2000; ++i)
        dense = std::min(
            dense, density.error(levels, start.step * std::exp2(-i / 800.0)));
      EXPECT_LE(best.error / (1 + best.bound), dense * (1 + 1e-9));
      // Not worse than the sweep by more than what is not worthwhile.
      EXPECT_LE(best.error, dense * 1.011);
      // Steps finer than the bins leave little open.
      if (bits >= 12)
        EXPECT_LE(best.bound, 0.2) << bits << " bits, seed " << seed;
    }
  }
}

TEST(DensityTest, BoundsOfZeroPointsHoldAgainstADenseSweep) {
  for (unsigned seed = 0; seed < 3; ++seed) {
    Bins bins = exampleBins(seed);
    for (size_t i = 0; i < bins.values.size(); ++i)
      if (bins.values[i] > 0.5)
        bins.weights[i] *= std::pow(10.0, -2.0 * seed);
    ScaledAtoms atoms = bins.atoms();
    Density density(atoms);
    for (unsigned bits : {9, 12}) {
      int levelCount = 1 << bits;
      GridCandidate start;
      start.step = (atoms.max() - atoms.min()) / (levelCount - 1);
      start.zeroPoint =
          static_cast<int>(std::nearbyint(-atoms.min() / start.step));
      auto levels = [&](int zeroPoint) {
        return LevelRange{-double(zeroPoint),
                          double(levelCount - 1 - zeroPoint)};
      };
      start.error = density.error(levels(start.zeroPoint), start.step);
      GridCandidate best = density.searchStepAndZeroPoint(levelCount, start);
      EXPECT_LE(best.error, start.error);
      double dense = std::numeric_limits<double>::infinity();
      for (int i = -20; i < 200; ++i)
        for (int zeroPoint = 0; zeroPoint < levelCount;
             zeroPoint += levelCount / 64)
          dense =
              std::min(dense, density.error(levels(zeroPoint),
                                            start.step * std::exp2(-i / 80.0)));
      EXPECT_LE(best.error / (1 + best.bound), dense * (1 + 1e-9));
      EXPECT_LE(best.error, dense * 1.011) << bits << " bits, seed " << seed;
    }
  }
}

TEST(DensityTest, WideGridsAreNeverWorseOnTheSamplesThanNoClipping) {
  for (unsigned seed = 0; seed < 6; ++seed) {
    std::mt19937 generator(seed);
    std::normal_distribution<float> normal;
    std::student_t_distribution<float> heavy(3);
    std::vector<float> values(30000);
    for (float &value : values)
      value = seed % 3 == 0   ? normal(generator)
              : seed % 3 == 1 ? heavy(generator)
                              : std::max(0.0f, normal(generator));
    HistogramScratch scratch;
    Histogram histogram;
    histogram.observe(values.data(), values.size(), scratch);
    for (QuantizationMethod kind :
         {QuantizationMethod::PowerOfTwo, QuantizationMethod::Symmetric,
          QuantizationMethod::Uniform})
      for (unsigned bits : {9, 10, 12, 14, 16}) {
        SelectionOptions options;
        options.kind = kind;
        options.bits = bits;
        options.isSigned = histogram.min() < 0;
        SelectedParameters selected =
            llvm::cantFail(selectForHistogram(histogram, options));
        double searched = meanError(values, 2, gridFor(selected, options));
        options.errorMethod = ErrorMethod::NoClipping;
        double noClipping = meanError(
            values, 2,
            gridFor(llvm::cantFail(selectForHistogram(histogram, options)),
                    options));
        EXPECT_LE(searched, noClipping)
            << bits << " bits, seed " << seed << ", kind " << int(kind);
        // The reported error is about that of the values, too; a hundredth is
        // the noise of 30000 rounding errors.
        EXPECT_NEAR(selected.error, searched, 0.03 * searched)
            << bits << " bits, seed " << seed << ", kind " << int(kind);
        // Heavy tails are clipped at nine bits.
        if (seed % 3 == 1 && bits == 9 &&
            kind != QuantizationMethod::PowerOfTwo)
          EXPECT_LT(searched, 0.99 * noClipping);
      }
  }
}

TEST(DensityTest, InstructionSetsGiveTheSameBits) {
  ScaledAtoms atoms = exampleBins(2).atoms();
  Density density(atoms);
  auto run = [&] {
    StepCandidate start = {atoms.largestMagnitude() / 2048, 0};
    start.error = density.error({-2048, 2047}, start.step);
    return density.searchStep({-2048, 2047}, 0x1p-60, start);
  };
  ASSERT_TRUE(forceInstructionSetForTesting(InstructionSet::Portable));
  StepCandidate reference = run();
  for (InstructionSet set : {InstructionSet::AVX2, InstructionSet::AVX512})
    if (forceInstructionSetForTesting(set)) {
      StepCandidate other = run();
      EXPECT_EQ(other.step, reference.step);
      EXPECT_EQ(other.error, reference.error);
      EXPECT_EQ(other.bound, reference.bound);
    }
  forceInstructionSetForTesting(std::nullopt);
}

} // namespace
