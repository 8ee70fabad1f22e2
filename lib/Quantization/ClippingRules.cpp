// SPDX-License-Identifier: Apache-2.0

#include "ClippingRules.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace mct::quantization {

// The recursions converge within a dozen rounds on everything tried.
static constexpr int kMaxRounds = 100;
static constexpr double kSettled = 1e-9;

static void
forEachAtom(const ScaledAtoms &atoms,
            llvm::function_ref<void(double value, double weight)> visit) {
  for (size_t i = 0; i < atoms.size(); ++i)
    visit(atoms.values()[i],
          atoms.weights().empty() ? 1.0 : atoms.weights()[i]);
}

/// Returns the smallest value with at least `percent` of the weight at or below
/// it.
static double percentile(std::vector<std::pair<double, double>> weighted,
                         double percent) {
  std::sort(weighted.begin(), weighted.end());
  double total = 0;
  for (auto [value, weight] : weighted)
    total += weight;
  double needed = total * (percent / 100), sum = 0;
  for (auto [value, weight] : weighted) {
    sum += weight;
    if (sum >= needed)
      return value;
  }
  return weighted.empty() ? 0.0 : weighted.back().first;
}

ClippingRange percentileOfMagnitudes(const ScaledAtoms &atoms, double percent) {
  std::vector<std::pair<double, double>> magnitudes;
  forEachAtom(atoms, [&](double value, double weight) {
    magnitudes.push_back({std::fabs(value), weight});
  });
  double largest = percentile(std::move(magnitudes), percent);
  return {std::max(atoms.min(), -largest), std::min(atoms.max(), largest)};
}

ClippingRange percentileOfValues(const ScaledAtoms &atoms, double percent) {
  std::vector<std::pair<double, double>> values, negated;
  forEachAtom(atoms, [&](double value, double weight) {
    values.push_back({value, weight});
    negated.push_back({-value, weight});
  });
  return {std::min(0.0, -percentile(std::move(negated), percent)),
          std::max(0.0, percentile(std::move(values), percent))};
}

double octavThreshold(const ScaledAtoms &atoms, unsigned bits, bool isSigned) {
  double noise =
      std::ldexp(isSigned ? 1.0 / 3 : 1.0 / 12, -2 * static_cast<int>(bits));
  double largest = isSigned ? atoms.largestMagnitude() : atoms.max();
  double threshold = 0;
  for (int round = 0; round < kMaxRounds; ++round) {
    double sumAbove = 0, weightAbove = 0, weightBelow = 0;
    forEachAtom(atoms, [&](double value, double weight) {
      double magnitude = isSigned ? std::fabs(value) : value;
      if (magnitude > threshold) {
        sumAbove += weight * magnitude;
        weightAbove += weight;
      } else if (magnitude > 0) {
        weightBelow += weight;
      }
    });
    if (weightAbove == 0)
      return largest; // nothing is worth clipping
    double next = sumAbove / (noise * weightBelow + weightAbove);
    bool settled = std::fabs(next - threshold) <= kSettled * next;
    threshold = next;
    if (settled)
      break;
  }
  return std::min(threshold, largest);
}

ClippingRange octavRange(const ScaledAtoms &atoms, unsigned bits) {
  double noise = std::ldexp(1.0 / 12, -2 * static_cast<int>(bits));
  ClippingRange range;
  for (int round = 0; round < kMaxRounds; ++round) {
    double sumAbove = 0, weightAbove = 0, sumBelow = 0, weightBelow = 0,
           weightInside = 0;
    forEachAtom(atoms, [&](double value, double weight) {
      if (value > range.hi) {
        sumAbove += weight * value;
        weightAbove += weight;
      } else if (value < range.lo) {
        sumBelow += weight * value;
        weightBelow += weight;
      } else if (value != 0) {
        weightInside += weight;
      }
    });
    ClippingRange next;
    double inside = noise * weightInside;
    next.hi = weightAbove == 0
                  ? atoms.max()
                  : (sumAbove + inside * range.lo) / (inside + weightAbove);
    next.lo = weightBelow == 0
                  ? atoms.min()
                  : (sumBelow + inside * next.hi) / (inside + weightBelow);
    next = {std::clamp(next.lo, atoms.min(), 0.0),
            std::clamp(next.hi, 0.0, atoms.max())};
    bool settled =
        std::fabs(next.hi - range.hi) + std::fabs(next.lo - range.lo) <=
        kSettled * (next.hi - next.lo);
    range = next;
    if (settled)
      break;
  }
  return range;
}

} // namespace mct::quantization
