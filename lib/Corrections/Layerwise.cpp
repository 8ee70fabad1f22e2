// SPDX-License-Identifier: Apache-2.0
//
// The executor cuts the network into stages, which end where layers are
// computed. All samples are run stage by stage. Values that later stages read
// are kept in a frontier as the stage computed them, and are changed when they
// are read.
#include "Layerwise.h"

#include "mct/Execution/Frontier.h"
#include "mct/Support/AlignedBuffer.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mct;
using namespace mct::corrections;
using execution::Executor;
using execution::TensorView;
using quantization::Affine;

LayerVisitor::~LayerVisitor() = default;

void mct::corrections::keepOnly(func::FuncOp function,
                                ArrayRef<ChannelValue> values,
                                bool keepsResults) {
  Block &body = function.getBody().front();
  if (!keepsResults) {
    body.getTerminator()->setOperands({});
    function.removeResAttrsAttr();
    function.setType(FunctionType::get(function.getContext(),
                                       function.getArgumentTypes(), {}));
  }
  llvm::SmallPtrSet<Operation *, 16> kept;
  for (const ChannelValue &value : values)
    if (Operation *op = value.value.getDefiningOp())
      kept.insert(op);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (!kept.contains(&op) && isOpTriviallyDead(&op))
      op.erase();
}

namespace {

/// Passes the operand or result of one layer on one worker to the visitor,
/// while `isObserving`.
class VisitorObserver : public execution::TensorObserver {
public:
  VisitorObserver(const bool &isObserving, LayerVisitor &visitor, size_t layer,
                  size_t worker, LayerValue kind)
      : isObserving(isObserving), visitor(visitor), layer(layer),
        worker(worker), kind(kind) {}
  bool isNeeded() const { return visitor.observes(layer, kind); }
  void observe(const TensorView &values) override {
    if (isObserving)
      visitor.observe(layer, worker, kind, values);
  }

private:
  const bool &isObserving;
  LayerVisitor &visitor;
  size_t layer, worker;
  LayerValue kind;
};

/// A network on one worker.
struct NetworkWorker {
  NetworkWorker(const Executor &executor, LayerVisitor &visitor,
                size_t numLayers, ArrayRef<size_t> summands, size_t number,
                bool isFloat)
      : worker(executor) {
    observers.reserve(executor.observed().size());
    // The observed values are the outputs, then the inputs (if they are
    // observed), then the summands.
    for (size_t index = 0;
         index != executor.observed().size() - summands.size(); ++index)
      observers.emplace_back(
          isObserving, visitor, index % numLayers, number,
          index < numLayers
              ? (isFloat ? LayerValue::FloatOutput : LayerValue::Output)
              : (isFloat ? LayerValue::FloatInput : LayerValue::Input));
    for (size_t layer : summands)
      observers.emplace_back(isObserving, visitor, layer, number,
                             isFloat ? LayerValue::FloatSummand
                                     : LayerValue::Summand);
    for (auto [index, observer] : llvm::enumerate(observers))
      if (observer.isNeeded())
        worker.setObserver(index, &observer);
  }
  execution::Worker worker;
  bool isObserving = false;
  std::vector<VisitorObserver> observers;
};

/// A network, and the values of all units that it keeps between two stages.
struct Track {
  Track(const Executor &executor, int64_t units, int64_t budget)
      : executor(executor), frontier(units, largest(executor), budget) {}
  static int64_t largest(const Executor &executor) {
    int64_t bytes = 0;
    for (unsigned stage = 0; stage != executor.numStages(); ++stage)
      bytes = std::max(bytes, executor.savedBytes(stage));
    return bytes;
  }
  const Executor &executor;
  execution::Frontier frontier;
  /// One player for each worker.
  std::vector<std::unique_ptr<NetworkWorker>> networkWorkers;
};

/// Buffers of one thread.
struct WorkerBuffers {
  /// Buffers of the inputs, of results, and of values that cross stages.
  std::vector<support::AlignedBuffer> inputs, outputs;
  SmallVector<void *> outputPointers;
  support::AlignedBuffer crossing;
};

/// An editor that multiplies and adds in float, as the bias of a layer would.
class ChangeChannels {
public:
  ChangeChannels(ArrayRef<Affine> change, int64_t axis) : axis(axis) {
    for (const Affine &affine : change) {
      scales.push_back(float(affine.scale));
      offsets.push_back(float(affine.offset));
    }
  }

