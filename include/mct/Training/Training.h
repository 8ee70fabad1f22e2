// SPDX-License-Identifier: Apache-2.0
//
// A network as training sees it: what is learned are arguments of a function,
// and another function computes its gradients.
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

/// The quantizer of a point when its training ends.
struct FrozenQuantizer {
  /// One parameter, or one for each channel of the point.
  tpc::QuantizerAttrInterface parameters;
  /// Empty: the weights stay, and are rounded to the nearest level.
  std::vector<float> weights;
};

} // namespace mct

#include "mct/Training/TrainableQuantizer.h.inc"

namespace mct {

//===----------------------------------------------------------------------===//
// Learned values
//===----------------------------------------------------------------------===//

enum class LearnedKind {
  Weight,    // the constant behind a weight point: a kernel
  Bias,      // the constant that a layer adds
  Quantizer, // thresholds, ranges and scales
  Rounding,  // a number for every weight: where, or how far, it is rounded
  State,     // what follows the values that are seen; has no gradient
  Schedule,  // what depends on the step alone: the fraction that is quantized
};

/// One tensor of f32 that is an argument of a training function.
struct LearnedValue {
  /// No other one has it: `conv1/kernel_attr` (the unique name of the weight's
  /// point), `conv1/bias`, `relu1:threshold` (unique name of a point, role).
  /// All points share one `fraction`.
  std::string name;
  LearnedKind kind = LearnedKind::Weight;
  /// Role in the point of that unique name; none for weights, biases and
  /// fractions.
  std::optional<tpc::LearnedRole> role;
  std::string point;
  LearnedTensor initial;
  /// Its number among the arguments of the function.
  unsigned argument = 0;

  /// Returns whether there is a gradient.
  bool isTrained() const {
    return kind != LearnedKind::State && kind != LearnedKind::Schedule;
  }
};

struct TrainingRequest {
  /// Name of the new function.
  std::string name;
  /// Samples that one call has; 0: as many as the network says.
  int64_t samples = 0;
  /// Results of the new function: values of the network by name
  /// (`mct::getName`), or the unique names of activation points, of which the
  /// value before the quantizer is meant. Empty: the results of the network.
  llvm::SmallVector<std::string> compared;
  /// Weights behind trainable points, and biases of their layers, are arguments
  /// (and otherwise constants). What points learn always is.
  bool weights = true, biases = true;
  /// Kernel ops of the module, where the caller has them; null: they are found.
  const KernelOps *kernels = nullptr;
};

/// A network whose learned values are arguments.
struct TrainingFunction {
  /// Its arguments are those of the network, and then `learned`; it returns
  /// `numResults` values that are compared, and then the new values of those
  /// learned values that are states, in their order.
  mlir::func::FuncOp function;
  unsigned numInputs = 0, numResults = 0;
  std::vector<LearnedValue> learned;
  /// Kernel ops of the module.
  KernelOps kernels;
};

/// Adds a copy of `network`, of static shapes, in which points that have a
/// `trainable` have learned values, with the arguments that these are. The
/// network stays as it is. Fails with a diagnostic.
mlir::FailureOr<TrainingFunction>
makeTrainingFunction(mlir::func::FuncOp network,
                     const TrainingRequest &request);

/// One step of training: a function that computes a network's results and, from
/// what a loss makes of them, the gradients of what is learned.
struct TrainingStep {
  /// Arguments as TrainingFunction. It returns the results that are compared,
  /// the new states, and then the gradients of those learned values that are
  /// trained, in their order.
  mlir::func::FuncOp function;
  /// Copies of each result that is compared, in `function`, from which the
  /// gradients are computed. Whoever runs the function replaces it by the
  /// derivatives of the loss by the result (`Worker::setEditor`).
  llvm::SmallVector<mlir::Value> seeds;
};

/// Adds it behind `training.function`, of the name of that and `_step`. It
/// holds no trainable points (`expandTrainablePoints`). Fails with a
/// diagnostic.
mlir::FailureOr<TrainingStep> makeTrainingStep(const TrainingFunction &training,
                                               const GradientRules &rules = {});

/// Replaces points with learned values by what they compute, as TOSA. Fails
/// with a diagnostic at a point whose `trainable` nobody implements.
mlir::LogicalResult expandTrainablePoints(mlir::func::FuncOp function);

/// Gives the network, of which `training` was made, what was learned: `values`,
/// one tensor for each of `training.learned`. Its points have the quantizers
/// that come of them, and no `trainable` any more. Fails with a diagnostic; the
/// network may be changed then.
///
/// Layers that were trained lose their record of corrections, and count as
/// those of the float network. With `recordsRounding` the float network stays
/// the one that it was: their record tells it, as that of rounded weights.
mlir::LogicalResult writeLearned(mlir::func::FuncOp network,
                                 const TrainingFunction &training,
                                 llvm::ArrayRef<std::vector<float>> values,
                                 bool recordsRounding = false);

/// Registers the kinds that the dialect has; `registerGradientModels` does it,
/// too.
void registerTrainableQuantizers(mlir::DialectRegistry &registry);

} // namespace mct

#endif // MCT_TRAINING_TRAINING_H
