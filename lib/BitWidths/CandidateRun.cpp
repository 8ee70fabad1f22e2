// SPDX-License-Identifier: Apache-2.0
#include "CandidateRun.h"

#include "CandidateNetwork.h"
#include "PointComparison.h"
#include "mct/Evaluation/ResultDistance.h"
#include "mct/Execution/StagedRun.h"
#include "mct/Quantization/Parallel.h"

using namespace mlir;
using namespace mct;
using namespace mct::bit_widths;
using corrections::ChannelSummary;
using corrections::LayerValue;
using corrections::ProductRows;
using corrections::ProductSamples;
using corrections::RoundedLayer;
using execution::Executor;
using execution::Frontier;
using execution::ResultDistance;
using execution::ResultMetric;
using execution::StagedRun;
using execution::TensorView;

namespace {
/// Summarizes the result of a layer, stores rows of its product, or both.
class LayerObserver : public execution::TensorObserver {
public:
  LayerObserver(std::optional<ChannelSummary> summary, ProductRows *rows,
                LayerValue what)
      : summary(std::move(summary)), rows(rows), what(what) {}
  void observe(const TensorView &values) override {
    if (summary)
      summary->add(values);
    if (rows)
      rows->add(what, values);
  }
  std::optional<ChannelSummary> summary;

private:
  ProductRows *rows;
  LayerValue what;
};

/// An alternative of an operator while it is measured.
struct Trial {
  explicit Trial(const Executor &executor) : replaced(executor) {}
  /// Indices of the operator and of its alternative.
  size_t number = 0, alternative = 0;
  execution::Replacements replaced;
  /// Changes of the channels of each layer's result, equivalent to a change of
  /// its bias.
  std::map<size_t, execution::TensorEditor> editors;
  /// Layers whose means are not known yet, in program order.
  std::vector<size_t> unmeasured;
  /// Observers of these layers for each worker.
  std::vector<std::vector<std::unique_ptr<LayerObserver>>> observers;
  ResultDistance::Comparison found;
  /// Distance of each sample, for each compared point.
  std::vector<std::vector<double>> distances;
};

/// Weights of a trial that are rounded together.
struct TrialRounding {
  Trial *trial = nullptr;
  size_t layer = 0;
  tpc::QuantizerAttrInterface quantizer;
  SmallVector<int64_t> axes;
  RoundedLayer rounded;
  std::vector<float> weights;
  quantization::RoundedWeights result = {};
};

/// Buffers and observers of one thread.
struct ThreadObservers {
  std::vector<float> reference;
  std::vector<std::unique_ptr<LayerObserver>> observers;
  std::vector<std::unique_ptr<PointObserver>> points;
};
} // namespace

namespace mct::bit_widths {
class CandidateRunImpl {
public:
  CandidateRunImpl(Location loc, ArrayRef<OperatorCandidates> candidates)
      : loc(loc), candidates(candidates) {}

  LogicalResult prepare(func::FuncOp function, const KernelOps &kernels,
                        const execution::RunSettings &settings,
                        const CandidateRunOptions &options);
  /// Calls `take` with each trial of an operator, the first alternative first.
  LogicalResult measureEach(llvm::function_ref<void(const Trial &)> take);
  double distance(const Trial &trial) const {
    return distance(trial.found, trial.distances);
  }
  const ResultDistance &distances() const { return *results; }
  ArrayRef<OperatorCandidates> operators() const { return candidates; }

  SensitivityMetric usedMetric() const {
    if (options.metric == SensitivityMetric::Logits)
      return SensitivityMetric::Logits;
    return results->usedMetric() == ResultMetric::KL ? SensitivityMetric::KL
                                                     : SensitivityMetric::MSE;
  }
  double baseDistance = 0;
  const execution::SampleSource &samples() const { return *source; }

private:
  LogicalResult runFloat(const execution::RunSettings &settings);
  LogicalResult createLanes();
  LogicalResult check(llvm::Error error) const {
    if (error)
      return emitError(loc) << llvm::toString(std::move(error));
    return success();
  }

  /// Runs passes and reports failures at points.
  LogicalResult run(ArrayRef<StagedRun::Pass> passes);
  double distance(const ResultDistance::Comparison &found,
                  ArrayRef<std::vector<double>> ofPoints) const {
    return results->distance(found) + compared->weigh(ofPoints);
  }

