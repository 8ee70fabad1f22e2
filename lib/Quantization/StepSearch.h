// SPDX-License-Identifier: Apache-2.0

#ifndef MCT_LIB_QUANTIZATION_STEPSEARCH_H
#define MCT_LIB_QUANTIZATION_STEPSEARCH_H

#include "llvm/ADT/ArrayRef.h"

#include <cstddef>
#include <vector>

namespace mct::quantization {

/// The values a search looks at, with their weights, scaled so that the largest
/// magnitude is in [1, 2). Steps below are in the scaled unit.
///
/// Scaling by a power of two is exact, so results scale exactly with the data.
class ScaledAtoms {
public:
  /// Values that are not finite are left out. Every weight is 1.
  explicit ScaledAtoms(llvm::ArrayRef<float> values);
  ScaledAtoms(llvm::ArrayRef<double> values, llvm::ArrayRef<double> weights);

  size_t size() const { return count; }
  /// A multiple of 8 values; those past size() are zeros, of weight 0 if there
  /// are weights.
  llvm::ArrayRef<double> values() const { return scaled; }
  /// Empty when every weight is 1.
  llvm::ArrayRef<double> weights() const { return weight; }
  /// Sum of the weights.
  double totalWeight() const { return total; }
  /// Sum of weight * value^2.
  double energy() const { return sumOfSquares; }
  /// Smallest and largest value, 0 included.
  double min() const { return minimum; }
  double max() const { return maximum; }
  double largestMagnitude() const;
  /// True when every value is zero.
  bool allZero() const { return minimum == 0 && maximum == 0; }
  /// Value in the caller's unit = scaled value * 2^exponent().
  int exponent() const { return scaleExponent; }

private:
  void finish(double largest);

  std::vector<double> scaled;
  std::vector<double> weight;
  size_t count = 0;
  double total = 0;
  double sumOfSquares = 0;
  double minimum = 0;
  double maximum = 0;
  int scaleExponent = 0;
};

/// First and last level of a grid counted from its zero: values step * k, k in
/// [lo, hi], lo <= 0 <= hi.
struct LevelRange {
  double lo = 0;
  double hi = 0;
};

/// A step and its error, the sum of weight * (value - nearest level)^2.
struct StepCandidate {
  double step = 0;
  double error = 0;
};

/// The error of one step.
StepCandidate evaluateStep(const ScaledAtoms &atoms, LevelRange levels,
                           double step);

/// The best step of all steps >= minStep for fixed levels, starting from a
/// candidate. The result is the global optimum (errors that differ by less than
/// 1e-9 relative, or 1e-14 of the sum of squares, count as equal) for grids of
/// up to 256 levels; for wider ones the number of passes is limited, and the
/// result is the best step found.
///
/// With the levels of all values fixed the error is a parabola in the step, and
/// a value moves on from level k to k + 1 when the step falls to |value| / (k +
/// 1/2) (thresholds.md 5.3 D). Between two evaluated steps the sum of what all
/// the moves gain is a convex function known at both ends, so its chord bounds
/// the error from below; an interval is skipped when that bound is not below
/// the best error, else halved, and swept event by event once few are left.
StepCandidate searchStep(const ScaledAtoms &atoms, LevelRange levels,
                         double minStep, StepCandidate start);

/// Best step and zero point of a uniform grid with `levelCount` levels.
struct UniformCandidate {
  double step = 0;
  int zeroPoint = 0;
  double error = 0;
};

/// searchStep over all zero points 0 ... levelCount - 1 with one common bound:
/// steps whose unclipped rounding error is already too large, and zero points
/// whose clipped part is, are never looked at.
UniformCandidate searchStepAndZeroPoint(const ScaledAtoms &atoms,
                                        int levelCount, UniformCandidate start);

} // namespace mct::quantization

#endif // MCT_LIB_QUANTIZATION_STEPSEARCH_H
