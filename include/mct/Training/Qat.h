// SPDX-License-Identifier: Apache-2.0
//
// Quantization-aware training: a quantized network learns, with its quantizers
// in place, what its weights, biases, thresholds and ranges should be.
#ifndef MCT_TRAINING_QAT_H
#define MCT_TRAINING_QAT_H

#include "mct/Planning/KernelOp.h"
#include "mct/Training/MakeTrainable.h"
#include "mct/Training/TrainingRun.h"
#include "llvm/Support/CommandLine.h"

#include <vector>

namespace mct {

/// The losses of the results of the network.
enum class QatLoss {
  CrossEntropy, // the classes of the samples
  SquaredError, // the float network's results
  Divergence,   // its distributions over classes
};

/// Return the values of the options of passes: those, and the methods that
/// train a network as a whole.
llvm::cl::ValuesClass qatLossValues();
llvm::cl::ValuesClass qatMethodValues();

struct QatOptions {
  /// How points are trained that do not say it yet.
  TrainableOptions trainable;
  QatLoss loss = QatLoss::CrossEntropy;
  /// The class of each sample, for CrossEntropy.
  std::vector<int64_t> labels;
  bool trainsBiases = true;
  /// No epochs: nothing is trained, and points that say how they are trained
  /// become what they start from.
  TrainingSettings settings;
};

/// Trains a quantized network on samples, and puts what was learned into it: it
/// has the points that it had, with other parameters, and without `trainable`.
/// Statistics of activations, which told of other weights, are dropped.
///
/// Training starts from the kernels, biases and parameters that there are.
/// Weights that were rounded together start where the float network has them,
/// as far as they keep their levels; a threshold that is a power of two starts
/// in the middle of what rounds to it.
/// Results are compared in front of a softmax, if that makes them. The float
/// network of losses that need one has the kernels and biases from before all
/// corrections, as far as these are recorded.
///
/// Fails with a diagnostic; the network may be changed then.
mlir::LogicalResult trainQuantized(mlir::func::FuncOp network,
                                   const KernelOps &kernels,
                                   const QatOptions &options,
                                   const execution::RunSettings &run);

} // namespace mct

#endif // MCT_TRAINING_QAT_H
