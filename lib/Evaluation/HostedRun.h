// SPDX-License-Identifier: Apache-2.0
//
// Results of a network while it runs, for a metric of the program's.
#ifndef MCT_LIB_EVALUATION_HOSTEDRUN_H
#define MCT_LIB_EVALUATION_HOSTEDRUN_H

#include "mct/Evaluation/Metric.h"
#include "mct/Evaluation/MetricHost.h"
#include "mct/Execution/Executor.h"
#include "mct/Execution/Run.h"

namespace mct::execution {

/// Results for all samples of a run.
using HostedResults = std::vector<MetricHost::Result>;

/// Collects results unit by unit; several workers may do so at the same time.
class HostedRun {
public:
  /// Fails for results that do not fit into an array of float32, or whose batch
  /// does not come first.
  static llvm::Expected<HostedRun> create(llvm::ArrayRef<TensorSpec> specs,
                                          int64_t unit, int64_t samples);

  void collect(const Unit &unit);
  HostedResults takeResults() { return std::move(results); }

private:
  HostedResults results;
};

/// Returns the results for the samples at these positions.
HostedResults takeSamples(llvm::ArrayRef<MetricHost::Result> results,
                          llvm::ArrayRef<int64_t> positions);

/// Returns the loss that a metric of the program measures for a network that
/// may lose `allowed`, and its limit with this confidence.
LossLimit limitLoss(const MetricHost::Measured &measured,
                    const MetricHost::Measured &reference, int64_t samples,
                    double allowed, double confidence);

/// Returns the unit of numbers like these.
Metric::Unit findUnit(const MetricHost::Measured &measured);

} // namespace mct::execution

#endif // MCT_LIB_EVALUATION_HOSTEDRUN_H
