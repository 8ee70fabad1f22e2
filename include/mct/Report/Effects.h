// SPDX-License-Identifier: Apache-2.0
//
// Runs the networks and measures a quantized module: how accurate it is, what
// each point adds to the error, and what it costs in the results.
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
  /// How messages call the modules.
  std::string name = "the quantized module", floatName = "the float module",
              integerName = "the integer module";
  /// Class of each sample, in an `.npy` file; empty: not known.
  std::string labelsFile;
  /// Name of a metric (`Metric::create`); empty: none.
  std::string metric;
  /// Number of samples, about, chosen by their values
  /// (`execution::thinSamples`), for the runs in which one point or operator
  /// differs; 0, or a network with a fixed batch: all.
  int64_t effectSamples = 128;
  /// Shards of the samples, or null; what they have recorded already is theirs,
  /// too. Samples of another shard have higher numbers.
  execution::Shards *shards = nullptr;
  /// Set if there are labels, of the shards, where `labelsFile` is empty.
  bool hasLabels = false;
};

/// Tells what a metric says of a network, `accuracy`, and of the float one,
/// which is the reference.
void addJudged(const execution::MetricResult &found, Accuracy &accuracy,
               Report &report);

/// Runs `quantized`, `floating` and, where it is not null, `integer` on the
/// samples, none of which is changed. Fills
/// * of the report the samples, accuracies, changed predictions, confusion,
///   results with their groups, metric, distances and deviation, and what the
///   corrections do,
/// * of each point that it has, by name, `total`, `own`, `inherited`, `effect`
///   and `integer`,
/// * of each operator that has points the effect of these together, and that of
///   its group: what the layer and its result cost.
///
/// A point that does not quantize has no effect. Nor has one whose values are a
/// result that is compared by KL: a probability that it makes 0 has a
/// divergence as large as one likes, and the results are compared in front of
/// it. Where effects cannot be measured, `whyNoEffects` says why, and there are
/// none: in functions with control flow or calls, for results that are no
/// tensors of f32 with a batch, and for corrections that cannot be taken back.
///
/// With all points off the quantized module is taken for the float network up
/// to rounding. Effects cost for each point, and for each operator with several
/// of them, two runs of what lies behind it, and for each corrected layer one;
/// what lies before it is kept from one run, in a bounded part of the memory
/// and a temporary file. Nothing depends on threads and batch sizes. `run`
/// (null: not kept) gets what runs the network, for trials of remedies, or
/// null. `kernels`: of the quantized module.
///
/// A diagnostic for everything that fails.
mlir::LogicalResult
measureEffects(mlir::ModuleOp quantized, const KernelOps &kernels,
               mlir::ModuleOp floating, mlir::ModuleOp integer,
               execution::RunSettings settings, const EffectOptions &options,
               Report &report, std::unique_ptr<EffectRun> *run = nullptr);

} // namespace mct::report

#endif // MCT_REPORT_EFFECTS_H
