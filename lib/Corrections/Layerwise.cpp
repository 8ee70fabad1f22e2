// SPDX-License-Identifier: Apache-2.0
//
// The executor cuts the network into stages, which end where layers are made.
// Stage by stage all samples are run; what crosses to later stages is kept in a
// frontier, as the stage made it, and is changed when it is read again.
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
                                ArrayRef<ChannelValue> values) {
  Block &body = function.getBody().front();
  body.getTerminator()->setOperands({});
  function.removeResAttrsAttr();
  function.setType(FunctionType::get(function.getContext(),
                                     function.getArgumentTypes(), {}));
  llvm::SmallPtrSet<Operation *, 16> kept;
  for (const ChannelValue &value : values)
    if (Operation *op = value.value.getDefiningOp())
      kept.insert(op);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (!kept.contains(&op) && isOpTriviallyDead(&op))
      op.erase();
}

namespace {

/// Shows the output of one layer on one worker.
class Show : public execution::TensorObserver {
public:
  Show(LayerVisitor &visitor, size_t layer, size_t worker)
      : visitor(visitor), layer(layer), worker(worker) {}
  void observe(const TensorView &values) override {
    visitor.observe(layer, worker, values);
  }

private:
  LayerVisitor &visitor;
  size_t layer, worker;
};

/// What one thread owns.
struct Lane {
  explicit Lane(const Executor &executor) : worker(executor) {}
  execution::Worker worker;
  /// Of the inputs, and of what crosses between stages.
  std::vector<support::AlignedBuffer> inputs;
  support::AlignedBuffer crossing;
  std::vector<Show> shows;
};

/// Multiplies and adds in float, as the bias of a layer would.
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
  LayerwiseRun(Location loc, const Executor &executor,
               ArrayRef<ChannelValue> layers,
               const execution::SampleSource &samples,
               const LayerwiseOptions &options, LayerVisitor &visitor)
      : loc(loc), executor(executor), layers(layers), samples(samples),
        options(options), visitor(visitor) {}

  LogicalResult prepare();
  LogicalResult run();

private:
  /// Runs all samples through one stage.
  llvm::Error runStage(unsigned stage);
  llvm::Error runUnit(Lane &lane, int64_t number, unsigned stage);

  Location loc;
  const Executor &executor;
  ArrayRef<ChannelValue> layers;
  const execution::SampleSource &samples;
  const LayerwiseOptions &options;
  LayerVisitor &visitor;
  std::optional<execution::Frontier> frontier;
  std::vector<std::unique_ptr<Lane>> lanes;
  int64_t numUnits = 0;
};

} // namespace

execution::CompileOptions
mct::corrections::compileLayerwise(func::FuncOp function,
                                   ArrayRef<ChannelValue> layers) {
  keepOnly(function, layers);
  execution::CompileOptions options;
  options.function = function.getSymName().str();
  options.numEdited = layers.size();
  for (const ChannelValue &layer : layers)
    options.observedValues.push_back(layer.value);
  return options;
}

LogicalResult LayerwiseRun::prepare() {
  if (llvm::Error error = execution::checkUnits(executor, samples))
    return emitError(loc) << llvm::toString(std::move(error));

  numUnits = int64_t(llvm::divideCeil(samples.numSamples(), executor.unit()));
  int64_t largest = 0;
  for (unsigned stage = 0; stage != executor.numStages(); ++stage)
    largest = std::max(largest, executor.savedBytes(stage));
  frontier.emplace(numUnits, largest, options.memoryBudget);

  size_t workers = execution::numWorkers(executor, samples, options.run);
  for (size_t number = 0; number != workers; ++number) {
    Lane &lane = *lanes.emplace_back(std::make_unique<Lane>(executor));
    lane.crossing = support::AlignedBuffer(largest);
    bool hasMemory = lane.crossing.get();
    for (size_t input = 0; input != samples.numInputs(); ++input)
      hasMemory &=
          lane.inputs.emplace_back(samples.sampleBytes(input) * executor.unit())
              .get() != nullptr;
    if (!hasMemory)
      return emitError(loc)
             << "there is no memory for the values between the layers";
    for (size_t layer = 0; layer != layers.size(); ++layer)
      lane.shows.emplace_back(visitor, layer, number);
    for (auto [layer, show] : llvm::enumerate(lane.shows))
      lane.worker.setObserver(layer, &show);
  }
  return success();
}

llvm::Error LayerwiseRun::runUnit(Lane &lane, int64_t number, unsigned stage) {
  int64_t unit = executor.unit();
  execution::SampleRange range;
  range.first = number * unit;
  range.count = std::min(unit, samples.numSamples() - range.first);
  SmallVector<const void *> inputs;
  for (auto [input, buffer] : llvm::enumerate(lane.inputs)) {
    inputs.push_back(buffer.get());
    if (!executor.readsInputs(stage))
      continue;
    if (llvm::Error error = execution::loadUnit(
            samples, input, range.first, range.count, unit, buffer.get()))
      return error;
  }
  const char *crossing = nullptr;
  if (stage != 0) {
    MutableArrayRef<char> block(lane.crossing.get(),
                                executor.savedBytes(stage - 1));
    if (llvm::Error error = frontier->read(number, block))
      return error;
    crossing = block.data();
  }
  if (llvm::Error error = lane.worker.runStages(stage, stage, crossing, inputs,
                                                /*outputs=*/{}, range))
    return error;
  if (stage + 1 == executor.numStages())
    return llvm::Error::success();
  MutableArrayRef<char> block(lane.crossing.get(), executor.savedBytes(stage));
  lane.worker.save(stage, block.data());
  return frontier->write(number, block);
}

llvm::Error LayerwiseRun::runStage(unsigned stage) {
  int64_t batch =
      std::clamp<int64_t>(options.run.batchSize, 1, samples.numSamples());
  return execution::shareUnits(
      numUnits, int64_t(llvm::divideCeil(batch, executor.unit())), lanes.size(),
      options.run.threads, [&](size_t worker, int64_t unit) {
        return runUnit(*lanes[worker], unit, stage);
      });
}

LogicalResult LayerwiseRun::run() {
  for (unsigned stage = 0; stage != executor.numStages(); ++stage) {
    SmallVector<size_t> seen;
    for (size_t layer = 0; layer != layers.size(); ++layer)
      if (executor.stageOf(layer) == stage)
        seen.push_back(layer);
    visitor.begin(seen, lanes.size());
    if (llvm::Error error = runStage(stage))
      return emitError(loc) << llvm::toString(std::move(error));
    for (size_t layer : seen) {
      FailureOr<SmallVector<Affine>> change = visitor.finish(layer);
      if (failed(change))
        return failure();
      ChangeChannels editor(*change, layers[layer].axis);
      for (const std::unique_ptr<Lane> &lane : lanes)
        lane->worker.setEditor(layer, editor);
    }
  }
  return success();
}

LogicalResult mct::corrections::runLayerwise(
    Location loc, const Executor &executor, ArrayRef<ChannelValue> layers,
    const execution::SampleSource &samples, const LayerwiseOptions &options,
    LayerVisitor &visitor) {
  LayerwiseRun run(loc, executor, layers, samples, options, visitor);
  if (failed(run.prepare()))
    return failure();
  return run.run();
}
