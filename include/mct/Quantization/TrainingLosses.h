// SPDX-License-Identifier: Apache-2.0
//
// Losses, which training makes small: a number and its gradients by what a
// network has made. Values are f32, sums double, in the order of the values.
#ifndef MCT_QUANTIZATION_TRAININGLOSSES_H
#define MCT_QUANTIZATION_TRAININGLOSSES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <vector>

namespace mct::quantization {

/// Returns mean((y - x)^2) / mean(x^2) of values y and what they should be, x;
/// without the quotient where x is zero. Writes the gradients by y, times
/// `factor`. Source: MCT `mse_loss` of its PyTorch GPTQ, normalized.
double normalizedSquaredError(llvm::ArrayRef<float> values,
                              llvm::ArrayRef<float> expected, double factor,
                              llvm::MutableArrayRef<float> gradients);

/// Returns the sum of factor * (y - x)^2, and its gradients: of a part of the
/// values.
double squaredError(llvm::ArrayRef<float> values,
                    llvm::ArrayRef<float> expected, double factor,
                    llvm::MutableArrayRef<float> gradients);

/// One value that is compared at several samples; the last axis holds channels.
struct ComparedLayer {
  llvm::ArrayRef<float> values, expected;
  int64_t channels = 1;
  llvm::MutableArrayRef<float> gradients;
  /// How much each sample counts; as many as there are samples.
  llvm::ArrayRef<double> attention;
};

/// Returns the part of a loss that comes of some samples of a layer: the sum of
/// attention * d over `unit`; d is the sum over channels of (y - x)^2, its mean
/// over all positions. `unit`: samples of all parts * the largest mean
/// attention of a layer. Source: MCT `sample_layer_attention_loss`, with the
/// channels on the last axis.
double attendedError(const ComparedLayer &layer, double unit);

/// How results of a network are scores of classes.
enum class Scores {
  Logits,
  Probabilities, // of a softmax in the network
};

/// Returns the mean over rows of -log p(label). `numClasses` scores a row, one
/// label for each. Fails for a label that is no class. `rows`: of the mean, of
/// which these are a part; 0: these alone.
llvm::Expected<double> crossEntropy(Scores scores, llvm::ArrayRef<float> values,
                                    llvm::ArrayRef<int64_t> labels,
                                    int64_t numClasses,
                                    llvm::MutableArrayRef<float> gradients,
                                    int64_t rows = 0);

/// Returns the mean over rows of the Kullback-Leibler divergence of the
/// network's distribution from that of another one, its teacher. No probability
/// counts as less than 2^-40. `rows`: as for `crossEntropy`.
double divergenceFromTeacher(Scores scores, llvm::ArrayRef<float> values,
                             llvm::ArrayRef<float> teacher, int64_t numClasses,
                             llvm::MutableArrayRef<float> gradients,
                             int64_t rows = 0);

/// Returns the loss of one distribution against the teacher's, both softened to
/// softmax(log(p) / temperature): factor * temperature^2 * the Kullback-Leibler
/// divergence, whose gradients by logits are as large as without. Writes its
/// gradients by the probabilities. None counts as less than 2^-40. Source:
/// Hinton, Vinyals, Dean, "Distilling the Knowledge in a Neural Network",
/// arXiv:1503.02531.
double softenedDivergence(llvm::ArrayRef<float> values,
                          llvm::ArrayRef<float> teacher, double temperature,
                          double factor,
                          llvm::MutableArrayRef<float> gradients);

/// How scores of layers become weights of a loss.
struct ScoreNormalization {
  /// Each sample's scores are divided by their sum before the mean is taken.
  bool bySample = true;
  /// Logarithms to the base 10, from 0 on; zeros count as the smallest other.
  bool isLogarithmic = true;
  /// True if logarithms are scaled so that the largest becomes 1.
  bool isScaled = false;
};

/// `scores`: [samples, layers]. Returns one weight for each layer. Fails for
/// scores that are negative or not finite, and where there are none.
/// Source: MCT, Hessian scores of its gradient PTQ.
llvm::Expected<std::vector<double>>
normalizeScores(llvm::ArrayRef<double> scores, int64_t layers,
                const ScoreNormalization &normalization);

} // namespace mct::quantization

#endif // MCT_QUANTIZATION_TRAININGLOSSES_H