  /// Runs a stage of the base network and stores its results. Computes the
  /// means of its layers, and stores their inputs if their weights can be
  /// rounded together.
  LogicalResult observeBase(unsigned stage, const Frontier *before,
                            Frontier *after);
  LogicalResult
  findProducts(ArrayRef<size_t> layers,
               MutableArrayRef<std::unique_ptr<ProductRows>> rows);
  SmallVector<size_t> layersOfStage(unsigned stage) const;
  /// Returns the index of the input of a layer among the observed values.
  size_t inputNumber(size_t layer) const {
    return network.layers.size() + compared->points.size() + layer;
  }
  unsigned getFirstStage(const OperatorCandidates &of) const;
  bool isMeasured(size_t number) const {
    return options.measured.empty() || options.measured[number];
  }
  /// Returns whether a layer's kernel belongs to an operator that is measured.
  bool isMeasuredLayer(size_t layer) const;
  /// Returns the number of stages up to the last one in which a measured
  /// operator begins.
  unsigned countStages() const;
  /// Returns the size in bytes of the kernels that an operator's alternatives
  /// change.
  int64_t kernelBytesOf(const OperatorCandidates &of) const;

  /// Lets a worker run the base network (if `trial` is null) or a trial.
  void enter(size_t worker, Trial *trial, bool comparesPoints);
  /// Sets the quantizers and kernels of the trials' alternatives.
  LogicalResult prepare(MutableArrayRef<Trial> trials);
  /// Returns how to round the weights of a point's only layer together; none if
  /// they are not rounded so, or the layer's inputs are not known.
  std::optional<TrialRounding> describe(Trial &trial,
                                        const CandidatePoint &point,
                                        const PointQuantizer &quantizer);
  LogicalResult roundTogether(MutableArrayRef<TrialRounding> roundings);
  LogicalResult setKernel(Trial &trial, size_t layer, ArrayRef<float> values);
  /// Corrects the means of layers to those of the base network, one layer after
  /// the other.
  LogicalResult correctMeans(MutableArrayRef<Trial> trials, unsigned stage,
                             const Frontier *before);
  LogicalResult measure(MutableArrayRef<Trial> trials, unsigned stage,
                        const Frontier *before);
  /// Memory for each of two frontiers and for the float results, in bytes.
  int64_t frontierBytes = int64_t(16) << 20;

  /// Memory for the rows of all layers of a stage.
  static constexpr int64_t kRowBytes = int64_t(16) << 20;
  /// Memory for the kernels of alternatives that are measured simultaneously.
  static constexpr int64_t kKernelBytes = int64_t(32) << 20;
  /// Memory for the covariances, and their factors, of weights that are rounded
  /// simultaneously.
  static constexpr int64_t kRoundingBytes = int64_t(64) << 20;
  /// Stride of the thresholds to try: those in between hardly change the
  /// distance of an alternative.
  static constexpr int kThresholdStride = 4;

  Location loc;
  ArrayRef<OperatorCandidates> candidates;
  CandidateRunOptions options;
  CandidateNetwork network;
  std::optional<PointComparison> compared;
  std::shared_ptr<const execution::SampleSource> source;
  execution::RunOptions runOptions;
  std::unique_ptr<StagedRun> staged;
  std::vector<ThreadObservers> lanes;
  std::unique_ptr<ResultDistance> results;
};
} // namespace mct::bit_widths

