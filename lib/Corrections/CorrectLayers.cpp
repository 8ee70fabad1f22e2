// SPDX-License-Identifier: Apache-2.0
#include "CorrectLayers.h"
#include "FitMemory.h"
#include "Rejections.h"

#include "mct/Execution/RunCache.h"
#include "mct/Execution/SampleParts.h"

using namespace mlir;
using namespace mct;
using namespace mct::corrections;
using execution::SampleSource;
using execution::TensorView;

namespace {
/// Changes of the channels of each layer; empty for a layer that stays
/// unchanged.
using Changes = std::vector<SmallVector<quantization::Affine>>;

/// Corrects layers whose correction is not undone.
class SummaryVisitor : public LayerVisitor {
public:
  SummaryVisitor(ArrayRef<ChannelSummary> exact, int64_t numSamples,
                 const std::vector<bool> &undone, CorrectLayer correct)
      : changes(exact.size()), exact(exact), numSamples(numSamples),
        undone(undone), correct(correct), workers(exact.size()) {}

  void begin(ArrayRef<size_t> layers, size_t numWorkers) override {
    isAfterFound = !found.empty();
    for (size_t layer : layers)
      workers[layer].assign(numWorkers, exact[layer].fresh());
  }
  void observe(size_t layer, size_t worker, LayerValue /*what*/,
               const TensorView &output) override {
    workers[layer][worker].add(output);
  }
  FailureOr<LayerChange> finish(size_t layer) override {
    ChannelSummary &all = workers[layer].front();
    for (const ChannelSummary &other : llvm::drop_begin(workers[layer]))
      all.merge(other);
    if (failed(all.checkFinite()))
      return failure();
    if (known) {
      if (failed(takeKnown(layer, all)))
        return failure();
    } else if (!undone[layer])
      changes[layer] = correct(layer, exact[layer], all, numSamples);
    if (!measured.layers.empty())
      measured.layers[layer] = std::move(all);
    workers[layer].clear();
    return LayerChange{changes[layer], {}, {}};
  }
  bool observesResults() const override { return !comparisons.empty(); }
  void beginResults(size_t numWorkers) override { scratch.resize(numWorkers); }
  llvm::Error observeResults(size_t worker, int64_t unit, int64_t valid,
                             ArrayRef<void *> results) override {
    for (const auto &[reference, found] : comparisons)
      if (llvm::Error error =
              reference->compare(unit, valid, results, scratch[worker], *found))
        return error;
    return llvm::Error::success();
  }
  /// Compares the results with others; the caller owns `found`.
  void compareWith(const execution::ResultDistance &reference,
                   execution::ResultDistance::Comparison &found) {
    found = reference.createComparison();
    comparisons.emplace_back(&reference, &found);
  }

  /// Fills `measured` with the results of the network with the changes,
  /// compared with those of the float network (null if they are not compared).
  void keepMeasured(const execution::ResultDistance *reference) {
    if (reference)
      compareWith(*reference, measured.errors);
    measured.layers.assign(exact.begin(), exact.end());
  }

  Changes changes;
  SampleRun::Measurement measured;
  /// Moments merged over all shards, by which layers are corrected; null
  /// without shards.
  const MomentsOfLayers *known = nullptr;
  /// Moments of the first unknown layers, on this shard. The run ends before
  /// later layers are corrected, since those would not see the corrections of
  /// these.
  MomentsOfLayers found;

private:
  LogicalResult takeKnown(size_t layer, const ChannelSummary &measured) {
    auto moments = known->find(layer);
    if (moments != known->end()) {
      changes[layer] =
          correct(layer, exact[layer].with(moments->second.exact),
                  exact[layer].with(moments->second.measured), numSamples);
      return success();
    }
    if (isAfterFound)
      return failure();
    found[layer] = {exact[layer].getStatistics(), measured.getStatistics()};
    return success();
  }

