// SPDX-License-Identifier: Apache-2.0
//
// Sizes of the channels of activations, taken from their channel statistics.
#ifndef MCT_LIB_TRANSFORMS_CHANNELSIZES_H
#define MCT_LIB_TRANSFORMS_CHANNELSIZES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/ADT/DenseMap.h"
#include <optional>
#include <vector>

namespace mct {

/// Sizes of the channels along the last axis, from calibration.
struct ChannelSizes {
  /// Largest magnitude and mean square of each channel.
  std::vector<double> magnitudes, meanSquares;
};

using SizesOfPoints = llvm::DenseMap<mlir::Operation *, ChannelSizes>;

/// Returns the sizes of the channels of a point's values, or none if they have
/// not been measured or are infinite.
std::optional<ChannelSizes> getChannelSizes(tpc::QuantizeOp point);

/// Returns the sizes of all activation points for which they are known. If
/// those of a point in `needed` are missing, runs `measuredBy` on a copy of the
/// module first. Fails with a diagnostic if these passes change the points.
llvm::FailureOr<SizesOfPoints>
measureChannelSizes(mlir::ModuleOp module,
                    llvm::ArrayRef<tpc::QuantizeOp> needed,
                    llvm::ArrayRef<mlir::OpPassManager> measuredBy);

} // namespace mct

#endif // MCT_LIB_TRANSFORMS_CHANNELSIZES_H
