// SPDX-License-Identifier: Apache-2.0
//
// Constants that programs share.
#ifndef MCT_LIB_EXECUTION_CONSTANTPOOL_H
#define MCT_LIB_EXECUTION_CONSTANTPOOL_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace mct::execution {

/// Finds equal large constants, so that programs that are alive at the same
/// time share them: weights that a correction does not change, tables that
/// nothing quantizes. Does not keep constants alive. Must be used by one thread
/// at a time.
class ConstantPool {
public:
  /// Smallest size in bytes of shared constants.
  static constexpr size_t kLeastBytes = size_t(1) << 16;

  /// Returns `made`, or equal bytes that a program already has. They must not
  /// be changed afterwards.
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
