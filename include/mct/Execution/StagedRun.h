// SPDX-License-Identifier: Apache-2.0
//
// Runs a network that is cut into stages again and again, with other constants
// and quantizers, from where these first matter.
#ifndef MCT_EXECUTION_STAGEDRUN_H
#define MCT_EXECUTION_STAGEDRUN_H

#include "mct/Execution/Frontier.h"
#include "mct/Execution/Run.h"
#include "mct/Support/AlignedBuffer.h"
#include <functional>
#include <memory>
#include <vector>

namespace mct::execution {

/// Adds to each channel of an axis what a bias would.
TensorEditor addToChannels(std::vector<float> offsets, int64_t axis);

/// An executor that is run in stages on samples, by several workers. What is
/// made does not depend on them.
class StagedRun {
public:
  /// `executor` stays the caller's, who may change it between runs; so many
  /// passes run at a time. Fails where there is no memory.
  static llvm::Expected<std::unique_ptr<StagedRun>>
  create(const Executor &executor, std::shared_ptr<const SampleSource> samples,
         const RunOptions &options, int64_t passes = 1);

  size_t numWorkers() const { return lanes.size(); }
  /// For observers and editors.
  Worker &worker(size_t number) { return lanes[number]->worker; }

  /// Which stages run, from what, and to what.
  struct Pass {
    unsigned first = 0, last = 0;
    /// What the stage before `first` kept; what `last` makes is kept there
    /// (null: not kept).
    const Frontier *from = nullptr;
    Frontier *to = nullptr;
    /// Makes a worker ready for the units of the pass, in its thread: gives it
    /// replacements, observers and editors (none: it has what it had).
    std::function<void(size_t)> enter = nullptr;
    /// Is told of every unit that was run, in the worker's thread.
    std::function<llvm::Error(const Unit &)> done = nullptr;
  };
  llvm::Error run(const Pass &pass) { return run(llvm::ArrayRef(pass)); }
  /// Several passes on all samples, whose units the workers share. Passes do
  /// not depend on each other. Of several errors that of the lowest unit of the
  /// first such pass is returned.
  llvm::Error run(llvm::ArrayRef<Pass> passes);

  unsigned lastStage() const { return executor.numStages() - 1; }
  int64_t numUnits() const;
  /// For what any stage keeps, `budget` bytes of it in memory.
  std::unique_ptr<Frontier> createFrontier(int64_t budget) const;

private:
  struct Lane {
    explicit Lane(const Executor &executor) : worker(executor) {}
    Worker worker;
    std::vector<support::AlignedBuffer> inputs, outputs;
    llvm::SmallVector<const void *> inputPointers;
    llvm::SmallVector<void *> outputPointers;
    support::AlignedBuffer crossing;
    /// What it is ready for.
    const Pass *entered = nullptr;
  };
  StagedRun(const Executor &executor,
            std::shared_ptr<const SampleSource> samples,
            const RunOptions &options);
  llvm::Error runUnit(const Pass &pass, size_t worker, int64_t number);

  const Executor &executor;
  std::shared_ptr<const SampleSource> samples;
  RunOptions options;
  /// Bytes of the largest block between two stages.
  int64_t largest = 0;
  std::vector<std::unique_ptr<Lane>> lanes;
};

} // namespace mct::execution

#endif // MCT_EXECUTION_STAGEDRUN_H
