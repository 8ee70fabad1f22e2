// SPDX-License-Identifier: Apache-2.0
#include "ConstantPool.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/xxhash.h"

#include <algorithm>
#include <cstring>

using namespace mct::execution;

/// Returns a hash of some of the bytes, which is the same for equal bytes.
static uint64_t hashSome(const char *data, size_t bytes) {
  constexpr size_t kPieces = 64, kPiece = 64;
  if (bytes <= kPieces * kPiece)
    return llvm::xxh3_64bits(
        llvm::ArrayRef(reinterpret_cast<const uint8_t *>(data), bytes));
  char some[kPieces * kPiece];
  size_t step = (bytes - kPiece) / (kPieces - 1);
  for (size_t piece = 0; piece != kPieces; ++piece)
    std::memcpy(some + piece * kPiece, data + piece * step, kPiece);
  return llvm::xxh3_64bits(llvm::ArrayRef(
      reinterpret_cast<const uint8_t *>(some), kPieces * kPiece));
}

std::shared_ptr<char> ConstantPool::share(std::shared_ptr<char> made,
                                          size_t bytes) {
  if (bytes < kLeastBytes)
    return made;
  llvm::SmallVector<Known, 1> &candidates = known[hashSome(made.get(), bytes)];
  llvm::erase_if(candidates,
                 [](const Known &each) { return each.data.expired(); });
  for (const Known &each : candidates)
    if (std::shared_ptr<char> data = each.data.lock();
        data && each.bytes == bytes &&
        std::memcmp(data.get(), made.get(), bytes) == 0)
      return data;
  candidates.push_back({made, bytes});
  return made;
}
