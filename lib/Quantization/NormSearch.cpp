// SPDX-License-Identifier: Apache-2.0

#include "NormSearch.h"

#include "mct/Quantizers/Simd.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <queue>
#include <vector>

namespace mct::quantization {

namespace {

// The search ends with error <= minimum / (1 - slack). The bound between two
// steps tightens with the square of their distance over the number of levels,
// so that a grid of fewer levels gets a smaller slack for the same work.
constexpr double kLargestSlack = 1e-5;
constexpr double kPolishSlack = 1e-7;
// Residuals below this part of the largest magnitudes count as zero: past it
// the rounding of the levels would be searched.
constexpr double kZeroResidual = 1e-7;
// Passes over the atoms a search, and its last part, may take.
constexpr int kMaxEvaluations = 100000;
constexpr int kMaxEvaluationsOfWideGrids = 1000;
constexpr int kMaxPolishEvaluations = 400;
constexpr double kWideGrid = 256;
// Ratio of neighbouring steps in the first scan.
constexpr double kNormScanRatio = 0.9170040432046712; // 2^(-1/8)
constexpr double kUnlimited = 0x1p50;

/// Sums over all atoms for one step, in units of the step: v = value / step, k
/// its level, r = v - k, c = v clamped to the first and last level.
struct NormSums {
  double loss = 0;         // |r|^p
  double slope = 0;        // |r|^(p - 1) sign(r) k
  double squaredLevel = 0; // k^2
  double excess = 0;       // |v - c|^p
};

/// Method of computing |r|^(p - 1).
enum class PowerKind { One, Product, General };

template <PowerKind Kind>
MCT_VECTOR_BODY Double8 lowerPower(Double8 magnitude, double p) {
  if (Kind == PowerKind::One)
    return Double8{} + 1.0;
  if (Kind == PowerKind::Product) {
    Double8 result = magnitude;
    for (int i = 2; i < static_cast<int>(p); ++i)
      result *= magnitude;
    return result;
  }
  Double8 result{};
  for (int lane = 0; lane < 8; ++lane)
    if (magnitude[lane] > 0)
      result[lane] = std::pow(magnitude[lane], p - 1);
  return result;
}

template <PowerKind Kind, bool Weighted>
MCT_VECTOR_BODY void sumNormBody(const double *values, const double *weights,
                                 size_t count, double inverse, LevelRange range,
                                 double p, NormSums &sums) {
  const Double8 zero{}, one = zero + 1.0, scale = zero + inverse,
                        lo = zero + range.lo, hi = zero + range.hi,
                        rounder = zero + kRounder;
  Double8 losses{}, slopes{}, squares{}, excesses{};
  for (size_t i = 0; i < count; i += 8) {
    Double8 v = loadVector<Double8>(values + i) * scale;
    Double8 clamped = v > lo ? v : lo;
    clamped = clamped < hi ? clamped : hi;
    Double8 level = (clamped + rounder) - rounder;
    Double8 residual = v - level;
    Double8 magnitude = residual < zero ? -residual : residual;
    Double8 sign = residual > zero ? one : zero;
    sign -= residual < zero ? one : zero;
    Double8 excess = v - clamped;
    excess = excess < zero ? -excess : excess;
    Double8 lower = lowerPower<Kind>(magnitude, p);
    Double8 lowerExcess = lowerPower<Kind>(excess, p);
    if (Weighted) {
      Double8 weight = loadVector<Double8>(weights + i);
      losses += weight * lower * magnitude;
      slopes += weight * lower * sign * level;
      squares += weight * level * level;
      excesses += weight * lowerExcess * excess;
    } else {
      losses += lower * magnitude;
      slopes += lower * sign * level;
      squares += level * level;
      excesses += lowerExcess * excess;
    }
  }
  for (int lane = 0; lane < 8; ++lane) {
    sums.loss += losses[lane];
    sums.slope += slopes[lane];
    sums.squaredLevel += squares[lane];
    sums.excess += excesses[lane];
  }
}

template <PowerKind Kind>
MCT_VECTOR_BODY void sumNorms(const double *values, const double *weights,
                              size_t count, double inverse, LevelRange range,
                              double p, NormSums &sums) {
  if (weights)
    sumNormBody<Kind, true>(values, weights, count, inverse, range, p, sums);
  else
    sumNormBody<Kind, false>(values, weights, count, inverse, range, p, sums);
}

/// An evaluated step.
struct Point {
  double step = 0;
  double error = 0;
  double slope = 0; // of the error over the step, levels kept
  double squaredLevels = 0;
  double clipped = 0; // the part of the error that comes from clipping
};

/// Returns `base` to a power of at least 1, which is usually a small integer.
double computePower(double base, double exponent) {
  if (exponent > 8 || exponent != std::floor(exponent))
    return std::pow(base, exponent);
  double result = base;
  for (int i = 1; i < static_cast<int>(exponent); ++i)
    result *= base;
  return result;
}

/// Integrals of the terms of NormSums, from 0 to v.
NormSums integrals(double v, LevelRange range, double p) {
  // All four integrals are odd functions.
  double sign = v < 0 ? -1 : 1;
  double last = v < 0 ? -range.lo : range.hi;
  v = std::fabs(v);
  double level = std::min(std::nearbyint(v), last);
  double residual = v - level, magnitude = std::fabs(residual);
  double power = computePower(magnitude, p), halfPower = computePower(0.5, p);
  NormSums sums;
  // Whole cells are a step wide; the first is half a cell.
  sums.loss =
      (level * halfPower + (residual < 0 ? -magnitude : magnitude) * power) /
      (p + 1);
  if (level > 0) {
    // The loss of a whole cell is zero.
    sums.slope = sign * level * (power - halfPower) / p;
    sums.squaredLevel = (level - 1) * level * (2 * level - 1) / 6 +
                        level * level * (residual + 0.5);
  }
  if (v > last)
    sums.excess = power * residual / (p + 1);
  return {sign * sums.loss, sign * sums.slope, sign * sums.squaredLevel,
          sign * sums.excess};
}

/// Returns the terms of NormSums for one value.
NormSums computeTerms(double v, LevelRange range, double p) {
  double level = std::clamp(std::nearbyint(v), range.lo, range.hi);
  double residual = v - level, magnitude = std::fabs(residual);
  NormSums terms;
  terms.loss = computePower(magnitude, p);
  if (magnitude > 0)
    terms.slope = terms.loss / residual * level;
  terms.squaredLevel = level * level;
  if (v < range.lo || v > range.hi)
    terms.excess = terms.loss;
  return terms;
}

void add(NormSums &sums, const NormSums &terms, double weight) {
  sums.loss += weight * terms.loss;
  sums.slope += weight * terms.slope;
  sums.squaredLevel += weight * terms.squaredLevel;
  sums.excess += weight * terms.excess;
}

NormSums sumSpread(const ScaledAtoms &atoms, LevelRange levels, double step,
                   double p) {
  NormSums sums;
  for (size_t i = 0, e = atoms.size(); i < e; ++i) {
    double v = atoms.values()[i] / step;
    double width = atoms.widths()[i] / step;
    double weight = atoms.weights().empty() ? 1.0 : atoms.weights()[i];
    // If widths are much smaller than a step, differences of the integrals are
    // mostly rounding errors, and spreading changes nothing.
    if (width < 1e-3) {
      add(sums, computeTerms(v, levels, p), weight);
      continue;
    }
    add(sums, integrals(v + 0.5 * width, levels, p), weight / width);
    add(sums, integrals(v - 0.5 * width, levels, p), -weight / width);
  }
  return sums;
}

Point evaluate(const NormProblem &problem, LevelRange levels, double step) {
  const ScaledAtoms &atoms = problem.atoms;
  double p = problem.p;
  NormSums sums;
  const double *values = atoms.values().data();
  const double *weights =
      atoms.weights().empty() ? nullptr : atoms.weights().data();
  size_t count = atoms.values().size();
  if (problem.spread)
    sums = sumSpread(atoms, levels, step, p);
  else if (p == 1)
    runVectorLoop<sumNorms<PowerKind::One>>(values, weights, count, 1 / step,
                                            levels, p, sums);
  else if (p == std::floor(p))
    runVectorLoop<sumNorms<PowerKind::Product>>(values, weights, count,
                                                1 / step, levels, p, sums);
  else
    runVectorLoop<sumNorms<PowerKind::General>>(values, weights, count,
                                                1 / step, levels, p, sums);
  double unit = std::pow(step, p);
  return {step, unit * sums.loss, -p * (unit / step) * sums.slope,
          sums.squaredLevel, unit * sums.excess};
}

struct Interval {
  Point low;
  Point high;
  double bound; // no step between the two has a smaller error
  double split; // where to evaluate next
  // Orders a heap: the lowest bound first, and the larger step of equal ones.
  bool operator<(const Interval &other) const {
    return bound != other.bound ? bound > other.bound
                                : high.step < other.high.step;
  }
};

class Search {
public:
  Search(const NormProblem &problem, StepCandidate start, double levelCount)
      : problem(problem), atoms(problem.atoms), p(problem.p), best(start),
        budget(levelCount > kWideGrid ? kMaxEvaluationsOfWideGrids
                                      : kMaxEvaluations) {
    double part = levelCount / kWideGrid;
    searchSlack = slack =
        std::clamp(kLargestSlack * part * part, kPolishSlack, kLargestSlack);
    // An infinite step has the error of rounding all values to zero.
    double energy = evaluate(problem, {0, 0}, 1).error;
    zero = std::pow(kZeroResidual, p) * energy;
  }

