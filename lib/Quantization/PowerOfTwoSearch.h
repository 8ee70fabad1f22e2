// SPDX-License-Identifier: Apache-2.0

#ifndef MCT_LIB_QUANTIZATION_POWEROFTWOSEARCH_H
#define MCT_LIB_QUANTIZATION_POWEROFTWOSEARCH_H

#include "StepSearch.h"

namespace mct::quantization {

/// Returns whether powerOfTwoStep supports a step: it and its inverse must be
/// far from the ends of float.
bool servesPowerOfTwoStep(double step);

/// Returns the step of least error (sum of squares) among `candidates`:
/// supported powers of two in the unit of the values, in order of preference:
/// of equal errors the first wins. All values are finite; `min` and `max` are
/// their extremes.
///
/// The candidates are evaluated in one pass in float, block by block; one whose
/// error over the blocks so far exceeds what the first can reach at all is
/// dropped. Those that float cannot distinguish from the best are evaluated
/// again in double. The error that is returned does not depend on the order of
/// the values: its terms are rounded to common units, so that their sums are
/// exact. `bound` is 0: there is no better candidate.
StepCandidate powerOfTwoStep(llvm::ArrayRef<float> values, double min,
                             double max, LevelRange levels,
                             llvm::ArrayRef<double> candidates);

} // namespace mct::quantization

#endif // MCT_LIB_QUANTIZATION_POWEROFTWOSEARCH_H
