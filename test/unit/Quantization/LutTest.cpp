// SPDX-License-Identifier: Apache-2.0

#include "mct/Quantization/Lut.h"
#include "SelectionFixture.h"
#include "TestPaths.h"
#include "mct/Quantizers/Channels.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <numeric>
#include <random>

using namespace mct::quantization;
namespace json = llvm::json;

namespace {

/// The formula of mct_quantizers, entry by entry.
float quantizeOne(float value, llvm::ArrayRef<int64_t> table, double threshold,
                  bool isSigned) {
  auto t = static_cast<float>(threshold);
  float scale = isSigned ? 128.0f : 256.0f;
  float position = value / (t + 1e-8f) * scale;
  position = std::clamp(position, isSigned ? -128.0f : 0.0f,
                        isSigned ? 127.0f : 255.0f);
  size_t best = 0;
  for (size_t i = 1; i < table.size(); ++i)
    if (std::fabs(position - float(table[i])) <
        std::fabs(position - float(table[best])))
      best = i;
  return float(table[best]) / scale * t;
}

double sumOfSquaredErrors(llvm::ArrayRef<double> values,
                          llvm::ArrayRef<double> weights,
                          llvm::ArrayRef<int64_t> table, double threshold,
                          bool isSigned) {
  double unit = threshold / (isSigned ? 128.0 : 256.0), sum = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    double position = tablePosition(values[i], threshold, isSigned);
    int64_t nearest = table[0];
    for (int64_t entry : table)
      if (std::fabs(position - double(entry)) <
          std::fabs(position - double(nearest)))
        nearest = entry;
    double difference = values[i] - unit * double(nearest);
    sum += (weights.empty() ? 1.0 : weights[i]) * difference * difference;
  }
  return sum;
}

/// Mean squared error of a tensor.
double meanSquaredError(llvm::ArrayRef<float> values,
                        llvm::ArrayRef<int64_t> shape,
                        llvm::ArrayRef<int64_t> axes,
                        llvm::ArrayRef<int64_t> table,
                        llvm::ArrayRef<double> thresholds) {
  std::vector<float> rows = gatherChannels(values, shape, axes);
  size_t channels = channelCount(shape, axes), length = rows.size() / channels;
  double sum = 0;
  for (size_t channel = 0; channel < channels; ++channel) {
    std::vector<double> row(rows.begin() + channel * length,
                            rows.begin() + (channel + 1) * length);
    sum += sumOfSquaredErrors(row, {}, table, thresholds[channel], true);
  }
  return sum / double(rows.size());
}

std::vector<float> normalValues(size_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(count);
  for (float &value : values)
    value = normal(generator);
  return values;
}

//===----------------------------------------------------------------------===//
// Fake quantization
//===----------------------------------------------------------------------===//

TEST(LutTest, PositionOfAValue) {
  // T13: by hand.
  EXPECT_EQ(tablePosition(1, 1, true), 127);
  EXPECT_NEAR(tablePosition(-1, 1, true), -127.99999872, 1e-8);
  EXPECT_NEAR(tablePosition(0.5, 1, true), 63.99999936, 1e-8);
  EXPECT_EQ(tablePosition(-1, 1, false), 0);
  EXPECT_NEAR(tablePosition(0.5, 1, false), 127.99999872, 1e-8);
}

