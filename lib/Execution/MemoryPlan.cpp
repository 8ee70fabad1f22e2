// SPDX-License-Identifier: Apache-2.0
#include "MemoryPlan.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SmallVector.h"

#include <map>
#include <set>

using namespace mct::execution;

namespace {

/// Free ranges below the end of the block, by position and by size.
class FreeRanges {
public:
  /// Returns a range of this size, or none.
  std::optional<int64_t> take(int64_t bytes) {
    auto smallest = bySize.lower_bound({bytes, 0});
    if (smallest == bySize.end())
      return std::nullopt;
    auto [size, offset] = *smallest;
    erase(offset);
    if (size != bytes)
      insert(offset + bytes, size - bytes);
    return offset;
  }

  /// Takes the range that ends at `end`, if there is one.
  std::optional<int64_t> takeLast(int64_t end) {
    if (byPlace.empty())
      return std::nullopt;
    auto [offset, size] = *byPlace.rbegin();
    if (offset + size != end)
      return std::nullopt;
    erase(offset);
    return offset;
  }

  void give(int64_t offset, int64_t bytes) {
    auto after = byPlace.lower_bound(offset);
    if (after != byPlace.end() && after->first == offset + bytes) {
      bytes += after->second;
      erase(after->first);
    }
    auto before = byPlace.lower_bound(offset);
    if (before != byPlace.begin()) {
      --before;
      if (before->first + before->second == offset) {
        offset = before->first;
        bytes += before->second;
        erase(offset);
      }
    }
    insert(offset, bytes);
  }

private:
  void insert(int64_t offset, int64_t bytes) {
    byPlace[offset] = bytes;
    bySize.insert({bytes, offset});
  }
  void erase(int64_t offset) {
    auto place = byPlace.find(offset);
    bySize.erase({place->second, offset});
    byPlace.erase(place);
  }

  std::map<int64_t, int64_t> byPlace;
  std::set<std::pair<int64_t, int64_t>> bySize;
};

} // namespace

std::optional<MemoryPlan>
mct::execution::planMemory(llvm::ArrayRef<BufferLife> buffers) {
  constexpr int64_t kAlignment = 64;
  constexpr int64_t kMost = int64_t(1) << 62;
  auto padded = [](int64_t bytes) {
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
  };
  auto numbers = llvm::seq<size_t>(0, buffers.size());
  llvm::SmallVector<size_t> byBegin(numbers.begin(), numbers.end());
  llvm::SmallVector<size_t> byEnd = byBegin;
  llvm::sort(byBegin, [&](size_t a, size_t b) {
    return std::pair(buffers[a].begin, a) < std::pair(buffers[b].begin, b);
  });
  llvm::sort(byEnd, [&](size_t a, size_t b) {
    return std::pair(buffers[a].end, a) < std::pair(buffers[b].end, b);
  });

  MemoryPlan plan;
  plan.offsets.resize(buffers.size());
  FreeRanges ranges;
  size_t ended = 0;
  for (size_t number : byBegin) {
    const BufferLife &buffer = buffers[number];
    for (; ended != byEnd.size() && buffers[byEnd[ended]].end < buffer.begin;
         ++ended) {
      size_t dead = byEnd[ended];
      if (buffers[dead].bytes > 0)
        ranges.give(plan.offsets[dead], padded(buffers[dead].bytes));
    }
    if (buffer.bytes == 0)
      continue;
    if (buffer.bytes > kMost)
      return std::nullopt;
    int64_t bytes = padded(buffer.bytes);
    if (std::optional<int64_t> offset = ranges.take(bytes)) {
      plan.offsets[number] = *offset;
      continue;
    }
    // The block grows, by less when its end is free.
    int64_t offset = ranges.takeLast(plan.bytes).value_or(plan.bytes);
    if (bytes > kMost - offset)
      return std::nullopt;
    plan.offsets[number] = offset;
    plan.bytes = offset + bytes;
  }
  return plan;
}
