// SPDX-License-Identifier: Apache-2.0

#include "StepSearch.h"

#include "FloatErrors.h"
#include "ZeroPoints.h"
#include "mct/Quantizers/Simd.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mct::quantization {

namespace {

// Two errors closer than this, relative to the smaller one, count as equal.
constexpr double kRelativeTolerance = 1e-9;
// Errors below this part of the sum of squares count as zero: past it the
// rounding of the sums would be searched.
constexpr double kRelativeZero = 1e-14;
// Grids of more levels have a limited number of passes over the atoms: theirs
// would grow with the square of the levels.
constexpr double kWideGrid = 256;

/// Lets short rows take more passes than long ones: the cost is passes times
/// values.
int passesOfWideGrids(size_t size) {
  double values = static_cast<double>(std::max<size_t>(1, size));
  return static_cast<int>(std::clamp(0x1p21 / values, 3000.0, 50000.0));
}

// No search of a narrow grid comes near this many passes; it is there for sums
// that are not numbers, whose intervals would be divided for ever.
constexpr int kMostPasses = 1 << 22;
// Below this step, a grid clips every value. Without the limit, steps would
// stop to decrease at the smallest positive number.
constexpr double kSmallestStep = 0x1p-60;
// Ratio of neighbouring steps in the first scan.
constexpr double kStepScanRatio = 0.8408964152537145; // 2^(-1/4)
// Parts one interval is divided into at once, at most: with more, the best
// error known would be too old when the last part is looked at.
constexpr int kMaxParts = 8;
// With fewer intervals in view, dividing them on is cheaper than sweeping.
constexpr size_t kFewIntervals = 96;
// An interval this narrow, relative to its step, is not divided: steps in it
// would meet as floats.
constexpr double kNarrow = 0x1p-18;

//===----------------------------------------------------------------------===//
// Sums over the atoms
//===----------------------------------------------------------------------===//

/// Sums over all atoms for one step, in units of the step: v = value / step, k
/// its level, c = v clamped to the first and last level.
struct LevelSums {
  double squaredResidual = 0; // (v - k)^2
  double residualLevel = 0;   // (v - k) k
  double squaredLevel = 0;    // k^2
  double squaredExcess = 0;   // (v - c)^2
};

/// Accumulators of a loop over values.
struct LevelLanes {
  Double8 scale, lo, hi;
  Double8 residuals{}, products{}, squares{}, excesses{};
};

/// Adds the sums of the values [begin, end). Without `Clips` each is between
/// the first and the last level.
template <bool Weighted, bool Clips>
MCT_VECTOR_BODY void addLevels(const double *values, const double *weights,
                               size_t begin, size_t end, LevelLanes &lanes) {
  const Double8 rounder = Double8{} + kRounder;
  for (size_t i = begin; i < end; i += 8) {
    Double8 v = loadVector<Double8>(values + i) * lanes.scale;
    Double8 clamped = v;
    if (Clips) {
      clamped = v > lanes.lo ? v : lanes.lo;
      clamped = clamped < lanes.hi ? clamped : lanes.hi;
    }
    Double8 level = (clamped + rounder) - rounder;
    Double8 residual = v - level;
    Double8 excess = v - clamped;
    if (Weighted) {
      Double8 weight = loadVector<Double8>(weights + i);
      Double8 weightedResidual = weight * residual;
      lanes.residuals += weightedResidual * residual;
      lanes.products += weightedResidual * level;
      lanes.squares += weight * level * level;
      if (Clips)
        lanes.excesses += weight * excess * excess;
    } else {
      lanes.residuals += residual * residual;
      lanes.products += residual * level;
      lanes.squares += level * level;
      if (Clips)
        lanes.excesses += excess * excess;
    }
  }
}

template <bool Weighted>
MCT_VECTOR_BODY void sumLevels(const double *values, const double *weights,
                               size_t count, double inverse, LevelRange range,
                               const Stretch &unclipped, LevelSums &sums) {
  LevelLanes lanes;
  lanes.scale = Double8{} + inverse;
  lanes.lo = Double8{} + range.lo;
  lanes.hi = Double8{} + range.hi;
  addLevels<Weighted, true>(values, weights, 0, unclipped.begin, lanes);
  addLevels<Weighted, false>(values, weights, unclipped.begin, unclipped.end,
                             lanes);
  addLevels<Weighted, true>(values, weights, unclipped.end, count, lanes);
  for (int lane = 0; lane < 8; ++lane) {
    sums.squaredResidual += lanes.residuals[lane];
    sums.residualLevel += lanes.products[lane];
    sums.squaredLevel += lanes.squares[lane];
    sums.squaredExcess += lanes.excesses[lane];
  }
}

/// Returns values that are not clipped, in whole blocks of 16.
Stretch findUnclipped(const ScaledAtoms &atoms, double inverse,
                      LevelRange range) {
  llvm::ArrayRef<double> values = atoms.values();
  Stretch stretch = {0, values.size()};
  while (stretch.begin < stretch.end &&
         values[stretch.begin] * inverse < range.lo)
    stretch.begin += 16;
  while (stretch.begin < stretch.end &&
         values[std::min(stretch.end, atoms.size()) - 1] * inverse > range.hi)
    stretch.end -= 16;
  return stretch;
}

// A value relative to the step is rounded once or, when it is no float itself,
// twice; a little more for the products of the two.
constexpr double kFloatValueLoss = 2.01 * 0x1p-24;

/// The magnitudes of the levels at two steps, and for each eight values the
/// number of moves between the two.
MCT_VECTOR_BODY void findLevelsAtBothEnds(const double *values, size_t count,
                                          double highInverse, double lowInverse,
                                          LevelRange range, double *from,
                                          double *to, double *moves) {
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
    first = (first + rounder) - rounder;
    last = (last + rounder) - rounder;
    storeVector(from + i, first);
    storeVector(to + i, last);
    Double8 difference = last - first;
    double sum = 0;
    for (int lane = 0; lane < 8; ++lane)
      sum += difference[lane];
    moves[i / 8] = sum;
  }
}

