// SPDX-License-Identifier: Apache-2.0
//
// Properties of the searches for the least squared error, against sums and
// sweeps by definition.

#include "lib/Quantization/StepSearch.h"
#include "SelectionFixture.h"
#include "lib/Quantization/FloatErrors.h"
#include "lib/Quantization/PowerOfTwoSearch.h"
#include "lib/Quantization/ZeroPoints.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <random>

using namespace mct::quantization;

namespace {

constexpr InstructionSet kSets[] = {
    InstructionSet::Portable, InstructionSet::AVX2, InstructionSet::AVX512};

/// Laws with and without a sign, with heavy tails, and on a grid.
std::vector<float> randomValues(size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::student_t_distribution<float> heavy(2);
  std::vector<float> values(count);
  for (float &value : values)
    switch (seed % 6) {
    case 0:
      value = normal(generator);
      break;
    case 1:
      value = heavy(generator);
      break;
    case 2:
      value = std::fabs(normal(generator));
      break;
    case 3:
      value = -10 - std::fabs(normal(generator));
      break;
    case 4:
      value = std::exp(3 * normal(generator));
      break;
    default:
      value = std::round(4 * normal(generator)) / 8 - 0.3f;
      break;
    }
  return values;
}

double errorOf(llvm::ArrayRef<double> values, llvm::ArrayRef<double> weights,
               LevelRange levels, double step) {
  double sum = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    double level =
        std::clamp(std::nearbyint(values[i] / step), levels.lo, levels.hi);
    double error = values[i] - step * level;
    sum += (weights.empty() ? 1.0 : weights[i]) * error * error;
  }
  return sum;
}

/// The smallest error over a dense sweep of steps, from one that covers
/// everything to an eighth of it.
double denseSweep(const ScaledAtoms &atoms, LevelRange levels, int points) {
  double covering = atoms.largestMagnitude() /
                    std::max(1.0, std::max(-levels.lo, levels.hi) - 1);
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < points; ++i) {
    double step = 1.1 * covering * std::exp2(-3.0 * i / points);
    best =
        std::min(best, errorOf(atoms.values(), atoms.weights(), levels, step));
  }
  return best;
}

LevelRange signedLevels(unsigned bits) {
  double half = std::ldexp(1.0, static_cast<int>(bits) - 1);
  return {-half, half - 1};
}

StepCandidate covering(const ScaledAtoms &atoms, LevelRange levels) {
  return evaluateStep(atoms, levels,
                      atoms.largestMagnitude() / std::max(1.0, levels.hi));
}

TEST(ScaledAtomsTest, AreSortedAndScaled) {
  std::vector<float> values = {3, -0.0f, -5, 0.25f, std::nanf("")};
  ScaledAtoms atoms(values);
  EXPECT_EQ(atoms.size(), 4u);
  EXPECT_EQ(atoms.exponent(), 2);
  EXPECT_EQ(atoms.values().take_front(4).vec(),
            (std::vector<double>{-1.25, 0, 0.0625, 0.75}));
  EXPECT_FALSE(std::signbit(atoms.values()[1]));
  EXPECT_EQ(atoms.values().size() % 16, 0u);
  EXPECT_EQ(atoms.totalWeight(), 4);
  EXPECT_DOUBLE_EQ(atoms.energy(), 1.5625 + 0.00390625 + 0.5625);
  EXPECT_EQ(atoms.min(), -1.25);
  EXPECT_EQ(atoms.max(), 0.75);
}

TEST(ScaledAtomsTest, WeightsFollowTheirValuesAndOnesAreDropped) {
  ScaledAtoms atoms({2.0, -1.0, 1.0}, {3.0, 5.0, 1.0});
  EXPECT_EQ(atoms.values().take_front(3).vec(),
            (std::vector<double>{-0.5, 0.5, 1}));
  EXPECT_EQ(atoms.weights().take_front(3).vec(),
            (std::vector<double>{5, 1, 3}));
  EXPECT_EQ(atoms.totalWeight(), 9);
  ScaledAtoms ones({2.0, -1.0, 1.0}, {1.0, 1.0, 1.0});
  EXPECT_TRUE(ones.weights().empty());
  EXPECT_EQ(ones.totalWeight(), 3);
}