  bool isAfterFound = false;
  ArrayRef<ChannelSummary> exact;
  int64_t numSamples;
  const std::vector<bool> &undone;
  CorrectLayer correct;
  /// Summaries of each layer, one for each worker.
  std::vector<std::vector<ChannelSummary>> workers;
  SmallVector<std::pair<const execution::ResultDistance *,
                        execution::ResultDistance::Comparison *>,
              2>
      comparisons;
  /// Scratch memory of each worker.
  std::vector<std::vector<float>> scratch;
};

class LayerCorrection {
public:
  LayerCorrection(const Layers &found, ArrayRef<Layer *> layers,
                  const execution::RunSettings &settings,
                  const LayerCorrectionOptions &options, CorrectLayer correct)
      : found(found), layers(layers), settings(settings), options(options),
        correct(correct), undone(layers.size(), false) {
    if (!options.method.empty() && settings.cache)
      memory = &settings.cache->get<FitMemory>();
  }

  LogicalResult run();

private:
  /// Samples that a correction is fitted to, and those that judge it.
  struct Fold {
    SampleRun *fitted = nullptr, *judging = nullptr;
    /// Results of the network without the correction; valid if `hasWithout`.
    SampleRun::Measurement without;
    bool hasWithout = false;
    /// The correction, and the results of the network with it.
    Changes changes;
    SampleRun::Measurement with;
  };

  /// Runs the float network on all required samples, and compiles the quantized
  /// one in its place.
  LogicalResult prepare();
  /// Compile one of the networks; `unit` as in `CompileOptions`.
  LogicalResult compileFloating(int64_t unit);
  LogicalResult compileQuantized();
  /// Finds the channels of the layers in copies of both networks.
  void copyNetworks();
  /// Applies the correction by the moments of all shards if they are complete;
  /// otherwise measures the next ones on this shard.
  LogicalResult runShards();
  LogicalResult divideSamples();
  /// Sets `known` to the remembered fit to these samples, if there is one.
  LogicalResult recall(const SampleSource &samples);
  /// Returns whether fits are remembered.
  bool remembers() const { return memory && memory->remembers(); }
  /// Returns whether results of the networks are compared.
  bool keepsResults() const { return options.judges || remembers(); }
  LogicalResult applyAndRemember();
  FailureOr<SampleRun *> add(std::shared_ptr<const SampleSource> samples,
                             bool isThinned, bool keepsResults);
  /// Corrects layer by layer; `measured` (may be null) gets the results of the
  /// network for the samples afterwards.
  FailureOr<Changes> fit(SampleRun &samples,
                         SampleRun::Measurement *measured = nullptr);
  Version getVersion(const Changes &changes, const std::vector<bool> &without);

  LogicalResult judge();
  LogicalResult judgeFolds(bool judgesLayers);
  LogicalResult fitFolds(bool measuresLayers);
  /// Runs the network without the correction, unless it has been run before.
  LogicalResult runWithout();
  bool undoLosingLayers();
  /// Returns the worst loss that remains if these layers are undone, without
  /// fitting the other layers again.
  FailureOr<std::optional<JudgedLoss>>
  findLossWithout(const std::vector<bool> &without);
  /// Undoes the layers that cause the loss.
  LogicalResult undoHarmful(const JudgedLoss &loss);
  LogicalResult apply(const Changes &changes);

  const Layers &found;
  ArrayRef<Layer *> layers;
  const execution::RunSettings &settings;
  const LayerCorrectionOptions &options;
  CorrectLayer correct;

  Layers::Networks both;
  SmallVector<ChannelValue> floatResults, results;
  std::unique_ptr<execution::NetworkRun> floating;
  std::unique_ptr<execution::Executor> executor;
  std::optional<SampleRun::Networks> networks;
  std::vector<std::unique_ptr<SampleRun>> runs;
  int64_t available = 0;
  SampleRun *main = nullptr;
  /// Memory of fits; null if nothing is remembered.
  FitMemory *memory = nullptr;
  /// The remembered fit of `main`; null if there is none.
  std::shared_ptr<const Fit> known;
  std::optional<execution::ResultDistance::Comparison> errorsToReference;
  /// Digest of the samples of `main`, if it is needed.
  std::string mainDigest;
  std::vector<Fold> folds;
  /// True if folds are judged on the samples to which they were fitted.
  bool judgesFitted = false;
  /// One flag for each layer: true if it is undone.
  std::vector<bool> undone;
  /// Parts of the results for which a loss has been observed.
  std::set<size_t> lost;
  std::vector<Rejection> rejections;
};
} // namespace

