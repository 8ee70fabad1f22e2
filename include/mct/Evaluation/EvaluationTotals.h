// SPDX-License-Identifier: Apache-2.0
//
// Evaluations of some samples, to which others can be added: several processes
// evaluate shards of the samples, and find what one finds.
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

  /// Brings the rows into order.
  void sort();
  llvm::Error merge(const MetricTotals &other);
  /// Returns what the rows say; they are those of `metric`.
  llvm::Expected<MetricResult> judge(const Metric &metric) const;

  llvm::json::Object toJson() const;
  static llvm::Expected<MetricTotals>
  fromJson(const llvm::json::Object &object);
};

struct EvaluationTotals {
  int64_t samples = 0;
  /// The digest of the samples; empty if it was not asked for.
  std::string digest;
  /// Seconds of all runs together.
  double seconds = 0;
  /// Number of samples whose largest score is the label; none where labels are
  /// no classes of the first result.
  std::optional<int64_t> correct;
  std::optional<MetricTotals> metric;
  /// None without a reference.
  std::optional<ResultTotals> results;
  std::vector<PointTotals> points;
  std::vector<std::string> notCompared;
  bool exact = false;
  /// Set if the shards had labels.
  bool hasLabels = false;

  /// Adds what other samples say. Fails where another network was evaluated, or
  /// in another way.
  llvm::Error merge(const EvaluationTotals &other);
  /// Returns the evaluation, when all samples are in it. `metric`: that of the
  /// rows; null where there are none.
  llvm::Expected<Evaluation> judge(const Metric *metric) const;

  llvm::json::Object toJson() const;
  static llvm::Expected<EvaluationTotals>
  fromJson(const llvm::json::Object &object);
};

} // namespace mct::execution

#endif // MCT_EVALUATION_EVALUATIONTOTALS_H
