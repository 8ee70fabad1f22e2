// SPDX-License-Identifier: Apache-2.0

#ifndef MCT_LIB_QUANTIZATION_ZEROPOINTS_H
#define MCT_LIB_QUANTIZATION_ZEROPOINTS_H

#include "StepSearch.h"

#include <algorithm>
#include <cstdint>

namespace mct::quantization {

/// The cost of moving the window of levels. Only values beyond its ends matter:
/// if `hi` is the last level, one more level saves 2 (v - hi) - 1 for each v
/// above hi + 1/2.
class ZeroPoints {
public:
  ZeroPoints(const ScaledAtoms &atoms, int levelCount);

  int last() const { return lastLevel; }
  LevelRange levels(int zeroPoint) const {
    return {-double(zeroPoint), double(lastLevel - zeroPoint)};
  }
  /// Returns the change of the error when the zero point goes from `zeroPoint`
  /// to the next one. It does not decrease with the zero point, since the error
  /// is convex in it.
  double cost(double step, int zeroPoint) const;
  /// Returns whether neither of the two zero points clips on the side that the
  /// move changes; they then have the same error at all larger steps, too.
  bool same(double step, int zeroPoint) const;
  /// Returns the smallest zero point with the smallest error.
  int best(double step, int guess) const;

private:
  size_t rank(double value) const; // how many values are <= value
  size_t getBucket(double value) const {
    return static_cast<size_t>(
        std::clamp((value - first) * bucketScale, 0.0, lastBucket));
  }

  llvm::ArrayRef<double> values;
  int lastLevel;
  double first = 0, bucketScale = 0, lastBucket = 0;
  std::vector<uint32_t> starts;
  // Sums over the first i values.
  std::vector<double> weightBelow, sumBelow;
};

} // namespace mct::quantization

#endif // MCT_LIB_QUANTIZATION_ZEROPOINTS_H
