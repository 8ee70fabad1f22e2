// SPDX-License-Identifier: Apache-2.0

#include "DensitySearch.h"

#include "ZeroPoints.h"
#include "mct/Quantizers/Simd.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace mct::quantization {

namespace {

constexpr unsigned kMaxExactBits = 8;
constexpr double kDensityScanRatio = 0.9892280131939755; // 2^(-1/64)
constexpr double kWorthwhile = 0.99;
// Below, every value of a useful grid is clipped.
constexpr double kSmallestStep = 0x1p-60;
// Error, relative to the sum, that differences of sums over many atoms may
// have.
constexpr double kSumLoss = 1e-14;
// Groups of zero points that one bound looks at together.
constexpr int kGroups = 64;

/// Sum of density * (P(right) - P(left)), in units of step^3.
MCT_VECTOR_BODY void sumDensity(const double *left, const double *right,
                                const double *density, size_t count,
                                double inverse, LevelRange range,
                                double &result) {
  const Double8 zero{}, scale = zero + inverse, lo = zero + range.lo,
                        hi = zero + range.hi, rounder = zero + kRounder,
                        twelfth = zero + 1.0 / 12, third = zero + 1.0 / 3;
  Double8 sum{};
  for (size_t i = 0; i < count; i += 8) {
    Double8 from = loadVector<Double8>(left + i) * scale;
    Double8 to = loadVector<Double8>(right + i) * scale;
    Double8 first = from > lo ? from : lo;
    first = first < hi ? first : hi;
    first = (first + rounder) - rounder;
    Double8 last = to > lo ? to : lo;
    last = last < hi ? last : hi;
    last = (last + rounder) - rounder;
    Double8 a = from - first, b = to - last;
    Double8 integral =
        (last - first) * twelfth + (b * b * b - a * a * a) * third;
    sum += loadVector<Double8>(density + i) * integral;
  }
  result = 0;
  for (int lane = 0; lane < 8; ++lane)
    result += sum[lane];
}

} // namespace

bool Density::serves(const ScaledAtoms &atoms, unsigned bits) {
  return bits > kMaxExactBits && !atoms.widths().empty();
}

Density::Density(const ScaledAtoms &atoms) : atoms(atoms) {
  weightBelow = sumBelow = squareBelow = {0};
  double widest = 0;
  for (size_t i = 0; i < atoms.size(); ++i) {
    double value = atoms.values()[i];
    double weight = atoms.weights().empty() ? 1.0 : atoms.weights()[i];
    double width = atoms.widths()[i];
    widest = std::max(widest, width);
    if (width > 0) {
      left.push_back(value - 0.5 * width);
      right.push_back(value + 0.5 * width);
      density.push_back(weight / width);
    } else {
      points.push_back(value);
      pointWeights.push_back(weight);
    }
    weightBelow.push_back(weightBelow.back() + weight);
    sumBelow.push_back(sumBelow.back() + weight * value);
    squareBelow.push_back(squareBelow.back() +
                          weight * (value * value + width * width / 12));
  }
  for (size_t bins : {1, 8, 32})
    addWindows(bins, widest);
  size_t padded = (left.size() + 7) / 8 * 8;
  left.resize(padded);
  right.resize(padded);
  density.resize(padded);
}

void Density::addWindows(size_t bins, double width) {
  Windows result;
  result.width = width * static_cast<double>(bins);
  result.weightBelow = {0};
  for (size_t begin = 0; begin + bins <= left.size();) {
    double least = density[begin];
    size_t end = begin;
    // The outermost bins are narrower, and there may be gaps between bins.
    while (end < begin + bins && right[end] - left[end] >= width &&
           (end == begin || left[end] == right[end - 1]))
      least = std::min(least, density[end++]);
    if (end < begin + bins) {
      begin = std::max(end, begin + 1);
      continue;
    }
    result.left.push_back(left[begin]);
    result.right.push_back(right[end - 1]);
    result.weightBelow.push_back(result.weightBelow.back() +
                                 least * result.width);
    begin = end;
  }
  windows.push_back(std::move(result));
}

double Density::error(LevelRange levels, double step) const {
  double sum;
  runVectorLoop<sumDensity>(left.data(), right.data(), density.data(),
                            left.size(), 1 / step, levels, sum);
  sum *= step * step * step;
  for (size_t i = 0; i < points.size(); ++i) {
    double v = points[i] / step;
    double residual = v - std::nearbyint(std::clamp(v, levels.lo, levels.hi));
    sum += pointWeights[i] * (step * residual) * (step * residual);
  }
  return std::max(sum, 0.0);
}

/// Returns the cost of clipping the atoms that are completely above `end` to
/// `end`.
double Density::clippedAbove(double end) const {
  llvm::ArrayRef<double> values = atoms.values().take_front(atoms.size());
  size_t i =
      std::upper_bound(values.begin(), values.end(), end) - values.begin();
  // A bin extends below its middle.
  while (i < values.size() && values[i] - 0.5 * atoms.widths()[i] < end)
    ++i;
  double cost = (squareBelow.back() - squareBelow[i]) -
                2 * end * (sumBelow.back() - sumBelow[i]) +
                end * end * (weightBelow.back() - weightBelow[i]);
  return std::max(0.0, cost - kSumLoss * squareBelow.back());
}

double Density::clippedBelow(double end) const {
  llvm::ArrayRef<double> values = atoms.values().take_front(atoms.size());
  size_t i =
      std::lower_bound(values.begin(), values.end(), end) - values.begin();
  while (i > 0 && values[i - 1] + 0.5 * atoms.widths()[i - 1] > end)
    --i;
  double cost =
      squareBelow[i] - 2 * end * sumBelow[i] + end * end * weightBelow[i];
  return std::max(0.0, cost - kSumLoss * squareBelow.back());
}

