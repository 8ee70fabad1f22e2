// SPDX-License-Identifier: Apache-2.0
//
// Runs a quantized network with its points switched on and off, without
// compiling it again, and measures the distance of its results from those of
// the float network.
#ifndef MCT_LIB_REPORT_EFFECTRUN_H
#define MCT_LIB_REPORT_EFFECTRUN_H

#include "SwitchedNetwork.h"
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

/// The differences of one run from the network as it is.
struct Switches {
  /// Indices of points and corrections that are switched to the opposite.
  llvm::SmallVector<size_t> points, corrections;
  /// Points that get another quantizer. Weights that were rounded jointly are
  /// rounded one by one with it.
  llvm::SmallVector<std::pair<size_t, tpc::QuantizerAttrInterface>> quantizers;

  bool isEmpty() const {
    return points.empty() && corrections.empty() && quantizers.empty();
  }
};

/// Results of a run compared with those of the float network.
struct RunDistance {
  double distance = 0;
  /// Distance of each part of the results.
  std::vector<double> parts;
  /// Distances of each sample, if they were requested.
  execution::ResultDistance::Comparison samples;
};

/// Options of the comparison of results.
struct EffectRunOptions {
  std::string function;
  /// Approximate number of samples to use; 0 for all.
  int64_t samples = 0;
  /// Groups of each result.
  std::vector<ResultGroups> groups;
};

class EffectRunImpl;

class EffectRun {
public:
  ~EffectRun();

  /// Returns the reason why points of the function cannot be switched; empty if
  /// they can.
  static std::string findObstacle(mlir::func::FuncOp function,
                                  const KernelOps &kernels);

  /// Compiles the function of `quantized`, for which `findObstacle` must return
  /// an empty text, and runs that of `floating`. Emits a diagnostic for every
  /// failure; if the network cannot be run in this way, the result has an
  /// obstacle, and cannot measure.
  static mlir::FailureOr<std::unique_ptr<EffectRun>>
  create(mlir::ModuleOp quantized, const KernelOps &kernels,
         mlir::ModuleOp floating, const execution::RunSettings &settings,
         const EffectRunOptions &options);
  /// Returns the reason why nothing can be measured; empty if it can.
  llvm::StringRef getObstacle() const;

  /// Returns the points that quantize or whose layer is corrected, by unique
  /// name, in program order.
  llvm::ArrayRef<std::string> points() const;
  /// Returns whether a point is switched. A point whose values are a result
  /// that is compared by KL never quantizes: a probability that it rounds to 0
  /// has an unbounded divergence.
  bool isSwitched(size_t point) const;
  bool isWeight(size_t point) const;
  /// Returns the parts in program order of the layers.
  llvm::ArrayRef<SwitchedCorrection> corrections() const;
  /// Returns the effect of a point of a constant: the values with quantizer and
  /// corrections compared with the float ones. None for other points.
  std::optional<execution::ErrorSums> ofWeight(size_t point) const;

  int64_t numSamples() const;
  const execution::ResultDistance &results() const;

  /// Runs the network as it is, except for the corrections with the indices
  /// `without`, and once for each of `switches`. Returns the distance with none
  /// of them. With `keepsSamples`, distances have a number for each sample.
  ///
  /// Biases that were corrected for the error of a point are fitted again for
  /// each of `switches` that switches points: the layers that hold the kernel,
  /// or that read the tensor before another point quantizes, keep the mean of
  /// each channel that they have in the network as it is.
  mlir::FailureOr<RunDistance> measure(llvm::ArrayRef<size_t> without,
                                       llvm::ArrayRef<Switches> switches,
                                       llvm::MutableArrayRef<RunDistance> found,
                                       bool keepsSamples = false);

private:
  EffectRun();
  std::unique_ptr<EffectRunImpl> impl;
};

} // namespace mct::report

#endif // MCT_LIB_REPORT_EFFECTRUN_H