/// A step evaluated in double. With its levels kept, another step has the error
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
  Stretch unclipped = findUnclipped(atoms, 1 / step, levels);
  if (atoms.weights().empty())
    runVectorLoop<sumLevels<false>>(atoms.values().data(), nullptr, count,
                                    1 / step, levels, unclipped, sums);
  else
    runVectorLoop<sumLevels<true>>(atoms.values().data(),
                                   atoms.weights().data(), count, 1 / step,
                                   levels, unclipped, sums);
  return {step, step * step * sums.squaredResidual, step * sums.residualLevel,
          sums.squaredLevel, step * step * sums.squaredExcess};
}

//===----------------------------------------------------------------------===//
// The search
//===----------------------------------------------------------------------===//

/// A step with its best zero point (0 when the levels are fixed).
struct Probe {
  double step = 0;
  double error = 0; // as evaluated, in float or double
  double lower = 0; // not above the true error
  int64_t zeroPoint = 0;
};

struct Interval {
  Probe low;
  Probe high;
  double curvature; // not below that of any parabola in between
  double bound;     // not above any error in between
};

/// Returns the smallest error between two steps if no parabola is more curved.
double lowerBound(double low, double high, double width, double curvature) {
  double bend = curvature * width * width;
  double difference = high - low;
  if (!(bend > 0))
    return std::min(low, high);
  double t = std::clamp(0.5 - 0.5 * difference / bend, 0.0, 1.0);
  return low + t * difference - bend * t * (1 - t);
}

class Search {
public:
  Search(const ScaledAtoms &atoms, LevelRange levels,
         const ZeroPoints *zeroPoints, GridCandidate start, double levelCount)
      : atoms(atoms), fixedLevels(levels), zeroPoints(zeroPoints), best(start),
        zero(kRelativeZero * atoms.energy()),
        valueLoss(kFloatValueLoss * std::sqrt(atoms.energy())),
        budget(levelCount > kWideGrid ? passesOfWideGrids(atoms.size())
                                      : kMostPasses) {}

