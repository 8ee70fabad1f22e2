// SPDX-License-Identifier: Apache-2.0
#include "EffectRun.h"

#include "mct/Execution/Executor.h"
#include "mct/Execution/StagedRun.h"
#include "mct/IR/EntryFunction.h"
#include "mct/IR/Names.h"
#include "mct/Planning/KernelOp.h"
#include "tpc_dialect/Lookup/TpcLookup.h"
#include "llvm/ADT/SetVector.h"
#include <atomic>
#include <map>

using namespace mlir;
using namespace mct;
using namespace mct::report;
using execution::ErrorSums;
using execution::Executor;
using execution::Frontier;
using execution::ResultDistance;
using execution::StagedRun;

namespace {
/// Adds up the channels of a value. Workers share it: each unit has sums of its
/// own, so that their order does not depend on the workers.
class ChannelSums : public execution::TensorObserver {
public:
  ChannelSums(int64_t axis, int64_t unit, int64_t numUnits)
      : axis(axis), unit(unit), units(size_t(numUnits)) {}

  void observe(const execution::TensorView &values) override {
    ArrayRef<int64_t> shape = values.shape();
    auto channels = size_t(shape[size_t(axis)]);
    auto inner = size_t(llvm::product_of(shape.drop_front(size_t(axis) + 1)));
    std::vector<double> &sums = units[size_t(values.samples().first / unit)];
    sums.resize(channels);
    ArrayRef<float> rest = values.floats();
    while (!rest.empty())
      for (double &sum : sums) {
        for (float value : rest.take_front(inner))
          sum += value;
        rest = rest.drop_front(inner);
      }
    count += int64_t(values.numElements() / channels);
  }

  std::vector<double> computeMeans() const {
    std::vector<double> means(units.front().size());
    for (const std::vector<double> &sums : units)
      for (auto [mean, sum] : llvm::zip_equal(means, sums))
        mean += sum / double(count);
    return means;
  }

private:
  int64_t axis, unit;
  std::vector<std::vector<double>> units;
  /// Number of values of each channel.
  std::atomic<int64_t> count = 0;
};
} // namespace

namespace mct::report {
class EffectRunImpl : public SwitchedNetwork {
public:
  explicit EffectRunImpl(Location loc) : loc(loc) {}

  LogicalResult prepare(ModuleOp quantized, const KernelOps &kernels,
                        ModuleOp floating,
                        const execution::RunSettings &settings,
                        const EffectRunOptions &effectOptions);
  FailureOr<RunDistance> measure(ArrayRef<size_t> without,
                                 ArrayRef<Switches> switches,
                                 MutableArrayRef<RunDistance> found,
                                 bool keepsSamples);

  Location loc;
  /// The reason why nothing can be measured; empty if there is none.
  std::string obstacle;
  std::shared_ptr<const execution::SampleSource> source;
  std::unique_ptr<ResultDistance> results;

private:
  LogicalResult check(llvm::Error error) const {
    if (error)
      return emitError(loc) << llvm::toString(std::move(error));
    return success();
  }
  LogicalResult runFloat(ModuleOp floating,
                         const execution::RunSettings &settings,
                         const EffectRunOptions &effectOptions);

  LogicalResult setKernel(const SwitchedLayer &layer);
  LogicalResult setBias(const SwitchedLayer &layer);
  /// Updates the values of a point, or of the layer of a correction, according
  /// to its state.
  LogicalResult updatePoint(size_t point);
  LogicalResult updateLayer(const SwitchedLayer &layer);
  SwitchedLayer &getLayer(const SwitchedCorrection &correction) {
    return layers[points[correction.point].layers.front()];
  }
  /// Applies the switches, or reverts them.
  LogicalResult toggle(const Switches &switches, bool isSet);
  LogicalResult enter(ArrayRef<size_t> without);
  /// Runs `pass` and returns the means of the results of layers.
  FailureOr<std::vector<std::vector<double>>>
  runForMeans(const StagedRun::Pass &pass, ArrayRef<size_t> observedLayers);
  /// Layers by the stage of their results.
  using LayersByStage = std::map<unsigned, SmallVector<size_t>>;
  /// Returns the layers whose biases were corrected for errors that the
  /// switches change.
  LayersByStage findRefitted(const Switches &switches) const;
  /// Fits biases again after switches have been set; `from` has the values
  /// before `stage`.
  LogicalResult refit(const LayersByStage &refitted, unsigned stage,
                      const Frontier *from);
  LogicalResult undoRefit(const LayersByStage &refitted);
  RunDistance summarize(const ResultDistance::Comparison &found,
                        bool keepsSamples) const;
  /// Runs the whole network in its present state, and keeps the means of all
  /// results whose bias is corrected.
  LogicalResult keepMeans(const StagedRun::Pass &pass);
  /// Runs one stage of the network in its present state.
  LogicalResult advance(unsigned stage, const Frontier *from, Frontier *to);
  unsigned firstStageOf(const Switches &switches) const;

