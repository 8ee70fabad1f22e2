// SPDX-License-Identifier: Apache-2.0
//
// statistics.json. Section numbers refer to the README.md of the vectors.
#include "Golden.h"

#include "mct/Quantization/ExactSum.h"
#include "mct/Quantization/Histogram.h"
#include "mct/Quantization/Selection.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace mct::quantization;
using namespace mct::golden;

namespace {

/// The collector of calibration counts what MCT counted in each batch: its
/// bins lie elsewhere, so a count below an edge is known up to one bin.
void expectCollectorAgrees(const json::Object &recorded) {
  HistogramScratch scratch;
  Histogram all;
  float least = std::numeric_limits<float>::infinity(), most = -least;
  uint64_t total = 0;
  const json::Array &batches = *recorded.getArray("batches");
  for (size_t number = 0; number != batches.size(); ++number) {
    std::vector<float> batch = floats(&batches[number]);
    Histogram histogram;
    histogram.observe(batch.data(), batch.size(), scratch);
    all.merge(histogram);
    least = std::min(least, *std::min_element(batch.begin(), batch.end()));
    most = std::max(most, *std::max_element(batch.begin(), batch.end()));
    total += batch.size();

    const json::Object &expected =
        *(*recorded.getArray("per_batch"))[number].getAsObject();
    std::vector<double> edges = numbers(expected.get("edges"));
    std::vector<double> counts = numbers(expected.get("counts"));
    double below = 0;
    for (size_t edge = 0; edge != counts.size(); ++edge) {
      double surely = 0, perhaps = 0;
      for (int bin = 0, e = histogram.counts().size(); bin != e; ++bin) {
        double count = static_cast<double>(histogram.counts()[bin]);
        surely += histogram.binEdge(bin + 1) <= edges[edge] ? count : 0;
        perhaps += histogram.binEdge(bin) < edges[edge] ? count : 0;
      }
      if (edges[edge] > 0) {
        surely += static_cast<double>(histogram.zeros());
        perhaps += static_cast<double>(histogram.zeros());
      }
      EXPECT_LE(surely, below) << "batch " << number << " edge " << edge;
      EXPECT_GE(perhaps, below) << "batch " << number << " edge " << edge;
      below += counts[edge];
    }
  }
  EXPECT_EQ(all.min(), least);
  EXPECT_EQ(all.max(), most);
  EXPECT_EQ(all.count(), total);
}

void checkMeans(const json::Object &recorded) {
  size_t axis = *recorded.getInteger("axis");
  const json::Array &batches = *recorded.getArray("batches");
  ChannelStatistics all;
  std::vector<double> meanOfMeans, sums;
  double elements = 0;
  for (size_t number = 0; number != batches.size(); ++number) {
    std::vector<float> batch = floats(&batches[number]);
    std::vector<int64_t> shape =
        integers(&(*recorded.getArray("batch_shapes"))[number]);
    // The collector takes the channel last.
    size_t channels = shape[axis], inner = 1;
    for (size_t i = axis + 1; i != shape.size(); ++i)
      inner *= shape[i];
    std::vector<float> rows(batch.size());
    size_t outer = batch.size() / (channels * inner);
    sums.resize(channels, 0.0);
    for (size_t o = 0; o != outer; ++o)
      for (size_t c = 0; c != channels; ++c)
        for (size_t i = 0; i != inner; ++i) {
          float value = batch[(o * channels + c) * inner + i];
          rows[(o * inner + i) * channels + c] = value;
          sums[c] += value;
        }
    elements += static_cast<double>(outer * inner);
    ChannelStatistics statistics;
    statistics.observe(rows.data(), outer * inner, channels);
    all.merge(statistics);
    meanOfMeans.resize(channels, 0.0);
    for (size_t c = 0; c != channels; ++c)
      meanOfMeans[c] += statistics.channels()[c].mean() / batches.size();
  }
  std::vector<double> mean = numbers(recorded.get("mean"));
  std::vector<double> least = numbers(recorded.get("min_per_channel"));
  std::vector<double> most = numbers(recorded.get("max_per_channel"));
  ASSERT_EQ(all.channels().size(), mean.size());
  for (size_t c = 0; c != mean.size(); ++c) {
    // MCT weighs every batch alike, whatever its size; of one batch the means
    // agree. Ours is the mean of all elements.
    EXPECT_NEAR(meanOfMeans[c], mean[c], 1e-9 * std::fabs(mean[c])) << c;
    EXPECT_NEAR(all.channels()[c].mean(), sums[c] / elements,
                1e-12 * (1 + std::fabs(sums[c])))
        << c;
    EXPECT_EQ(all.channels()[c].min, least[c]) << c;
    EXPECT_EQ(all.channels()[c].max, most[c]) << c;
  }
}

/// A bin is its left edge, as in MCT.
void checkFilter(const json::Object &recorded) {
  std::vector<double> edges = numbers(recorded.get("edges"));
  std::vector<double> counts = numbers(recorded.get("counts"));
  std::vector<double> expected = numbers(recorded.get("filtered_counts"));
  std::vector<Atom> atoms, remaining;
  for (size_t bin = 0; bin != counts.size(); ++bin) {
    if (counts[bin] > 0)
      atoms.push_back({edges[bin], counts[bin]});
    if (expected[bin] > 0)
      remaining.push_back({edges[bin], expected[bin]});
  }
  std::vector<Atom> found =
      withoutOutliers(atoms, number(recorded.get("z_threshold")));
  ASSERT_EQ(found.size(), remaining.size());
  for (size_t i = 0; i != found.size(); ++i) {
    EXPECT_EQ(found[i].value, remaining[i].value);
    EXPECT_EQ(found[i].weight, remaining[i].weight);
  }
}

TEST(GoldenStatistics, CollectorsAgreeWithMct) {
  File file("statistics.json");
  MCT_REQUIRE_GOLDEN(file);
  Report report;
  for (const json::Object *recorded : file.objects("cases")) {
    std::string kind = text(*recorded, "kind");
    if (kind == "weighted_histogram") {
      report.skip("statistics " + kind, "calibration weighs no values");
      continue;
    }
    report.check("statistics " + kind, text(*recorded, "id"), [&] {
      if (kind == "mean_min_max")
        return checkMeans(*recorded);
      if (kind == "z_filter")
        return checkFilter(*recorded);
      ASSERT_EQ(kind, "histogram") << "no rule for this kind";
      expectCollectorAgrees(*recorded);
    });
  }
}

} // namespace