  GridCandidate run(double minStep, double maxStep);

private:
  LevelRange levelsAt(int zeroPoint) const {
    return zeroPoints ? zeroPoints->levels(zeroPoint) : fixedLevels;
  }
  /// Returns the error from which on a candidate cannot improve the best one
  /// noticeably.
  double goal() const {
    return best.error - std::max(kRelativeTolerance * best.error, zero);
  }
  bool finished() const { return best.error <= zero; }
  void offer(double step, int zeroPoint, double error);
  Point visit(double step, int zeroPoint);
  void descend(double step, int zeroPoint);
  void scan();
  void probeAll(llvm::MutableArrayRef<Probe> probes);
  double movesIn(const Interval &interval) const;
  void divide();
  void keepAffordable(std::vector<std::pair<Interval, int>> &divided);
  void sweepAll();
  void sweep(const Interval &interval);
  void sweepLevels(int zeroPoint, double low, double high);
  void polish(GridCandidate start);

  const ScaledAtoms &atoms;
  LevelRange fixedLevels;
  const ZeroPoints *zeroPoints;
  GridCandidate best;
  double zero;
  double valueLoss;
  int budget;
  double minStep = 0;
  double maxStep = 0;
  // The smallest bound of the intervals that were left out when the passes ran
  // out.
  double leftOut = std::numeric_limits<double>::infinity();

  std::vector<Interval> open;
  std::vector<Interval> toSweep;
  struct Event {
    double step;
    double weight; // weight of the atom times (2 |level| + 1)
  };
  std::vector<Event> events;
  std::vector<double> fromLevels;
  std::vector<double> toLevels;
  std::vector<double> moves;
};

void Search::offer(double step, int zeroPoint, double error) {
  if (error < best.error)
    best = {step, zeroPoint, std::max(error, 0.0)};
}

Point Search::visit(double step, int zeroPoint) {
  budget -= 4; // in passes in float
  Point point = evaluate(atoms, levelsAt(zeroPoint), step);
  offer(step, zeroPoint, point.error);
  return point;
}

/// Follows the parabolas down from a step.
void Search::descend(double step, int zeroPoint) {
  Point point = visit(step, zeroPoint);
  for (int i = 0; i < 4 && point.curvature > 0; ++i) {
    double bottom = std::clamp(point.step + point.slope / point.curvature,
                               minStep, maxStep);
    Point next = visit(bottom, zeroPoint);
    if (next.error >= point.error)
      break;
    point = next;
  }
}

/// Opens intervals downwards from the largest step until clipping alone costs
/// too much: it only grows from there.
void Search::scan() {
  Probe high;
  double step = maxStep;
  while (true) {
    Probe low;
    low.step = step;
    Point point;
    double clipped;
    if (zeroPoints) {
      // Every window of levels is part of this one.
      double last = zeroPoints->last();
      point = evaluate(atoms, {-last, last}, step);
      low.zeroPoint = zeroPoints->best(step, high.step > 0 ? high.zeroPoint
                                                           : best.zeroPoint);
      low.error = visit(step, low.zeroPoint).error;
      // Not more than the smallest clipped part over all zero points.
      clipped = low.error - point.error;
    } else {
      point = visit(step, 0);
      low.error = point.error;
      clipped = point.clipped;
    }
    low.lower = low.error * (1 - kRelativeTolerance / 8);
    if (high.step > 0)
      open.push_back({low, high, point.curvature, 0});
    if (clipped >= goal() || step <= minStep)
      break;
    high = low;
    step = std::max(minStep, step * kStepScanRatio);
  }
}

