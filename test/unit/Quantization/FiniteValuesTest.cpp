// SPDX-License-Identifier: Apache-2.0
#include "mct/Quantization/FiniteValues.h"
#include "gtest/gtest.h"

#include <limits>
#include <vector>

using namespace mct::quantization;

TEST(FiniteValues, FirstOfSeveralForAnyThreads) {
  std::vector<float> values(700000, 1.0f);
  for (unsigned threads : {1u, 3u}) {
    EXPECT_EQ(findNonFinite({}, threads), std::nullopt);
    EXPECT_EQ(findNonFinite(values, threads), std::nullopt);
  }
  for (size_t at : {699999u, 300001u, 300000u, 7u, 0u}) {
    values[at] = at % 2 ? std::numeric_limits<float>::quiet_NaN()
                        : -std::numeric_limits<float>::infinity();
    for (unsigned threads : {1u, 3u})
      EXPECT_EQ(findNonFinite(values, threads), at);
  }
}
