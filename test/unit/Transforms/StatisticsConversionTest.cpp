// SPDX-License-Identifier: Apache-2.0
#include "mct/Transforms/StatisticsConversion.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace mct;
using quantization::Histogram;

namespace {

/// Values 1, 2, 3, … as often as `counts` says.
llvm::Expected<Histogram> makeHistogram(std::vector<uint64_t> counts) {
  std::vector<float> values;
  for (size_t i = 0; i != counts.size(); ++i)
    values.push_back(float(i + 1));
  Histogram histogram;
  quantization::HistogramScratch scratch;
  histogram.observe(values.data(), values.size(), scratch);
  Histogram::Parts parts = histogram.parts();
  size_t next = 0;
  for (auto &count : parts.counts)
    if (count != 0)
      count = counts[next++];
  return Histogram::fromParts(parts);
}

TEST(StatisticsConversion, CountsAreStoredInTheNarrowestTypeThatHoldsThem) {
  MLIRContext context;
  context.loadDialect<tpc::TpcDialect>();
  uint64_t largest = std::numeric_limits<int32_t>::max();
  for (auto [counts, width] :
       {std::pair(std::vector<uint64_t>{1, 2, largest}, 32u),
        {{1, 2, largest + 1}, 64u},
        {{5000000000, 1, 3}, 64u}}) {
    llvm::Expected<Histogram> histogram = makeHistogram(counts);
    ASSERT_TRUE(bool(histogram));
    tpc::StatisticsAttr stored =
        createStatistics(&context, *histogram, nullptr, "x");
    ElementsAttr elements = stored.getHistogram().getCounts();
    EXPECT_TRUE(elements.getElementType().isInteger(width));
    // Bins between the values are empty, so that the counts are not inline.
    EXPECT_TRUE(isa<DenseResourceElementsAttr>(elements));
    llvm::Expected<Histogram> read = readHistogram(stored);
    ASSERT_TRUE(bool(read)) << llvm::toString(read.takeError());
    EXPECT_EQ(read->parts().counts, histogram->parts().counts);
    EXPECT_EQ(read->count(), counts[0] + counts[1] + counts[2]);
  }
}

} // namespace