TEST(ScaledAtomsTest, EverySizeIsSortedLikeStdSort) {
  // Comparison sort, and radix sorts with two digit widths.
  for (size_t count : {1, 17, 63, 64, 500, 2047, 2048, 5000})
    for (unsigned seed = 0; seed < 6; ++seed) {
      std::vector<float> values = randomValues(count, seed);
      ScaledAtoms atoms(values);
      std::sort(values.begin(), values.end());
      for (size_t i = 0; i < count; ++i)
        ASSERT_EQ(std::ldexp(atoms.values()[i], atoms.exponent()), values[i]);
    }
}

TEST(ScaledAtomsTest, ValuesThatAgreeInTheirFirstBitsAreSorted) {
  // Inserting them would take a move for each pair.
  for (size_t count : {100, 2000, 3000, 140000}) {
    std::mt19937 generator(unsigned(count) + 1);
    std::vector<float> values(count);
    for (float &value : values)
      value = 1 + float(generator() % 1024) * 0x1p-23f;
    std::sort(values.begin(), values.end(), std::greater<>());
    ScaledAtoms atoms(values);
    std::reverse(values.begin(), values.end());
    EXPECT_TRUE(
        std::equal(values.begin(), values.end(), atoms.floatValues().begin()));
  }
}

TEST(FloatErrorsTest, SumsOfUnclippedValuesAreTheSameBits) {
  for (size_t count : {5, 16, 1024, 3001})
    for (unsigned seed = 0; seed < 6; ++seed)
      for (float width : {1.0f, 1.7f, 3.0f, 9.0f}) {
        ScaledAtoms atoms(randomValues(count, seed));
        llvm::ArrayRef<float> values = atoms.floatValues();
        GridBatch batch;
        for (float step : {1.0f, 1.01f, 1.03f})
          batch.add(64 * width / step, -100, 90);
        Stretch unclipped = findUnclipped(values, atoms.size(), batch);
        ASSERT_LE(unclipped.begin, unclipped.end);
        ASSERT_LE(unclipped.end, values.size());
        for (size_t i = unclipped.begin; i < unclipped.end; ++i)
          for (int j = 0; j < batch.count; ++j) {
            EXPECT_GE(values[i] * batch.inverse[j], batch.lo[j]);
            EXPECT_LE(values[i] * batch.inverse[j], batch.hi[j]);
          }
        double known[kBatch], unknown[kBatch];
        sumFloatErrors(values.data(), values.size(), batch, known, unclipped);
        sumFloatErrors(values.data(), values.size(), batch, unknown);
        for (int j = 0; j < batch.count; ++j)
          EXPECT_EQ(known[j], unknown[j]);
      }
}

TEST(FloatErrorsTest, SumsStayWithinTheirStatedLoss) {
  for (size_t count : {16, 1024, 20000})
    for (unsigned seed : {0, 1, 2}) {
      ScaledAtoms atoms(randomValues(count, seed));
      GridBatch batch;
      double steps[kBatch];
      // Steps whose inverses are floats; the last grid clips a lot.
      for (float inverse : {127.0f, 64.0f, 33.3f, 1000.0f}) {
        steps[batch.count] = 1 / double(inverse);
        batch.add(inverse, -128, 127);
      }
      double errors[kBatch];
      sumFloatErrors(atoms.floatValues().data(), atoms.floatValues().size(),
                     batch, errors);
      for (int j = 0; j < kBatch; ++j) {
        double exact =
            std::sqrt(errorOf(atoms.values(), {}, {-128, 127}, steps[j]));
        double sum = steps[j] * std::sqrt(errors[j]);
        // Values are rounded to float once and multiplied once.
        double loss =
            exact * kFloatSumLoss + 2.01 * 0x1p-24 * std::sqrt(atoms.energy());
        EXPECT_NEAR(sum, exact, loss) << count << " values, seed " << seed;
      }
    }
}

