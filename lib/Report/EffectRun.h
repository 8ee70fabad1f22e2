// SPDX-License-Identifier: Apache-2.0
//
// Runs a quantized network with points of it switched on and off, without
// compiling it again, and tells how far its results are from those of the float
// network.
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

/// A correction of a layer, which can be taken out.
struct SwitchedCorrection {
  /// Index of the point of the layer's kernel.
  size_t point = 0;
  /// The weights that were rounded together; else what became of the bias, and
  /// the factors of the kernel.
  bool isRounding = false;
  /// Corrections that were made, as `tpc.corrections` has them.
  std::vector<std::string> applied;
};

/// The points that quantize, and the corrections that are made.
struct SwitchState {
  bool points = false, corrections = false;
  /// Numbers of corrections that are out all the same.
  llvm::SmallVector<size_t> without;
};

/// The differences of one run.
struct Switches {
  /// Points and corrections, by number, that are the opposite of what they
  /// were.
  llvm::SmallVector<size_t> points, corrections;
  /// Points that get another quantizer. Weights that were rounded together are
  /// rounded one by one with it.
  llvm::SmallVector<std::pair<size_t, tpc::QuantizerAttrInterface>> quantizers;

  bool isEmpty() const {
    return points.empty() && corrections.empty() && quantizers.empty();
  }
};

/// Results of a run against those of the float network.
struct RunDistance {
  double distance = 0;
  std::optional<double> agreement;
  /// Distance of each part of the results.
  std::vector<double> parts;
  /// Distances of each sample, where they were asked for.
  execution::ResultDistance::Found samples;
};

/// How results are compared.
struct EffectRunOptions {
  std::string function;
  /// Number of samples of the settings that are taken, about; 0: all.
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

  /// Returns why points of the function cannot be switched; empty: they can.
  static std::string findObstacle(mlir::func::FuncOp function,
                                  const KernelOps &kernels);

  /// Compiles the function of `quantized`, which `findObstacle` lets pass, and
  /// runs that of `floating`. A diagnostic for everything that fails; where the
  /// network cannot be run so, the result has an obstacle, and does nothing
  /// else.
  static mlir::FailureOr<std::unique_ptr<EffectRun>>
  create(mlir::ModuleOp quantized, const KernelOps &kernels,
         mlir::ModuleOp floating, const execution::RunSettings &settings,
         const EffectRunOptions &options);
  /// Returns why nothing can be measured; empty: it can.
  llvm::StringRef getObstacle() const;

  /// Returns the points that quantize or whose layer is corrected, by unique
  /// name, in program order.
  llvm::ArrayRef<std::string> points() const;
  /// Returns whether a point is switched. One whose values are a result that is
  /// compared by KL never quantizes: a probability that it makes 0 has a
  /// divergence that is as large as one likes.
  bool isSwitched(size_t point) const;
  bool isWeight(size_t point) const;
  /// Returns the parts in program order of the layers.
  llvm::ArrayRef<SwitchedCorrection> corrections() const;
  /// Returns what a point of a constant does to it: the values with quantizer
  /// and corrections against the float ones. None for others.
  std::optional<execution::ErrorSums> ofWeight(size_t point) const;

  int64_t numSamples() const;
  const execution::ResultDistance &results() const;

  /// Runs the network as `state` says, and once for each of `switches`.
  /// Returns what is found with none of them. `keepsSamples`: what is found
  /// has a number for each sample.
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