TEST(LutTest, FakeQuantizationFollowsTheFormula) {
  std::mt19937 generator(7);
  for (bool isSigned : {true, false})
    for (size_t entries : {1, 2, 3, 7, 15, 16, 17, 40, 128, 255, 256})
      for (double threshold : {1.0, 0.37, 0x1p-16, 5e20, 1e-9}) {
        std::vector<int64_t> table(256);
        std::iota(table.begin(), table.end(), tableMin(isSigned));
        std::shuffle(table.begin(), table.end(), generator);
        table.resize(entries);
        if (entries == 3) // a repetition, which MCT's tables may have
          table[2] = table[0];
        std::vector<float> values = {0.0f, -0.0f, 1e-44f, -1e-44f, 3e38f};
        for (int half = -258; half <= 514; ++half) {
          float tie = float(half) * 0.5f / (isSigned ? 128.0f : 256.0f) *
                      float(threshold);
          values.push_back(tie);
          values.push_back(std::nextafter(tie, 1e30f));
          values.push_back(std::nextafter(tie, -1e30f));
          values.push_back(tie * 1.00001f);
        }
        for (float value : normalValues(100, 3))
          values.push_back(value * float(threshold));
        int64_t count = values.size();
        std::vector<float> expected(count), actual(count);
        for (int64_t i = 0; i < count; ++i)
          expected[i] = quantizeOne(values[i], table, threshold, isSigned);
        LutQuantizer quantizer(table, threshold, isSigned);
        withEveryInstructionSet([&] {
          quantizer.run({count}, {}, values.data(), actual.data());
          for (int64_t i = 0; i < count; ++i)
            ASSERT_EQ(actual[i], expected[i])
                << "value " << values[i] << ", threshold " << threshold << ", "
                << entries << " entries";
        });
      }
}

// In steps of 1/128 the values are -115.2, -12.8, 6.4, 64 and 256: 64 is 39
// away from 25 and 63 from 127.
TEST(LutTest, TakesTheNearestEntry) {
  const std::vector<float> values = {-.9f, -.1f, .05f, .5f, 2};
  std::vector<float> found(5);
  LutQuantizer({-100, -20, 0, 25, 127}, 1, /*isSigned=*/true)
      .run({5}, {}, values.data(), found.data());
  EXPECT_EQ(found,
            (std::vector<float>{-.78125f, -.15625f, 0, .1953125f, .9921875f}));
}

TEST(LutTest, ChannelsOnAnyAxes) {
  const std::vector<int64_t> shape = {3, 5, 4, 19};
  std::vector<float> values = normalValues(3 * 5 * 4 * 19, 11);
  std::vector<int64_t> longTable(40);
  std::iota(longTable.begin(), longTable.end(), -20);
  for (const std::vector<int64_t> &table :
       {std::vector<int64_t>{-90, -20, 0, 33}, longTable})
    for (const std::vector<int64_t> &axes :
         {std::vector<int64_t>{}, {0}, {1}, {2}, {3}, {0, 1}, {2, 3}, {1, 3}}) {
      std::vector<double> thresholds;
      for (int64_t i = 0; i < channelCount(shape, axes); ++i)
        thresholds.push_back(0.3 + 0.11 * double(i % 17));
      std::vector<float> expected(values.size()), actual(values.size());
      forEachChannelRun(shape, axes,
                        [&](size_t begin, size_t length, int64_t channel,
                            int64_t channelStep) {
                          for (size_t i = 0; i < length; ++i)
                            expected[begin + i] = quantizeOne(
                                values[begin + i], table,
                                thresholds[channel + channelStep * i], true);
                        });
      LutQuantizer quantizer(table, thresholds, true);
      withEveryInstructionSet([&] {
        quantizer.run(shape, axes, values.data(), actual.data());
        EXPECT_EQ(actual, expected);
      });
    }
}

TEST(LutTest, NothingFiniteBecomesNaN) {
  const float kLargest = std::numeric_limits<float>::max();
  std::vector<float> values = {kLargest, -kLargest, 1e-45f, -1e-45f, 0, 1, -1};
  values.resize(40, 3e37f);
  for (double threshold :
       {1e-300, 1e-45, 1e-30, 1.0, double(kLargest), 0x1p128, 0x1p129, 1e300})
    for (size_t entries : {5, 200}) {
      std::vector<int64_t> table(entries);
      std::iota(table.begin(), table.end(), -128);
      std::vector<float> output(values.size());
      LutQuantizer(table, {threshold}, true)
          .run({int64_t(values.size())}, {}, values.data(), output.data());
      for (float value : output)
        EXPECT_TRUE(std::isfinite(value)) << threshold;
    }
  // The threshold that covers the largest float is no float.
  float output = 0;
  LutQuantizer({-128, 0, 127}, 0x1p128, true)
      .run({1}, {}, values.data(), &output);
  EXPECT_EQ(output, 0x1.fcp127f);
  LutQuantizer({-128, 0, 127}, 0x1p128, true)
      .run({1}, {}, values.data() + 1, &output);
  EXPECT_EQ(output, -kLargest);
}