void Search::probeAll(llvm::MutableArrayRef<Probe> probes) {
  llvm::ArrayRef<float> values = atoms.floatValues();
  for (size_t begin = 0; begin < probes.size(); begin += kBatch) {
    GridBatch batch;
    for (Probe &probe :
         probes.slice(begin, std::min<size_t>(kBatch, probes.size() - begin))) {
      // Passes in float need a step whose inverse is a float.
      double inverse = static_cast<float>(1 / probe.step);
      probe.step = 1 / inverse;
      if (zeroPoints)
        probe.zeroPoint = zeroPoints->best(probe.step, probe.zeroPoint);
      LevelRange levels = levelsAt(probe.zeroPoint);
      batch.add(inverse, levels.lo, levels.hi);
    }
    double errors[kBatch];
    Stretch unclipped = findUnclipped(values, atoms.size(), batch);
    if (atoms.weights().empty())
      sumFloatErrors(values.data(), values.size(), batch, errors, unclipped);
    else
      sumWeightedFloatErrors(values.data(), atoms.floatWeights().data(),
                             values.size(), batch, errors, unclipped);
    for (int j = 0; j < batch.count; ++j) {
      Probe &probe = probes[begin + j];
      double error = errors[j] / atoms.floatWeightScale();
      double root =
          probe.step * std::sqrt(error * (1 - kFloatSumLoss)) - valueLoss;
      probe.error = probe.step * probe.step * error;
      // A sum that overflowed proves nothing.
      probe.lower = root > 0 && std::isfinite(root) ? root * root : 0.0;
    }
  }
  budget -= static_cast<int>(probes.size());
}

/// Returns the approximate number of moves in an interval, estimated from the
/// average level.
double Search::movesIn(const Interval &interval) const {
  double average = std::sqrt(interval.curvature / atoms.totalWeight());
  return static_cast<double>(atoms.size()) * average *
         (interval.high.step / interval.low.step - 1);
}

/// Keeps the intervals with the smallest errors at their ends if dividing all
/// of them would take more than the remaining passes.
void Search::keepAffordable(std::vector<std::pair<Interval, int>> &divided) {
  auto passesFor = [](const std::pair<Interval, int> &entry) {
    return int64_t(entry.second) + 1;
  };
  int64_t passes = 0;
  for (const auto &entry : divided)
    passes += passesFor(entry);
  if (passes <= budget)
    return;
  auto smallest = [](const Interval &interval) {
    return std::min(interval.low.error, interval.high.error);
  };
  std::sort(divided.begin(), divided.end(), [&](const auto &a, const auto &b) {
    double left = smallest(a.first), right = smallest(b.first);
    return left != right ? left < right : a.first.low.step < b.first.low.step;
  });
  // Spend only a part of the budget, so that a few rounds remain for what is
  // kept.
  int64_t affordable = budget / 4;
  size_t kept = 0;
  while (kept < divided.size() && (affordable -= passesFor(divided[kept])) >= 0)
    ++kept;
  for (size_t i = kept; i < divided.size(); ++i)
    leftOut = std::min(leftOut, divided[i].first.bound);
  divided.resize(kept);
}

