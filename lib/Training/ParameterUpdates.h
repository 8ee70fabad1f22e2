// SPDX-License-Identifier: Apache-2.0
//
// Updates the learned values of a training run by their gradients.
#ifndef MCT_LIB_TRAINING_PARAMETERUPDATES_H
#define MCT_LIB_TRAINING_PARAMETERUPDATES_H

#include "TrainingSupport.h"

namespace mct::training {

/// A learned value that has an optimizer.
struct Trained {
  /// Index among all learned values.
  size_t value;
  OptimizerSettings optimizer;
  /// Offset and size in the gradients of a shard.
  size_t offset, size;
  /// State of the optimizer: zero, one or two numbers for each element.
  std::vector<float> first, second;
  /// Factor of the regularizer.
  double factor = 0;
  /// Unit of the learning rate.
  double unit = 1;
};

class ParameterUpdates {
public:
  /// `values` has all learned values and must outlive the object.
  static mlir::FailureOr<ParameterUpdates>
  create(mlir::Location loc, const TrainingFunction &function,
         std::vector<std::vector<float>> &values,
         const TrainingSettings &settings, int64_t steps);

  /// Returns the number of elements of the gradients of a shard.
  size_t numGradients() const { return gradients.size(); }
  /// Determines the units of the rates from the present values.
  void measureUnits();

  /// Adds the gradients of some shards, in their order; after the last ones,
  /// updates the values. Returns the loss of the regularizer.
  double add(llvm::ArrayRef<const float *> shards, bool isFirst, bool isLast,
             int64_t step, const support::Threads &threads);

  std::vector<Trained> trained;
  /// Power of the regularizer in each step.
  quantization::LinearAnnealing powers;
  /// The values with their gradients, for callbacks.
  std::vector<TrainedTensor> moved;

private:
  /// A range of elements of a learned tensor.
  struct Chunk {
    /// Index in `trained`.
    size_t tensor;
    size_t begin, count;
  };
  explicit ParameterUpdates(std::vector<std::vector<float>> &values)
      : values(&values) {}
  void addTensor(size_t value, const OptimizerSettings &optimizer);
  mlir::LogicalResult setRegularizer(mlir::Location loc,
                                     const TrainingFunction &function,
                                     const RegularizerSettings &regularizer,
                                     int64_t steps);
  double update(const Chunk &chunk, float *gradients, int64_t step);

  std::vector<std::vector<float>> *values;
  std::vector<Chunk> chunks;
  std::vector<float> gradients;
};

} // namespace mct::training

#endif // MCT_LIB_TRAINING_PARAMETERUPDATES_H
