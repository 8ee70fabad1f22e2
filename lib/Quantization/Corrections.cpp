// SPDX-License-Identifier: Apache-2.0

#include "mct/Quantization/Corrections.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace mct::quantization {

namespace {

double quantize(const Grid &grid, double value) {
  double level =
      std::nearbyint(value / grid.step) + static_cast<double>(grid.zeroPoint);
  level = std::clamp(level, static_cast<double>(grid.qmin),
                     static_cast<double>(grid.qmax));
  return grid.step * (level - static_cast<double>(grid.zeroPoint));
}

} // namespace

Moments rectifiedMoments(const Moments &moments) {
  double mean = moments.mean, deviation = moments.deviation;
  if (!(deviation > 0))
    return {std::max(mean, 0.0), 0.0};
  // `above` is P(x > 0), and `density` the density at 0 times the deviation.
  double above = 0.5 * std::erfc(-mean / (deviation * std::sqrt(2.0)));
  double density = deviation / std::sqrt(2 * M_PI) *
                   std::exp(-mean * mean / (2 * deviation * deviation));
  double first = mean * above + density;
  double second =
      (mean * mean + deviation * deviation) * above + mean * density;
  return {first, std::sqrt(std::max(0.0, second - first * first))};
}

double equalizationFactor(const Moments &beforeRelu) {
  double deviation = rectifiedMoments(beforeRelu).deviation;
  return deviation > 1 ? 1 / deviation : 1.0;
}

std::optional<double> shiftForNegative(double minimum, double threshold,
                                       unsigned bits) {
  if (minimum >= 0)
    return 0.0;
  double step = std::ldexp(threshold, -static_cast<int>(bits));
  double multiple = std::ceil(-minimum / step);
  // The quotient is rounded, so the multiple may be one too small.
  if (multiple * step + minimum < 0)
    ++multiple;
  if (!(multiple < std::ldexp(1.0, static_cast<int>(bits))))
    return std::nullopt;
  return multiple * step;
}

bool isShortNegativeTail(double minimum, double threshold, double ratio) {
  return minimum < 0 && -minimum <= ratio * threshold;
}

NegativeShift searchNegativeShift(llvm::ArrayRef<Atom> atoms, double threshold,
                                  unsigned bits) {
  double minimum = 0, weight = 0;
  for (const Atom &atom : atoms) {
    minimum = std::min(minimum, atom.value);
    weight += atom.weight;
  }
  NegativeShift best;
  bool any = false;
  for (double candidate : {threshold, 2 * threshold}) {
    Grid grid = symmetricGrid(candidate, bits, /*isSigned=*/false);
    double largest = static_cast<double>(grid.qmax) * grid.step;
    double top = shiftForNegative(minimum, candidate, bits).value_or(largest);
    // From the largest shift down, so that it wins ties.
    for (double multiple = std::nearbyint(top / grid.step); multiple >= 0;
         --multiple) {
      double shift = multiple * grid.step, error = 0;
      for (const Atom &atom : atoms) {
        double shifted = atom.value + shift;
        double difference = quantize(grid, shifted) - shifted;
        error += atom.weight * difference * difference;
      }
      error = weight > 0 ? error / weight : 0.0;
      if (!any || error < best.error)
        best = {shift, candidate, error};
      any = true;
    }
  }
  return best;
}

double meanQuantizationError(llvm::ArrayRef<double> edges,
                             llvm::ArrayRef<double> counts, const Grid &grid) {
  assert(counts.empty() || edges.size() == counts.size() + 1);
  double total = 0, difference = 0;
  for (size_t bin = 0; bin != counts.size(); ++bin) {
    if (counts[bin] == 0)
      continue;
    double centre = 0.5 * (edges[bin] + edges[bin + 1]);
    double quantized =
        0.5 * (quantize(grid, edges[bin]) + quantize(grid, edges[bin + 1]));
    total += counts[bin];
    difference += counts[bin] * (quantized - centre);
  }
  return total > 0 ? difference / total : 0.0;
}

Affine secondMomentCorrection(const Moments &floating,
                              const Moments &quantized) {
  double scale = floating.deviation > 0 && quantized.deviation > 0
                     ? floating.deviation / quantized.deviation
                     : 1.0;
  return {scale, floating.mean - scale * quantized.mean};
}

} // namespace mct::quantization
