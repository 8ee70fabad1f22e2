// SPDX-License-Identifier: Apache-2.0
//
// Runs a network that is divided into stages repeatedly, with other constants
// and quantizers, from the first stage that they affect.
#ifndef MCT_EXECUTION_STAGEDRUN_H
#define MCT_EXECUTION_STAGEDRUN_H

#include "mct/Execution/Frontier.h"
#include "mct/Execution/Run.h"
#include "mct/Support/AlignedBuffer.h"
#include <functional>
#include <memory>
#include <vector>

namespace mct::execution {

/// Returns an editor that adds an offset to each channel of an axis.
TensorEditor addToChannels(std::vector<float> offsets, int64_t axis);

/// Runs an executor in stages on samples, by several workers. Results do not
/// depend on their number.
class StagedRun {
public:
  /// Prepares for `passes` passes at a time. The caller owns `executor`, and
  /// may change it between runs. Fails if there is not enough memory.
  static llvm::Expected<std::unique_ptr<StagedRun>>
  create(const Executor &executor, std::shared_ptr<const SampleSource> samples,
         const RunOptions &options, int64_t passes = 1);

  size_t numWorkers() const { return lanes.size(); }
  /// Returns a worker, for its observers and editors.
  Worker &worker(size_t number) { return lanes[number]->worker; }

  /// A range of stages to run, the values to start from, and those to keep.
  struct Pass {
    unsigned first = 0, last = 0;
    /// Values kept after the stage before `first`, and the destination of those
    /// of `last` (null: not kept).
    const Frontier *from = nullptr;
    Frontier *to = nullptr;
    /// Called in the thread of a worker before its first unit of the pass, to
    /// give it replacements, observers and editors; may be null.
    std::function<void(size_t)> enter = nullptr;
    /// Called for every unit that was run, in the worker's thread; may be null.
    std::function<llvm::Error(const Unit &)> done = nullptr;
  };
  llvm::Error run(const Pass &pass) { return run(llvm::ArrayRef(pass)); }
  /// Runs several passes on all samples; the workers share their units. Passes
  /// must not depend on each other. Of several errors, returns that of the
  /// lowest unit of the first failing pass.
  llvm::Error run(llvm::ArrayRef<Pass> passes);

  unsigned lastStage() const { return executor.numStages() - 1; }
  int64_t numUnits() const;
  /// Creates a frontier for the values kept after any stage, with `budget`
  /// bytes in memory.
  std::unique_ptr<Frontier> createFrontier(int64_t budget) const;

private:
  struct Lane {
    explicit Lane(const Executor &executor) : worker(executor) {}
    Worker worker;
    std::vector<support::AlignedBuffer> inputs, outputs;
    llvm::SmallVector<const void *> inputPointers;
    llvm::SmallVector<void *> outputPointers;
    support::AlignedBuffer crossing;
    /// The pass that the worker has entered.
    const Pass *entered = nullptr;
  };
  StagedRun(const Executor &executor,
            std::shared_ptr<const SampleSource> samples,
            const RunOptions &options);
  llvm::Error runUnit(const Pass &pass, size_t worker, int64_t number);

  const Executor &executor;
  std::shared_ptr<const SampleSource> samples;
  RunOptions options;
  /// Size in bytes of the largest block between two stages.
  int64_t largest = 0;
  std::vector<std::unique_ptr<Lane>> lanes;
};

} // namespace mct::execution

#endif // MCT_EXECUTION_STAGEDRUN_H