void LayerCorrection::copyNetworks() {
  auto getResults = [&](const IRMapping &mapping) {
    SmallVector<ChannelValue> values;
    for (auto [layer, value] : llvm::zip(layers, mapResults(layers, mapping)))
      values.push_back({value, layer->op.resultAxis()});
    return values;
  };
  both = found.cloneBoth();
  if (options.moments)
    both.quantized.walk([](tpc::QuantizeOp point) {
      if (point.isActivation())
        point.removeQuantizer();
    });
  floatResults = getResults(both.floatMapping);
  results = getResults(both.mapping);
}

LogicalResult LayerCorrection::prepare() {
  copyNetworks();
  for (int64_t unit = 0;;) {
    if (failed(compileFloating(unit)))
      return failure();
    unit = floating->executor().unit();
    if (failed(divideSamples()) || failed(compileQuantized()))
      return failure();
    // Results can only be compared in units of the same size.
    if (settings.maxMemory <= 0 || executor->unit() >= unit)
      return success();
    unit = executor->unit();
    runs.clear();
    folds.clear();
    main = nullptr;
    known.reset();
    executor.reset();
  }
}

LogicalResult LayerCorrection::compileFloating(int64_t unit) {
  execution::CompileOptions compiled =
      compileFloat(both.floating, floatResults, keepsResults());
  compiled.unit = unit;
  auto executors = compileQuietly(*both.module, compiled, settings);
  if (failed(executors))
    return failure();
  Location loc = both.module->getLoc();
  auto run = execution::NetworkRun::prepare(loc, std::move(executors->front()),
                                            settings);
  if (failed(run))
    return failure();
  floating = std::make_unique<execution::NetworkRun>(std::move(*run));
  networks.emplace(SampleRun::Networks{loc, &floating->executor(),
                                       /*quantized=*/nullptr, both.floating,
                                       floatResults, settings.run});
  return success();
}

LogicalResult LayerCorrection::compileQuantized() {
  networks->floating = nullptr;
  floating.reset();
  execution::CompileOptions compiled =
      compileLayerwise(both.quantized, results, /*inputs=*/{},
                       /*summands=*/{}, keepsResults());
  auto executors = compileQuietly(*both.module, compiled, settings);
  if (failed(executors))
    return failure();
  executor = std::move(executors->front());
  networks->quantized = executor.get();
  return success();
}

FailureOr<SampleRun *>
LayerCorrection::add(std::shared_ptr<const SampleSource> samples,
                     bool isThinned, bool keepsResults) {
  bool isMain = !main;
  if (floating->executor().allowsPartialUnits() && !options.moments) {
    int64_t count = samples->numSamples(), most = options.maxSamples;
    if (isThinned && most > 0)
      count = std::min(count, most);
    auto ordered =
        execution::thinSamples(samples, count, execution::SampleOrder::ByValue);
    if (!ordered)
      return emitError(networks->loc) << llvm::toString(ordered.takeError());
    samples = std::move(*ordered);
  }
  runs.push_back(std::make_unique<SampleRun>(*networks, std::move(samples)));
  SampleRun *added = runs.back().get();
  if (isMain && failed(recall(added->samples())))
    return failure();
  if (isMain && known)
    added->setFloat(known->exact);
  else if (failed(added->runFloat(options.moments, keepsResults)))
    return failure();
  return added;
}

LogicalResult LayerCorrection::recall(const SampleSource &samples) {
  if (!memory || (memory->isEmpty() && !remembers()))
    return success();
  auto digest = execution::digestSamples(samples);
  if (!digest)
    return emitError(networks->loc) << llvm::toString(digest.takeError());
  mainDigest = std::move(*digest);
  known = memory->take(found.function, options.method, mainDigest);
  // The number of layers differs if some have been rejected since.
  if (known && (known->unit != floating->executor().unit() ||
                known->changes.size() != layers.size() ||
                known->numSamples != samples.numSamples()))
    known.reset();
  return success();
}