  /// Memory for each of two frontiers and for the float results, in bytes.
  static constexpr int64_t kFrontierBytes = int64_t(16) << 20;

  execution::RunOptions runOptions;
  std::unique_ptr<Executor> executor;
  std::unique_ptr<StagedRun> staged;
  std::vector<std::vector<float>> scratch;
};
} // namespace mct::report

//===----------------------------------------------------------------------===//
// The compiled network
//===----------------------------------------------------------------------===//

std::string EffectRun::findObstacle(func::FuncOp function,
                                    const KernelOps &kernels) {
  std::string obstacle;
  function.walk([&](Operation *op) {
    if (isa<func::CallOp>(op))
      obstacle = "it calls other functions, and points are switched within "
                 "one; run the pass inline before";
    else if (std::optional<KernelOp> layer = kernels.get(op);
             layer && layer->getCorrections() &&
             !layer->canTakeBackCorrections())
      obstacle = "the corrections of '" +
                 layer->getKernelPoint().getPointName().str() +
                 "' cannot be taken back: its bias or its float kernel cannot "
                 "be read";
    return obstacle.empty() ? WalkResult::advance() : WalkResult::interrupt();
  });
  return obstacle;
}

LogicalResult EffectRunImpl::runFloat(ModuleOp floating,
                                      const execution::RunSettings &settings,
                                      const EffectRunOptions &effectOptions) {
  OwningOpRef<ModuleOp> copy = floating.clone();
  FailureOr<func::FuncOp> entry =
      findEntryFunction(*copy, effectOptions.function);
  if (failed(entry))
    return failure();
  assignNames(*entry);
  execution::CompileOptions compile;
  compile.function = entry->getSymName().str();
  compile.simulateQuantization = false;
  compile.unit = executor->unit();
  execution::RunSettings as = settings;
  for (const execution::TensorSpec &input : executor->inputs())
    as.samples.preprocessing.push_back(input.preprocessing);
  auto run = execution::NetworkRun::prepare(*copy, compile, as);
  if (failed(run) ||
      failed(run->thin(effectOptions.samples, execution::SampleOrder::ByValue)))
    return failure();
  source = run->sharedSamples();
  auto types = [](ArrayRef<execution::TensorSpec> specs) {
    return llvm::to_vector(llvm::map_range(
        specs, [](const execution::TensorSpec &spec) { return spec.type; }));
  };
  if (types(run->executor().outputs()) != types(executor->outputs())) {
    obstacle = "its results have other types than those of the float network";
    return success();
  }
  results = std::make_unique<ResultDistance>(
      executor->outputs(), executor->unit(), source->numSamples(),
      kFrontierBytes, effectOptions.groups);
  if (results->isEmpty()) {
    obstacle = "no result of it is a tensor of f32 with a batch, whose change "
               "could be measured";
    return success();
  }
  if (failed(run->run([](size_t, execution::Worker &) {},
                      [&](const execution::Unit &done) {
                        return results->keep(done.index, done.validSamples,
                                             done.outputs);
                      })))
    return failure();
  if (llvm::Error error = results->decide(execution::ResultMetric::Auto))
    obstacle = llvm::toString(std::move(error));
  for (SwitchedPoint &point : points)
    point.isSwitched &= llvm::none_of(point.outputs, [&](unsigned output) {
      return results->getMetric(output) == execution::ResultMetric::KL;
    });
  return success();
}

