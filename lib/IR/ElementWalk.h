// SPDX-License-Identifier: Apache-2.0
//
// Iteration over the elements of constants.
#ifndef MCT_LIB_IR_ELEMENTWALK_H
#define MCT_LIB_IR_ELEMENTWALK_H

#include "mct/IR/ConstantTensor.h"
#include "mct/Support/RowMajor.h"
#include <optional>

namespace mct {

/// Calls `visit(offsets)` for the first element of each innermost row of
/// `shape`, which must not have an axis of size 0; strides[n] are the strides
/// of offset n.
template <size_t numOffsets, typename Visit>
void forEachRow(llvm::ArrayRef<int64_t> shape,
                const std::array<llvm::ArrayRef<int64_t>, numOffsets> &strides,
                Visit visit) {
  support::forEachPosition<numOffsets>(shape.drop_back(shape.empty() ? 0 : 1),
                                       strides, visit);
}

/// Returns the strides of `tensor`, whose axes correspond to the last ones of
/// `shape`, when broadcast to it: 0 along repeated axes. Returns none if it
/// cannot be broadcast.
inline std::optional<llvm::SmallVector<int64_t>>
getBroadcastStrides(const ConstantTensor &tensor,
                    llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<int64_t> strides(shape.size(), 0);
  llvm::ArrayRef<int64_t> from = tensor.getShape();
  if (from.size() > shape.size())
    return std::nullopt;
  size_t shift = shape.size() - from.size();
  llvm::SmallVector<int64_t> dense = support::getRowMajorStrides(from);
  for (size_t axis = 0; axis != from.size(); ++axis) {
    if (from[axis] != shape[axis + shift] && from[axis] != 1)
      return std::nullopt;
    if (from[axis] != 1 && !tensor.isSplat())
      strides[axis + shift] = dense[axis];
  }
  return strides;
}

/// Returns the size of the innermost row.
inline int64_t getRowSize(llvm::ArrayRef<int64_t> shape) {
  return shape.empty() ? 1 : shape.back();
}

} // namespace mct

#endif // MCT_LIB_IR_ELEMENTWALK_H
