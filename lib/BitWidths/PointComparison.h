// SPDX-License-Identifier: Apache-2.0
//
// Comparison of points inside of a network with those of the float network.
#ifndef MCT_LIB_BITWIDTHS_POINTCOMPARISON_H
#define MCT_LIB_BITWIDTHS_POINTCOMPARISON_H

#include "CandidateRun.h"
#include "ComparePoints.h"
#include "mct/Execution/Executor.h"
#include "mct/Execution/Frontier.h"

namespace mct::bit_widths {

/// A point inside of the network that is compared.
struct ComparedPoint {
  ComparePoint point;
  /// True if its rows are distributions.
  bool isSoftmax = false;
  /// Size of the last axis.
  int64_t rowLength = 1;
  /// Values of the float network for each unit.
  std::unique_ptr<execution::Frontier> reference;
  /// Distance of each sample in the base network.
  std::vector<double> base;
};

/// Stores the values of a point of the float network, or compares values with
/// them.
class PointObserver : public execution::TensorObserver {
public:
  PointObserver(const ComparedPoint &seen, int64_t unit, bool keeps)
      : seen(seen), unit(unit), keeps(keeps) {}
  ~PointObserver() override { llvm::consumeError(std::move(failure)); }
  /// Writes the distances of samples to `distances` from now on, or stops
  /// comparing if it is null.
  void compareTo(std::vector<double> *distances) { to = distances; }
  void observe(const execution::TensorView &values) override;
  llvm::Error takeFailure() { return std::move(failure); }

private:
  const ComparedPoint &seen;
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

  /// Allocates storage for the values of the float network. Fails with a
  /// diagnostic if a point cannot be compared.
  mlir::LogicalResult prepare(const execution::Executor &floating,
                              int64_t samples);
  /// If the weighting requires it, computes how much the points affect the
  /// results of the float network.
  mlir::LogicalResult
  findScores(mlir::Location loc, llvm::ArrayRef<ComparePoint> floatPoints,
             std::shared_ptr<const execution::SampleSource> samples,
             const execution::RunSettings &settings);
  /// Returns the weighted distance of the points, which are given with one
  /// distance for each sample.
  double weigh(llvm::ArrayRef<std::vector<double>> distances) const;
  /// Returns the distances of each point in the base network.
  std::vector<std::vector<double>> getBase() const;

  std::vector<ComparedPoint> points;

private:
  /// Memory for values of the float network, in bytes.
  static constexpr int64_t kBytes = int64_t(16) << 20;
  SensitivityWeighting weighting;
  std::vector<double> scores;
};

} // namespace mct::bit_widths

#endif // MCT_LIB_BITWIDTHS_POINTCOMPARISON_H
