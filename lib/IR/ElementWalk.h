// SPDX-License-Identifier: Apache-2.0
//
// Walks over the elements of constants.
#ifndef MCT_LIB_IR_ELEMENTWALK_H
#define MCT_LIB_IR_ELEMENTWALK_H

#include "mct/IR/ConstantTensor.h"
#include "llvm/ADT/SmallVector.h"
#include <array>
#include <optional>

namespace mct {

/// Returns the distances of neighbours along each axis of a row-major tensor.
inline llvm::SmallVector<int64_t>
getRowMajorStrides(llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t axis = shape.size(); axis-- > 1;)
    strides[axis - 1] = strides[axis] * shape[axis];
  return strides;
}

/// Calls `visit(indices)` with the index of the first element of each innermost
/// row, of each source: source s advances by strides[s][d] along dimension d of
/// `shape`, which has no dimension of size 0.
template <size_t numSources, typename Visit>
void forEachRow(
    llvm::ArrayRef<int64_t> shape,
    const std::array<llvm::SmallVector<int64_t>, numSources> &strides,
    Visit visit) {
  std::array<int64_t, numSources> at{};
  llvm::SmallVector<int64_t> index(shape.size(), 0);
  while (true) {
    visit(at);
    size_t axis = shape.empty() ? 0 : shape.size() - 1;
    while (axis-- > 0) {
      for (size_t source = 0; source != numSources; ++source)
        at[source] += strides[source][axis];
      if (++index[axis] < shape[axis])
        break;
      for (size_t source = 0; source != numSources; ++source)
        at[source] -= strides[source][axis] * shape[axis];
      index[axis] = 0;
    }
    if (axis == size_t(-1))
      return;
  }
}

/// Returns the strides of `tensor`, whose axes are the last ones of `shape`,
/// broadcast to it: 0 along what is repeated. None when it does not broadcast.
inline std::optional<llvm::SmallVector<int64_t>>
getBroadcastStrides(const ConstantTensor &tensor,
                    llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<int64_t> strides(shape.size(), 0);
  llvm::ArrayRef<int64_t> from = tensor.getShape();
  if (from.size() > shape.size())
    return std::nullopt;
  size_t shift = shape.size() - from.size();
  llvm::SmallVector<int64_t> dense = getRowMajorStrides(from);
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
