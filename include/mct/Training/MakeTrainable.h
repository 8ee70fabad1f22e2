// SPDX-License-Identifier: Apache-2.0
//
// How the points of a quantized network are to be trained.
#ifndef MCT_TRAINING_MAKETRAINABLE_H
#define MCT_TRAINING_MAKETRAINABLE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/Support/CommandLine.h"

namespace mct {

/// The ways in which a point is trained.
enum class TrainingMethod {
  None, // the point takes no part: a constant stays one
  /// The quantizer stays, gradients pass straight through.
  Fixed,
  /// Parameters of the quantizer are learned, with straight-through gradients.
  STE,
  /// The same with gradients of a learned step.
  LSQ,
  /// Weights stay where they are, between two levels, and which one is learned.
  SoftRounding,
  /// The code of every weight is moved by what is learned.
  PerturbedRounding,
};

/// Return the values of the options of passes.
llvm::cl::ValuesClass trainingMethodValues();

struct TrainableOptions {
  TrainingMethod weights = TrainingMethod::LSQ;
  TrainingMethod activations = TrainingMethod::LSQ;
  /// The gradient of values that a quantizer clips: nothing (true), or
  /// everything. Without a meaning for LSQ, which masks.
  bool masksClipped = true;
  /// Activations are quantized more and more, by a fraction that is scheduled.
  bool isGradual = false;
  /// True if soft rounding learns a scale for each channel, too, where
  /// thresholds are free.
  bool learnsScales = false;
  /// Largest number of levels by which perturbed rounding moves a weight.
  double mostLevels = 1;
};

/// Returns the `trainable` of a point with parameters, by a method; null where
/// it takes no part. A quantizer without evenly spaced levels stays fixed, with
/// every method.
tpc::TrainableAttrInterface chooseTrainable(tpc::QuantizeOp point,
                                            const TrainableOptions &options);

/// Gives every point that has parameters, and no `trainable` yet, the one that
/// the options say. Returns how many have got one.
unsigned makeTrainable(mlir::func::FuncOp network,
                       const TrainableOptions &options);

} // namespace mct

#endif // MCT_TRAINING_MAKETRAINABLE_H
