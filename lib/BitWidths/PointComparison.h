// SPDX-License-Identifier: Apache-2.0
//
// Compares points inside a network with those of the float network.
#ifndef MCT_LIB_BITWIDTHS_POINTCOMPARISON_H
#define MCT_LIB_BITWIDTHS_POINTCOMPARISON_H

#include "CandidateRun.h"
#include "ComparePoints.h"
#include "mct/Execution/Executor.h"
#include "mct/Execution/Frontier.h"

namespace mct::bit_widths {

/// A point inside the network that is compared.
struct ComparedPoint {
  ComparePoint point;
  /// True if its rows are distributions.
  bool isSoftmax = false;
  /// Size of the last axis.
  int64_t rowLength = 1;
  /// Values of the float network, for each unit.
  std::unique_ptr<execution::Frontier> reference;
  /// Distance of each sample in the base network.
  std::vector<double> base;
};

/// Stores the values of a point of the float network, or compares with them.
class PointObserver : public execution::TensorObserver {
public:
  PointObserver(const ComparedPoint &comparedPoint, int64_t unit, bool keeps)
      : comparedPoint(comparedPoint), unit(unit), keeps(keeps) {}
  ~PointObserver() override { llvm::consumeError(std::move(failure)); }
  /// Writes distances of samples to `distances` from now on; null stops
  /// comparing.
  void compareTo(std::vector<double> *distances) { to = distances; }
  void observe(const execution::TensorView &values) override;
  llvm::Error takeFailure() { return std::move(failure); }

private:
  const ComparedPoint &comparedPoint;
  int64_t unit;
  bool keeps;
  std::vector<double> *to = nullptr;
  std::vector<float> expected;
  llvm::Error failure = llvm::Error::success();
};

class PointComparison {
public:
  PointComparison(llvm::ArrayRef<ComparePoint> compared,
                  const CandidateRunOptions &options);

  /// Allocates memory for the values of the float network; fails with a
  /// diagnostic at a point that cannot be compared.
  mlir::LogicalResult prepare(const execution::Executor &floating,
                              int64_t samples);
  /// Computes the sensitivity of the float network's results to the points, if
  /// the weighting needs it.
  mlir::LogicalResult
  findScores(mlir::Location loc, llvm::ArrayRef<ComparePoint> floatPoints,
             std::shared_ptr<const execution::SampleSource> samples,
             const execution::RunSettings &settings);
  /// Returns the weighted distance of the points; each point has one distance
  /// for each sample.
  double weigh(llvm::ArrayRef<std::vector<double>> distances) const;
  /// Returns the distances of each point in the base network.
  std::vector<std::vector<double>> getBase() const;

  std::vector<ComparedPoint> points;

private:
  /// Limit on the memory for values of the float network, in bytes.
  static constexpr int64_t kBytes = int64_t(16) << 20;
  SensitivityWeighting weighting;
  std::vector<double> scores;
};

} // namespace mct::bit_widths

#endif // MCT_LIB_BITWIDTHS_POINTCOMPARISON_H
