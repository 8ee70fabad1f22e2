// SPDX-License-Identifier: Apache-2.0
#include "mct/Quantization/Rescale.h"
#include "gtest/gtest.h"
#include <cmath>
#include <limits>
#include <random>

using namespace mct::quantization;

TEST(RescaleTest, PowersOfTwoAreShifts) {
  for (int k = -28; k <= 32; ++k) {
    std::optional<Rescale> rescale = Rescale::get(std::ldexp(1.0, -k));
    ASSERT_TRUE(rescale) << k;
    EXPECT_EQ(rescale->multiplier, 1 << 30);
    EXPECT_EQ(rescale->shift, 30 + k);
  }
  // Smaller ones have the largest shift, and less of the multiplier.
  EXPECT_EQ(Rescale::get(std::ldexp(1.0, -40)), (Rescale{1 << 22, 62}));
  EXPECT_EQ(Rescale::get(std::ldexp(1.0, -70)), (Rescale{0, 62}));
}

TEST(RescaleTest, OnlyFactorsThatTosaHas) {
  double infinity = std::numeric_limits<double>::infinity();
  for (double factor : {0.0, -1.0, infinity, -infinity, std::nan(""), 0x1p29,
                        0x1.fffffffffffffp28})
    EXPECT_FALSE(Rescale::get(factor)) << factor;
  EXPECT_TRUE(Rescale::get(0x1.ffffffp28));
  for (double factor : {0.0, -1.0, infinity, std::nan(""), 0x1p13})
    EXPECT_FALSE(ShortRescale::get(factor)) << factor;
}

TEST(RescaleTest, RoundsTheProductHalfUp) {
  std::mt19937_64 random(5);
  for (int i = 0; i != 100000; ++i) {
    double factor = std::ldexp(1 + double(random() >> 11) * 0x1p-53,
                               int(random() % 40) - 30);
    std::optional<Rescale> rescale = Rescale::get(factor);
    ASSERT_TRUE(rescale);
    EXPECT_GE(rescale->multiplier, 1 << 30);
    int64_t limit = std::min(rescale->getLimit(), int64_t(1) << 31);
    int64_t value = int64_t(random() % uint64_t(2 * limit)) - limit;
    // The multiplier that there is, times the value, is exact in 80 bits.
    long double product = (long double)value * rescale->multiplier;
    auto expected =
        int64_t(std::floor(std::ldexp(product, -rescale->shift) + 0.5L));
    EXPECT_EQ(rescale->apply(value), expected);
    // The multiplier and the shift are the factor up to half a unit of its 31
    // bits.
    EXPECT_LE(
        std::abs(std::ldexp(double(rescale->multiplier), -rescale->shift) -
                 factor),
        factor * 0x1p-31);
    std::optional<ShortRescale> shorter = ShortRescale::get(factor);
    if (!shorter)
      continue;
    EXPECT_GE(shorter->multiplier, 1 << 14);
    EXPECT_LE(
        std::abs(std::ldexp(double(shorter->multiplier), -shorter->shift) -
                 factor),
        factor * 0x1p-15);
  }
}

TEST(RescaleTest, MeansOfNaturalNumbersAreExactWithFactorsRoundedUp) {
  for (int64_t count = 1; count != 400; ++count)
    for (int k = -4; k != 9; ++k) {
      Rescale rescale =
          *Rescale::get(std::ldexp(1 / double(count), -k), FactorRounding::Up);
      for (int64_t sum = 0; sum < 256 * count; sum += 1 + count / 20) {
        // floor(sum / (count * 2^k) + 1/2), by integers.
        int64_t scaled = k < 0 ? sum << -k : sum;
        int64_t divisor = k < 0 ? count : count << k;
        ASSERT_EQ(rescale.apply(sum), (2 * scaled + divisor) / (2 * divisor))
            << sum << " / " << count << " * 2^" << -k;
      }
    }
  // The nearest factor does not do that.
  EXPECT_NE(Rescale::get(1.0 / 11)->multiplier,
            Rescale::get(1.0 / 11, FactorRounding::Up)->multiplier);
  EXPECT_EQ(Rescale::get(0.25, FactorRounding::Up), Rescale::get(0.25));
}

TEST(RescaleTest, HalvesOfPowersOfTwo) {
  Rescale half = *Rescale::get(0.5);
  EXPECT_EQ(half.apply(3), 2);
  EXPECT_EQ(half.apply(1), 1);
  EXPECT_EQ(half.apply(-1), 0);
  EXPECT_EQ(half.apply(-3), -1);
}