LogicalResult
CandidateRunImpl::runFloat(const execution::RunSettings &settings) {
  auto run = execution::NetworkRun::prepare(loc, std::move(network.floating),
                                            settings);
  if (failed(run) ||
      failed(run->thin(options.maxSamples, execution::SampleOrder::ByValue)))
    return failure();
  source = run->sharedSamples();
  runOptions = settings.run;
  frontierBytes = settings.limitKept(frontierBytes);
  int64_t unit = run->executor().unit();
  std::vector<ResultGroups> groups;
  if (options.measuresParts)
    groups = findResultGroups(*network.module->getOps<func::FuncOp>().begin());
  results = std::make_unique<ResultDistance>(run->executor().outputs(), unit,
                                             source->numSamples(),
                                             frontierBytes, groups);
  if (results->isEmpty())
    return emitError(loc) << "no result of the function is a tensor of f32 "
                             "with a batch, whose change could be measured";
  if (failed(compared->prepare(run->executor(), source->numSamples())) ||
      failed(compared->findScores(loc, network.floatPoints, source, settings)))
    return failure();
  std::vector<std::unique_ptr<PointObserver>> keep;
  if (failed(run->run(
          [&](size_t, execution::Worker &worker) {
            for (auto [number, point] : llvm::enumerate(compared->points)) {
              keep.push_back(
                  std::make_unique<PointObserver>(point, unit, /*keeps=*/true));
              worker.setObserver(number, keep.back().get());
            }
          },
          [&](const execution::Unit &done) {
            return results->keep(done.index, done.validSamples, done.outputs);
          })))
    return failure();
  for (std::unique_ptr<PointObserver> &point : keep)
    if (failed(check(point->takeFailure())))
      return failure();
  switch (options.metric) {
  case SensitivityMetric::Auto:
    return check(results->decide(ResultMetric::Auto));
  case SensitivityMetric::KL:
    return check(results->decide(ResultMetric::KL));
  case SensitivityMetric::MSE:
    return check(results->decide(ResultMetric::MSE));
  case SensitivityMetric::Logits:
    return check(results->decide(ResultMetric::Logits));
  }
  llvm_unreachable("all metrics are covered");
}

LogicalResult CandidateRunImpl::createLanes() {
  size_t most = 1;
  for (const OperatorCandidates &of : candidates)
    most = std::max(most, of.alternatives.size());
  auto created =
      StagedRun::create(*network.quantized, source, runOptions, int64_t(most));
  if (!created)
    return check(created.takeError());
  staged = std::move(*created);
  for (size_t number = 0; number != staged->numWorkers(); ++number) {
    ThreadObservers &lane = lanes.emplace_back();
    for (auto [index, point] : llvm::enumerate(compared->points)) {
      lane.points.push_back(
          std::make_unique<PointObserver>(point, network.quantized->unit(),
                                          /*keeps=*/false));
      staged->worker(number).setObserver(network.layers.size() + index,
                                         lane.points.back().get());
    }
  }
  return success();
}

