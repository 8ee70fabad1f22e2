// SPDX-License-Identifier: Apache-2.0
//
// Statistics of the channels of some values of a network on the samples.
#ifndef MCT_LIB_CORRECTIONS_CHANNELRUN_H
#define MCT_LIB_CORRECTIONS_CHANNELRUN_H

#include "Layers.h"
#include "Layerwise.h"
#include "mct/Quantization/ExactSum.h"

namespace mct::corrections {

/// Means of the channels in each sample: their variation between samples shows
/// how accurate their mean over all is.
class SampleMeans {
public:
  /// Limit on the bytes of a run. If it is exceeded, nothing is kept, so that
  /// memory does not grow with the number of samples; the means of that many
  /// samples are accurate.
  static constexpr int64_t kMaxBytes = int64_t(64) << 20;
  /// Smallest number of samples that shows how much samples differ.
  static constexpr int64_t kMinSamples = 8;

  SampleMeans() = default;
  SampleMeans(int64_t samples, int64_t channels)
      : channels(channels), means(samples * channels) {}
  /// Returns whether nothing is kept.
  bool empty() const { return means.empty(); }

  /// Adds `count` consecutive samples, whose common shape is `shape`. Different
  /// samples may be added at the same time.
  void add(int64_t first, int64_t count, const float *data,
           llvm::ArrayRef<int64_t> shape, int64_t axis);

  /// Returns the mean over all samples, independent of their order.
  double mean(int64_t channel) const;
  /// Returns the mean in one sample.
  double sampleMean(int64_t sample, int64_t channel) const {
    return means[sample * channels + channel];
  }

  /// Difference left - right over all samples, independent of their order.
  struct Difference {
    double mean = 0;
    /// Variance of the mean; 0 if there are fewer than kMinSamples.
    double variance = 0;
  };
  static Difference computeDifference(const SampleMeans &left,
                                      const SampleMeans &right,
                                      int64_t channel);

private:
  int64_t channels = 0;
  std::vector<double> means;
};

/// Statistics of the channels of one value over all samples.
class ChannelSummary {
public:
  /// `samples` is the number of samples whose means are kept separately; 0 for
  /// none.
  ChannelSummary(ChannelValue value, int64_t samples, bool moments);

  /// Returns an empty summary. Copies of it, one for each worker, may summarize
  /// different samples at the same time.
  ChannelSummary fresh() const;
  void add(const execution::TensorView &values);
  /// Adds the observations of a copy.
  void merge(const ChannelSummary &other);

  /// Returns the moments of the elements, if they are kept.
  const quantization::ChannelStatistics &getStatistics() const {
    return statistics;
  }
  /// Returns a summary with these statistics.
  ChannelSummary with(quantization::ChannelStatistics known) const {
    ChannelSummary summary = fresh();
    summary.statistics = std::move(known);
    return summary;
  }

  int64_t numChannels() const { return channels; }
  double mean(int64_t channel) const;
  /// Returns the moments of a channel. Requires `moments`.
  quantization::Moments moments(int64_t channel) const;
  /// Returns the difference of this summary from `other` on the same samples.
  SampleMeans::Difference differenceFrom(const ChannelSummary &other,
                                         int64_t channel) const;

  /// Returns the means of samples if they are kept separately; otherwise empty.
  const SampleMeans &sampleMeans() const { return *means; }

  /// Emits one diagnostic, at the value, if a value was not finite.
  mlir::LogicalResult checkFinite() const;

private:
  ChannelValue value;
  int64_t channels, samples;
  /// Shared between copies.
  std::shared_ptr<SampleMeans> means;
  /// Flags: moments are computed; moments of the elements are kept, unless the
  /// means of samples are enough.
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

/// Returns the correction that gives the channels of a layer the means in
/// `exact` instead of those in `measured`; `bias` is the present bias. `shrink`
/// reduces it to the part that other samples would show, too (see
/// mct-correct-bias).
llvm::SmallVector<quantization::Affine>
biasCorrection(const ChannelSummary &exact, const ChannelSummary &measured,
               int64_t numSamples, llvm::ArrayRef<float> bias, bool shrink);

/// Compiles without the remarks on slow ops, which were emitted during
/// calibration.
mlir::FailureOr<std::vector<std::unique_ptr<execution::Executor>>>
compileQuietly(mlir::ModuleOp module,
               llvm::MutableArrayRef<execution::CompileOptions> all,
               const execution::RunSettings &settings);

/// The float network, ready to run on the samples, and the quantized network.
struct CompiledPair {
  std::unique_ptr<execution::NetworkRun> floating;
  std::unique_ptr<execution::Executor> quantized;
};

/// Compiles both functions of a module, the float one first.
mlir::FailureOr<CompiledPair>
compilePair(mlir::ModuleOp module,
            llvm::MutableArrayRef<execution::CompileOptions> both,
            const execution::RunSettings &settings);

/// Returns empty summaries of `values` in `function` for `samples` samples. The
/// means of samples are kept separately if memory allows it, and if the layout
/// of samples in the values is known.
std::vector<ChannelSummary> createSummaries(const execution::Executor &executor,
                                            int64_t samples,
                                            mlir::func::FuncOp function,
                                            llvm::ArrayRef<ChannelValue> values,
                                            bool moments);

struct ChannelRunOptions {
  /// True if deviations are needed, too, but not the effect of quantizing
  /// activations.
  bool moments = false;
  /// Number of samples to use; 0 for all (execution::thinSamples).
  int64_t maxSamples = 0;
};

/// Runs a function of `module` in float, with points as the identity, and
/// summarizes its values. The caller must not use the function afterwards.
/// Emits a diagnostic for every failure, and for a value that is not finite.
mlir::FailureOr<std::vector<ChannelSummary>>
runFloat(mlir::func::FuncOp function, llvm::ArrayRef<ChannelValue> values,
         const execution::RunSettings &settings,
         const ChannelRunOptions &options);

/// Returns the options to compile a function for a run in float in which
/// `values` are observed. `keepsResults` keeps those of the function.
execution::CompileOptions compileFloat(mlir::func::FuncOp function,
                                       llvm::ArrayRef<ChannelValue> values,
                                       bool keepsResults = false);

} // namespace mct::corrections

#endif // MCT_LIB_CORRECTIONS_CHANNELRUN_H