TEST(ZeroPointsTest, BestIsTheFirstOfTheSmallestErrors) {
  for (int levelCount : {2, 5, 16, 64})
    for (unsigned seed = 0; seed < 12; ++seed) {
      ScaledAtoms atoms(randomValues(50, seed));
      ZeroPoints zeroPoints(atoms, levelCount);
      double width = atoms.max() - atoms.min();
      for (double step : {2.0 * width / levelCount, 0.7 * width / levelCount,
                          0.2 * width / levelCount}) {
        std::vector<double> errors;
        for (int z = 0; z < levelCount; ++z)
          errors.push_back(
              errorOf(atoms.values(), {}, zeroPoints.levels(z), step));
        double smallest = *std::min_element(errors.begin(), errors.end());
        for (int guess : {0, levelCount / 2, levelCount - 1}) {
          int best = zeroPoints.best(step, guess);
          ASSERT_GE(best, 0);
          ASSERT_LT(best, levelCount);
          EXPECT_NEAR(errors[best], smallest, 1e-12 * atoms.energy())
              << levelCount << " levels, seed " << seed;
        }
        for (int z = 0; z + 1 < levelCount; ++z) {
          EXPECT_NEAR(zeroPoints.cost(step, z), errors[z + 1] - errors[z],
                      1e-12 * atoms.energy());
          if (zeroPoints.same(step, z))
            EXPECT_EQ(errors[z + 1], errors[z]);
        }
      }
    }
}

TEST(StepSearchTest, FixedLevelsAreNeverWorseThanADenseSweep) {
  for (unsigned bits : {2, 3, 4, 6, 8})
    for (unsigned seed = 0; seed < 18; ++seed) {
      ScaledAtoms atoms(randomValues(1 + 37 * (seed % 5), seed));
      LevelRange levels = signedLevels(bits);
      StepCandidate start = covering(atoms, levels);
      StepCandidate best = searchStep(atoms, levels, 0x1p-40, start);
      EXPECT_EQ(best.bound, 0);
      EXPECT_LE(best.error, start.error);
      EXPECT_LE(best.error, denseSweep(atoms, levels, 20000) * (1 + 1e-9) +
                                1e-14 * atoms.energy())
          << bits << " bits, seed " << seed;
      EXPECT_NEAR(best.error, errorOf(atoms.values(), {}, levels, best.step),
                  1e-12 * atoms.energy());
    }
}

TEST(StepSearchTest, WeightedAtomsAreNeverWorseThanADenseSweep) {
  for (unsigned bits : {3, 8})
    for (unsigned seed = 0; seed < 12; ++seed) {
      std::vector<float> floats = randomValues(100, seed);
      std::vector<double> values(floats.begin(), floats.end()), weights;
      for (size_t i = 0; i < values.size(); ++i) {
        values[i] *= 1 + 1e-9 * i; // no floats
        weights.push_back(i % 7 == 0 ? 0.0 : std::pow(10.0, double(i % 5)));
      }
      ScaledAtoms atoms(values, weights);
      LevelRange levels = signedLevels(bits);
      StepCandidate best =
          searchStep(atoms, levels, 0x1p-40, covering(atoms, levels));
      EXPECT_EQ(best.bound, 0);
      EXPECT_LE(best.error, denseSweep(atoms, levels, 20000) * (1 + 1e-9) +
                                1e-14 * atoms.energy())
          << bits << " bits, seed " << seed;
    }
}

