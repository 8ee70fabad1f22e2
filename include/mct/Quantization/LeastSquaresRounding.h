// SPDX-License-Identifier: Apache-2.0
//
// Rounds the weights of a layer jointly, so that rounding errors compensate
// each other in the outputs of the layer.

#ifndef MCT_QUANTIZATION_LEASTSQUARESROUNDING_H
#define MCT_QUANTIZATION_LEASTSQUARESROUNDING_H

#include "mct/Quantizers/Grid.h"

#include "mct/Support/Threads.h"
#include "llvm/ADT/ArrayRef.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mct::quantization {

/// A matrix of floats whose rows lie `stride` elements apart.
struct MatrixView {
  const float *data = nullptr;
  int64_t rows = 0, columns = 0, stride = 0;
};

/// First and second moments of the inputs of a product and of its target
/// outputs. Second moments are about the means, because a bias removes the
/// means.
struct ProductMoments {
  int64_t columns = 0, outputs = 0;
  std::vector<double> inputMean;  // [columns]
  std::vector<double> targetMean; // [outputs]
  /// Mean of (x - mean) (x - mean)^T: [columns, columns], symmetric.
  std::vector<double> covariance;
  /// Mean of (target - mean) (x - mean)^T: [outputs, columns].
  std::vector<double> cross;
  std::vector<double> targetVariance; // [outputs]
  /// Rows of x - mean, [rows, columns], if there are so few that the covariance
  /// has a low rank; otherwise empty.
  std::vector<float> centred;
};

/// Returns the moments of the rows of `inputs` and `targets`, which have as
/// many rows as each other. Products of centred values are added in float over
/// 256 rows, and these sums in double: the rounding error of some 1e-6 of the
/// variances is small beside the sampling error, and beside the damping. The
/// result does not depend on `threads`.
ProductMoments productMoments(const MatrixView &inputs,
                              const MatrixView &targets,
                              const support::Threads &threads);

/// Rows of the product of a layer, without gaps: `inputs` are [rows, groups,
/// columns], `targets` are [rows, groups, outputs]. Rows of a sample follow
/// each other; the first `half` rows are those of one half of the samples.
struct TargetRows {
  int64_t rows = 0, half = 0, groups = 1, columns = 0, outputs = 0;
  const float *inputs = nullptr;
  float *targets = nullptr;
};

/// Reduces the difference of the targets from the outputs that `weights`,
/// [groups, outputs, columns], give to the part that other samples show as
/// well: multiplies its means by a factor from 0 to 1, and the rest of it by
/// another one, which is returned.
///
/// The linear function of the inputs that explains the difference best, with
/// the damping of `RoundingProblem`, is fitted to each half of the samples. The
/// product of what it explains in the other half with the difference there is
/// the part of its energy that the halves share; the factor is that for a fit
/// to both (2 p / (p + e), Spearman 1910, Brown 1910). So is the factor of the
/// means. Weights that are fitted to the targets would otherwise learn the
/// samples: a layer with more columns than the samples have independent rows
/// explains any difference in them, and none in others. Both factors are 0 if a
/// half is empty.
///
/// The result does not depend on `threads`. Memory: 28 * columns^2 bytes for
/// each thread, at most half of `WideRoundingProblem::kMaxBytes`.
double shrinkTargets(const TargetRows &layer, llvm::ArrayRef<float> weights,
                     double damping, const support::Threads &threads);

/// Levels that a weight may take: `levels`, ascending, or those of `grid` if
/// `levels` is empty.
struct WeightLevels {
  Grid grid;
  std::vector<float> levels;

  /// Returns the level nearest to `value`, as a float.
  float nearest(double value) const;
};

/// Weights to be rounded. Output channels come in groups; the channels of a
/// group read the same columns. (A convolution has one group, a depthwise one
/// has a group for each input channel.)
struct RoundingProblem {
  /// Moments of each group, all of the same size; finite.
  llvm::ArrayRef<ProductMoments> groups;
  /// [groups, outputs, columns].
  llvm::ArrayRef<float> weights;
  /// Levels that weights may take, at least one candidate. Each has one entry
  /// for all channels, or one for each channel. Results are compared with the
  /// nearest levels of the first candidate.
  llvm::ArrayRef<std::vector<WeightLevels>> candidates;
  /// True if each channel may take a different candidate.
  bool choosesPerChannel = true;
  /// Share of the mean variance of the columns that is added to the covariance,
  /// so that weights stay unchanged where the samples give no evidence.
  double damping = kDamping;
  static constexpr double kDamping = 0.01;
};

