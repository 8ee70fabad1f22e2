// SPDX-License-Identifier: Apache-2.0
//
// Runs a quantized network with points of it switched on and off, without
// compiling it again, and tells how far its results are from those of the float
// network.
#ifndef MCT_LIB_REPORT_EFFECTRUN_H
#define MCT_LIB_REPORT_EFFECTRUN_H

#include "mct/Execution/Comparison.h"
#include "mct/Execution/ResultDistance.h"
#include "mct/Execution/Run.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mct::report {

/// Points that are switched together, by number.
using PointSet = llvm::SmallVector<size_t>;

/// Results of a run against those of the float network.
struct RunDistance {
  double distance = 0;
  std::optional<double> agreement;
};

class EffectRunImpl;

class EffectRun {
public:
  ~EffectRun();

  /// Why points of the function cannot be switched; empty: they can.
  static std::string findObstacle(mlir::func::FuncOp function);

  /// Compiles the function of `quantized`, which `findObstacle` lets pass, and
  /// runs that of `floating` on `samples` of the settings, about so many (0:
  /// all). A diagnostic for everything that fails; `whyNot` is set instead,
  /// and null returned, where the network cannot be run so.
  static mlir::FailureOr<std::unique_ptr<EffectRun>>
  create(mlir::ModuleOp quantized, mlir::ModuleOp floating,
         llvm::StringRef function, const execution::RunSettings &settings,
         int64_t samples, std::string &whyNot);

  /// The points that quantize, by unique name, in program order. The
  /// corrections of a layer are those of the point of its kernel.
  llvm::ArrayRef<std::string> points() const;
  /// Whether a point is switched. One whose values are a result that is
  /// compared by KL never quantizes: a probability that it makes 0 has a
  /// divergence that is as large as one likes.
  bool isSwitched(size_t point) const;
  /// What a point of a constant does to it: the values with quantizer and
  /// corrections against the float ones. None for others.
  std::optional<execution::ErrorSums> ofWeight(size_t point) const;

  int64_t numSamples() const;
  execution::ResultMetric usedMetric() const;

  /// All points that are switched quantize (`base`), or none does; for each of
  /// `sets`, what is found when its points alone do the opposite. Returns what
  /// is found when none does the opposite; `deviation` is that of its distance
  /// among the samples.
  mlir::FailureOr<RunDistance> measure(bool base, llvm::ArrayRef<PointSet> sets,
                                       llvm::MutableArrayRef<RunDistance> found,
                                       double &deviation);

private:
  EffectRun();
  std::unique_ptr<EffectRunImpl> impl;
};

} // namespace mct::report

#endif // MCT_LIB_REPORT_EFFECTRUN_H
