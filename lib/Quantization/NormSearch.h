// SPDX-License-Identifier: Apache-2.0

#ifndef MCT_LIB_QUANTIZATION_NORMSEARCH_H
#define MCT_LIB_QUANTIZATION_NORMSEARCH_H

#include "StepSearch.h"

namespace mct::quantization {

/// The problem that is searched. The error of a candidate is the sum of weight
/// * |value - nearest level|^p over all atoms, in scaled units.
struct NormProblem {
  const ScaledAtoms &atoms;
  double p = 1; // 1 to 64
  /// True if the atoms that have a width represent values spread evenly over
  /// it. Otherwise steps as fine as the width would be chosen by the arbitrary
  /// positions of the middles of the bins.
  bool spread = false;
};

/// Returns the error of one step.
double evaluateNorm(const NormProblem &problem, LevelRange levels, double step);

/// Returns the best step of all steps >= minStep for fixed levels, starting
/// from a candidate, which the result never loses to. For grids of up to 256
/// levels and p up to 4 the error is within 1e-5 of the global minimum; beyond
/// that the passes may not suffice, and `bound` has the reached accuracy. The
/// best step found is then moved to a minimum within 1e-7 close by. Errors that
/// differ by less than what residuals of 1e-7 of the values would cost count as
/// equal.
///
/// With the levels of all values kept, the error is a convex function of the
/// step. A value that moves from level k to k + 1 where the step falls to
/// |value| / (k + 1/2) gains, per unit of step, at most (2 k + 1) p r^(p - 1),
/// r the largest residual of a moving value. So between two evaluated steps the
/// error is at least that of the tangents at both, lowered by the gain of all
/// the moves between them (sum of weight * k^2 at one end less that at the
/// other). Intervals are halved, the least bound first, until no bound is below
/// the goal.
GridCandidate searchNorm(const NormProblem &problem, LevelRange levels,
                         double minStep, GridCandidate start);

/// Runs searchNorm over all zero points 0 ... levelCount - 1 with one common
/// goal: steps whose unclipped rounding error is already too large, and zero
/// points that leave one side too few levels, are never evaluated.
GridCandidate searchNormAndZeroPoint(const NormProblem &problem, int levelCount,
                                     GridCandidate start);

} // namespace mct::quantization

#endif // MCT_LIB_QUANTIZATION_NORMSEARCH_H
