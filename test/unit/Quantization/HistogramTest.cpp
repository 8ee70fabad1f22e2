// SPDX-License-Identifier: Apache-2.0

#include "SelectionFixture.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

using namespace mct::quantization;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr int kHalf = Histogram::kBins / 2;

/// Values over many octaves, with zeros of both signs, NaN and infinities.
std::vector<float> mixedValues(size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::uniform_int_distribution<int> kind(0, 99);
  std::vector<float> values(count);
  for (float &value : values) {
    int choice = kind(generator);
    value = normal(generator);
    if (choice < 10)
      value = choice % 2 ? 0.0f : -0.0f;
    else if (choice < 12)
      value = std::nanf("");
    else if (choice < 14)
      value = choice % 2 ? kInfinity : -kInfinity;
    else if (choice < 20)
      value = std::ldexp(value, -choice * 8);
    else if (choice == 20)
      value *= 1000;
  }
  return values;
}

/// The bin of a value in exact arithmetic: a double holds value * 2^s.
int expectedBin(float value, int exponent) {
  return static_cast<int>(std::floor(std::ldexp(
             double(value), static_cast<int>(std::log2(kHalf)) - exponent))) +
         kHalf;
}

/// Every field against its definition.
void expectDescribes(const Histogram &histogram,
                     const std::vector<float> &values) {
  float low = kInfinity, high = -kInfinity;
  uint64_t zeros = 0, nonFinite = 0;
  for (float value : values) {
    if (!std::isfinite(value)) {
      ++nonFinite;
      continue;
    }
    zeros += value == 0;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  EXPECT_EQ(histogram.min(), low);
  EXPECT_EQ(histogram.max(), high);
  EXPECT_EQ(histogram.zeros(), zeros);
  EXPECT_EQ(histogram.nonFinite(), nonFinite);
  EXPECT_EQ(histogram.count(), values.size() - nonFinite);
  std::vector<uint64_t> bins(Histogram::kBins);
  for (float value : values)
    if (std::isfinite(value) && value != 0)
      ++bins[expectedBin(value, histogram.exponent())];
  if (histogram.counts().empty())
    bins.clear();
  EXPECT_EQ(histogram.counts().vec(), bins);
}

TEST(HistogramTest, EveryFieldFollowsItsDefinition) {
  for (size_t count : {1, 15, 16, 17, 100, 4095, 4097, 16383, 16384, 50001}) {
    std::vector<float> values = mixedValues(count, count);
    expectDescribes(observed(values), values);
  }
}

TEST(HistogramTest, InstructionSetsCountTheSame) {
  for (size_t count : {33, 5000, 40000}) {
    std::vector<float> values = mixedValues(count, 5);
    withEveryInstructionSet([&] { expectDescribes(observed(values), values); });
  }
}

TEST(HistogramTest, SplitAndOrderOfTheDataDoNotMatter) {
  // T64
  std::vector<float> values = mixedValues(60000, 11);
  Histogram whole = observed(values);
  std::mt19937 generator(1);
  for (size_t shards : {2, 7, 100}) {
    std::shuffle(values.begin(), values.end(), generator);
    HistogramScratch scratch;
    Histogram sequential;
    std::vector<Histogram> parts(shards);
    for (size_t i = 0; i < shards; ++i) {
      size_t begin = values.size() * i / shards;
      size_t end = values.size() * (i + 1) / shards;
      sequential.observe(&values[begin], end - begin, scratch);
      parts[i].observe(&values[begin], end - begin, scratch);
    }
    EXPECT_EQ(sequential, whole);
    std::shuffle(parts.begin(), parts.end(), generator);
    // Merge the parts as a tree, and not only from the left.
    while (parts.size() > 1) {
      parts[parts.size() - 2].merge(parts.back());
      parts.pop_back();
      std::rotate(parts.begin(), parts.begin() + parts.size() / 2, parts.end());
    }
    EXPECT_EQ(parts[0], whole);
  }
}

TEST(HistogramTest, MergeWithNothingAndWithItself) {
  Histogram histogram = observed(mixedValues(1000, 3)), empty;
  Histogram merged = histogram;
  merged.merge(empty);
  EXPECT_EQ(merged, histogram);
  empty.merge(histogram);
  EXPECT_EQ(empty, histogram);
  std::vector<float> twice = mixedValues(1000, 3);
  twice.insert(twice.end(), twice.begin(), twice.begin() + 1000);
  merged.merge(merged);
  EXPECT_EQ(merged, observed(twice));
}

TEST(HistogramTest, NegativeValueBelowTheResolutionStaysBelowZero) {
  // -1e-40 * 2^(12 - 100) underflows to -0 in float.
  std::vector<float> values = {0x1p99f, -1e-40f, 1e-40f, -0x1p-149f, 0x1p-149f};
  Histogram histogram = observed(values);
  EXPECT_EQ(histogram.exponent(), 100);
  EXPECT_EQ(histogram.counts()[kHalf - 1], 2u);
  EXPECT_EQ(histogram.counts()[kHalf], 2u);
  expectDescribes(histogram, values);
}

TEST(HistogramTest, LargestAndSmallestFloatsAreBinned) {
  float largest = std::numeric_limits<float>::max();
  std::vector<float> values = {largest, -largest, 1.0f, -1.0f};
  Histogram histogram = observed(values);
  EXPECT_EQ(histogram.exponent(), 128);
  expectDescribes(histogram, values);

  values = {0x1p-149f, -0x1p-149f, 0x1p-126f, 0};
  histogram = observed(values);
  EXPECT_EQ(histogram.exponent(), Histogram::kMinExponent);
  expectDescribes(histogram, values);
}

TEST(HistogramTest, PowerOfTwoOpensTheNextOctave) {
  EXPECT_EQ(observed({1.0f}).exponent(), 1);
  EXPECT_EQ(observed({std::nextafter(1.0f, 0.0f)}).exponent(), 0);
  EXPECT_EQ(observed({1.0f}).binEdge(kHalf), 0.0);
  EXPECT_EQ(observed({1.0f}).binEdge(0), -2.0);
  EXPECT_EQ(observed({1.0f}).binWidth(), 4.0 / Histogram::kBins);
}

TEST(HistogramTest, ZerosOfBothSignsAreZerosAndNothingElse) {
  Histogram histogram = observed({0.0f, -0.0f, -0.0f});
  EXPECT_EQ(histogram.zeros(), 3u);
  EXPECT_TRUE(histogram.counts().empty());
  EXPECT_FALSE(std::signbit(histogram.min()));
  EXPECT_FALSE(std::signbit(histogram.max()));
  EXPECT_EQ(histogram, observed({-0.0f, 0.0f, 0.0f}));
}

TEST(HistogramTest, OnlyNonFiniteValuesLeaveItEmpty) {
  Histogram histogram = observed({std::nanf(""), kInfinity, -kInfinity});
  EXPECT_TRUE(histogram.empty());
  EXPECT_EQ(histogram.nonFinite(), 3u);
  EXPECT_EQ(histogram.min(), kInfinity);
  EXPECT_EQ(histogram.max(), -kInfinity);
}

TEST(HistogramTest, PartsRebuildTheHistogram) {
  for (const std::vector<float> &values : {std::vector<float>{},
                                           {0.0f},
                                           {std::nanf("")},
                                           {3.0f},
                                           {-2.0f, 0.0f},
                                           {0.0f, 1e30f, -1e-30f},
                                           {-1e-44f},
                                           mixedValues(3000, 8)}) {
    Histogram histogram = observed(values);
    auto rebuilt = Histogram::fromParts(histogram.parts());
    ASSERT_TRUE(bool(rebuilt)) << llvm::toString(rebuilt.takeError());
    EXPECT_EQ(*rebuilt, histogram);
  }
}

std::string errorFor(const Histogram::Parts &parts) {
  auto histogram = Histogram::fromParts(parts);
  return histogram ? "" : llvm::toString(histogram.takeError());
}

TEST(HistogramTest, PartsThatNoDataCouldHaveAreRejected) {
  Histogram::Parts valid = observed({0.0f, 1.5f, -0.3f}).parts();
  EXPECT_EQ(errorFor(valid), "");

  Histogram::Parts parts = valid;
  parts.firstBin = Histogram::kBins;
  EXPECT_EQ(errorFor(parts), "invalid histogram: counts outside of the bins");
  parts.firstBin = -1;
  EXPECT_EQ(errorFor(parts), "invalid histogram: counts outside of the bins");

  parts = valid;
  parts.counts.back() = ~uint64_t(0);
  EXPECT_EQ(errorFor(parts), "invalid histogram: the counts overflow");

  parts = valid;
  parts.exponent = 5;
  EXPECT_EQ(errorFor(parts),
            "invalid histogram: the exponent does not follow from the range");

  parts = valid;
  parts.max = std::nanf("");
  EXPECT_EQ(errorFor(parts),
            "invalid histogram: minimum and maximum are not a range");

  parts = valid;
  parts.max = 1.2f;
  EXPECT_EQ(errorFor(parts), "invalid histogram: minimum or maximum is not in "
                             "an outer populated bin");

  parts = valid;
  parts.counts.clear();
  EXPECT_EQ(errorFor(parts), "invalid histogram: counts and range disagree");

  parts = Histogram().parts();
  parts.max = 1;
  EXPECT_EQ(errorFor(parts), "invalid histogram: a range without a value");

  parts = observed({2.0f}).parts();
  parts.zeros = 1;
  EXPECT_EQ(errorFor(parts), "invalid histogram: zeros outside of the range");
}

} // namespace
