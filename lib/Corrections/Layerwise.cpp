// SPDX-License-Identifier: Apache-2.0
//
// The function is cut into segments. Segment k computes the layers of level k,
// those with k - 1 layers on the longest path before them, and whatever else
// those need that depends on the layers of level k - 1. Each segment is a
// function from the values that cross into it to those that leave it. Between
// two segments the driver corrects the outputs of layers in memory, so that all
// are compiled once, before anything is known.
#include "Layerwise.h"

#include "mct/Support/Threads.h"
#include "mct/Transforms/SetBatch.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>

using namespace mlir;
using namespace mct;
using namespace mct::corrections;
using execution::Executor;
using quantization::Affine;
using quantization::ChannelStatistics;

namespace {

/// Memory for tensors, aligned for every vector type.
class Buffer {
public:
  Buffer() = default;
  explicit Buffer(size_t bytes) {
    constexpr size_t kAlignment = 64;
    data.reset(static_cast<char *>(std::aligned_alloc(
        kAlignment, (bytes + kAlignment) / kAlignment * kAlignment)));
  }
  char *get() const { return data.get(); }

private:
  struct Free {
    void operator()(char *pointer) const { std::free(pointer); }
  };
  std::unique_ptr<char, Free> data;
};

size_t byteSize(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return type.getNumElements() * ((type.getElementTypeBitWidth() + 7) / 8);
}

/// A value that leaves the segment that makes it.
struct Crossing {
  /// Segment that makes it; 0 for an argument.
  unsigned definedIn = 0;
  /// Last segment that reads it.
  unsigned lastUse = 0;
  /// Number of the layer, or -1.
  int layer = -1;
  /// Whole units, for all units or not at all.
  Buffer kept;

  bool isLiveBehind(unsigned segment) const {
    return definedIn <= segment && lastUse > segment;
  }
};

struct Segment {
  SmallVector<Operation *> ops;
  SmallVector<Value> inputs, outputs;
  std::unique_ptr<Executor> executor;
};

/// What one thread owns.
struct Lane {
  llvm::DenseMap<Value, Buffer> buffers;
  std::vector<std::unique_ptr<execution::Worker>> workers;
  /// Of the layers that are being measured.
  std::vector<ChannelStatistics> statistics;
  std::vector<float> scratch;
};

class LayerwiseRun {
public:
  LayerwiseRun(func::FuncOp function, ArrayRef<ChannelValue> layers,
               const ChannelRun &before, const LayerwiseOptions &options)
      : function(function), layers(layers), before(before), options(options) {}

  LogicalResult prepare();
  LogicalResult run(CorrectLayer correct);

private:
  LogicalResult cut();
  /// All segments at once, because that costs little more than the largest.
  LogicalResult compile();
  /// Runs the segments behind the last kept values up to `last`, and observes
  /// the layers of `last`.
  LogicalResult runSegments(unsigned last);
  llvm::Error runUnit(Lane &lane, int64_t unit, unsigned last);
  char *bufferOf(Lane &lane, Value value, int64_t unit);
  /// Corrects what a layer made of one unit.
  void correctOutput(int layer, char *data) const;
  /// Whether the values that are live behind segment `last` may all be kept.
  bool keepBehind(unsigned last);
  void dropBefore(unsigned last);
  llvm::Error forEachUnit(function_ref<llvm::Error(Lane &, int64_t)> body);

  func::FuncOp function;
  ArrayRef<ChannelValue> layers;
  const ChannelRun &before;
  const LayerwiseOptions &options;

  /// Segment 0 is empty: what is known before anything runs.
  std::vector<Segment> segments;
  llvm::MapVector<Value, Crossing> crossings;
  llvm::DenseSet<Value> constants;
  llvm::DenseMap<Value, int> layerOf;
  /// Where the samples of a unit lie, if there may be fewer than a unit.
  BatchDimensions batchDimensions;
  std::vector<SmallVector<Affine>> corrections;
  /// Of the layers that are being measured.
  std::vector<SampleMeans> sampleMeans;
  /// Everything that is live behind this segment is kept.
  unsigned keptBehind = 0;
  int64_t numUnits = 0;
  std::vector<Lane> lanes;
};

} // namespace

