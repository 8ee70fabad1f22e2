// SPDX-License-Identifier: Apache-2.0
#include "ShardRun.h"
#include "mct/Execution/CallBuffers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mct;
using namespace mct::training;
using execution::Executor;

/// State of a thread that runs the network and its gradients.
struct ShardRun::Lane {
  explicit Lane(const Executor &executor) : worker(executor) {}
  /// Returns a buffer, empty if there is not enough memory.
  MutableArrayRef<float> addFloats(size_t count) {
    auto *data = reinterpret_cast<float *>(
        floats.emplace_back(count * sizeof(float)).get());
    hasMemory &= data != nullptr;
    return {data, data ? count : 0};
  }

  execution::Worker worker;
  execution::CallBuffers call;
  /// Inputs of the network; learned values are shared.
  SmallVector<void *> inputs;
  std::vector<support::AlignedBuffer> floats;
  bool hasMemory = true;
  /// Values of each result, and the buffer for its gradient.
  std::vector<MutableArrayRef<float>> values, seeds;
  /// Gradients of results on which no learned value depends.
  std::vector<MutableArrayRef<float>> unread;
};

ShardRun::ShardRun(const CompiledTraining &compiled,
                   const execution::SampleSource &source,
                   const ParameterUpdates &updates,
                   const execution::RunSettings &run)
    : compiled(compiled), source(source), updates(updates), settings(run) {}
ShardRun::~ShardRun() = default;

std::unique_ptr<ShardRun::Lane>
ShardRun::makeLane(const std::vector<std::vector<float>> &values) const {
  const Executor &executor = *compiled.executor;
  auto made = std::make_unique<Lane>(executor);
  Lane &lane = *made;
  lane.inputs = lane.call.addInputs(
      executor.inputs().take_front(compiled.function.numInputs));
  for (const std::vector<float> &value : values)
    lane.call.inputs.push_back(value.data());
  lane.call.outputs.resize(executor.outputs().size());
  size_t numResults = compiled.results.size();
  lane.values.resize(numResults);
  lane.seeds.resize(numResults);
  lane.unread.resize(numResults);
  for (size_t number = 0; number != numResults; ++number) {
    size_t elements =
        size_t(compiled.results[number].elements * compiled.shard);
    lane.values[number] = lane.addFloats(elements);
    if (!compiled.isSeedRead[number])
      lane.unread[number] = lane.addFloats(elements);
    lane.worker.setEditor(number, [&lane, number](MutableArrayRef<float> values,
                                                  ArrayRef<int64_t>) {
      std::copy(values.begin(), values.end(), lane.values[number].begin());
      // It has its own memory as long as something uses it.
      lane.seeds[number] =
          lane.unread[number].empty() ? values : lane.unread[number];
    });
  }
  if (!lane.hasMemory || lane.call.missing)
    return nullptr;
  return made;
}

FailureOr<std::unique_ptr<ShardRun>>
ShardRun::create(Location loc, const CompiledTraining &compiled,
                 const execution::SampleSource &source,
                 const std::vector<std::vector<float>> &values,
                 const ParameterUpdates &updates, int64_t batch,
                 const execution::RunSettings &run) {
  std::unique_ptr<ShardRun> made(new ShardRun(compiled, source, updates, run));
  bool hasMemory = true;
  int64_t most = int64_t(llvm::divideCeil(batch, compiled.shard));
  for (int64_t count = countThreads(*compiled.executor, most, run);
       count > 0 && hasMemory; --count) {
    made->lanes.push_back(made->makeLane(values));
    hasMemory = made->lanes.back() != nullptr;
  }
  for (auto [number, value] : llvm::enumerate(compiled.function.learned))
    if (value.kind == LearnedKind::State) {
      made->stateValues.push_back(number);
      made->newStates.emplace_back(values[number].size());
    }
  // Run enough shards at a time to keep all threads busy, within limits.
  constexpr size_t kSlotBytes = size_t(64) << 20;
  size_t bytes = std::max<size_t>(1, updates.numGradients()) * sizeof(float);
  size_t lanes = made->lanes.size();
  size_t count = std::clamp<size_t>(kSlotBytes / bytes, lanes,
                                    std::max<size_t>(lanes, most));
  for (size_t slot = 0; slot != count && hasMemory; ++slot)
    hasMemory = made->slots.emplace_back(bytes).get() != nullptr;
  if (!hasMemory)
    return fail(loc) << "there is no memory for a batch";
  return std::move(made);
}

