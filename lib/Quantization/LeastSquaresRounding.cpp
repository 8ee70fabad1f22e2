// SPDX-License-Identifier: Apache-2.0

#include "mct/Quantization/LeastSquaresRounding.h"

#include "ProductMoments.h"
#include "RoundingCandidates.h"
#include "RoundingGroup.h"
#include "mct/Quantization/Parallel.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <numeric>
#include <tuple>
#include <utility>

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

  const WeightLevels &getLevels(size_t candidate, size_t channel) const {
    const std::vector<WeightLevels> &all = problem.candidates[candidate];
    return all.size() == 1 ? all.front() : all[channel];
  }
  void forChannels(size_t atATime, Task task) const;
  /// Fills in the scores of the candidates that `requested` names for a
  /// channel.
  void score(size_t atATime,
             llvm::function_ref<void(size_t, std::vector<size_t> &)> requested);
  void scoreAllCandidates();
  /// Scores, for each channel, the candidates around the one of the least
  /// estimate, and those around the best of them, until no better one is found.
  void scoreAroundBest();
  /// Returns the candidate of the least estimate for each channel.
  std::vector<size_t> estimateBest(size_t atATime);
  /// Returns the candidates in the order of the ranges of their levels.
  std::vector<size_t> orderByWidth() const;
  std::vector<size_t> choose(llvm::ArrayRef<float> scores) const {
    return chooseCandidates(scores, problem.candidates.size(),
                            problem.choosesPerChannel);
  }
  /// Rounds to the chosen levels.
  void finish();
  void finish(const RoundingGroup &group, size_t first, size_t begin,
              size_t end);
  /// Stores row `row` of `point` for a channel; `first` is the first channel of
  /// the group.
  void take(const RoundingGroup &group, const RoundingGroup::Point &point,
            size_t row, size_t first, size_t output);

  const RoundingProblem &problem;
  const support::Threads &threads;
  size_t outputs = 0, columns = 0, channels = 0;
  /// Kept if it is the only group.
  std::unique_ptr<RoundingGroup> single;
  /// [channels, candidates].
  std::vector<float> scores;
  RoundedWeights result;
};
} // namespace

/// Threads share the channels of one wide group, or whole groups if there are
/// many. The channels that are computed together do not depend on the number of
/// threads.
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
  auto findLeast = [&](auto score) {
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
      chosen[channel] = findLeast([&](size_t candidate) {
        return scores[channel * candidates + candidate];
      });
    return chosen;
  }
  chosen.assign(channels, findLeast([&](size_t candidate) {
                  double sum = 0;
                  for (size_t channel = 0; channel != channels; ++channel)
                    sum += double(scores[channel * candidates + candidate]);
                  return sum;
                }));
  return chosen;
}

void LayerRounding::score(
    size_t atATime,
    llvm::function_ref<void(size_t, std::vector<size_t> &)> requested) {
  size_t candidates = problem.candidates.size();
  forChannels(atATime, [&](const RoundingGroup &group, size_t first,
                           size_t begin, size_t end) {
    std::vector<RoundingLane> lanes;
    std::vector<size_t> places, of;
    for (size_t output = begin; output != end; ++output) {
      of.clear();
      requested(first + output, of);
      for (size_t candidate : of) {
        lanes.push_back({output, &getLevels(candidate, first + output)});
        places.push_back((first + output) * candidates + candidate);
      }
    }
    if (lanes.empty())
      return;
    for (auto [place, objective] :
         llvm::zip(places, group.roundLanes(lanes, nullptr)))
      scores[place] = objective;
  });
}

void LayerRounding::scoreAllCandidates() {
  constexpr size_t kLanes = 256;
  size_t candidates = problem.candidates.size();
  scores.assign(channels * candidates, std::numeric_limits<float>::infinity());
  score(std::max<size_t>(1, kLanes / candidates),
        [&](size_t, std::vector<size_t> &requested) {
          llvm::append_range(requested, llvm::seq<size_t>(0, candidates));
        });
}

std::vector<size_t> LayerRounding::orderByWidth() const {
  std::vector<size_t> order(problem.candidates.size());
  std::iota(order.begin(), order.end(), 0);
  auto width = [&](size_t candidate) {
    const WeightLevels &levels = getLevels(candidate, 0);
    return levels.levels.empty()
               ? levels.grid.step * double(levels.grid.qmax - levels.grid.qmin)
               : double(levels.levels.back()) - double(levels.levels.front());
  };
  llvm::sort(order, [&](size_t a, size_t b) {
    return std::make_pair(width(a), a) < std::make_pair(width(b), b);
  });
  return order;
}

