// SPDX-License-Identifier: Apache-2.0
//
// Runs the float network and versions of the quantized one on samples, and
// judges whether one version is worse than another one.
#ifndef MCT_LIB_CORRECTIONS_SAMPLERUN_H
#define MCT_LIB_CORRECTIONS_SAMPLERUN_H

#include "ChannelRun.h"
#include "mct/Evaluation/ResultDistance.h"
#include "mct/Quantization/PairedLoss.h"
#include <functional>
#include <set>

namespace mct::corrections {

/// Changes of the layers of a quantized network that need no compilation.
struct Version {
  /// Editors by index of the layer; other layers stay unchanged.
  std::vector<std::pair<size_t, execution::TensorEditor>> editors;
  /// Replaced constants and quantizers; may be null.
  const execution::Replacements *replaced = nullptr;
};

/// Two executors with the same results and layers, run on some samples. The
/// first observed values of both are the outputs of the layers, which the
/// quantized one may edit.
class SampleRun {
public:
  struct Networks {
    mlir::Location loc;
    /// Either may be null while it is not run, so that the weights of only one
    /// are in memory at a time.
    const execution::Executor *floating, *quantized;
    mlir::func::FuncOp floatFunction;
    /// Results of the layers in that function.
    llvm::ArrayRef<ChannelValue> layers;
    execution::RunOptions options;
  };
  SampleRun(const Networks &networks,
            std::shared_ptr<const execution::SampleSource> samples)
      : networks(networks), source(std::move(samples)) {}

  const execution::SampleSource &samples() const { return *source; }

  /// Runs the float network, and keeps the means of its layers and, with
  /// `keepsResults`, its results. Emits a diagnostic for every failure.
  mlir::LogicalResult runFloat(bool moments, bool keepsResults);
  /// Results of the float network for the samples.
  struct Float {
    /// Summaries of the layers.
    std::vector<ChannelSummary> layers;
    /// Results of the network; null if they were not kept, or cannot be
    /// compared.
    std::shared_ptr<const execution::ResultDistance> results;
    int64_t unit = 0;
  };
  /// Returns an object that keeps the results of the float network, which is
  /// compiled from `function`, on `samples` samples; null if none of them can
  /// be compared. Groups of channels are compared separately, each in its own
  /// range: errors of scores are negligible beside boxes in pixels.
  static std::unique_ptr<execution::ResultDistance>
  createReference(const execution::Executor &floating,
                  mlir::func::FuncOp function, int64_t samples);
  /// Returns the results, all of which must have been kept, for comparison with
  /// others; null if they are not finite.
  static std::shared_ptr<const execution::ResultDistance>
  finishReference(std::unique_ptr<execution::ResultDistance> results);

  /// Returns the results of `runFloat`.
  const Float &getFloat() const { return exactly; }
  /// Sets the results of another run on the same samples, in place of
  /// `runFloat`.
  void setFloat(const Float &known) { exactly = known; }
  llvm::ArrayRef<ChannelSummary> exact() const { return exactly.layers; }
  /// Returns whether results of the float network were kept that can be
  /// compared with those of the quantized one.
  bool comparesResults() const {
    return exactly.results && networks.quantized->unit() == exactly.unit;
  }
  const execution::ResultDistance &reference() const {
    return *exactly.results;
  }

  /// Results of a version on the samples.
  struct Measurement {
    /// Squared errors, if results are compared.
    execution::ResultDistance::Comparison errors;
    /// Summaries of the layers, before they are edited; empty if not requested.
    std::vector<ChannelSummary> layers;
  };
  mlir::FailureOr<Measurement> run(const Version &version,
                                   bool measuresLayers) const {
    return run(*networks.quantized, version, measuresLayers);
  }
  /// Runs a version of another executor with the same results.
  mlir::FailureOr<Measurement> run(const execution::Executor &executor,
                                   const Version &version,
                                   bool measuresLayers) const;

private:
  class Observers;
  mlir::LogicalResult
  forEachUnit(const execution::Executor &executor, const Version *version,
              Observers &observers,
              llvm::function_ref<llvm::Error(const execution::Unit &, size_t)>
                  done) const;

  const Networks &networks;
  std::shared_ptr<const execution::SampleSource> source;
  Float exactly;
};

/// Loss of a result of the network, or of a layer.
struct JudgedLoss {
  /// Index of the result; none for a layer.
  std::optional<int64_t> output;
  quantization::PairedLoss loss;
  /// Index of the part of the results that is worse; 0 for a layer.
  size_t part = 0;

  /// Returns whether this loss, beyond chance, is larger than the other one.
  bool isWorseThan(const JudgedLoss &other) const {
    return loss.loss - loss.chance() > other.loss.loss - other.loss.chance();
  }
};

/// Returns the worst loss of any part of the results of `with` compared with
/// `without`, or none if nothing is lost. Both have one entry for each of
/// `runs`, whose samples are pooled. A loss must be larger than chance
/// explains, unless `isFitted`. The parts in `lost` are known to lose by some
/// of the corrections; for them, a loss within one standard error is enough.
std::optional<JudgedLoss>
findWorstLoss(llvm::ArrayRef<const SampleRun *> runs,
              llvm::ArrayRef<SampleRun::Measurement> with,
              llvm::ArrayRef<SampleRun::Measurement> without,
              const std::set<size_t> &lost = {}, bool isFitted = false);
/// Does the same for results that have been compared with `references`.
std::optional<JudgedLoss> findWorstLoss(
    llvm::ArrayRef<const execution::ResultDistance *> references,
    llvm::ArrayRef<const execution::ResultDistance::Comparison *> with,
    llvm::ArrayRef<const execution::ResultDistance::Comparison *> without,
    const std::set<size_t> &lost = {}, bool isFitted = false);

/// Returns a minimal set of layers whose corrections must be undone to avoid
/// the loss. Layers in `undone` are undone already, and are not part of it.
/// `loses` returns whether there is a loss if the given layers are undone;
/// there is none if all are. After `mostTrials` calls, the search ends with a
/// set that may be larger. Source: Junker, QuickXplain (2004).
mlir::FailureOr<std::vector<size_t>> findHarmfulLayers(
    std::vector<bool> undone,
    const std::function<mlir::FailureOr<bool>(const std::vector<bool> &)>
        &loses,
    int mostTrials);

} // namespace mct::corrections

#endif // MCT_LIB_CORRECTIONS_SAMPLERUN_H
