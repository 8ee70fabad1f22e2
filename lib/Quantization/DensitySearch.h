// SPDX-License-Identifier: Apache-2.0

#ifndef MCT_LIB_QUANTIZATION_DENSITYSEARCH_H
#define MCT_LIB_QUANTIZATION_DENSITYSEARCH_H

#include "StepSearch.h"

namespace mct::quantization {

/// The atoms of a histogram whose weights are spread evenly over their widths,
/// for grids of more than 8 bits: their steps are only a few bins wide or
/// narrower, and the middles of bins would alias with the levels (all on
/// levels, or all between two, when a bin is a whole number of steps). Sums and
/// steps are in the scaled unit of the atoms.
///
/// With single values the error is a sum over them; with a density
/// d over [l, r] the error is d * step^3 * (P(r / step) - P(l / step)), P(v) =
/// k / 12 + (v - k)^3 / 3 with the level k of v, an integral over whole and
/// broken cells.
class Density {
public:
  /// Returns whether a grid of `bits` bits over these atoms needs a density.
  static bool serves(const ScaledAtoms &atoms, unsigned bits);

  explicit Density(const ScaledAtoms &atoms);

  /// Returns the error of one step, the sum of weight * (value - level)^2.
  double error(LevelRange levels, double step) const;

  /// Returns the best of the steps between minStep and the start, in ratios of
  /// 2^(1/64) and then by golden section. It replaces the start only if the
  /// error falls by more than a hundredth: a histogram does not know more about
  /// the values after it. `bound` is about all steps >= minStep, and honest
  /// about the density, not about the values: a window of width w has at least
  /// (floor(L) + rest^3) / (12 L) of step^2 per weight, L = w / step, wherever
  /// it lies on the grid, and what lies beyond the ends costs its distance.
  StepCandidate searchStep(LevelRange levels, double minStep,
                           StepCandidate start) const;
  /// Returns the same for a uniform grid; each step has the zero point that
  /// fits the middles of the bins best.
  GridCandidate searchStepAndZeroPoint(int levelCount,
                                       GridCandidate start) const;

private:
  /// Windows of several adjacent bins, with the weight they would have if all
  /// bins had that of the lightest one: a part of the density that is constant
  /// over more than a step.
  struct Windows {
    double width;
    std::vector<double> left;
    std::vector<double> right;
    std::vector<double> weightBelow; // of the first i windows
  };
  void addWindows(size_t bins, double width);
  double clippedAbove(double end) const;
  double clippedBelow(double end) const;
  double insideAtLeast(double lo, double hi, double step) const;
  GridCandidate search(LevelRange fixed, int levelCount, double minStep,
                       GridCandidate start) const;
  double boundBetween(double low, double high, LevelRange fixed, int levelCount,
                      double best) const;

  const ScaledAtoms &atoms;
  // Bins, padded to whole vectors; density is 0 for the padding.
  std::vector<double> left, right, density;
  // Single values.
  std::vector<double> points, pointWeights;
  std::vector<Windows> windows;
  // Sums over the first i atoms: of the weight, and of weight * x and weight *
  // x^2 with the spread of x.
  std::vector<double> weightBelow, sumBelow, squareBelow;
};

} // namespace mct::quantization

#endif // MCT_LIB_QUANTIZATION_DENSITYSEARCH_H
