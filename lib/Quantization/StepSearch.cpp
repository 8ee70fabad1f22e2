// SPDX-License-Identifier: Apache-2.0

#include "StepSearch.h"

#include "Simd.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <queue>

namespace mct::quantization {

namespace {

// Two errors closer than this, relative to the smaller one, count as equal.
constexpr double kRelativeTolerance = 1e-9;
// Errors below this part of the sum of squares count as zero: past it the
// rounding of the sums would be searched.
constexpr double kRelativeZero = 1e-14;
// Passes over the atoms one search may take. Grids of up to 256 levels stay far
// below; the bounds of wider ones only bite between very close steps, and there
// is little left to gain.
constexpr int kMaxEvaluations = 50000;
constexpr int kMaxEvaluationsOfWideGrids = 1000;
constexpr double kWideGrid = 256;
// Ratio of neighbouring steps in the first scan.
constexpr double kScanRatio = 0.9170040432046712; // 2^(-1/8)
// Adding and subtracting this rounds to nearest, ties to even, below 2^51.
constexpr double kRounder = 0x1.8p52;
constexpr double kUnlimited = 0x1p50;

/// Sums over all atoms for one step, in units of the step: v = value / step, k
/// its level, c = v clamped to the first and last level.
struct LevelSums {
  double squaredResidual = 0; // (v - k)^2
  double residualLevel = 0;   // (v - k) k
  double squaredLevel = 0;    // k^2
  double squaredExcess = 0;   // (v - c)^2
};

template <bool Weighted>
MCT_KERNEL_BODY void sumLevelsBody(const double *values, const double *weights,
                                   size_t count, double inverse,
                                   LevelRange range, LevelSums &sums) {
  const Double8 scale = Double8{} + inverse, lo = Double8{} + range.lo,
                hi = Double8{} + range.hi, rounder = Double8{} + kRounder;
  Double8 residuals{}, products{}, squares{}, excesses{};
  for (size_t i = 0; i < count; i += 8) {
    Double8 v = loadVector<Double8>(values + i) * scale;
    Double8 clamped = v > lo ? v : lo;
    clamped = clamped < hi ? clamped : hi;
    Double8 level = (clamped + rounder) - rounder;
    Double8 residual = v - level;
    Double8 excess = v - clamped;
    if (Weighted) {
      Double8 weight = loadVector<Double8>(weights + i);
      Double8 weightedResidual = weight * residual;
      residuals += weightedResidual * residual;
      products += weightedResidual * level;
      squares += weight * level * level;
      excesses += weight * excess * excess;
    } else {
      residuals += residual * residual;
      products += residual * level;
      squares += level * level;
      excesses += excess * excess;
    }
  }
  for (int lane = 0; lane < 8; ++lane) {
    sums.squaredResidual += residuals[lane];
    sums.residualLevel += products[lane];
    sums.squaredLevel += squares[lane];
    sums.squaredExcess += excesses[lane];
  }
}

MCT_DEFINE_KERNELS(sumLevels,
                   (const double *values, size_t count, double inverse,
                    LevelRange range, LevelSums &sums),
                   sumLevelsBody<false>(values, nullptr, count, inverse, range,
                                        sums))
MCT_DEFINE_KERNELS(sumWeightedLevels,
                   (const double *values, const double *weights, size_t count,
                    double inverse, LevelRange range, LevelSums &sums),
                   sumLevelsBody<true>(values, weights, count, inverse, range,
                                       sums))

/// The magnitudes of the levels at two steps.
MCT_KERNEL_BODY void levelsAtBothEndsBody(const double *values, size_t count,
                                          double highInverse, double lowInverse,
                                          LevelRange range, double *from,
                                          double *to) {
  const Double8 zero{}, highScale = zero + highInverse,
                        lowScale = zero + lowInverse, lo = zero - range.lo,
                        hi = zero + range.hi, rounder = zero + kRounder;
  for (size_t i = 0; i < count; i += 8) {
    Double8 value = loadVector<Double8>(values + i);
    Double8 magnitude = value < zero ? -value : value;
    Double8 limit = value < zero ? lo : hi;
    Double8 first = magnitude * highScale, last = magnitude * lowScale;
    first = first < limit ? first : limit;
    last = last < limit ? last : limit;
    storeVector(from + i, (first + rounder) - rounder);
    storeVector(to + i, (last + rounder) - rounder);
  }
}
MCT_DEFINE_KERNELS(levelsAtBothEnds,
                   (const double *values, size_t count, double highInverse,
                    double lowInverse, LevelRange range, double *from,
                    double *to),
                   levelsAtBothEndsBody(values, count, highInverse, lowInverse,
                                        range, from, to))

/// An evaluated step. With its levels kept, another step has the error
/// error - 2 * u * slope + u^2 * curvature, u = other step - step.
struct Point {
  double step = 0;
  double error = 0;
  double slope = 0;
  double curvature = 0;
  double clipped = 0; // the part of the error that comes from clipping
};

Point evaluate(const ScaledAtoms &atoms, LevelRange levels, double step) {
  LevelSums sums;
  size_t count = atoms.values().size();
  if (atoms.weights().empty())
    MCT_CALL_KERNEL(sumLevels, atoms.values().data(), count, 1 / step, levels,
                    sums);
  else
    MCT_CALL_KERNEL(sumWeightedLevels, atoms.values().data(),
                    atoms.weights().data(), count, 1 / step, levels, sums);
  return {step, step * step * sums.squaredResidual, step * sums.residualLevel,
          sums.squaredLevel, step * step * sums.squaredExcess};
}

/// Smallest error any step between two evaluated ones can have.
double lowerBound(const Point &low, const Point &high) {
  double width = high.step - low.step;
  double kept = high.error + width * (2 * high.slope + width * high.curvature);
  // What the moves between the two gain at the low end, per unit of step^2;
  // rounding must not make it negative.
  double gain = std::max(0.0, (kept - low.error) / (low.step * width));
  double curvature = high.curvature + gain;
  double slope = high.slope - 0.5 * gain * high.step;
  if (!(curvature > 0))
    return std::min(low.error, high.error);
  double offset = std::clamp(slope / curvature, -width, 0.0);
  return high.error + offset * (offset * curvature - 2 * slope);
}

struct Interval {
  Point low;
  Point high;
  double bound;
  // The lowest bound first; of equal ones the larger step.
  bool operator<(const Interval &other) const {
    return bound != other.bound ? bound > other.bound
                                : high.step < other.high.step;
  }
};

class Search {
public:
  Search(const ScaledAtoms &atoms, StepCandidate start, double levelCount)
      : atoms(atoms), best(start), zero(kRelativeZero * atoms.energy()),
        budget(levelCount > kWideGrid ? kMaxEvaluationsOfWideGrids
                                      : kMaxEvaluations) {}

