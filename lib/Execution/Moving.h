// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_LIB_EXECUTION_MOVING_H
#define MCT_LIB_EXECUTION_MOVING_H

#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <vector>

namespace mct::execution {

/// Elements of one tensor that are copied to another one: dimension d has
/// `sizes[d]` of them, `from[d]` apart in the source and `to[d]` in the target.
/// Counts are in elements.
struct StridedCopy {
  /// Index of the source.
  unsigned source = 0;
  llvm::SmallVector<int64_t, 4> sizes, from, to;
  int64_t fromOffset = 0, toOffset = 0;

  /// Drops and merges dimensions without changing the copy.
  void simplify();
};

/// A transpose, slice, pad or concatenation as copies.
struct MovingShape {
  /// Size in bytes of an element: 1, 2, 4 or 8.
  unsigned elementBytes = 4;
  /// Bytes of the element that fills the target before anything is copied;
  /// empty if every element is copied.
  llvm::SmallVector<char, 8> fill;
  int64_t targetElements = 0;
  std::vector<StridedCopy> copies;
};

/// Moves elements of the sources to the target.
void move(const MovingShape &shape, const void *const *sources, void *target);

} // namespace mct::execution

#endif // MCT_LIB_EXECUTION_MOVING_H
