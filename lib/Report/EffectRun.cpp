// SPDX-License-Identifier: Apache-2.0
#include "EffectRun.h"

#include "mct/Execution/Executor.h"
#include "mct/Execution/StagedRun.h"
#include "mct/IR/Constants.h"
#include "mct/IR/EntryFunction.h"
#include "mct/IR/Names.h"
#include "mct/Planning/KernelOp.h"
#include "tpc_dialect/Lookup/TpcLookup.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mct;
using namespace mct::report;
using execution::ErrorSums;
using execution::Executor;
using execution::Frontier;
using execution::ResultDistance;
using execution::StagedRun;

namespace {
/// Values of a constant that is switched.
struct Switched {
  /// Values in the float network, and after corrections.
  std::vector<float> floats, corrected;
};

/// The values of a kernel that is switched.
struct SwitchedKernel : Switched {
  /// Values before the weights were rounded together, or empty if they were
  /// not.
  std::vector<float> unrounded;
  /// Factor of each element that a correction introduced, or empty if there are
  /// none.
  std::vector<float> scale;
};

/// A layer whose kernel or bias is switched.
struct SwitchedLayer {
  SwitchedKernel kernel;
  /// Bias of its channels; empty if it has none.
  Switched bias;
  /// True if the correction of the bias, and the rounding of the weights, are
  /// in effect.
  bool isCorrected = true, isRounded = true;
  /// Indices of the replaceable constants; none for those that are not
  /// switched.
  std::optional<size_t> kernelNumber, biasNumber;
  /// Set if the bias is not a constant operand: index of the observed value to
  /// which it is added, and axis of its channels.
  std::optional<size_t> edited;
  int64_t resultAxis = 0;
  /// Indices of the points; none if there is no point.
  std::optional<size_t> kernelPoint, biasPoint;
  /// Index among the values observed before an op.
  size_t stageNumber = 0;
};

struct SwitchedPoint {
  tpc::QuantizerAttrInterface quantizer;
  SmallVector<int64_t> shape, axes;
  /// Index of the replaceable point; none for a kernel or bias of a layer.
  std::optional<size_t> number;
  SmallVector<size_t> layers;
  std::optional<ErrorSums> sums;
  /// Indices of the function's results that are the point's value.
  SmallVector<unsigned> outputs;
  bool isSwitched = true, isOn = false, isWeight = false;
  /// Quantizer that replaces its own, or null.
  tpc::QuantizerAttrInterface replacement;

  tpc::QuantizerAttrInterface getQuantizer() const {
    return replacement ? replacement : quantizer;
  }
};
} // namespace

/// Returns the operand by which a layer, or the op that adds its bias, reads
/// the bias constant with one value per channel; null if it is read in another
/// way.
static OpOperand *findBiasOperand(const KernelOp &layer) {
  Value constant = layer.getBiasConstant();
  if (!constant ||
      cast<RankedTensorType>(constant.getType()).getNumElements() !=
          layer.numOutputChannels())
    return nullptr;
  for (Operation *op :
       {layer.getOperation(), layer.getResult().getDefiningOp()})
    for (OpOperand &operand : op->getOpOperands())
      if (&operand != &layer.getInput() &&
          &operand != &layer.getKernelOperand() &&
          tpc::lookThroughPoints(operand.get()) == constant)
        return &operand;
  return nullptr;
}

namespace mct::report {
class EffectRunImpl {
public:
  explicit EffectRunImpl(Location loc) : loc(loc) {}

  LogicalResult prepare(ModuleOp quantized, const KernelOps &kernels,
                        ModuleOp floating,
                        const execution::RunSettings &settings,
                        const EffectRunOptions &effectOptions);
  FailureOr<RunDistance> measure(const SwitchState &state,
                                 ArrayRef<Switches> switches,
                                 MutableArrayRef<RunDistance> found,
                                 bool keepsSamples);

