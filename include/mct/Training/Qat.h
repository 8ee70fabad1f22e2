// SPDX-License-Identifier: Apache-2.0
//
// Quantization-aware training: weights, biases, thresholds and ranges of a
// quantized network are learned with its quantizers in place.
#ifndef MCT_TRAINING_QAT_H
#define MCT_TRAINING_QAT_H

#include "mct/Planning/KernelOp.h"
#include "mct/Training/MakeTrainable.h"
#include "mct/Training/TrainingRun.h"
#include "llvm/Support/CommandLine.h"

#include <vector>

namespace mct {

/// Losses of the results of the network.
enum class QatLoss {
  CrossEntropy, // the classes of the samples
  SquaredError, // the float network's results
  Divergence,   // its distributions over classes
};

/// Return the values of the options of passes: the losses, and the methods that
/// train a network as a whole.
llvm::cl::ValuesClass qatLossValues();
llvm::cl::ValuesClass qatMethodValues();

struct QatOptions {
  /// Training of points that do not have a `trainable` yet.
  TrainableOptions trainable;
  QatLoss loss = QatLoss::CrossEntropy;
  /// The class of each sample, for CrossEntropy.
  std::vector<int64_t> labels;
  bool trainsBiases = true;
  /// Settings of the run. With 0 epochs nothing is trained, and trainable
  /// points become the quantizers that training would start from.
  TrainingSettings settings;
};

/// Trains a quantized network on samples, and writes the result to it: its
/// points stay, with other parameters, and without `trainable`. Statistics of
/// activations are dropped, because they belong to other weights.
///
/// Training starts from the present kernels, biases and parameters. Weights
/// that were rounded jointly start from their float values, as far as they keep
/// their levels; a power-of-two threshold starts from the middle of the range
/// that is rounded to it. Results are compared before a final softmax. The
/// float network, for losses that need one, has the kernels and biases from
/// before all corrections, as far as these are recorded.
///
/// Fails with a diagnostic; the network may be changed then.
mlir::LogicalResult trainQuantized(mlir::func::FuncOp network,
                                   const KernelOps &kernels,
                                   const QatOptions &options,
                                   const execution::RunSettings &run);

} // namespace mct

#endif // MCT_TRAINING_QAT_H
