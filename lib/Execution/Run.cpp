// SPDX-License-Identifier: Apache-2.0
#include "mct/Execution/Run.h"

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
    data = std::aligned_alloc(kAlignment,
                              (bytes + kAlignment) / kAlignment * kAlignment);
  }
  ~AlignedBuffer() { std::free(data); }
  AlignedBuffer(AlignedBuffer &&other) : data(std::exchange(other.data, {})) {}
  void *data;
};

size_t byteSize(mlir::RankedTensorType type) {
  return type.getNumElements() * ((type.getElementTypeBitWidth() + 7) / 8);
}

/// A worker with its buffers.
struct Lane {
  explicit Lane(const Executor &executor) : worker(executor) {
    for (const TensorSpec &spec : executor.inputs()) {
      buffers.emplace_back(byteSize(spec.type));
      inputs.push_back(buffers.back().data);
    }
    for (const TensorSpec &spec : executor.outputs()) {
      buffers.emplace_back(byteSize(spec.type));
      outputs.push_back(buffers.back().data);
    }
  }
  Worker worker;
  std::vector<AlignedBuffer> buffers;
  llvm::SmallVector<const void *> inputs;
  llvm::SmallVector<void *> outputs;
};

/// Consecutive units that a worker takes at once.
struct Chunks {
  Chunks(const Executor &executor, const SampleSource &samples,
         const RunOptions &options)
      : unit(executor.unit()) {
    int64_t units = (samples.numSamples() + unit - 1) / unit;
    unitsPerChunk = std::max<int64_t>(1, (options.batchSize + unit - 1) / unit);
    count = (units + unitsPerChunk - 1) / unitsPerChunk;
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
    samples.release(first, valid);
    lane.worker.run(lane.inputs, lane.outputs, valid);
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

  std::vector<std::thread> threads;
  for (size_t number = 1; number < lanes.size(); ++number)
    threads.emplace_back(runLane, number);
  runLane(0);
  for (std::thread &thread : threads)
    thread.join();
  return firstError;
}
