// SPDX-License-Identifier: Apache-2.0
#include "mct/Quantization/Confidence.h"
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

using namespace mct::quantization;

// Tables of Clopper and Pearson's limits: for none of n the upper one is
// 1 - 0.025^(1/n); those of 5 of 10 are in every book.
TEST(Confidence, SharesHaveExactLimits) {
  Interval none = findShareInterval(0, 20);
  EXPECT_EQ(none.low, 0);
  EXPECT_NEAR(none.high, 1 - std::pow(0.025, 1.0 / 20), 1e-12);
  Interval all = findShareInterval(7, 7);
  EXPECT_NEAR(all.low, std::pow(0.025, 1.0 / 7), 1e-12);
  EXPECT_EQ(all.high, 1);
  Interval half = findShareInterval(5, 10);
  EXPECT_NEAR(half.low, 0.187086, 1e-6);
  EXPECT_NEAR(half.high, 0.812914, 1e-6);
}

/// Returns binomial coefficients by Pascal's triangle.
static std::vector<std::vector<double>> makeTriangle(int size) {
  std::vector<std::vector<double>> rows(size + 1);
  for (int n = 0; n <= size; ++n) {
    rows[n].assign(n + 1, 1);
    for (int k = 1; k < n; ++k)
      rows[n][k] = rows[n - 1][k - 1] + rows[n - 1][k];
  }
  return rows;
}

// The sums over all outcomes say what the limits mean.
TEST(Confidence, LimitsOfSharesLeaveTheTails) {
  constexpr int kSamples = 30;
  auto choose = makeTriangle(kSamples);
  for (int having = 1; having < kSamples; ++having) {
    Interval found = findShareInterval(having, kSamples);
    double above = 0, below = 0;
    for (int k = 0; k <= kSamples; ++k) {
      auto probability = [&](double rate) {
        return choose[kSamples][k] * std::pow(rate, k) *
               std::pow(1 - rate, kSamples - k);
      };
      above += k >= having ? probability(found.low) : 0;
      below += k <= having ? probability(found.high) : 0;
    }
    EXPECT_NEAR(above, 0.025, 1e-9) << having;
    EXPECT_NEAR(below, 0.025, 1e-9) << having;
  }
}

// The outcomes of two networks on 14 samples whose interval holds the true
// difference have at least 95 % together, and on each side no more than 2.5 %
// miss it, however often the networks differ.
TEST(Confidence, PairedIntervalsHoldTheDifference) {
  constexpr int kSamples = 14;
  auto choose = makeTriangle(kSamples);
  std::vector<std::vector<Interval>> found(kSamples + 1);
  for (int first = 0; first <= kSamples; ++first)
    for (int second = 0; first + second <= kSamples; ++second)
      found[first].push_back(findPairedInterval(first, second, kSamples));
  for (double a : {0.0, 0.01, 0.03, 0.08, 0.2, 0.45, 0.7})
    for (double b : {0.0, 0.02, 0.05, 0.11, 0.25, 0.29}) {
      double above = 0, below = 0;
      for (int first = 0; first <= kSamples; ++first)
        for (int second = 0; first + second <= kSamples; ++second) {
          double probability = choose[kSamples][first] *
                               choose[kSamples - first][second] *
                               std::pow(a, first) * std::pow(b, second) *
                               std::pow(1 - a - b, kSamples - first - second);
          above += found[first][second].high < a - b ? probability : 0;
          below += found[first][second].low > a - b ? probability : 0;
        }
      EXPECT_LE(above, 0.025) << a << ' ' << b;
      EXPECT_LE(below, 0.025) << a << ' ' << b;
    }
}

// The same for a limit on one side, by which a loss is promised.
TEST(Confidence, PairedUpperBoundsAreSeldomExceeded) {
  constexpr int kSamples = 14;
  auto choose = makeTriangle(kSamples);
  std::vector<std::vector<double>> found(kSamples + 1);
  for (int first = 0; first <= kSamples; ++first)
    for (int second = 0; first + second <= kSamples; ++second)
      found[first].push_back(findPairedUpperBound(first, second, kSamples));
  double worst = 0;
  for (double a : {0.0, 0.01, 0.03, 0.08, 0.2, 0.45, 0.7})
    for (double b : {0.0, 0.02, 0.05, 0.11, 0.25, 0.29}) {
      double exceeded = 0;
      for (int first = 0; first <= kSamples; ++first)
        for (int second = 0; first + second <= kSamples; ++second)
          exceeded += found[first][second] < a - b
                          ? choose[kSamples][first] *
                                choose[kSamples - first][second] *
                                std::pow(a, first) * std::pow(b, second) *
                                std::pow(1 - a - b, kSamples - first - second)
                          : 0;
      EXPECT_LE(exceeded, 0.05) << a << ' ' << b;
      worst = std::max(worst, exceeded);
    }
  // One side may have more errors than each of two sides together may.
  EXPECT_GT(worst, 0.01);
  EXPECT_LT(findPairedUpperBound(20, 16, 1000),
            findPairedUpperBound(20, 16, 1000, 0.975));
  EXPECT_LT(findPairedUpperBound(20, 16, 1000, 0.975),
            findPairedInterval(20, 16, 1000).high);
  // Many samples leave the normal limit, 1.645 standard errors away.
  EXPECT_NEAR(findPairedUpperBound(140, 120, 10000), 0.002 + 0.00265, 0.0001);
}