/// Divides open intervals until each is excluded or has few moves left.
void Search::divide() {
  std::vector<Probe> probes;
  std::vector<std::pair<Interval, int>> divided; // with the number of parts
  double size = static_cast<double>(atoms.size());
  bool first = true;
  // Reserve memory for a whole row, so that growing copies nothing.
  probes.reserve(128);
  divided.reserve(64);
  toSweep.reserve(64);
  while (!open.empty() && !finished()) {
    probes.clear();
    divided.clear();
    double fewMoves = open.size() > kFewIntervals ? 8 + size / 64 : 8;
    for (Interval &interval : open) {
      double width = interval.high.step - interval.low.step;
      interval.bound = lowerBound(interval.low.lower, interval.high.lower,
                                  width, interval.curvature);
      if (interval.bound >= goal())
        continue;
      double bend = interval.curvature * width * width;
      // Error that the passes in float may hide.
      double loss =
          2 * valueLoss * std::sqrt(best.error) + kFloatSumLoss * best.error;
      if (movesIn(interval) <= fewMoves || bend <= loss ||
          width <= kNarrow * interval.low.step) {
        toSweep.push_back(interval);
        continue;
      }
      // Make parts so narrow that their bounds suffice if the error in between
      // is that of the ends.
      double ahead = std::min(interval.low.error, interval.high.error) - goal();
      double parts = std::ceil(0.5 * std::sqrt(bend / std::max(ahead, loss)));
      divided.emplace_back(interval,
                           std::clamp(int(std::min(parts, 1e3)), 2,
                                      first ? 2 * kMaxParts : kMaxParts));
    }
    first = false;
    keepAffordable(divided);
    open.clear();
    for (auto &[interval, parts] : divided) {
      double width = interval.high.step - interval.low.step;
      for (int part = 1; part < parts; ++part) {
        Probe probe;
        probe.step = interval.low.step + width * part / parts;
        // Where the search for the best one of this step starts.
        probe.zeroPoint = (interval.low.zeroPoint * (parts - part) +
                           interval.high.zeroPoint * part + parts / 2) /
                          parts;
        probes.push_back(probe);
      }
    }
    if (probes.empty())
      break;
    probeAll(probes);
    const Probe &smallest = *std::min_element(
        probes.begin(), probes.end(),
        [](const Probe &a, const Probe &b) { return a.error < b.error; });
    if (smallest.lower < goal())
      descend(smallest.step, smallest.zeroPoint);
    size_t next = 0;
    open.reserve(probes.size() + divided.size());
    for (const auto &[interval, parts] : divided) {
      // Use a pointer, as a copy that is copied again at once would wait for
      // its bytes.
      const Probe *low = &interval.low;
      for (int part = 1; part <= parts; ++part) {
        const Probe *high = part < parts ? &probes[next++] : &interval.high;
        Interval &added = open.emplace_back();
        added.low = *low;
        added.high = *high;
        added.curvature = interval.curvature;
        added.bound = 0;
        low = high;
      }
    }
  }
}

