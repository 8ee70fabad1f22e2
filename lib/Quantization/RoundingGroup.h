// SPDX-License-Identifier: Apache-2.0
//
// Rounding of the channels of a layer that use the same columns.
#ifndef MCT_LIB_QUANTIZATION_ROUNDINGGROUP_H
#define MCT_LIB_QUANTIZATION_ROUNDINGGROUP_H

#include "mct/Quantization/LeastSquaresRounding.h"

#include <utility>

namespace mct::quantization {

/// A channel of a group, and its levels.
using RoundingLane = std::pair<size_t, const WeightLevels *>;

/// A group, with its columns in the order in which they are rounded, the last
/// one first.
class RoundingGroup {
public:
  RoundingGroup(const ProductMoments &moments, llvm::ArrayRef<float> weights,
                double damping, const support::Threads &threads);

  /// Rounds with each of `lanes`, and returns the objective of each in float
  /// arithmetic. `weights` (may be null) get the levels, [lanes, columns].
  std::vector<float> roundLanes(llvm::ArrayRef<RoundingLane> lanes,
                                std::vector<float> *weights) const;
  /// Returns an estimate of the objective of each lane, if columns did not
  /// compensate each other.
  std::vector<float> estimate(llvm::ArrayRef<RoundingLane> lanes) const;

  /// Returns whether the weights are few enough for an exact search.
  bool isSmall() const;
  /// Replaces weights of a small group, [lanes, columns], by the best levels.
  void search(llvm::ArrayRef<RoundingLane> lanes,
              std::vector<float> &weights) const;

  /// Returns |R (q - w*)|^2 for each row q of `weights`, [channels, columns].
  std::vector<double> computeObjectives(llvm::ArrayRef<size_t> channels,
                                        llvm::ArrayRef<float> weights) const;

  /// Weights of some channels, [rows, columns], with half the gradient of the
  /// objective, and with |R (q - w*)|^2 of each row.
  struct Point {
    std::vector<float> weights;
    std::vector<double> gradient;
    std::vector<double> objectives;
  };
  /// Returns the point of `weights`, one row for each of `channels`. Products
  /// are in float, whose rounding errors are small compared to the gain of a
  /// step.
  Point pointAt(llvm::ArrayRef<size_t> channels,
                std::vector<float> weights) const;
  /// Changes single weights of row `row` while that lowers the objective.
  void descend(const WeightLevels &levels, size_t row, Point &point) const;
  /// Returns the mean squared difference of a channel with these weights from
  /// the target, with the best bias, and the objective: by |R (q - w*)|^2, or
  /// of few columns, in double, by the moments.
  std::pair<double, double> measure(size_t channel,
                                    llvm::ArrayRef<float> weights,
                                    double objective) const;

  /// Returns the best weights without levels, [outputs, columns].
  std::vector<double> getBest() const;

  const ProductMoments &moments;
  llvm::ArrayRef<float> original;

private:
  class LaneRun;
  /// Columns that are rounded before the next product, counted from the last.
  static constexpr int64_t kBlock = 32;

  /// Replaces `factor` if the covariance is that of few rows. With their
  /// columns x_i, scaled, each element of the factor is z_i^T x_j.
  struct LowRank {
    int64_t rank = 0;
    /// x, in double and in float, and z: [columns, rank].
    std::vector<double> exact;
    std::vector<float> inputs;
    /// z, as [rank, columns].
    std::vector<float> factor;
    /// The factor itself within each block: [columns, kBlock].
    std::vector<float> blocks;
  };

  bool isLowRank() const { return lowRank.rank != 0; }
  /// Fills in `factor`, `diagonal` and `best`.
  void factorizeCovariance(const support::Threads &threads);
  /// Does the same for a covariance of low rank.
  void factorizeRows(const support::Threads &threads);
  void solveRows(const support::Threads &threads);
  /// Factorizes columns [begin, end). `inverse` is that of 1 + x x^T / addition
  /// over the columns before them, [rank, rank], and includes them afterwards.
  void factorizeBlock(int64_t begin, int64_t end, std::vector<double> &inverse);
  /// Fills in `factor` and `diagonal` with the whole factor.
  void takeFactor(llvm::ArrayRef<double> cholesky,
                  const support::Threads &threads);
  /// Returns cross + addition * original as [columns, outputs].
  std::vector<double> rightSide() const;
  /// Returns the first position in the order of rounding, from `place` on, at
  /// which another level of the grid lowers the objective; `columns` if there
  /// is none.
  int64_t findBetterPlace(const Grid &grid, int64_t place, const float *weights,
                          const double *gradient) const;
  /// Gives a weight another level if that lowers the objective.
  bool improve(int64_t column, const WeightLevels &levels, float *weights,
               double *gradient, double &objective) const;
  /// Distances of the weights of some channels from the best ones, and R times
  /// these; rows are `stride` apart.
  struct Image {
    int64_t stride = 0;
    /// [columns, channels] in the order of the columns.
    std::vector<float> errors;
    /// The same, or [rank, channels] without the contribution of the damping.
    std::vector<float> values;
    /// Sums of squares, with the contribution of the damping: [channels].
    std::vector<double> objectives;
  };
  Image computeImage(llvm::ArrayRef<size_t> channels,
                     llvm::ArrayRef<float> weights) const;
  /// Fills in `leastObjectives`.
  void findLeastObjectives();
  /// Returns an element of the factor in the block that begins at `begin`.
  float inBlock(int64_t row, int64_t column, int64_t begin) const {
    return isLowRank() ? lowRank.blocks[row * kBlock + column - begin]
                       : factor[column * columns + row];
  }

  int64_t columns;
  std::vector<int64_t> order;
  double meanVariance = 0;
  /// Number that is added to the diagonal of the covariance.
  double addition = 0;
  /// [columns, columns] in the order of rounding, the columns of the factor one
  /// after the other: the part right of the diagonal, divided by it; and the
  /// diagonal.
  std::vector<float> factor;
  std::vector<double> diagonal;
  LowRank lowRank;
  /// The whole factor of a small group.
  std::vector<double> exactFactor;
  /// [columns, outputs], in the order of the columns.
  std::vector<double> best;
  /// Objectives of the best weights: [outputs].
  std::vector<double> leastObjectives;
  /// Curvature of the objective along each column, in their order.
  std::vector<double> curvatures;
};

} // namespace mct::quantization

#endif // MCT_LIB_QUANTIZATION_ROUNDINGGROUP_H
