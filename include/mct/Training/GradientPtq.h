// SPDX-License-Identifier: Apache-2.0
//
// Gradient-based post-training quantization: what a quantized network rounds,
// its biases and its quantizers are trained to make what the float network
// makes of samples, without labels.
#ifndef MCT_TRAINING_GRADIENTPTQ_H
#define MCT_TRAINING_GRADIENTPTQ_H

#include "mct/Evaluation/ResultDistance.h"
#include "mct/Planning/KernelOp.h"
#include "mct/Training/TrainingRun.h"
#include "llvm/Support/CommandLine.h"

namespace mct {

/// How weights find their levels.
enum class GptqRounding {
  Soft,      // the one of the two levels around each, by a soft choice
  Perturbed, // moved from the nearest level by what is learned
};

/// The values that are compared with the float network, and how.
enum class GptqLoss {
  /// Results of the layers: squared errors, divided by the mean square.
  SquaredError,
  /// The same, each sample and layer with the attention that its Hessian score
  /// gives it.
  Attention,
  /// Results of the network: divergence of distributions, softened, and squared
  /// errors of others.
  Divergence,
  /// Results of the layers: what the context's TrainingHost computes of each
  /// batch.
  Program,
};

/// Return the values of the options of passes.
llvm::cl::ValuesClass gptqRoundingValues();
llvm::cl::ValuesClass gptqLossValues();

/// How layers become important by Hessian scores.
struct GptqHessianOptions {
  /// Number of samples for the scores. Attention takes all of them, and
  /// normalizes nothing.
  int64_t samples = 32;
  quantization::ScoreNormalization normalization;
  /// Samples that a worker takes at once; 0: chosen from the network.
  int64_t batch = 0;
};

struct GradientPtqOptions {
  GptqLoss loss = GptqLoss::Divergence;
  /// Divisor of the logits, for Divergence.
  double temperature = 4;
  /// Set where layers of SquaredError and Program count by their Hessian
  /// scores; none: all alike. Attention needs it.
  std::optional<GptqHessianOptions> hessian;

  GptqRounding rounding = GptqRounding::Soft;
  /// Largest initial distance of a weight from its level, for Soft, in steps
  /// and towards the one that it came from. Near 0.5 the network is nearly the
  /// float one at first, near 0 the one that is there.
  double softness = 0.02;
  /// Largest number of levels by which a weight is moved, for Perturbed.
  double mostLevels = 1;
  /// Thresholds of weights are learned with the rounding (Soft), and those of
  /// activations.
  bool learnsScales = true, learnsActivations = false;
  /// Values that a quantizer cuts off get no gradient.
  bool masksClipped = true;
  /// Activations are quantized more and more: how much of them, by step. `end`
  /// < 0: the last step.
  struct Gradual {
    double initial = 0, target = 1;
    int64_t start = 0, end = -1;
  };
  std::optional<Gradual> gradual;

  /// Settings of samples, steps, optimizers and checkpoints. Those of weights,
  /// the fraction and `afterStep` are not used. A regularizer without
  /// importances gets those of the Hessian scores, with Attention.
  TrainingSettings settings;
};

struct GradientPtqResult {
  /// Layers that were trained; 0: there are none, and nothing was done.
  int64_t layers = 0;
  /// Samples that were trained on, and judged on.
  int64_t trained = 0, judged = 0;
  execution::ResultMetric metric = execution::ResultMetric::Auto;
  /// Distance of the results from those of the float network on the judged
  /// samples, before and after training.
  double before = 0, after = 0;

  /// Returns the network was changed: it was better after than before.
  bool isBetter() const { return layers != 0 && after < before; }
};

/// Trains a quantized network, on four fifths of the samples, chosen by their
/// values: its kernels' points have parameters, and record what corrections
/// have done, so that the float network, the teacher, can be told from it. It
/// becomes what was learned, if that is nearer to the float network on the
/// other fifth; points keep their kinds of quantizers, and records tell the
/// float network still. Otherwise it stays as it is. Fails with a diagnostic;
/// the network is not changed then.
mlir::FailureOr<GradientPtqResult>
trainRounding(mlir::func::FuncOp network, const KernelOps &kernels,
              const GradientPtqOptions &options,
              const execution::RunSettings &run);

} // namespace mct

#endif // MCT_TRAINING_GRADIENTPTQ_H