  void operator()(MutableArrayRef<float> data, ArrayRef<int64_t> shape) const {
    int64_t inner = 1;
    for (int64_t size : shape.drop_front(axis + 1))
      inner *= size;
    size_t channels = scales.size();
    float *values = data.begin();
    if (inner == 1)
      for (; values != data.end(); values += channels)
        for (size_t channel = 0; channel != channels; ++channel)
          values[channel] =
              values[channel] * scales[channel] + offsets[channel];
    else
      while (values != data.end())
        for (size_t channel = 0; channel != channels; ++channel)
          for (int64_t i = 0; i != inner; ++i, ++values)
            *values = *values * scales[channel] + offsets[channel];
  }

private:
  std::vector<float> scales, offsets;
  int64_t axis;
};

class LayerwiseRun {
public:
  LayerwiseRun(Location loc, Executor &executor, const Executor *exact,
               ArrayRef<ChannelValue> layers,
               const execution::SampleSource &samples,
               const LayerwiseOptions &options, LayerVisitor &visitor)
      : loc(loc), executor(executor), exact(exact), layers(layers),
        samples(samples), options(options), visitor(visitor) {}

  LogicalResult prepare();
  LogicalResult run();

private:
  /// Runs all samples through one stage of the tracks, shows them, and keeps
  /// the values that cross stages, except for `notKept`.
  LogicalResult runStage(ArrayRef<Track *> played, unsigned stage, bool show,
                         const Track *notKept);
  llvm::Error runUnit(Track &track, size_t worker, int64_t number,
                      unsigned stage, bool keep);

  Location loc;
  Executor &executor;
  const Executor *exact;
  ArrayRef<ChannelValue> layers;
  const execution::SampleSource &samples;
  const LayerwiseOptions &options;
  LayerVisitor &visitor;
  /// The float network, if there is one, and the quantized one.
  std::vector<std::unique_ptr<Track>> tracks;
  std::vector<WorkerBuffers> buffers;
  int64_t numUnits = 0;
  /// True while the last stage runs with all changes.
  bool showsResults = false;
};

} // namespace

execution::TensorEditor
mct::corrections::changeChannels(ArrayRef<Affine> change, int64_t axis) {
  return ChangeChannels(change, axis);
}

execution::CompileOptions mct::corrections::compileLayerwise(
    func::FuncOp function, ArrayRef<ChannelValue> layers,
    ArrayRef<OpOperand *> inputs, ArrayRef<Value> summands, bool keepsResults) {
  SmallVector<ChannelValue> kept(layers);
  for (Value summand : summands)
    if (summand)
      kept.push_back({summand});
  keepOnly(function, kept, keepsResults);
  execution::CompileOptions options;
  options.function = function.getSymName().str();
  options.numEdited = layers.size();
  for (const ChannelValue &layer : layers)
    options.observedValues.push_back(layer.value);
  for (OpOperand *input : inputs)
    options.observedBefore.push_back({input->get(), input->getOwner()});
  for (auto [summand, layer] : llvm::zip(summands, layers))
    if (summand)
      options.observedBefore.push_back({summand, layer.value.getDefiningOp()});
  return options;
}

