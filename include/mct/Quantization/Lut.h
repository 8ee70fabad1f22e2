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

// The functions below read of the options `bits` (the width of the index: a
// table has at most 2^bits entries; 1..8), `kind` (whether thresholds are
// powers of two), `minThreshold` and, for activations, `isSigned` and
// `zThreshold`. Weights are always signed, and their tables always hold zero.
// The error method is not read: as in MCT, a table always minimizes the mean
// squared error.

/// Returns the best table at given thresholds (one, or one per channel): of all
/// tables of at most 2^bits integers, one of least squared error, and of those
/// one with the fewest entries. Values that are not finite are left out.
///
/// Dynamic program over the ordered entries. Two
/// neighbouring entries a < b share the values between them at (a + b) / 2, so
/// that the error is a sum over neighbours of (b - a) * Q[a + b], with Q from
/// the number and the sum of the values below each multiple of one half.
LutParameters bestLutTable(llvm::ArrayRef<float> values,
                           llvm::ArrayRef<int64_t> shape,
                           llvm::ArrayRef<int64_t> axes,
                           llvm::ArrayRef<double> thresholds,
                           const SelectionOptions &options);

/// Returns bestLutTable for weighted values with one threshold. Zero is an
/// entry only when `forceZero` asks for it. `zThreshold` is not read.
LutParameters bestLutTableForAtoms(llvm::ArrayRef<Atom> atoms, double threshold,
                                   const SelectionOptions &options,
                                   bool forceZero = false);

/// Returns one table for a tensor of weights, and a threshold for each channel.
///
/// From several sets of thresholds, among them those that cover every value
/// (widened by 128/127, so that the largest one is an entry; MCT widens by the
/// factor of the index width and loses part of the table's range), the one with
/// the least error at its best table; then better thresholds for that table,
/// channel by channel, the best table for these thresholds, and so on while the
/// error falls. The table is exact at the thresholds returned; the thresholds
/// are the best ones found. Never worse than the thresholds of MCT with their
/// best table.
///
/// Source: MCT `lut_kmeans_tensor`. Runs on up to
/// `threads` threads; the result does not depend on how many.
LutParameters selectLut(llvm::ArrayRef<float> values,
                        llvm::ArrayRef<int64_t> shape,
                        llvm::ArrayRef<int64_t> axes,
                        const SelectionOptions &options,
                        const support::Threads &threads);

/// Returns the axis whose thresholds fit best, for a tensor of at least one
/// axis that has no known channel axis: smallest error of selectLut, the first
/// of equal ones.
int64_t selectLutAxis(llvm::ArrayRef<float> values,
                      llvm::ArrayRef<int64_t> shape,
                      const SelectionOptions &options,
                      const support::Threads &threads);

/// Returns table and threshold for an activation. The threshold that covers
/// every value, twice it and fractions of it are tried, each with its best
/// table. Of equal errors the one that covers wins. Weights of the atoms are
/// positive. What withoutOutliers leaves out is neither covered nor part of the
/// error. Zero is an entry only when `forceZero` asks for it: it may cost
/// accuracy where few values are zero.
///
/// Source: MCT `lut_kmeans_histogram`, which takes the covering threshold.
LutParameters selectLutForAtoms(llvm::ArrayRef<Atom> atoms,
                                const SelectionOptions &options,
                                bool forceZero = false);

/// Returns selectLutForAtoms for the atoms of a histogram. Fails when nothing
/// finite was observed.
llvm::Expected<LutParameters>
selectLutForHistogram(const Histogram &histogram,
                      const SelectionOptions &options, bool forceZero = false);

} // namespace mct::quantization

#endif // MCT_QUANTIZATION_LUT_H