  /// Returns the error from which on a candidate cannot improve the best one
  /// noticeably.
  double goal() const {
    return best.error - std::max(slack * best.error, zero);
  }
  bool finished() const { return best.error <= zero || budget <= 0; }
  StepCandidate result() const { return best; }
  /// Returns the largest relative distance of the best error from the minimum.
  double bound() const {
    if (best.error <= zero)
      return 0;
    double least = std::min(unexplored, best.error * (1 - searchSlack));
    return least > 0 ? best.error / least - 1 : HUGE_VAL;
  }
  /// Gives up: nothing is known of the steps below the evaluated range.
  void giveUp() { unexplored = 0; }

  /// Evaluates all steps in [minStep, maxStep]. Returns whether the best
  /// candidate changed.
  bool run(LevelRange levels, double minStep, double maxStep);
  /// Searches between the evaluated neighbours of the best step.
  void polish(LevelRange levels, double minStep, double maxStep);
  double largestUsefulStep();
  /// Returns whether any step up to maxStep could beat the best error; also
  /// true if the passes do not suffice to decide.
  bool canBeat(LevelRange levels, double maxStep);
  Point evaluateOnce(LevelRange levels, double step) {
    --budget;
    return evaluate(problem, levels, step);
  }

private:
  Point visit(LevelRange levels, double step);
  Interval interval(LevelRange levels, const Point &low,
                    const Point &high) const;
  void refine(LevelRange levels, std::priority_queue<Interval> &intervals);

