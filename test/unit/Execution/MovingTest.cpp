// SPDX-License-Identifier: Apache-2.0
#include "lib/Execution/Moving.h"
#include "llvm/ADT/ArrayRef.h"
#include "gtest/gtest.h"

#include <numeric>
#include <random>

using namespace mct::execution;

namespace {

/// Element by element, over all indices.
template <typename Element>
std::vector<Element> moveSlowly(const StridedCopy &copy,
                                const std::vector<Element> &source,
                                std::vector<Element> target) {
  int64_t count = 1;
  for (int64_t size : copy.sizes)
    count *= size;
  for (int64_t number = 0; number != count; ++number) {
    int64_t from = copy.fromOffset, to = copy.toOffset, rest = number;
    for (size_t d = copy.sizes.size(); d-- > 0; rest /= copy.sizes[d]) {
      from += rest % copy.sizes[d] * copy.from[d];
      to += rest % copy.sizes[d] * copy.to[d];
    }
    target[to] = source[from];
  }
  return target;
}

template <typename Element> void expectSame() {
  std::mt19937 random(sizeof(Element));
  for (int round = 0; round != 400; ++round) {
    // Copy a permuted part of a tensor into a part of a larger one.
    size_t rank = random() % 5;
    StridedCopy copy;
    llvm::SmallVector<int64_t> sourceSizes(rank), targetSizes(rank),
        sourceBegin(rank), targetBegin(rank), order(rank);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    for (size_t d = 0; d != rank; ++d) {
      copy.sizes.push_back(random() % 10 == 0 ? 0 : 1 + random() % 20);
      sourceBegin[order[d]] = random() % 2;
      sourceSizes[order[d]] =
          copy.sizes[d] + sourceBegin[order[d]] + random() % 2;
      targetBegin[d] = random() % 2;
      targetSizes[d] = copy.sizes[d] + targetBegin[d] + random() % 2;
    }
    auto strides = [](llvm::ArrayRef<int64_t> sizes, int64_t &elements) {
      llvm::SmallVector<int64_t> strides(sizes.size());
      elements = 1;
      for (size_t d = sizes.size(); d-- > 0; elements *= sizes[d])
        strides[d] = elements;
      return strides;
    };
    int64_t sourceElements, targetElements;
    auto from = strides(sourceSizes, sourceElements),
         to = strides(targetSizes, targetElements);
    for (size_t d = 0; d != rank; ++d) {
      copy.from.push_back(from[order[d]]);
      copy.to.push_back(to[d]);
      copy.fromOffset += sourceBegin[d] * from[d];
      copy.toOffset += targetBegin[d] * to[d];
    }
    std::vector<Element> source(std::max<int64_t>(sourceElements, 1));
    for (Element &element : source)
      element = Element(random());
    std::vector<Element> target(std::max<int64_t>(targetElements, 1), 7);
    std::vector<Element> expected = moveSlowly(copy, source, target);

    MovingShape shape;
    shape.elementBytes = sizeof(Element);
    shape.targetElements = target.size();
    if (random() % 2) {
      Element fill = 9;
      std::vector<Element> filled(target.size(), fill);
      expected = moveSlowly(copy, source, filled);
      shape.fill.assign(reinterpret_cast<char *>(&fill),
                        reinterpret_cast<char *>(&fill) + sizeof(fill));
    }
    copy.simplify();
    shape.copies = {copy};
    const void *sources[] = {source.data()};
    move(shape, sources, target.data());
    ASSERT_EQ(target, expected) << "round " << round;
  }
}

TEST(Moving, PermutedPartsOfTensorsOfEverySize) {
  expectSame<uint8_t>();
  expectSame<uint16_t>();
  expectSame<uint32_t>();
  expectSame<uint64_t>();
}

TEST(Moving, DimensionsThatFollowEachOtherAreOne) {
  // [2, 3, 4, 5] -> [3, 2, 4, 5]: a matrix of rows of 20 elements.
  StridedCopy copy;
  copy.sizes = {3, 2, 4, 5};
  copy.from = {20, 60, 5, 1};
  copy.to = {40, 20, 5, 1};
  copy.simplify();
  EXPECT_EQ(copy.sizes, (llvm::SmallVector<int64_t, 4>{3, 2, 20}));
}

} // namespace
