// SPDX-License-Identifier: Apache-2.0

#include "mct/Quantization/LeastSquaresRounding.h"

#include "ProductMoments.h"
#include "RoundingCandidates.h"
#include "RoundingGroup.h"
#include "mct/Quantization/Parallel.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <tuple>

namespace mct::quantization {

namespace {
class LayerRounding {
public:
  LayerRounding(const RoundingProblem &problem, const support::Threads &threads)
      : problem(problem), threads(threads) {}
  RoundedWeights run();
  /// Returns, as [channels, candidates], |R (q - w*)|^2 of the rounding by each
  /// candidate.
  std::vector<float> scoreAll();

private:
  void start();
  /// Some channels of one group.
  using Task = llvm::function_ref<void(
      const RoundingGroup &, size_t firstChannel, size_t begin, size_t end)>;

  const WeightLevels &levelsOf(size_t candidate, size_t channel) const {
    const std::vector<WeightLevels> &all = problem.candidates[candidate];
    return all.size() == 1 ? all.front() : all[channel];
  }
  void forChannels(size_t atATime, Task task) const;
  /// Fills in the scores of the candidates that `wanted` names for a channel.
  void score(llvm::function_ref<void(size_t, std::vector<size_t> &)> wanted);
  /// Scores all candidates; of a wide layer, unless `all`, some and those
  /// around the best of them.
  void scoreCandidates(bool all);
  /// The same where each channel chooses for itself: a candidate is given up as
  /// soon as it exceeds the best one, and counts as infinite.
  void scoreBounded(llvm::ArrayRef<size_t> order, size_t stride);
  /// Rounds to the levels that were chosen.
  void finish();
  void finish(const RoundingGroup &group, size_t first, size_t begin,
              size_t end);

  const RoundingProblem &problem;
  const support::Threads &threads;
  size_t outputs = 0, columns = 0, channels = 0;
  /// Kept where it is the only one.
  std::unique_ptr<RoundingGroup> single;
  /// [channels, candidates].
  std::vector<float> scores;
  RoundedWeights result;
};
} // namespace

/// One wide group is shared by its channels, many small ones by groups. What is
/// computed together does not depend on the threads.
void LayerRounding::forChannels(size_t atATime, Task task) const {
  if (single)
    return parallelFor(
        (outputs + atATime - 1) / atATime, threads, [&](size_t block) {
          if (threads.isCancelled())
            return;
          size_t begin = block * atATime;
          task(*single, 0, begin, std::min(outputs, begin + atATime));
        });
  parallelFor(problem.groups.size(), threads, [&](size_t number) {
    if (threads.isCancelled())
      return;
    RoundingGroup group(
        problem.groups[number],
        problem.weights.slice(number * outputs * columns, outputs * columns),
        problem.damping, 1);
    for (size_t begin = 0; begin < outputs; begin += atATime)
      task(group, number * outputs, begin, std::min(outputs, begin + atATime));
  });
}

std::vector<size_t> chooseCandidates(llvm::ArrayRef<float> scores,
                                     size_t candidates, bool perChannel) {
  auto leastOf = [&](auto score) {
    size_t best = 0;
    for (size_t candidate = 1; candidate < candidates; ++candidate)
      if (score(candidate) < score(best))
        best = candidate;
    return best;
  };
  size_t channels = scores.size() / candidates;
  std::vector<size_t> chosen(channels);
  if (perChannel) {
    for (size_t channel = 0; channel != channels; ++channel)
      chosen[channel] = leastOf([&](size_t candidate) {
        return scores[channel * candidates + candidate];
      });
    return chosen;
  }
  chosen.assign(channels, leastOf([&](size_t candidate) {
                  double sum = 0;
                  for (size_t channel = 0; channel != channels; ++channel)
                    sum += double(scores[channel * candidates + candidate]);
                  return sum;
                }));
  return chosen;
}

void LayerRounding::score(
    llvm::function_ref<void(size_t, std::vector<size_t> &)> wanted) {
  size_t candidates = problem.candidates.size();
  constexpr size_t kLanes = 256;
  size_t atATime = std::max<size_t>(1, kLanes / candidates);
  forChannels(atATime, [&](const RoundingGroup &group, size_t first,
                           size_t begin, size_t end) {
    std::vector<RoundingLane> lanes;
    std::vector<size_t> places, of;
    for (size_t output = begin; output != end; ++output) {
      of.clear();
      wanted(first + output, of);
      for (size_t candidate : of) {
        lanes.push_back({output, &levelsOf(candidate, first + output)});
        places.push_back((first + output) * candidates + candidate);
      }
    }
    if (lanes.empty())
      return;
    std::vector<float> objectives(lanes.size());
    group.roundLanes(lanes, objectives.data(), nullptr);
    for (auto [place, objective] : llvm::zip(places, objectives))
      scores[place] = objective;
  });
}

/// Distance, by width, of the candidates of a wide layer that are scored first.
static constexpr size_t kStride = 4;

namespace {
/// Scores the candidates of some channels of a group.
class BoundedScores {
public:
  BoundedScores(const RoundingGroup &group, size_t begin, size_t end,
                llvm::function_ref<const WeightLevels &(size_t, size_t)> levels,
                llvm::MutableArrayRef<float> scores)
      : group(group), begin(begin), end(end), levels(levels), scores(scores),
        candidates(scores.size() / (end - begin)) {}