LogicalResult EffectRunImpl::prepare(ModuleOp quantized,
                                     const KernelOps &kernels,
                                     ModuleOp floating,
                                     const execution::RunSettings &settings,
                                     const EffectRunOptions &effectOptions) {
  runOptions = settings.run;
  {
    OwningOpRef<ModuleOp> copy = quantized.clone(),
                          takenBack = quantized.clone();
    FailureOr<func::FuncOp> own = findEntryFunction(*copy,
                                                    effectOptions.function),
                            other = findEntryFunction(*takenBack,
                                                      effectOptions.function);
    if (failed(own) || failed(other))
      return failure();
    // Files of samples may refer to the names of arguments.
    assignNames(*own);
    describe(*own, *other, kernels);
    if (points.empty()) {
      obstacle = "no point of it quantizes";
      return success();
    }
    options.function = own->getSymName().str();
    options.maxMemory = settings.maxMemory;
    // Slow ops have been reported when the whole network was run, and a point
    // that cannot be switched is not an error.
    ScopedDiagnosticHandler quiet(
        copy->getContext(), [&](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
            obstacle = diagnostic.str();
          return success();
        });
    auto compiled = Executor::compile(*copy, options, settings.cache.get());
    if (failed(compiled))
      return success();
    executor = std::move(*compiled);
  }
  if (failed(runFloat(floating, settings, effectOptions)))
    return failure();
  if (!obstacle.empty())
    return success();
  auto created = StagedRun::create(*executor, source, runOptions);
  if (!created)
    return check(created.takeError());
  staged = std::move(*created);
  scratch.resize(staged->numWorkers());
  return success();
}

//===----------------------------------------------------------------------===//
// Switching
//===----------------------------------------------------------------------===//

LogicalResult EffectRunImpl::setKernel(const SwitchedLayer &layer) {
  if (!layer.kernelNumber)
    return success();
  const SwitchedKernel &kernel = layer.kernel;
  const SwitchedPoint &point = points[*layer.kernelPoint];
  // Corrections of a kernel belong to its quantizer.
  if (!point.isOn)
    return check(executor->replaceConstant(*layer.kernelNumber, kernel.floats));
  // Weights were rounded together for the quantizer that they have.
  bool isRounded = layer.isRounded && !point.replacement;
  std::vector<float> values = kernel.unrounded.empty() || isRounded
                                  ? kernel.corrected
                                  : kernel.unrounded;
  if (point.getQuantizer())
    point.getQuantizer().fakeQuantize(point.shape, point.axes, values.data(),
                                      values.data());
  // The quantizer was selected for the kernel with its factors.
  if (!layer.isCorrected)
    for (auto [value, scale] : llvm::zip(values, kernel.scale))
      value /= scale;
  return check(executor->replaceConstant(*layer.kernelNumber, values));
}

LogicalResult EffectRunImpl::setBias(const SwitchedLayer &layer) {
  if (!layer.biasNumber && !layer.edited)
    return success();
  std::vector<float> values =
      layer.isCorrected ? layer.bias.corrected : layer.bias.floats;
  for (auto [value, added] : llvm::zip(values, layer.refit))
    value += added;
  if (layer.biasPoint && points[*layer.biasPoint].isOn) {
    const SwitchedPoint &point = points[*layer.biasPoint];
    point.getQuantizer().fakeQuantize(point.shape, point.axes, values.data(),
                                      values.data());
  }
  if (layer.biasNumber)
    return check(executor->replaceConstant(*layer.biasNumber, values));
  for (auto [now, compiled] : llvm::zip_equal(values, layer.bias.corrected))
    now -= compiled;
  for (size_t worker = 0; worker != staged->numWorkers(); ++worker)
    staged->worker(worker).setEditor(
        *layer.edited,
        layer.isCorrected && layer.refit.empty()
            ? execution::TensorEditor()
            : execution::addToChannels(values, layer.resultAxis));
  return success();
}

LogicalResult EffectRunImpl::updateLayer(const SwitchedLayer &layer) {
  return failure(failed(setKernel(layer)) || failed(setBias(layer)));
}

LogicalResult EffectRunImpl::updatePoint(size_t number) {
  const SwitchedPoint &point = points[number];
  if (point.number)
    return check(executor->replaceQuantizer(
        *point.number,
        point.isOn ? Attribute(point.getQuantizer()) : Attribute()));
  for (size_t layer : point.layers)
    if (failed(updateLayer(layers[layer])))
      return failure();
  return success();
}

LogicalResult EffectRunImpl::toggle(const Switches &switches, bool isSet) {
  for (size_t point : switches.points)
    points[point].isOn = !points[point].isOn;
  for (size_t number : switches.corrections) {
    const SwitchedCorrection &correction = corrections[number];
    SwitchedLayer &layer = getLayer(correction);
    bool &isMade = correction.isRounding ? layer.isRounded : layer.isCorrected;
    isMade = !isMade;
    if (failed(updateLayer(layer)))
      return failure();
  }
  for (auto [point, quantizer] : switches.quantizers) {
    points[point].replacement =
        isSet ? quantizer : tpc::QuantizerAttrInterface();
    if (failed(updatePoint(point)))
      return failure();
  }
  for (size_t point : switches.points)
    if (failed(updatePoint(point)))
      return failure();
  return success();
}