int64_t ShardRun::numShards(ArrayRef<int64_t> samples) const {
  return int64_t(llvm::divideCeil(samples.size(), uint64_t(compiled.shard)));
}

SmallVector<const float *> ShardRun::getGradients(int64_t count) const {
  SmallVector<const float *> gradients;
  for (int64_t number = 0; number != count; ++number)
    gradients.push_back(slot(size_t(number)));
  return gradients;
}

llvm::Expected<double> ShardRun::runForward(Lane &lane,
                                            const TrainingBatch &batch,
                                            const BatchLoss &batchLoss,
                                            int64_t number, float *gradients) {
  size_t output = 0;
  for (std::vector<float> &states : newStates)
    lane.call.outputs[output++] = states.data();
  for (const Trained &each : updates.trained)
    lane.call.outputs[output++] = gradients + each.offset;
  TrainingShard own;
  own.first = number * compiled.shard;
  own.samples = batch.samples.slice(
      own.first, std::min<int64_t>(compiled.shard,
                                   int64_t(batch.samples.size()) - own.first));
  if (llvm::Error error =
          loadSamples(source, own.samples, compiled.shard, lane.inputs))
    return std::move(error);
  if (llvm::Error error = lane.worker.runStages(
          0, 0, /*saved=*/nullptr, lane.call.inputs, lane.call.outputs, {0, 1}))
    return std::move(error);
  std::vector<TrainingShard::Result> shardResults(compiled.results.size());
  for (auto [index, result] : llvm::enumerate(shardResults)) {
    size_t elements = size_t(compiled.results[index].elements),
           count = own.samples.size() * elements;
    result.values = lane.values[index].take_front(count);
    if (!batch.teacher.empty())
      result.teacher =
          batch.teacher[index].slice(size_t(own.first) * elements, count);
    result.gradients = lane.seeds[index].take_front(count);
    // Copies of the last sample do not count.
    MutableArrayRef<float> rest = lane.seeds[index].drop_front(count);
    std::fill(rest.begin(), rest.end(), 0.0f);
  }
  own.results = shardResults;
  return batchLoss(own);
}

llvm::Error ShardRun::runBackward(Lane &lane) const {
  unsigned stages = compiled.executor->numStages();
  // Outputs that the loss does not depend on are written in the last stage.
  return lane.worker.runStages(std::min(1u, stages - 1), stages - 1,
                               /*saved=*/nullptr, lane.call.inputs,
                               lane.call.outputs, {0, 1});
}

llvm::Error ShardRun::run(const TrainingBatch &batch, const BatchLoss &loss,
                          int64_t begin, MutableArrayRef<double> losses,
                          bool gradients) {
  execution::RunOptions options;
  options.threads = settings.run.threads;
  return execution::shareUnits(
      int64_t(losses.size()), 1, lanes.size(), options,
      [&](size_t number, int64_t index) -> llvm::Error {
        if (isCancelled(settings))
          return llvm::createStringError("cancelled");
        Lane &lane = *lanes[number];
        // Without gradients, a thread uses one slot for all shards.
        llvm::Expected<double> part =
            runForward(lane, batch, loss, begin + index,
                       slot(gradients ? size_t(index) : number));
        if (!part)
          return part.takeError();
        losses[size_t(index)] = *part;
        return gradients ? runBackward(lane) : llvm::Error::success();
      });
}

void ShardRun::takeStates(std::vector<std::vector<float>> &values) const {
  for (auto [number, states] : llvm::zip_equal(stateValues, newStates))
    values[number] = states;
}