TEST(StepSearchTest, ZeroPointsAreNeverWorseThanADenseSweepOfEach) {
  for (int levelCount : {2, 4, 16, 256})
    for (unsigned seed = 0; seed < 12; ++seed) {
      ScaledAtoms atoms(randomValues(30, seed));
      double width = atoms.max() - atoms.min();
      double dense = std::numeric_limits<double>::infinity();
      // Two sides may need a level more than the width has.
      for (int zeroPoint = 0; zeroPoint < levelCount; ++zeroPoint)
        for (int i = 0; i < 400; ++i) {
          double step = 2.0 * width / std::max(1, levelCount - 2) *
                        std::exp2(-3.0 * i / 400);
          dense = std::min(dense, errorOf(atoms.values(), {},
                                          {-double(zeroPoint),
                                           double(levelCount - 1 - zeroPoint)},
                                          step));
        }
      GridCandidate start;
      start.step = width / (levelCount - 1);
      start.zeroPoint =
          static_cast<int>(std::nearbyint(-atoms.min() / start.step));
      LevelRange levels = {-double(start.zeroPoint),
                           double(levelCount - 1 - start.zeroPoint)};
      start.error = evaluateStep(atoms, levels, start.step).error;
      GridCandidate best = searchStepAndZeroPoint(atoms, levelCount, start);
      EXPECT_EQ(best.bound, 0);
      EXPECT_LE(best.error, start.error);
      EXPECT_LE(best.error, dense * (1 + 1e-9) + 1e-14 * atoms.energy())
          << levelCount << " levels, seed " << seed;
      levels = {-double(best.zeroPoint),
                double(levelCount - 1 - best.zeroPoint)};
      EXPECT_NEAR(best.error, errorOf(atoms.values(), {}, levels, best.step),
                  1e-12 * atoms.energy());
    }
}

TEST(StepSearchTest, BoundsOfWideGridsHoldAgainstADenseSweep) {
  for (unsigned bits : {9, 10, 11, 12, 14, 16})
    for (unsigned seed = 0; seed < 12; ++seed) {
      ScaledAtoms atoms(randomValues(400, seed));
      LevelRange levels = signedLevels(bits);
      StepCandidate start = covering(atoms, levels);
      StepCandidate best = searchStep(atoms, levels, 0x1p-40, start);
      EXPECT_LE(best.error, start.error);
      EXPECT_GE(best.bound, 0);
      double dense = denseSweep(atoms, levels, 5000);
      EXPECT_LE(best.error / (1 + best.bound),
                dense * (1 + 1e-9) + 1e-14 * atoms.energy())
          << bits << " bits, seed " << seed;
      // Nine bits are still searched to the end.
      if (bits == 9)
        EXPECT_EQ(best.bound, 0);
    }
}

TEST(PowerOfTwoSearchTest, PicksTheBestOfItsCandidates) {
  // More values than one block of the search, and rests of all kinds.
  for (size_t count : {1, 15, 16, 100, 4096, 9001})
    for (unsigned seed = 0; seed < 12; ++seed)
      for (unsigned bits : {2, 4, 8, 16}) {
        std::vector<float> values = randomValues(count, seed);
        auto [least, most] = std::minmax_element(values.begin(), values.end());
        double lo = std::min(0.0f, *least), hi = std::max(0.0f, *most);
        LevelRange levels = signedLevels(bits);
        std::vector<double> steps;
        double first = std::exp2(
            std::ceil(std::log2(std::max(-lo, hi) / std::max(1.0, levels.hi))));
        steps.push_back(first);
        steps.push_back(2 * first);
        for (int i = 1; i < 9; ++i)
          steps.push_back(std::ldexp(first, -i));
        std::vector<double> wide(values.begin(), values.end());
        StepCandidate expected;
        expected.error = std::numeric_limits<double>::infinity();
        double energy = errorOf(wide, {}, {0, 0}, 1);
        for (double step : steps) {
          double error = errorOf(wide, {}, levels, step);
          if (error < expected.error)
            expected = {step, error, 0};
        }
        StepCandidate best = powerOfTwoStep(values, lo, hi, levels, steps);
        EXPECT_EQ(best.step, expected.step)
            << count << " values, seed " << seed << ", " << bits << " bits";
        EXPECT_NEAR(best.error, expected.error,
                    1e-12 * expected.error + 1e-28 * energy);
        EXPECT_EQ(best.bound, 0);
      }
}

