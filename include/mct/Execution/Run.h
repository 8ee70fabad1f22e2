// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_EXECUTION_RUN_H
#define MCT_EXECUTION_RUN_H

#include "mct/Execution/Executor.h"
#include "mct/Execution/SampleSource.h"
#include "mct/Support/Progress.h"
#include "mct/Support/Threads.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mct::execution {

/// A unit of samples, before or after it is computed.
struct Unit {
  /// Index of the worker, below `numWorkers`.
  size_t worker = 0;
  /// Index of the unit: first sample / Executor::unit().
  int64_t index = 0;
  int64_t firstSample = 0;
  /// Number of valid samples; smaller than a unit only at the end.
  int64_t validSamples = 0;
  llvm::ArrayRef<const void *> inputs;
  /// Whole units; values after the valid samples are undefined.
  llvm::ArrayRef<void *> outputs;
};

struct RunOptions {
  /// Threads of the workers.
  support::Threads threads;
  /// Number of samples that a worker takes at a time, rounded up to units; 0
  /// stands for one unit.
  int64_t batchSize = 0;
  /// Progress sink, or null.
  support::Progress *progress = nullptr;
};

/// Settings of a run of a network on samples.
struct RunSettings {
  SampleOptions samples;
  RunOptions run;
  /// The part of the samples that is used; a network with a fixed batch takes
  /// all.
  SampleHalf half = SampleHalf::All;
  /// Limit on the memory of the process, as in `CompileOptions::maxMemory`.
  int64_t maxMemory = 0;
  /// Cache that is shared with other runs; null if the run has its own.
  std::shared_ptr<RunCache> cache;

  /// Parses the settings as users write them; emits a diagnostic at `loc` if
  /// they are invalid. `scale`, `offset` and `limit` are as for
  /// `SampleOptions::parse`; `maxMemory` is in bytes, or in K, M or G of them.
  /// The cache is that of the context (`RunCache::of`).
  static mlir::FailureOr<RunSettings>
  parse(mlir::Location loc, llvm::ArrayRef<std::string> files,
        llvm::StringRef scale, llvm::StringRef offset, uint64_t limit,
        uint64_t batchSize, unsigned threads, llvm::StringRef maxMemory);

  /// Returns how many bytes of values that are also in a temporary file may
  /// stay in memory: `usual`, or less if a limit leaves the process less.
  int64_t limitKept(int64_t usual) const;
};

/// Distributes units to workers in order, some in a row. There are `samples`
/// samples, `unit` in each unit. `body(worker, unit)` runs in the worker's
/// thread; worker 0 is the calling thread. Of several errors, returns that of
/// the lowest unit, whatever the timing.
llvm::Error shareUnits(int64_t samples, int64_t unit, size_t workers,
                       const RunOptions &options,
                       llvm::function_ref<llvm::Error(size_t, int64_t)> body);

/// Loads a whole unit of one input. The last sample is repeated to fill the
/// unit, because primitives compute whole units; results of the copies are not
/// used.
llvm::Error loadUnit(const SampleSource &samples, size_t input, int64_t first,
                     int64_t valid, int64_t unit, char *buffer);

/// Fails if the samples do not fill the units of a network whose batch is
/// fixed.
llvm::Error checkUnits(const Executor &executor, const SampleSource &samples);

/// Returns the number of workers that `forEachUnit` will use: never more than
/// there are units, or units of `times` runs at once.
size_t numWorkers(const Executor &executor, const SampleSource &samples,
                  const RunOptions &options, int64_t times = 1);

/// Runs the executor on all samples. `setUp(i, worker)` is called once for each
/// worker before anything runs, in the calling thread, to attach observers;
/// `done` is called after each unit, in the worker's thread, concurrently for
/// different workers. Results and observations do not depend on `options`,
/// apart from the worker that computes them and their order.
///
/// If several samples fail, returns the error of the lowest one.
llvm::Error forEachUnit(const Executor &executor, const SampleSource &samples,
                        const RunOptions &options,
                        llvm::function_ref<void(size_t, Worker &)> setUp,
                        llvm::function_ref<llvm::Error(const Unit &)> done);

/// A function of a module that is ready to run on samples. All runs of networks
/// go through this class: every failure is one diagnostic.
class NetworkRun {
public:
  /// Compiles `options.function` and opens the samples, or takes `samples`. The
  /// memory limit is `settings.maxMemory`.
  static mlir::FailureOr<NetworkRun>
  prepare(mlir::ModuleOp module, CompileOptions options,
          const RunSettings &settings,
          std::shared_ptr<const SampleSource> samples = nullptr);
  /// Prepares an executor that is compiled already; diagnostics are at `loc`.
  static mlir::FailureOr<NetworkRun>
  prepare(mlir::Location loc, std::unique_ptr<Executor> executor,
          const RunSettings &settings,
          std::shared_ptr<const SampleSource> samples = nullptr);

  const Executor &executor() const { return *compiled; }
  const SampleSource &samples() const { return *source; }
  const std::shared_ptr<const SampleSource> &sharedSamples() const {
    return source;
  }
  /// Returns the number of workers of each run.
  size_t numWorkers() const {
    return execution::numWorkers(*compiled, *source, options);
  }

  /// Keeps about `count` samples, as `thinSamples` does; all if `count` is 0 or
  /// the network has a fixed batch.
  mlir::LogicalResult thin(int64_t count,
                           SampleOrder order = SampleOrder::AsTheyAre);

  /// Runs on all samples, as forEachUnit does.
  mlir::LogicalResult
  run(llvm::function_ref<void(size_t, Worker &)> setUp,
      llvm::function_ref<llvm::Error(const Unit &)> done) const;

  /// Runs with an observer for each worker and observed value, created by
  /// `make(worker, observed)`, and merges the observers of all workers by
  /// `llvm::Error Observer::merge(const Observer &)`. Returns one observer for
  /// each observed value.
  template <typename Observer>
  using Observers = std::vector<std::unique_ptr<Observer>>;
  template <typename Observer>
  mlir::FailureOr<Observers<Observer>>
  observe(llvm::function_ref<std::unique_ptr<Observer>(size_t, size_t)> make)
      const {
    std::vector<Observers<Observer>> workers(numWorkers());
    for (auto [worker, observers] : llvm::enumerate(workers))
      for (size_t value = 0; value != executor().observed().size(); ++value)
        observers.push_back(make(worker, value));
    if (failed(run(
            [&](size_t number, Worker &worker) {
              for (auto [value, observer] : llvm::enumerate(workers[number]))
                worker.setObserver(value, observer.get());
            },
            [](const Unit &) { return llvm::Error::success(); })))
      return mlir::failure();
    for (const Observers<Observer> &others : llvm::drop_begin(workers))
      for (auto [observer, other] : llvm::zip(workers.front(), others))
        if (llvm::Error error = observer->merge(*other))
          return report(std::move(error));
    return std::move(workers.front());
  }

private:
  mlir::LogicalResult report(llvm::Error error) const;
  NetworkRun(mlir::Location loc, std::unique_ptr<Executor> compiled,
             std::shared_ptr<const SampleSource> source, RunOptions options)
      : loc(loc), compiled(std::move(compiled)), source(std::move(source)),
        options(options) {}
  mlir::Location loc;
  std::unique_ptr<Executor> compiled;
  std::shared_ptr<const SampleSource> source;
  RunOptions options;
};

} // namespace mct::execution

#endif // MCT_EXECUTION_RUN_H
