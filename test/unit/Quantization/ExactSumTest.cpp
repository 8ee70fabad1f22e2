// SPDX-License-Identifier: Apache-2.0

#include "mct/Quantization/ExactSum.h"
#include "SelectionFixture.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

using namespace mct::quantization;

namespace {

std::vector<float> wideValues(size_t count, unsigned seed, int octaves) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::uniform_int_distribution<int> octave(-octaves, octaves);
  std::vector<float> values(count);
  for (float &value : values)
    value = std::ldexp(normal(generator), octave(generator));
  return values;
}

ExactSum sumOf(const std::vector<float> &values) {
  ExactSum sum;
  for (float value : values)
    sum.add(value);
  return sum;
}

TEST(ExactSumTest, SmallTermsSurviveLargeOnesThatCancel) {
  float largest = std::numeric_limits<float>::max();
  float smallest = std::numeric_limits<float>::denorm_min();
  EXPECT_EQ(sumOf({largest, smallest, -largest}).round(), double(smallest));
  EXPECT_EQ(sumOf({1.0f, 1e-30f, -1.0f}).round(), double(1e-30f));
}

TEST(ExactSumTest, SquaresOfTheSmallestAndLargestFloatsAreExact) {
  float largest = std::numeric_limits<float>::max();
  ExactSum sum;
  sum.addSquare(0x1p-149f);
  EXPECT_EQ(sum.round(), 0x1p-298);
  sum.addSquare(largest);
  sum.addExact(-double(largest) * largest);
  EXPECT_EQ(sum.round(), 0x1p-298);
}

TEST(ExactSumTest, RoundsOnceTiesToEven) {
  auto roundOf = [](std::initializer_list<double> terms) {
    ExactSum sum;
    for (double term : terms)
      sum.addExact(term);
    return sum.round();
  };
  EXPECT_EQ(roundOf({0x1p53, 1}), 0x1p53);
  EXPECT_EQ(roundOf({0x1p53, 3}), 0x1p53 + 4);
  EXPECT_EQ(roundOf({0x1p53, 1, 0x1p-200}), 0x1p53 + 2);
  EXPECT_EQ(roundOf({0x1p53, 1, -0x1p-200}), 0x1p53);
  EXPECT_EQ(roundOf({-0x1p53, -1, -0x1p-200}), -0x1p53 - 2);
  // A carry out of the mantissa.
  EXPECT_EQ(roundOf({0x1p54 - 2, 1}), 0x1p54);
  EXPECT_EQ(roundOf({0x1p100, -0x1p100}), 0.0);
}

TEST(ExactSumTest, AgreesWithLongDoubleWhereThatIsExact) {
  // 24 bits of mantissa over 30 octaves and 1000 terms fit into 64 bits.
  std::vector<float> values = wideValues(1000, 4, 10);
  for (float &value : values)
    value = std::round(value * 0x1p20f) * 0x1p-20f;
  long double expected = 0;
  for (float value : values)
    expected += value;
  EXPECT_EQ(sumOf(values).round(), static_cast<double>(expected));
}

TEST(ExactSumTest, OrderAndGroupingDoNotMatter) {
  std::vector<float> values = wideValues(20000, 9, 120);
  ExactSum whole = sumOf(values);
  std::mt19937 generator(2);
  std::shuffle(values.begin(), values.end(), generator);
  ExactSum merged;
  for (size_t begin = 0; begin < values.size(); begin += 777) {
    size_t end = std::min(values.size(), begin + 777);
    merged.merge(sumOf({values.begin() + begin, values.begin() + end}));
  }
  EXPECT_EQ(merged, whole);
  EXPECT_EQ(merged.toHex(), whole.toHex());
  EXPECT_EQ(merged.round(), whole.round());
}