void Search::sweepLevels(int zeroPoint, double low, double high) {
  LevelRange levels = levelsAt(zeroPoint);
  llvm::ArrayRef<double> values = atoms.values();
  llvm::ArrayRef<double> weights = atoms.weights();
  Point top = visit(high, zeroPoint);
  budget -= 8;
  fromLevels.resize(values.size());
  toLevels.resize(values.size());
  moves.resize(values.size() / 8);
  runVectorLoop<findLevelsAtBothEnds>(values.data(), values.size(), 1 / high,
                                      1 / low, levels, fromLevels.data(),
                                      toLevels.data(), moves.data());
  events.clear();
  for (size_t block = 0; block < moves.size(); ++block) {
    if (moves[block] == 0)
      continue;
    for (size_t i = 8 * block; i < 8 * block + 8; ++i)
      for (double level = fromLevels[i]; level < toLevels[i]; ++level) {
        double weight = (2 * level + 1) * (weights.empty() ? 1.0 : weights[i]);
        events.push_back({std::fabs(values[i]) / (level + 0.5), weight});
      }
  }
  // Sorting costs about this many passes.
  budget -= static_cast<int>(1024 * events.size() / (values.size() + 512));
  std::sort(events.begin(), events.end(), [](const Event &a, const Event &b) {
    return a.step != b.step ? a.step > b.step : a.weight > b.weight;
  });

  // All three relative to the high end, so that nothing large cancels.
  double error = top.error;
  double slope = top.slope;
  double curvature = top.curvature;
  double origin = high;
  double from = 0; // offset of the last event
  for (size_t i = 0; i <= events.size(); ++i) {
    double to = i < events.size() ? std::min(from, events[i].step - origin)
                                  : low - origin;
    if (curvature > 0) {
      double offset = std::clamp(slope / curvature, std::min(to, from), from);
      offer(origin + offset, zeroPoint,
            error + offset * (offset * curvature - 2 * slope));
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

void Search::sweep(const Interval &interval) {
  double low = interval.low.step, high = interval.high.step;
  if (!zeroPoints) {
    sweepLevels(0, low, high);
    return;
  }
  // Outwards from the best zero point of the low end; the errors at both ends
  // are convex in the zero point, so the bound is, too.
  int start = interval.low.zeroPoint;
  budget -= std::abs(interval.high.zeroPoint - start) / 16;
  double atHigh = interval.high.lower;
  for (int z = interval.high.zeroPoint; z < start; ++z)
    atHigh += zeroPoints->cost(high, z);
  for (int z = interval.high.zeroPoint; z > start; --z)
    atHigh -= zeroPoints->cost(high, z - 1);
  for (int direction : {1, -1}) {
    double lowError = interval.low.lower, highError = atHigh;
    double previous = std::numeric_limits<double>::infinity();
    bool swept = false;
    for (int z = start; z >= 0 && z <= zeroPoints->last(); z += direction) {
      if (z != start) {
        int lesser = std::min(z, z - direction);
        bool copy = zeroPoints->same(low, lesser);
        lowError += direction * zeroPoints->cost(low, lesser);
        highError += direction * zeroPoints->cost(high, lesser);
        swept = copy && swept;
      }
      double bound =
          lowerBound(lowError, highError, high - low, interval.curvature);
      if (bound < goal() && budget <= 0) {
        leftOut = std::min(leftOut, interval.bound);
        return;
      }
      if (bound < goal() && !swept) {
        if (z != start || direction > 0)
          sweepLevels(z, low, high);
        swept = true;
      }
      budget -= z % 16 == 0;
      // The start need not be on the falling side of the bound.
      if (bound >= goal() && bound >= previous)
        break;
      previous = bound;
    }
  }
}

/// Sweeps adjacent intervals together: a sweep costs a few passes whatever its
/// width.
void Search::sweepAll() {
  std::sort(toSweep.begin(), toSweep.end(),
            [](const Interval &a, const Interval &b) {
              return a.low.step < b.low.step;
            });
  double most = 64 + static_cast<double>(atoms.size()) / 8;
  std::vector<Interval> merged;
  for (const Interval &interval : toSweep) {
    if (interval.bound >= goal())
      continue;
    if (!merged.empty() && merged.back().high.step == interval.low.step) {
      Interval both = merged.back();
      both.high = interval.high;
      both.curvature = std::max(both.curvature, interval.curvature);
      both.bound = std::min(both.bound, interval.bound);
      if (movesIn(both) <= most) {
        merged.back() = both;
        continue;
      }
    }
    merged.push_back(interval);
  }
  // Sweep the most promising intervals first, so that others need no sweep.
  std::sort(
      merged.begin(), merged.end(), [](const Interval &a, const Interval &b) {
        return a.bound != b.bound ? a.bound < b.bound : a.low.step < b.low.step;
      });
  for (const Interval &interval : merged) {
    if (interval.bound >= goal() || finished())
      break;
    if (budget <= 0) {
      leftOut = std::min(leftOut, interval.bound);
      break;
    }
    sweep(interval);
  }
}

/// Evaluates offers, which are exact up to the rounding of sums of a sweep;
/// takes the error of the winner from a direct evaluation and follows its
/// parabola to the bottom.
void Search::polish(GridCandidate start) {
  if (best.step == start.step && best.zeroPoint == start.zeroPoint)
    return;
  LevelRange levels = levelsAt(best.zeroPoint);
  Point point = evaluate(atoms, levels, best.step);
  best.error = point.error;
  for (int i = 0; i < 16 && point.curvature > 0; ++i) {
    double bottom = std::clamp(point.step + point.slope / point.curvature,
                               minStep, maxStep);
    point = evaluate(atoms, levels, bottom);
    if (point.error >= best.error)
      break;
    best.step = point.step;
    best.error = point.error;
  }
  // The result may have been better only because sums are rounded.
  if (best.error >= start.error)
    best = start;
}

GridCandidate Search::run(double smallest, double largest) {
  minStep = smallest;
  maxStep = largest;
  const GridCandidate start = best;
  if (!finished() && minStep <= maxStep) {
    scan();
    divide();
    sweepAll();
    polish(start);
  }
  best.bound = 0;
  if (leftOut < goal())
    best.bound = leftOut > 0 ? best.error / leftOut - 1
                             : std::numeric_limits<double>::infinity();
  return best;
}

/// Limit of the search with the zero point that clips least: both sides round
/// up to whole levels.
double largestUniformStep(const ScaledAtoms &atoms, int levelCount) {
  double all = 2.0001 * atoms.largestMagnitude();
  bool bothSides = atoms.min() < 0 && atoms.max() > 0;
  int levels = levelCount - 1 - bothSides;
  if (levels < 1)
    return all;
  return std::min(all, 2.0001 * (atoms.max() - atoms.min()) / levels);
}

} // namespace

double findStepLimit(const ScaledAtoms &atoms, LevelRange levels) {
  double all = 2.0001 * atoms.largestMagnitude();
  double unclipped = 0;
  if (atoms.max() > 0)
    unclipped = levels.hi > 0 ? atoms.max() / levels.hi : all;
  if (atoms.min() < 0)
    unclipped =
        std::max(unclipped, levels.lo < 0 ? atoms.min() / levels.lo : all);
  return std::min(all, 2.0001 * unclipped);
}

StepCandidate evaluateStep(const ScaledAtoms &atoms, LevelRange levels,
                           double step) {
  return {step, evaluate(atoms, levels, step).error};
}

StepCandidate searchStep(const ScaledAtoms &atoms, LevelRange levels,
                         double minStep, StepCandidate start) {
  Search search(atoms, levels, nullptr, {start.step, 0, start.error},
                levels.hi - levels.lo + 1);
  minStep = std::max(minStep, kSmallestStep);
  GridCandidate best = search.run(
      minStep,
      std::max(minStep, std::max(start.step, findStepLimit(atoms, levels))));
  return {best.step, best.error, best.bound};
}

bool countsAsZero(const ScaledAtoms &atoms, double error) {
  return error <= kRelativeZero * atoms.energy();
}

StepCandidate searchLargestStep(const ScaledAtoms &atoms, LevelRange levels,
                                double maxStep, StepCandidate least,
                                double tolerance) {
  if (countsAsZero(atoms, least.error))
    return least;
  const double limit = tolerance * least.error;
  // Comparisons are written so that NaN sums are neither offered nor searched.
  StepCandidate best = least;
  // Intervals, in ascending order, that may contain a larger step than the best
  // one so far, which is not above the first interval.
  struct Span {
    Point low, high;
  };
  std::vector<Span> open;
  auto offer = [&](const Point &point) {
    if (point.step <= best.step || !(point.error <= limit))
      return false;
    best.step = point.step;
    best.error = point.error;
    open.clear();
    return true;
  };
  for (Point low = evaluate(atoms, levels, least.step); low.step < maxStep;) {
    Point high =
        evaluate(atoms, levels, std::min(maxStep, low.step / kStepScanRatio));
    if (!offer(high))
      open.push_back({low, high});
    low = high;
  }
  // Looking through all stretches takes passes in proportion to the levels.
  bool onlyFirst = levels.hi - levels.lo + 1 > kWideGrid;
  if (onlyFirst && !open.empty())
    open.resize(1);
  while (!open.empty()) {
    auto [low, high] = open.back();
    open.pop_back();
    double width = high.step - low.step;
    if (!(width > kNarrow * low.step) ||
        !(lowerBound(low.error, high.error, width, low.curvature) <= limit))
      continue;
    Point middle = evaluate(atoms, levels, low.step + width / 2);
    bool isBest = offer(middle);
    if (!isBest)
      open.push_back({low, middle});
    if (isBest || !onlyFirst)
      open.push_back({middle, high});
  }
  // The least of errors that are equal up to 1e-9 need not be the smallest.
  if (best.step != least.step)
    best.bound =
        std::max(0.0, (1 + least.bound) * best.error / least.error - 1);
  return best;
}

GridCandidate searchStepAndZeroPoint(const ScaledAtoms &atoms, int levelCount,
                                     GridCandidate start) {
  ZeroPoints zeroPoints(atoms, levelCount);
  Search search(atoms, {}, &zeroPoints, start, levelCount);
  return search.run(
      kSmallestStep,
      std::max(start.step, largestUniformStep(atoms, levelCount)));
}

} // namespace mct::quantization
