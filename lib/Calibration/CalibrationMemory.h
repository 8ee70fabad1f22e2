// SPDX-License-Identifier: Apache-2.0
//
// Remembers the statistics of networks that were calibrated, so that none is
// run again on the same samples.
#ifndef MCT_LIB_CALIBRATION_CALIBRATIONMEMORY_H
#define MCT_LIB_CALIBRATION_CALIBRATIONMEMORY_H

#include "mct/Calibration/PointStatistics.h"
#include "mct/Execution/SampleSource.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/ADT/StringMap.h"
#include <deque>
#include <memory>

namespace mct::calibration {

/// A network, the samples that it was run on, and the statistics of its points.
struct Calibration {
  /// The result of `CalibrationMemory::cloneMeasured`.
  mlir::OwningOpRef<mlir::func::FuncOp> function;
  std::shared_ptr<const execution::SampleSource> samples;
  /// Statistics by the unique name of the point; those of channels are computed
  /// if `hasChannels`.
  llvm::StringMap<tpc::StatisticsAttr> points;
  bool hasChannels = false;
  /// Statistics of the points of arguments, which are compared with the ranges
  /// that the network expects.
  StatisticsMap arguments;
};

/// The last calibrations, shared by the passes of a pipeline
/// (`execution::RunCache`). Passes that may change a network run it first, or
/// copies of it (mct-equalize-residuals, mct-judge-correction).
class CalibrationMemory {
public:
  /// Returns a copy of the function in which points have only their names, as
  /// calibration runs it.
  static mlir::OwningOpRef<mlir::func::FuncOp>
  cloneMeasured(mlir::func::FuncOp function);
  /// Returns the statistics of `points` of the function if it was run on the
  /// same samples, with channels if `needsChannels`; otherwise null. Fails if
  /// the samples cannot be read.
  llvm::Expected<const Calibration *>
  find(mlir::func::FuncOp function, llvm::ArrayRef<tpc::QuantizeOp> points,
       const execution::SampleSource &samples, bool needsChannels) const;
  void remember(Calibration calibration);

private:
  std::deque<Calibration> calibrations;
};

} // namespace mct::calibration

#endif // MCT_LIB_CALIBRATION_CALIBRATIONMEMORY_H
