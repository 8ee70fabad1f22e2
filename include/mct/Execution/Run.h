// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_EXECUTION_RUN_H
#define MCT_EXECUTION_RUN_H

#include "mct/Execution/Executor.h"
#include "mct/Execution/SampleSource.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mct::execution {

/// One unit of samples, before or after it was computed.
struct Unit {
  /// Number of the worker, below `numWorkers`.
  size_t worker = 0;
  /// Number of the unit: first sample / Executor::unit().
  int64_t index = 0;
  int64_t firstSample = 0;
  /// Samples of the unit that are real; less than a unit at the end only.
  int64_t validSamples = 0;
  llvm::ArrayRef<const void *> inputs;
  /// Whole units; what is behind the valid samples is undefined.
  llvm::ArrayRef<void *> outputs;
};

struct RunOptions {
  /// Workers; 0: one per core.
  unsigned threads = 0;
  /// Samples a worker takes at a time, rounded up to units; 0: one unit.
  int64_t batchSize = 0;
};

/// How many workers `forEachUnit` will use: never more than there are units.
size_t numWorkers(const Executor &executor, const SampleSource &samples,
                  const RunOptions &options);

/// Runs the executor on all samples. `setUp(i, worker)` is called once for each
/// worker before anything runs, in the calling thread (observers are attached
/// here); `done` after each unit, in the worker's thread, concurrently for
/// different workers. Results and observations do not depend on `options`,
/// apart from which worker makes them and in which order.
///
/// Of several errors the one of the lowest sample is returned.
llvm::Error forEachUnit(const Executor &executor, const SampleSource &samples,
                        const RunOptions &options,
                        llvm::function_ref<void(size_t, Worker &)> setUp,
                        llvm::function_ref<llvm::Error(const Unit &)> done);

} // namespace mct::execution

#endif // MCT_EXECUTION_RUN_H
