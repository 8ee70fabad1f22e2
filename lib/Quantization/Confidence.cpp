// SPDX-License-Identifier: Apache-2.0
#include "mct/Quantization/Confidence.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

using namespace mct::quantization;
using llvm::ArrayRef;

/// Returns the regularized incomplete beta function by its continued fraction
/// (the modified method of Lentz), for x below (a + 1) / (a + b + 2).
static double betaFraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  auto away = [](double value) {
    return std::abs(value) < kTiny ? kTiny : value;
  };
  double c = 1, d = 1 / away(1 - (a + b) * x / (a + 1)), value = d;
  for (int m = 1; m <= 100000; ++m) {
    double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away(1 + even * d);
    c = away(1 + even / c);
    value *= c * d;
    double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away(1 + odd * d);
    c = away(1 + odd / c);
    value *= c * d;
    if (std::abs(c * d - 1) < 1e-15)
      break;
  }
  double scale = std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                 a * std::log(x) + b * std::log1p(-x);
  return std::exp(scale) * value / a;
}

/// Returns the probability of `least` and more successes in `trials`.
static double findUpperTail(int64_t least, int64_t trials, double rate) {
  if (least <= 0)
    return 1;
  if (least > trials || rate <= 0)
    return 0;
  if (rate >= 1)
    return 1;
  auto a = double(least), b = double(trials - least + 1);
  if (rate < (a + 1) / (a + b + 2))
    return betaFraction(a, b, rate);
  return 1 - betaFraction(b, a, 1 - rate);
}

/// Returns the largest number in [low, high] for which `isBelow` is true; it
/// must be true for small numbers only.
static double bisect(double low, double high,
                     llvm::function_ref<bool(double)> isBelow) {
  for (int step = 0; step != 40 && low < high; ++step) {
    double middle = (low + high) / 2;
    (isBelow(middle) ? low : high) = middle;
  }
  return (low + high) / 2;
}

Interval mct::quantization::findShareInterval(int64_t having, int64_t samples,
                                              double confidence) {
  double tail = (1 - confidence) / 2;
  Interval found{0, 1};
  if (having > 0)
    found.low = bisect(0, 1, [&](double rate) {
      return findUpperTail(having, samples, rate) < tail;
    });
  if (having < samples)
    found.high = bisect(0, 1, [&](double rate) {
      return 1 - findUpperTail(having + 1, samples, rate) > tail;
    });
  return found;
}

/// Returns the probability that at most `most` samples have it in the first
/// network alone (`most` depends on the number of samples that differ), if the
/// networks differ at a rate, and their shares by `difference`.
static double findLowerTail(llvm::function_ref<int64_t(int64_t)> most,
                            int64_t samples, double rate, double difference) {
  double first = std::clamp((1 + difference / rate) / 2, 0.0, 1.0);
  double logSamples = std::lgamma(double(samples) + 1), total = 0;
  // Returns the probability that `differing` samples differ.
  auto probability = [&](int64_t differing) {
    auto k = double(differing), rest = double(samples - differing);
    return std::exp(logSamples - std::lgamma(k + 1) - std::lgamma(rest + 1) +
                    (differing ? k * std::log(rate) : 0) +
                    (rest > 0 ? rest * std::log1p(-rate) : 0));
  };
  auto add = [&](int64_t differing) {
    double weight = probability(differing);
    if (int64_t largest = most(differing); largest >= 0)
      total += weight * (1 - findUpperTail(largest + 1, differing, first));
    return weight > 1e-13;
  };
  auto centre = int64_t(double(samples) * rate);
  for (int64_t differing = centre; differing <= samples && add(differing);)
    ++differing;
  for (int64_t differing = centre - 1; differing >= 0 && add(differing);)
    --differing;
  return total;
}

/// Returns by how many standard errors the difference of the counts exceeds the
/// expected one for shares that differ by `difference`; the standard error is
/// that of the most likely such shares (the score of Tango).
static double findScore(double onlyFirst, double onlySecond, double samples,
                        double difference) {
  double b = -onlyFirst - onlySecond +
             (2 * samples - onlyFirst + onlySecond) * difference,
         c = -onlySecond * difference * (1 - difference);
  double rate = (std::sqrt(b * b - 8 * samples * c) - b) / (4 * samples);
  double variance = samples * (2 * rate + difference * (1 - difference));
  return (onlyFirst - onlySecond - samples * difference) / std::sqrt(variance);
}

namespace {
/// An exact test of a difference of shares.
class PairedTest {
public:
  /// Order of the possible observations: the difference of the counts, or the
  /// difference in units of its standard error, for which the worst rate is not
  /// much worse than others.
  enum class Statistic { Difference, Score };

  /// `tail` is the probability of errors on one side.
  PairedTest(double onlyFirst, double onlySecond, int64_t samples, double tail,
             Statistic statistic)
      : onlyFirst(std::llround(onlyFirst)),
        onlySecond(std::llround(onlySecond)), samples(samples),
        tail(tail - kWrongRates), statistic(statistic),
        rates(findShareInterval(
            std::min(samples, this->onlyFirst + this->onlySecond), samples,
            1 - kWrongRates)) {}

