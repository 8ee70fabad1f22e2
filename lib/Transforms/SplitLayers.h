// SPDX-License-Identifier: Apache-2.0
//
// Layers whose output channels are separated again by slices.
#ifndef MCT_LIB_TRANSFORMS_SPLITLAYERS_H
#define MCT_LIB_TRANSFORMS_SPLITLAYERS_H

#include "mct/Planning/KernelOp.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "llvm/ADT/DenseMap.h"
#include <vector>

namespace mct {

/// Output channels [start, start + size) of a layer.
struct ChannelGroup {
  int64_t start = 0, size = 0;
  /// Slices that return these channels, in the order of the block.
  llvm::SmallVector<mlir::tosa::SliceOp, 1> slices;

  /// Returns the name of a value or a point that is restricted to these
  /// channels.
  std::string getName(llvm::StringRef ofAll) const;
};

/// A convolution or matrix product, the point after it, and the slices that are
/// its only users, perhaps after reshapes, transpositions and element-wise
/// functions such as a sigmoid, with their points.
struct SlicedLayer {
  SlicedLayer(tpc::QuantizeOp point, const KernelOp &layer)
      : point(point), layer(layer) {}

  tpc::QuantizeOp point;
  KernelOp layer;
  /// The groups: two or more, in ascending order, without common channels.
  std::vector<ChannelGroup> groups;
  /// Axis of the channels of each value between the layer and the slices.
  llvm::DenseMap<mlir::Value, int64_t> axisOf;
};

/// Returns the layer before the point, or none if there is no such layer or its
/// kernel or bias cannot be split: it has been corrected, or its bias is not
/// constant.
std::optional<SlicedLayer> findSlicedLayer(tpc::QuantizeOp point,
                                           const KernelOps &kernels);

/// The points of the layer of one group: of its kernel (may be null), of its
/// result, and of the functions between it and the slices, in an order that is
/// the same for equal networks.
struct GroupPoints {
  tpc::QuantizeOp kernel, result;
  llvm::SmallVector<tpc::QuantizeOp, 1> behind;
};

/// Splits the layer into one for each group, which compute the same values. The
/// new points have neither statistics nor parameters. Erases the layer and the
/// ops between it and the slices.
llvm::SmallVector<GroupPoints> splitLayer(SlicedLayer &sliced);

/// Returns the exponent of a power of two for each range, such that one grid
/// covers all scaled ranges with less than twice the step that a grid for one
/// of them alone would have. The largest range is not scaled. Among such
/// powers, chooses those that lose the fewest bits in total. Returns none if
/// there are none. `ranges`: smallest and largest values; each range is
/// extended to include zero.
std::optional<llvm::SmallVector<int>>
findCommonRange(llvm::ArrayRef<std::pair<double, double>> ranges);

/// Multiplies the channels of each group in kernel and bias by a power of two
/// and divides the result of the point by it again, all of it exactly. Returns
/// false, without changes, if a constant would be rounded. The layer and its
/// point get the suffix `_scaled`; their statistics and parameters are dropped.
bool scaleGroups(SlicedLayer &sliced, llvm::ArrayRef<int> exponents);

} // namespace mct

#endif // MCT_LIB_TRANSFORMS_SPLITLAYERS_H