TEST(LutTest, NaNAndInfinities) {
  const float inf = std::numeric_limits<float>::infinity();
  const float values[] = {std::nanf(""), inf, -inf};
  for (size_t entries : {4, 30}) {
    std::vector<int64_t> table(entries);
    std::iota(table.begin(), table.end(), -3);
    for (double threshold : {2.0, 0x1p128}) {
      float output[3];
      LutQuantizer(table, threshold, true).run({3}, {}, values, output);
      double unit = threshold / 128;
      EXPECT_EQ(output[0], float(-3 * unit));
      EXPECT_EQ(output[1], float(double(table.back()) * unit));
      EXPECT_EQ(output[2], float(-3 * unit));
    }
  }
}

//===----------------------------------------------------------------------===//
// Selection
//===----------------------------------------------------------------------===//

SelectionOptions lutOptions(unsigned bits, bool powerOfTwo = false) {
  SelectionOptions options;
  options.bits = bits;
  options.kind = powerOfTwo ? QuantizationMethod::LutPowerOfTwo
                            : QuantizationMethod::LutSymmetric;
  return options;
}

TEST(LutTest, HandComputedTables) {
  // T14 with the factor of the table's width: the covering threshold is 1, and
  // every value but 0.7 and 0.71, whose mean is 90.24 / 128, is an entry. The
  // best integer for 0.7 and 0.71 is 90. 0.25 shares zero.
  LutParameters found = selectLut({-1.0f, -0.5f, 0.25f, 0.7f, 0.71f, 0.0f}, {6},
                                  {}, lutOptions(2, true), 1);
  EXPECT_EQ(found.thresholds, (std::vector<double>{1.0}));
  EXPECT_EQ(found.table, (std::vector<int64_t>{-128, -64, 0, 90}));
  // T15: 3 * 128 / 127 needs a threshold of 4; then the values are 32, 64, 96.
  found = selectLut({1.0f, 2.0f, 3.0f}, {3}, {}, lutOptions(2, true), 1);
  EXPECT_EQ(found.thresholds, (std::vector<double>{4.0}));
  EXPECT_EQ(found.table, (std::vector<int64_t>{0, 32, 64, 96}));
  EXPECT_EQ(found.error, 0.0);
  // T16
  found = selectLut(std::vector<float>(6, 0.0f), {2, 3}, {0},
                    lutOptions(2, true), 1);
  EXPECT_EQ(found.thresholds, (std::vector<double>{0x1p-16, 0x1p-16}));
  EXPECT_EQ(found.table, (std::vector<int64_t>{0}));
  EXPECT_EQ(found.error, 0.0);
  // T17
  found = selectLut({1.0f, 1.0f, 1.0f}, {3}, {}, lutOptions(2), 1);
  EXPECT_EQ(found.thresholds, (std::vector<double>{128.0 / 127}));
  EXPECT_EQ(found.table, (std::vector<int64_t>{0, 127}));
  EXPECT_NEAR(found.error, 0.0, 1e-30);
}

/// The least sum of squared errors of all tables of up to `entries` of the
/// integers lo..hi, by trying each.
double bruteForce(llvm::ArrayRef<double> values, llvm::ArrayRef<double> weights,
                  double threshold, bool isSigned, bool forceZero, int lo,
                  int hi, unsigned entries) {
  double best = std::numeric_limits<double>::infinity();
  std::vector<int64_t> table;
  std::function<void(int)> extend = [&](int from) {
    if (!table.empty() && (!forceZero || llvm::is_contained(table, 0)))
      best = std::min(best, sumOfSquaredErrors(values, weights, table,
                                               threshold, isSigned));
    if (table.size() == entries)
      return;
    for (int next = from; next <= hi; ++next) {
      table.push_back(next);
      extend(next + 1);
      table.pop_back();
    }
  };
  extend(lo);
  return best;
}

