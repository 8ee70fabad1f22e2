// SPDX-License-Identifier: Apache-2.0
//
// Constants that programs have in common.
#ifndef MCT_LIB_EXECUTION_CONSTANTPOOL_H
#define MCT_LIB_EXECUTION_CONSTANTPOOL_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace mct::execution {

/// Knows large constants of programs, so that those that live at the same time
/// have equal ones once: weights that a correction leaves alone, tables that
/// nothing quantizes. Keeps nothing alive. One thread at a time uses it.
class ConstantPool {
public:
  /// Smaller constants are not worth a look at them.
  static constexpr size_t kLeastBytes = size_t(1) << 16;

  /// Returns `made`, or equal bytes that a program has already. Nobody changes
  /// them from now on.
  std::shared_ptr<char> share(std::shared_ptr<char> made, size_t bytes);

private:
  struct Known {
    std::weak_ptr<char> data;
    size_t bytes;
  };
  /// Constants by a hash of some of their bytes.
  llvm::DenseMap<uint64_t, llvm::SmallVector<Known, 1>> known;
};

} // namespace mct::execution

#endif // MCT_LIB_EXECUTION_CONSTANTPOOL_H
