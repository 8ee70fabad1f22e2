// SPDX-License-Identifier: Apache-2.0
//
// A network in the form that training needs: learned values are arguments of a
// function, and another function computes their gradients.
#ifndef MCT_TRAINING_TRAINING_H
#define MCT_TRAINING_TRAINING_H

#include "mct/Planning/KernelOp.h"
#include "mct/Training/Gradients.h"
#include "tpc_dialect/IR/TpcDialect.h"

#include <optional>
#include <string>
#include <vector>

namespace mct {

/// Values of f32, row-major.
struct LearnedTensor {
  llvm::SmallVector<int64_t> shape;
  std::vector<float> values;
};

/// The quantizer of a point after its training.
struct FrozenQuantizer {
  /// One parameter, or one for each channel of the point.
  tpc::QuantizerAttrInterface parameters;
  /// New weights; if empty, the weights stay and are rounded to the nearest
  /// level.
  std::vector<float> weights;
};

} // namespace mct

#include "mct/Training/TrainableQuantizer.h.inc"

namespace mct {

//===----------------------------------------------------------------------===//
// Learned values
//===----------------------------------------------------------------------===//

enum class LearnedKind {
  Weight,    // the constant before a weight point: a kernel
  Bias,      // the constant that a layer adds
  Quantizer, // thresholds, ranges and scales
  Rounding,  // a number for every weight: where, or how far, it is rounded
  State,     // what follows the values that are seen; has no gradient
  Schedule,  // what depends on the step alone: the fraction that is quantized
};

/// An f32 tensor that is an argument of a training function.
struct LearnedValue {
  /// Unique name: `conv1/kernel_attr` (the unique name of the weight's point),
  /// `conv1/bias`, `relu1:threshold` (unique name of a point, role). All points
  /// share one `fraction`.
  std::string name;
  LearnedKind kind = LearnedKind::Weight;
  /// Role in the point with the unique name `point`; none for weights, biases
  /// and fractions.
  std::optional<tpc::LearnedRole> role;
  std::string point;
  LearnedTensor initial;
  /// Index among the arguments of the function.
  unsigned argument = 0;

  /// Returns whether the value has a gradient.
  bool isTrained() const {
    return kind != LearnedKind::State && kind != LearnedKind::Schedule;
  }
};

struct TrainingRequest {
  /// Name of the new function.
  std::string name;
  /// Samples per call; 0 for the batch size of the network.
  int64_t samples = 0;
  /// Results of the new function: values of the network by name
  /// (`mct::getName`), or the unique names of activation points, which stand
  /// for the value before the quantizer. Empty: the results of the network.
  llvm::SmallVector<std::string> compared;
  /// True if weights of trainable points, and biases of their layers, are
  /// arguments (otherwise constants). Learned values of points always are.
  bool weights = true, biases = true;
  /// Kernel ops of the module if the caller has them; if null, they are found.
  const KernelOps *kernels = nullptr;
};

/// A network whose learned values are arguments.
struct TrainingFunction {
  /// Its arguments are those of the network, followed by `learned`. It returns
  /// the `numResults` values that are compared, followed by the new values of
  /// the learned values of kind State, in their order.
  mlir::func::FuncOp function;
  unsigned numInputs = 0, numResults = 0;
  std::vector<LearnedValue> learned;
  /// Kernel ops of the module.
  KernelOps kernels;
};

/// Adds a copy of `network`, of static shapes, in which points with a
/// `trainable` use learned values, which are additional arguments. The network
/// stays unchanged. Fails with a diagnostic.
mlir::FailureOr<TrainingFunction>
makeTrainingFunction(mlir::func::FuncOp network,
                     const TrainingRequest &request);

/// One step of training: a function that computes the results of a network and,
/// from the gradients of a loss, the gradients of the learned values.
struct TrainingStep {
  /// Has the arguments of the `TrainingFunction`. Returns the compared results,
  /// the new states, and the gradients of the trained values, in their order.
  mlir::func::FuncOp function;
  /// Copies of each compared result, in `function`, from which the gradients
  /// are computed. When running the function, they must be replaced by the
  /// derivatives of the loss by the result (`Worker::setEditor`).
  llvm::SmallVector<mlir::Value> seeds;
};

/// Adds the function after `training.function`, with that name and the suffix
/// `_step`. It contains no trainable points (`expandTrainablePoints`). Fails
/// with a diagnostic.
mlir::FailureOr<TrainingStep> makeTrainingStep(const TrainingFunction &training,
                                               const GradientRules &rules = {});

/// Replaces points with learned values by TOSA ops. Fails with a diagnostic at
/// a point whose `trainable` has no implementation.
mlir::LogicalResult expandTrainablePoints(mlir::func::FuncOp function);

/// Writes learned values to the network from which `training` was created;
/// `values` has one tensor for each of `training.learned`. Points get the
/// resulting quantizers, and lose `trainable`. Fails with a diagnostic; the
/// network may be changed then.
///
/// Trained layers lose their record of corrections, and count as layers of the
/// float network. With `recordsRounding` the float network stays as it was:
/// their record describes it, as for rounded weights.
mlir::LogicalResult writeLearned(mlir::func::FuncOp network,
                                 const TrainingFunction &training,
                                 llvm::ArrayRef<std::vector<float>> values,
                                 bool recordsRounding = false);

/// Registers the trainable quantizers of the dialect; `registerGradientModels`
/// does so, too.
void registerTrainableQuantizers(mlir::DialectRegistry &registry);

} // namespace mct

#endif // MCT_TRAINING_TRAINING_H
