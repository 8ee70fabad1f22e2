// SPDX-License-Identifier: Apache-2.0
//
// Gradient-based post-training quantization: rounding, biases and quantizers of
// a quantized network are trained to reproduce the float network on samples,
// without labels.
#ifndef MCT_TRAINING_GRADIENTPTQ_H
#define MCT_TRAINING_GRADIENTPTQ_H

#include "mct/Evaluation/ResultDistance.h"
#include "mct/Planning/KernelOp.h"
#include "mct/Training/TrainingRun.h"
#include "llvm/Support/CommandLine.h"

namespace mct {

/// Ways to learn the levels of weights.
enum class GptqRounding {
  Soft,      // the one of the two levels around each, by a soft choice
  Perturbed, // moved from the nearest level by what is learned
};

/// Values that are compared with the float network, and their loss.
enum class GptqLoss {
  /// Results of the layers: squared errors, divided by the mean square.
  SquaredError,
  /// The same, with each sample and layer weighted by the attention of its
  /// Hessian score.
  Attention,
  /// Results of the network: divergence of softened distributions, and squared
  /// errors of other results.
  Divergence,
  /// Results of the layers: the loss that the context's TrainingHost computes
  /// for each batch.
  Program,
};

/// Return the values of the options of passes.
llvm::cl::ValuesClass gptqRoundingValues();
llvm::cl::ValuesClass gptqLossValues();

/// Importance of layers by Hessian scores.
struct GptqHessianOptions {
  /// Number of samples for the scores. Attention uses all samples, and does not
  /// normalize.
  int64_t samples = 32;
  quantization::ScoreNormalization normalization;
  /// Samples that a worker processes at once; 0 derives it from the network.
  int64_t batch = 0;
};

struct GradientPtqOptions {
  GptqLoss loss = GptqLoss::Divergence;
  /// Divisor of the logits, for Divergence.
  double temperature = 4;
  /// Set if layers of SquaredError and Program are weighted by their Hessian
  /// scores; if not set, all have equal weights. Required by Attention.
  std::optional<GptqHessianOptions> hessian;

  GptqRounding rounding = GptqRounding::Soft;
  /// Largest initial distance of a weight from its level towards its float
  /// value, for Soft, in steps. Near 0.5 the network is initially almost the
  /// float network, near 0 the given one.
  double softness = 0.02;
  /// Largest number of levels by which a weight may move, for Perturbed.
  double mostLevels = 1;
  /// True if thresholds of weights are learned with the rounding (Soft), and if
  /// those of activations are.
  bool learnsScales = true, learnsActivations = false;
  /// True if values that a quantizer clips get no gradient.
  bool masksClipped = true;
  /// Activations are quantized gradually: the quantized fraction, by step.
  /// `end` < 0 means the last step.
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
  /// Number of layers that were trained; 0 if there are none, and nothing was
  /// done.
  int64_t layers = 0;
  /// Number of samples that were trained on, and that judged.
  int64_t trained = 0, judged = 0;
  execution::ResultMetric metric = execution::ResultMetric::Auto;
  /// Distance of the results from those of the float network on the judged
  /// samples, before and after training.
  double before = 0, after = 0;

  /// Returns whether the network was changed, which it is if it became better.
  bool isBetter() const { return layers != 0 && after < before; }
};

/// Trains a quantized network on four fifths of the samples, chosen by their
/// values. The points of its kernels have parameters and records of corrections
/// that determine the float network, the teacher. If the result is nearer to
/// the float network on the other fifth, it is written to the network; points
/// keep their kinds of quantizers, and records still determine the float
/// network. Otherwise the network stays unchanged. Fails with a diagnostic; the
/// network is not changed then.
mlir::FailureOr<GradientPtqResult>
trainRounding(mlir::func::FuncOp network, const KernelOps &kernels,
              const GradientPtqOptions &options,
              const execution::RunSettings &run);

} // namespace mct

#endif // MCT_TRAINING_GRADIENTPTQ_H
