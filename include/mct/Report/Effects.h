// SPDX-License-Identifier: Apache-2.0
//
// Runs the networks and measures a quantized module: its accuracy, the error
// that each point adds, and its effect on the results.
#ifndef MCT_REPORT_EFFECTS_H
#define MCT_REPORT_EFFECTS_H

#include "mct/Evaluation/Metric.h"
#include "mct/Execution/Run.h"
#include "mct/Execution/Shards.h"
#include "mct/Planning/KernelOp.h"
#include "mct/Report/Report.h"
#include "mlir/IR/BuiltinOps.h"
#include <memory>
#include <string>

namespace mct::report {

class EffectRun;

struct EffectOptions {
  /// Function to run; empty: `main`, or the only public one.
  std::string function;
  /// Names of the modules in messages.
  std::string name = "the quantized module", floatName = "the float module",
              integerName = "the integer module";
  /// File (`.npy`) with the class of each sample; empty if unknown.
  std::string labelsFile;
  /// Name of a metric (`Metric::create`); empty if there is none.
  std::string metric;
  /// Approximate number of samples, chosen by their values
  /// (`execution::thinSamples`), for the runs in which one point or operator
  /// differs; all if it is 0 or the network has a fixed batch.
  int64_t effectSamples = 128;
  /// Shards of the samples, or null. Parts that they have recorded already are
  /// used. Samples of another shard have higher numbers.
  execution::Shards *shards = nullptr;
  /// True if the shards have labels although `labelsFile` is empty.
  bool hasLabels = false;
};

/// Adds the results of a metric for a network to `accuracy`, and for the float
/// network, the reference, to `report`.
void addJudged(const execution::MetricResult &found, Accuracy &accuracy,
               Report &report);

/// Runs `quantized`, `floating` and, if it is not null, `integer` on the
/// samples; changes none of them. Fills in
/// * samples, accuracies, changed predictions, confusion, results with their
///   groups, metric, distances and deviation, and effects of corrections of the
///   report,
/// * `total`, `own`, `inherited`, `effect` and `integer` of each point of the
///   report, by name,
/// * for each operator with points, their joint effect and that of its group:
///   the loss of the results by the layer and its result.
///
/// A point that does not quantize has no effect. Neither has one whose values
/// are a result that is compared by KL: where it rounds a probability to 0 the
/// divergence is unbounded, and the results are compared before the point. If
/// effects cannot be measured, there are none, and `noEffectsReason` gives the
/// reason: functions with control flow or calls, results that are not tensors
/// of f32 with a batch, and corrections that cannot be undone.
///
/// With all points off, the quantized module must compute the float network up
/// to rounding. Effects take two runs of the ops after the point for each
/// point, and for each operator with several points, and one run for each
/// corrected layer; the values before it are kept from one run, in a bounded
/// part of the memory and a temporary file. Nothing depends on threads and
/// batch sizes. `run` (may be null) gets the object that runs the network, for
/// trials of remedies, or null. `kernels` are those of the quantized module.
///
/// Emits a diagnostic for every failure.
mlir::LogicalResult
measureEffects(mlir::ModuleOp quantized, const KernelOps &kernels,
               mlir::ModuleOp floating, mlir::ModuleOp integer,
               execution::RunSettings settings, const EffectOptions &options,
               Report &report, std::unique_ptr<EffectRun> *run = nullptr);

} // namespace mct::report

#endif // MCT_REPORT_EFFECTS_H
