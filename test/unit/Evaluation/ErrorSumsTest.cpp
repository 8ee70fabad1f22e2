// SPDX-License-Identifier: Apache-2.0
#include "mct/Evaluation/EvaluationTotals.h"
#include "gtest/gtest.h"
#include <cmath>
#include <random>

using namespace mct::execution;

namespace {
/// Values of samples whose sums of squares differ by many orders of magnitude,
/// so that doubles round when they are added.
std::vector<ErrorSums> makeSums(size_t samples) {
  std::mt19937 generator(3);
  std::vector<ErrorSums> all(samples);
  for (ErrorSums &sums : all) {
    std::vector<float> values(5), references(5);
    float scale = std::ldexp(1.0f, int(generator() % 60) - 30);
    for (auto *each : {&values, &references})
      for (float &value : *each)
        value = scale * (float(generator() % 2001) - 1000.0f) / 1000.0f;
    sums.add(values, references);
  }
  return all;
}
} // namespace

TEST(ErrorSums, ExactSumsAreTheSameInAnyOrderAndDivision) {
  std::vector<ErrorSums> all = makeSums(200);
  ExactErrorSums whole, parts[3];
  ErrorSums forwards, backwards;
  for (size_t index = 0; index != all.size(); ++index) {
    whole.add(all[index]);
    parts[index % 3].add(all[all.size() - 1 - index]);
    forwards.merge(all[index]);
    backwards.merge(all[all.size() - 1 - index]);
  }
  // The test could not fail otherwise.
  EXPECT_NE(forwards.error, backwards.error);
  parts[2].merge(parts[0]);
  parts[2].merge(parts[1]);
  EXPECT_EQ(whole.toText(), parts[2].toText());
  EXPECT_EQ(whole.round().error, parts[2].round().error);
  EXPECT_NEAR(whole.round().error, forwards.error, 1e-12 * forwards.error);
}

TEST(ErrorSums, SamplesOfAUnitAreAddedOneByOne) {
  std::vector<float> values = {1e8f, 1, -1, 3e-5f, 2, 7},
                     references = {1e8f, 2, 0, 1, -2, 6.5f};
  llvm::ArrayRef<float> all(values), wanted(references);
  ExactErrorSums unit, samples, elements, reversed;
  unit.add(all, wanted, /*samples=*/3);
  for (size_t sample : {2, 0, 1})
    samples.add(all.slice(2 * sample, 2), wanted.slice(2 * sample, 2), 1);
  EXPECT_EQ(unit.toText(), samples.toText());
  elements.add(all, wanted, /*samples=*/0);
  reversed.add(all.drop_front(3), wanted.drop_front(3), 0);
  reversed.add(all.take_front(3), wanted.take_front(3), 0);
  EXPECT_EQ(elements.toText(), reversed.toText());
}

TEST(ErrorSums, TextHasEverySumAndWhatIsNotFinite) {
  ExactErrorSums sums;
  sums.add(makeSums(1).front());
  ErrorSums infinite;
  infinite.add({INFINITY}, {1.0f});
  sums.add(infinite);
  ErrorSums rounded =
      llvm::cantFail(ExactErrorSums::fromText(sums.toText())).round();
  EXPECT_EQ(rounded.reference, sums.round().reference);
  EXPECT_EQ(rounded.value, INFINITY);
  EXPECT_EQ(rounded.largest, INFINITY);
  EXPECT_EQ(rounded.sqnr(), -INFINITY);
  for (const char *text : {"", "0 0 0 0", "0 0 0 0 g", "x 0 0 0 0"}) {
    auto read = ExactErrorSums::fromText(text);
    EXPECT_FALSE(bool(read)) << text;
    llvm::consumeError(read.takeError());
  }
}

TEST(ErrorSums, RowsOfAMetricDoNotDependOnTheOrderOfTheSamples) {
  MetricTotals first{{1, {1, 0, 1}}, MetricRows{1, {1, 1, 0}}},
      second{{1, {0, 1}}, MetricRows{1, {1, 1}}},
      whole{{1, {0, 1, 0, 1, 1}}, MetricRows{1, {1, 1, 1, 0, 1}}};
  whole.sort();
  llvm::cantFail(second.merge(first));
  EXPECT_EQ(whole.rows.values, second.rows.values);
  EXPECT_EQ(whole.reference->values, second.reference->values);
  llvm::json::Object written = whole.toJson();
  // Two rows are 0 beside 1, one is 1 beside 0, and two are 1 beside 1.
  EXPECT_EQ(llvm::json::Value(llvm::json::Array(*written.getArray("counts"))),
            llvm::json::Value(llvm::json::Array{2, 1, 2}));
  MetricTotals read = llvm::cantFail(MetricTotals::fromJson(written));
  EXPECT_EQ(read.rows.values, whole.rows.values);
  EXPECT_EQ(read.reference->values, whole.reference->values);
  written["length"] = 2;
  auto damaged = MetricTotals::fromJson(written);
  ASSERT_FALSE(bool(damaged));
  EXPECT_EQ(llvm::toString(damaged.takeError()),
            "expected 'length', 'has_reference', and as many rows in 'bits' as "
            "there are 'counts'");
}