  Location loc;
  /// The reason why nothing can be measured; empty if there is none.
  std::string obstacle;
  std::vector<std::string> names;
  std::vector<SwitchedPoint> points;
  std::vector<SwitchedCorrection> corrections;
  std::shared_ptr<const execution::SampleSource> source;
  std::unique_ptr<ResultDistance> results;

private:
  LogicalResult check(llvm::Error error) const {
    if (error)
      return emitError(loc) << llvm::toString(std::move(error));
    return success();
  }
  void describe(func::FuncOp function, func::FuncOp takenBack,
                const KernelOps &kernels);
  void describeLayer(const KernelOp &layer, const KernelOp &takenBack,
                     llvm::DenseMap<Operation *, size_t> &numbers);
  size_t addPoint(tpc::QuantizeOp point,
                  llvm::DenseMap<Operation *, size_t> &numbers);
  void cutIntoStages(func::FuncOp function);
  void addCorrections(const KernelOp &layer, const SwitchedLayer &described);
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
  LogicalResult enter(const SwitchState &state);
  RunDistance summarize(const ResultDistance::Comparison &found,
                        bool keepsSamples) const;
  /// Runs one stage of the network in its present state.
  LogicalResult advance(unsigned stage, const Frontier *from, Frontier *to);
  unsigned firstStageOf(const Switches &switches) const;

  /// Memory for each of two frontiers and for the float results, in bytes.
  static constexpr int64_t kFrontierBytes = int64_t(16) << 20;

