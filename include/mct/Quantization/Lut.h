// SPDX-License-Identifier: Apache-2.0
//
// Searches for the tables and thresholds of lookup-table quantizers
// (mct/Quantizers/LutQuantizer.h).

#ifndef MCT_QUANTIZATION_LUT_H
#define MCT_QUANTIZATION_LUT_H

#include "mct/Quantization/Selection.h"
#include "mct/Quantizers/LutQuantizer.h"

#include "mct/Support/Threads.h"
#include "llvm/ADT/ArrayRef.h"

#include <cstdint>

namespace mct::quantization {

// The functions below use these options: `bits` (the width of the index: a
// table has at most 2^bits entries; 1..8), `kind` (whether thresholds are
// powers of two), `minThreshold` and, for activations, `isSigned` and
// `zThreshold`. Weights are always signed, and their tables always hold zero.
// The error method is ignored: as in MCT, a table always minimizes the mean
// squared error.

/// Returns the best table at the given thresholds (one, or one per channel): a
/// table of at most 2^bits integers with the least squared error, and of
/// several such tables one with the fewest entries. Values that are not finite
/// are ignored.
///
/// Dynamic program over the ordered entries. Two neighbouring entries a < b
/// share the values between them at (a + b) / 2, so that the error is a sum
/// over neighbours of (b - a) * Q[a + b], where Q follows from the number and
/// the sum of the values below each multiple of one half.
LutParameters bestLutTable(llvm::ArrayRef<float> values,
                           llvm::ArrayRef<int64_t> shape,
                           llvm::ArrayRef<int64_t> axes,
                           llvm::ArrayRef<double> thresholds,
                           const SelectionOptions &options);

/// Returns the table of `bestLutTable` for weighted values with one threshold.
/// Zero is an entry only if `forceZero` is true. `zThreshold` is ignored.
LutParameters bestLutTableForAtoms(llvm::ArrayRef<Atom> atoms, double threshold,
                                   const SelectionOptions &options,
                                   bool forceZero = false);

/// Returns one table for a tensor of weights, and a threshold for each channel.
///
/// The search starts from several sets of thresholds, among them those that
/// cover every value (widened by 128/127, so that the largest value is an
/// entry; MCT widens by the factor of the index width and loses part of the
/// table's range), and takes the set whose best table has the least error. Then
/// it alternates between better thresholds for that table, channel by channel,
/// and the best table for these thresholds, while the error falls. The table is
/// exact at the returned thresholds; the thresholds are the best ones found.
/// The result is never worse than the thresholds of MCT with their best table.
///
/// Source: MCT `lut_kmeans_tensor`. Runs on up to
/// `threads` threads; the result does not depend on how many.
LutParameters selectLut(llvm::ArrayRef<float> values,
                        llvm::ArrayRef<int64_t> shape,
                        llvm::ArrayRef<int64_t> axes,
                        const SelectionOptions &options,
                        const support::Threads &threads);

/// Returns the axis whose thresholds fit best, for a tensor of at least one
/// axis without a known channel axis: the axis with the smallest error of
/// `selectLut`, the first of equal ones.
int64_t selectLutAxis(llvm::ArrayRef<float> values,
                      llvm::ArrayRef<int64_t> shape,
                      const SelectionOptions &options,
                      const support::Threads &threads);

/// Returns the table and the threshold for an activation. Tries the threshold
/// that covers every value, twice that threshold and fractions of it, each with
/// its best table. Of equal errors, the covering threshold wins. Weights of the
/// atoms are positive. Values that `withoutOutliers` removes are neither
/// covered nor part of the error. Zero is an entry only if `forceZero` is
/// true, which may cost accuracy if few values are zero.
///
/// Source: MCT `lut_kmeans_histogram`, which takes the covering threshold.
LutParameters selectLutForAtoms(llvm::ArrayRef<Atom> atoms,
                                const SelectionOptions &options,
                                bool forceZero = false);

/// Returns the result of `selectLutForAtoms` for the atoms of a histogram.
/// Fails if no finite value was observed.
llvm::Expected<LutParameters>
selectLutForHistogram(const Histogram &histogram,
                      const SelectionOptions &options, bool forceZero = false);

} // namespace mct::quantization

#endif // MCT_QUANTIZATION_LUT_H
