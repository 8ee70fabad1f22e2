// SPDX-License-Identifier: Apache-2.0

#ifndef MCT_QUANTIZATION_HISTOGRAM_H
#define MCT_QUANTIZATION_HISTOGRAM_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

namespace mct::quantization {

class HistogramScratch;

/// Counts of a stream of floats over equal bins of [-2^k, 2^k), with exact
/// minimum and maximum.
///
/// Bin i holds the x with floor(x * kBins / 2^(k + 1)) == i - kBins / 2, so
/// zero is always an edge. k is the smallest exponent, not below kMinExponent,
/// with every magnitude below 2^k; a larger value widens the range by adding
/// pairs of bins. Scaling by a power of two and floor are exact, and
/// floor(floor(y) / 2) is floor(y / 2), so the state depends only on the
/// multiset of values: not on the order, the split into calls, or on the shards
/// that are merged.
///
/// Zeros (of both signs) are counted separately and not binned. NaN and
/// infinities are only counted. Values below 2^kMinExponent share the two bins
/// beside zero as soon as they are narrower than a bin.
///
/// MCT (`HistogramCollector`) keeps 2048 bins over the range of each batch and
/// merges histograms by interpolation.
class Histogram {
public:
  /// Number of bins for both signs together: the smallest power of two whose
  /// bin midpoints keep searches within 0.5 % of MCT's error and 1 % of the
  /// optimum on the recorded samples. 4096 bins reach 2.1 % and 2.1 %, 8192
  /// 0.04 % and 0.8 %, 16384 0.05 % and 0.4 %.
  static constexpr int kBins = 8192;
  /// Smallest exponent of the range: the bins of a smaller one would need a
  /// scale beyond the largest float.
  static constexpr int kMinExponent = -100;

  /// Adds `count` values. `scratch` belongs to the calling thread and may be
  /// used for any number of histograms, one call at a time.
  void observe(const float *data, size_t count, HistogramScratch &scratch);

  /// Adds all observations of `other`. Exact, associative and commutative.
  void merge(const Histogram &other);

  /// Returns whether no finite value was seen.
  bool empty() const { return finiteCount == 0; }
  /// Returns the smallest and largest finite value; zero is +0. +inf and -inf
  /// when empty.
  float min() const { return minimum; }
  float max() const { return maximum; }
  /// Returns the number of finite values, zeros included.
  uint64_t count() const { return finiteCount; }
  uint64_t zeros() const { return zeroCount; }
  /// Returns the number of NaNs and infinities, which no other number or count
  /// includes.
  uint64_t nonFinite() const { return nonFiniteCount; }
  /// Returns k of the range [-2^k, 2^k); kMinExponent while only zeros were
  /// seen.
  int exponent() const { return rangeExponent; }
  /// Returns kBins counts, zeros not included. Empty while no other value was
  /// seen.
  llvm::ArrayRef<uint64_t> counts() const { return bins; }
  /// Returns the width of a bin, and the left edge of bin `bin`, in the unit of
  /// the values.
  double binWidth() const;
  double binEdge(int bin) const;

  bool operator==(const Histogram &other) const;
  bool operator!=(const Histogram &other) const { return !(*this == other); }

  /// Contents of a histogram. `counts` holds the bins firstBin, firstBin + 1,
  /// ...; all other bins are zero.
  struct Parts {
    float min = std::numeric_limits<float>::infinity();
    float max = -std::numeric_limits<float>::infinity();
    uint64_t zeros = 0;
    uint64_t nonFinite = 0;
    int exponent = kMinExponent;
    int firstBin = 0;
    std::vector<uint64_t> counts;
  };

  /// Returns the parts with the shortest run of bins that holds every count.
  Parts parts() const;

  /// Rebuilds a histogram. Fails if no stream of values has these parts: bins
  /// outside the range, a minimum or maximum outside the first or last
  /// populated bin, a range wider than needed, or counts that overflow.
  static llvm::Expected<Histogram> fromParts(const Parts &parts);

private:
  void widenTo(int newExponent);
  void addFolded(llvm::ArrayRef<uint64_t> other, int shift);
  void observeBlock(const float *data, size_t count, bool direct,
                    HistogramScratch &scratch);
  void addRange(float low, float high, HistogramScratch &scratch);
  void flush(HistogramScratch &scratch);

  float minimum = std::numeric_limits<float>::infinity();
  float maximum = -std::numeric_limits<float>::infinity();
  int rangeExponent = kMinExponent;
  uint64_t finiteCount = 0;
  uint64_t zeroCount = 0;
  uint64_t nonFiniteCount = 0;
  std::vector<uint64_t> bins;
};

/// Work space of `Histogram::observe`; each worker thread needs its own.
class HistogramScratch {
public:
  HistogramScratch();
  ~HistogramScratch();
  HistogramScratch(HistogramScratch &&);
  HistogramScratch &operator=(HistogramScratch &&);

private:
  friend class Histogram;
  struct Tables;
  std::unique_ptr<Tables> tables;
};

} // namespace mct::quantization

#endif // MCT_QUANTIZATION_HISTOGRAM_H
