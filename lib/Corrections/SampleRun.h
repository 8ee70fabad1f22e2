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

/// Other layers of a quantized network, without compiling it again.
struct Version {
  /// Editors by number of the layer; the others make what they make.
  std::vector<std::pair<size_t, execution::TensorEditor>> editors;
  /// Null: none.
  const execution::Replacements *replaced = nullptr;
};

/// Two executors with the same results and layers, whose outputs both observe
/// first and the quantized one lets be edited, on some samples.
class SampleRun {
public:
  struct Networks {
    mlir::Location loc;
    /// Either may be null while nothing runs it, so that the weights of one are
    /// in memory at a time.
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
  /// `keepsResults`, its results. A diagnostic for everything that fails.
  mlir::LogicalResult runFloat(bool moments, bool keepsResults);
  /// Holds what the float network makes of the samples.
  struct Float {
    /// Summaries of the layers.
    std::vector<ChannelSummary> layers;
    /// Its results; null: they were not kept, or cannot be compared.
    std::shared_ptr<const execution::ResultDistance> results;
    int64_t unit = 0;
  };
  /// Returns what keeps the results of a float network, of that function, on so
  /// many samples; null: none of them can be compared. Groups of channels are
  /// compared each in its own range: beside boxes in pixels scores are nothing.
  static std::unique_ptr<execution::ResultDistance>
  createReference(const execution::Executor &floating,
                  mlir::func::FuncOp function, int64_t samples);
  /// Returns the results, all of which were kept, as others are compared with
  /// them; null: they are not finite.
  static std::shared_ptr<const execution::ResultDistance>
  finishReference(std::unique_ptr<execution::ResultDistance> results);

  /// Returns what `runFloat` has found.
  const Float &getFloat() const { return exactly; }
  /// Takes what another run has found on the same samples, in place of
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

  /// The results of a version on the samples.
  struct Seen {
    /// Squared errors, where results are compared.
    execution::ResultDistance::Found errors;
    /// Summaries of the layers, before they are edited; empty where they are
    /// not wanted.
    std::vector<ChannelSummary> layers;
  };
  mlir::FailureOr<Seen> run(const Version &version, bool seesLayers) const {
    return run(*networks.quantized, version, seesLayers);
  }
  /// Returns the same of another executor with the same results.
  mlir::FailureOr<Seen> run(const execution::Executor &executor,
                            const Version &version, bool seesLayers) const;

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

/// Difference by which a result of the network, or a layer, is worse.
struct JudgedLoss {
  /// Index of the result; none: a layer.
  std::optional<int64_t> output;
  quantization::PairedLoss loss;
  /// Index of the part that is worse, of those that the results are compared
  /// by; not of a layer.
  size_t part = 0;

  /// Returns whether this loss, beyond chance, is larger than the other one.
  bool isWorseThan(const JudgedLoss &other) const {
    return loss.loss - loss.chance() > other.loss.loss - other.loss.chance();
  }
};

/// Returns the worst loss of any part of the results of `with` against
/// `without`, one for each of `runs`, whose samples count together: beyond
/// chance, or, of the parts in `lost`, which are known to lose by a part of
/// what was done, one that is less than a standard error from a loss. None:
/// nothing is lost.
std::optional<JudgedLoss> findWorstLoss(llvm::ArrayRef<const SampleRun *> runs,
                                        llvm::ArrayRef<SampleRun::Seen> with,
                                        llvm::ArrayRef<SampleRun::Seen> without,
                                        const std::set<size_t> &lost = {},
                                        bool isFitted = false);
/// Returns the same of networks whose results were compared with these.
std::optional<JudgedLoss>
findWorstLoss(llvm::ArrayRef<const execution::ResultDistance *> references,
              llvm::ArrayRef<const execution::ResultDistance::Found *> with,
              llvm::ArrayRef<const execution::ResultDistance::Found *> without,
              const std::set<size_t> &lost = {}, bool isFitted = false);

/// Returns a smallest set of layers that, when what was done to them is undone,
/// undoes the loss; `undone` is undone already, and not part of it. `loses`
/// tells whether something is lost when these are undone. When all are undone
/// nothing is. After `mostTrials` it ends with a set that may be larger.
/// Source: Junker, QuickXplain (2004).
mlir::FailureOr<std::vector<size_t>> findHarmfulLayers(
    std::vector<bool> undone,
    const std::function<mlir::FailureOr<bool>(const std::vector<bool> &)>
        &loses,
    int mostTrials);

} // namespace mct::corrections

#endif // MCT_LIB_CORRECTIONS_SAMPLERUN_H