std::vector<size_t> LayerRounding::estimateBest(size_t atATime) {
  size_t candidates = problem.candidates.size();
  std::vector<float> estimates(channels * candidates);
  forChannels(atATime, [&](const RoundingGroup &group, size_t first,
                           size_t begin, size_t end) {
    std::vector<RoundingLane> lanes;
    for (size_t output = begin; output != end; ++output)
      for (size_t candidate = 0; candidate != candidates; ++candidate)
        lanes.push_back({output, &getLevels(candidate, first + output)});
    llvm::copy(group.estimate(lanes),
               estimates.begin() + (first + begin) * candidates);
  });
  return choose(estimates);
}

void LayerRounding::scoreAroundBest() {
  /// Number of candidates on each side.
  constexpr size_t kReach = 2;
  // Wide products are quicker; enough tasks keep all threads busy.
  constexpr size_t kMostChannels = 64, kLeastChannels = 8, kTasks = 8;
  size_t atATime = std::clamp(outputs / kTasks, kLeastChannels, kMostChannels);
  size_t candidates = problem.candidates.size();
  std::vector<size_t> order = orderByWidth(), placeByCandidate(candidates);
  for (auto [place, candidate] : llvm::enumerate(order))
    placeByCandidate[candidate] = place;
  scores.assign(channels * candidates, std::numeric_limits<float>::infinity());
  // Use bytes rather than bits, since threads write adjacent elements.
  std::vector<uint8_t> known(scores.size(), 0);
  std::vector<size_t> best = estimateBest(atATime);
  std::vector<size_t> before;
  do {
    score(atATime, [&](size_t channel, std::vector<size_t> &requested) {
      size_t place = placeByCandidate[best[channel]];
      for (size_t other = place - std::min(place, kReach),
                  end = std::min(candidates, place + kReach + 1);
           other != end; ++other)
        if (!std::exchange(known[channel * candidates + order[other]], 1))
          requested.push_back(order[other]);
    });
    before = std::exchange(best, choose(scores));
  } while (best != before && !threads.isCancelled());
}

void LayerRounding::take(const RoundingGroup &group,
                         const RoundingGroup::Point &point, size_t row,
                         size_t first, size_t output) {
  size_t channel = first + output;
  llvm::ArrayRef<float> weights =
      llvm::ArrayRef<float>(point.weights).slice(row * columns, columns);
  std::tie(result.error[channel], result.objective[channel]) =
      group.measure(output, weights, point.objectives[row]);
  llvm::copy(weights, result.weights.begin() + channel * columns);
  double bias = group.moments.targetMean[output];
  for (auto [weight, mean] : llvm::zip(weights, group.moments.inputMean))
    bias -= double(weight) * mean;
  result.bias[channel] = bias;
}

void LayerRounding::finish(const RoundingGroup &group, size_t first,
                           size_t begin, size_t end) {
  std::vector<RoundingLane> lanes;
  std::vector<size_t> groupOutputs;
  std::vector<float> nearest, rounded;
  for (size_t output = begin; output != end; ++output) {
    size_t channel = first + output;
    groupOutputs.push_back(output);
    lanes.push_back({output, &getLevels(result.chosen[channel], channel)});
    for (float weight : group.original.slice(output * columns, columns))
      nearest.push_back(getLevels(0, channel).nearest(double(weight)));
  }
  group.roundLanes(lanes, &rounded);
  if (group.isSmall())
    group.search(lanes, rounded);
  std::vector<double> nearestObjectives =
      group.computeObjectives(groupOutputs, nearest);
  RoundingGroup::Point point = group.pointAt(groupOutputs, std::move(rounded));
  // Nearest plane is the better start on average, not always.
  std::vector<size_t> losing;
  std::vector<float> losingNearest;
  for (auto [row, output] : llvm::enumerate(groupOutputs)) {
    size_t channel = first + output;
    auto own = llvm::ArrayRef<float>(nearest).slice(row * columns, columns);
    std::tie(result.nearestError[channel], result.nearestObjective[channel]) =
        group.measure(output, own, nearestObjectives[row]);
    group.descend(*lanes[row].second, row, point);
    take(group, point, row, first, output);
    if (result.objective[channel] > result.nearestObjective[channel] &&
        (problem.choosesPerChannel || result.chosen[channel] == 0)) {
      losing.push_back(output);
      llvm::append_range(losingNearest, own);
    }
  }
  if (losing.empty())
    return;
  point = group.pointAt(losing, std::move(losingNearest));
  for (auto [row, output] : llvm::enumerate(losing)) {
    size_t channel = first + output;
    result.chosen[channel] = 0;
    group.descend(getLevels(0, channel), row, point);
    take(group, point, row, first, output);
  }
}

void LayerRounding::finish() {
  // Wide layers take more channels at a time, as all of these share one pass
  // over the covariance.
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
  scoreAllCandidates();
  return std::move(scores);
}

RoundedWeights LayerRounding::run() {
  if (problem.groups.empty())
    return {};
  start();
  if (problem.candidates.size() > 1) {
    // All candidates of few columns are scored as quickly.
    if (int64_t(columns) > kFewColumns)
      scoreAroundBest();
    else
      scoreAllCandidates();
    result.chosen = choose(scores);
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
