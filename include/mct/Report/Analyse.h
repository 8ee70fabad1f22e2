// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_REPORT_ANALYSE_H
#define MCT_REPORT_ANALYSE_H

#include "mct/Evaluation/Metric.h"
#include "mct/Execution/Run.h"
#include "mct/Execution/Shards.h"
#include "mct/Report/Report.h"
#include "mct/Report/Trace.h"
#include "mlir/IR/BuiltinOps.h"

namespace mct::report {

/// Networks and files that a report is computed from.
struct AnalyseInputs {
  /// The quantized network, and the float network it was quantized from, in one
  /// context. Their values get names.
  mlir::ModuleOp quantized, floating;
  /// The integer network of the quantized one, or null.
  mlir::ModuleOp integer;
  /// Names of the networks in messages and in the report.
  std::string name, floatName, integerName;
  /// Function to run in all networks; empty: `main`, or the only public one.
  std::string function;
  /// Samples to run on, and settings.
  execution::RunSettings settings;
  /// File (`.npy`) with the class of each sample; empty if unknown.
  std::string labelsFile;
  /// Name of a metric (`Metric::create`); empty if there is none.
  std::string metric;
  /// Values of a metric that the caller has computed: of the quantized network,
  /// and of the integer network; none if there are none.
  std::optional<execution::MetricResult> judged, judgedInteger;
  /// Table of the costs of layers on a device (`CostTable`); empty if there is
  /// none.
  std::string costTable;
  /// Number of samples in runs for errors and effects; 0 for all.
  int64_t effectSamples = 128;
  /// The shards, if the samples of `settings` are those of one of them;
  /// otherwise null. Labels belong to that shard.
  execution::Shards *shards = nullptr;
  /// True if all shards have labels.
  bool hasLabels = false;
  /// Trace of the passes that created the quantized network, or null.
  const Trace *trace = nullptr;
};

/// Creates a report. Runs the networks on all samples, and the quantized one on
/// `effectSamples` of them, about once for every point. Apart from seconds, the
/// result does not depend on threads, batches and shards, nor, apart from
/// numbers of samples, on the order of the samples. Fails, as `Shards::stop`
/// does, while shards have not answered.
mlir::FailureOr<Report> analyse(const AnalyseInputs &inputs);

} // namespace mct::report

#endif // MCT_REPORT_ANALYSE_H