LogicalResult LayerwiseRun::prepare() {
  if (llvm::Error error = execution::checkUnits(executor, samples))
    return emitError(loc) << llvm::toString(std::move(error));
  numUnits = int64_t(llvm::divideCeil(samples.numSamples(), executor.unit()));
  int64_t budget = options.memoryBudget / (exact ? 2 : 1), largest = 0;
  if (exact)
    tracks.push_back(std::make_unique<Track>(*exact, numUnits, budget));
  tracks.push_back(std::make_unique<Track>(executor, numUnits, budget));
  size_t workers = execution::numWorkers(executor, samples, options.run);
  for (std::unique_ptr<Track> &track : tracks) {
    bool isFloat = exact && track == tracks.front();
    largest = std::max(largest, Track::largest(track->executor));
    for (size_t number = 0; number != workers; ++number)
      track->networkWorkers.push_back(std::make_unique<NetworkWorker>(
          track->executor, visitor, layers.size(), options.summands, number,
          isFloat));
  }
  for (size_t number = 0; number != workers; ++number) {
    WorkerBuffers &own = buffers.emplace_back();
    own.crossing = support::AlignedBuffer(largest);
    bool hasMemory = own.crossing.get();
    for (size_t input = 0; input != samples.numInputs(); ++input)
      hasMemory &=
          own.inputs.emplace_back(samples.sampleBytes(input) * executor.unit())
              .get() != nullptr;
    // Either both networks have results, of the same types, or neither does.
    for (const execution::TensorSpec &spec : executor.outputs()) {
      int64_t bytes = spec.type.getNumElements() *
                      execution::getElementBytes(spec.type.getElementType());
      own.outputPointers.push_back(own.outputs.emplace_back(bytes).get());
      hasMemory &= bytes == 0 || own.outputPointers.back();
    }
    if (!hasMemory)
      return emitError(loc)
             << "there is no memory for the values between the layers";
  }
  return success();
}

llvm::Error LayerwiseRun::runUnit(Track &track, size_t worker, int64_t number,
                                  unsigned stage, bool keep) {
  WorkerBuffers &own = buffers[worker];
  int64_t unit = executor.unit();
  execution::SampleRange range;
  range.first = number * unit;
  range.count = std::min(unit, samples.numSamples() - range.first);
  SmallVector<const void *> inputs;
  for (auto [input, buffer] : llvm::enumerate(own.inputs)) {
    inputs.push_back(buffer.get());
    if (!track.executor.readsInputs(stage))
      continue;
    if (llvm::Error error = execution::loadUnit(
            samples, input, range.first, range.count, unit, buffer.get()))
      return error;
  }
  const char *crossing = nullptr;
  if (stage != 0) {
    MutableArrayRef<char> block(own.crossing.get(),
                                track.executor.savedBytes(stage - 1));
    auto found = track.frontier.view(number, block);
    if (!found)
      return found.takeError();
    crossing = *found;
  }
  execution::Worker &networkWorker = track.networkWorkers[worker]->worker;
  if (llvm::Error error = networkWorker.runStages(
          stage, stage, crossing, inputs, own.outputPointers, range,
          /*untilObserved=*/!keep))
    return error;
  bool isLast = stage + 1 == track.executor.numStages();
  if (&track == tracks.back().get()) {
    if (showsResults)
      if (llvm::Error error = visitor.observeResults(
              worker, number, range.count, own.outputPointers))
        return error;
  } else if (isLast && visitor.observesResults()) {
    return visitor.observeFloatResults(number, range.count, own.outputPointers);
  }
  if (!keep || isLast)
    return llvm::Error::success();
  MutableArrayRef<char> block(own.crossing.get(),
                              track.executor.savedBytes(stage));
  return track.frontier.write(number, block,
                              [&](char *to) { networkWorker.save(stage, to); });
}

LogicalResult LayerwiseRun::runStage(ArrayRef<Track *> played, unsigned stage,
                                     bool show, const Track *notKept) {
  for (Track *track : played)
    for (std::unique_ptr<NetworkWorker> &networkWorker : track->networkWorkers)
      networkWorker->isObserving = show;
  llvm::Error error = execution::shareUnits(
      samples.numSamples(), executor.unit(), buffers.size(), options.run,
      [&](size_t worker, int64_t unit) -> llvm::Error {
        for (Track *track : played) {
          // After the last layer, one network may have no stage left, while the
          // other one still has to run the point of its result.
          if (stage >= track->executor.numStages())
            continue;
          if (llvm::Error error =
                  runUnit(*track, worker, unit, stage, track != notKept))
            return error;
        }
        return llvm::Error::success();
      });
  if (error)
    return emitError(loc) << llvm::toString(std::move(error));
  return success();
}

