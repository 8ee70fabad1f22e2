// SPDX-License-Identifier: Apache-2.0
//
// Corrects the outputs of layers, one after the other, and judges the
// corrections on samples to which they were not fitted.
#ifndef MCT_LIB_CORRECTIONS_CORRECTLAYERS_H
#define MCT_LIB_CORRECTIONS_CORRECTLAYERS_H

#include "ChannelRun.h"
#include "ShardMoments.h"

namespace mct::corrections {

struct LayerCorrectionOptions : ChannelRunOptions {
  /// Name under which the correction is recorded, such as
  /// `tpc::kQuantizedNetworkCorrection`.
  llvm::StringRef how;
  /// True to undo corrections that make results worse; not supported with
  /// `moments`.
  bool judges = false;
  /// True to emit remarks on undone corrections, with the flag `pass`.
  bool remarks = false;
  llvm::StringRef pass;
  /// Identifies the computation of `correct` in FitMemory; empty if fits are
  /// not reused.
  std::string method;
  /// Moments that the shards have measured so far, which requires `moments`;
  /// null without shards.
  const ShardMoments *shards = nullptr;
};

/// Returns the correction of the output of each channel of a layer, from the
/// statistics of the channels in the float and in the quantized network, on
/// `numSamples` samples.
using CorrectLayer = llvm::function_ref<llvm::SmallVector<quantization::Affine>(
    size_t layer, const ChannelSummary &exact, const ChannelSummary &measured,
    int64_t numSamples)>;

/// Runs the float network, and then, layer by layer, the quantized network:
/// `correct` is called for a layer when all layers that it depends on are
/// corrected. The corrections are applied to the module, except those that are
/// undone (see mct-correct-bias), which are recorded in the function's
/// `tpc.rejected_corrections`.
mlir::LogicalResult correctLayers(const Layers &found,
                                  llvm::ArrayRef<Layer *> layers,
                                  const execution::RunSettings &settings,
                                  const LayerCorrectionOptions &options,
                                  CorrectLayer correct);

} // namespace mct::corrections

#endif // MCT_LIB_CORRECTIONS_CORRECTLAYERS_H
