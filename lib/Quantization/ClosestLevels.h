// SPDX-License-Identifier: Apache-2.0
//
// The levels of a few weights that are best together, by an exact search.
#ifndef MCT_LIB_QUANTIZATION_CLOSESTLEVELS_H
#define MCT_LIB_QUANTIZATION_CLOSESTLEVELS_H

#include "mct/Quantization/LeastSquaresRounding.h"

#include <limits>

namespace mct::quantization {

/// |R (q - target)|^2 with an upper triangular R, over all levels q.
struct ClosestLevelsProblem {
  /// [columns, columns], row-major; only what is not left of the diagonal is
  /// read. The diagonal is positive.
  llvm::ArrayRef<double> factor;
  llvm::ArrayRef<double> target; // [columns]
  const WeightLevels *levels = nullptr;
  /// Levels that are tried at most, for all columns together.
  int64_t maxSteps = 0;
};

struct ClosestLevels {
  /// [columns]; none where `maxSteps` are fewer, or no objective is finite.
  std::vector<float> levels;
  double objective = std::numeric_limits<double>::infinity();
  /// Levels that were tried.
  int64_t steps = 0;
};

/// Goes through the levels of the last column from the closest one on, for each
/// through those of the column before it, and leaves out what is not closer
/// than the best so far (Schnorr and Euchner: Lattice basis reduction, 1994;
/// Agrell et al.: Closest point search in lattices, 2002; here the levels are
/// few and need not be a lattice). The first that it finds is the nearest
/// plane. With fewer than `maxSteps` steps no levels have a smaller objective
/// than what is returned.
ClosestLevels findClosestLevels(const ClosestLevelsProblem &problem);

} // namespace mct::quantization

#endif // MCT_LIB_QUANTIZATION_CLOSESTLEVELS_H
