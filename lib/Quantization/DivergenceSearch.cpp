// SPDX-License-Identifier: Apache-2.0

#include "DivergenceSearch.h"

#include <algorithm>
#include <cmath>

namespace mct::quantization {

// Widths of uniform ranges that are tried; with every zero point they are many.
static constexpr int kUniformWidths = 256;

Smoothing smoothing(double smallest, size_t emptyBins, size_t otherBins) {
  double empty = static_cast<double>(emptyBins);
  double other = static_cast<double>(otherBins);
  double added = smallest / (2 * (empty + other));
  return {added, added * empty / other};
}

BinnedDistribution::BinnedDistribution(const ScaledAtoms &atoms,
                                       int binsPerUnit)
    : width(1.0 / binsPerUnit) {
  llvm::ArrayRef<double> values = atoms.values(), weights = atoms.weights();
  auto getBin = [&](double value) {
    return static_cast<int64_t>(std::floor(value * binsPerUnit));
  };
  int64_t first = std::numeric_limits<int64_t>::max(), last = -first;
  auto getWeight = [&](size_t i) { return weights.empty() ? 1.0 : weights[i]; };
  for (size_t i = 0; i < atoms.size(); ++i)
    if (values[i] != 0 && getWeight(i) > 0) {
      first = std::min(first, getBin(values[i]));
      last = std::max(last, getBin(values[i]));
    }
  if (first > last)
    return;
  firstBin = first;
  counts.resize(last - first + 1);
  double total = 0;
  for (size_t i = 0; i < atoms.size(); ++i)
    if (values[i] != 0 && getWeight(i) > 0) {
      counts[getBin(values[i]) - first] += getWeight(i);
      total += getWeight(i);
    }

  sums.push_back(0);
  populated.push_back(0);
  double smallest = HUGE_VAL;
  for (double &count : counts) {
    count /= total;
    sums.push_back(sums.back() + count);
    populated.push_back(populated.back() + (count > 0));
    if (count > 0)
      smallest = std::min(smallest, count);
  }
  size_t others = populated.back(), empty = counts.size() - others;
  ownSmoothing = smoothing(smallest, empty, others);
  if (empty > 0)
    entropyTerm = empty * ownSmoothing.added * std::log(ownSmoothing.added);
  for (double count : counts)
    if (count > 0)
      entropyTerm += (count - ownSmoothing.removed) *
                     std::log(count - ownSmoothing.removed);
}

BinnedDistribution::Inside BinnedDistribution::inside(double lo,
                                                      double hi) const {
  // Bins are closed on the left.
  double size = static_cast<double>(counts.size());
  double begin = std::floor(lo / width) - firstBin;
  double end = std::floor(hi / width) + 1 - firstBin;
  begin = std::clamp(begin, 0.0, size);
  return {static_cast<int>(begin),
          static_cast<int>(std::clamp(end, begin, size))};
}

bool BinnedDistribution::tooFewBins(Inside range, LevelRange levels) const {
  double needed = std::min(levels.hi - levels.lo + 1,
                           static_cast<double>(counts.size()) / 8);
  return range.end - range.begin < needed || range.end == range.begin ||
         populated[range.end] == populated[range.begin];
}

double BinnedDistribution::leastDivergence(Inside range) const {
  // The bound distinguishes only bins to which Q gives something from those to
  // which it gives nothing.
  double others = populated[range.end] - populated[range.begin];
  double reached =
      sums[range.end] - sums[range.begin] - others * ownSmoothing.removed;
  double missed = 1 - reached;
  // The smallest part that Q gives to a bin is at most the mean one.
  double missedInQ =
      0.5 / others * (1 - others / static_cast<double>(counts.size()));
  if (missed <= missedInQ)
    return 0;
  return missed * std::log(missed / missedInQ) +
         (reached > 0 ? reached * std::log(reached / (1 - missedInQ)) : 0.0);
}

double BinnedDistribution::divergence(LevelRange levels, double step, double lo,
                                      double hi) const {
  Inside range = inside(lo, hi);
  if (tooFewBins(range, levels))
    return HUGE_VAL;
  double ratio = step / width;
  struct Run {
    double part; // of a bin, by Q before smoothing
    double weight;
    int bins;
  };
  // There are at most 2^16 levels, and no more runs than bins.
  std::vector<Run> runs;
  runs.reserve(std::min<size_t>(counts.size(), levels.hi - levels.lo + 1));
  double smallest = HUGE_VAL;
  int begin = range.begin;
  double clippedBelow = sums[range.begin];
  for (double level = levels.lo; begin < range.end; ++level) {
    int end = range.end;
    if (level < levels.hi) {
      // Bin centres halfway between this level and the next are rounded to the
      // even one.
      double boundary = (level + 0.5) * ratio - 0.5 - firstBin;
      double next = std::ceil(boundary);
      if (next == boundary && std::fmod(level, 2) == 0)
        next += 1;
      if (next <= begin)
        continue;
      end = next < range.end ? static_cast<int>(next) : range.end;
    }
    int bins = populated[end] - populated[begin];
    if (bins > 0) {
      double weight = sums[end] - sums[begin];
      double part = weight;
      if (level == levels.lo)
        part += clippedBelow;
      if (level == levels.hi)
        part += 1 - sums[range.end];
      part /= bins;
      smallest = std::min(smallest, part);
      runs.push_back({part, weight, bins});
    }
    begin = end;
  }
  size_t reachedBins = populated[range.end] - populated[range.begin];
  Smoothing smooth =
      smoothing(smallest, counts.size() - reachedBins, reachedBins);
  double crossTerm = 0, reached = 0;
  for (const Run &run : runs) {
    double weight = run.weight - run.bins * ownSmoothing.removed;
    crossTerm += weight * std::log(run.part - smooth.removed);
    reached += weight;
  }
  if (reachedBins < counts.size())
    crossTerm += (1 - reached) * std::log(smooth.added);
  return std::max(0.0, entropyTerm - crossTerm);
}

double BinnedDistribution::symmetricDivergence(LevelRange levels,
                                               double step) const {
  double threshold = (levels.hi + 1) * step;
  return divergence(levels, step, levels.lo < 0 ? -threshold : 0.0, threshold);
}

double BinnedDistribution::uniformDivergence(LevelRange levels,
                                             double step) const {
  return divergence(levels, step, (levels.lo - 0.5) * step,
                    (levels.hi + 0.5) * step);
}

GridCandidate BinnedDistribution::searchSymmetric(LevelRange levels,
                                                  double minStep,
                                                  double startStep) const {
  GridCandidate best = {startStep, 0, symmetricDivergence(levels, startStep)};
  double perThreshold = levels.hi + 1;
  // Thresholds above twice the largest value give nothing new.
  double extent = std::max<double>(
      -firstBin, firstBin + static_cast<int64_t>(counts.size()));
  double most = std::min(startStep * perThreshold / width, 2 * extent);
  for (double bins = std::floor(most); bins >= 1; --bins) {
    double threshold = bins * width, step = threshold / perThreshold;
    if (step < minStep)
      break;
    Inside range = inside(levels.lo < 0 ? -threshold : 0.0, threshold);
    if (tooFewBins(range, levels))
      break;
    if (leastDivergence(range) >= best.error)
      continue;
    double error = symmetricDivergence(levels, step);
    if (error < best.error)
      best = {step, 0, error};
  }
  return best;
}

GridCandidate BinnedDistribution::searchUniform(int levelCount,
                                                double startStep,
                                                int startZeroPoint) const {
  int last = levelCount - 1;
  double least = std::min(0.0, width * firstBin);
  double most =
      std::max(0.0, width * (firstBin + static_cast<int64_t>(counts.size())));
  auto getLevels = [&](int zeroPoint) {
    return LevelRange{-double(zeroPoint), double(last - zeroPoint)};
  };
  GridCandidate best = {
      startStep, startZeroPoint,
      uniformDivergence(getLevels(startZeroPoint), startStep)};
  auto tryZeroPoint = [&](int zeroPoint) {
    LevelRange levels = getLevels(zeroPoint);
    for (int part = kUniformWidths; part >= 1; --part) {
      double step = startStep * part / kUniformWidths;
      // A range that extends beyond the data on one side is as good when moved
      // back.
      if ((levels.lo + 0.5) * step < least || (levels.hi - 0.5) * step > most)
        continue;
      Inside range = inside((levels.lo - 0.5) * step, (levels.hi + 0.5) * step);
      if (tooFewBins(range, levels))
        break;
      if (leastDivergence(range) >= best.error)
        continue;
      double error = uniformDivergence(levels, step);
      if (error < best.error)
        best = {step, zeroPoint, error};
    }
  };
  tryZeroPoint(startZeroPoint);
  for (int distance = 1; distance <= last; ++distance)
    for (int zeroPoint : {startZeroPoint + distance, startZeroPoint - distance})
      if (zeroPoint >= 0 && zeroPoint <= last)
        tryZeroPoint(zeroPoint);
  return best;
}

} // namespace mct::quantization
