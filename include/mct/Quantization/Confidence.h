// SPDX-License-Identifier: Apache-2.0
//
// How far what was measured on some samples may be from what all samples would
// show.

#ifndef MCT_QUANTIZATION_CONFIDENCE_H
#define MCT_QUANTIZATION_CONFIDENCE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <cstdint>
#include <optional>

namespace mct::quantization {

/// An interval holds the true value in at least, or with a bootstrap about, so
/// many of all cases.
inline constexpr double kConfidence = 0.95;

struct Interval {
  double low = 0, high = 0;

  bool contains(double value) const { return low <= value && value <= high; }
};

/// Returns the interval of a share from the number of samples that have it, by
/// Clopper and Pearson: exact, and thus for few samples wider than needed.
/// `samples` is positive.
Interval findShareInterval(int64_t having, int64_t samples,
                           double confidence = kConfidence);

/// Returns the interval of the difference of two shares of the same samples:
/// that of the first network minus that of the second one. `onlyFirst` and
/// `onlySecond` samples have it in one network alone.
///
/// The interval has the differences that an exact test of `onlyFirst -
/// onlySecond` does not reject. How often the networks differ at all is not
/// known: the test takes the worst rate of an interval of its own, which is
/// wrong in 0.1 % of the cases, and these count as errors (Berger and Boos).
Interval findPairedInterval(int64_t onlyFirst, int64_t onlySecond,
                            int64_t samples);

/// Returns a limit that the difference of the shares, that of the first network
/// minus that of the second one, exceeds in at most 1 - `confidence` of all
/// cases. The test is that of `findPairedInterval`, but orders what may be seen
/// by the score of Tango, a difference in units of its standard error, so that
/// the limit is about as narrow as the best that are not exact.
double findPairedUpperBound(int64_t onlyFirst, int64_t onlySecond,
                            int64_t samples, double confidence = kConfidence);

/// Returns about how many samples would put `findPairedUpperBound` at `limit`
/// or below, were the networks to differ as often as on these; none where the
/// difference that was found is not below the limit, or more than 1e7 samples
/// were needed.
std::optional<int64_t> findPairedSamplesNeeded(int64_t onlyFirst,
                                               int64_t onlySecond,
                                               int64_t samples, double limit,
                                               double confidence = kConfidence);

/// A bootstrap of fewer samples says too little.
inline constexpr int64_t kLeastBootstrapSamples = 20;

/// Returns the interval of a statistic from its values for samples that were
/// drawn again, 2000 times, always the same: `statistic` is told how often each
/// sample was drawn. None for fewer than `kLeastBootstrapSamples`, and where
/// one value in 20 is not a number.
std::optional<Interval> bootstrap(
    int64_t samples,
    llvm::function_ref<double(llvm::ArrayRef<uint32_t> counts)> statistic);

/// Returns a limit that the statistic exceeds in about 1 - `confidence` of all
/// cases, by the draws of `bootstrap`; none where it has no interval.
std::optional<double> bootstrapUpperBound(
    int64_t samples,
    llvm::function_ref<double(llvm::ArrayRef<uint32_t> counts)> statistic,
    double confidence = kConfidence);

} // namespace mct::quantization

#endif // MCT_QUANTIZATION_CONFIDENCE_H
