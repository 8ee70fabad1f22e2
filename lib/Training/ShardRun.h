// SPDX-License-Identifier: Apache-2.0
//
// Runs the shards of a batch through the network and its gradients.
#ifndef MCT_LIB_TRAINING_SHARDRUN_H
#define MCT_LIB_TRAINING_SHARDRUN_H

#include "CompiledTraining.h"
#include "ParameterUpdates.h"

namespace mct::training {

class ShardRun {
public:
  /// Workers use `values` in place.
  static mlir::FailureOr<std::unique_ptr<ShardRun>>
  create(mlir::Location loc, const CompiledTraining &compiled,
         const execution::SampleSource &source,
         const std::vector<std::vector<float>> &values,
         const ParameterUpdates &updates, int64_t batch,
         const execution::RunSettings &run);
  ~ShardRun();

  int64_t numShards(llvm::ArrayRef<int64_t> samples) const;
  /// Returns the number of shards whose gradients can be stored at a time.
  int64_t numSlots() const { return int64_t(slots.size()); }
  /// Returns the gradients of the first `count` shards of the last run.
  llvm::SmallVector<const float *> getGradients(int64_t count) const;

  /// Computes the losses of shards of a batch from `begin` on and, with
  /// `gradients`, at most `numSlots` gradients.
  llvm::Error run(const TrainingBatch &batch, const BatchLoss &loss,
                  int64_t begin, llvm::MutableArrayRef<double> losses,
                  bool gradients);

  /// Copies the states after the last shard to the values.
  void takeStates(std::vector<std::vector<float>> &values) const;

private:
  struct Lane;
  ShardRun(const CompiledTraining &compiled,
           const execution::SampleSource &source,
           const ParameterUpdates &updates, const execution::RunSettings &run);
  std::unique_ptr<Lane>
  makeLane(const std::vector<std::vector<float>> &values) const;
  /// Runs one shard of a batch up to the loss, and returns its part of the
  /// loss.
  llvm::Expected<double> runForward(Lane &lane, const TrainingBatch &batch,
                                    const BatchLoss &loss, int64_t number,
                                    float *gradients);
  /// Continues with the gradients.
  llvm::Error runBackward(Lane &lane) const;
  float *slot(size_t number) const {
    return reinterpret_cast<float *>(slots[number].get());
  }

  const CompiledTraining &compiled;
  const execution::SampleSource &source;
  const ParameterUpdates &updates;
  const execution::RunSettings &settings;
  std::vector<std::unique_ptr<Lane>> lanes;
  /// Gradients of the shards that are computed simultaneously.
  std::vector<support::AlignedBuffer> slots;
  /// Indices of the learned values that follow the data, and their new values.
  llvm::SmallVector<size_t> stateValues;
  std::vector<std::vector<float>> newStates;
};

} // namespace mct::training

#endif // MCT_LIB_TRAINING_SHARDRUN_H
