// SPDX-License-Identifier: Apache-2.0

#include "mct/Quantization/HistogramShift.h"
#include "SelectionFixture.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <random>

using namespace mct::quantization;

namespace {

/// Values of a swish: many small ones, a short negative tail.
std::vector<float> swishValues(size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::vector<float> values(count);
  for (float &value : values) {
    double x = 8.0 * (generator() >> 8) * 0x1p-24 - 4;
    value = float(x / (1 + std::exp(-x)));
  }
  return values;
}

std::vector<float> plus(std::vector<float> values, double offset) {
  for (float &value : values)
    value = float(value + offset);
  return values;
}

double mean(const std::vector<Atom> &atoms) {
  double sum = 0, weight = 0;
  for (const Atom &atom : atoms) {
    sum += atom.weight * atom.value;
    weight += atom.weight;
  }
  return sum / weight;
}

} // namespace

// Multiples of the bins' width move whole bins: as if the shifted values had
// been observed. The values are multiples of 2^-12, so their sums are exact.
TEST(ShiftHistogram, IsExactForMultiplesOfTheBins) {
  std::vector<float> values;
  std::mt19937 generator(1);
  for (int i = 0; i < 5000; ++i)
    values.push_back(float(int(generator() % 20000) - 1000) * 0x1p-12f);
  for (double offset : {0.25, 0.3125, 1.0, 4.0, 100.0, -0.5, -4.0}) {
    // Leave out values that become zero, which the histogram cannot count.
    std::vector<float> kept;
    for (float value : values)
      if (value != 0 && value != float(-offset))
        kept.push_back(value);
    Histogram wanted = observed(plus(kept, offset));
    // A wider range has wider bins, of which the offset must be a multiple.
    EXPECT_EQ(shiftHistogram(observed(kept), offset), wanted)
        << "offset " << offset;
  }
}

// Zeros go where the offset is.
TEST(ShiftHistogram, MovesZeros) {
  Histogram shifted = shiftHistogram(observed({0, 0, 0, 1}), 0.5);
  EXPECT_EQ(shifted, observed({0.5, 0.5, 0.5, 1.5}));
}

// The minimum becomes zero, and is one for sure; 0.75 is in no bin.
TEST(ShiftHistogram, KnowsThatAnExtremeBecameZero) {
  EXPECT_EQ(shiftHistogram(observed({-0.375, 1, 2}), 0.375),
            observed({0, 1.375, 2.375}));
  EXPECT_EQ(shiftHistogram(observed({-0.375, -0.25}), 0.25),
            observed({-0.125, 0}));
  EXPECT_EQ(shiftHistogram(observed({-2, -2, -2}), 2), observed({0, 0, 0}));
  EXPECT_EQ(shiftHistogram(observed({-2, -2, -2}), 5), observed({3, 3, 3}));
}

// For any offset: no value is lost, the extremes are right, and the mean is
// that of the bins, to within a bin.
TEST(ShiftHistogram, KeepsCountsForAnyOffset) {
  std::mt19937 generator(2);
  for (int i = 0; i < 200; ++i) {
    std::vector<float> values = swishValues(1 + generator() % 300, i);
    double offset = 10.0 * (generator() >> 8) * 0x1p-24 - 5;
    Histogram histogram = observed(values);
    Histogram shifted = shiftHistogram(histogram, offset);
    EXPECT_EQ(shifted.count(), histogram.count());
    EXPECT_EQ(shifted.min(), float(histogram.min() + offset));
    EXPECT_EQ(shifted.max(), float(histogram.max() + offset));
    EXPECT_NEAR(mean(getAtoms(shifted)), mean(getAtoms(histogram)) + offset,
                2 * std::max(shifted.binWidth(), histogram.binWidth()));
    // It is one that data can have.
    auto rebuilt = Histogram::fromParts(shifted.parts());
    ASSERT_TRUE(bool(rebuilt)) << llvm::toString(rebuilt.takeError());
    EXPECT_EQ(*rebuilt, shifted);
  }
}

TEST(ShiftHistogram, LeavesWhatIsEmptyOrNotShifted) {
  EXPECT_EQ(shiftHistogram(Histogram(), 1), Histogram());
  EXPECT_EQ(shiftHistogram(observed({1, 2}), 0), observed({1, 2}));
}

// The atoms are the values that the selection sees: the same threshold, and the
// error that it reports.
TEST(Atoms, AreThoseOfTheSelection) {
  Histogram histogram = observed(swishValues(2000, 3));
  for (unsigned bits : {4, 8}) {
    SelectionOptions options;
    options.bits = bits;
    auto wanted = selectForHistogram(histogram, options);
    ASSERT_TRUE(bool(wanted));
    std::vector<Atom> atoms = getAtoms(histogram);
    SelectedParameters found = selectForAtoms(atoms, options);
    EXPECT_EQ(found.threshold, wanted->threshold);
    // Sums in another order.
    EXPECT_NEAR(meanSquaredError(atoms, gridFor(found, options)), wanted->error,
                1e-12 * wanted->error);
  }
}