LogicalResult LayerCorrection::divideSamples() {
  const std::shared_ptr<const SampleSource> &all = floating->sharedSamples();
  available = all->numSamples();
  FailureOr<std::optional<execution::SampleParts>> parts =
      divideToJudge(networks->loc, floating->executor(), all, options.judges);
  if (failed(parts))
    return failure();
  bool holdsOut = *parts && available >= kManySamples;
  auto set = [](FailureOr<SampleRun *> made, SampleRun *&to) {
    if (succeeded(made))
      to = *made;
    return LogicalResult(made);
  };
  auto addFold = [&](SampleRun *fitted, SampleRun *judging) {
    Fold &fold = folds.emplace_back();
    fold.fitted = fitted;
    fold.judging = judging;
  };
  if (holdsOut) {
    SampleRun *heldOut = nullptr;
    if (failed(set(add((*parts)->fitted, true, false), main)) ||
        failed(set(add((*parts)->judging, false, true), heldOut)))
      return failure();
    addFold(main, heldOut);
    return success();
  }
  judgesFitted = !*parts;
  if (failed(set(add(all, true, options.judges ? judgesFitted : remembers()),
                 main)))
    return failure();
  if (!options.judges)
    return success();
  if (judgesFitted) {
    addFold(main, main);
    return success();
  }
  SampleRun *first = nullptr, *second = nullptr;
  if (failed(set(add((*parts)->fitted, true, true), first)) ||
      failed(set(add((*parts)->judging, true, true), second)))
    return failure();
  addFold(first, second);
  addFold(second, first);
  return success();
}

FailureOr<Changes> LayerCorrection::fit(SampleRun &samples,
                                        SampleRun::Measurement *measured) {
  if (known && &samples == main && !llvm::is_contained(undone, true)) {
    if (measured)
      *measured = known->measured;
    return known->changes;
  }
  for (const ChannelSummary &summary : samples.exact())
    if (failed(summary.checkFinite()))
      return failure();
  LayerwiseOptions layerwise;
  layerwise.run = settings.run;
  layerwise.memoryBudget = settings.limitKept(layerwise.memoryBudget);
  SummaryVisitor visitor(samples.exact(), samples.samples().numSamples(),
                         undone, correct);
  if (measured)
    visitor.keepMeasured(samples.comparesResults() ? &samples.reference()
                                                   : nullptr);
  execution::ResultDistance::Comparison referenceErrors;
  const Fit *reference = remembers() ? memory->getReference() : nullptr;
  if (reference &&
      (!reference->exact.results || reference->samples != mainDigest ||
       reference->unit != executor->unit()))
    reference = nullptr;
  if (reference)
    visitor.compareWith(*reference->exact.results, referenceErrors);
  if (failed(runLayerwise(both.quantized.getLoc(), *executor,
                          /*exact=*/nullptr, results, samples.samples(),
                          layerwise, visitor)))
    return failure();
  if (reference)
    errorsToReference = std::move(referenceErrors);
  if (measured)
    *measured = std::move(visitor.measured);
  return std::move(visitor.changes);
}

Version LayerCorrection::getVersion(const Changes &changes,
                                    const std::vector<bool> &without) {
  Version version;
  for (auto [layer, change] : llvm::enumerate(changes))
    if (!without[layer] && !change.empty())
      version.editors.emplace_back(layer,
                                   changeChannels(change, results[layer].axis));
  return version;
}

/// Judges each layer by the means of its channels, which the correction
/// changes.
bool LayerCorrection::undoLosingLayers() {
  Rejection rejection;
  for (auto [layer, isUndone] : llvm::enumerate(undone)) {
    std::vector<double> with, without;
    for (const Fold &fold : folds) {
      const ChannelSummary &exact = fold.judging->exact()[layer];
      int64_t samples = fold.judging->samples().numSamples();
      if (exact.sampleMeans().empty() || fold.changes[layer].empty() ||
          samples < kFewestSamples)
        continue;
      const SampleMeans &measured = fold.with.layers[layer].sampleMeans();
      // A correction that was fitted to all other samples would leave this
      // multiple of the error of a sample.
      double leftOut =
          judgesFitted ? double(samples) / double(samples - 1) : 1.0;
      for (int64_t sample = 0; sample != samples; ++sample) {
        double corrected = 0, before = 0;
        for (auto [channel, change] : llvm::enumerate(fold.changes[layer])) {
          double error =
                     measured.sampleMean(sample, int64_t(channel)) -
                     exact.sampleMeans().sampleMean(sample, int64_t(channel)),
                 rest = leftOut * (error + change.offset);
          corrected += rest * rest;
          before += error * error;
        }
        with.push_back(corrected);
        without.push_back(before);
      }
    }
    if (with.empty())
      continue;
    JudgedLoss loss{std::nullopt,
                    quantization::compareErrors(
                        with, without, std::numeric_limits<double>::min())};
    // Without held-out samples, only the standard error of the correction is
    // known, and `leftOut` already accounts for it.
    if (judgesFitted ? loss.loss.loss <= 0 : !loss.loss.isBeyondChance())
      continue;
    isUndone = true;
    rejection.add(layers[layer], loss);
  }
  if (rejection.layers.empty())
    return false;
  rejections.push_back(std::move(rejection));
  return true;
}

