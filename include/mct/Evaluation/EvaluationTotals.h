// SPDX-License-Identifier: Apache-2.0
//
// Evaluations of some samples that can be merged: several processes evaluate
// shards of the samples, with the same result as one process.
#ifndef MCT_EVALUATION_EVALUATIONTOTALS_H
#define MCT_EVALUATION_EVALUATIONTOTALS_H

#include "mct/Evaluation/Comparison.h"
#include "mct/Evaluation/Metric.h"
#include "mct/Evaluation/ResultComparison.h"
#include "llvm/Support/JSON.h"

namespace mct::execution {

struct Evaluation;

/// Rows of a metric, before `Metric::finish`, in an order that depends on the
/// rows alone.
struct MetricTotals {
  MetricRows rows;
  /// Rows of the reference for the same samples; none without one.
  std::optional<MetricRows> reference;

  /// Sorts the rows.
  void sort();
  llvm::Error merge(const MetricTotals &other);
  /// Returns the result for the rows, which are those of `metric`.
  llvm::Expected<MetricResult> judge(const Metric &metric) const;

  llvm::json::Object toJson() const;
  static llvm::Expected<MetricTotals>
  fromJson(const llvm::json::Object &object);
};

struct EvaluationTotals {
  int64_t samples = 0;
  /// Digest of the samples; empty if it was not requested.
  std::string digest;
  /// Total seconds of all runs.
  double seconds = 0;
  /// Number of samples whose largest score is the label; none if labels are not
  /// classes of the first result.
  std::optional<int64_t> correct;
  std::optional<MetricTotals> metric;
  /// Results; none without a reference.
  std::optional<ResultTotals> results;
  std::vector<PointTotals> points;
  std::vector<std::string> notCompared;
  bool exact = false;
  /// True if the shards had labels.
  bool hasLabels = false;

  /// Adds the totals of other samples. Fails if those are of another network or
  /// another kind of evaluation.
  llvm::Error merge(const EvaluationTotals &other);
  /// Returns the evaluation; the totals must include all samples. `metric` is
  /// that of the rows; null if there are none.
  llvm::Expected<Evaluation> judge(const Metric *metric) const;

  llvm::json::Object toJson() const;
  static llvm::Expected<EvaluationTotals>
  fromJson(const llvm::json::Object &object);
};

} // namespace mct::execution

#endif // MCT_EVALUATION_EVALUATIONTOTALS_H
