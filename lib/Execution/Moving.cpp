// SPDX-License-Identifier: Apache-2.0
#include "Moving.h"
#include "mct/Support/RowMajor.h"

#include <algorithm>
#include <cstring>

using namespace mct::execution;

void StridedCopy::simplify() {
  llvm::SmallVector<int64_t, 4> newSizes, newFrom, newTo;
  for (size_t d = 0; d != sizes.size(); ++d) {
    if (sizes[d] == 1)
      continue;
    // Merge this dimension into the one before, of which it is a contiguous
    // part.
    if (!newSizes.empty() && newFrom.back() == from[d] * sizes[d] &&
        newTo.back() == to[d] * sizes[d]) {
      newSizes.back() *= sizes[d];
      newFrom.back() = from[d];
      newTo.back() = to[d];
      continue;
    }
    newSizes.push_back(sizes[d]);
    newFrom.push_back(from[d]);
    newTo.push_back(to[d]);
  }
  sizes = newSizes;
  from = newFrom;
  to = newTo;
}

namespace {

/// Calls `visit(source offset, target offset)` for the elements of the first
/// `dimensions` dimensions.
template <typename Visit>
void forEachOuter(const StridedCopy &copy, size_t dimensions, Visit visit) {
  mct::support::forEachPosition<2>(
      llvm::ArrayRef<int64_t>(copy.sizes).take_front(dimensions),
      {copy.from, copy.to},
      [&](auto at) { visit(copy.fromOffset + at[0], copy.toOffset + at[1]); });
}

template <typename Element>
void copyAll(StridedCopy copy, const Element *source, Element *target) {
  if (std::count(copy.sizes.begin(), copy.sizes.end(), 0) != 0)
    return;
  size_t rank = copy.sizes.size();
  if (rank == 0) {
    target[copy.toOffset] = source[copy.fromOffset];
    return;
  }
  if (copy.from.back() == 1 && copy.to.back() == 1) {
    size_t bytes = copy.sizes.back() * sizeof(Element);
    forEachOuter(copy, rank - 1, [&](int64_t from, int64_t to) {
      std::memcpy(target + to, source + from, bytes);
    });
    return;
  }
  // Copy square by square, so that the cache lines of both sides are reused:
  // over the last dimension, which is dense in the target, and the densest
  // dimension of the source.
  size_t dense = 0;
  for (size_t d = 1; d + 1 < rank; ++d)
    if (copy.from[d] < copy.from[dense])
      dense = d;
  if (rank == 1) {
    for (int64_t i = 0; i != copy.sizes[0]; ++i)
      target[copy.toOffset + i * copy.to[0]] =
          source[copy.fromOffset + i * copy.from[0]];
    return;
  }
  auto moveBack = [&](llvm::SmallVector<int64_t, 4> &values) {
    std::rotate(values.begin() + dense, values.begin() + dense + 1,
                values.end() - 1);
  };
  moveBack(copy.sizes);
  moveBack(copy.from);
  moveBack(copy.to);
  constexpr int64_t kSquare = 16;
  int64_t rows = copy.sizes[rank - 2], columns = copy.sizes[rank - 1];
  int64_t rowFrom = copy.from[rank - 2], columnFrom = copy.from[rank - 1];
  int64_t rowTo = copy.to[rank - 2], columnTo = copy.to[rank - 1];
  forEachOuter(copy, rank - 2, [&](int64_t from, int64_t to) {
    for (int64_t row = 0; row < rows; row += kSquare)
      for (int64_t column = 0; column < columns; column += kSquare) {
        int64_t rowEnd = std::min(row + kSquare, rows),
                columnEnd = std::min(column + kSquare, columns);
        for (int64_t y = row; y != rowEnd; ++y)
          for (int64_t x = column; x != columnEnd; ++x)
            target[to + y * rowTo + x * columnTo] =
                source[from + y * rowFrom + x * columnFrom];
      }
  });
}

template <typename Element>
void moveAs(const MovingShape &shape, const void *const *sources,
            void *target) {
  auto *to = static_cast<Element *>(target);
  if (!shape.fill.empty()) {
    Element fill;
    std::memcpy(&fill, shape.fill.data(), sizeof(Element));
    std::fill_n(to, shape.targetElements, fill);
  }
  for (const StridedCopy &copy : shape.copies)
    copyAll(copy, static_cast<const Element *>(sources[copy.source]), to);
}

} // namespace

void mct::execution::move(const MovingShape &shape, const void *const *sources,
                          void *target) {
  switch (shape.elementBytes) {
  case 1:
    return moveAs<uint8_t>(shape, sources, target);
  case 2:
    return moveAs<uint16_t>(shape, sources, target);
  case 4:
    return moveAs<uint32_t>(shape, sources, target);
  default:
    return moveAs<uint64_t>(shape, sources, target);
  }
}