TEST(LutTest, TableIsAsGoodAsBruteForce) {
  std::mt19937 generator(5);
  for (int repetition = 0; repetition < 60; ++repetition) {
    bool isSigned = repetition % 2, forceZero = repetition % 3;
    unsigned bits = 1 + repetition % 2;
    // Values over a few integers of the table, with ties and repetitions.
    int lo = isSigned ? -7 : 0, hi = isSigned ? 8 : 15;
    double threshold = repetition % 5 ? 0.8 : 0x1p-14;
    double unit = threshold / (isSigned ? 128 : 256);
    std::uniform_int_distribution<int> quarters(4 * lo, 4 * hi);
    std::uniform_real_distribution<double> anywhere(lo, hi);
    std::vector<Atom> atoms;
    std::vector<double> values, weights;
    for (int i = 0; i < 9; ++i) {
      double value =
          unit * (i % 2 ? quarters(generator) * 0.25 : anywhere(generator));
      double weight = repetition % 4 ? 1.0 + i % 3 : 0.25 * (i + 1);
      values.push_back(value);
      weights.push_back(weight);
      atoms.push_back({value, weight});
    }
    SelectionOptions options = lutOptions(bits);
    options.isSigned = isSigned;
    LutParameters found =
        bestLutTableForAtoms(atoms, threshold, options, forceZero);
    double total = std::accumulate(weights.begin(), weights.end(), 0.0);
    double expected = bruteForce(values, weights, threshold, isSigned,
                                 forceZero, lo, hi, 1u << bits);
    EXPECT_NEAR(found.error * total, expected, 1e-12 * expected);
    EXPECT_NEAR(
        sumOfSquaredErrors(values, weights, found.table, threshold, isSigned),
        expected, 1e-12 * expected);
    EXPECT_TRUE(llvm::is_sorted(found.table));
    EXPECT_LE(found.table.size(), size_t(1) << bits);
    if (forceZero) {
      EXPECT_TRUE(llvm::is_contained(found.table, 0));
    }
  }
}

TEST(LutTest, TableOfChannelsIsAsGoodAsBruteForce) {
  // Two channels of different thresholds: a squared error of the second weighs
  // 16 times as much in units of the table.
  std::mt19937 generator(6);
  for (int repetition = 0; repetition < 20; ++repetition) {
    std::uniform_real_distribution<float> anywhere(-6, 6);
    std::vector<float> values(12);
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = anywhere(generator) / 128 * (i < 6 ? 1.0f : 4.0f);
    std::vector<double> thresholds = {1.0, 4.0};
    LutParameters found =
        bestLutTable(values, {2, 6}, {0}, thresholds, lutOptions(2));
    double best = std::numeric_limits<double>::infinity();
    for (int a = -7; a <= 7; ++a)
      for (int b = a + 1; b <= 7; ++b)
        for (int c = b + 1; c <= 7; ++c)
          if (a != 0 && b != 0 && c != 0)
            best = std::min(best, meanSquaredError(values, {2, 6}, {0},
                                                   {a, b, c, 0}, thresholds));
    EXPECT_NEAR(found.error, best, 1e-12 * best);
  }
}

