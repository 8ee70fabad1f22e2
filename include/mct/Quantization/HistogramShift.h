// SPDX-License-Identifier: Apache-2.0
//
// Changes a histogram, and the grid chosen from it, to account for a constant
// that is added to every value.

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

/// Returns the histogram of every value plus `offset` (finite). Exact if the
/// offset is a multiple of the new bin width, as a multiple of a power-of-two
/// step is; otherwise the count of a bin is divided among the bins that it
/// overlaps, in proportion to the overlap. Minimum and maximum are shifted as
/// floats. Of the values that become zero, only the minimum and the maximum are
/// known.
Histogram shiftHistogram(const Histogram &histogram, double offset);

/// Returns the shift and the unsigned threshold for values from `minimum` < 0
/// to the largest atom, which had the signed `threshold` before.
///
/// The threshold is the one that `options` (kind, bits, error method) select
/// for the shifted values. The shift is a multiple of the step of the
/// threshold, and both are iterated because each depends on the other. With
/// `NoClipping` the largest shifted value is at most threshold - step.
/// Otherwise values are clipped where this reduces the error, which includes
/// clipping.
///
/// Returns none if no shift below the threshold lifts the minimum, or if with
/// `NoClipping` no finite threshold covers the values. MCT keeps the threshold
/// and clips.
std::optional<NegativeShift> selectNegativeShift(llvm::ArrayRef<Atom> atoms,
                                                 double minimum,
                                                 double threshold,
                                                 SelectionOptions options);

} // namespace mct::quantization

#endif // MCT_QUANTIZATION_HISTOGRAMSHIFT_H
