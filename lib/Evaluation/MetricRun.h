// SPDX-License-Identifier: Apache-2.0
//
// A metric of a network, and of its reference, while they run.
#ifndef MCT_LIB_EVALUATION_METRICRUN_H
#define MCT_LIB_EVALUATION_METRICRUN_H

#include "mct/Evaluation/EvaluationTotals.h"
#include "mct/Evaluation/Metric.h"
#include "mct/Execution/Executor.h"
#include "mct/Execution/Run.h"
#include "mct/IR/QuantizedValues.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mct::execution {

/// Returns the names of the results of a function.
std::vector<std::string> readResultNames(mlir::func::FuncOp function,
                                         const QuantizedValues &stored);

/// Measures the result of a network that a metric is about, and that of a
/// reference with the same shape, unit by unit; several workers may do so at
/// the same time.
class MetricRun {
public:
  struct Inputs {
    std::unique_ptr<Metric> metric;
    std::string labelsFile;
    const SampleSource *samples = nullptr;
    llvm::ArrayRef<TensorSpec> specs;
    /// Empty without a reference.
    llvm::ArrayRef<TensorSpec> referenceSpecs;
    /// Names of the results (`readResultNames`).
    std::vector<std::string> names;
    /// The real numbers that the integers of the results represent.
    QuantizedValues stored;
    int64_t unit = 1;
    /// Positions of the labels of the samples, if these are only some of the
    /// samples with labels, and the number of labels; empty if each sample has
    /// one.
    std::vector<int64_t> positions = {};
    int64_t labelled = 0;
  };
  static llvm::Expected<std::unique_ptr<MetricRun>> create(Inputs inputs);

  llvm::Error measure(const Unit &unit, llvm::ArrayRef<void *> reference);
  /// Returns the rows of all units, in an order that depends only on the rows.
  MetricTotals totals() const;
  const Metric &getMetric() const { return *inputs.metric; }

  /// Returns the metric, after which nothing can be measured.
  std::unique_ptr<Metric> takeMetric() { return std::move(inputs.metric); }
  const MetricRows &getRows() const { return rows; }

private:
  MetricRun(Inputs inputs, size_t result, MetricLabels labels);
  llvm::Error measure(const TensorSpec &spec, const void *data,
                      const Unit &unit, const QuantizedValues &stored,
                      MetricRows &to) const;
  llvm::Error name(llvm::Error error) const;

  Inputs inputs;
  /// Index of the result.
  size_t result = 0;
  MetricLabels labels;
  MetricRows rows, referenceRows;
};

} // namespace mct::execution

#endif // MCT_LIB_EVALUATION_METRICRUN_H