LogicalResult EffectRunImpl::enter(ArrayRef<size_t> without) {
  for (SwitchedLayer &layer : layers)
    layer.isCorrected = layer.isRounded = true;
  for (size_t number : without) {
    SwitchedLayer &layer = getLayer(corrections[number]);
    (corrections[number].isRounding ? layer.isRounded : layer.isCorrected) =
        false;
  }
  for (SwitchedPoint &point : points)
    point.isOn = point.isSwitched;
  for (size_t point = 0; point != points.size(); ++point)
    if (failed(updatePoint(point)))
      return failure();
  return success();
}

unsigned EffectRunImpl::firstStageOf(const Switches &switches) const {
  unsigned first = staged->lastStage();
  auto add = [&](size_t number) {
    const SwitchedPoint &point = points[number];
    if (point.number)
      first = std::min(first, executor->stageOfPoint(*point.number));
    for (size_t layer : point.layers)
      first = std::min(first, executor->stageOf(options.observedValues.size() +
                                                layers[layer].stageNumber));
  };
  for (size_t point : switches.points)
    add(point);
  for (size_t correction : switches.corrections)
    add(corrections[correction].point);
  for (const auto &[point, quantizer] : switches.quantizers)
    add(point);
  return first;
}

LogicalResult EffectRunImpl::advance(unsigned stage, const Frontier *from,
                                     Frontier *to) {
  // The results of the stage are edited when they are loaded.
  SmallVector<const SwitchedLayer *> edited;
  for (const SwitchedLayer &layer : layers)
    if (layer.edited && executor->stageOf(*layer.edited) == stage)
      edited.push_back(&layer);
  for (const SwitchedLayer *layer : edited)
    for (size_t worker = 0; worker != staged->numWorkers(); ++worker)
      staged->worker(worker).setEditor(*layer->edited, nullptr);
  if (failed(check(staged->run({stage, stage, from, to, {}, {}}))))
    return failure();
  for (const SwitchedLayer *layer : edited)
    if (failed(setBias(*layer)))
      return failure();
  return success();
}

RunDistance EffectRunImpl::summarize(const ResultDistance::Comparison &found,
                                     bool keepsSamples) const {
  RunDistance summary;
  summary.distance = results->distance(found);
  for (size_t part = 0; part != results->getParts().size(); ++part)
    summary.parts.push_back(results->distanceOf(part, found));
  if (keepsSamples)
    summary.samples = found;
  return summary;
}

//===----------------------------------------------------------------------===//
// Biases
//===----------------------------------------------------------------------===//

FailureOr<std::vector<std::vector<double>>>
EffectRunImpl::runForMeans(const StagedRun::Pass &pass,
                           ArrayRef<size_t> observedLayers) {
  std::vector<std::unique_ptr<ChannelSums>> sums;
  auto observe = [&](bool isOn) {
    for (auto [index, layer] : llvm::enumerate(observedLayers))
      for (size_t worker = 0; worker != staged->numWorkers(); ++worker)
        staged->worker(worker).setObserver(*layers[layer].observed,
                                           isOn ? sums[index].get() : nullptr);
  };
  for (size_t layer : observedLayers)
    sums.push_back(std::make_unique<ChannelSums>(
        layers[layer].resultAxis, executor->unit(), staged->numUnits()));
  observe(/*isOn=*/true);
  LogicalResult result = check(staged->run(pass));
  observe(/*isOn=*/false);
  if (failed(result))
    return failure();
  std::vector<std::vector<double>> means;
  for (const std::unique_ptr<ChannelSums> &each : sums)
    means.push_back(each->computeMeans());
  return means;
}

LogicalResult EffectRunImpl::keepMeans(const StagedRun::Pass &pass) {
  SmallVector<size_t> corrected;
  for (auto [number, layer] : llvm::enumerate(layers))
    if (layer.observed)
      corrected.push_back(number);
  auto means = runForMeans(pass, corrected);
  if (failed(means))
    return failure();
  for (auto [layer, mean] : llvm::zip_equal(corrected, *means))
    layers[layer].means = std::move(mean);
  return success();
}

EffectRunImpl::LayersByStage
EffectRunImpl::findRefitted(const Switches &switches) const {
  llvm::SetVector<size_t> changed;
  auto add = [&](size_t number) {
    changed.insert_range(points[number].layers);
    changed.insert_range(points[number].readers);
  };
  // The effect of a correction is measured with the others as they are.
  if (switches.corrections.empty()) {
    llvm::for_each(switches.points, add);
    for (const auto &[point, quantizer] : switches.quantizers)
      add(point);
  }
  LayersByStage byStage;
  for (size_t number : changed)
    if (const SwitchedLayer &layer = layers[number];
        layer.observed && layer.isCorrected)
      byStage[executor->stageOf(*layer.observed)].push_back(number);
  return byStage;
}