  /// Returns those of `which` of the least estimate, one for each channel.
  std::vector<size_t> estimateBest(llvm::ArrayRef<size_t> which) const;
  /// Returns the one of the least score, one for each channel.
  std::vector<size_t> best() const {
    return chooseCandidates(scores, candidates, /*perChannel=*/true);
  }
  /// Scores those that `wanted` names for a channel and that were not scored
  /// before.
  void score(llvm::function_ref<void(size_t, std::vector<size_t> &)> wanted);

private:
  const RoundingGroup &group;
  size_t begin, end;
  llvm::function_ref<const WeightLevels &(size_t candidate, size_t output)>
      levels;
  llvm::MutableArrayRef<float> scores;
  size_t candidates;
  std::vector<bool> known = std::vector<bool>(scores.size(), false);
};
} // namespace

std::vector<size_t>
BoundedScores::estimateBest(llvm::ArrayRef<size_t> which) const {
  std::vector<RoundingLane> lanes;
  for (size_t output = begin; output != end; ++output)
    for (size_t candidate : which)
      lanes.push_back({output, &levels(candidate, output)});
  std::vector<size_t> best = chooseCandidates(
      group.estimate(lanes), which.size(), /*perChannel=*/true);
  for (size_t &number : best)
    number = which[number];
  return best;
}

void BoundedScores::score(
    llvm::function_ref<void(size_t, std::vector<size_t> &)> wanted) {
  std::vector<RoundingLane> lanes;
  std::vector<size_t> places, of;
  std::vector<float> bounds;
  for (size_t channel = 0; channel != end - begin; ++channel) {
    of.clear();
    wanted(channel, of);
    float bound = std::numeric_limits<float>::infinity();
    for (size_t candidate = 0; candidate != candidates; ++candidate)
      bound = std::min(bound, scores[channel * candidates + candidate]);
    for (size_t candidate : of) {
      size_t place = channel * candidates + candidate;
      if (known[place])
        continue;
      known[place] = true;
      lanes.push_back({begin + channel, &levels(candidate, begin + channel)});
      places.push_back(place);
      bounds.push_back(bound);
    }
  }
  if (lanes.empty())
    return;
  std::vector<float> objectives(lanes.size());
  group.roundLanes(lanes, bounds, objectives.data());
  for (auto [place, objective] : llvm::zip(places, objectives))
    scores[place] = objective;
}

void LayerRounding::scoreBounded(llvm::ArrayRef<size_t> order, size_t stride) {
  size_t candidates = problem.candidates.size();
  std::vector<size_t> coarse, placeOf(candidates);
  for (size_t place = 0; place != candidates; ++place) {
    placeOf[order[place]] = place;
    if (place % stride == 0 || order[place] == 0)
      coarse.push_back(order[place]);
  }
  // Wide products are quicker; enough tasks keep all threads busy.
  constexpr size_t kMostChannels = 64, kLeastChannels = 8, kTasks = 8;
  size_t atATime = std::clamp(outputs / kTasks, kLeastChannels, kMostChannels);
  forChannels(atATime, [&](const RoundingGroup &group, size_t first,
                           size_t begin, size_t end) {
    auto levels = [&](size_t candidate, size_t output) -> const WeightLevels & {
      return levelsOf(candidate, first + output);
    };
    BoundedScores bounded(
        group, begin, end, levels,
        llvm::MutableArrayRef<float>(scores).slice((first + begin) * candidates,
                                                   (end - begin) * candidates));
    // Adds what lies less than `distance` strides away from a candidate.
    auto addNear = [&](size_t candidate, size_t distance,
                       std::vector<size_t> &wanted) {
      size_t place = placeOf[candidate], reach = distance * stride;
      for (size_t other : coarse)
        if (std::max(placeOf[other], place) - std::min(placeOf[other], place) <
            reach)
          wanted.push_back(other);
    };
    std::vector<size_t> near = bounded.estimateBest(coarse);
    for (size_t distance : {size_t(1), size_t(3), candidates})
      bounded.score([&](size_t channel, std::vector<size_t> &wanted) {
        addNear(near[channel], distance, wanted);
      });
    if (stride == 1)
      return;
    // Candidates around the best, which were left out.
    near = bounded.best();
    bounded.score([&](size_t channel, std::vector<size_t> &wanted) {
      size_t place = placeOf[near[channel]];
      size_t from = place < stride ? 0 : place - stride + 1;
      for (size_t other = from; other < std::min(candidates, place + stride);
           ++other)
        wanted.push_back(order[other]);
    });
  });
}

void LayerRounding::scoreCandidates(bool all) {
  size_t candidates = problem.candidates.size();
  scores.assign(channels * candidates, std::numeric_limits<float>::infinity());
  // By how wide their levels are.
  std::vector<size_t> order(candidates);
  std::iota(order.begin(), order.end(), 0);
  auto width = [&](size_t candidate) {
    const WeightLevels &levels = levelsOf(candidate, 0);
    return levels.levels.empty()
               ? levels.grid.step * double(levels.grid.qmax - levels.grid.qmin)
               : double(levels.levels.back()) - double(levels.levels.front());
  };
  llvm::sort(order, [&](size_t a, size_t b) {
    return std::make_pair(width(a), a) < std::make_pair(width(b), b);
  });
  size_t stride = all || int64_t(columns) <= kWideColumns ? 1 : kStride;
  // A candidate of few columns is done before it would be given up.
  if (!all && problem.choosesPerChannel && int64_t(columns) > kFewColumns)
    return scoreBounded(order, stride);
  score([&](size_t, std::vector<size_t> &wanted) {
    for (size_t place = 0; place < candidates; ++place)
      if (place % stride == 0 || order[place] == 0)
        wanted.push_back(order[place]);
  });
  if (stride == 1)
    return;
  // Candidates around the best, which were left out.
  std::vector<size_t> best =
      chooseCandidates(scores, candidates, problem.choosesPerChannel);
  std::vector<size_t> placeOf(candidates);
  for (size_t place = 0; place != candidates; ++place)
    placeOf[order[place]] = place;
  score([&](size_t channel, std::vector<size_t> &wanted) {
    size_t place = placeOf[best[channel]];
    size_t from = place < kStride ? 0 : place - kStride + 1;
    for (size_t other = from; other < std::min(candidates, place + kStride);
         ++other)
      if (other % kStride != 0 && order[other] != 0)
        wanted.push_back(order[other]);
  });
}

void LayerRounding::finish(const RoundingGroup &group, size_t first,
                           size_t begin, size_t end) {
  std::vector<RoundingLane> lanes;
  std::vector<float> nearest, rounded;
  for (size_t output = begin; output != end; ++output) {
    size_t channel = first + output;
    lanes.push_back({output, &levelsOf(result.chosen[channel], channel)});
    for (float weight : group.original.slice(output * columns, columns))
      nearest.push_back(levelsOf(0, channel).nearest(double(weight)));
  }
  std::vector<float> objectives(lanes.size());
  group.roundLanes(lanes, objectives.data(), &rounded);
  if (group.isSmall())
    group.search(lanes, rounded);
  // The nearest levels, and then the others.
  nearest.insert(nearest.end(), rounded.begin(), rounded.end());
  RoundingGroup::Point point =
      group.pointAt(begin, end - begin, std::move(nearest));
  for (size_t output = begin; output != end; ++output) {
    size_t channel = first + output, nearestRow = output - begin;
    std::tie(result.nearestError[channel], result.nearestObjective[channel]) =
        group.measure(output, nearestRow, point);
    size_t row = nearestRow + lanes.size();
    group.descend(*lanes[nearestRow].second, row, point);
    auto [error, objective] = group.measure(output, row, point);
    // Nearest plane is the better start on average, not always.
    if (objective > result.nearestObjective[channel] &&
        (problem.choosesPerChannel || result.chosen[channel] == 0)) {
      result.chosen[channel] = 0;
      row = nearestRow;
      group.descend(levelsOf(0, channel), row, point);
      std::tie(error, objective) = group.measure(output, row, point);
    }
    result.error[channel] = error;
    result.objective[channel] = objective;
    double bias = group.moments.targetMean[output];
    for (size_t column = 0; column != columns; ++column) {
      float weight = point.weights[row * columns + column];
      result.weights[channel * columns + column] = weight;
      bias -= double(weight) * group.moments.inputMean[column];
    }
    result.bias[channel] = bias;
  }
}

void LayerRounding::finish() {
  // A wide layer gets more, for all of them go through its covariance at once.
  size_t atATime = int64_t(columns) > kWideColumns
                       ? 128
                       : std::clamp<size_t>(outputs / 8, 32, 64);
  forChannels(atATime,
              [&](const RoundingGroup &group, size_t first, size_t begin,
                  size_t end) { finish(group, first, begin, end); });
}

void LayerRounding::start() {
  outputs = size_t(problem.groups.front().outputs);
  columns = size_t(problem.groups.front().columns);
  channels = outputs * problem.groups.size();
  result.weights.resize(channels * columns);
  result.chosen.assign(channels, 0);
  for (std::vector<double> *each :
       {&result.bias, &result.error, &result.nearestError, &result.objective,
        &result.nearestObjective})
    each->resize(channels);
  if (problem.groups.size() == 1)
    single = std::make_unique<RoundingGroup>(
        problem.groups.front(), problem.weights, problem.damping, threads);
}

std::vector<float> LayerRounding::scoreAll() {
  start();
  scoreCandidates(/*all=*/true);
  return std::move(scores);
}

RoundedWeights LayerRounding::run() {
  if (problem.groups.empty())
    return {};
  start();
  if (problem.candidates.size() > 1) {
    scoreCandidates(/*all=*/false);
    result.chosen = chooseCandidates(scores, problem.candidates.size(),
                                     problem.choosesPerChannel);
  }
  finish();
  auto total = [](llvm::ArrayRef<double> values) {
    return std::accumulate(values.begin(), values.end(), 0.0);
  };
  if (total(result.objective) > total(result.nearestObjective)) {
    result.chosen.assign(channels, 0);
    finish();
  }
  return std::move(result);
}

RoundedWeights roundLeastSquares(const RoundingProblem &problem,
                                 const support::Threads &threads) {
  return LayerRounding(problem, threads).run();
}

std::vector<float> scoreCandidates(const RoundingProblem &problem,
                                   const support::Threads &threads) {
  return LayerRounding(problem, threads).scoreAll();
}

} // namespace mct::quantization
