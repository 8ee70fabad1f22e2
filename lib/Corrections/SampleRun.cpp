// SPDX-License-Identifier: Apache-2.0
#include "SampleRun.h"

using namespace mlir;
using namespace mct;
using namespace mct::corrections;
using execution::ResultDistance;

/// Limit on the bytes of results of the float network in memory.
static constexpr int64_t kResultBytes = int64_t(16) << 20;

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

/// Summaries of all layers on all workers.
class SampleRun::Observers {
public:
  Observers(ArrayRef<ChannelSummary> empty) : empty(empty) {}

  void attach(execution::Worker &worker) {
    std::vector<SummaryObserver> &own = workers.emplace_back();
    own.reserve(empty.size());
    for (auto [layer, summary] : llvm::enumerate(empty)) {
      own.emplace_back(summary);
      worker.setObserver(layer, &own.back());
    }
  }
  std::vector<ChannelSummary> take() {
    std::vector<ChannelSummary> all;
    for (SummaryObserver &observer : workers.front())
      all.push_back(std::move(observer.summary));
    for (const std::vector<SummaryObserver> &own : llvm::drop_begin(workers))
      for (auto [summary, other] : llvm::zip(all, own))
        summary.merge(other.summary);
    return all;
  }

private:
  ArrayRef<ChannelSummary> empty;
  std::vector<std::vector<SummaryObserver>> workers;
};

LogicalResult SampleRun::forEachUnit(
    const execution::Executor &executor, const Version *version,
    Observers &observers,
    llvm::function_ref<llvm::Error(const execution::Unit &, size_t)> done)
    const {
  if (llvm::Error error = execution::forEachUnit(
          executor, *source, networks.options,
          [&](size_t, execution::Worker &worker) {
            observers.attach(worker);
            if (!version)
              return;
            worker.setReplacements(version->replaced);
            for (const auto &[layer, editor] : version->editors)
              worker.setEditor(layer, editor);
          },
          [&](const execution::Unit &unit) { return done(unit, unit.worker); }))
    return emitError(networks.loc) << llvm::toString(std::move(error));
  return success();
}

std::unique_ptr<ResultDistance>
SampleRun::createReference(const execution::Executor &floating,
                           func::FuncOp function, int64_t samples) {
  auto results = std::make_unique<ResultDistance>(
      floating.outputs(), floating.unit(), samples, kResultBytes,
      findResultGroups(function));
  if (results->isEmpty())
    results.reset();
  return results;
}

std::shared_ptr<const ResultDistance>
SampleRun::finishReference(std::unique_ptr<ResultDistance> results) {
  if (!results)
    return nullptr;
  // Values that are not finite cannot be compared.
  if (llvm::Error error = results->decide(execution::ResultMetric::MSE)) {
    llvm::consumeError(std::move(error));
    return nullptr;
  }
  return results;
}

LogicalResult SampleRun::runFloat(bool moments, bool keepsResults) {
  const execution::Executor &executor = *networks.floating;
  exactly.unit = executor.unit();
  std::vector<ChannelSummary> empty =
      createSummaries(executor, source->numSamples(), networks.floatFunction,
                      networks.layers, moments);
  std::unique_ptr<ResultDistance> results;
  if (keepsResults)
    results =
        createReference(executor, networks.floatFunction, source->numSamples());
  Observers observers(empty);
  if (failed(forEachUnit(executor, /*version=*/nullptr, observers,
                         [&](const execution::Unit &unit, size_t) {
                           return results ? results->keep(unit.index,
                                                          unit.validSamples,
                                                          unit.outputs)
                                          : llvm::Error::success();
                         })))
    return failure();
  exactly.layers = observers.take();
  exactly.results = finishReference(std::move(results));
  return success();
}

FailureOr<SampleRun::Measurement>
SampleRun::run(const execution::Executor &executor, const Version &version,
               bool measuresLayers) const {
  std::vector<ChannelSummary> empty;
  if (measuresLayers)
    for (const ChannelSummary &summary : exact())
      empty.push_back(summary.fresh());
  Observers observers(empty);
  Measurement measured;
  const ResultDistance *results =
      comparesResults() ? exactly.results.get() : nullptr;
  if (results)
    measured.errors = results->createComparison();
  std::vector<std::vector<float>> scratch(
      execution::numWorkers(executor, *source, networks.options));
  if (failed(forEachUnit(executor, &version, observers,
                         [&](const execution::Unit &unit, size_t worker) {
                           return results ? results->compare(
                                                unit.index, unit.validSamples,
                                                unit.outputs, scratch[worker],
                                                measured.errors)
                                          : llvm::Error::success();
                         })))
    return failure();
  if (measuresLayers)
    measured.layers = observers.take();
  return measured;
}

//===----------------------------------------------------------------------===//
// Losses
//===----------------------------------------------------------------------===//