/// Everything an op reads, inside of its regions too.
static llvm::SetVector<Value> getReads(Operation *op) {
  llvm::SetVector<Value> reads;
  reads.insert(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), reads);
  return reads;
}

LogicalResult LayerwiseRun::prepare() {
  // The run before has followed the batch through what leads to the layers.
  keepOnly(function, layers);
  FailureOr<int64_t> batch = getBatch(function, /*emitErrors=*/false);
  bool isPartial = before.unit != 1 && before.allowsPartialUnits;
  if (isPartial || (succeeded(batch) && *batch != before.unit)) {
    FailureOr<BatchDimensions> followed = setBatch(function, before.unit);
    if (failed(followed))
      return failure();
    if (isPartial)
      batchDimensions = std::move(*followed);
  }
  for (auto [number, layer] : llvm::enumerate(layers))
    layerOf[layer.value] = number;
  corrections.resize(layers.size());
  sampleMeans.resize(layers.size());
  int64_t total = before.samples->numSamples();
  numUnits = (total + before.unit - 1) / before.unit;

  unsigned threads = options.run.threads
                         ? options.run.threads
                         : std::max(1u, std::thread::hardware_concurrency());
  lanes = std::vector<Lane>(std::clamp<int64_t>(numUnits, 1, threads));
  return success(succeeded(cut()) && succeeded(compile()));
}

LogicalResult LayerwiseRun::cut() {
  Block &body = function.getBody().front();
  llvm::DenseMap<Value, unsigned> levels;
  llvm::DenseMap<Operation *, unsigned> segmentOf;
  unsigned last = 0;
  for (Operation &op : body.without_terminator()) {
    llvm::SetVector<Value> reads = getReads(&op);
    bool isLayer = llvm::any_of(op.getResults(),
                                [&](Value v) { return layerOf.contains(v); });
    if (!isLayer &&
        llvm::all_of(reads, [&](Value v) { return constants.contains(v); })) {
      // Constants, their points, storage: cheap to have in every segment.
      constants.insert(op.result_begin(), op.result_end());
      continue;
    }
    unsigned level = 0;
    for (Value read : reads)
      level = std::max(level, levels.lookup(read));
    segmentOf[&op] = level + 1;
    for (Value result : op.getResults())
      levels[result] = level + (isLayer ? 1 : 0);
    if (isLayer)
      last = std::max(last, level + 1);
  }
  segments.resize(last + 1);

  for (Operation &op : body.without_terminator())
    if (segmentOf.contains(&op))
      segments[segmentOf[&op]].ops.push_back(&op);

  for (BlockArgument argument : body.getArguments())
    crossings[argument];
  for (auto [number, segment] : llvm::enumerate(segments)) {
    llvm::SetVector<Value> inputs;
    for (Operation *op : segment.ops) {
      for (Value read : getReads(op)) {
        Operation *producer = read.getDefiningOp();
        if (constants.contains(read) ||
            (producer && segmentOf[producer] == number))
          continue;
        inputs.insert(read);
        Crossing &crossing = crossings[read];
        crossing.definedIn = producer ? segmentOf[producer] : 0;
        crossing.lastUse = number;
      }
      for (Value result : op->getResults())
        if (layerOf.contains(result))
          crossings[result].definedIn = number;
    }
    segment.inputs.assign(inputs.begin(), inputs.end());
  }
  for (auto &[value, crossing] : crossings) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || !type.hasStaticShape() ||
        !type.getElementType().isIntOrFloat()) {
      return emitError(value.getLoc())
             << "has type " << value.getType()
             << ", and layers behind it use it; corrections layer by layer "
                "need tensors of numbers with known shapes here";
    }
    if (auto layer = layerOf.find(value); layer != layerOf.end())
      crossing.layer = layer->second;
    if (crossing.definedIn != 0)
      segments[crossing.definedIn].outputs.push_back(value);
  }
  return success();
}

