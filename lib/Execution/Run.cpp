// SPDX-License-Identifier: Apache-2.0
#include "mct/Execution/Run.h"

#include "MachineMemory.h"
#include "Program.h"
#include "mct/Execution/CallBuffers.h"
#include "mct/Execution/HostCalls.h"
#include "mct/Execution/RunCache.h"
#include "mct/Support/ByteSize.h"
#include "mct/Support/ContextThreads.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

using namespace mlir;
using namespace mct::execution;

namespace {

/// A worker with its buffers.
struct Lane {
  explicit Lane(const Executor &executor) : worker(executor) {
    inputs = call.addInputs(executor.inputs());
    call.addOutputs(executor.outputs());
  }
  Worker worker;
  CallBuffers call;
  llvm::SmallVector<void *> inputs;
};

/// Units of all samples, and the number that a worker takes at once.
struct Chunks {
  Chunks(int64_t unit, int64_t samples, const RunOptions &options)
      : units(llvm::divideCeil(samples, unit)) {
    // A batch cannot be larger than the number of samples.
    int64_t batch = std::clamp<int64_t>(options.batchSize, 1,
                                        std::max<int64_t>(1, samples));
    unitsInARow = llvm::divideCeil(batch, unit);
    count = llvm::divideCeil(units, unitsInARow);
  }
  int64_t units, unitsInARow, count;
};

} // namespace

namespace mct::execution {
/// Remembers in a cache that the limit of memory was compared with what the
/// process has. Keys of caches cannot be in an unnamed namespace.
struct CheckedLimit {
  bool isChecked = false;
};
} // namespace mct::execution

FailureOr<RunSettings>
RunSettings::parse(Location loc, ArrayRef<std::string> files, StringRef scale,
                   StringRef offset, uint64_t limit, uint64_t batchSize,
                   unsigned threads, StringRef maxMemory) {
  auto samples = SampleOptions::parse(files, scale, offset, limit);
  if (!samples)
    return emitError(loc) << llvm::toString(samples.takeError());
  RunSettings settings;
  settings.samples = std::move(*samples);
  settings.run.threads = mct::support::getThreads(loc.getContext(), threads);
  settings.run.batchSize = int64_t(batchSize);
  settings.run.progress = mct::support::findProgress(loc.getContext());
  llvm::Expected<int64_t> memory =
      mct::support::parseByteSize(maxMemory, "max-memory");
  if (!memory)
    return emitError(loc) << llvm::toString(memory.takeError());
  settings.maxMemory = *memory;
  settings.cache = RunCache::of(loc.getContext());
  if (settings.maxMemory <= 0)
    return settings;
  returnFreedMemory();
  // Once: what earlier passes have left may be slightly above the limit.
  bool &isChecked = settings.cache->get<CheckedLimit>().isChecked;
  if (int64_t present = residentMemory();
      !std::exchange(isChecked, true) && present > settings.maxMemory)
    return emitError(loc)
           << "max-memory is " << settings.maxMemory
           << " bytes, and the process has " << present
           << " before it runs the network; raise the limit, or leave it out";
  return settings;
}

int64_t RunSettings::limitKept(int64_t usual) const {
  // Up to `kShares` kinds of values are kept at the same time.
  constexpr int64_t kShares = 8, kLeast = int64_t(1) << 20;
  if (maxMemory <= 0)
    return usual;
  return std::clamp((maxMemory - residentMemory()) / kShares,
                    std::min(kLeast, usual), usual);
}

llvm::Error mct::execution::checkUnits(const Executor &executor,
                                       const SampleSource &samples) {
  if (executor.allowsPartialUnits() ||
      samples.numSamples() % executor.unit() == 0)
    return llvm::Error::success();
  return llvm::createStringError(
      "the network has a fixed batch of " + llvm::Twine(executor.unit()) +
      " that cannot be changed, and " + llvm::Twine(samples.numSamples()) +
      " samples are not a multiple of it");
}

bool mct::execution::callsHost(const Executor &executor) {
  return llvm::any_of(executor.primitives(), [](const auto &call) {
    return llvm::StringRef(call.implementation)
        .starts_with(kHostImplementation);
  });
}

size_t mct::execution::numWorkers(const Executor &executor,
                                  const SampleSource &samples,
                                  const RunOptions &options, int64_t times) {
  if (callsHost(executor))
    return 1;
  unsigned threads = options.threads.count();
  threads = executor.limitWorkers(threads);
  int64_t chunks =
      Chunks(executor.unit(), samples.numSamples() * times, options).count;
  return std::clamp<int64_t>(chunks, 1, threads);
}

