// SPDX-License-Identifier: Apache-2.0
//
// Cases with a T number are derived by hand.

#include "mct/Quantizers/Grid.h"
#include "mct/Quantizers/Channels.h"
#include "mct/Quantizers/InstructionSet.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <set>

using namespace mct::quantization;

namespace {

std::vector<float> quantized(const Grid &grid, std::vector<float> values) {
  fakeQuantize(grid, values.data(), values.data(), values.size());
  return values;
}

/// Values of the first and last level.
std::pair<double, double> ends(UniformParameters parameters, unsigned bits) {
  double last = std::ldexp(1.0, static_cast<int>(bits)) - 1;
  return {-parameters.step * parameters.zeroPoint,
          parameters.step * (last - parameters.zeroPoint)};
}

void expectEnds(double lo, double hi, unsigned bits, double expectedLow,
                double expectedHigh) {
  auto [low, high] = ends(uniformParametersForRange(lo, hi, bits), bits);
  EXPECT_NEAR(low, expectedLow, 1e-12);
  EXPECT_NEAR(high, expectedHigh, 1e-12);
}

TEST(GridTest, SignedTwoBitsRoundTiesToEvenAndClipAtOneStepBelowThreshold) {
  // T1
  EXPECT_EQ(quantized(symmetricGrid(2, 2, true),
                      {-2.1f, -1.1f, 0, 1, 1.1f, 0.5f, 1.5f, -0.5f}),
            (std::vector<float>{-2, -1, 0, 1, 1, 0, 1, 0}));
}

TEST(GridTest, UnsignedTwoBitsSendNegativesToZero) {
  // T2
  EXPECT_EQ(quantized(symmetricGrid(2, 2, false),
                      {-2.1f, 0.2f, 0.25f, 0.75f, 1.25f, 1.9f}),
            (std::vector<float>{0, 0, 0, 1, 1, 1.5f}));
}

TEST(GridTest, DenseRampMeetsEveryLevelOfEveryWidth) {
  // T3
  for (float threshold : {0.37f, 1.0f, 5.0f})
    for (unsigned bits = 1; bits <= 8; ++bits)
      for (bool isSigned : {false, true}) {
        std::vector<float> ramp;
        for (int i = -8192; i <= 8192; ++i)
          ramp.push_back(2 * threshold * i / 8192);
        Grid grid = symmetricGrid(threshold, bits, isSigned);
        std::vector<float> output = quantized(grid, ramp);
        std::set<float> levels(output.begin(), output.end());
        EXPECT_EQ(levels.size(), size_t(1) << bits);
        float step = static_cast<float>(grid.step);
        EXPECT_EQ(*levels.begin(), isSigned ? -threshold : 0.0f);
        EXPECT_NEAR(*levels.rbegin(), threshold - step, 1e-6 * threshold);
      }
}

TEST(GridTest, OneSignedBitHasTheLevelsMinusThresholdAndZero) {
  // T4
  EXPECT_EQ(quantized(symmetricGrid(1, 1, true), {-1, 0.4f}),
            (std::vector<float>{-1, 0}));
}

TEST(GridTest, UniformRangeMovesSoThatZeroIsALevel) {
  expectEnds(-0.5, 1.0, 2, -0.5, 1.0);             // T5
  expectEnds(-1, 1, 8, -256.0 / 255, 254.0 / 255); // T6
  expectEnds(-1, 1, 3, -8.0 / 7, 6.0 / 7);         // T7
  expectEnds(0.2, 1, 2, 0, 1);                     // T8
  expectEnds(-3, -1, 2, -3, 0);                    // T8
  expectEnds(-0.001, 1.0, 8, 0, 1.001);            // T9
}

TEST(GridTest, UniformRangeKeepsItsWidthAndQuantizesZeroToZero) {
  // T10
  std::mt19937 generator(7);
  std::uniform_real_distribution<double> side(0, 10);
  for (int i = 0; i < 1000; ++i) {
    double lo = -side(generator), hi = side(generator);
    unsigned bits = 1 + i % 16;
    UniformParameters parameters = uniformParametersForRange(lo, hi, bits);
    auto [low, high] = ends(parameters, bits);
    EXPECT_NEAR(high - low, hi - lo, 1e-12 * (hi - lo));
    EXPECT_LE(std::fabs(low - lo), parameters.step * (0.5 + 1e-9));
    Grid grid = uniformGrid(parameters.step, parameters.zeroPoint, bits);
    EXPECT_EQ(quantized(grid, {0.0f})[0], 0.0f);
  }
}

TEST(GridTest, EmptyOrInfiniteRangeGivesAFiniteGrid) {
  // T11
  double infinity = std::numeric_limits<double>::infinity();
  double nan = std::numeric_limits<double>::quiet_NaN();
  for (auto [lo, hi] : std::vector<std::pair<double, double>>{
           {0, 0}, {-infinity, infinity}, {nan, nan}, {0, infinity}}) {
    UniformParameters parameters = uniformParametersForRange(lo, hi, 8, 0.25);
    EXPECT_EQ(parameters.step, 0.25);
    EXPECT_EQ(parameters.zeroPoint, 0);
  }
  EXPECT_EQ(quantized(uniformGrid(0x1p-16, 0, 8), {0.0f})[0], 0.0f);
}

TEST(GridTest, NotANumberAndInfinitiesBecomeEndsOfTheGrid) {
  Grid grid = symmetricGrid(1, 8, true);
  float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(quantized(grid, {std::nanf(""), -infinity, infinity}),
            (std::vector<float>{-1, -1, 127.0f / 128}));
}

TEST(GridTest, StepWithoutAFloatInverseStillQuantizes) {
  // 1 / 2^-140 is no float, so the double path takes over.
  Grid grid = symmetricGrid(0x1p-133, 8, true);
  EXPECT_EQ(quantized(grid, {0.0f, 0x1p-140f, 1.0f}),
            (std::vector<float>{0, 0x1p-140f, 127 * 0x1p-140f}));
}

TEST(GridTest, InstructionSetsGiveTheSameBits) {
  std::mt19937 generator(3);
  std::normal_distribution<float> normal(0, 2);
  std::vector<float> values(1003);
  for (float &value : values)
    value = normal(generator);
  std::vector<Grid> grids;
  for (int i = 0; i < 17; ++i)
    grids.push_back(symmetricGrid(0.7 + i, 2 + i % 7, i % 2));
  auto run = [&](InstructionSet set, std::vector<float> &output) {
    if (!forceInstructionSetForTesting(set))
      return false;
    output = quantized(uniformGrid(0.017, 100, 8), values);
    std::vector<float> perChannel(59 * 17);
    fakeQuantizePerChannel(grids, {59, 17}, {1}, values.data(),
                           perChannel.data());
    output.insert(output.end(), perChannel.begin(), perChannel.end());
    forceInstructionSetForTesting(std::nullopt);
    return true;
  };
  std::vector<float> portable, other;
  ASSERT_TRUE(run(InstructionSet::Portable, portable));
  for (InstructionSet set : {InstructionSet::AVX2, InstructionSet::AVX512})
    if (run(set, other))
      EXPECT_EQ(std::memcmp(portable.data(), other.data(),
                            portable.size() * sizeof(float)),
                0);
}

/// The level of a value by definition, in double, where a float over a power of
/// two is exact.
double levelOf(float value, const Grid &grid) {
  double exact = value / grid.step;
  double level = std::floor(exact);
  double rest = exact - level;
  bool tieGoesUp =
      grid.rounding == Rounding::HalfUp || std::fmod(std::fabs(level), 2) == 1;
  if (rest > 0.5 || (rest == 0.5 && tieGoesUp))
    level += 1;
  return std::clamp(level, double(grid.qmin - grid.zeroPoint),
                    double(grid.qmax - grid.zeroPoint));
}

TEST(GridTest, TiesGoWhereTheRoundingSaysForEveryLevelOfEveryWidth) {
  for (InstructionSet set : {InstructionSet::Portable, InstructionSet::AVX2,
                             InstructionSet::AVX512}) {
    if (!forceInstructionSetForTesting(set))
      continue;
    for (Rounding rounding : {Rounding::HalfToEven, Rounding::HalfUp})
      for (unsigned bits = 2; bits <= 16; ++bits)
        for (int kind : {0, 1, 2}) {
          Grid grid = kind == 2
                          ? uniformGrid(0x1p-7, (int64_t(1) << bits) / 3, bits)
                          : symmetricGrid(0.25, bits, kind == 0);
          grid.rounding = rounding;
          std::vector<float> values;
          for (int64_t level = grid.qmin - grid.zeroPoint - 2;
               level <= grid.qmax - grid.zeroPoint + 1; ++level) {
            float tie = static_cast<float>((level + 0.5) * grid.step);
            values.push_back(tie);
            values.push_back(std::nextafter(tie, -1e30f));
            values.push_back(std::nextafter(tie, 1e30f));
          }
          std::vector<float> output = quantized(grid, values);
          for (size_t i = 0; i < values.size(); ++i)
            ASSERT_EQ(output[i],
                      static_cast<float>(levelOf(values[i], grid) * grid.step))
                << values[i] << " with " << bits << " bits";
        }
    forceInstructionSetForTesting(std::nullopt);
  }
}

TEST(GridTest, HalfUpIsNotTheFloorOfARoundedSum) {
  // floor(x + 0.5f) in float gives 1 and 8388610.
  Grid grid = uniformGrid(1, 0, 24);
  grid.rounding = Rounding::HalfUp;
  EXPECT_EQ(quantized(grid, {0.49999997f, 8388609.0f, 0.5f, 1.5f, 2.5f}),
            (std::vector<float>{0, 8388609.0f, 1, 2, 3}));
}

TEST(GridTest, ChannelsMayRoundDifferently) {
  // Element i of a row belongs to channel i: the kernel with one grid per lane
  // and, at 2^-140, the path in double.
  for (double step : {1.0, 0x1p-140}) {
    std::vector<Grid> grids;
    std::vector<float> values, expected;
    for (int i = 0; i < 37; ++i) {
      grids.push_back(symmetricGrid(128 * step, 8, true));
      grids.back().rounding = i % 3 ? Rounding::HalfUp : Rounding::HalfToEven;
      values.push_back(static_cast<float>((i - 18 + 0.5) * step));
      expected.push_back(
          static_cast<float>(levelOf(values[i], grids[i]) * step));
    }
    std::vector<float> output(37);
    fakeQuantizePerChannel(grids, {1, 37}, {1}, values.data(), output.data());
    EXPECT_EQ(output, expected);
  }
}

TEST(GridTest, EveryFiniteValueStaysFinite) {
  float largest = std::numeric_limits<float>::max();
  for (Rounding rounding : {Rounding::HalfToEven, Rounding::HalfUp})
    for (double threshold : {0x1p-149, 1e-30, 1.0, double(largest),
                             double(largest) * 128 / 127, 1e60})
      for (unsigned bits : {2, 8, 16}) {
        Grid grid = symmetricGrid(threshold, bits, true);
        grid.rounding = rounding;
        for (float output :
             quantized(grid, {0, 0x1p-149f, -1, largest, -largest}))
          EXPECT_TRUE(std::isfinite(output)) << threshold;
      }
}

/// Channel number of each element, computed from its multi-index.
std::vector<int64_t> channelOfEachElement(llvm::ArrayRef<int64_t> shape,
                                          llvm::ArrayRef<int64_t> axes) {
  int64_t elements = 1;
  for (int64_t size : shape)
    elements *= size;
  std::vector<int64_t> channels(elements);
  for (int64_t i = 0; i < elements; ++i) {
    std::vector<int64_t> index(shape.size());
    int64_t rest = i;
    for (size_t axis = shape.size(); axis-- > 0;) {
      index[axis] = rest % shape[axis];
      rest /= shape[axis];
    }
    for (int64_t axis : axes)
      channels[i] = channels[i] * shape[axis] + index[axis];
  }
  return channels;
}

TEST(GridTest, ChannelAxesSelectGridsAndRows) {
  std::vector<int64_t> shape = {3, 2, 4, 5};
  std::vector<float> values(120);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = 0.01f * i - 0.5f;
  for (const std::vector<int64_t> &axes :
       std::vector<std::vector<int64_t>>{{},
                                         {0},
                                         {1},
                                         {2},
                                         {3},
                                         {2, 3},
                                         {0, 1},
                                         {0, 3},
                                         {1, 2},
                                         {0, 2, 3},
                                         {0, 1, 2, 3}}) {
    int64_t channels = channelCount(shape, axes);
    std::vector<Grid> grids;
    for (int64_t i = 0; i < channels; ++i)
      grids.push_back(symmetricGrid(0.1 + 0.05 * i, 4, true));
    std::vector<int64_t> channelOf = channelOfEachElement(shape, axes);
    std::vector<float> output(values.size());
    fakeQuantizePerChannel(grids, shape, axes, values.data(), output.data());
    std::vector<std::vector<float>> expectedRows(channels);
    for (size_t i = 0; i < values.size(); ++i) {
      EXPECT_EQ(output[i], quantized(grids[channelOf[i]], {values[i]})[0]);
      expectedRows[channelOf[i]].push_back(values[i]);
    }
    std::vector<float> expected;
    for (const std::vector<float> &row : expectedRows)
      expected.insert(expected.end(), row.begin(), row.end());
    EXPECT_EQ(gatherChannels(values, shape, axes), expected);
  }
}

TEST(PerChannel, RowsReadInParts) {
  // More channels than are read together, and more elements than a tile has.
  const std::vector<int64_t> shape = {5, 19, 2, 21};
  std::vector<float> values(5 * 19 * 2 * 21);
  std::iota(values.begin(), values.end(), 0.0f);
  for (const std::vector<int64_t> &axes : std::vector<std::vector<int64_t>>{
           {}, {0}, {1}, {3}, {0, 1}, {0, 3}, {1, 3}, {2, 3}, {0, 1, 2, 3}}) {
    size_t channels = channelCount(shape, axes);
    size_t length = values.size() / channels;
    std::vector<int64_t> channelOf = channelOfEachElement(shape, axes);
    std::vector<std::vector<float>> expected(channels);
    for (size_t i = 0; i < values.size(); ++i)
      expected[channelOf[i]].push_back(values[i]);
    ChannelRows rows(values, shape, axes);
    EXPECT_EQ(rows.length(), length);
    for (size_t count : {size_t(1), rows.numTogether(), channels})
      for (size_t first = 0; first + count <= channels; first += count) {
        std::vector<float> buffer;
        llvm::ArrayRef<float> read = rows.read(first, count, buffer);
        ASSERT_EQ(read.size(), count * length);
        for (size_t i = 0; i < count; ++i)
          EXPECT_EQ(read.slice(i * length, length).vec(), expected[first + i]);
      }
  }
}

} // namespace
