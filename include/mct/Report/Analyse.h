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

/// The networks and files that a report is made of.
struct AnalyseInputs {
  /// The quantized network, and the float one that it was made of. In one
  /// context; their values get names.
  mlir::ModuleOp quantized, floating;
  /// The integer network of the quantized one, or null.
  mlir::ModuleOp integer;
  /// How messages and the report call them.
  std::string name, floatName, integerName;
  /// Function of all of them; empty: `main`, or the only public one.
  std::string function;
  /// The samples that they run on, and the settings.
  execution::RunSettings settings;
  /// Class of each sample, in an `.npy` file; empty: not known.
  std::string labelsFile;
  /// Name of a metric (`Metric::create`); empty: none.
  std::string metric;
  /// Others may compute a metric: that of the quantized network, and that of
  /// the integer one; none: there is none.
  std::optional<execution::MetricResult> judged, judgedInteger;
  /// Table of the costs of layers on a device (`CostTable`); empty: none.
  std::string costTable;
  /// Runs for errors and effects take so many of the samples; 0: all.
  int64_t effectSamples = 128;
  /// Shards that `settings` has the samples of one of, or null. Labels are
  /// those of that shard.
  execution::Shards *shards = nullptr;
  /// Set if all shards have labels.
  bool hasLabels = false;
  /// The trace of the passes that made the quantized network, or null.
  const Trace *trace = nullptr;
};

/// Makes a report. Runs the networks on all samples, and the quantized one on
/// `effectSamples` of them, about once for every point. What it finds does not
/// depend on threads, batches and shards, nor, numbers of samples apart, on the
/// order of the samples; seconds do. With shards that have not answered it
/// fails, as `Shards::stop` does.
mlir::FailureOr<Report> analyse(const AnalyseInputs &inputs);

} // namespace mct::report

#endif // MCT_REPORT_ANALYSE_H