/// Clones what `op` reads and is constant, then the op.
static void cloneWithConstants(OpBuilder &builder, Operation *op,
                               const llvm::DenseSet<Value> &constants,
                               IRMapping &mapping) {
  for (Value read : getReads(op))
    if (constants.contains(read) && !mapping.contains(read))
      cloneWithConstants(builder, read.getDefiningOp(), constants, mapping);
  builder.clone(*op, mapping);
}

LogicalResult LayerwiseRun::compile() {
  MLIRContext *context = function.getContext();
  OwningOpRef<ModuleOp> module = ModuleOp::create(function.getLoc());
  OpBuilder builder(context);
  std::vector<execution::CompileOptions> options;
  for (auto [number, segment] : llvm::enumerate(llvm::drop_begin(segments))) {
    execution::CompileOptions &one = options.emplace_back();
    one.maxMemory = this->options.maxMemory;
    one.function = "segment_" + std::to_string(number + 1);
    one.keepTypes = true;
    builder.setInsertionPointToEnd(module->getBody());
    auto part = func::FuncOp::create(
        builder, function.getLoc(), one.function,
        builder.getFunctionType(TypeRange(ValueRange(segment.inputs)),
                                TypeRange(ValueRange(segment.outputs))));
    Block *body = part.addEntryBlock();
    builder.setInsertionPointToStart(body);
    IRMapping mapping;
    for (auto [value, argument] :
         llvm::zip(segment.inputs, body->getArguments()))
      mapping.map(value, argument);
    for (Operation *op : segment.ops)
      cloneWithConstants(builder, op, constants, mapping);
    func::ReturnOp::create(
        builder, function.getLoc(),
        llvm::map_to_vector(segment.outputs, [&](Value value) {
          return mapping.lookup(value);
        }));
  }

  // What runs slowly has been remarked.
  ScopedDiagnosticHandler quiet(context, [](Diagnostic &diagnostic) {
    return success(diagnostic.getSeverity() == DiagnosticSeverity::Remark);
  });
  FailureOr<std::vector<std::unique_ptr<Executor>>> executors =
      Executor::compileAll(*module, options);
  if (failed(executors))
    return failure();
  for (auto [segment, executor] :
       llvm::zip(llvm::drop_begin(segments), *executors))
    segment.executor = std::move(executor);
  return success();
}

llvm::Error
LayerwiseRun::forEachUnit(function_ref<llvm::Error(Lane &, int64_t)> body) {
  int64_t batch = std::clamp<int64_t>(options.run.batchSize, 1,
                                      before.samples->numSamples());
  int64_t perChunk = (batch + before.unit - 1) / before.unit;
  std::atomic<int64_t> next{0};
  std::atomic<int64_t> stopAt{numUnits};
  std::mutex mutex;
  llvm::Error first = llvm::Error::success();
  auto work = [&](Lane &lane) {
    for (int64_t begin; (begin = next.fetch_add(perChunk)) < numUnits;)
      for (int64_t unit = begin;
           unit < std::min(begin + perChunk, numUnits) && unit < stopAt; ++unit)
        if (llvm::Error error = body(lane, unit)) {
          std::lock_guard<std::mutex> lock(mutex);
          // The error of the first sample, whoever meets it.
          if (unit < stopAt) {
            stopAt = unit;
            std::swap(first, error);
          }
          llvm::consumeError(std::move(error));
        }
  };
  support::runOnThreads(lanes.size(),
                        [&](size_t number) { work(lanes[number]); });
  return first;
}

char *LayerwiseRun::bufferOf(Lane &lane, Value value, int64_t unit) {
  const Crossing &crossing = crossings.find(value)->second;
  if (crossing.kept.get())
    return crossing.kept.get() + unit * byteSize(value);
  Buffer &buffer = lane.buffers[value];
  if (!buffer.get())
    buffer = Buffer(byteSize(value));
  return buffer.get();
}