/// Returns a lower bound of the cost of the density between `lo` and `hi` for
/// steps from `step` on.
double Density::insideAtLeast(double lo, double hi, double step) const {
  double best = 0;
  for (const Windows &window : windows) {
    size_t begin =
        std::lower_bound(window.left.begin(), window.left.end(), lo) -
        window.left.begin();
    size_t end =
        std::upper_bound(window.right.begin(), window.right.end(), hi) -
        window.right.begin();
    if (begin >= end)
      continue;
    double length = window.width / step;
    double whole = std::floor(length), rest = length - whole;
    double perWeight =
        step * step * (whole + rest * rest * rest) / (12 * length);
    best = std::max(best, perWeight * (window.weightBelow[end] -
                                       window.weightBelow[begin]));
  }
  return best;
}

/// Returns a lower bound of the error of any step in [low, high]: the smallest
/// window of levels bounds the error inside, the largest the clipping error.
double Density::boundBetween(double low, double high, LevelRange fixed,
                             int levelCount, double best) const {
  if (levelCount == 0)
    return insideAtLeast((fixed.lo - 0.5) * low, (fixed.hi + 0.5) * low, low) +
           clippedBelow(fixed.lo * high) + clippedAbove(fixed.hi * high);
  int last = levelCount - 1;
  double bound = best;
  for (int group = 0; group < kGroups; ++group) {
    double first =
        std::floor(static_cast<double>(levelCount) * group / kGroups);
    double end =
        std::ceil(static_cast<double>(levelCount) * (group + 1) / kGroups) - 1;
    double clipped =
        clippedBelow(-end * high) + clippedAbove((last - first) * high);
    if (clipped < bound)
      bound = std::min(bound,
                       clipped + insideAtLeast(-(first + 0.5) * low,
                                               (last - end + 0.5) * low, low));
  }
  return bound;
}

GridCandidate Density::search(LevelRange fixed, int levelCount, double minStep,
                              GridCandidate start) const {
  std::optional<ZeroPoints> zeroPoints;
  if (levelCount > 0)
    zeroPoints.emplace(atoms, levelCount);
  GridCandidate best = start;
  auto evaluate = [&](double step) {
    GridCandidate candidate;
    candidate.step = step;
    candidate.zeroPoint =
        zeroPoints ? zeroPoints->best(step, best.zeroPoint) : 0;
    candidate.error = error(
        zeroPoints ? zeroPoints->levels(candidate.zeroPoint) : fixed, step);
    if (candidate.error < best.error)
      best = candidate;
    return candidate.error;
  };

  // Search downwards until the clipped values alone cost more than the best.
  std::vector<double> steps = {start.step};
  auto clippedAtLeast = [&](double step) {
    if (!zeroPoints)
      return clippedBelow(fixed.lo * step) + clippedAbove(fixed.hi * step);
    double least = std::numeric_limits<double>::infinity();
    for (int group = 0; group < kGroups; ++group)
      least = std::min(
          least,
          clippedBelow(-std::ceil(double(levelCount) * (group + 1) / kGroups) *
                       step) +
              clippedAbove((levelCount -
                            std::floor(double(levelCount) * group / kGroups)) *
                           step));
    return least;
  };
  while (steps.back() > minStep && clippedAtLeast(steps.back()) < best.error) {
    steps.push_back(std::max(minStep, steps.back() * kDensityScanRatio));
    evaluate(steps.back());
  }
  double below = steps.back() > minStep
                     ? clippedAtLeast(steps.back())
                     : std::numeric_limits<double>::infinity();

  // Refine the best step by a golden-section search.
  if (best.step != start.step) {
    double low = std::max(minStep, best.step * kDensityScanRatio);
    double high = std::min(start.step, best.step / kDensityScanRatio);
    constexpr double kGolden = 0.6180339887498949;
    double a = high - kGolden * (high - low), b = low + kGolden * (high - low);
    double errorA = evaluate(a), errorB = evaluate(b);
    for (int i = 0; i < 24; ++i) {
      if (errorA < errorB) {
        high = b;
        b = a;
        errorB = errorA;
        a = high - kGolden * (high - low);
        errorA = evaluate(a);
      } else {
        low = a;
        a = b;
        errorA = errorB;
        b = low + kGolden * (high - low);
        errorB = evaluate(b);
      }
    }
  }
  if (best.error > kWorthwhile * start.error)
    best = start;

  // Larger steps than the start clip less and round more.
  double infinity = std::numeric_limits<double>::infinity();
  double bound =
      std::min(below, insideAtLeast(-infinity, infinity, start.step));
  for (size_t i = 1; i < steps.size(); ++i)
    bound = std::min(bound, boundBetween(steps[i], steps[i - 1], fixed,
                                         levelCount, best.error));
  best.bound = best.error <= bound ? 0.0
               : bound > 0         ? best.error / bound - 1
                                   : infinity;
  return best;
}

StepCandidate Density::searchStep(LevelRange levels, double minStep,
                                  StepCandidate start) const {
  // Without this bound, steps would stop falling at the smallest number.
  minStep = std::min(std::max(minStep, kSmallestStep), start.step);
  GridCandidate best = search(levels, 0, minStep, {start.step, 0, start.error});
  return {best.step, best.error, best.bound};
}

GridCandidate Density::searchStepAndZeroPoint(int levelCount,
                                              GridCandidate start) const {
  return search({}, levelCount, kSmallestStep, start);
}

} // namespace mct::quantization