FailureOr<std::optional<JudgedLoss>>
LayerCorrection::findLossWithout(const std::vector<bool> &without) {
  std::vector<SampleRun::Measurement> with, others;
  std::vector<const SampleRun *> judging;
  for (Fold &fold : folds) {
    auto measured = fold.judging->run(getVersion(fold.changes, without),
                                      /*measuresLayers=*/false);
    if (failed(measured))
      return failure();
    with.push_back(std::move(*measured));
    others.push_back(fold.without);
    judging.push_back(fold.judging);
  }
  return findWorstLoss(judging, with, others, lost, judgesFitted);
}

LogicalResult LayerCorrection::undoHarmful(const JudgedLoss &loss) {
  constexpr int kMostTrials = 24;
  FailureOr<std::vector<size_t>> harmful = findHarmfulLayers(
      undone,
      [&](const std::vector<bool> &without) -> FailureOr<bool> {
        auto lost = findLossWithout(without);
        if (failed(lost))
          return failure();
        return lost->has_value();
      },
      kMostTrials);
  if (failed(harmful))
    return failure();
  Rejection rejection;
  rejection.loss = loss;
  llvm::sort(*harmful);
  for (size_t layer : *harmful) {
    undone[layer] = true;
    rejection.layers.push_back(layers[layer]);
  }
  rejections.push_back(std::move(rejection));
  return success();
}

LogicalResult LayerCorrection::judge() {
  if (folds.empty())
    return success();
  if (failed(judgeFolds(/*judgesLayers=*/true)))
    return failure();
  if (folds.size() == 1)
    return success();
  // The correction that is applied is fitted to more samples than that of
  // either half, and may therefore change more. It is judged on all samples.
  for (Fold &fold : folds)
    fold.fitted = main;
  judgesFitted = true;
  return judgeFolds(/*judgesLayers=*/false);
}

LogicalResult LayerCorrection::fitFolds(bool measuresLayers) {
  const Fold *previous = nullptr;
  for (Fold &fold : folds) {
    bool judgesOwn = fold.judging == fold.fitted;
    if (previous && previous->fitted == fold.fitted) {
      fold.changes = previous->changes;
    } else {
      FailureOr<Changes> changes =
          fit(*fold.fitted, judgesOwn ? &fold.with : nullptr);
      if (failed(changes))
        return failure();
      fold.changes = std::move(*changes);
    }
    previous = &fold;
    if (judgesOwn)
      continue;
    auto measured =
        fold.judging->run(getVersion(fold.changes, undone), measuresLayers);
    if (failed(measured))
      return failure();
    fold.with = std::move(*measured);
  }
  return success();
}

LogicalResult LayerCorrection::runWithout() {
  for (Fold &fold : folds) {
    if (std::exchange(fold.hasWithout, true))
      continue;
    auto measured = fold.judging->run(Version(), /*measuresLayers=*/false);
    if (failed(measured))
      return failure();
    fold.without = std::move(*measured);
  }
  return success();
}