// Brute force over the powers of two: the smallest error of all of them, each
// with the shift that it needs.
TEST(SelectNegativeShift, IsTheBestPowerOfTwo) {
  for (unsigned bits : {3, 4, 8}) {
    std::vector<Atom> atoms = getAtoms(observed(swishValues(3000, bits)));
    double minimum = -0.279;
    SelectionOptions options;
    options.bits = bits;
    auto found = selectNegativeShift(atoms, minimum, 4, options);
    ASSERT_TRUE(found);
    double best = std::numeric_limits<double>::infinity(), threshold = 0;
    for (double candidate = 0.5; candidate <= 64; candidate *= 2)
      if (auto shift = shiftForNegative(minimum, candidate, bits)) {
        double error = meanSquaredError(shiftAtoms(atoms, *shift),
                                        symmetricGrid(candidate, bits, false));
        if (error < best) {
          best = error;
          threshold = candidate;
        }
      }
    EXPECT_EQ(found->threshold, threshold) << bits << " bits";
    EXPECT_EQ(found->shift, shiftForNegative(minimum, threshold, bits));
    EXPECT_DOUBLE_EQ(found->error, best);
  }
}

// Case 29: 7.9873 + 0.28125 lies above 8 - 1 / 32, so that the threshold has to
// double.
TEST(SelectNegativeShift, CoversTheDataWithoutClipping) {
  std::vector<Atom> atoms = {{-0.279, 1}, {0, 50}, {7.9873, 1}};
  SelectionOptions options;
  options.errorMethod = ErrorMethod::NoClipping;
  auto found = selectNegativeShift(atoms, -0.279, 8, options);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->threshold, 16);
  EXPECT_EQ(found->shift, 0.3125);
  // With a little less there is room: 7.6 + 0.28125 <= 8 - 1 / 32.
  atoms.back().value = 7.6;
  found = selectNegativeShift(atoms, -0.279, 8, options);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->threshold, 8);
  EXPECT_EQ(found->shift, 0.28125);
}

// Any threshold: no smaller one can be shifted by a multiple of its step and
// still reach both ends.
TEST(SelectNegativeShift, CoversWithTheSmallestSymmetricThreshold) {
  for (unsigned bits : {2, 3, 4, 8}) {
    double minimum = -0.279, maximum = 3.3;
    std::vector<Atom> atoms = {{minimum, 1}, {maximum, 1}};
    SelectionOptions options;
    options.kind = QuantizationMethod::Symmetric;
    options.bits = bits;
    options.errorMethod = ErrorMethod::NoClipping;
    auto found = selectNegativeShift(atoms, minimum, maximum, options);
    ASSERT_TRUE(found);
    double step = std::ldexp(found->threshold, -int(bits));
    EXPECT_GE(found->shift + minimum, 0);
    EXPECT_LE(found->shift + maximum, found->threshold - step);
    double multiple = found->shift / step;
    EXPECT_NEAR(multiple, std::nearbyint(multiple), 1e-9);
    for (double smaller = 0.5; smaller < 0.9999; smaller += 0.0001) {
      double candidate = smaller * found->threshold;
      auto shift = shiftForNegative(minimum, candidate, bits);
      EXPECT_FALSE(shift && *shift + maximum <=
                                candidate - std::ldexp(candidate, -int(bits)))
          << bits << " bits, threshold " << candidate;
    }
  }
}

// MSE with any threshold is no worse than keeping the threshold, or covering
// everything.
TEST(SelectNegativeShift, SymmetricErrorIsNoWorseThanThatOfSimpleChoices) {
  std::vector<Atom> atoms = getAtoms(observed(swishValues(3000, 9)));
  SelectionOptions options;
  options.kind = QuantizationMethod::Symmetric;
  auto found = selectNegativeShift(atoms, -0.279, 4, options);
  ASSERT_TRUE(found);
  options.errorMethod = ErrorMethod::NoClipping;
  auto covering = selectNegativeShift(atoms, -0.279, 4, options);
  ASSERT_TRUE(covering);
  EXPECT_LE(found->error, covering->error);
  double kept =
      meanSquaredError(shiftAtoms(atoms, *shiftForNegative(-0.279, 4, 8)),
                       symmetricGrid(4, 8, false));
  EXPECT_LE(found->error, kept);
}

// One bit has the levels 0 and half of the threshold: nothing can be shifted
// and covered.
TEST(SelectNegativeShift, GivesUpOnOneBit) {
  SelectionOptions options;
  options.bits = 1;
  options.kind = QuantizationMethod::Symmetric;
  options.errorMethod = ErrorMethod::NoClipping;
  EXPECT_FALSE(selectNegativeShift({{-1, 1}, {1, 1}}, -1, 4, options));
  // Not even one step below the threshold lifts this minimum.
  EXPECT_FALSE(selectNegativeShift({{-8, 1}, {1, 1}}, -8, 4, options));
}
