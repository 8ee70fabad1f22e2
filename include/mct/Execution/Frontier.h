// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_EXECUTION_FRONTIER_H
#define MCT_EXECUTION_FRONTIER_H

#include "mct/Support/TemporaryFile.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace mct::execution {

/// Keeps values of every unit of samples between two stages of a run: a block
/// of bytes for each unit, in memory up to a budget, and in a temporary file
/// beyond it. Different units may be read and written at the same time.
class Frontier {
public:
  /// `largest` is the size in bytes of the largest block, `budget` the size of
  /// all blocks in memory.
  Frontier(int64_t units, int64_t largest, int64_t budget);
  ~Frontier();

  /// Replaces the block of a unit.
  llvm::Error write(int64_t unit, llvm::ArrayRef<char> block);
  /// Replaces the block of a unit by the bytes that `fill` writes to its
  /// argument: the memory of the unit, or else `buffer`, which has the size of
  /// the block.
  llvm::Error write(int64_t unit, llvm::MutableArrayRef<char> buffer,
                    llvm::function_ref<void(char *)> fill);
  /// Reads the block that was written last; `block` must have its size.
  llvm::Error read(int64_t unit, llvm::MutableArrayRef<char> block) const;
  /// Returns the block that was written last. It is read into `buffer` if it is
  /// not in memory; otherwise the result is valid until the block is written
  /// again.
  llvm::Expected<const char *> view(int64_t unit,
                                    llvm::MutableArrayRef<char> buffer) const;

  /// Returns the number of bytes that are in memory.
  int64_t memoryBytes() const { return used; }

private:
  struct Block {
    /// False for a block in the file.
    bool isInMemory = false;
    int64_t bytes = 0;
  };
  /// Returns the address of the block of a unit in memory.
  char *getAddress(int64_t unit) const { return memory + unit * stride; }
  /// Returns memory for a block of a unit, or null if there is no room.
  char *reserve(int64_t unit, int64_t bytes);
  llvm::Error writeFile(int64_t unit, llvm::ArrayRef<char> block);

  std::vector<Block> blocks;
  int64_t largest, budget;
  /// Addresses reserved for all blocks, whole pages for each; null if there are
  /// none. Only used pages take memory, which returns to the system once they
  /// are unused: blocks of an allocator would leave gaps in its own memory.
  char *memory = nullptr;
  int64_t stride = 0;
  std::atomic<int64_t> used{0};
  std::unique_ptr<support::TemporaryFile> file;
  std::mutex creating;
};

} // namespace mct::execution

#endif // MCT_EXECUTION_FRONTIER_H
