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

/// A network that was run on samples, and how.
struct ChannelRun {
  /// One for each value that was asked for.
  std::vector<quantization::ChannelStatistics> statistics;
  std::unique_ptr<execution::SampleSource> samples;
  /// Samples per unit; it depends on the network alone.
  int64_t unit = 1;
  bool allowsPartialUnits = true;
};

/// How samples become inputs and are shared out.
struct RunSettings {
  execution::SampleOptions samples;
  execution::RunOptions run;

  /// Reads what users write; a diagnostic at `loc` when it makes no sense.
  static mlir::FailureOr<RunSettings>
  parse(mlir::Location loc, llvm::ArrayRef<std::string> files,
        llvm::StringRef scale, llvm::StringRef offset, uint64_t limit,
        uint64_t batchSize, unsigned threads);
};

/// Runs a function of `module` in float, points being the identity, and
/// observes values of it. The module is the caller's to throw away: points are
/// added, and what is not needed is removed. A diagnostic for everything that
/// fails, and for a value that is not finite.
mlir::FailureOr<ChannelRun> runFloat(mlir::func::FuncOp function,
                                     llvm::ArrayRef<ChannelValue> values,
                                     const RunSettings &settings);

} // namespace mct::corrections

#endif // MCT_LIB_CORRECTIONS_CHANNELRUN_H
