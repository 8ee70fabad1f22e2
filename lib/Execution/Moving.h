// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_LIB_EXECUTION_MOVING_H
#define MCT_LIB_EXECUTION_MOVING_H

#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <vector>

namespace mct::execution {

/// Elements of one tensor that go to places in another one: dimension d has
/// `sizes[d]` of them, `from[d]` apart in the source and `to[d]` in the target.
/// Counts are in elements.
struct StridedCopy {
  /// Number of the source.
  unsigned source = 0;
  llvm::SmallVector<int64_t, 4> sizes, from, to;
  int64_t fromOffset = 0, toOffset = 0;

  /// Drops and merges dimensions where that copies the same.
  void simplify();
};

/// What a transpose, slice, pad or concatenation does.
struct MovingShape {
  /// 1, 2, 4 or 8 bytes.
  unsigned elementBytes = 4;
  /// The target's elements, before anything is copied to it: this one; none
  /// where all of them are copied.
  llvm::SmallVector<char, 8> fill;
  int64_t targetElements = 0;
  std::vector<StridedCopy> copies;
};

/// `sources`: by their numbers.
void move(const MovingShape &shape, const void *const *sources, void *target);

} // namespace mct::execution

#endif // MCT_LIB_EXECUTION_MOVING_H
