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
  /// Slices whose result is these channels, in the order of the block.
  llvm::SmallVector<mlir::tosa::SliceOp, 1> slices;

  /// Returns the name of a value or a point for these channels alone.
  std::string getName(llvm::StringRef ofAll) const;
};

/// A convolution or a matrix product, the point after it, and the slices that
/// are the only users of the point, possibly after reshapes, transpositions,
/// and element-wise functions, such as a sigmoid, with their points.
struct SlicedLayer {
  SlicedLayer(tpc::QuantizeOp point, const KernelOp &layer)
      : point(point), layer(layer) {}

  tpc::QuantizeOp point;
  KernelOp layer;
  /// Ascending, at least two, without common channels.
  std::vector<ChannelGroup> groups;
  /// Axis of the channels of the values between the layer and the slices.
  llvm::DenseMap<mlir::Value, int64_t> axisOf;
};

/// Returns none if the point is not after such a layer, or if kernel or bias
/// cannot be split: the layer was corrected, or its bias is not constant.
std::optional<SlicedLayer> findSlicedLayer(tpc::QuantizeOp point,
                                           const KernelOps &kernels);

/// The points of the layer of one group: of its kernel, which may be null, of
/// its result, and of the functions between it and the slices, in the same
/// order for equal networks.
struct GroupPoints {
  tpc::QuantizeOp kernel, result;
  llvm::SmallVector<tpc::QuantizeOp, 1> after;
};

/// Creates a layer for each group, which computes the layer's results for its
/// channels. The new points have neither statistics nor parameters. The layer
/// and the ops between it and the slices are erased.
llvm::SmallVector<GroupPoints> splitLayer(SlicedLayer &sliced);

/// Returns the exponent of a power of two for each range, with which one grid
/// is sufficient for all of them: its step is less than twice that of a grid
/// for any of the ranges alone. The largest range keeps its size. The powers
/// are those that lose the fewest bits in total. None if there are none.
/// `ranges` are smallest and largest values; each is extended to zero.
std::optional<llvm::SmallVector<int>>
findCommonRange(llvm::ArrayRef<std::pair<double, double>> ranges);

/// Multiplies the channels of each group by a power of two in kernel and bias,
/// and divides by it after the point, all exactly: returns false, and does
/// nothing, if a constant would be rounded. The layer and its point get the
/// suffix `_scaled`, and their statistics and parameters are dropped.
bool scaleGroups(SlicedLayer &sliced, llvm::ArrayRef<int> exponents);

} // namespace mct

#endif // MCT_LIB_TRANSFORMS_SPLITLAYERS_H