  /// Errors at least this large cannot improve the best one noticeably.
  double goal() const {
    return best.error - std::max(kRelativeTolerance * best.error, zero);
  }
  /// True when nothing better can be found, or no passes are left.
  bool finished() const { return best.error <= zero || budget <= 0; }
  StepCandidate result() const { return best; }

  /// Looks at all steps in [minStep, maxStep]. Returns whether the best
  /// candidate changed.
  bool run(LevelRange levels, double minStep, double maxStep);

  /// One pass over the atoms.
  Point evaluateOnce(LevelRange levels, double step) {
    --budget;
    return evaluate(atoms, levels, step);
  }

  /// The largest step that could beat the best error if no value were clipped.
  double largestUsefulStep();

private:
  Point visit(LevelRange levels, double step, double minStep, double maxStep);
  void offer(double step, double error);
  bool fewEvents(const Interval &interval) const;
  void sweep(LevelRange levels, const Interval &interval);

  const ScaledAtoms &atoms;
  StepCandidate best;
  double zero;
  int budget;
  bool improved = false;
  struct Event {
    double step;
    double weight; // weight of the atom times (2 |level| + 1)
  };
  std::vector<Event> events;
  std::vector<double> fromLevels;
  std::vector<double> toLevels;
};

void Search::offer(double step, double error) {
  if (error >= best.error)
    return;
  best = {step, std::max(error, 0.0)};
  improved = true;
}

Point Search::visit(LevelRange levels, double step, double minStep,
                    double maxStep) {
  Point point = evaluateOnce(levels, step);
  offer(step, point.error);
  if (point.curvature > 0) {
    // The bottom of the parabola is an upper bound of the error there.
    double bottom =
        std::clamp(step + point.slope / point.curvature, minStep, maxStep);
    double offset = bottom - step;
    offer(bottom,
          point.error + offset * (offset * point.curvature - 2 * point.slope));
  }
  return point;
}

bool Search::fewEvents(const Interval &interval) const {
  // Every event adds 2 |level| + 1 to the curvature; take the average level.
  double weight = atoms.totalWeight();
  double average = std::sqrt(interval.high.curvature / weight);
  double perAtom = (interval.low.curvature - interval.high.curvature) /
                   (weight * (2 * average + 1));
  double size = static_cast<double>(atoms.size());
  return perAtom * size <= 8 + size / 64;
}

void Search::sweep(LevelRange levels, const Interval &interval) {
  llvm::ArrayRef<double> values = atoms.values();
  llvm::ArrayRef<double> weights = atoms.weights();
  fromLevels.resize(values.size());
  toLevels.resize(values.size());
  MCT_CALL_KERNEL(levelsAtBothEnds, values.data(), values.size(),
                  1 / interval.high.step, 1 / interval.low.step, levels,
                  fromLevels.data(), toLevels.data());
  events.clear();
  for (size_t i = 0, e = atoms.size(); i < e; ++i)
    for (double level = fromLevels[i]; level < toLevels[i]; ++level) {
      double weight = (2 * level + 1) * (weights.empty() ? 1.0 : weights[i]);
      events.push_back({std::fabs(values[i]) / (level + 0.5), weight});
    }
  std::sort(events.begin(), events.end(), [](const Event &a, const Event &b) {
    return a.step != b.step ? a.step > b.step : a.weight > b.weight;
  });

  // All three relative to the high end, so that nothing large cancels.
  double error = interval.high.error;
  double slope = interval.high.slope;
  double curvature = interval.high.curvature;
  double origin = interval.high.step;
  double from = 0; // offset of the last event
  for (size_t i = 0; i <= events.size(); ++i) {
    double to = i < events.size() ? std::min(from, events[i].step - origin)
                                  : interval.low.step - origin;
    if (curvature > 0) {
      double offset = std::clamp(slope / curvature, std::min(to, from), from);
      offer(origin + offset, error + offset * (offset * curvature - 2 * slope));
    }
    if (i == events.size())
      break;
    const Event &event = events[i];
    error += event.weight * origin * (origin - event.step);
    slope += event.weight * (0.5 * event.step - origin);
    curvature += event.weight;
    from = to;
  }
}

bool Search::run(LevelRange levels, double minStep, double maxStep) {
  improved = false;
  const StepCandidate previous = best;
  if (finished() || !(minStep <= maxStep))
    return false;

  // Downwards until clipping alone costs too much: it only grows from there.
  std::priority_queue<Interval> intervals;
  auto push = [&](const Point &low, const Point &high) {
    double bound = lowerBound(low, high);
    if (bound < goal())
      intervals.push({low, high, bound});
  };
  Point high = visit(levels, maxStep, minStep, maxStep);
  while (high.clipped < goal() && high.step > minStep && budget > 0) {
    Point low = visit(levels, std::max(minStep, high.step * kScanRatio),
                      minStep, maxStep);
    push(low, high);
    high = low;
  }

  while (!intervals.empty() && budget > 0) {
    Interval interval = intervals.top();
    intervals.pop();
    if (interval.bound >= goal())
      break;
    double middle = 0.5 * (interval.low.step + interval.high.step);
    if (fewEvents(interval) || middle <= interval.low.step ||
        middle >= interval.high.step) {
      sweep(levels, interval);
      budget -= 4; // what it costs, in passes
      continue;
    }
    Point point = visit(levels, middle, minStep, maxStep);
    push(interval.low, point);
    push(point, interval.high);
  }

  // What was offered is exact up to the rounding of sums along a sweep; take
  // the error of the winner from a direct evaluation and follow its parabola to
  // the bottom.
  if (!improved)
    return false;
  Point point = evaluate(atoms, levels, best.step);
  best.error = point.error;
  for (int i = 0; i < 16 && point.curvature > 0; ++i) {
    double bottom = std::clamp(point.step + point.slope / point.curvature,
                               minStep, maxStep);
    point = evaluate(atoms, levels, bottom);
    if (point.error >= best.error)
      break;
    best = {point.step, point.error};
  }
  if (best.error < previous.error)
    return true;
  // It was ahead by the rounding of the sums only.
  best = previous;
  return false;
}

double Search::largestUsefulStep() {
  LevelRange unlimited = {-kUnlimited, kUnlimited};
  // Above this every value rounds to zero.
  double top = 2.0001 * atoms.largestMagnitude();
  Point high = evaluateOnce(unlimited, top);
  if (high.error < goal())
    return top;
  double ratio = kScanRatio;
  // An interval that cannot be excluded is tried again with a smaller ratio.
  while (high.step > 0x1p-40 && budget > 0) {
    Point low = evaluateOnce(unlimited, high.step * ratio);
    if (lowerBound(low, high) >= goal()) {
      high = low;
      ratio = std::max(ratio * ratio, kScanRatio);
      continue;
    }
    if (ratio > 0.995)
      break;
    ratio = std::sqrt(ratio);
  }
  return high.step;
}

/// Above twice the smallest unclipped step nothing is new: a whole fraction of
/// such a step is unclipped as well, and its levels include those of the step.
/// And above twice the largest magnitude every value rounds to zero.
double largestStep(const ScaledAtoms &atoms, LevelRange levels) {
  double all = 2.0001 * atoms.largestMagnitude();
  double unclipped = 0;
  if (atoms.max() > 0)
    unclipped = levels.hi > 0 ? atoms.max() / levels.hi : all;
  if (atoms.min() < 0)
    unclipped =
        std::max(unclipped, levels.lo < 0 ? atoms.min() / levels.lo : all);
  return std::min(all, 2.0001 * unclipped);
}

} // namespace

ScaledAtoms::ScaledAtoms(llvm::ArrayRef<float> values) {
  scaled.reserve((values.size() + 7) / 8 * 8);
  float largest = 0;
  for (float value : values) {
    if (!std::isfinite(value))
      continue;
    largest = std::max(largest, std::fabs(value));
    scaled.push_back(value);
  }
  finish(largest);
}

ScaledAtoms::ScaledAtoms(llvm::ArrayRef<double> values,
                         llvm::ArrayRef<double> weights)
    : scaled(values.begin(), values.end()),
      weight(weights.begin(), weights.end()) {
  double largest = 0;
  for (double value : values)
    largest = std::max(largest, std::fabs(value));
  finish(largest);
}

void ScaledAtoms::finish(double largest) {
  count = scaled.size();
  scaleExponent = largest > 0 ? std::ilogb(largest) : 0;
  double factor = std::ldexp(1.0, -scaleExponent);
  for (size_t i = 0; i < count; ++i) {
    double value = scaled[i] *= factor;
    double w = weight.empty() ? 1.0 : weight[i];
    total += w;
    sumOfSquares += w * value * value;
    minimum = std::min(minimum, value);
    maximum = std::max(maximum, value);
  }
  size_t padded = (count + 7) / 8 * 8;
  scaled.resize(padded, 0.0);
  if (!weight.empty())
    weight.resize(padded, 0.0);
}

double ScaledAtoms::largestMagnitude() const {
  return std::max(-minimum, maximum);
}

StepCandidate evaluateStep(const ScaledAtoms &atoms, LevelRange levels,
                           double step) {
  return {step, evaluate(atoms, levels, step).error};
}

StepCandidate searchStep(const ScaledAtoms &atoms, LevelRange levels,
                         double minStep, StepCandidate start) {
  Search search(atoms, start, levels.hi - levels.lo + 1);
  search.run(
      levels, minStep,
      std::max(minStep, std::max(start.step, largestStep(atoms, levels))));
  return search.result();
}

UniformCandidate searchStepAndZeroPoint(const ScaledAtoms &atoms,
                                        int levelCount,
                                        UniformCandidate start) {
  Search search(atoms, {start.step, start.error}, levelCount);
  int bestZeroPoint = start.zeroPoint;
  int last = levelCount - 1;
  double maxStep = std::numeric_limits<double>::infinity();
  auto tryZeroPoint = [&](int zeroPoint) {
    LevelRange levels = {-double(zeroPoint), double(last - zeroPoint)};
    double top = std::min(maxStep, largestStep(atoms, levels));
    if (search.run(levels, 0x1p-60, top))
      bestZeroPoint = zeroPoint;
  };
  tryZeroPoint(start.zeroPoint);
  if (!search.finished())
    maxStep = search.largestUsefulStep();

  // At the largest step each side clips least, and less the more levels it has;
  // outwards from the start, a side ends where its clipping alone costs too
  // much.
  for (int direction : {1, -1})
    for (int zeroPoint = start.zeroPoint + direction;
         zeroPoint >= 0 && zeroPoint <= last && !search.finished();
         zeroPoint += direction) {
      LevelRange shrinking =
          direction > 0 ? LevelRange{-kUnlimited, double(last - zeroPoint)}
                        : LevelRange{-double(zeroPoint), kUnlimited};
      if (search.evaluateOnce(shrinking, maxStep).clipped >= search.goal())
        break;
      tryZeroPoint(zeroPoint);
    }
  return {search.result().step, bestZeroPoint, search.result().error};
}

} // namespace mct::quantization
