// SPDX-License-Identifier: Apache-2.0
#include "mct/Execution/Frontier.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

using namespace mct::execution;

Frontier::Frontier(int64_t units, int64_t largest, int64_t budget)
    : blocks(units), largest(largest), budget(budget) {
  stride = int64_t(llvm::alignTo(uint64_t(largest), uint64_t(getpagesize())));
  if (units == 0 || largest == 0 || budget <= 0)
    return;
  void *reserved =
      ::mmap(nullptr, size_t(units * stride), PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (reserved != MAP_FAILED)
    memory = static_cast<char *>(reserved);
}

Frontier::~Frontier() {
  if (memory)
    ::munmap(memory, blocks.size() * size_t(stride));
}

char *Frontier::reserve(int64_t unit, int64_t bytes) {
  if (!memory)
    return nullptr;
  Block &own = blocks[unit];
  // If all units fit at the largest size, keep that size: the pages are already
  // there.
  bool keeps = largest <= budget / std::max<int64_t>(1, blocks.size());
  int64_t capacity = keeps ? largest : bytes;
  if (own.isInMemory && own.bytes != capacity) {
    ::madvise(getAddress(unit), size_t(stride), MADV_DONTNEED);
    own.isInMemory = false;
    used -= own.bytes;
  }
  // The choice of the units in memory changes nothing but the time.
  if (!own.isInMemory) {
    own.isInMemory = used.fetch_add(capacity) + capacity <= budget;
    if (!own.isInMemory)
      used -= capacity;
  }
  own.bytes = capacity;
  return own.isInMemory ? getAddress(unit) : nullptr;
}

llvm::Error Frontier::write(int64_t unit, llvm::MutableArrayRef<char> buffer,
                            llvm::function_ref<void(char *)> fill) {
  if (char *memory = reserve(unit, int64_t(buffer.size()))) {
    fill(memory);
    return llvm::Error::success();
  }
  fill(buffer.data());
  return writeFile(unit, buffer);
}

llvm::Error Frontier::write(int64_t unit, llvm::ArrayRef<char> block) {
  if (char *memory = reserve(unit, int64_t(block.size()))) {
    std::memcpy(memory, block.data(), block.size());
    return llvm::Error::success();
  }
  return writeFile(unit, block);
}

llvm::Error Frontier::writeFile(int64_t unit, llvm::ArrayRef<char> block) {
  {
    std::lock_guard<std::mutex> lock(creating);
    if (!file) {
      auto created = support::TemporaryFile::create();
      if (!created)
        return created.takeError();
      file = std::move(*created);
    }
  }
  return file->write(uint64_t(unit) * uint64_t(largest), block.size(),
                     block.data());
}

llvm::Expected<const char *>
Frontier::view(int64_t unit, llvm::MutableArrayRef<char> buffer) const {
  if (blocks[unit].isInMemory)
    return getAddress(unit);
  if (llvm::Error error = file->read(uint64_t(unit) * uint64_t(largest),
                                     buffer.size(), buffer.data()))
    return std::move(error);
  return buffer.data();
}

llvm::Error Frontier::read(int64_t unit,
                           llvm::MutableArrayRef<char> block) const {
  auto found = view(unit, block);
  if (!found)
    return found.takeError();
  if (*found != block.data())
    std::memcpy(block.data(), *found, block.size());
  return llvm::Error::success();
}