TEST(LutTest, SearchIsNeverWorseThanItsStart) {
  std::mt19937 generator(8);
  for (int repetition = 0; repetition < 40; ++repetition) {
    bool powerOfTwo = repetition % 2;
    int64_t channels = 1 + repetition % 7, length = 5 + 13 * (repetition % 5);
    std::vector<float> values = normalValues(channels * length, repetition);
    for (int64_t i = 0; i < channels; ++i)
      for (int64_t j = 0; j < length; ++j)
        values[i * length + j] *= std::exp2(float(i));
    SelectionOptions options = lutOptions(2 + repetition % 3, powerOfTwo);
    LutParameters found =
        selectLut(values, {channels, length}, {0}, options, 1);
    std::vector<double> covering;
    for (int64_t i = 0; i < channels; ++i) {
      auto [least, most] = std::minmax_element(
          values.begin() + i * length, values.begin() + (i + 1) * length);
      double threshold = std::max(-double(*least), *most * 128.0 / 127);
      covering.push_back(powerOfTwo ? std::exp2(std::ceil(std::log2(threshold)))
                                    : threshold);
    }
    LutParameters start =
        bestLutTable(values, {channels, length}, {0}, covering, options);
    EXPECT_LE(found.error, start.error);
    EXPECT_NEAR(found.error,
                meanSquaredError(values, {channels, length}, {0}, found.table,
                                 found.thresholds),
                1e-12 * found.error);
    for (double threshold : found.thresholds) {
      int exponent;
      EXPECT_TRUE(!powerOfTwo || std::frexp(threshold, &exponent) == 0.5);
    }
  }
}

TEST(LutTest, ThreadsAndOrderChangeNothing) {
  const std::vector<int64_t> shape = {70, 3, 3, 17};
  std::vector<float> values = normalValues(70 * 9 * 17, 9);
  for (bool powerOfTwo : {false, true})
    for (const std::vector<int64_t> &axes :
         {std::vector<int64_t>{}, {0}, {3}, {0, 3}}) {
      SelectionOptions options = lutOptions(4, powerOfTwo);
      LutParameters one = selectLut(values, shape, axes, options, 1);
      for (unsigned threads : {2, 5}) {
        LutParameters many = selectLut(values, shape, axes, options, threads);
        EXPECT_EQ(one.thresholds, many.thresholds);
        EXPECT_EQ(one.table, many.table);
        EXPECT_EQ(one.error, many.error);
      }
    }
  // The elements of a channel in another order.
  std::vector<float> shuffled = values;
  std::shuffle(shuffled.begin(), shuffled.end(), std::mt19937(1));
  LutParameters one = selectLut(values, shape, {}, lutOptions(4), 1);
  LutParameters other = selectLut(shuffled, shape, {}, lutOptions(4), 1);
  EXPECT_EQ(one.thresholds, other.thresholds);
  EXPECT_EQ(one.table, other.table);
}

TEST(LutTest, DegenerateTensors) {
  const float kLargest = std::numeric_limits<float>::max();
  const std::vector<std::vector<float>> tensors = {
      {0.0f},
      {1.0f},
      {-3.0f},
      {1e30f, -1e30f, 5e29f},
      {kLargest, -kLargest},
      {1e-45f, 0},
      {std::nanf(""), 1.0f, std::numeric_limits<float>::infinity()},
      {std::nanf("")}};
  for (const std::vector<float> &tensor : tensors)
    for (bool powerOfTwo : {false, true})
      for (unsigned bits : {1, 2, 4, 7}) {
        SelectionOptions options = lutOptions(bits, powerOfTwo);
        int64_t count = tensor.size();
        for (const std::vector<int64_t> &axes :
             {std::vector<int64_t>{}, std::vector<int64_t>{0}}) {
          LutParameters found = selectLut(tensor, {count}, axes, options, 2);
          ASSERT_EQ(found.thresholds.size(), axes.empty() ? 1u : size_t(count));
          for (double threshold : found.thresholds) {
            EXPECT_TRUE(std::isfinite(threshold));
            EXPECT_GE(threshold, 0x1p-16);
          }
          EXPECT_TRUE(std::isfinite(found.error));
          EXPECT_TRUE(llvm::is_contained(found.table, 0));
          std::vector<float> output(count);
          LutQuantizer(found.table, found.thresholds, true)
              .run({count}, axes, tensor.data(), output.data());
          for (size_t i = 0; i < output.size(); ++i)
            EXPECT_TRUE(!std::isfinite(tensor[i]) || std::isfinite(output[i]));
        }
      }
  // A smallest threshold that is no power of two.
  SelectionOptions options = lutOptions(2, true);
  options.minThreshold = 0.3;
  EXPECT_EQ(selectLut({1e-3f}, {1}, {}, options, 1).thresholds.front(), 0.5);
  // No channel at all.
  EXPECT_TRUE(selectLut({}, {0, 3}, {0}, lutOptions(2), 1).thresholds.empty());
}

