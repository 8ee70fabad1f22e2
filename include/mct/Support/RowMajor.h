// SPDX-License-Identifier: Apache-2.0
//
// Iterates over the positions of row-major tensors.
#ifndef MCT_SUPPORT_ROWMAJOR_H
#define MCT_SUPPORT_ROWMAJOR_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <array>

namespace mct::support {

/// Returns the strides along each axis of a row-major tensor.
inline llvm::SmallVector<int64_t>
getRowMajorStrides(llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t axis = shape.size(); axis-- > 1;)
    strides[axis - 1] = strides[axis] * shape[axis];
  return strides;
}

/// Returns the strides along each axis if positions are numbered row-major by
/// `axes` alone, `step` apart; 0 along other axes.
inline llvm::SmallVector<int64_t> getStridesAlong(llvm::ArrayRef<int64_t> shape,
                                                  llvm::ArrayRef<int64_t> axes,
                                                  int64_t step = 1) {
  llvm::SmallVector<int64_t> strides(shape.size(), 0);
  for (int64_t axis : llvm::reverse(axes)) {
    strides[axis] = step;
    step *= shape[axis];
  }
  return strides;
}

/// Calls `visit(offsets)` for each position of a box with those sizes, the last
/// axis moving fastest. Offset n is the sum of index * strides[n][axis] over
/// the axes of the box; strides of further axes are ignored. A box without axes
/// has one position.
template <size_t numOffsets, typename Visit>
void forEachPosition(
    llvm::ArrayRef<int64_t> sizes,
    const std::array<llvm::ArrayRef<int64_t>, numOffsets> &strides,
    Visit visit) {
  if (llvm::is_contained(sizes, 0))
    return;
  std::array<int64_t, numOffsets> offsets{};
  llvm::SmallVector<int64_t> index(sizes.size(), 0);
  while (true) {
    visit(offsets);
    size_t axis = sizes.size();
    while (axis-- > 0) {
      for (auto [offset, own] : llvm::zip_equal(offsets, strides))
        offset += own[axis];
      if (++index[axis] != sizes[axis])
        break;
      for (auto [offset, own] : llvm::zip_equal(offsets, strides))
        offset -= own[axis] * sizes[axis];
      index[axis] = 0;
    }
    if (axis == size_t(-1))
      return;
  }
}

} // namespace mct::support

#endif // MCT_SUPPORT_ROWMAJOR_H