std::optional<JudgedLoss>
mct::corrections::findWorstLoss(ArrayRef<const SampleRun *> runs,
                                ArrayRef<SampleRun::Measurement> with,
                                ArrayRef<SampleRun::Measurement> without,
                                const std::set<size_t> &lost, bool isFitted) {
  SmallVector<const ResultDistance *> references;
  SmallVector<const ResultDistance::Comparison *> left, right;
  for (auto [run, errors, others] : llvm::zip_equal(runs, with, without)) {
    if (!run->comparesResults())
      return std::nullopt;
    references.push_back(&run->reference());
    left.push_back(&errors.errors);
    right.push_back(&others.errors);
  }
  return findWorstLoss(references, left, right, lost, isFitted);
}

std::optional<JudgedLoss> mct::corrections::findWorstLoss(
    ArrayRef<const ResultDistance *> references,
    ArrayRef<const ResultDistance::Comparison *> with,
    ArrayRef<const ResultDistance::Comparison *> without,
    const std::set<size_t> &lost, bool isFitted) {
  // Smaller losses, in dB, do not matter.
  constexpr double kLeast = 0.1;
  // Share of the float results below which a difference counts as exact.
  constexpr double kNegligible = 1e-12;
  std::optional<JudgedLoss> worst, largest;
  double losses = 0, standardErrors = 0;
  // All runs have the same parts, which depend only on the types of the
  // results.
  ArrayRef<ResultDistance::Part> parts = references.front()->getParts();
  for (auto [number, part] : llvm::enumerate(parts)) {
    auto output = int64_t(part.output);
    std::vector<double> left, right;
    double energy = 0;
    for (auto [reference, errors, others] :
         llvm::zip_equal(references, with, without)) {
      llvm::append_range(left, errors->distances[number]);
      llvm::append_range(right, others->distances[number]);
      energy += reference->computeEnergy(number);
    }
    JudgedLoss found{
        output,
        quantization::compareErrors(
            left, right,
            std::max(kNegligible * energy, std::numeric_limits<double>::min())),
        number};
    losses += found.loss.loss;
    standardErrors += found.loss.standardError;
    if (!largest || found.loss.loss > largest->loss.loss)
      largest = found;
    bool loses = lost.count(number)
                     ? found.loss.loss + found.loss.standardError > kLeast
                     : found.loss.loss > kLeast &&
                           (isFitted || found.loss.isBeyondChance());
    if (loses && (!worst || found.isWorseThan(*worst)))
      worst = found;
  }
  // Few samples show hardly any loss of one part beyond chance. All parts
  // together need not lose that surely: a change that probably loses is no
  // correction. Standard errors are infinite for samples that judge nothing.
  if (!worst && largest &&
      losses > std::max(kLeast * double(parts.size()), standardErrors))
    return largest;
  return worst;
}

namespace {
/// QuickXplain, with a limit on the number of trials.
class Explanation {
public:
  using Loses = std::function<FailureOr<bool>(const std::vector<bool> &undone)>;
  Explanation(std::vector<bool> undone, const Loses &loses, int mostTrials)
      : undone(std::move(undone)), loses(loses), trials(mostTrials) {}

  /// Returns a minimal part of `candidates` that must be undone in addition to
  /// `undone`.
  FailureOr<std::vector<size_t>> find(ArrayRef<size_t> candidates) {
    if (candidates.size() <= 1 || trials <= 0)
      return candidates.vec();
    ArrayRef<size_t> first = candidates.take_front(candidates.size() / 2),
                     second = candidates.drop_front(candidates.size() / 2);
    // Try the layers near the results first: they cause losses more often.
    for (ArrayRef<size_t> half : {second, first}) {
      FailureOr<bool> lost = losesWithout(half);
      if (failed(lost))
        return failure();
      if (!*lost)
        return find(half);
    }
    FailureOr<std::vector<size_t>> fromSecond = findBeside(second, first);
    if (failed(fromSecond))
      return failure();
    FailureOr<std::vector<size_t>> fromFirst = findBeside(first, *fromSecond);
    if (failed(fromFirst))
      return failure();
    llvm::append_range(*fromSecond, *fromFirst);
    return fromSecond;
  }

private:
  void set(ArrayRef<size_t> layers, bool isUndone) {
    for (size_t layer : layers)
      undone[layer] = isUndone;
  }
  FailureOr<bool> losesWithout(ArrayRef<size_t> layers) {
    --trials;
    set(layers, true);
    FailureOr<bool> lost = loses(undone);
    set(layers, false);
    return lost;
  }
  /// Finds the layers of `candidates` that are harmful if others are undone,
  /// too.
  FailureOr<std::vector<size_t>> findBeside(ArrayRef<size_t> candidates,
                                            ArrayRef<size_t> others) {
    set(others, true);
    FailureOr<std::vector<size_t>> found = find(candidates);
    set(others, false);
    return found;
  }

  std::vector<bool> undone;
  const Loses &loses;
  int trials;
};
} // namespace

FailureOr<std::vector<size_t>> mct::corrections::findHarmfulLayers(
    std::vector<bool> undone,
    const std::function<FailureOr<bool>(const std::vector<bool> &)> &loses,
    int mostTrials) {
  std::vector<size_t> candidates;
  for (auto [layer, isUndone] : llvm::enumerate(undone))
    if (!isUndone)
      candidates.push_back(layer);
  return Explanation(std::move(undone), loses, mostTrials).find(candidates);
}