TEST(LutTest, Activations) {
  // 1, 2 and 3 are entries at threshold 4, unsigned: 64, 128, 192. Zero is an
  // entry only if it is forced, in place of the value with the least weight.
  std::vector<Atom> atoms = {{1, 10}, {2, 20}, {3, 1}, {2.5, 5}};
  SelectionOptions options = lutOptions(2, true);
  options.isSigned = false;
  LutParameters found = selectLutForAtoms(atoms, options);
  EXPECT_EQ(found.thresholds, (std::vector<double>{4.0}));
  EXPECT_EQ(found.table, (std::vector<int64_t>{64, 128, 160, 192}));
  EXPECT_EQ(found.error, 0.0);
  found = selectLutForAtoms(atoms, options, /*forceZero=*/true);
  EXPECT_TRUE(llvm::is_contained(found.table, 0));
  // 2.5 and 3 share 165 or 166, whose mean 2.5833 is 165.33 / 64.
  EXPECT_EQ(found.table, (std::vector<int64_t>{0, 64, 128, 165}));
}

TEST(LutTest, OutliersAreNotCovered) {
  // Mean 1.74, deviation 3.4: only 50 is further than five deviations.
  std::vector<Atom> atoms = {{1, 100}, {2, 100}, {50, 1}};
  SelectionOptions options = lutOptions(1, true);
  options.isSigned = false;
  EXPECT_EQ(selectLutForAtoms(atoms, options).thresholds.front(), 64.0);
  options.zThreshold = 5;
  LutParameters found = selectLutForAtoms(atoms, options);
  // 2 is no entry at threshold 2, whose largest is 255/128.
  EXPECT_EQ(found.thresholds.front(), 4.0);
  EXPECT_EQ(found.table, (std::vector<int64_t>{64, 128}));
  EXPECT_EQ(found.error, 0.0);
}

TEST(LutTest, Histograms) {
  std::vector<float> values = normalValues(5000, 4);
  Histogram histogram;
  HistogramScratch scratch;
  histogram.observe(values.data(), values.size(), scratch);
  SelectionOptions options = lutOptions(3, true);
  LutParameters found =
      llvm::cantFail(selectLutForHistogram(histogram, options));
  // Bins are so narrow that the values themselves have nearly the same optimum.
  std::vector<Atom> atoms;
  std::vector<double> wide(values.begin(), values.end());
  for (double value : wide)
    atoms.push_back({value, 1});
  LutParameters exact = selectLutForAtoms(atoms, options);
  EXPECT_EQ(found.thresholds, exact.thresholds);
  double error = sumOfSquaredErrors(wide, {}, found.table,
                                    found.thresholds.front(), true) /
                 double(wide.size());
  EXPECT_GE(error, exact.error * (1 - 1e-12));
  EXPECT_LE(error, exact.error * 1.001);

  const float nan = std::nanf("");
  Histogram empty;
  empty.observe(&nan, 1, scratch);
  llvm::Expected<LutParameters> none = selectLutForHistogram(empty, options);
  ASSERT_FALSE(bool(none));
  EXPECT_EQ(llvm::toString(none.takeError()),
            "no finite value was observed (1 values that are not finite)");
}

//===----------------------------------------------------------------------===//
// Recorded runs of MCT 2.6.1
//===----------------------------------------------------------------------===//

json::Value readGolden(llvm::StringRef name) {
  auto buffer = llvm::MemoryBuffer::getFile(mct::testing::getGoldenPath(name));
  if (!buffer)
    return nullptr;
  auto parsed = json::parse((*buffer)->getBuffer());
  if (parsed)
    return std::move(*parsed);
  ADD_FAILURE() << name.str() << ": " << llvm::toString(parsed.takeError());
  return nullptr;
}

#define MCT_REQUIRE_GOLDEN(golden)                                             \
  if (!(golden).getAsObject())                                                 \
  GTEST_SKIP() << "no golden vectors; set MCT_GOLDEN_DIR"

