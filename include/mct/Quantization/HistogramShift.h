// SPDX-License-Identifier: Apache-2.0
//
// Changes a histogram, and the grid chosen from it, as when a constant is added
// to every value.

#ifndef MCT_QUANTIZATION_HISTOGRAMSHIFT_H
#define MCT_QUANTIZATION_HISTOGRAMSHIFT_H

#include "mct/Quantization/Corrections.h"
#include "mct/Quantization/Histogram.h"
#include "mct/Quantization/Selection.h"

#include "llvm/ADT/ArrayRef.h"

#include <optional>
#include <vector>

namespace mct::quantization {

/// Returns the values that stand for the bins of a histogram, as
/// `selectForHistogram` sees them: minimum and maximum once each, the middle of
/// every bin, zero.
std::vector<Atom> getAtoms(const Histogram &histogram);

/// Returns each value plus `offset`.
std::vector<Atom> shiftAtoms(llvm::ArrayRef<Atom> atoms, double offset);

/// Returns the mean squared error of the grid over the atoms, of clipping as
/// well as of rounding; 0 without atoms.
double meanSquaredError(llvm::ArrayRef<Atom> atoms, const Grid &grid);

/// Returns the histogram of every value plus `offset` (finite). Exact where the
/// offset is a multiple of the new bins' width, as a multiple of a power-of-two
/// step is; else the content of a bin goes in proportion to the bins that it
/// comes to lie in. Minimum and maximum are moved as floats. Of values that
/// become zero only the minimum and the maximum are known.
Histogram shiftHistogram(const Histogram &histogram, double offset);

/// Returns the shift and the unsigned threshold for values that go from
/// `minimum` < 0 to the largest atom, when they had the signed `threshold`.
///
/// The threshold is the one that `options` (kind, bits, error method) choose
/// for the shifted values; it and the shift, a multiple of its step, depend on
/// each other and are iterated. With `NoClipping` the largest shifted value is
/// at most threshold - step. Otherwise values are clipped where the error, of
/// which clipping is a part, is smaller for it.
///
/// None when no shift below the threshold lifts the minimum.
/// MCT keeps the threshold and clips.
std::optional<NegativeShift> selectNegativeShift(llvm::ArrayRef<Atom> atoms,
                                                 double minimum,
                                                 double threshold,
                                                 SelectionOptions options);

} // namespace mct::quantization

#endif // MCT_QUANTIZATION_HISTOGRAMSHIFT_H