TEST(PowerOfTwoSearchTest, NearTiesAreDecidedInDouble) {
  // Against step 1/2, half of the first kind of value costs 1/4 less and the
  // second 1/4 more; a millionth decides, too little for sums in float.
  for (float offset : {-1e-6f, 1e-6f}) {
    std::vector<float> values(20000, 3.5f); // step 1: 1/4, step 1/2: 0
    values.resize(40000, 4.0f + offset);    // above 3.5: 1/4 of step 1/2
    LevelRange levels = {-8, 7};
    std::vector<double> wide(values.begin(), values.end());
    double one = errorOf(wide, {}, levels, 1),
           half = errorOf(wide, {}, levels, 0.5);
    ASSERT_NEAR(one / half, 1, 1e-5);
    StepCandidate best =
        powerOfTwoStep(values, 0, 4.0f + offset, levels, {1, 0.5});
    EXPECT_EQ(best.step, one <= half ? 1 : 0.5);
  }
}

bool sameBits(const SelectedParameters &a, const SelectedParameters &b) {
  return a.threshold == b.threshold && a.step == b.step &&
         a.zeroPoint == b.zeroPoint && a.error == b.error && a.bound == b.bound;
}

TEST(SearchPropertyTest, OrderOfTheValuesChangesNoBit) {
  for (QuantizationMethod kind : kKinds)
    for (unsigned bits : {2, 8, 12})
      for (unsigned seed = 0; seed < 6; ++seed) {
        std::vector<float> values = randomValues(777, seed);
        SelectionOptions options = makeOptions(kind, bits);
        SelectedParameters before = selectForValues(values, options);
        std::shuffle(values.begin(), values.end(), std::mt19937(seed));
        EXPECT_TRUE(sameBits(selectForValues(values, options), before));
      }
}

TEST(SearchPropertyTest, OrderOfWeightedAtomsChangesNoBit) {
  for (QuantizationMethod kind : kKinds) {
    std::vector<Atom> atoms;
    std::vector<float> values = randomValues(300, 0);
    for (size_t i = 0; i < values.size(); ++i)
      atoms.push_back({values[i], double(1 + i % 4)});
    SelectionOptions options = makeOptions(kind, 8);
    SelectedParameters before = selectForAtoms(atoms, options);
    std::shuffle(atoms.begin(), atoms.end(), std::mt19937(1));
    EXPECT_TRUE(sameBits(selectForAtoms(atoms, options), before));
  }
}

TEST(SearchPropertyTest, ShardsOfAnActivationChangeNoBit) {
  std::vector<float> values = randomValues(6000, 1);
  HistogramScratch scratch;
  Histogram whole, merged;
  whole.observe(values.data(), values.size(), scratch);
  for (size_t shard = 0; shard < 7; ++shard) {
    Histogram part;
    size_t begin = values.size() * shard / 7,
           end = values.size() * (shard + 1) / 7;
    part.observe(values.data() + begin, end - begin, scratch);
    merged.merge(part);
  }
  for (QuantizationMethod kind : kKinds)
    for (unsigned bits : {4, 8, 16}) {
      SelectionOptions options = makeOptions(kind, bits);
      EXPECT_TRUE(
          sameBits(llvm::cantFail(selectForHistogram(whole, options)),
                   llvm::cantFail(selectForHistogram(merged, options))));
    }
}

