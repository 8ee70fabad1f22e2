// SPDX-License-Identifier: Apache-2.0
//
// Losses that training minimizes: each is a number, with its gradients by the
// values that a network computed. Values are f32, sums double, in the order of
// the values.
#ifndef MCT_QUANTIZATION_TRAININGLOSSES_H
#define MCT_QUANTIZATION_TRAININGLOSSES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <vector>

namespace mct::quantization {

/// Returns mean((y - x)^2) / mean(x^2) of values y and their expected values x;
/// without the quotient if x is zero. Writes the gradients by y, times
/// `factor`. Source: MCT `mse_loss` of its PyTorch GPTQ, normalized.
double normalizedSquaredError(llvm::ArrayRef<float> values,
                              llvm::ArrayRef<float> expected, double factor,
                              llvm::MutableArrayRef<float> gradients);

/// Returns the sum of factor * (y - x)^2 over a part of the values, and writes
/// its gradients.
double squaredError(llvm::ArrayRef<float> values,
                    llvm::ArrayRef<float> expected, double factor,
                    llvm::MutableArrayRef<float> gradients);

/// A tensor that is compared at several samples; the last axis holds channels.
struct ComparedLayer {
  llvm::ArrayRef<float> values, expected;
  int64_t channels = 1;
  llvm::MutableArrayRef<float> gradients;
  /// Weight of each sample; as many as there are samples.
  llvm::ArrayRef<double> attention;
};

/// Returns the part of a loss that some samples of a layer contribute: the sum
/// of attention * d over `unit`, where d is the sum over channels of (y - x)^2,
/// averaged over all positions. `unit` is the number of samples of all parts
/// times the largest mean attention of a layer. Source: MCT
/// `sample_layer_attention_loss`, with the channels on the last axis.
double attendedError(const ComparedLayer &layer, double unit);

/// Kind of the class scores that a network returns.
enum class Scores {
  Logits,
  Probabilities, // of a softmax in the network
};

/// Returns the mean over rows of -log p(label). A row has `numClasses` scores
/// and one label. Fails for a label that is not a class. `rows` is the number
/// of rows of the mean, of which these are a part; 0 means these rows alone.
llvm::Expected<double> crossEntropy(Scores scores, llvm::ArrayRef<float> values,
                                    llvm::ArrayRef<int64_t> labels,
                                    int64_t numClasses,
                                    llvm::MutableArrayRef<float> gradients,
                                    int64_t rows = 0);

/// Returns the mean over rows of the Kullback-Leibler divergence of the
/// network's distribution from that of its teacher, another network.
/// Probabilities below 2^-40 count as 2^-40. `rows` is as for `crossEntropy`.
double divergenceFromTeacher(Scores scores, llvm::ArrayRef<float> values,
                             llvm::ArrayRef<float> teacher, int64_t numClasses,
                             llvm::MutableArrayRef<float> gradients,
                             int64_t rows = 0);

/// Returns the loss of one distribution against the teacher's, both softened to
/// softmax(log(p) / temperature): factor * temperature^2 * the Kullback-Leibler
/// divergence, whose gradients by logits are as large as without softening.
/// Writes its gradients by the probabilities. Probabilities below 2^-40 count
/// as 2^-40. Source: Hinton, Vinyals, Dean, "Distilling the Knowledge in a
/// Neural Network", arXiv:1503.02531.
double softenedDivergence(llvm::ArrayRef<float> values,
                          llvm::ArrayRef<float> teacher, double temperature,
                          double factor,
                          llvm::MutableArrayRef<float> gradients);

/// Conversion of the scores of layers into weights of a loss.
struct ScoreNormalization {
  /// True if each sample's scores are divided by their sum before the mean is
  /// taken.
  bool bySample = true;
  /// True if weights are logarithms to the base 10, counted from 0; zero scores
  /// count as the smallest other score.
  bool isLogarithmic = true;
  /// True if logarithms are scaled so that the largest becomes 1.
  bool isScaled = false;
};

/// Returns one weight for each layer from `scores`, [samples, layers]. Fails
/// for scores that are negative or not finite, and if there are none. Source:
/// MCT, Hessian scores of its gradient PTQ.
llvm::Expected<std::vector<double>>
normalizeScores(llvm::ArrayRef<double> scores, int64_t layers,
                const ScoreNormalization &normalization);

} // namespace mct::quantization

#endif // MCT_QUANTIZATION_TRAININGLOSSES_H