  const NormProblem &problem;
  const ScaledAtoms &atoms;
  double p;
  StepCandidate best;
  double zero = 0;
  double searchSlack; // what bound() is about
  double slack;
  double unexplored = HUGE_VAL; // least bound of what was left for the budget
  int budget;
  bool improved = false;
};

Point Search::visit(LevelRange levels, double step) {
  Point point = evaluateOnce(levels, step);
  if (point.error < best.error) {
    best = {step, point.error};
    improved = true;
  }
  return point;
}

Interval Search::interval(LevelRange levels, const Point &low,
                          const Point &high) const {
  double width = high.step - low.step;
  double largestLevel =
      std::min(std::max(-levels.lo, levels.hi),
               std::ceil(atoms.largestMagnitude() / low.step + 0.5));
  double residual = 0.5 * high.step + largestLevel * width;
  // Rounding must not make it negative.
  double moves = std::max(0.0, low.squaredLevels - high.squaredLevels);
  double gain = moves * p * std::pow(residual, p - 1);
  double fromLow = low.slope - gain, fromHigh = high.slope + gain;
  Interval result = {low, high, 0, 0.5 * (low.step + high.step)};
  if (fromLow >= 0) {
    result.bound = low.error;
  } else if (fromHigh <= 0) {
    result.bound = high.error;
  } else {
    double offset = std::clamp((high.error - width * fromHigh - low.error) /
                                   (fromLow - fromHigh),
                               0.0, width);
    result.bound = std::max(low.error + offset * fromLow,
                            high.error - (width - offset) * fromHigh);
    // Without moves the error is convex, and the tangents meet near its bottom.
    if (moves == 0 && offset > 1e-3 * width && offset < 0.999 * width)
      result.split = low.step + offset;
  }
  return result;
}

void Search::refine(LevelRange levels,
                    std::priority_queue<Interval> &intervals) {
  while (!intervals.empty() && intervals.top().bound < goal()) {
    Interval next = intervals.top();
    if (budget <= 0) {
      unexplored = std::min(unexplored, next.bound);
      return;
    }
    intervals.pop();
    if (!(next.split > next.low.step && next.split < next.high.step))
      continue;
    Point point = visit(levels, next.split);
    for (const Interval &half : {interval(levels, next.low, point),
                                 interval(levels, point, next.high)})
      if (half.bound < goal())
        intervals.push(half);
  }
}

bool Search::run(LevelRange levels, double minStep, double maxStep) {
  improved = false;
  if (finished() || !(minStep <= maxStep))
    return false;
  // Downwards until clipping alone costs too much: it only grows from there.
  std::priority_queue<Interval> intervals;
  Point high = visit(levels, maxStep);
  while (high.clipped < goal() && high.step > minStep) {
    if (budget <= 0) {
      unexplored = std::min(unexplored, high.clipped);
      break;
    }
    Point low = visit(levels, std::max(minStep, high.step * kNormScanRatio));
    Interval between = interval(levels, low, high);
    if (between.bound < goal())
      intervals.push(between);
    high = low;
  }
  refine(levels, intervals);
  return improved;
}

void Search::polish(LevelRange levels, double minStep, double maxStep) {
  if (best.error <= zero)
    return;
  slack = kPolishSlack;
  budget = kMaxPolishEvaluations;
  double keptUnexplored = unexplored;
  // The certificate is about the whole range; this is about the neighbourhood,
  // which the grid's finest moves set: one level of the largest value.
  double largestLevel = std::max({1.0, -levels.lo, levels.hi});
  double reach = 0.125 * best.step / largestLevel;
  Point middle = evaluateOnce(levels, best.step);
  Point low = visit(levels, std::max(minStep, middle.step - reach));
  Point high = visit(levels, std::min(maxStep, middle.step + reach));
  std::priority_queue<Interval> intervals;
  intervals.push(interval(levels, low, middle));
  intervals.push(interval(levels, middle, high));
  refine(levels, intervals);
  slack = searchSlack;
  unexplored = keptUnexplored;
}

bool Search::canBeat(LevelRange levels, double maxStep) {
  std::priority_queue<Interval> intervals;
  auto push = [&](const Point &low, const Point &high) {
    Interval between = interval(levels, low, high);
    if (between.bound < goal())
      intervals.push(between);
  };
  Point high = evaluateOnce(levels, maxStep);
  if (high.error < goal())
    return true;
  while (high.clipped < goal()) {
    Point low = evaluateOnce(levels, high.step * kNormScanRatio);
    if (low.error < goal() || budget <= 0)
      return true;
    push(low, high);
    high = low;
  }
  while (!intervals.empty()) {
    Interval next = intervals.top();
    intervals.pop();
    if (!(next.split > next.low.step && next.split < next.high.step))
      continue;
    Point point = evaluateOnce(levels, next.split);
    if (point.error < goal() || budget <= 0)
      return true;
    push(next.low, point);
    push(point, next.high);
  }
  return false;
}

double Search::largestUsefulStep() {
  LevelRange unlimited = {-kUnlimited, kUnlimited};
  // Above this every value rounds to zero.
  double top = 2.0001 * atoms.largestMagnitude();
  Point high = evaluateOnce(unlimited, top);
  if (high.error < goal())
    return top;
  // The evaluated steps below `high`, the largest last; those whose interval
  // could not be excluded stay for later.
  std::vector<Point> below;
  while (high.step > 0x1p-40 && budget > 0) {
    if (below.empty())
      below.push_back(evaluateOnce(unlimited, high.step * kNormScanRatio));
    Point low = below.back();
    if (interval(unlimited, low, high).bound >= goal()) {
      high = low;
      below.pop_back();
      continue;
    }
    if (low.step > 0.995 * high.step)
      break;
    below.push_back(evaluateOnce(unlimited, std::sqrt(low.step * high.step)));
  }
  return high.step;
}

} // namespace

double evaluateNorm(const NormProblem &problem, LevelRange levels,
                    double step) {
  return evaluate(problem, levels, step).error;
}

GridCandidate searchNorm(const NormProblem &problem, LevelRange levels,
                         double minStep, GridCandidate start) {
  Search search(problem, {start.step, start.error}, levels.hi - levels.lo + 1);
  double maxStep =
      std::max({minStep, start.step, findStepLimit(problem.atoms, levels)});
  search.run(levels, minStep, maxStep);
  search.polish(levels, minStep, maxStep);
  StepCandidate best = search.result();
  return {best.step, start.zeroPoint, best.error, search.bound()};
}

GridCandidate searchNormAndZeroPoint(const NormProblem &problem, int levelCount,
                                     GridCandidate start) {
  Search search(problem, {start.step, start.error}, levelCount);
  int bestZeroPoint = start.zeroPoint;
  int last = levelCount - 1;
  double maxStep = HUGE_VAL;
  auto tryZeroPoint = [&](int zeroPoint) {
    LevelRange levels = {-double(zeroPoint), double(last - zeroPoint)};
    double top = std::min(maxStep, findStepLimit(problem.atoms, levels));
    if (search.run(levels, 0x1p-60, top))
      bestZeroPoint = zeroPoint;
  };
  tryZeroPoint(start.zeroPoint);
  if (!search.finished())
    maxStep = search.largestUsefulStep();

  // A side with fewer levels clips more. Starting from the first zero point,
  // the search in each direction ends where one side alone, with the other one
  // unlimited, costs too much.
  auto firstHopeless = [&](int direction) {
    int hopeful = start.zeroPoint, hopeless = direction > 0 ? last + 1 : -1;
    while (std::abs(hopeless - hopeful) > 1) {
      // Most ends are near.
      int distance = std::abs(hopeless - hopeful);
      int zeroPoint = hopeful + direction * std::max(1, distance / 8);
      LevelRange oneSided =
          direction > 0 ? LevelRange{-kUnlimited, double(last - zeroPoint)}
                        : LevelRange{-double(zeroPoint), kUnlimited};
      (search.canBeat(oneSided, maxStep) ? hopeful : hopeless) = zeroPoint;
    }
    return hopeless;
  };
  if (!search.finished()) {
    int end = firstHopeless(1), begin = firstHopeless(-1);
    for (int distance = 1; distance <= last; ++distance)
      for (int zeroPoint :
           {start.zeroPoint + distance, start.zeroPoint - distance})
        if (zeroPoint > begin && zeroPoint < end)
          tryZeroPoint(zeroPoint);
  }
  if (search.finished())
    search.giveUp();
  search.polish({-double(bestZeroPoint), double(last - bestZeroPoint)}, 0x1p-60,
                HUGE_VAL);
  return {search.result().step, bestZeroPoint, search.result().error,
          search.bound()};
}

} // namespace mct::quantization
