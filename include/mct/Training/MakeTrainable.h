// SPDX-License-Identifier: Apache-2.0
//
// Decides how the points of a quantized network are trained.
#ifndef MCT_TRAINING_MAKETRAINABLE_H
#define MCT_TRAINING_MAKETRAINABLE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/Support/CommandLine.h"

namespace mct {

/// The ways in which a point is trained.
enum class TrainingMethod {
  None, // the point takes no part: a constant stays one
  /// The quantizer is fixed; gradients pass straight through.
  Fixed,
  /// Parameters of the quantizer are learned, with straight-through gradients.
  STE,
  /// The same with gradients of a learned step size.
  LSQ,
  /// Weights stay between two levels, one of which is learned to be chosen.
  SoftRounding,
  /// The code of every weight is moved by a learned amount.
  PerturbedRounding,
};

/// Return the values of the options of passes.
llvm::cl::ValuesClass trainingMethodValues();

struct TrainableOptions {
  TrainingMethod weights = TrainingMethod::LSQ;
  TrainingMethod activations = TrainingMethod::LSQ;
  /// True if values that a quantizer clips get no gradient, false if their
  /// gradients pass. Ignored by LSQ, which masks.
  bool masksClipped = true;
  /// True if activations are quantized gradually, by a scheduled fraction.
  bool isGradual = false;
  /// True if soft rounding also learns a scale for each channel where
  /// thresholds need not be powers of two.
  bool learnsScales = false;
  /// Largest number of levels by which perturbed rounding may move a weight.
  double mostLevels = 1;
};

/// Returns the `trainable` of a point with parameters for the method of the
/// options; null if it is not trained. A quantizer without evenly spaced levels
/// stays fixed with every method.
tpc::TrainableAttrInterface chooseTrainable(tpc::QuantizeOp point,
                                            const TrainableOptions &options);

/// Gives every point with parameters and without a `trainable` the one that the
/// options request. Returns the number of changed points.
unsigned makeTrainable(mlir::func::FuncOp network,
                       const TrainableOptions &options);

} // namespace mct

#endif // MCT_TRAINING_MAKETRAINABLE_H
