// SPDX-License-Identifier: Apache-2.0

#ifndef MCT_LIB_QUANTIZATION_DIVERGENCESEARCH_H
#define MCT_LIB_QUANTIZATION_DIVERGENCESEARCH_H

#include "StepSearch.h"

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <vector>

namespace mct::quantization {

/// Smoothing of a distribution of sum 1 so that no bin is empty: the amount
/// that every empty bin gets and that every other bin gives. An empty bin gets
/// half of the smallest other one divided by the number of bins.
struct Smoothing {
  double added = 0;
  double removed = 0;
};
Smoothing smoothing(double smallest, size_t emptyBins, size_t otherBins);

/// The distribution of values in equal bins aligned to zero, and its
/// Kullback-Leibler divergence from its quantized version.
///
/// P is the part of the weight in each bin. The grid moves every bin, taken at
/// its centre, to a level (nearest, ties to even, clamped to the ends). Q gives
/// the weight of a level in equal parts to those non-empty bins of the level
/// that reach into the range of the grid. So the cost of rounding is the
/// blurring by the levels, and clipped weight costs much: its bins hold none of
/// Q. Both are smoothed, so that the divergence, the sum of P ln(P / Q), stays
/// finite. Zeros are on every grid and are left out.
///
/// A grid whose range holds fewer than min(levels, bins / 8) bins has infinite
/// divergence: below that the bins, not the levels, would blur.
///
/// Source: MCT `_kl_error_function`, of which this is a redesign.
/// MCT ends its reference at the range and adds the clipped weight
/// to the outermost bin, which costs nothing once a level is as narrow as a
/// bin.
class BinnedDistribution {
public:
  /// `binsPerUnit` bins per unit of the scaled values; a power of two.
  BinnedDistribution(const ScaledAtoms &atoms, int binsPerUnit);

  /// Returns whether every value is zero.
  bool empty() const { return counts.empty(); }
  double binWidth() const { return width; }

  /// Returns the divergence of the grid of `levels` and `step` with the range
  /// [lo, hi].
  double divergence(LevelRange levels, double step, double lo, double hi) const;

  /// Returns the divergence. The range of a symmetric grid is from (minus) its
  /// threshold to its threshold; that of a uniform one ends half a step outside
  /// its levels.
  double symmetricDivergence(LevelRange levels, double step) const;
  double uniformDivergence(LevelRange levels, double step) const;

  /// Returns the best symmetric grid among `start` and all thresholds that are
  /// whole numbers of bins, at least `minStep` * levels and at most that of
  /// `start`.
  GridCandidate searchSymmetric(LevelRange levels, double minStep,
                                double startStep) const;
  /// Returns the best uniform grid among all zero points with the steps
  /// `startStep` * i / 256, i = 1 ... 256, whose ranges end at most half a step
  /// outside the bins; `start` is one of them.
  GridCandidate searchUniform(int levelCount, double startStep,
                              int startZeroPoint) const;

private:
  struct Inside {
    int begin, end;
  };
  Inside inside(double lo, double hi) const;
  double leastDivergence(Inside range) const;
  bool tooFewBins(Inside range, LevelRange levels) const;

  double width = 0;
  int64_t firstBin = 0;
  std::vector<double> counts; // parts of the whole
  std::vector<double> sums;   // of counts, before each bin
  std::vector<int> populated; // non-empty bins before each bin
  Smoothing ownSmoothing;
  double entropyTerm = 0; // sum of P ln P, smoothed
};

} // namespace mct::quantization

#endif // MCT_LIB_QUANTIZATION_DIVERGENCESEARCH_H