LogicalResult EffectRunImpl::refit(const LayersByStage &refitted,
                                   unsigned stage, const Frontier *from) {
  // A later layer may read what an earlier one computes.
  for (const auto &[end, changed] : refitted) {
    auto means = runForMeans({stage, end, from, nullptr, {}, {}}, changed);
    if (failed(means))
      return failure();
    for (auto [number, now] : llvm::zip_equal(changed, *means)) {
      SwitchedLayer &layer = layers[number];
      for (auto [wanted, mean] : llvm::zip_equal(layer.means, now))
        layer.refit.push_back(float(wanted - mean));
      if (failed(setBias(layer)))
        return failure();
    }
  }
  return success();
}

LogicalResult EffectRunImpl::undoRefit(const LayersByStage &refitted) {
  for (const auto &[end, changed] : refitted)
    for (size_t number : changed) {
      layers[number].refit.clear();
      if (failed(setBias(layers[number])))
        return failure();
    }
  return success();
}

FailureOr<RunDistance>
EffectRunImpl::measure(ArrayRef<size_t> without, ArrayRef<Switches> switches,
                       MutableArrayRef<RunDistance> found, bool keepsSamples) {
  if (failed(enter(without)))
    return failure();
  ResultDistance::Comparison compared = results->createComparison();
  auto compare = [&](const execution::Unit &done) {
    return results->compare(done.index, done.validSamples, done.outputs,
                            scratch[done.worker], compared);
  };
  unsigned last = staged->lastStage();
  if (failed(keepMeans({0, last, nullptr, nullptr, {}, compare})))
    return failure();
  RunDistance whole = summarize(compared, /*keepsSamples=*/true);
  auto before = staged->createFrontier(kFrontierBytes),
       after = staged->createFrontier(kFrontierBytes);
  for (unsigned stage = 0; stage <= last; ++stage) {
    for (auto [number, each] : llvm::enumerate(switches)) {
      if (each.isEmpty() || firstStageOf(each) != stage)
        continue;
      LayersByStage refitted = findRefitted(each);
      if (failed(toggle(each, /*isSet=*/true)) ||
          failed(refit(refitted, stage, before.get())) ||
          failed(check(
              staged->run({stage, last, before.get(), nullptr, {}, compare}))))
        return failure();
      found[number] = summarize(compared, keepsSamples);
      if (failed(undoRefit(refitted)) || failed(toggle(each, /*isSet=*/false)))
        return failure();
    }
    if (stage != last && failed(advance(stage, before.get(), after.get())))
      return failure();
    std::swap(before, after);
  }
  return whole;
}

//===----------------------------------------------------------------------===//
// The interface
//===----------------------------------------------------------------------===//

EffectRun::EffectRun() = default;
EffectRun::~EffectRun() = default;

FailureOr<std::unique_ptr<EffectRun>>
EffectRun::create(ModuleOp quantized, const KernelOps &kernels,
                  ModuleOp floating, const execution::RunSettings &settings,
                  const EffectRunOptions &options) {
  std::unique_ptr<EffectRun> run(new EffectRun());
  run->impl = std::make_unique<EffectRunImpl>(quantized.getLoc());
  if (failed(
          run->impl->prepare(quantized, kernels, floating, settings, options)))
    return failure();
  return run;
}

StringRef EffectRun::getObstacle() const { return impl->obstacle; }

ArrayRef<std::string> EffectRun::points() const { return impl->names; }
ArrayRef<SwitchedCorrection> EffectRun::corrections() const {
  return impl->corrections;
}
std::optional<ErrorSums> EffectRun::ofWeight(size_t point) const {
  return impl->points[point].sums;
}
bool EffectRun::isSwitched(size_t point) const {
  return impl->points[point].isSwitched;
}
bool EffectRun::isWeight(size_t point) const {
  return impl->points[point].isWeight;
}
int64_t EffectRun::numSamples() const { return impl->source->numSamples(); }
const ResultDistance &EffectRun::results() const { return *impl->results; }
FailureOr<RunDistance> EffectRun::measure(ArrayRef<size_t> without,
                                          ArrayRef<Switches> switches,
                                          MutableArrayRef<RunDistance> found,
                                          bool keepsSamples) {
  return impl->measure(without, switches, found, keepsSamples);
}
