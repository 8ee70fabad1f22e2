// SPDX-License-Identifier: Apache-2.0
//
// Measures the drop of a metric from the float network to quantized ones, on
// labelled samples of which a part is reserved for the final judgement.
#ifndef MCT_EVALUATION_METRICDROP_H
#define MCT_EVALUATION_METRICDROP_H

#include "mct/Evaluation/Metric.h"
#include "mct/Evaluation/MetricHost.h"
#include "mct/Execution/Run.h"
#include "mct/Execution/SampleParts.h"
#include "mlir/IR/BuiltinOps.h"
#include <array>

namespace mct::execution {

/// Measures quantized networks against the float network. Samples are divided,
/// by their values, into a tenth for searches and the others, which are held
/// out.
class MetricDrop {
public:
  enum class Part { Search, HeldOut };

  struct Options {
    /// Function to run; empty: `main`, or the only public one.
    std::string function;
    /// Name of a metric (`Metric::create`); ignored if the calling program
    /// computes one (`MetricHostScope`).
    std::string metric;
    /// File (`.npy`) with the labels of the samples; a metric of the program
    /// has its own.
    std::string labelsFile;
    /// Allowed drop, in the unit of the metric.
    double allowed = 0;
    /// Samples that the network was calibrated on, which must not be among
    /// those of the drop. Without files: unknown.
    SampleOptions calibration = {};
  };

  /// Runs a network with points as the float network, on all samples of
  /// `settings`. Every failure, here and later, is a diagnostic.
  static mlir::FailureOr<std::unique_ptr<MetricDrop>>
  create(mlir::ModuleOp network, RunSettings settings, const Options &options);

  llvm::StringRef getName() const { return name; }
  Metric::Unit getUnit() const { return unit; }
  int64_t getNumSamples(Part part) const {
    return int64_t(getPositions(part).size());
  }

  /// Returns the drop of a quantized network with the same arguments and
  /// results on a part of the samples, and its limit with this confidence.
  mlir::FailureOr<LossLimit>
  measure(mlir::ModuleOp network, Part part,
          double confidence = quantization::kConfidence);

private:
  MetricDrop(RunSettings settings, const Options &options)
      : settings(std::move(settings)), options(options) {}
  mlir::LogicalResult prepare(mlir::ModuleOp network);
  mlir::LogicalResult checkNotCalibrated(mlir::ModuleOp network,
                                         const NetworkRun &prepared) const;
  mlir::FailureOr<NetworkRun>
  prepareRun(mlir::ModuleOp network, bool simulatesQuantization,
             std::shared_ptr<const SampleSource> samples);
  mlir::FailureOr<MetricRows> run(mlir::ModuleOp network,
                                  const NetworkRun &prepared,
                                  llvm::ArrayRef<int64_t> positions);
  mlir::FailureOr<std::vector<MetricHost::Result>>
  runHosted(mlir::ModuleOp network, const NetworkRun &prepared);
  mlir::FailureOr<MetricHost::Measured>
  runHostMetric(mlir::ModuleOp network,
                llvm::ArrayRef<MetricHost::Result> results,
                llvm::ArrayRef<int64_t> positions);
  mlir::LogicalResult divide(mlir::ModuleOp network);
  llvm::ArrayRef<int64_t> getPositions(Part part) const {
    return part == Part::Search ? parts.fittedPositions
                                : parts.judgingPositions;
  }

  RunSettings settings;
  Options options;
  std::string name;
  Metric::Unit unit = Metric::Unit::Share;
  std::shared_ptr<const SampleSource> all;
  SampleParts parts;

  std::unique_ptr<Metric> metric;
  /// Rows of the float network for all samples, not finished.
  MetricRows reference;

  /// Metric of the calling program; null to use `metric`.
  MetricHost *host = nullptr;
  /// The host's measurement of the float network on each part.
  std::array<MetricHost::Measured, 2> hostedReference;
};

} // namespace mct::execution

#endif // MCT_EVALUATION_METRICDROP_H
