// SPDX-License-Identifier: Apache-2.0
//
// Estimates how far a quantity measured on some samples may be from its value
// on all samples.

#ifndef MCT_QUANTIZATION_CONFIDENCE_H
#define MCT_QUANTIZATION_CONFIDENCE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <cstdint>
#include <optional>

namespace mct::quantization {

/// Share of cases in which an interval holds the true value: at least this
/// share, or about this share with a bootstrap.
inline constexpr double kConfidence = 0.95;

struct Interval {
  double low = 0, high = 0;

  bool contains(double value) const { return low <= value && value <= high; }
};

/// Returns the interval of Clopper and Pearson for the share of samples with a
/// property, `having` of `samples`. It is exact, and thus wider than needed for
/// few samples. `samples` is positive.
Interval findShareInterval(int64_t having, int64_t samples,
                           double confidence = kConfidence);

/// Returns the interval of the difference of two shares of the same samples:
/// the share of the first network minus that of the second one. `onlyFirst` and
/// `onlySecond` count the samples that have the property in one network alone.
///
/// The interval consists of the differences that an exact test of `onlyFirst -
/// onlySecond` does not reject. The rate at which the networks differ is
/// unknown: the test takes the worst rate of an interval of its own, which is
/// wrong in 0.1 % of the cases, and these count as errors (Berger and Boos).
Interval findPairedInterval(int64_t onlyFirst, int64_t onlySecond,
                            int64_t samples);

/// Returns a limit that the difference of the shares, first network minus
/// second network, exceeds in at most 1 - `confidence` of all cases. The test
/// is that of `findPairedInterval`, but orders possible observations by the
/// score of Tango, a difference in units of its standard error, so that the
/// limit is about as narrow as the best limits that are not exact.
double findPairedUpperBound(int64_t onlyFirst, int64_t onlySecond,
                            int64_t samples, double confidence = kConfidence);

/// Returns about how many samples would put `findPairedUpperBound` at `limit`
/// or below if the networks differed as often as on these samples. Returns none
/// if the observed difference is not below the limit, or if more than 1e7
/// samples were needed.
std::optional<int64_t> findPairedSamplesNeeded(int64_t onlyFirst,
                                               int64_t onlySecond,
                                               int64_t samples, double limit,
                                               double confidence = kConfidence);

/// Smallest number of samples for a bootstrap; fewer give no useful interval.
inline constexpr int64_t kLeastBootstrapSamples = 20;

/// Returns the interval of a statistic from its values on 2000 bootstrap
/// resamples, which are the same in every run: `statistic` gets how often each
/// sample was drawn. Returns none for fewer than `kLeastBootstrapSamples`, and
/// if more than one value in 20 is NaN.
std::optional<Interval> bootstrap(
    int64_t samples,
    llvm::function_ref<double(llvm::ArrayRef<uint32_t> counts)> statistic);

/// Returns a limit that the statistic exceeds in about 1 - `confidence` of all
/// cases, by the resamples of `bootstrap`; none if `bootstrap` returns none.
std::optional<double> bootstrapUpperBound(
    int64_t samples,
    llvm::function_ref<double(llvm::ArrayRef<uint32_t> counts)> statistic,
    double confidence = kConfidence);

} // namespace mct::quantization

#endif // MCT_QUANTIZATION_CONFIDENCE_H
