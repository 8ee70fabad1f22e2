// SPDX-License-Identifier: Apache-2.0
//
// Places the values of a program in one block of memory.
#ifndef MCT_LIB_EXECUTION_MEMORYPLAN_H
#define MCT_LIB_EXECUTION_MEMORYPLAN_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace mct::execution {

/// Lifetime of a buffer, which holds its values from step `begin` to step
/// `end`, both included.
struct BufferLife {
  int64_t bytes = 0;
  unsigned begin = 0, end = 0;
};

struct MemoryPlan {
  /// Offset of each buffer, a multiple of 64.
  std::vector<int64_t> offsets;
  /// Size in bytes of the whole block.
  int64_t bytes = 0;
};

/// Places buffers so that those alive at the same step do not overlap: each
/// takes the smallest free range that holds it when its life begins. Returns
/// none if the block would have more than 2^62 bytes.
std::optional<MemoryPlan> planMemory(llvm::ArrayRef<BufferLife> buffers);

} // namespace mct::execution

#endif // MCT_LIB_EXECUTION_MEMORYPLAN_H
