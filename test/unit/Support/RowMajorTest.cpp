// SPDX-License-Identifier: Apache-2.0
#include "mct/Support/RowMajor.h"
#include "gtest/gtest.h"
#include <vector>

using namespace mct::support;
using llvm::ArrayRef;

TEST(RowMajor, StridesReachEveryElementInOrder) {
  llvm::SmallVector<int64_t> shape{2, 3, 1, 4};
  llvm::SmallVector<int64_t> strides = getRowMajorStrides(shape);
  int64_t element = 0;
  forEachPosition<1>(shape, {strides},
                     [&](auto at) { EXPECT_EQ(at[0], element++); });
  EXPECT_EQ(element, 24);
}

TEST(RowMajor, OffsetsAreThoseOfNestedLoops) {
  llvm::SmallVector<int64_t> sizes{3, 2, 4}, left{5, -7, 11},
      right{0, 100, 1, /*of no axis=*/9};
  std::vector<std::array<int64_t, 2>> expected, found;
  for (int64_t a = 0; a != 3; ++a)
    for (int64_t b = 0; b != 2; ++b)
      for (int64_t c = 0; c != 4; ++c)
        expected.push_back({5 * a - 7 * b + 11 * c, 100 * b + c});
  forEachPosition<2>(sizes, {left, right},
                     [&](auto at) { found.push_back(at); });
  EXPECT_EQ(found, expected);
}

TEST(RowMajor, BoxesWithoutAxesHaveOnePositionAndEmptyOnesNone) {
  int64_t positions = 0;
  forEachPosition<1>({}, {ArrayRef<int64_t>()}, [&](auto) { ++positions; });
  EXPECT_EQ(positions, 1);
  forEachPosition<1>({2, 0}, {ArrayRef<int64_t>{1, 1}},
                     [&](auto) { ++positions; });
  EXPECT_EQ(positions, 1);
}

TEST(RowMajor, StridesAlongSomeAxesNumberThemAlone) {
  llvm::SmallVector<int64_t> strides =
      getStridesAlong({2, 3, 4, 5}, {1, 3}, /*step=*/10);
  EXPECT_EQ(ArrayRef<int64_t>(strides), ArrayRef<int64_t>({0, 50, 0, 10}));
  // The order of the axes is that of the numbers, and not of the tensor.
  strides = getStridesAlong({2, 3, 4}, {2, 0});
  EXPECT_EQ(ArrayRef<int64_t>(strides), ArrayRef<int64_t>({1, 0, 2}));
}