  /// Returns whether the observation is not smaller than by chance if the
  /// shares differ by `difference`.
  bool isPossible(double ofShares) const {
    int rateSteps = statistic == Statistic::Score ? 24 : 8;
    double low = std::max(rates.low, std::abs(ofShares));
    double observed = statistic == Statistic::Score
                          ? computeScore(onlyFirst, onlySecond, ofShares) + 1e-9
                          : 0;
    auto most = [&](int64_t differing) {
      return statistic == Statistic::Score
                 ? findLargestFirst(differing, ofShares, observed)
                 : (onlyFirst - onlySecond + differing + 2) / 2 - 1;
    };
    // The worst rate is usually the largest one, so begin with it.
    for (int index = rateSteps; index >= 0 && low > 0 && low <= rates.high;
         --index) {
      double rate = low + (rates.high - low) * index / rateSteps;
      if (findLowerTail(most, samples, rate, ofShares) > tail)
        return true;
    }
    return false;
  }
  /// Returns the largest difference of the shares that is possible.
  double findLargest() const {
    return bisect(double(onlyFirst - onlySecond) / double(samples), 1,
                  [&](double ofShares) { return isPossible(ofShares); });
  }

private:
  static constexpr double kWrongRates = 0.001;

  double computeScore(int64_t first, int64_t second, double ofShares) const {
    return findScore(double(first), double(second), double(samples), ofShares);
  }
  /// Returns the largest number of `differing` samples that have it in the
  /// first network alone with a score no larger than that of the observation,
  /// or -1.
  int64_t findLargestFirst(int64_t differing, double ofShares,
                           double observed) const {
    int64_t low = -1, high = differing + 1;
    while (high - low > 1) {
      int64_t middle = low + (high - low) / 2;
      (computeScore(middle, differing - middle, ofShares) <= observed ? low
                                                                      : high) =
          middle;
    }
    return low;
  }

  int64_t onlyFirst, onlySecond, samples;
  double tail;
  Statistic statistic;
  Interval rates;
};
} // namespace

Interval mct::quantization::findPairedInterval(int64_t onlyFirst,
                                               int64_t onlySecond,
                                               int64_t samples) {
  constexpr double kTail = (1 - kConfidence) / 2;
  return {-PairedTest(double(onlySecond), double(onlyFirst), samples, kTail,
                      PairedTest::Statistic::Difference)
               .findLargest(),
          PairedTest(double(onlyFirst), double(onlySecond), samples, kTail,
                     PairedTest::Statistic::Difference)
              .findLargest()};
}

double mct::quantization::findPairedUpperBound(int64_t onlyFirst,
                                               int64_t onlySecond,
                                               int64_t samples,
                                               double confidence) {
  return PairedTest(double(onlyFirst), double(onlySecond), samples,
                    1 - confidence, PairedTest::Statistic::Score)
      .findLargest();
}

std::optional<int64_t>
mct::quantization::findPairedSamplesNeeded(int64_t onlyFirst,
                                           int64_t onlySecond, int64_t samples,
                                           double limit, double confidence) {
  constexpr int64_t kMost = 10'000'000;
  constexpr double kPrecision = 1.02;
  if (double(onlyFirst - onlySecond) / double(samples) >= limit)
    return std::nullopt;
  auto areEnough = [&](int64_t count) {
    double times = double(count) / double(samples);
    return !PairedTest(double(onlyFirst) * times, double(onlySecond) * times,
                       count, 1 - confidence, PairedTest::Statistic::Score)
                .isPossible(limit);
  };
  int64_t low = 1, high = samples;
  while (!areEnough(high)) {
    if (high > kMost / 2)
      return std::nullopt;
    low = high;
    high *= 2;
  }
  while (double(high) > double(low) * kPrecision && high > low + 1) {
    int64_t middle = low + (high - low) / 2;
    (areEnough(middle) ? high : low) = middle;
  }
  return high;
}

/// Returns the values of a statistic for resamples, ascending; none if there
/// are too few.
static std::optional<std::vector<double>>
draw(int64_t samples,
     llvm::function_ref<double(ArrayRef<uint32_t>)> statistic) {
  constexpr size_t kDraws = 2000;
  constexpr uint64_t kSeed = 20177;
  if (samples < kLeastBootstrapSamples)
    return std::nullopt;
  // The standard fixes the numbers of this generator, but not those of the
  // distributions.
  std::mt19937_64 generator(kSeed);
  std::vector<double> found;
  std::vector<uint32_t> counts(static_cast<size_t>(samples));
  for (size_t draw = 0; draw != kDraws; ++draw) {
    std::fill(counts.begin(), counts.end(), 0);
    for (int64_t sample = 0; sample != samples; ++sample)
      ++counts[size_t((generator() >> 32) * uint64_t(samples) >> 32)];
    double value = statistic(counts);
    if (!std::isnan(value))
      found.push_back(value);
  }
  if (found.size() * 20 < kDraws * 19)
    return std::nullopt;
  std::sort(found.begin(), found.end());
  return found;
}

/// Returns the quantile of ascending values for a share.
static double findQuantile(ArrayRef<double> ascending, double share) {
  return ascending[size_t(share * double(ascending.size() - 1) + 0.5)];
}

std::optional<Interval> mct::quantization::bootstrap(
    int64_t samples, llvm::function_ref<double(ArrayRef<uint32_t>)> statistic) {
  auto found = draw(samples, statistic);
  if (!found)
    return std::nullopt;
  return Interval{findQuantile(*found, (1 - kConfidence) / 2),
                  findQuantile(*found, (1 + kConfidence) / 2)};
}

std::optional<double> mct::quantization::bootstrapUpperBound(
    int64_t samples, llvm::function_ref<double(ArrayRef<uint32_t>)> statistic,
    double confidence) {
  auto found = draw(samples, statistic);
  if (!found)
    return std::nullopt;
  return findQuantile(*found, confidence);
}
