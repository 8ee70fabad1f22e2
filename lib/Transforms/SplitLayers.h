// SPDX-License-Identifier: Apache-2.0
//
// Layers whose output channels slices separate again.
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

  /// Name of a value or a point of these channels alone.
  std::string getName(llvm::StringRef ofAll) const;
};

/// A convolution or a matrix product, the point behind it, and the slices that
/// are all that uses the point, perhaps behind reshapes, transpositions, and
/// functions of single values, such as a sigmoid, with their points.
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

/// None where the point is not behind such a layer, or where kernel or bias
/// cannot be divided: the layer was corrected, or its bias is not constant.
std::optional<SlicedLayer> findSlicedLayer(tpc::QuantizeOp point,
                                           const KernelOps &kernels);

/// The points of the layer of one group: of its kernel, which may be null, of
/// its result, and of the functions between it and the slices, in the same
/// order for equal networks.
struct GroupPoints {
  tpc::QuantizeOp kernel, result;
  llvm::SmallVector<tpc::QuantizeOp, 1> behind;
};

/// Makes a layer of each group, which computes what the layer computes for its
/// channels. The new points have neither statistics nor parameters. The layer
/// and what was between it and the slices are erased.
llvm::SmallVector<GroupPoints> splitLayer(SlicedLayer &sliced);

/// Returns a power of two for each range, as its exponent, with which one grid
/// does for all of them: it has less than twice the step of a grid for any of
/// the ranges alone. The largest keeps its size. Among the powers those are
/// chosen that lose the fewest bits in all. None where there are no such.
/// `ranges`: smallest and largest value; zero becomes a part of each.
std::optional<llvm::SmallVector<int>>
findCommonRange(llvm::ArrayRef<std::pair<double, double>> ranges);

/// Multiplies the channels of each group by a power of two in kernel and bias,
/// and takes it back behind the point, all of it exactly: false, with nothing
/// done, where a constant would be rounded. The layer and its point get the
/// suffix `_scaled`, and what was measured and chosen for them is dropped.
bool scaleGroups(SlicedLayer &sliced, llvm::ArrayRef<int> exponents);

} // namespace mct

#endif // MCT_LIB_TRANSFORMS_SPLITLAYERS_H