TEST(ExactSumTest, HexRoundTrips) {
  EXPECT_EQ(ExactSum().toHex(), "0");
  EXPECT_EQ(sumOf({1.0f}).toHex(), "1" + std::string(80, '0'));
  EXPECT_EQ(sumOf({-1.0f}).toHex(), "-1" + std::string(80, '0'));
  for (unsigned seed = 0; seed < 20; ++seed) {
    ExactSum sum = sumOf(wideValues(50, seed, 120));
    auto read = ExactSum::fromHex(sum.toHex());
    ASSERT_TRUE(bool(read)) << llvm::toString(read.takeError());
    EXPECT_EQ(*read, sum);
  }
}

TEST(ExactSumTest, TextThatIsNoSumIsRejected) {
  for (std::string text : {"", "-", "12g4", "0x12", "1 ", "--1"})
    EXPECT_NE(llvm::toString(ExactSum::fromHex(text).takeError()), "") << text;
  EXPECT_NE(
      llvm::toString(ExactSum::fromHex(std::string(300, '1')).takeError()), "");
}

ChannelStatistics observed(const std::vector<float> &values, size_t channels) {
  ChannelStatistics statistics;
  statistics.observe(values.data(), values.size() / channels, channels);
  return statistics;
}

/// Every field against its definition, one value at a time.
void expectDescribes(const ChannelStatistics &statistics,
                     const std::vector<float> &values, size_t channels) {
  std::vector<ChannelStatistics::Channel> expected(channels);
  for (size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i]))
      continue;
    ChannelStatistics::Channel &channel = expected[i % channels];
    channel.sum.add(values[i]);
    channel.sumOfSquares.addSquare(values[i]);
    channel.min = std::min(channel.min, values[i]);
    channel.max = std::max(channel.max, values[i]);
    ++channel.count;
  }
  EXPECT_EQ(statistics.channels().vec(), expected);
}

TEST(ChannelStatisticsTest, EveryFieldFollowsItsDefinition) {
  for (size_t channels : {1, 3, 8, 10, 16, 33})
    for (size_t rows : {1, 7, 600, 1500})
      // Few octaves take the vector path, many the other.
      for (int octaves : {0, 6, 100}) {
        std::vector<float> values =
            wideValues(rows * channels, rows + channels, octaves);
        expectDescribes(observed(values, channels), values, channels);
      }
}

TEST(ChannelStatisticsTest, NonFiniteValuesAndZerosAreHandledPerChannel) {
  std::vector<float> values = wideValues(16 * 100, 1, 3);
  for (size_t i = 0; i < values.size(); i += 37)
    values[i] = i % 2 ? std::nanf("") : std::numeric_limits<float>::infinity();
  for (size_t i = 0; i < values.size(); i += 16)
    values[i] = -0.0f;
  ChannelStatistics statistics = observed(values, 16);
  expectDescribes(statistics, values, 16);
  EXPECT_FALSE(std::signbit(statistics.channels()[0].max));
}

TEST(ChannelStatisticsTest, ExtremeMagnitudesStayExact) {
  float largest = std::numeric_limits<float>::max();
  for (float scale : {largest, 0x1p-149f, 1e-40f, 1e30f}) {
    std::vector<float> values(8 * 100, scale);
    expectDescribes(observed(values, 8), values, 8);
  }
}

TEST(ChannelStatisticsTest, InstructionSetsSplitAndOrderDoNotMatter) {
  std::vector<float> values = wideValues(24 * 900, 3, 4);
  ChannelStatistics whole = observed(values, 24);
  withEveryInstructionSet([&] {
    ChannelStatistics merged;
    for (size_t row : {600, 0, 300}) {
      ChannelStatistics part;
      part.observe(&values[row * 24], 300, 24);
      merged.merge(part);
    }
    EXPECT_EQ(merged.channels(), whole.channels());
  });
}

TEST(ChannelStatisticsTest, MeanIsTheRoundedSumOverTheCount) {
  std::vector<float> values = {1, 10, 2, 20, 4, 40};
  ChannelStatistics statistics = observed(values, 2);
  EXPECT_EQ(statistics.channels()[0].mean(), 7.0 / 3);
  EXPECT_EQ(statistics.channels()[1].sumOfSquares.round(), 2100);
  EXPECT_EQ(ChannelStatistics::Channel().mean(), 0.0);
}

} // namespace