llvm::Error mct::execution::shareUnits(
    int64_t samples, int64_t size, size_t workers, const RunOptions &options,
    llvm::function_ref<llvm::Error(size_t, int64_t)> body) {
  const Chunks chunks(size, samples, options);
  const int64_t units = chunks.units, unitsInARow = chunks.unitsInARow;
  mct::support::Progress *progress = options.progress;
  if (progress)
    progress->begin(samples);
  std::atomic<int64_t> next{0};
  // Units are handed out in order, so everything before the first error that
  // anyone has seen has been, or is being, computed: which error is the lowest
  // does not depend on timing.
  std::atomic<int64_t> stopAt{units};
  std::mutex errorMutex;
  llvm::Error firstError = llvm::Error::success();
  auto runUnit = [&](size_t worker, int64_t unit) -> llvm::Error {
    if ((progress && progress->isCancelled()) || options.threads.isCancelled())
      return llvm::createStringError("cancelled");
    if (llvm::Error error = body(worker, unit))
      return error;
    if (progress)
      progress->add(size);
    return llvm::Error::success();
  };
  auto runLane = [&](size_t worker) {
    for (int64_t begin; (begin = next.fetch_add(unitsInARow)) < units;)
      for (int64_t unit = begin; unit < begin + unitsInARow && unit < stopAt;
           ++unit)
        if (llvm::Error error = runUnit(worker, unit)) {
          std::lock_guard<std::mutex> lock(errorMutex);
          if (unit < stopAt) {
            stopAt = unit;
            std::swap(firstError, error);
          }
          llvm::consumeError(std::move(error));
        }
  };
  options.threads.run(workers, runLane);
  if (progress)
    progress->end();
  return firstError;
}

llvm::Error mct::execution::loadUnit(const SampleSource &samples, size_t input,
                                     int64_t first, int64_t valid, int64_t unit,
                                     char *buffer) {
  if (llvm::Error error = samples.load(input, first, valid, buffer))
    return error;
  size_t bytes = samples.sampleBytes(input);
  for (int64_t copy = valid; copy < unit; ++copy)
    std::memcpy(buffer + copy * bytes, buffer + (valid - 1) * bytes, bytes);
  return llvm::Error::success();
}

llvm::Error mct::execution::forEachUnit(
    const Executor &executor, const SampleSource &samples,
    const RunOptions &options, llvm::function_ref<void(size_t, Worker &)> setUp,
    llvm::function_ref<llvm::Error(const Unit &)> done) {
  const int64_t size = executor.unit(), total = samples.numSamples();
  if (llvm::Error error = checkUnits(executor, samples))
    return error;

  std::vector<std::unique_ptr<Lane>> lanes(
      numWorkers(executor, samples, options));
  for (auto [number, lane] : llvm::enumerate(lanes)) {
    lane = std::make_unique<Lane>(executor);
    if (const TensorSpec *missing = lane->call.missing)
      return llvm::createStringError(
          "not enough memory for '" + missing->name + "' of " +
          llvm::Twine(getByteSize(missing->type)) + " bytes");
    setUp(number, lane->worker);
  }
  return shareUnits(
      total, size, lanes.size(), options,
      [&](size_t number, int64_t index) -> llvm::Error {
        Lane &lane = *lanes[number];
        int64_t first = index * size;
        int64_t valid = std::min(size, total - first);
        for (size_t input = 0; input < lane.inputs.size(); ++input)
          if (llvm::Error error =
                  loadUnit(samples, input, first, valid, size,
                           static_cast<char *>(lane.inputs[input])))
            return error;
        if (llvm::Error error = lane.worker.run(
                lane.call.inputs, lane.call.outputs, valid, first))
          return error;
        return done(Unit{number, index, first, valid, lane.call.inputs,
                         lane.call.outputs});
      });
}

//===----------------------------------------------------------------------===//
// NetworkRun
//===----------------------------------------------------------------------===//

FailureOr<NetworkRun>
NetworkRun::prepare(ModuleOp module, CompileOptions options,
                    const RunSettings &settings,
                    std::shared_ptr<const SampleSource> samples) {
  options.maxMemory = settings.maxMemory;
  FailureOr<std::unique_ptr<Executor>> executor =
      Executor::compile(module, options, settings.cache.get());
  if (failed(executor))
    return failure();
  return prepare(module.getLoc(), std::move(*executor), settings,
                 std::move(samples));
}

FailureOr<NetworkRun>
NetworkRun::prepare(Location loc, std::unique_ptr<Executor> executor,
                    const RunSettings &settings,
                    std::shared_ptr<const SampleSource> samples) {
  if (!samples) {
    auto opened = SampleSource::open(settings.samples, executor->inputs(),
                                     executor->unit(), settings.cache.get());
    if (!opened)
      return emitError(loc) << llvm::toString(opened.takeError());
    samples = std::move(*opened);
  }
  if (executor->allowsPartialUnits()) {
    auto half = takeHalf(std::move(samples), settings.half);
    if (!half)
      return emitError(loc) << llvm::toString(half.takeError());
    samples = std::move(*half);
  }
  return NetworkRun(loc, std::move(executor), std::move(samples), settings.run);
}

LogicalResult NetworkRun::report(llvm::Error error) const {
  return emitError(loc) << llvm::toString(std::move(error));
}

LogicalResult NetworkRun::thin(int64_t count, SampleOrder order) {
  int64_t available = source->numSamples();
  // A fixed batch would leave some samples over.
  if (count <= 0 || !compiled->allowsPartialUnits())
    count = available;
  count = std::min(count, available);
  if (count == available && order == SampleOrder::AsTheyAre)
    return success();
  auto fewer = thinSamples(source, count, order);
  if (!fewer)
    return report(fewer.takeError());
  source = std::move(*fewer);
  return success();
}

LogicalResult
NetworkRun::run(llvm::function_ref<void(size_t, Worker &)> setUp,
                llvm::function_ref<llvm::Error(const Unit &)> done) const {
  if (llvm::Error error = forEachUnit(*compiled, *source, options, setUp, done))
    return report(std::move(error));
  return success();
}
