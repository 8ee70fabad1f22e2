// SPDX-License-Identifier: Apache-2.0
#include "mct/Execution/Frontier.h"

#include <algorithm>
#include <cstring>
#include <new>

using namespace mct::execution;

llvm::Error Frontier::write(int64_t unit, llvm::ArrayRef<char> block) {
  Block &own = blocks[unit];
  auto bytes = int64_t(block.size());
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
  if (own.data) {
    std::memcpy(own.data.get(), block.data(), bytes);
    return llvm::Error::success();
  }
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

llvm::Error Frontier::read(int64_t unit,
                           llvm::MutableArrayRef<char> block) const {
  const Block &own = blocks[unit];
  if (!own.data)
    return file->read(uint64_t(unit) * uint64_t(largest), block.size(),
                      block.data());
  std::memcpy(block.data(), own.data.get(), block.size());
  return llvm::Error::success();
}