std::vector<double> numbers(const json::Value *value) {
  std::vector<double> result;
  if (const json::Array *array = value->getAsArray())
    for (const json::Value &element : *array)
      result.push_back(*element.getAsNumber());
  else
    result.push_back(*value->getAsNumber());
  return result;
}
std::vector<float> floats(const json::Value *value) {
  std::vector<double> wide = numbers(value);
  return {wide.begin(), wide.end()};
}
std::vector<int64_t> integers(const json::Value *value) {
  std::vector<double> wide = numbers(value);
  return {wide.begin(), wide.end()};
}

bool isLut(const json::Object &object) {
  return object.getString("method")->starts_with("LUT");
}

std::vector<int64_t> axesOf(const json::Object &object) {
  if (!object.getBoolean("per_channel").value_or(false))
    return {};
  return {*object.getInteger("channel_axis")};
}

TEST(LutGoldenTest, FakeQuantizationIsBitExact) {
  int checked = 0;
  for (llvm::StringRef file :
       {"fakequant_weights.json", "fakequant_activations.json"}) {
    json::Value golden = readGolden(file);
    MCT_REQUIRE_GOLDEN(golden);
    for (const json::Value &value : *golden.getAsObject()->getArray("cases")) {
      const json::Object &object = *value.getAsObject();
      if (!isLut(object))
        continue;
      ++checked;
      std::vector<float> input = floats(object.get("input"));
      std::vector<float> expected = floats(object.get("output"));
      LutQuantizer quantizer(integers(object.get("lut_values")),
                             numbers(object.get("threshold")),
                             object.getBoolean("signed").value_or(true));
      withEveryInstructionSet([&] {
        std::vector<float> actual(input.size());
        quantizer.run(integers(object.get("shape")), axesOf(object),
                      input.data(), actual.data());
        EXPECT_EQ(actual, expected) << object.getString("id")->str();
      });
    }
  }
  EXPECT_GT(checked, 0);
}

TEST(LutGoldenTest, Weights) {
  json::Value golden = readGolden("weight_params.json");
  MCT_REQUIRE_GOLDEN(golden);
  const json::Object &root = *golden.getAsObject();
  std::map<std::string, const json::Object *> tensors;
  for (const json::Value &tensor : *root.getArray("tensors"))
    tensors[tensor.getAsObject()->getString("id")->str()] =
        tensor.getAsObject();
  int checked = 0, compared = 0;
  double sumOfLogs = 0;
  for (const json::Value &value : *root.getArray("cases")) {
    const json::Object &object = *value.getAsObject();
    if (!isLut(object))
      continue;
    SCOPED_TRACE(object.getString("id")->str());
    ++checked;
    const json::Object &tensor = *tensors[object.getString("tensor")->str()];
    std::vector<float> values = floats(tensor.get("data"));
    std::vector<int64_t> shape = integers(tensor.get("shape"));
    std::vector<int64_t> axes = axesOf(object);
    SelectionOptions options = lutOptions(
        *object.getInteger("n_bits"), *object.getString("method") == "LUT_POT");
    options.minThreshold = *object.getNumber("min_threshold");
    double meanSquare = 0;
    for (float element : values)
      meanSquare += double(element) * element / double(values.size());
    double slack = 1e-12 * meanSquare;
    const json::Object &mct = *object.getObject("mct");
    double mctError = *mct.getNumber("mse");
    std::vector<double> mctThresholds = numbers(mct.get("threshold"));

    // The recorded error is what our own evaluation gives.
    EXPECT_NEAR(meanSquaredError(values, shape, axes,
                                 integers(mct.get("lut_values")),
                                 mctThresholds),
                mctError, 1e-6 * mctError + slack);

    LutParameters atMct =
        bestLutTable(values, shape, axes, mctThresholds, options);
    EXPECT_LE(atMct.error, mctError * (1 + 1e-6) + slack);
    EXPECT_LE(atMct.error,
              *object.getObject("exact_lut_optimum_at_mct_threshold")
                          ->getNumber("mse") *
                      (1 + 1e-6) +
                  slack);

    LutParameters found = selectLut(values, shape, axes, options, 1);
    double error =
        meanSquaredError(values, shape, axes, found.table, found.thresholds);
    EXPECT_LE(error, mctError * (1 + 1e-6) + slack);
    EXPECT_LE(error, atMct.error * (1 + 1e-6) + slack);
    EXPECT_NEAR(error, found.error, 1e-9 * error + slack);
    EXPECT_TRUE(llvm::is_contained(found.table, 0));
    EXPECT_LE(found.table.size(), size_t(1) << options.bits);
    EXPECT_TRUE(llvm::is_sorted(found.table));
    if (mctError > slack && error > slack) {
      sumOfLogs += std::log(error / mctError);
      ++compared;
    }
  }
  EXPECT_GT(checked, 0);
  std::printf(
      "  checked %d weight cases, error %.4f of MCT's (geometric mean)\n",
      checked, std::exp(sumOfLogs / compared));
}

