// SPDX-License-Identifier: Apache-2.0
//
// The compiled networks of a training run.
#ifndef MCT_LIB_TRAINING_COMPILEDTRAINING_H
#define MCT_LIB_TRAINING_COMPILEDTRAINING_H

#include "TrainingSupport.h"

namespace mct::training {

/// The point to which learned values belong.
struct ValidPoint {
  TrainableQuantizerAttrInterface quantizer;
  /// Indices of the learned values.
  llvm::SmallVector<size_t> values;
};

struct CompiledTraining {
  /// Its `function` is null, since the module to which it belonged is gone.
  TrainingFunction function;
  llvm::SmallVector<ValidPoint> points;
  /// Shapes of the results that are compared with the teacher.
  std::vector<ComparedShape> results;
  /// True for each result whose gradient is used.
  std::vector<bool> isSeedRead;
  std::unique_ptr<execution::Executor> executor;
  /// Null if the loss does not need one.
  std::unique_ptr<execution::Executor> teacher;
  /// True if observed values of the teacher are compared rather than its
  /// outputs.
  bool observesTeacher = false;
  /// Number of samples that are computed at a time.
  int64_t shard = 1;
  /// Text of the networks and of the initial values.
  std::string description;

  /// Compiles the networks of a run; fails with a diagnostic at the network.
  static mlir::FailureOr<CompiledTraining>
  create(const TrainingProblem &problem, const TrainingSettings &settings,
         const execution::RunSettings &run);

private:
  mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
  makeFunction(const TrainingProblem &problem,
               const TrainingSettings &settings);
  mlir::LogicalResult describeResults(mlir::Location loc);
  mlir::LogicalResult compileStep(mlir::ModuleOp module,
                                  const TrainingProblem &problem,
                                  const TrainingSettings &settings,
                                  const execution::RunSettings &run);
  mlir::LogicalResult compileTeacher(const TrainingProblem &problem,
                                     const execution::RunSettings &run);
};

} // namespace mct::training

#endif // MCT_LIB_TRAINING_COMPILEDTRAINING_H