LogicalResult CandidateRunImpl::prepare(func::FuncOp function,
                                        const KernelOps &kernels,
                                        const execution::RunSettings &settings,
                                        const CandidateRunOptions &runAs) {
  options = runAs;
  FailureOr<CandidateNetwork> compiled = CandidateNetwork::compile(
      function, kernels, candidates, settings, options);
  if (failed(compiled))
    return failure();
  network = std::move(*compiled);
  compared.emplace(network.comparedPoints, options);
  if (failed(runFloat(settings)))
    return failure();
  return createLanes();
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

LogicalResult CandidateRunImpl::run(ArrayRef<StagedRun::Pass> passes) {
  if (failed(check(staged->run(passes))))
    return failure();
  for (ThreadObservers &lane : lanes)
    for (std::unique_ptr<PointObserver> &point : lane.points)
      if (failed(check(point->takeFailure())))
        return failure();
  return success();
}

void CandidateRunImpl::enter(size_t number, Trial *trial, bool comparesPoints) {
  execution::Worker &worker = staged->worker(number);
  worker.setReplacements(trial ? &trial->replaced : nullptr);
  for (size_t layer = 0; layer != network.layers.size(); ++layer)
    worker.setEditor(layer, nullptr);
  if (trial)
    for (const auto &[layer, editor] : trial->editors)
      worker.setEditor(layer, editor);
  for (auto [index, point] : llvm::enumerate(lanes[number].points))
    point->compareTo(!comparesPoints ? nullptr
                     : trial         ? &trial->distances[index]
                                     : &compared->points[index].base);
}

SmallVector<size_t> CandidateRunImpl::layersOfStage(unsigned stage) const {
  SmallVector<size_t> found;
  for (size_t layer = 0; layer != network.layers.size(); ++layer)
    if (network.quantized->stageOf(layer) == stage)
      found.push_back(layer);
  return found;
}

LogicalResult CandidateRunImpl::findProducts(
    ArrayRef<size_t> stageLayers,
    MutableArrayRef<std::unique_ptr<ProductRows>> rows) {
  for (auto [number, kept] : llvm::zip(stageLayers, rows)) {
    if (!kept)
      continue;
    if (int64_t count = kept->countNonFinite())
      return emitError(network.layers[number].result.value.getLoc())
             << "saw " << count
             << " values that are NaN or infinite; check the input scale and "
                "the weights";
    network.layers[number].products =
        ProductSamples::take(std::move(kept), runOptions.threads);
  }
  return success();
}

LogicalResult CandidateRunImpl::observeBase(unsigned stage,
                                            const Frontier *before,
                                            Frontier *after) {
  SmallVector<size_t> here = layersOfStage(stage);
  std::vector<std::unique_ptr<ProductRows>> rows(here.size());
  auto hasProducts = [&](size_t layer) {
    return network.layers[layer].layout.has_value();
  };
  // All layers of the stage share the memory, even if some are not measured.
  auto products = llvm::count_if(here, hasProducts);
  for (auto [kept, layer] : llvm::zip(rows, here))
    if (hasProducts(layer) && isMeasuredLayer(layer))
      kept = std::make_unique<ProductRows>(
          *network.layers[layer].layout, network.quantized->unit(),
          network.layers[layer].layout->getNumRows(
              network.quantized->observed()[layer].type.getShape()),
          source->numSamples(), kRowBytes / products, /*hasSummand=*/false);
  // Only the layers that are measured are corrected to the means of the base
  // network.
  SmallVector<size_t> summarized =
      llvm::filter_to_vector(here, [&](size_t layer) {
        return options.measured.empty() || isMeasuredLayer(layer);
      });
  auto add = [&](size_t worker, size_t observed, LayerObserver observer) {
    auto &observers = lanes[worker].observers;
    observers.push_back(std::make_unique<LayerObserver>(std::move(observer)));
    staged->worker(worker).setObserver(observed, observers.back().get());
  };
  for (size_t worker = 0; worker != lanes.size(); ++worker)
    for (auto [kept, layer] : llvm::zip(rows, here)) {
      std::optional<ChannelSummary> summary;
      if (llvm::is_contained(summarized, layer))
        summary = network.layers[layer].empty->fresh();
      if (summary || kept)
        add(worker, layer,
            LayerObserver(std::move(summary), kept.get(),
                          LayerValue::FloatOutput));
      if (kept)
        add(worker, inputNumber(layer),
            LayerObserver(std::nullopt, kept.get(), LayerValue::Input));
    }
  ResultDistance::Comparison found = results->createComparison();
  bool isLast = stage + 1 == network.quantized->numStages();
  StagedRun::Pass pass{stage, stage, before, isLast ? nullptr : after, {}, {}};
  pass.enter = [&](size_t worker) {
    enter(worker, /*trial=*/nullptr, /*comparesPoints=*/true);
  };
  if (isLast)
    pass.done = [&](const execution::Unit &done) {
      return results->compare(done.index, done.validSamples, done.outputs,
                              lanes[done.worker].reference, found);
    };
  LogicalResult result = run(pass);
  SmallVector<std::optional<ChannelSummary> *> summaries;
  for (auto [number, observer] : llvm::enumerate(lanes.front().observers)) {
    if (!observer->summary)
      continue;
    for (ThreadObservers &lane : llvm::drop_begin(lanes))
      observer->summary->merge(*lane.observers[number]->summary);
    if (succeeded(result))
      result = observer->summary->checkFinite();
    summaries.push_back(&observer->summary);
  }
  for (auto [layer, summary] : llvm::zip_equal(summarized, summaries))
    network.layers[layer].base = std::move(*summary);
  for (auto [index, lane] : llvm::enumerate(lanes)) {
    for (size_t layer : here) {
      staged->worker(index).setObserver(layer, nullptr);
      staged->worker(index).setObserver(inputNumber(layer), nullptr);
    }
    lane.observers.clear();
  }
  if (failed(result) || failed(findProducts(here, rows)))
    return failure();
  if (isLast)
    baseDistance = distance(found, compared->getBase());
  return success();
}

unsigned CandidateRunImpl::getFirstStage(const OperatorCandidates &of) const {
  unsigned first = network.quantized->numStages() - 1;
  for (const auto &[name, quantizer] : of.alternatives.front()) {
    const CandidatePoint &point = network.points.at(name);
    if (point.number)
      first = std::min(first, network.quantized->stageOfPoint(*point.number));
    for (size_t layer : point.layers)
      first = std::min(first, network.quantized->stageOf(layer));
  }
  return first;
}

bool CandidateRunImpl::isMeasuredLayer(size_t layer) const {
  for (auto [number, of] : llvm::enumerate(candidates))
    if (isMeasured(number))
      for (const auto &[name, quantizer] : of.alternatives.front())
        if (llvm::is_contained(network.points.at(name).layers, layer))
          return true;
  return false;
}

unsigned CandidateRunImpl::countStages() const {
  if (options.measured.empty())
    return network.quantized->numStages();
  unsigned count = 0;
  for (auto [number, of] : llvm::enumerate(candidates))
    if (isMeasured(number))
      count = std::max(count, getFirstStage(of) + 1);
  return count;
}

int64_t CandidateRunImpl::kernelBytesOf(const OperatorCandidates &of) const {
  size_t bytes = 0;
  for (const auto &[name, quantizer] : of.alternatives.front()) {
    const CandidatePoint &point = network.points.at(name);
    bytes += point.kernel.size() * point.layers.size() * sizeof(float);
  }
  return int64_t(bytes);
}

//===----------------------------------------------------------------------===//
// Trials
//===----------------------------------------------------------------------===//

LogicalResult CandidateRunImpl::setKernel(Trial &trial, size_t layer,
                                          ArrayRef<float> values) {
  return check(trial.replaced.replaceConstant(layer, values));
}

std::optional<TrialRounding>
CandidateRunImpl::describe(Trial &trial, const CandidatePoint &point,
                           const PointQuantizer &quantizer) {
  if (point.layers.size() != 1 ||
      network.layers[point.layers.front()].products.empty())
    return std::nullopt;
  size_t number = point.layers.front();
  corrections::Layer &layer = network.layers[number].layer;
  // Use the axes of the alternative.
  setAxes(layer.point, quantizer.axes);
  bool keeps = quantizer.keepsThresholds && options.roundMaxBits != 0;
  auto how = corrections::describeRounding(
      layer, quantizer.quantizer,
      keeps ? std::numeric_limits<unsigned>::max() : options.roundMaxBits,
      keeps ? 0 : kThresholdStride);
  auto *rounded = std::get_if<RoundedLayer>(&how);
  if (!rounded)
    return std::nullopt;
  rounded->makeCandidates(quantizer.quantizer);
  std::vector<float> weights = rounded->layout.fromKernel(point.kernel);
  return TrialRounding{&trial,
                       number,
                       quantizer.quantizer,
                       quantizer.axes,
                       std::move(*rounded),
                       std::move(weights)};
}

LogicalResult
CandidateRunImpl::roundTogether(MutableArrayRef<TrialRounding> roundings) {
  double bytes = 0;
  for (const TrialRounding &each : roundings) {
    const CandidateLayer &layer = network.layers[each.layer];
    if (failed(corrections::checkSquares(layer.layer, layer.products)))
      return failure();
    auto columns = double(each.rounded.layout.columns());
    bytes += 20 * columns * columns;
  }
  const support::Threads &threads = runOptions.threads;
  auto round = [&](TrialRounding &each, const support::Threads &own) {
    each.result = corrections::roundWeights(network.layers[each.layer].products,
                                            each.weights, each.rounded, own);
  };
  // Round them in parallel if that keeps all threads busy.
  if (bytes <= double(kRoundingBytes) && roundings.size() >= threads.count())
    quantization::parallelFor(roundings.size(), threads, [&](size_t number) {
      round(roundings[number], threads.atMost(1));
    });
  else
    for (TrialRounding &each : roundings)
      round(each, threads);
  for (TrialRounding &each : roundings) {
    CandidateLayer &layer = network.layers[each.layer];
    if (threads.isCancelled())
      return emitError(layer.layer.op.getLoc()) << "is not measured: cancelled";
    setAxes(layer.layer.point, each.axes);
    corrections::takeRounded(layer.layer, each.quantizer, each.result,
                             each.rounded);
    if (failed(setKernel(*each.trial, each.layer, each.rounded.kernel)))
      return failure();
    std::vector<float> offsets = std::move(each.rounded.bias);
    for (auto [now, then] : llvm::zip(offsets, layer.layer.bias))
      now -= then;
    each.trial->editors[each.layer] =
        execution::addToChannels(std::move(offsets), layer.result.axis);
  }
  return success();
}

LogicalResult CandidateRunImpl::prepare(MutableArrayRef<Trial> trials) {
  std::vector<TrialRounding> roundings;
  for (Trial &trial : trials)
    for (const auto &[name, quantizer] :
         candidates[trial.number].alternatives[trial.alternative]) {
      const CandidatePoint &point = network.points.at(name);
      if (point.number) {
        if (failed(check(trial.replaced.replaceQuantizer(*point.number,
                                                         quantizer.quantizer))))
          return failure();
        continue;
      }
      if (std::optional<TrialRounding> rounding =
              describe(trial, point, quantizer)) {
        roundings.push_back(std::move(*rounding));
        continue;
      }
      std::vector<float> values(point.kernel.size());
      quantizer.quantizer.fakeQuantize(point.shape, quantizer.axes,
                                       point.kernel.data(), values.data());
      for (size_t layer : point.layers) {
        if (failed(setKernel(trial, layer, values)))
          return failure();
        if (network.layers[layer].hasBias)
          trial.unmeasured.push_back(layer);
      }
    }
  for (Trial &trial : trials)
    llvm::sort(trial.unmeasured);
  return roundTogether(roundings);
}

LogicalResult CandidateRunImpl::correctMeans(MutableArrayRef<Trial> trials,
                                             unsigned first,
                                             const Frontier *before) {
  for (;;) {
    std::vector<StagedRun::Pass> passes;
    std::vector<Trial *> seeing;
    // Layers of the first stage that has some; later ones depend on their
    // corrected means.
    auto here = [&](const Trial &trial) {
      unsigned stage = network.quantized->numStages();
      for (size_t layer : trial.unmeasured)
        stage = std::min(stage, network.quantized->stageOf(layer));
      SmallVector<size_t> found;
      for (size_t layer : trial.unmeasured)
        if (network.quantized->stageOf(layer) == stage)
          found.push_back(layer);
      return std::pair(stage, found);
    };
    for (Trial &trial : trials) {
      if (trial.unmeasured.empty())
        continue;
      auto [stage, stageLayers] = here(trial);
      trial.observers.resize(lanes.size());
      for (auto &ofWorker : trial.observers)
        for (size_t layer : stageLayers)
          ofWorker.push_back(std::make_unique<LayerObserver>(
              network.layers[layer].empty->fresh(), nullptr,
              LayerValue::Output));
      StagedRun::Pass &pass = passes.emplace_back(
          StagedRun::Pass{first, stage, before, nullptr, {}, {}});
      pass.enter = [&, stageLayers = stageLayers](size_t worker) {
        enter(worker, &trial, /*comparesPoints=*/false);
        for (size_t layer = 0; layer != network.layers.size(); ++layer)
          staged->worker(worker).setObserver(layer, nullptr);
        for (auto [layer, observer] :
             llvm::zip(stageLayers, trial.observers[worker]))
          staged->worker(worker).setObserver(layer, observer.get());
      };
      seeing.push_back(&trial);
    }
    if (passes.empty())
      return success();
    LogicalResult result = run(passes);
    for (size_t worker = 0; worker != lanes.size(); ++worker)
      for (size_t layer = 0; layer != network.layers.size(); ++layer)
        staged->worker(worker).setObserver(layer, nullptr);
    if (failed(result))
      return failure();
    for (Trial *trial : seeing) {
      auto [stage, stageLayers] = here(*trial);
      for (auto [number, layer] : llvm::enumerate(stageLayers)) {
        ChannelSummary &summary = *trial->observers.front()[number]->summary;
        for (auto &ofWorker : llvm::drop_begin(trial->observers))
          summary.merge(*ofWorker[number]->summary);
        if (failed(summary.checkFinite()))
          return failure();
        std::vector<float> offsets;
        for (int64_t channel = 0; channel != summary.numChannels(); ++channel)
          offsets.push_back(float(network.layers[layer].base->mean(channel) -
                                  summary.mean(channel)));
        trial->editors[layer] = execution::addToChannels(
            std::move(offsets), network.layers[layer].result.axis);
        llvm::erase(trial->unmeasured, layer);
      }
      trial->observers.clear();
    }
  }
}

LogicalResult CandidateRunImpl::measure(MutableArrayRef<Trial> trials,
                                        unsigned stage,
                                        const Frontier *before) {
  if (failed(prepare(trials)) || failed(correctMeans(trials, stage, before)))
    return failure();
  std::vector<StagedRun::Pass> passes;
  for (Trial &trial : trials) {
    trial.found = results->createComparison();
    // Ops before the stage are the same as in the base network.
    trial.distances = compared->getBase();
    StagedRun::Pass &pass = passes.emplace_back(StagedRun::Pass{
        stage, network.quantized->numStages() - 1, before, nullptr, {}, {}});
    pass.enter = [&](size_t worker) {
      enter(worker, &trial, /*comparesPoints=*/true);
    };
    pass.done = [&](const execution::Unit &done) {
      return results->compare(done.index, done.validSamples, done.outputs,
                              lanes[done.worker].reference, trial.found);
    };
  }
  return run(passes);
}

LogicalResult
CandidateRunImpl::measureEach(llvm::function_ref<void(const Trial &)> take) {
  auto before = staged->createFrontier(frontierBytes),
       after = staged->createFrontier(frontierBytes);
  if (runOptions.progress)
    runOptions.progress->beginParts(countStages());
  for (unsigned stage = 0; stage != countStages(); ++stage) {
    if (failed(observeBase(stage, before.get(), after.get())))
      return failure();
    std::vector<Trial> trials;
    int64_t bytes = 0;
    auto measureThem = [&] {
      if (failed(measure(trials, stage, before.get())))
        return failure();
      llvm::for_each(trials, take);
      trials.clear();
      bytes = 0;
      return success();
    };
    for (auto [number, of] : llvm::enumerate(candidates)) {
      if (getFirstStage(of) != stage || !isMeasured(number))
        continue;
      int64_t own = kernelBytesOf(of);
      for (size_t index = 0; index != of.alternatives.size(); ++index) {
        if (!trials.empty() && bytes + own > kKernelBytes &&
            failed(measureThem()))
          return failure();
        bytes += own;
        Trial &trial = trials.emplace_back(*network.quantized);
        trial.number = number;
        trial.alternative = index;
      }
    }
    if (!trials.empty() && failed(measureThem()))
      return failure();
    for (size_t layer : layersOfStage(stage))
      network.layers[layer].products = ProductSamples();
    std::swap(before, after);
    if (runOptions.progress)
      runOptions.progress->endPart();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// The interface
//===----------------------------------------------------------------------===//

CandidateRun::CandidateRun() = default;
CandidateRun::~CandidateRun() = default;

FailureOr<std::unique_ptr<CandidateRun>>
CandidateRun::create(func::FuncOp function, const KernelOps &kernels,
                     ArrayRef<OperatorCandidates> candidates,
                     const execution::RunSettings &settings,
                     const CandidateRunOptions &options) {
  std::unique_ptr<CandidateRun> run(new CandidateRun());
  run->impl = std::make_unique<CandidateRunImpl>(function.getLoc(), candidates);
  if (failed(run->impl->prepare(function, kernels, settings, options)))
    return failure();
  return run;
}

SensitivityMetric CandidateRun::usedMetric() const {
  return impl->usedMetric();
}
int64_t CandidateRun::numSamples() const {
  return impl->samples().numSamples();
}
double CandidateRun::baseDistance() const { return impl->baseDistance; }
FailureOr<std::vector<std::vector<double>>> CandidateRun::measureEach() {
  std::vector<std::vector<double>> distances;
  for (const OperatorCandidates &of : impl->operators())
    distances.emplace_back(of.alternatives.size());
  if (failed(impl->measureEach([&](const Trial &trial) {
        distances[trial.number][trial.alternative] = impl->distance(trial);
      })))
    return failure();
  return distances;
}
size_t CandidateRun::numParts() const {
  return impl->distances().getParts().size();
}
FailureOr<std::vector<std::vector<double>>> CandidateRun::measureParts() {
  std::vector<std::vector<double>> distances;
  for (const OperatorCandidates &of : impl->operators())
    distances.emplace_back(of.alternatives.size() * numParts());
  if (failed(impl->measureEach([&](const Trial &trial) {
        for (size_t part = 0; part != numParts(); ++part)
          distances[trial.number][trial.alternative * numParts() + part] =
              impl->distances().distanceOf(part, trial.found);
      })))
    return failure();
  return distances;
}
