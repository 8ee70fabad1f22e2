// SPDX-License-Identifier: Apache-2.0
//
// What the channels of some values of a network see on the samples.
#ifndef MCT_LIB_CORRECTIONS_CHANNELRUN_H
#define MCT_LIB_CORRECTIONS_CHANNELRUN_H

#include "mct/Execution/Run.h"
#include "mct/Quantization/ExactSum.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mct::corrections {

/// A value and the axis of its channels.
struct ChannelValue {
  mlir::Value value;
  int64_t axis = 0;
};

/// Adds the elements of a row-major tensor to the statistics of its channels.
/// `scratch` may be any vector that the thread owns.
void observeChannels(quantization::ChannelStatistics &statistics,
                     const float *data, llvm::ArrayRef<int64_t> shape,
                     int64_t axis, std::vector<float> &scratch);

/// Means of the channels in each sample: how much they differ from sample to
/// sample tells how well their mean over all is known.
class SampleMeans {
public:
  /// What all of a run may take. Where it would be more nothing is kept, so
  /// that memory does not grow with the number of samples; the means of so many
  /// samples are known well.
  static constexpr int64_t kMaxBytes = int64_t(64) << 20;
  /// Fewer say too little about how much samples differ.
  static constexpr int64_t kMinSamples = 8;

  SampleMeans() = default;
  SampleMeans(int64_t samples, int64_t channels)
      : channels(channels), means(samples * channels) {}
  /// Whether nothing is kept.
  bool empty() const { return means.empty(); }

  /// Adds `count` samples that lie behind each other, of `shape` together.
  void add(int64_t first, int64_t count, const float *data,
           llvm::ArrayRef<int64_t> shape, int64_t axis);
  /// Adds the first `count` samples of `other` as those from `first` on.
  void add(int64_t first, int64_t count, const SampleMeans &other);

  /// Variance of the mean over all samples of the difference between the
  /// two, per channel, whatever the order of the samples; 0 where there are
  /// fewer than kMinSamples.
  static std::vector<double> varianceOfDifference(const SampleMeans &left,
                                                  const SampleMeans &right);

private:
  int64_t channels = 0;
  std::vector<double> means;
};

/// A network that was run on samples, and how.
struct ChannelRun {
  /// One for each value that was asked for.
  std::vector<quantization::ChannelStatistics> statistics;
  /// Likewise; empty where the samples of a unit cannot be told apart, are too
  /// many, or do not matter because the value is the same for all.
  std::vector<SampleMeans> sampleMeans;
  std::unique_ptr<execution::SampleSource> samples;
  /// Samples per unit; it depends on the network alone.
  int64_t unit = 1;
  bool allowsPartialUnits = true;
};

/// How samples become inputs and are shared out.
struct RunSettings {
  execution::SampleOptions samples;
  execution::RunOptions run;
  /// As execution::CompileOptions::maxMemory.
  int64_t maxMemory = 0;

  /// Reads what users write; a diagnostic at `loc` when it makes no sense.
  static mlir::FailureOr<RunSettings>
  parse(mlir::Location loc, llvm::ArrayRef<std::string> files,
        llvm::StringRef scale, llvm::StringRef offset, uint64_t limit,
        uint64_t batchSize, unsigned threads, llvm::StringRef maxMemory);
};

/// Removes what does not lead to `values`, results of the function included.
void keepOnly(mlir::func::FuncOp function, llvm::ArrayRef<ChannelValue> values);

/// Runs a function of `module` in float, points being the identity, and
/// observes values of it. The module is the caller's to throw away: points are
/// added, and what is not needed is removed. A diagnostic for everything that
/// fails, and for a value that is not finite.
mlir::FailureOr<ChannelRun> runFloat(mlir::func::FuncOp function,
                                     llvm::ArrayRef<ChannelValue> values,
                                     const RunSettings &settings);

} // namespace mct::corrections

#endif // MCT_LIB_CORRECTIONS_CHANNELRUN_H
