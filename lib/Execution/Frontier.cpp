// SPDX-License-Identifier: Apache-2.0
#include "mct/Execution/Frontier.h"

#include <algorithm>
#include <cstring>
#include <new>

using namespace mct::execution;

char *Frontier::reserve(int64_t unit, int64_t bytes) {
  Block &own = blocks[unit];
  // Where all fit at any size memory is kept: its pages are there already.
  bool keeps = largest <= budget / std::max<int64_t>(1, blocks.size());
  int64_t capacity = keeps ? largest : bytes;
  if (own.data && own.bytes != capacity) {
    own.data.reset();
    used -= own.bytes;
  }
  if (!own.data) {
    // The choice of the units in memory changes nothing but the time.
    if (used.fetch_add(capacity) + capacity <= budget)
      own.data.reset(new (std::nothrow) char[capacity]);
    if (!own.data)
      used -= capacity;
  }
  own.bytes = capacity;
  return own.data.get();
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
  if (const char *memory = blocks[unit].data.get())
    return memory;
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