TEST(LutGoldenTest, Activations) {
  json::Value golden = readGolden("activation_params.json");
  MCT_REQUIRE_GOLDEN(golden);
  const json::Object &root = *golden.getAsObject();
  std::map<std::string, const json::Object *> histograms;
  for (const json::Value &histogram : *root.getArray("histograms"))
    histograms[histogram.getAsObject()->getString("id")->str()] =
        histogram.getAsObject();
  int checked = 0, compared = 0;
  double sumOfLogs = 0;
  for (const json::Value &value : *root.getArray("cases")) {
    const json::Object &object = *value.getAsObject();
    if (!isLut(object))
      continue;
    SCOPED_TRACE(object.getString("id")->str());
    ++checked;
    const json::Object &histogram =
        *histograms[object.getString("histogram")->str()];
    std::vector<double> counts = numbers(histogram.get("counts"));
    for (int64_t bin : integers(object.get("removed_bins")))
      counts[bin] = 0;
    double lo = *histogram.getNumber("edge_lo");
    double hi = *histogram.getNumber("edge_hi");
    std::vector<Atom> atoms;
    std::vector<double> values, weights;
    double energy = 0, total = 0;
    for (size_t i = 0; i < counts.size(); ++i) {
      if (counts[i] == 0)
        continue;
      double edge = lo + double(i) * ((hi - lo) / double(counts.size()));
      values.push_back(edge);
      weights.push_back(counts[i]);
      atoms.push_back({edge, counts[i]});
      energy += counts[i] * edge * edge;
      total += counts[i];
    }
    double slack = 1e-12 * energy / total;
    const json::Object &mct = *object.getObject("mct");
    SelectionOptions options = lutOptions(*object.getInteger("n_bits"), true);
    options.minThreshold = *object.getNumber("min_threshold");
    options.isSigned = *mct.getBoolean("is_signed");
    double threshold = *mct.getNumber("threshold");
    double mctError = *mct.getNumber("mse_histogram");
    EXPECT_NEAR(sumOfSquaredErrors(values, weights,
                                   integers(mct.get("lut_values")), threshold,
                                   options.isSigned) /
                    total,
                mctError, 1e-6 * mctError + slack);
    LutParameters atMct = bestLutTableForAtoms(atoms, threshold, options);
    double error = sumOfSquaredErrors(values, weights, atMct.table, threshold,
                                      options.isSigned) /
                   total;
    EXPECT_LE(error, mctError * (1 + 1e-6) + slack);
    EXPECT_NEAR(error, atMct.error, 1e-9 * error + slack);
    LutParameters found = selectLutForAtoms(atoms, options);
    EXPECT_LE(found.error, atMct.error * (1 + 1e-6) + slack);
    if (mctError > slack && found.error > slack) {
      sumOfLogs += std::log(found.error / mctError);
      ++compared;
    }
  }
  EXPECT_GT(checked, 0);
  std::printf(
      "  checked %d activation cases, error %.4f of MCT's (geometric mean)\n",
      checked, std::exp(sumOfLogs / compared));
}

} // namespace