// The same with numbers of samples and rates that occur. Outcomes whose limit
// is below a difference are those of the lowest scores, so that only the first
// limit of each number of differing samples has to be found.
TEST(Confidence, PairedUpperBoundsOfManySamplesAreSeldomExceeded) {
  constexpr int kSamples = 200;
  constexpr double kFirst = 0.02, kSecond = 0.01;
  double exceeded = 0;
  for (int differing = 0; differing <= 16; ++differing) {
    int low = -1, high = differing + 1;
    while (high - low > 1) {
      int middle = (low + high) / 2;
      (findPairedUpperBound(middle, differing - middle, kSamples) <
               kFirst - kSecond
           ? low
           : high) = middle;
    }
    for (int first = 0; first <= low; ++first) {
      int second = differing - first, rest = kSamples - differing;
      exceeded +=
          std::exp(std::lgamma(kSamples + 1.0) - std::lgamma(first + 1.0) -
                   std::lgamma(second + 1.0) - std::lgamma(rest + 1.0) +
                   first * std::log(kFirst) + second * std::log(kSecond) +
                   rest * std::log(1 - kFirst - kSecond));
    }
  }
  EXPECT_LE(exceeded, 0.05);
  EXPECT_GT(exceeded, 0.01);
}

// The limit is reached by this number of samples of the same kind, but not by
// 10 % fewer.
TEST(Confidence, SamplesNeededReachTheLimit) {
  struct Case {
    int64_t first, second, samples;
    double limit;
  };
  for (const Case &each : {Case{30, 20, 1000, 0.02}, Case{0, 0, 36, 0.005}}) {
    auto needed = findPairedSamplesNeeded(each.first, each.second, each.samples,
                                          each.limit);
    ASSERT_TRUE(needed);
    auto boundOf = [&](double count) {
      double times = count / double(each.samples);
      return findPairedUpperBound(std::llround(double(each.first) * times),
                                  std::llround(double(each.second) * times),
                                  std::llround(count));
    };
    EXPECT_LE(boundOf(double(*needed)), each.limit * 1.02) << each.first;
    EXPECT_GT(boundOf(double(*needed) * 0.9), each.limit * 0.98) << each.first;
  }
  // No number of samples shows what is not so.
  EXPECT_FALSE(findPairedSamplesNeeded(30, 20, 1000, 0.01));
  EXPECT_FALSE(findPairedSamplesNeeded(30, 20, 1000, 0.0101));
}

TEST(Confidence, PairedIntervalsTurnRoundWithTheNetworks) {
  Interval one = findPairedInterval(20, 16, 1000),
           other = findPairedInterval(16, 20, 1000);
  EXPECT_EQ(one.low, -other.high);
  EXPECT_EQ(one.high, -other.low);
  // The normal approximation has 0.004 +- 0.0118; the exact test may not be
  // narrower, and is wide by the rates that it cannot rule out.
  EXPECT_LT(one.low, 0.004 - 0.0118);
  EXPECT_GT(one.low, 0.004 - 1.5 * 0.0118);
  EXPECT_GT(one.high, 0.004 + 0.0118);
  EXPECT_LT(one.high, 0.004 + 1.5 * 0.0118);
  // Networks that never differ may do so on other samples.
  Interval same = findPairedInterval(0, 0, 1000);
  EXPECT_GT(same.high, 0.003);
  EXPECT_LT(same.high, 0.01);
}

// The mean of 400 numbers has a standard error that is known.
TEST(Confidence, BootstrapFindsTheStandardErrorOfAMean) {
  constexpr int kSamples = 400;
  std::vector<double> values;
  double mean = 0, square = 0;
  for (int index = 0; index != kSamples; ++index)
    values.push_back(std::sin(7.0 * index) + index % 3);
  for (double value : values)
    mean += value / kSamples;
  for (double value : values)
    square += (value - mean) * (value - mean);
  double error = std::sqrt(square / (kSamples - 1) / kSamples);
  auto statistic = [&](llvm::ArrayRef<uint32_t> counts) {
    double sum = 0;
    for (int index = 0; index != kSamples; ++index)
      sum += counts[index] * values[index];
    return sum / kSamples;
  };
  std::optional<Interval> found = bootstrap(kSamples, statistic);
  ASSERT_TRUE(found);
  // 2000 draws estimate a quantile at 2.5 % within 10 % of the error or so.
  EXPECT_NEAR(found->low, mean - 1.96 * error, 0.15 * error);
  EXPECT_NEAR(found->high, mean + 1.96 * error, 0.15 * error);
  // The normal quantile of 95 % on one side is 1.645.
  EXPECT_NEAR(*bootstrapUpperBound(kSamples, statistic), mean + 1.645 * error,
              0.1 * error);
  EXPECT_FALSE(bootstrapUpperBound(kLeastBootstrapSamples - 1, statistic));
  std::optional<Interval> again = bootstrap(kSamples, statistic);
  EXPECT_EQ(found->low, again->low);
  EXPECT_EQ(found->high, again->high);
}

TEST(Confidence, BootstrapRefusesTooFewSamplesAndNoNumbers) {
  auto one = [](llvm::ArrayRef<uint32_t>) { return 1.0; };
  EXPECT_FALSE(bootstrap(kLeastBootstrapSamples - 1, one));
  EXPECT_TRUE(bootstrap(kLeastBootstrapSamples, one));
  EXPECT_FALSE(
      bootstrap(100, [](llvm::ArrayRef<uint32_t>) { return std::nan(""); }));
}
