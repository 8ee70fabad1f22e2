// SPDX-License-Identifier: Apache-2.0
//
// Runs a quantized network with some of its points switched on or off, without
// compiling it again, and measures the distance of its results from those of
// the float network.
#ifndef MCT_LIB_REPORT_EFFECTRUN_H
#define MCT_LIB_REPORT_EFFECTRUN_H

#include "mct/Evaluation/Comparison.h"
#include "mct/Evaluation/ResultDistance.h"
#include "mct/Execution/Run.h"
#include "mct/Planning/KernelOp.h"
#include "mct/Planning/ResultGroups.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mct::report {

/// A correction of a layer that can be switched off.
struct SwitchedCorrection {
  /// Index of the point of the layer's kernel.
  size_t point = 0;
  /// True for the weights that were rounded together; false for the changes of
  /// the bias and the factors of the kernel.
  bool isRounding = false;
  /// The applied corrections, by their names in `tpc.corrections`.
  std::vector<std::string> applied;
};

/// The state of a run: true if points quantize, and if corrections are applied.
struct SwitchState {
  bool points = false, corrections = false;
  /// Indices of corrections that are switched off in any case.
  llvm::SmallVector<size_t> without;
};

/// The differences of one run.
struct Switches {
  /// Indices of points and corrections that are inverted.
  llvm::SmallVector<size_t> points, corrections;
  /// Points that get another quantizer. With it, weights that were rounded
  /// together are rounded to nearest instead.
  llvm::SmallVector<std::pair<size_t, tpc::QuantizerAttrInterface>> quantizers;

  bool isEmpty() const {
    return points.empty() && corrections.empty() && quantizers.empty();
  }
};

/// Distance of the results of a run from those of the float network.
struct RunDistance {
  double distance = 0;
  std::optional<double> agreement;
  /// Distance of each part of the results.
  std::vector<double> parts;
  /// Distances of each sample, if requested.
  execution::ResultDistance::Found samples;
};

/// Options of the comparison of results.
struct EffectRunOptions {
  std::string function;
  /// Approximate number of samples to use; 0: all.
  int64_t samples = 0;
  /// Groups of each result.
  std::vector<ResultGroups> groups;
  /// True if the first result is a row of scores of classes.
  bool hasScores = false;
};

class EffectRunImpl;

class EffectRun {
public:
  ~EffectRun();

  /// Returns why the points of the function cannot be switched; empty if they
  /// can.
  static std::string findObstacle(mlir::func::FuncOp function,
                                  const KernelOps &kernels);

  /// Compiles the function of `quantized`, for which `findObstacle` must return
  /// an empty text, and runs that of `floating`. Failures emit a diagnostic. If
  /// the network cannot be run in this way, the result has an obstacle and
  /// cannot measure anything.
  static mlir::FailureOr<std::unique_ptr<EffectRun>>
  create(mlir::ModuleOp quantized, const KernelOps &kernels,
         mlir::ModuleOp floating, const execution::RunSettings &settings,
         const EffectRunOptions &options);
  /// Returns why nothing can be measured; empty if something can.
  llvm::StringRef getObstacle() const;

  /// Returns the unique names of the points that quantize or whose layer is
  /// corrected, in program order.
  llvm::ArrayRef<std::string> points() const;
  /// Returns whether a point is switched. A point whose value is a result
  /// compared by KL never quantizes: if it rounds a probability to 0, the
  /// divergence is arbitrarily large.
  bool isSwitched(size_t point) const;
  bool isWeight(size_t point) const;
  /// Returns the corrections, in program order of the layers.
  llvm::ArrayRef<SwitchedCorrection> corrections() const;
  /// Returns the error of a constant with quantizer and corrections compared to
  /// the float one; none for points of other values.
  std::optional<execution::ErrorSums> ofWeight(size_t point) const;

  int64_t numSamples() const;
  const execution::ResultDistance &results() const;

  /// Runs the network as `state` says, and once for each of `switches`. Returns
  /// the distance without any switches. `keepsSamples`: the distance includes
  /// one for each sample.
  mlir::FailureOr<RunDistance> measure(const SwitchState &state,
                                       llvm::ArrayRef<Switches> switches,
                                       llvm::MutableArrayRef<RunDistance> found,
                                       bool keepsSamples = false);

private:
  EffectRun();
  std::unique_ptr<EffectRunImpl> impl;
};

} // namespace mct::report

#endif // MCT_LIB_REPORT_EFFECTRUN_H
