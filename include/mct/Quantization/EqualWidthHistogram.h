// SPDX-License-Identifier: Apache-2.0

#ifndef MCT_QUANTIZATION_EQUALWIDTHHISTOGRAM_H
#define MCT_QUANTIZATION_EQUALWIDTHHISTOGRAM_H

#include "llvm/ADT/ArrayRef.h"

#include <cstddef>
#include <vector>

namespace mct::quantization {

/// Counts over bins of equal width between the smallest and the largest value:
/// the histogram that MCT collects, for work with statistics of that form.
/// Calibration uses `Histogram`, which merges exactly.
///
/// Bin j holds edges[j] <= x < edges[j + 1], the last one its right edge too.
/// Counts are real: weights, and what merging interpolates.
/// Source: MCT `HistogramCollector`; thresholds.md 3.2, 3.3, 3.6.
struct EqualWidthHistogram {
  std::vector<double> edges;
  std::vector<double> counts;

  /// Of finite values, at least one, each counting 1 or its weight. All values
  /// equal to v give the range [v - 0.5, v + 0.5]. `bins` > 0.
  static EqualWidthHistogram create(llvm::ArrayRef<double> values,
                                    llvm::ArrayRef<double> weights,
                                    size_t bins);

  /// Spreads the counts of each part over `bins` bins from the smallest to the
  /// largest edge of all parts, as if they lay evenly in their bins.
  static EqualWidthHistogram merge(llvm::ArrayRef<EqualWidthHistogram> parts,
                                   size_t bins);

  /// Left edge of the first and of the last populated bin.
  double min() const;
  double max() const;
};

} // namespace mct::quantization

#endif // MCT_QUANTIZATION_EQUALWIDTHHISTOGRAM_H
