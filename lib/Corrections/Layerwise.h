// SPDX-License-Identifier: Apache-2.0
//
// Runs a network layer by layer, so that what a layer is told to change is seen
// by the layers behind it.
#ifndef MCT_LIB_CORRECTIONS_LAYERWISE_H
#define MCT_LIB_CORRECTIONS_LAYERWISE_H

#include "ChannelRun.h"
#include "mct/Quantization/Corrections.h"

namespace mct::corrections {

struct LayerwiseOptions {
  /// Workers and samples at a time, as elsewhere.
  execution::RunOptions run;
  /// Bytes of activations, over all samples, that may be kept from one
  /// measurement to the next. Results do not depend on it.
  int64_t memoryBudget = int64_t(256) << 20;
  /// As execution::CompileOptions::maxMemory.
  int64_t maxMemory = 0;
};

/// Called once for each layer with what its channels saw, over all samples and
/// in each of the first; returns what is to become of the output of each
/// channel.
using CorrectLayer = llvm::function_ref<llvm::SmallVector<quantization::Affine>(
    size_t layer, const quantization::ChannelStatistics &,
    const SampleMeans &)>;

/// Measures `layers`, f32 values of `function`, in the network whose points
/// quantize. A layer is measured when all layers that it depends on are
/// corrected; those that are independent of each other are measured in one run
/// over the samples, in which only the ops between them and the last values
/// that were kept are computed.
///
/// The module of `function` is the caller's to throw away. `before`: a run of
/// the same network that observed the same values. The statistics do not depend
/// on the options.
mlir::LogicalResult runLayerwise(mlir::func::FuncOp function,
                                 llvm::ArrayRef<ChannelValue> layers,
                                 const ChannelRun &before,
                                 const LayerwiseOptions &options,
                                 CorrectLayer correct);

} // namespace mct::corrections

#endif // MCT_LIB_CORRECTIONS_LAYERWISE_H
