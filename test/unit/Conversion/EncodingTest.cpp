// SPDX-License-Identifier: Apache-2.0
#include "mct/Conversion/Encoding.h"
#include "llvm/ADT/UniqueVector.h"
#include "gtest/gtest.h"

namespace {
/// Counts how often encodings are compared.
struct CountedEncoding : mct::Encoding {
  bool operator<(const CountedEncoding &other) const {
    ++numComparisons;
    return Encoding::operator<(other);
  }
  static size_t numComparisons;
};
size_t CountedEncoding::numComparisons = 0;
} // namespace

// The lowering numbers encodings by such a vector. One after the other would be
// 4000 * 3999 / 2 comparisons.
TEST(Encodings, ManyAreFoundWithFewComparisons) {
  constexpr unsigned kCount = 4000;
  auto create = [](unsigned number) {
    CountedEncoding encoding;
    // Each member distinguishes some of them.
    encoding.scale = 1 + number / 16;
    encoding.zeroPoint = number % 2;
    encoding.low = -int64_t(number / 2 % 2);
    encoding.high = number / 4 % 2;
    encoding.storageBits = number / 8 % 2 ? 8 : 16;
    return encoding;
  };
  llvm::UniqueVector<CountedEncoding> encodings;
  for (unsigned number = 0; number != kCount; ++number)
    EXPECT_EQ(encodings.insert(create(number)), number + 1);
  EXPECT_LE(CountedEncoding::numComparisons, size_t(kCount) * 2 * 13);
  for (unsigned number = 0; number != kCount; ++number)
    EXPECT_EQ(encodings.idFor(create(number)), number + 1);
}
