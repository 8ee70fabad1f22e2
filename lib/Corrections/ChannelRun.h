// SPDX-License-Identifier: Apache-2.0
//
// Statistics of the channels of some values of a network on the samples.
#ifndef MCT_LIB_CORRECTIONS_CHANNELRUN_H
#define MCT_LIB_CORRECTIONS_CHANNELRUN_H

#include "Layers.h"
#include "Layerwise.h"
#include "mct/Quantization/ExactSum.h"

namespace mct::corrections {

/// Means of the channels in each sample: how much they differ from sample to
/// sample tells how well their mean over all is known.
class SampleMeans {
public:
  /// Most bytes of a run. Where it would be more nothing is kept, so
  /// that memory does not grow with the number of samples; the means of so many
  /// samples are known well.
  static constexpr int64_t kMaxBytes = int64_t(64) << 20;
  /// Fewer say too little about how much samples differ.
  static constexpr int64_t kMinSamples = 8;

  SampleMeans() = default;
  SampleMeans(int64_t samples, int64_t channels)
      : channels(channels), means(samples * channels) {}
  /// Returns whether nothing is kept.
  bool empty() const { return means.empty(); }

  /// Adds `count` samples that lie behind each other, of `shape` together.
  /// Different samples may be added at the same time.
  void add(int64_t first, int64_t count, const float *data,
           llvm::ArrayRef<int64_t> shape, int64_t axis);

  /// Returns the mean over all samples, whatever their order.
  double mean(int64_t channel) const;
  /// Returns the mean in one sample.
  double of(int64_t sample, int64_t channel) const {
    return means[sample * channels + channel];
  }

  /// Left - right, over all samples, whatever their order.
  struct Difference {
    double mean = 0;
    /// Variance of the mean; 0 where there are fewer than kMinSamples.
    double variance = 0;
  };
  static Difference differenceOf(const SampleMeans &left,
                                 const SampleMeans &right, int64_t channel);

private:
  int64_t channels = 0;
  std::vector<double> means;
};

/// Statistics of the channels of one value over all samples.
class ChannelSummary {
public:
  /// `samples`: those whose means are kept apart; 0: none.
  ChannelSummary(ChannelValue value, int64_t samples, bool moments);

  /// Returns one that has seen nothing. Copies of it, one for each worker, may
  /// see different samples at the same time.
  ChannelSummary fresh() const;
  void add(const execution::TensorView &values);
  /// Adds what a copy has seen.
  void merge(const ChannelSummary &other);

  /// Returns the moments of the elements, where they are kept.
  const quantization::ChannelStatistics &getStatistics() const {
    return statistics;
  }
  /// Returns a summary that has seen these.
  ChannelSummary with(quantization::ChannelStatistics known) const {
    ChannelSummary summary = fresh();
    summary.statistics = std::move(known);
    return summary;
  }

  int64_t numChannels() const { return channels; }
  double mean(int64_t channel) const;
  /// Only with `moments`.
  quantization::Moments moments(int64_t channel) const;
  /// Returns what this one saw - what `other` saw on the same samples.
  SampleMeans::Difference differenceFrom(const ChannelSummary &other,
                                         int64_t channel) const;

  /// Returns the means of samples, where they are kept apart; else empty.
  const SampleMeans &sampleMeans() const { return *means; }

  /// One diagnostic, at the value, where a value was not finite.
  mlir::LogicalResult checkFinite() const;

private:
  ChannelValue value;
  int64_t channels, samples;
  /// Shared by copies.
  std::shared_ptr<SampleMeans> means;
  /// Moments of the elements; not kept where the means of samples are enough.
  bool hasMoments, keepsElements;
  quantization::ChannelStatistics statistics;
  uint64_t nonFinite = 0;
  std::vector<float> scratch;
};

/// Summarizes one value on one worker.
class SummaryObserver : public execution::TensorObserver {
public:
  explicit SummaryObserver(const ChannelSummary &empty) : summary(empty) {}
  void observe(const execution::TensorView &values) override {
    summary.add(values);
  }
  llvm::Error merge(const SummaryObserver &other) {
    summary.merge(other.summary);
    return llvm::Error::success();
  }

  ChannelSummary summary;
};

/// Returns what gives the channels of a layer the means that `exact` has and
/// `seen` has not, by a bias that is `bias` before; `shrink`: as far as other
/// samples would show the same (mct-correct-bias says how).
llvm::SmallVector<quantization::Affine>
biasCorrection(const ChannelSummary &exact, const ChannelSummary &seen,
               int64_t numSamples, llvm::ArrayRef<float> bias, bool shrink);

/// Compiles without the remarks on what runs slowly, which were made when the
/// network was calibrated.
mlir::FailureOr<std::vector<std::unique_ptr<execution::Executor>>>
compileQuietly(mlir::ModuleOp module,
               llvm::MutableArrayRef<execution::CompileOptions> all,
               const execution::RunSettings &settings);

/// The float network, ready to run on the samples, and the quantized one.
struct CompiledPair {
  std::unique_ptr<execution::NetworkRun> floating;
  std::unique_ptr<execution::Executor> quantized;
};

/// Compiles both functions of a module, the float one first.
mlir::FailureOr<CompiledPair>
compilePair(mlir::ModuleOp module,
            llvm::MutableArrayRef<execution::CompileOptions> both,
            const execution::RunSettings &settings);

/// Summaries of `values`, of `function`, that have seen nothing, for so many
/// samples. The means of samples are kept apart where memory allows it, and
/// where it is known how samples lie in the values.
std::vector<ChannelSummary> createSummaries(const execution::Executor &executor,
                                            int64_t samples,
                                            mlir::func::FuncOp function,
                                            llvm::ArrayRef<ChannelValue> values,
                                            bool moments);

struct ChannelRunOptions {
  /// Deviations are wanted, too; and what quantizing activations does is not.
  bool moments = false;
  /// Look at so many samples; 0: all (execution::thinSamples).
  int64_t maxSamples = 0;
};

/// Runs a function of `module` in float, points being the identity, and
/// summarizes values of it. The function is the caller's to throw away. A
/// diagnostic for everything that fails, and for a value that is not finite.
mlir::FailureOr<std::vector<ChannelSummary>>
runFloat(mlir::func::FuncOp function, llvm::ArrayRef<ChannelValue> values,
         const execution::RunSettings &settings,
         const ChannelRunOptions &options);

/// Returns how to compile a function for a run in float of which `values` are
/// observed. `keepsResults`: those of the function stay.
execution::CompileOptions compileFloat(mlir::func::FuncOp function,
                                       llvm::ArrayRef<ChannelValue> values,
                                       bool keepsResults = false);

} // namespace mct::corrections

#endif // MCT_LIB_CORRECTIONS_CHANNELRUN_H
