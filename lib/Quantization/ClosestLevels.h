// SPDX-License-Identifier: Apache-2.0
//
// Finds the jointly best levels of a few weights by an exact search.
#ifndef MCT_LIB_QUANTIZATION_CLOSESTLEVELS_H
#define MCT_LIB_QUANTIZATION_CLOSESTLEVELS_H

#include "mct/Quantization/LeastSquaresRounding.h"

#include <limits>

namespace mct::quantization {

/// Minimizes |R (q - target)|^2 with an upper triangular R, over all levels q.
struct ClosestLevelsProblem {
  /// [columns, columns], row-major; only the upper triangle is read. The
  /// diagonal is positive.
  llvm::ArrayRef<double> factor;
  llvm::ArrayRef<double> target; // [columns]
  const WeightLevels *levels = nullptr;
  /// Limit on the number of levels that are tried, for all columns together.
  int64_t maxSteps = 0;
};

struct ClosestLevels {
  /// [columns]; empty if `maxSteps` is too small to find any, or if no
  /// objective is finite.
  std::vector<float> levels;
  double objective = std::numeric_limits<double>::infinity();
  /// Number of levels that were tried.
  int64_t steps = 0;
};

/// Iterates over the levels of the last column from the closest one on, for
/// each over those of the column before it, and skips those that are not closer
/// than the best so far (Schnorr and Euchner: Lattice basis reduction, 1994;
/// Agrell et al.: Closest point search in lattices, 2002; here the levels are
/// few and need not be a lattice). The first result is the nearest plane. With
/// fewer than `maxSteps` steps no levels have a smaller objective than the
/// result.
ClosestLevels findClosestLevels(const ClosestLevelsProblem &problem);

} // namespace mct::quantization

#endif // MCT_LIB_QUANTIZATION_CLOSESTLEVELS_H
