// SPDX-License-Identifier: Apache-2.0

#ifndef MCT_LIB_QUANTIZATION_STEPSEARCH_H
#define MCT_LIB_QUANTIZATION_STEPSEARCH_H

#include "llvm/ADT/ArrayRef.h"

#include <cstddef>
#include <limits>
#include <vector>

namespace mct::quantization {

/// The values of a search, with their weights, in ascending order and scaled so
/// that the largest magnitude is in [1, 2). Steps below are in the scaled unit.
///
/// Scaling by a power of two is exact, so results scale exactly with the data;
/// sorting makes the order of all sums, and with it every bit of a result,
/// independent of the order in which the values were given.
class ScaledAtoms {
public:
  /// Ignores values that are not finite. Every weight is 1.
  explicit ScaledAtoms(llvm::ArrayRef<float> values);
  /// Weights that are all 1 are dropped: the result is that of no weights.
  /// `widths`, where given, are carried along; searches over steps treat an
  /// atom as one value.
  ScaledAtoms(llvm::ArrayRef<double> values, llvm::ArrayRef<double> weights,
              llvm::ArrayRef<double> widths = {});

  size_t size() const { return count; }
  /// Returns a multiple of 16 values; those past size() are zeros, of weight 0
  /// if there are weights.
  llvm::ArrayRef<double> values() const { return scaled; }
  /// Returns the same values, rounded to float.
  llvm::ArrayRef<float> floatValues() const { return narrow; }
  /// Returns the weights; empty when each is 1.
  llvm::ArrayRef<double> weights() const { return weight; }
  /// Returns the widths over which the weights are spread (Density), in the
  /// scaled unit. Empty if every width is 0.
  llvm::ArrayRef<double> widths() const { return width; }
  /// Returns the weights times floatWeightScale(), rounded to float. Empty when
  /// every weight is 1.
  llvm::ArrayRef<float> floatWeights() const { return narrowWeight; }
  /// Returns the power of two that scales the largest weight to [1, 2); 1
  /// without weights.
  double floatWeightScale() const { return weightScale; }
  /// Returns the sum of the weights.
  double totalWeight() const { return total; }
  /// Returns the sum of weight * value^2.
  double energy() const { return sumOfSquares; }
  /// Returns the smallest and largest value, 0 included.
  double min() const { return minimum; }
  double max() const { return maximum; }
  double largestMagnitude() const;
  /// Returns whether every value is zero.
  bool allZero() const { return minimum == 0 && maximum == 0; }
  /// Returns the exponent of the scale: value in the caller's unit = scaled
  /// value * 2^exponent().
  int exponent() const { return scaleExponent; }

private:
  void finish();

  std::vector<double> scaled;
  std::vector<double> weight;
  std::vector<double> width;
  std::vector<float> narrow;
  std::vector<float> narrowWeight;
  double weightScale = 1;
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
///
/// `bound` is the accuracy of a search: no step in its range has an error below
/// error / (1 + bound). 0 means that the step is the global optimum (errors
/// that differ by less than 1e-9 relative, or 1e-14 of the sum of squares,
/// count as equal), infinity that nothing was proven. The start of a search has
/// the latter.
struct StepCandidate {
  double step = 0;
  double error = 0;
  double bound = std::numeric_limits<double>::infinity();
};

/// Returns the limit of a search, twice the smallest step that clips nothing.
/// Larger steps are not better: half of such a step clips nothing either, and
/// its levels include those of the step. And above twice the largest magnitude
/// every value is rounded to zero.
double findStepLimit(const ScaledAtoms &atoms, LevelRange levels);

/// Returns the error of one step.
StepCandidate evaluateStep(const ScaledAtoms &atoms, LevelRange levels,
                           double step);

/// Returns the best step of all steps >= minStep for fixed levels, starting
/// from a candidate: never worse than it, of equal errors the start. Up to 256
/// levels the bound of the result is 0; for wider grids the number of passes
/// over the values is limited, and `bound` has the reached accuracy.
///
/// With the levels of all values fixed the error is a parabola in the step, and
/// a value moves on from level k to k + 1 when the step falls to |value| / (k +
/// 1/2). So the error is the smallest of many parabolas,
/// and none of them is more curved than `c`, the sum of weight * k^2 at the
/// smallest step in view: error - c * step^2 is concave there. Between two
/// evaluated steps that bounds the error from below. Intervals whose bound is
/// not below the best error are dropped, the others divided; what remains when
/// few moves are left in an interval is swept move by move.
///
/// The passes that divide run in float. Rounding a value by a relative 2^-24
/// changes its distance to the grid by no more than that, so the square root of
/// the error moves by at most 2^-24 times that of the sum of squares; bounds
/// allow for it. Whatever is returned was evaluated in double.
StepCandidate searchStep(const ScaledAtoms &atoms, LevelRange levels,
                         double minStep, StepCandidate start);

/// Returns whether an error is only due to the rounding of sums: at most 1e-14
/// of the sum of squares.
bool countsAsZero(const ScaledAtoms &atoms, double error);

/// Returns the largest step up to `maxStep` with at most `tolerance` times the
/// error of `least`, at least 1; `least` itself if no larger step has, or if
/// its error counts as zero. A range of such steps narrower than 2^-18 of them
/// may be passed over. With more than 256 levels, steps are first evaluated in
/// ratios of 2^(1/4); the search continues from the largest one that is within
/// the tolerance to a larger one whose next one is not. `bound` follows from
/// that of `least`.
///
/// From the largest step down, intervals without such a step are excluded as in
/// searchStep, and the others halved.
StepCandidate searchLargestStep(const ScaledAtoms &atoms, LevelRange levels,
                                double maxStep, StepCandidate least,
                                double tolerance);

/// A step and a zero point, their error, and `bound` as in StepCandidate, over
/// all steps and zero points.
struct GridCandidate {
  double step = 0;
  int zeroPoint = 0;
  double error = 0;
  double bound = std::numeric_limits<double>::infinity();
};

/// Runs searchStep over all zero points 0 ... levelCount - 1 at once: for each
/// step the best zero point follows from the values that it clips, whose cost
/// is convex in the zero point, and the smallest error over all zero points is
/// again the smallest of parabolas.
GridCandidate searchStepAndZeroPoint(const ScaledAtoms &atoms, int levelCount,
                                     GridCandidate start);

} // namespace mct::quantization

#endif // MCT_LIB_QUANTIZATION_STEPSEARCH_H
