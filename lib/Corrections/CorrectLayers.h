// SPDX-License-Identifier: Apache-2.0
//
// Corrects the outputs of layers, one after the other, and judges what that is
// worth on samples to which it was not fitted.
#ifndef MCT_LIB_CORRECTIONS_CORRECTLAYERS_H
#define MCT_LIB_CORRECTIONS_CORRECTLAYERS_H

#include "ChannelRun.h"
#include "ShardMoments.h"

namespace mct::corrections {

struct LayerCorrectionOptions : ChannelRunOptions {
  /// The name of the correction (`tpc::kQuantizedNetworkCorrection`).
  llvm::StringRef how;
  /// Undo what makes results worse; not with `moments`.
  bool judges = false;
  /// Tell of that, as the pass of that flag.
  bool remarks = false;
  llvm::StringRef pass;
  /// Names what `correct` does, so that a fit is known again (FitMemory);
  /// empty: it is not.
  std::string method;
  /// Moments that shards have found so far, with `moments`; null: no shards.
  const ShardMoments *shards = nullptr;
};

/// Says what becomes of the output of each channel of a layer, from what the
/// channels saw in the float and in the quantized network, on so many samples.
using CorrectLayer = llvm::function_ref<llvm::SmallVector<quantization::Affine>(
    size_t layer, const ChannelSummary &exact, const ChannelSummary &seen,
    int64_t numSamples)>;

/// Runs the float network, and then, layer by layer, the network whose points
/// quantize: `correct` is asked for a layer when all that it depends on are
/// corrected. What it says is applied to the module as the correction, but for
/// what is undone (mct-correct-bias says when), which stands in the function's
/// `tpc.rejected_corrections`.
mlir::LogicalResult correctLayers(const Layers &found,
                                  llvm::ArrayRef<Layer *> layers,
                                  const execution::RunSettings &settings,
                                  const LayerCorrectionOptions &options,
                                  CorrectLayer correct);

} // namespace mct::corrections

#endif // MCT_LIB_CORRECTIONS_CORRECTLAYERS_H
