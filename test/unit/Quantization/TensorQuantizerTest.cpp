// SPDX-License-Identifier: Apache-2.0
#include "mct/Quantizers/TensorQuantizer.h"

#include "gtest/gtest.h"

#include <cmath>
#include <limits>
#include <random>

using namespace mct::quantization;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::vector<float> run(const TensorQuantizer &quantizer,
                       std::vector<float> values) {
  quantizer.run({int64_t(values.size())}, {}, values.data(), values.data());
  return values;
}

TEST(LevelQuantizer, TakesTheNearestLevel) {
  std::mt19937 random(3);
  std::normal_distribution<float> normal(0, 1);
  for (int trial = 0; trial != 50; ++trial) {
    std::vector<float> levels(1 + random() % 20);
    for (float &level : levels)
      level = std::ldexp(normal(random), int(random() % 9) - 4);
    std::sort(levels.begin(), levels.end());
    LevelQuantizer quantizer(levels, Rounding::HalfUp);
    std::vector<float> values = {-kInfinity, kInfinity, 0};
    for (int i = 0; i != 200; ++i)
      values.push_back(4 * normal(random));
    std::vector<float> results = run(quantizer, values);
    for (size_t i = 0; i != values.size(); ++i) {
      float best = levels.front();
      for (float level : levels)
        if (std::abs(double(values[i]) - level) <=
            std::abs(double(values[i]) - best))
          best = level;
      if (std::isinf(values[i]))
        best = values[i] > 0 ? levels.back() : levels.front();
      EXPECT_EQ(results[i], best) << values[i];
    }
  }
}

TEST(LevelQuantizer, TiesAreCountedFromZero) {
  // Halves between -1, 0, 1, 4, 8; zero is the second level.
  std::vector<float> levels = {-1, 0, 1, 4, 8}, ties = {-0.5f, 0.5f, 2.5f, 6};
  EXPECT_EQ(run(LevelQuantizer(levels, Rounding::HalfUp), ties),
            (std::vector<float>{0, 1, 4, 8}));
  EXPECT_EQ(run(LevelQuantizer(levels, Rounding::HalfToEven), ties),
            (std::vector<float>{0, 0, 4, 4}));
  // Without a zero from the lowest level.
  EXPECT_EQ(
      run(LevelQuantizer(std::vector<float>{1, 2, 3}, Rounding::HalfToEven),
          {1.5f, 2.5f}),
      (std::vector<float>{1, 3}));
}

TEST(LevelQuantizer, IsTheAffineQuantizerOnItsLevels) {
  for (Rounding rounding : {Rounding::HalfToEven, Rounding::HalfUp}) {
    Grid grid = uniformGrid(0.25, 3, 3);
    grid.rounding = rounding;
    std::vector<float> levels, values = {NAN, -kInfinity, kInfinity};
    for (int64_t q = grid.qmin; q <= grid.qmax; ++q)
      levels.push_back(float(grid.step * double(q - grid.zeroPoint)));
    // Every tie, and what lies beside it.
    for (int i = -40; i <= 40; ++i) {
      float value = float(i) * 0.125f;
      for (float near :
           {value, std::nextafter(value, -9.0f), std::nextafter(value, 9.0f)})
        values.push_back(near);
    }
    EXPECT_EQ(run(LevelQuantizer(levels, rounding), values),
              run(AffineQuantizer(grid), values));
  }
}

TEST(LevelQuantizer, ChannelsHaveLevelsOfTheirOwn) {
  LevelQuantizer quantizer({{-1, 1}, {0, 2, 4}}, Rounding::HalfUp);
  std::vector<float> values = {0.25f, 0.5f, -3, 2.5f, 7, 3}, result(6);
  // Channels along the last axis, then along the first.
  quantizer.run({3, 2}, {1}, values.data(), result.data());
  EXPECT_EQ(result, (std::vector<float>{1, 0, -1, 2, 1, 4}));
  quantizer.run({2, 3}, {0}, values.data(), result.data());
  EXPECT_EQ(result, (std::vector<float>{1, 1, -1, 2, 4, 4}));
}

} // namespace