TEST(SearchPropertyTest, ScalingByAPowerOfTwoScalesExactly) {
  for (QuantizationMethod kind : kKinds)
    for (unsigned bits : {2, 8, 12, 16})
      for (int exponent : {-60, -3, 40})
        for (unsigned seed = 0; seed < 6; ++seed) {
          SelectionOptions options = makeOptions(kind, bits);
          options.minThreshold = 0x1p-200;
          std::vector<float> values = randomValues(200, seed);
          SelectedParameters before = selectForValues(values, options);
          for (float &value : values)
            value = std::ldexp(value, exponent);
          SelectedParameters after = selectForValues(values, options);
          before.threshold = std::ldexp(before.threshold, exponent);
          before.step = std::ldexp(before.step, exponent);
          before.error = std::ldexp(before.error, 2 * exponent);
          EXPECT_TRUE(sameBits(after, before))
              << bits << " bits, seed " << seed;
        }
}

TEST(SearchPropertyTest, InstructionSetsAndThreadsChangeNoBit) {
  std::vector<float> values = randomValues(24 * 500, 1);
  std::vector<float> activation = randomValues(20000, 0);
  HistogramScratch scratch;
  Histogram histogram;
  histogram.observe(activation.data(), activation.size(), scratch);
  for (QuantizationMethod kind : kKinds)
    for (unsigned bits : {2, 4, 8, 11, 16}) {
      SelectionOptions options = makeOptions(kind, bits);
      ASSERT_TRUE(forceInstructionSetForTesting(InstructionSet::Portable));
      std::vector<SelectedParameters> reference =
          selectPerChannel(values, {10, 24, 50}, {1}, options, 1);
      SelectedParameters histogramReference =
          llvm::cantFail(selectForHistogram(histogram, options));
      for (InstructionSet set : kSets) {
        if (!forceInstructionSetForTesting(set))
          continue;
        for (unsigned threads : {1, 3}) {
          std::vector<SelectedParameters> other =
              selectPerChannel(values, {10, 24, 50}, {1}, options, threads);
          for (size_t i = 0; i < reference.size(); ++i)
            EXPECT_TRUE(sameBits(other[i], reference[i]));
        }
        EXPECT_TRUE(
            sameBits(llvm::cantFail(selectForHistogram(histogram, options)),
                     histogramReference));
      }
      forceInstructionSetForTesting(std::nullopt);
    }
}

TEST(SearchPropertyTest, DegenerateTensorsGiveFiniteParameters) {
  float largest = std::numeric_limits<float>::max();
  float least = std::numeric_limits<float>::denorm_min();
  for (const std::vector<float> &values :
       std::vector<std::vector<float>>{{0.7f},
                                       {-0.7f},
                                       {5, 5, 5, 5, 5},
                                       {-5, -5, -5},
                                       {0, 0, 0, 0},
                                       {least},
                                       {-least, least, 0},
                                       {1e-40f, 3e-41f, -2e-40f},
                                       {1e30f, -3e29f, 2e28f},
                                       {1e30f, 1e-30f},
                                       {largest, -largest, 1}})
    for (QuantizationMethod kind : kKinds)
      for (unsigned bits = 2; bits <= 16; ++bits)
        for (double minThreshold : {0x1p-16, 0x1p-200}) {
          SelectionOptions options = makeOptions(kind, bits);
          options.minThreshold = minThreshold;
          HistogramScratch scratch;
          Histogram histogram;
          histogram.observe(values.data(), values.size(), scratch);
          for (const SelectedParameters &selected :
               {selectForValues(values, options),
                llvm::cantFail(selectForHistogram(histogram, options))}) {
            Grid grid = gridFor(selected, options);
            EXPECT_TRUE(std::isfinite(grid.step) && grid.step > 0);
            EXPECT_TRUE(std::isfinite(selected.error) && selected.error >= 0);
            EXPECT_GE(selected.zeroPoint, 0);
            EXPECT_LT(selected.zeroPoint, int64_t(1) << bits);
            EXPECT_FALSE(std::isnan(selected.bound));
            std::vector<float> output(values.size());
            fakeQuantize(grid, values.data(), output.data(), values.size());
            for (float value : output)
              EXPECT_TRUE(std::isfinite(value));
          }
        }
}

} // namespace
