// SPDX-License-Identifier: Apache-2.0
#include "OnnxLayout.h"
#include "mct/Support/RowMajor.h"
#include "llvm/ADT/STLExtras.h"

#include <numeric>

using namespace mct::onnx;
using llvm::ArrayRef;
using llvm::SmallVector;

Layout Layout::identity(size_t rank) {
  Layout layout;
  layout.permutation.resize(rank);
  std::iota(layout.permutation.begin(), layout.permutation.end(), 0);
  return layout;
}

int64_t Layout::axisOf(int64_t axis) const {
  return llvm::find(permutation, axis) - permutation.begin();
}

SmallVector<int64_t> Layout::apply(ArrayRef<int64_t> shape) const {
  SmallVector<int64_t> result;
  for (int64_t axis : permutation)
    result.push_back(shape[axis]);
  return result;
}

std::vector<int64_t> mct::onnx::mapElements(ArrayRef<int64_t> shape,
                                            ArrayRef<int64_t> permutation) {
  SmallVector<int64_t> strides = support::getRowMajorStrides(shape), sizes,
                       steps;
  for (int64_t axis : permutation) {
    sizes.push_back(shape[axis]);
    steps.push_back(strides[axis]);
  }
  std::vector<int64_t> map;
  support::forEachPosition<1>(sizes, {steps},
                              [&](auto at) { map.push_back(at[0]); });
  return map;
}

std::vector<int64_t> mct::onnx::mapParts(const Layout &layout, int64_t size) {
  if (!layout.parts.empty())
    return mapElements(layout.parts, layout.partOrder);
  std::vector<int64_t> map(size);
  std::iota(map.begin(), map.end(), 0);
  return map;
}

/// Returns the axes with more than one element, in the order of the tensor.
static SmallVector<int64_t> getWideAxes(ArrayRef<int64_t> shape,
                                        const Layout &layout) {
  SmallVector<int64_t> axes;
  for (int64_t axis : layout.permutation)
    if (shape[axis] != 1)
      axes.push_back(axis);
  return axes;
}

bool mct::onnx::haveSameOrder(ArrayRef<int64_t> shape, const Layout &lhs,
                              const Layout &rhs) {
  return lhs.parts == rhs.parts && lhs.partOrder == rhs.partOrder &&
         getWideAxes(shape, lhs) == getWideAxes(shape, rhs);
}

namespace {
/// Neighbouring axes of one shape that correspond to neighbouring axes of
/// another.
struct AxisGroup {
  SmallVector<int64_t> from, to;
};
} // namespace

// Same as ShapedType::kDynamic.
static constexpr int64_t kUnknownSize = INT64_MIN;

/// Returns the smallest groups, without axes of size 1. An unknown size is a
/// group of its own.
static std::optional<SmallVector<AxisGroup>> groupAxes(ArrayRef<int64_t> from,
                                                       ArrayRef<int64_t> to) {
  auto wide = [](ArrayRef<int64_t> shape) {
    SmallVector<int64_t> axes;
    for (auto [axis, size] : llvm::enumerate(shape))
      if (size != 1)
        axes.push_back(axis);
    return axes;
  };
  SmallVector<int64_t> fromAxes = wide(from), toAxes = wide(to);
  SmallVector<AxisGroup> groups;
  size_t i = 0, j = 0;
  while (i < fromAxes.size() && j < toAxes.size()) {
    AxisGroup group;
    int64_t fromSize = from[fromAxes[i]], toSize = to[toAxes[j]];
    group.from.push_back(fromAxes[i++]);
    group.to.push_back(toAxes[j++]);
    if ((fromSize == kUnknownSize) != (toSize == kUnknownSize))
      return std::nullopt;
    while (fromSize != toSize) {
      if (fromSize < toSize) {
        if (i == fromAxes.size() || from[fromAxes[i]] < 0)
          return std::nullopt;
        fromSize *= from[fromAxes[i]];
        group.from.push_back(fromAxes[i++]);
      } else {
        if (j == toAxes.size() || to[toAxes[j]] < 0)
          return std::nullopt;
        toSize *= to[toAxes[j]];
        group.to.push_back(toAxes[j++]);
      }
    }
    groups.push_back(std::move(group));
  }
  if (i != fromAxes.size() || j != toAxes.size())
    return std::nullopt;
  return groups;
}

std::optional<Layout> mct::onnx::followReshape(ArrayRef<int64_t> from,
                                               const Layout &layout,
                                               ArrayRef<int64_t> to) {
  Layout plain = Layout::identity(to.size());
  if (haveSameOrder(from, layout, Layout::identity(from.size())))
    return plain;
  if (!layout.parts.empty())
    return std::nullopt;
  std::optional<SmallVector<AxisGroup>> groups = groupAxes(from, to);
  if (!groups)
    return std::nullopt;
  SmallVector<int64_t> order = getWideAxes(from, layout);
  // Begin of each group in the tensor, and its axes of the new value.
  SmallVector<std::pair<int64_t, SmallVector<int64_t>>> places;
  for (const AxisGroup &group : *groups) {
    SmallVector<int64_t> positions;
    for (int64_t axis : group.from)
      positions.push_back(llvm::find(order, axis) - order.begin());
    int64_t first = *llvm::min_element(positions);
    bool isWhole = true, isOrdered = true;
    for (auto [i, position] : llvm::enumerate(positions)) {
      isOrdered &= position == first + int64_t(i);
      isWhole &= position < first + int64_t(positions.size());
    }
    if (!isWhole)
      return std::nullopt;
    if (!isOrdered) {
      // For a flattened image, the features of the new value are in another
      // order.
      if (group.to.size() != 1 || group.to.front() + 1 != int64_t(to.size()) ||
          !plain.parts.empty())
        return std::nullopt;
      for (int64_t axis : group.from)
        plain.parts.push_back(from[axis]);
      plain.partOrder.resize(positions.size());
      for (auto [i, position] : llvm::enumerate(positions))
        plain.partOrder[position - first] = i;
    }
    places.push_back({first, group.to});
  }
  llvm::sort(places);
  SmallVector<int64_t> wide;
  for (const auto &place : places)
    llvm::append_range(wide, place.second);
  auto fits = [&](const Layout &candidate) {
    return getWideAxes(to, candidate) == wide;
  };
  if (fits(plain))
    return plain;
  if (!plain.parts.empty())
    return std::nullopt;
  if (to.size() == 4 && fits(Layout::channelsFirst()))
    return Layout::channelsFirst();
  Layout moved;
  auto next = wide.begin();
  for (auto [axis, size] : llvm::enumerate(to))
    moved.permutation.push_back(size == 1 ? int64_t(axis) : *next++);
  return moved;
}
