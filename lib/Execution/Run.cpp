// SPDX-License-Identifier: Apache-2.0
#include "mct/Execution/Run.h"

#include "mct/Support/Threads.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

using namespace mct::execution;

namespace {

struct AlignedBuffer {
  explicit AlignedBuffer(size_t bytes) {
    constexpr size_t kAlignment = 64;
    if (bytes <= size_t(INT64_MAX) - kAlignment)
      data = std::aligned_alloc(kAlignment,
                                (bytes + kAlignment) / kAlignment * kAlignment);
  }
  ~AlignedBuffer() { std::free(data); }
  AlignedBuffer(AlignedBuffer &&other) : data(std::exchange(other.data, {})) {}
  /// Null where there is not so much memory.
  void *data = nullptr;
};

/// Saturates: sizes come from the network and may be anything.
size_t byteSize(mlir::RankedTensorType type) {
  size_t bytes = (type.getElementTypeBitWidth() + 7) / 8;
  for (int64_t size : type.getShape())
    bytes = llvm::SaturatingMultiply<size_t>(bytes, size);
  return bytes;
}

/// A worker with its buffers.
struct Lane {
  explicit Lane(const Executor &executor) : worker(executor) {
    for (const TensorSpec &spec : executor.inputs())
      inputs.push_back(allocate(spec));
    for (const TensorSpec &spec : executor.outputs())
      outputs.push_back(allocate(spec));
  }
  void *allocate(const TensorSpec &spec) {
    void *data = buffers.emplace_back(byteSize(spec.type)).data;
    if (!data && !missing)
      missing = &spec;
    return data;
  }
  Worker worker;
  std::vector<AlignedBuffer> buffers;
  llvm::SmallVector<const void *> inputs;
  llvm::SmallVector<void *> outputs;
  /// A tensor for which there was not enough memory.
  const TensorSpec *missing = nullptr;
};

/// Consecutive units that a worker takes at once.
struct Chunks {
  Chunks(const Executor &executor, const SampleSource &samples,
         const RunOptions &options)
      : unit(executor.unit()) {
    int64_t units = llvm::divideCeil(samples.numSamples(), unit);
    // More than all samples is all of them.
    int64_t batch = std::clamp<int64_t>(
        options.batchSize, 1, std::max<int64_t>(1, samples.numSamples()));
    unitsPerChunk = llvm::divideCeil(batch, unit);
    count = llvm::divideCeil(units, unitsPerChunk);
  }
  int64_t unit, unitsPerChunk, count;
};

} // namespace

size_t mct::execution::numWorkers(const Executor &executor,
                                  const SampleSource &samples,
                                  const RunOptions &options) {
  unsigned threads = options.threads;
  if (threads == 0)
    threads = std::max(1u, std::thread::hardware_concurrency());
  // Each worker has memory of its own.
  const Executor::Memory &memory = executor.memory();
  if (int64_t left = executor.maxMemory() - memory.shared; memory.perWorker > 0)
    threads = std::clamp<int64_t>(left / memory.perWorker, 1, threads);
  int64_t chunks = Chunks(executor, samples, options).count;
  return std::clamp<int64_t>(chunks, 1, threads);
}

llvm::Error mct::execution::forEachUnit(
    const Executor &executor, const SampleSource &samples,
    const RunOptions &options, llvm::function_ref<void(size_t, Worker &)> setUp,
    llvm::function_ref<llvm::Error(const Unit &)> done) {
  const Chunks chunks(executor, samples, options);
  const int64_t total = samples.numSamples();
  if (!executor.allowsPartialUnits() && total % chunks.unit != 0)
    return llvm::createStringError(
        "the network has a fixed batch of " + llvm::Twine(chunks.unit) +
        " that cannot be changed, and " + llvm::Twine(total) +
        " samples are no multiple of it");

  std::vector<std::unique_ptr<Lane>> lanes(
      numWorkers(executor, samples, options));
  for (auto [number, lane] : llvm::enumerate(lanes)) {
    lane = std::make_unique<Lane>(executor);
    if (lane->missing)
      return llvm::createStringError(
          "not enough memory for '" + lane->missing->name + "' of " +
          llvm::Twine(byteSize(lane->missing->type)) + " bytes");
    setUp(number, lane->worker);
  }

  std::atomic<int64_t> nextChunk{0};
  // Chunks are handed out in order, so everything before the first error that
  // anyone has seen has been, or is being, computed: which error is the lowest
  // does not depend on timing.
  std::atomic<int64_t> stopAt{total};
  std::mutex errorMutex;
  llvm::Error firstError = llvm::Error::success();
  auto report = [&](int64_t sample, llvm::Error error) {
    std::lock_guard<std::mutex> lock(errorMutex);
    if (sample < stopAt) {
      stopAt = sample;
      std::swap(firstError, error);
    }
    llvm::consumeError(std::move(error));
  };

  auto runUnit = [&](size_t number, int64_t index) {
    Lane &lane = *lanes[number];
    int64_t first = index * chunks.unit;
    int64_t valid = std::min(chunks.unit, total - first);
    for (size_t input = 0; input < lane.inputs.size(); ++input) {
      auto *buffer = static_cast<char *>(lane.buffers[input].data);
      if (llvm::Error error = samples.load(input, first, valid, buffer))
        return report(first, std::move(error));
      // The kernels compute whole units; what they make of the copies is thrown
      // away.
      size_t bytes = samples.sampleBytes(input);
      for (int64_t copy = valid; copy < chunks.unit; ++copy)
        std::memcpy(buffer + copy * bytes, buffer + (valid - 1) * bytes, bytes);
    }
    if (llvm::Error error = lane.worker.run(lane.inputs, lane.outputs, valid))
      return report(first, std::move(error));
    Unit unit{number, index, first, valid, lane.inputs, lane.outputs};
    if (llvm::Error error = done(unit))
      report(first, std::move(error));
  };
  auto runLane = [&](size_t number) {
    for (int64_t chunk; (chunk = nextChunk++) < chunks.count;)
      for (int64_t i = 0; i < chunks.unitsPerChunk; ++i) {
        int64_t index = chunk * chunks.unitsPerChunk + i;
        if (index * chunks.unit >= stopAt)
          return;
        runUnit(number, index);
      }
  };

  support::runOnThreads(lanes.size(), runLane);
  return firstError;
}