struct RoundedWeights {
  /// Like RoundingProblem::weights; each is a level of its channel.
  std::vector<float> weights;
  /// Index of the candidate whose levels each channel has.
  std::vector<size_t> chosen;
  /// Bias of each channel that makes the mean output equal the mean target.
  std::vector<double> bias;
  /// Mean of (target - output)^2 of each channel with that bias.
  std::vector<double> error;
  /// The same error for weights that take the nearest level of the first
  /// candidate.
  std::vector<double> nearestError;
  /// Objective of each channel: error + d * |q - w|^2, where w are the weights,
  /// q the rounded weights and d the amount that the damping adds. Never above
  /// `nearestObjective`; if all channels take one candidate, this holds for
  /// their sums.
  std::vector<double> objective, nearestObjective;
};

/// Rounds weights so that the mean squared difference from the targets becomes
/// small.
///
/// With the covariance H (damped) and the weights w* that are best without
/// levels, the objective is (q - w*)^T H (q - w*) = |R (q - w*)|^2, R the
/// Cholesky factor. Columns are rounded in descending order of variance: each
/// weight takes the level nearest to its optimum given the columns rounded
/// before it (nearest plane; this equals spreading each rounding error over the
/// remaining columns, as optimal brain quantization and GPTQ do). In the order
/// of the ranges of their levels, candidates are tried from the one on that is
/// best if columns do not compensate each other, until none of the two on
/// either side of the best one is better. (With at most 64 columns all are
/// tried.) The weights of the best candidate are then changed one at a time
/// while that lowers the objective.
///
/// If the covariance has a low rank, R and the best weights are computed from
/// the rows that it was computed from. Products with R are in float: objectives
/// are off by some 1e-6 of the effect of the weights' changes.
///
/// With at most 12 columns, as depthwise kernels have, an exact search finds
/// the best levels of the candidate that nearest plane chose, as far as 65536
/// steps for each channel go.
///
/// The result does not depend on `threads`, and must not be used if the work
/// was cancelled.
///
/// Memory in addition to the problem: 20 * columns^2 bytes, and 4 * columns for
/// each channel and candidate of the up to 320 that a thread processes at a
/// time.
RoundedWeights roundLeastSquares(const RoundingProblem &problem,
                                 const support::Threads &threads);

/// A layer of one group that is given by the rows themselves, because the
/// covariance of all columns may be too large.
struct WideRoundingProblem {
  /// [rows, columns] and [rows, outputs], with the same number of rows, at
  /// least one; finite.
  MatrixView inputs, targets;
  /// The same as in `RoundingProblem`.
  llvm::ArrayRef<float> weights;
  llvm::ArrayRef<std::vector<WeightLevels>> candidates;
  bool choosesPerChannel = true;
  double damping = RoundingProblem::kDamping;
  /// Largest number of bytes of covariances and factors at a time.
  int64_t maxBytes = kMaxBytes;

  static constexpr int64_t kMaxBytes = int64_t(512) << 20;
  /// Returns the largest number of columns whose covariance fits into `bytes`,
  /// at least 1: 5181 for `kMaxBytes`.
  static int64_t mostColumns(int64_t bytes);
};

/// Rounds as `roundLeastSquares` does, within a budget of memory. If the
/// covariance is too large, adjacent columns form blocks of equal size. The
/// candidate of each channel is chosen from the blocks individually; then the
/// blocks are rounded one after the other, to targets that include the errors
/// of the blocks before. The final objective is computed from the rows; if it
/// is above that of the nearest levels, these are taken. One block gives the
/// result of `roundLeastSquares`.
///
/// Memory in addition to `maxBytes` and the rows: 12 bytes for each element of
/// the targets, 8 for each of the weights.
RoundedWeights roundWideLayer(const WideRoundingProblem &problem,
                              const support::Threads &threads);

} // namespace mct::quantization

#endif // MCT_QUANTIZATION_LEASTSQUARESROUNDING_H