void LayerwiseRun::correctOutput(int layer, char *data) const {
  auto *values = reinterpret_cast<float *>(data);
  ArrayRef<Affine> correction = corrections[layer];
  ArrayRef<int64_t> shape =
      cast<RankedTensorType>(layers[layer].value.getType()).getShape();
  int64_t outer = 1, inner = 1, axis = layers[layer].axis;
  for (int64_t size : shape.take_front(axis))
    outer *= size;
  for (int64_t size : shape.drop_front(axis + 1))
    inner *= size;
  std::vector<float> scales, offsets;
  for (const Affine &affine : correction) {
    scales.push_back(float(affine.scale));
    offsets.push_back(float(affine.offset));
  }
  for (int64_t block = 0; block != outer; ++block)
    if (inner == 1) {
      for (size_t channel = 0; channel != scales.size(); ++channel)
        values[channel] = values[channel] * scales[channel] + offsets[channel];
      values += scales.size();
    } else {
      for (size_t channel = 0; channel != scales.size(); ++channel)
        for (int64_t i = 0; i != inner; ++i, ++values)
          *values = *values * scales[channel] + offsets[channel];
    }
}

static llvm::Error noMemory() {
  return llvm::createStringError(
      "there is no memory for the values between the layers");
}

llvm::Error LayerwiseRun::runUnit(Lane &lane, int64_t unit, unsigned last) {
  int64_t first = unit * before.unit;
  int64_t valid = std::min(before.unit, before.samples->numSamples() - first);
  if (keptBehind == 0)
    for (BlockArgument argument : function.getArguments()) {
      unsigned input = argument.getArgNumber();
      char *buffer = bufferOf(lane, argument, unit);
      if (!buffer)
        return noMemory();
      if (llvm::Error error = before.samples->load(input, first, valid, buffer))
        return error;
      // Units are computed whole; what comes of the copies is not looked at.
      size_t bytes = before.samples->sampleBytes(input);
      for (int64_t copy = valid; copy < before.unit; ++copy)
        std::memcpy(buffer + copy * bytes, buffer + (valid - 1) * bytes, bytes);
    }

  lane.workers.resize(segments.size());
  for (unsigned number = keptBehind + 1; number <= last; ++number) {
    Segment &segment = segments[number];
    std::unique_ptr<execution::Worker> &worker = lane.workers[number];
    if (!worker)
      worker = std::make_unique<execution::Worker>(*segment.executor);
    SmallVector<const void *> inputs;
    SmallVector<void *> outputs;
    for (Value value : segment.inputs)
      inputs.push_back(bufferOf(lane, value, unit));
    for (Value value : segment.outputs)
      outputs.push_back(bufferOf(lane, value, unit));
    if (llvm::is_contained(inputs, nullptr) ||
        llvm::is_contained(outputs, nullptr))
      return noMemory();
    if (llvm::Error error = worker->run(inputs, outputs, /*validSamples=*/1))
      return error;
    if (number != last)
      for (auto [value, data] : llvm::zip(segment.outputs, outputs))
        if (int layer = crossings.find(value)->second.layer; layer >= 0)
          correctOutput(layer, static_cast<char *>(data));
  }

  for (Value value : segments[last].outputs) {
    int layer = crossings.find(value)->second.layer;
    if (layer < 0)
      continue;
    SmallVector<int64_t> shape(
        cast<RankedTensorType>(value.getType()).getShape());
    // A whole unit holds the samples one after the other; of the last one only
    // the front is real. What depends on no sample is real throughout.
    if (valid != before.unit)
      if (auto batch = batchDimensions.find(value);
          batch != batchDimensions.end())
        shape[batch->second.dimension] = batch->second.rows * valid;
    auto *data = reinterpret_cast<const float *>(bufferOf(lane, value, unit));
    observeChannels(lane.statistics[layer], data, shape, layers[layer].axis,
                    lane.scratch);
    if (before.allowsPartialUnits)
      // Units have rows of their own.
      sampleMeans[layer].add(first, valid, data, shape, layers[layer].axis);
  }
  return llvm::Error::success();
}

