// SPDX-License-Identifier: Apache-2.0
//
// Weights of a layer are rounded together, so that the errors of some make up
// for those of others in what the layer makes of its inputs.

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

/// First and second moments of the inputs of a product and of what its outputs
/// should be. Second moments are about the means, for a bias takes those away.
struct ProductMoments {
  int64_t columns = 0, outputs = 0;
  std::vector<double> inputMean;  // [columns]
  std::vector<double> targetMean; // [outputs]
  /// Mean of (x - mean) (x - mean)^T: [columns, columns], symmetric.
  std::vector<double> covariance;
  /// Mean of (target - mean) (x - mean)^T: [outputs, columns].
  std::vector<double> cross;
  std::vector<double> targetVariance; // [outputs]
  /// Rows of x - mean, [rows, columns], where they are so few that the
  /// covariance has a low rank; otherwise empty.
  std::vector<float> centred;
};

/// Moments of the rows of `inputs` and `targets`, which are as many. Products
/// are added in float over 256 rows, of values that the mean was taken out of,
/// and these sums in double: what that rounds, some 1e-6 of the variances, is
/// small beside what so many samples say of them, and beside the damping. The
/// result does not depend on `threads`.
ProductMoments productMoments(const MatrixView &inputs,
                              const MatrixView &targets,
                              const support::Threads &threads);

/// Levels that a weight may take: those of `grid`, or `levels`, ascending, when
/// there are such.
struct WeightLevels {
  Grid grid;
  std::vector<float> levels;

  /// Returns the level nearest to `value`, as a float.
  float nearest(double value) const;
};

/// Weights to be rounded. Output channels come in groups: those of one group
/// read the same columns. (A convolution has one group, a depthwise one a group
/// for each input channel.)
struct RoundingProblem {
  /// One for each group, all of the same size; finite.
  llvm::ArrayRef<ProductMoments> groups;
  /// [groups, outputs, columns].
  llvm::ArrayRef<float> weights;
  /// Levels that weights may have, at least one; each has one entry for all
  /// channels, or one for each. The first is what the rounding is compared
  /// with.
  llvm::ArrayRef<std::vector<WeightLevels>> candidates;
  /// True if each channel may take another one of the candidates.
  bool choosesPerChannel = true;
  /// Share of the mean variance of the columns that is added to the covariance,
  /// so that weights stay where the samples say nothing.
  double damping = 0.01;
};

struct RoundedWeights {
  /// Like RoundingProblem::weights; each is a level of its channel.
  std::vector<float> weights;
  /// Index of the candidate whose levels each channel has.
  std::vector<size_t> chosen;
  /// Bias of each channel with which the mean is the target's.
  std::vector<double> bias;
  /// Mean of (target - output)^2 of each channel with that bias.
  std::vector<double> error;
  /// The same for weights that take the nearest level of the first candidate.
  std::vector<double> nearestError;
  /// Objective of each channel: error + d * |q - w|^2, where w are the weights,
  /// q what they became and d what the damping adds. Never above
  /// `nearestObjective`; where all channels take one candidate, their sums.
  std::vector<double> objective, nearestObjective;
};

/// Rounds weights so that the mean squared difference from the targets becomes
/// small.
///
/// With the covariance H (damped) and the weights w* that are best without
/// levels, the objective is (q - w*)^T H (q - w*) = |R (q - w*)|^2, R the
/// Cholesky factor. From the column of largest variance on each weight takes
/// the level nearest to where the columns rounded before it would have it
/// (nearest plane; the same as spreading each rounding error over the columns
/// to come, as optimal brain quantization and GPTQ do). Candidates are tried
/// by how wide their levels are, from the one on that is best if no column
/// makes up for others: as soon as none of the two on each side is better, the
/// best one is taken. (With at most 64 columns all are tried.) Its weights are
/// then changed one at a time while that lowers the objective.
///
/// Where the covariance has a low rank, R and the best weights are computed
/// from the rows that made it. Products with R are in float: objectives are
/// off by some 1e-6 of what weights change.
///
/// With at most 12 columns, as depthwise kernels have, an exact search finds
/// the best levels of the candidate that was chosen by nearest plane, as far as
/// 65536 steps for each channel go.
///
/// The result does not depend on `threads`; it is nothing that can be used when
/// the work is cancelled.
///
/// Memory beside the problem: 20 * columns^2 bytes, and 4 * columns for every
/// channel and candidate of the 320 that a thread has at a time.
RoundedWeights roundLeastSquares(const RoundingProblem &problem,
                                 const support::Threads &threads);

/// A layer of one group, by the rows themselves, for the covariance of all
/// columns may be too large.
struct WideRoundingProblem {
  /// [rows, columns] and [rows, outputs]; as many rows, at least one, finite.
  MatrixView inputs, targets;
  /// Means the same as in RoundingProblem.
  llvm::ArrayRef<float> weights;
  llvm::ArrayRef<std::vector<WeightLevels>> candidates;
  bool choosesPerChannel = true;
  double damping = 0.01;
  /// Most bytes that covariances and factors take at a time.
  int64_t maxBytes = kMaxBytes;

  static constexpr int64_t kMaxBytes = int64_t(512) << 20;
  /// Returns the most columns whose covariance fits into so many bytes, at
  /// least 1: 5181 for `kMaxBytes`.
  static int64_t mostColumns(int64_t bytes);
};

/// Rounds as roundLeastSquares, within a budget of memory. Where the covariance
/// is too large, columns that lie beside each other make blocks of equal size.
/// For the candidate of each channel blocks are looked at each for itself; then
/// they are rounded one after the other, to targets that hold what the blocks
/// before missed. What the objective is in the end is computed from the rows,
/// and where it is above that of the nearest levels, these are taken. One block
/// is the same as roundLeastSquares.
///
/// Memory beside `maxBytes` and the rows: 12 bytes for each element of the
/// targets, 8 for each of the weights.
RoundedWeights roundWideLayer(const WideRoundingProblem &problem,
                              const support::Threads &threads);

} // namespace mct::quantization

#endif // MCT_QUANTIZATION_LEASTSQUARESROUNDING_H