LogicalResult LayerCorrection::judgeFolds(bool judgesLayers) {
  // When layers are undone, the others are fitted and judged again.
  constexpr int kMostRounds = 4;
  for (int round = 0;; ++round) {
    bool isFirst = judgesLayers && round == 0;
    // Every correction is undone, so nothing is left to judge.
    if (!llvm::is_contained(undone, false)) {
      folds.front().changes.assign(layers.size(), {});
      return success();
    }
    if (failed(fitFolds(/*measuresLayers=*/isFirst)))
      return failure();
    if (isFirst && undoLosingLayers())
      continue;
    if (failed(runWithout()))
      return failure();
    std::vector<const SampleRun *> judging;
    std::vector<SampleRun::Measurement> with, without;
    for (Fold &fold : folds) {
      judging.push_back(fold.judging);
      with.push_back(std::move(fold.with));
      without.push_back(fold.without);
    }
    std::optional<JudgedLoss> loss =
        findWorstLoss(judging, with, without, lost, judgesFitted);
    if (!loss)
      return success();
    lost.insert(loss->part);
    if (round + 1 != kMostRounds) {
      if (failed(undoHarmful(*loss)))
        return failure();
      continue;
    }
    // A loss appears whatever is undone, so undo the whole correction.
    Rejection rejection;
    rejection.loss = *loss;
    for (auto [layer, isUndone] : llvm::enumerate(undone)) {
      if (!isUndone)
        rejection.layers.push_back(layers[layer]);
      isUndone = true;
    }
    rejections.push_back(std::move(rejection));
    return success();
  }
}

LogicalResult LayerCorrection::apply(const Changes &changes) {
  std::optional<int64_t> numMeasured;
  if (main && main->samples().numSamples() != available)
    numMeasured = main->samples().numSamples();
  for (auto [layer, change, isUndone] : llvm::zip(layers, changes, undone))
    if (!isUndone && !change.empty() &&
        failed(applyCorrection(*layer, change, options.how, numMeasured)))
      return failure();
  for (const Rejection &rejection : rejections)
    rejection.record(found, options.how, options.remarks ? options.pass : "");
  return success();
}

LogicalResult LayerCorrection::runShards() {
  const MomentsOfLayers &known = options.shards->known();
  bool isComplete = true;
  for (size_t layer = 0; layer != layers.size(); ++layer)
    isComplete &= known.count(layer) != 0;
  if (isComplete) {
    copyNetworks();
    Changes changes(layers.size());
    for (auto [layer, change] : llvm::enumerate(changes)) {
      ChannelSummary empty(results[layer], /*samples=*/0, /*moments=*/true);
      const LayerMoments &moments = known.at(layer);
      change = correct(layer, empty.with(moments.exact),
                       empty.with(moments.measured), /*numSamples=*/0);
    }
    return apply(changes);
  }
  if (settings.samples.files.empty())
    return options.shards->reportMissing();
  if (failed(prepare()))
    return failure();
  for (const ChannelSummary &summary : main->exact())
    if (failed(summary.checkFinite()))
      return failure();
  LayerwiseOptions layerwise;
  layerwise.run = settings.run;
  layerwise.memoryBudget = settings.limitKept(layerwise.memoryBudget);
  SummaryVisitor visitor(main->exact(), main->samples().numSamples(), undone,
                         correct);
  visitor.known = &known;
  LogicalResult ran = runLayerwise(both.quantized.getLoc(), *executor,
                                   /*exact=*/nullptr, results, main->samples(),
                                   layerwise, visitor);
  return visitor.found.empty() ? ran : options.shards->stop(visitor.found);
}

LogicalResult LayerCorrection::run() {
  if (options.shards)
    return runShards();
  if (failed(prepare()) || failed(judge()))
    return failure();
  if (!folds.empty())
    return apply(folds.front().changes);
  if (remembers())
    return applyAndRemember();
  FailureOr<Changes> changes = fit(*main);
  if (failed(changes))
    return failure();
  return apply(*changes);
}

LogicalResult LayerCorrection::applyAndRemember() {
  auto made = std::make_shared<Fit>();
  func::FuncOp function = found.function;
  made->before = function.clone();
  made->method = options.method;
  made->samples = mainDigest;
  made->unit = executor->unit();
  made->numSamples = main->samples().numSamples();
  made->available = available;
  FailureOr<Changes> changes = fit(*main, &made->measured);
  if (failed(changes) || failed(apply(*changes)))
    return failure();
  made->after = function.clone();
  made->exact = main->getFloat();
  if (!main->comparesResults())
    made->exact.results.reset();
  made->changes = std::move(*changes);
  made->errors = std::move(errorsToReference);
  made->networks = std::move(both);
  memory->remember(std::move(made));
  return success();
}

LogicalResult
mct::corrections::correctLayers(const Layers &found, ArrayRef<Layer *> layers,
                                const execution::RunSettings &settings,
                                const LayerCorrectionOptions &options,
                                CorrectLayer correct) {
  return LayerCorrection(found, layers, settings, options, correct).run();
}
