// SPDX-License-Identifier: Apache-2.0
//
// Moments of layers that shards of the samples have found, layer by layer.
#ifndef MCT_LIB_CORRECTIONS_SHARDMOMENTS_H
#define MCT_LIB_CORRECTIONS_SHARDMOMENTS_H

#include "mct/Execution/Shards.h"
#include "mct/Quantization/ExactSum.h"

namespace mct::corrections {

/// Moments of the channels of a layer in the float network and in the quantized
/// one, in which the layers before it are corrected.
struct LayerMoments {
  quantization::ChannelStatistics exact, measured;
};
/// Moments by the index of the layer.
using MomentsOfLayers = std::map<size_t, LayerMoments>;

/// Moments in the files of shards, merged over all shards; layers are added
/// from round to round.
class ShardMoments {
public:
  /// `key` is the name of the network. Emits a diagnostic if files cannot be
  /// used.
  static mlir::FailureOr<ShardMoments> find(execution::Shards &shards,
                                            llvm::StringRef key);

  const MomentsOfLayers &known() const { return layers; }
  /// Writes the moments of more layers on this shard; fails like
  /// `execution::Shards::stop`.
  mlir::LogicalResult stop(const MomentsOfLayers &found) const;
  /// Fails if there are no samples to measure.
  mlir::LogicalResult reportMissing() const;

private:
  ShardMoments(execution::Shards &shards, llvm::StringRef key)
      : shards(&shards), key(key) {}

  execution::Shards *shards;
  std::string key;
  int64_t rounds = 0;
  MomentsOfLayers layers;
};

} // namespace mct::corrections

#endif // MCT_LIB_CORRECTIONS_SHARDMOMENTS_H