  std::vector<SwitchedLayer> layers;
  bool hasScores = false;
  execution::CompileOptions options;
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

size_t EffectRunImpl::addPoint(tpc::QuantizeOp point,
                               llvm::DenseMap<Operation *, size_t> &numbers) {
  auto [found, isNew] = numbers.try_emplace(point, points.size());
  if (!isNew)
    return found->second;
  names.push_back(point.getUniqueName());
  SwitchedPoint &added = points.emplace_back();
  added.quantizer = point.getParametersAttr();
  added.isSwitched = bool(added.quantizer);
  added.isWeight = point.isWeight();
  llvm::append_range(added.shape,
                     cast<RankedTensorType>(point.getType()).getShape());
  llvm::append_range(added.axes, point.getChannelAxes());
  return found->second;
}

static SwitchedKernel describeKernel(const KernelOp &layer,
                                     const KernelOp &takenBack) {
  SwitchedKernel kernel;
  kernel.floats = takenBack.getKernel().values().vec();
  kernel.corrected = layer.getKernel().values().vec();
  tpc::CorrectionsAttr record = layer.getCorrections();
  if (!record)
    return kernel;
  // Rounded weights have no scale.
  if (record.getKernel())
    kernel.unrounded = kernel.floats;
  else if (llvm::any_of(record.getKernelScale(),
                        [](double scale) { return scale != 1; }))
    for (size_t element = 0; element != kernel.floats.size(); ++element)
      kernel.scale.push_back(
          float(record.getScaleOf(layer.outChannelOf(int64_t(element)))));
  return kernel;
}

void EffectRunImpl::addCorrections(const KernelOp &layer,
                                   const SwitchedLayer &described) {
  tpc::CorrectionsAttr record = layer.getCorrections();
  if (!record || !described.kernelPoint)
    return;
  auto add = [&](bool isRounding) {
    SwitchedCorrection &added = corrections.emplace_back();
    added.point = *described.kernelPoint;
    added.isRounding = isRounding;
    for (StringAttr applied : record.getApplied())
      if (record.getApplied().size() == 1 ||
          (applied == tpc::kRoundedWeights) == isRounding)
        added.applied.push_back(applied.str());
  };
  if (described.bias.floats != described.bias.corrected ||
      !described.kernel.scale.empty())
    add(/*isRounding=*/false);
  if (!described.kernel.unrounded.empty())
    add(/*isRounding=*/true);
}

void EffectRunImpl::describeLayer(
    const KernelOp &layer, const KernelOp &takenBack,
    llvm::DenseMap<Operation *, size_t> &numbers) {
  SwitchedLayer described;
  described.kernel = describeKernel(layer, takenBack);
  described.bias = {takenBack.getBias().value_or(std::vector<float>()),
                    layer.getBias().value_or(std::vector<float>())};
  tpc::QuantizeOp point = layer.getKernelPoint();
  OpOperand *bias = findBiasOperand(layer);
  auto biasPoint =
      bias ? bias->get().getDefiningOp<tpc::QuantizeOp>() : tpc::QuantizeOp();
  bool isCorrected = described.bias.floats != described.bias.corrected;
  if (point && (point.getParametersAttr() || layer.getCorrections())) {
    described.kernelPoint = addPoint(point, numbers);
    described.kernelNumber = options.replaceable.size();
    options.replaceable.push_back(&layer.getKernelOperand());
  }
  if (biasPoint && biasPoint.getParametersAttr())
    described.biasPoint = addPoint(biasPoint, numbers);
  if (!described.kernelPoint && !described.biasPoint)
    return;
  if (bias && (isCorrected || described.biasPoint)) {
    described.biasNumber = options.replaceable.size();
    options.replaceable.push_back(bias);
  } else if (isCorrected) {
    // The index is relative until the values of all layers are known.
    described.edited = options.observedValues.size();
    described.resultAxis = layer.resultAxis();
    options.observedValues.push_back(layer.getResult());
  }
  described.stageNumber = options.observedBefore.size();
  options.observedBefore.push_back(
      {layer.getInput().get(), layer.getOperation()});
  for (std::optional<size_t> of : {described.kernelPoint, described.biasPoint})
    if (of)
      points[*of].layers.push_back(layers.size());
  addCorrections(layer, described);
  layers.push_back(std::move(described));
}

void EffectRunImpl::describe(func::FuncOp function, func::FuncOp takenBack,
                             const KernelOps &kernels) {
  std::vector<KernelOp> floats = kernels.findBelow(takenBack);
  OpBuilder builder(takenBack.getContext());
  for (const KernelOp &layer : floats)
    if (layer.getCorrections())
      layer.takeBackCorrections(builder);
  llvm::DenseMap<Operation *, size_t> numbers;
  for (auto [layer, floating] :
       llvm::zip_equal(kernels.findBelow(function), floats))
    describeLayer(layer, floating, numbers);
  for (SwitchedPoint &point : points) {
    const SwitchedLayer &layer = layers[point.layers.front()];
    bool isKernel = layer.kernelPoint == size_t(&point - points.data());
    const Switched &values = isKernel ? layer.kernel : layer.bias;
    std::vector<float> quantized(values.corrected);
    if (point.quantizer)
      point.quantizer.fakeQuantize(point.shape, point.axes, quantized.data(),
                                   quantized.data());
    point.sums.emplace().add(quantized, values.floats);
  }
  function.walk([&](tpc::QuantizeOp point) {
    if (numbers.contains(point)) {
      point.removeQuantizer();
      return;
    }
    if (!point.getParametersAttr())
      return;
    SwitchedPoint &added = points[addPoint(point, numbers)];
    for (OpOperand &use : point->getUses())
      if (use.getOwner()->hasTrait<OpTrait::IsTerminator>())
        added.outputs.push_back(use.getOperandNumber());
    added.number = options.replaceablePoints.size();
    options.replaceablePoints.push_back(point);
    Operation *constant =
        point.isWeight() ? tpc::getConstantOp(point.getInput()) : nullptr;
    if (!constant)
      return;
    if (auto values = ConstantFloats::get(constant->getResult(0))) {
      std::vector<float> quantized(values->values().size());
      added.quantizer.fakeQuantize(added.shape, added.axes,
                                   values->values().data(), quantized.data());
      added.sums.emplace().add(quantized, values->values());
    }
  });
}

/// Divides the network into stages at results that are edited and at inputs of
/// activation points, so that a point can be switched without computing its
/// input again.
void EffectRunImpl::cutIntoStages(func::FuncOp function) {
  llvm::SetVector<Value> cuts(options.observedValues.begin(),
                              options.observedValues.end());
  function.walk([&](tpc::QuantizeOp point) {
    Value input = point.getInput();
    if (point.isActivation() && point.getParametersAttr() &&
        input.getDefiningOp() && !tpc::getConstantOp(input) &&
        !input.getDefiningOp<tpc::QuantizeOp>() &&
        cast<RankedTensorType>(input.getType()).getElementType().isF32())
      cuts.insert(input);
  });
  options.observedValues.assign(cuts.begin(), cuts.end());
  options.numEdited = cuts.size();
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
  hasScores = effectOptions.hasScores;
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
    cutIntoStages(*own);
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
  // Weights were rounded together for the quantizer that they have.
  bool isRounded = layer.isRounded && point.isOn && !point.replacement;
  std::vector<float> values = kernel.unrounded.empty() || isRounded
                                  ? kernel.corrected
                                  : kernel.unrounded;
  if (point.isOn && point.getQuantizer())
    point.getQuantizer().fakeQuantize(point.shape, point.axes, values.data(),
                                      values.data());
  // The quantizer was selected for the kernel with its factors.
  if (!kernel.scale.empty() && !layer.isCorrected) {
    if (!point.isOn)
      values = kernel.floats;
    else
      for (auto [value, scale] : llvm::zip_equal(values, kernel.scale))
        value /= scale;
  }
  return check(executor->replaceConstant(*layer.kernelNumber, values));
}

LogicalResult EffectRunImpl::setBias(const SwitchedLayer &layer) {
  if (!layer.biasNumber && !layer.edited)
    return success();
  std::vector<float> values =
      layer.isCorrected ? layer.bias.corrected : layer.bias.floats;
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
        layer.isCorrected ? execution::TensorEditor()
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

LogicalResult EffectRunImpl::enter(const SwitchState &state) {
  for (SwitchedLayer &layer : layers)
    layer.isCorrected = layer.isRounded = state.corrections;
  for (size_t number : state.without) {
    SwitchedLayer &layer = getLayer(corrections[number]);
    (corrections[number].isRounding ? layer.isRounded : layer.isCorrected) =
        false;
  }
  for (SwitchedPoint &point : points)
    point.isOn = state.points && point.isSwitched;
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
      first = std::min(first, executor->stageOf(options.numEdited +
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
  if (hasScores)
    summary.agreement = results->agreement(found);
  for (size_t part = 0; part != results->getParts().size(); ++part)
    summary.parts.push_back(results->distanceOf(part, found));
  if (keepsSamples)
    summary.samples = found;
  return summary;
}

FailureOr<RunDistance>
EffectRunImpl::measure(const SwitchState &state, ArrayRef<Switches> switches,
                       MutableArrayRef<RunDistance> found, bool keepsSamples) {
  if (failed(enter(state)))
    return failure();
  ResultDistance::Comparison compared = results->createComparison();
  auto compare = [&](const execution::Unit &done) {
    return results->compare(done.index, done.validSamples, done.outputs,
                            scratch[done.worker], compared);
  };
  auto before = staged->createFrontier(kFrontierBytes),
       after = staged->createFrontier(kFrontierBytes);
  unsigned last = staged->lastStage();
  for (unsigned stage = 0; stage <= last; ++stage) {
    for (auto [number, each] : llvm::enumerate(switches)) {
      if (each.isEmpty() || firstStageOf(each) != stage)
        continue;
      if (failed(toggle(each, /*isSet=*/true)) ||
          failed(check(
              staged->run({stage, last, before.get(), nullptr, {}, compare}))))
        return failure();
      found[number] = summarize(compared, keepsSamples);
      if (failed(toggle(each, /*isSet=*/false)))
        return failure();
    }
    if (stage != last && failed(advance(stage, before.get(), after.get())))
      return failure();
    if (stage == last &&
        failed(check(
            staged->run({stage, stage, before.get(), nullptr, {}, compare}))))
      return failure();
    std::swap(before, after);
  }
  return summarize(compared, /*keepsSamples=*/true);
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
FailureOr<RunDistance> EffectRun::measure(const SwitchState &state,
                                          ArrayRef<Switches> switches,
                                          MutableArrayRef<RunDistance> found,
                                          bool keepsSamples) {
  return impl->measure(state, switches, found, keepsSamples);
}