bool LayerwiseRun::keepBehind(unsigned last) {
  int64_t bytes = 0;
  for (auto &[value, crossing] : crossings)
    if (crossing.kept.get() || crossing.isLiveBehind(last))
      bytes += int64_t(byteSize(value)) * numUnits;
  if (bytes > options.memoryBudget)
    return false;
  SmallVector<Crossing *> fresh;
  for (auto &[value, crossing] : crossings)
    if (!crossing.kept.get() && crossing.isLiveBehind(last)) {
      crossing.kept = Buffer(byteSize(value) * numUnits);
      fresh.push_back(&crossing);
    }
  // What there is no memory for is computed again.
  bool all = llvm::all_of(fresh, [](Crossing *c) { return c->kept.get(); });
  if (!all)
    for (Crossing *crossing : fresh)
      crossing->kept = Buffer();
  return all;
}

void LayerwiseRun::dropBefore(unsigned last) {
  for (auto &[value, crossing] : crossings)
    if (!crossing.isLiveBehind(last))
      crossing.kept = Buffer();
  for (Lane &lane : lanes) {
    lane.buffers.clear();
    lane.workers.clear();
  }
  for (unsigned number = 0; number <= last; ++number)
    segments[number].executor.reset();
  keptBehind = last;
}

LogicalResult LayerwiseRun::runSegments(unsigned last) {
  for (Lane &lane : lanes)
    lane.statistics.assign(layers.size(), ChannelStatistics());
  for (Value value : segments[last].outputs)
    if (int layer = crossings.find(value)->second.layer; layer >= 0)
      sampleMeans[layer] = SampleMeans(
          before.sampleMeans[layer].empty() ? 0 : before.samples->numSamples(),
          cast<RankedTensorType>(value.getType())
              .getDimSize(layers[layer].axis));
  if (llvm::Error error = forEachUnit(
          [&](Lane &lane, int64_t unit) { return runUnit(lane, unit, last); }))
    return emitError(function.getLoc()) << llvm::toString(std::move(error));
  return success();
}

LogicalResult LayerwiseRun::run(CorrectLayer correct) {
  for (unsigned level = 1; level < segments.size(); ++level) {
    bool keep = level + 1 < segments.size() && keepBehind(level);
    if (failed(runSegments(level)))
      return failure();
    SmallVector<int> measured;
    for (Value value : segments[level].outputs)
      if (int layer = crossings.find(value)->second.layer; layer >= 0)
        measured.push_back(layer);
    llvm::sort(measured);
    for (int layer : measured) {
      ChannelStatistics sum;
      for (Lane &lane : lanes)
        sum.merge(lane.statistics[layer]);
      corrections[layer] = correct(layer, sum, sampleMeans[layer]);
      sampleMeans[layer] = SampleMeans();
    }
    if (!keep)
      continue;
    dropBefore(level);
    // What is kept was made before the corrections were known.
    llvm::cantFail(forEachUnit([&](Lane &lane, int64_t unit) {
      for (int layer : measured)
        if (Value value = layers[layer].value;
            crossings.find(value)->second.kept.get())
          correctOutput(layer, bufferOf(lane, value, unit));
      return llvm::Error::success();
    }));
  }
  return success();
}

LogicalResult mct::corrections::runLayerwise(func::FuncOp function,
                                             ArrayRef<ChannelValue> layers,
                                             const ChannelRun &before,
                                             const LayerwiseOptions &options,
                                             CorrectLayer correct) {
  LayerwiseRun run(function, layers, before, options);
  if (failed(run.prepare()))
    return failure();
  return run.run(correct);
}