LogicalResult LayerwiseRun::run() {
  bool again = visitor.changesConstants();
  Track *changing = tracks.back().get();
  SmallVector<Track *, 2> all;
  for (std::unique_ptr<Track> &track : tracks)
    all.push_back(track.get());
  SmallVector<SmallVector<size_t, 1>> layersByStage(executor.numStages());
  for (size_t layer = 0; layer != layers.size(); ++layer)
    layersByStage[executor.stageOf(layer)].push_back(layer);
  if (options.run.progress)
    options.run.progress->beginParts(executor.numStages());
  for (unsigned stage = 0; stage != executor.numStages(); ++stage) {
    ArrayRef<size_t> stageLayers = layersByStage[stage];
    visitor.begin(stageLayers, buffers.size());
    // If the float network is run, all of its results must be observed first.
    // Results are then shown in another run of the last stage.
    showsResults = visitor.observesResults() && !exact &&
                   stage + 1 == executor.numStages() && stageLayers.empty();
    if (showsResults)
      visitor.beginResults(buffers.size());
    if (failed(runStage(all, stage, /*show=*/true,
                        /*notKept=*/again ? changing : nullptr)))
      return failure();
    std::vector<std::pair<size_t, ChangeChannels>> editors;
    for (size_t layer : stageLayers) {
      FailureOr<LayerChange> change = visitor.finish(layer);
      if (failed(change))
        return failure();
      for (const auto &[number, values] : change->constants)
        if (llvm::Error error = executor.replaceConstant(number, values))
          return emitError(loc) << llvm::toString(std::move(error));
      for (const auto &[number, quantizer] : change->quantizers) {
        // Earlier stages have kept the values of their points without this
        // change.
        if (executor.stageOfPoint(number) < stage + (again ? 0 : 1))
          return emitError(layers[layer].value.getLoc())
                 << "cannot change the quantizer of a point that was run "
                    "before it";
        if (llvm::Error error = executor.replaceQuantizer(number, quantizer))
          return emitError(loc) << llvm::toString(std::move(error));
      }
      if (change->output.empty())
        continue;
      editors.emplace_back(layer,
                           ChangeChannels(change->output, layers[layer].axis));
    }
    // The first run of the stage has kept only the values of the float network,
    // since the changes alter those of the quantized network.
    if (again && stage + 1 != executor.numStages() &&
        failed(runStage(changing, stage, /*show=*/false, /*notKept=*/nullptr)))
      return failure();
    // Set the editors only now: values are kept unedited, and are edited when
    // they are read.
    for (const auto &[layer, editor] : editors)
      for (std::unique_ptr<NetworkWorker> &networkWorker :
           changing->networkWorkers)
        networkWorker->worker.setEditor(layer, editor);
    if (options.run.progress)
      options.run.progress->endPart();
    if (options.numVisits)
      *options.numVisits +=
          1 + stageLayers.size() + changing->networkWorkers.size();
  }
  // The last stage has computed the results without the changes of its own
  // layers, so it is run again.
  if (visitor.observesResults() && !showsResults) {
    showsResults = true;
    visitor.beginResults(buffers.size());
    if (failed(runStage(changing, executor.numStages() - 1, /*show=*/false,
                        /*notKept=*/nullptr)))
      return failure();
  }
  if (options.numVisits)
    for (const std::unique_ptr<Track> &track : tracks)
      for (const std::unique_ptr<NetworkWorker> &networkWorker :
           track->networkWorkers)
        *options.numVisits += networkWorker->worker.numVisits();
  return success();
}

LogicalResult mct::corrections::runLayerwise(
    Location loc, Executor &executor, const Executor *exact,
    ArrayRef<ChannelValue> layers, const execution::SampleSource &samples,
    const LayerwiseOptions &options, LayerVisitor &visitor) {
  LayerwiseRun run(loc, executor, exact, layers, samples, options, visitor);
  if (failed(run.prepare()))
    return failure();
  return run.run();
}
