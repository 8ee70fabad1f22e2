// SPDX-License-Identifier: Apache-2.0
//
// activation_params.json. Section numbers refer to the README.md of the
// vectors.
#include "Selection.h"

#include "mct/Quantization/Histogram.h"
#include "mct/Quantization/Lut.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace mct::quantization;
using namespace mct::golden;

namespace {

/// The populated bins that MCT searched over: its edges, and the counts after
/// its z filter.
struct RecordedBins {
  std::vector<double> left, right, counts;

  RecordedBins(const json::Object &histogram, const json::Object &recorded) {
    if (!histogram.getArray("counts"))
      return;
    std::vector<double> all = numbers(histogram.get("counts"));
    for (int64_t removed : integers(recorded.get("removed_bins")))
      all[removed] = 0;
    double low = *histogram.getNumber("edge_lo");
    double high = *histogram.getNumber("edge_hi");
    double width = (high - low) / static_cast<double>(all.size());
    for (size_t i = 0; i != all.size(); ++i) {
      if (all[i] == 0)
        continue;
      left.push_back(low + static_cast<double>(i) * width);
      right.push_back(i + 1 == all.size()
                          ? high
                          : low + static_cast<double>(i + 1) * width);
      counts.push_back(all[i]);
    }
  }
};

/// Statistics that our collector made of the recorded batches.
struct Samples {
  std::vector<double> values;
  Histogram histogram;
};

struct Case {
  const json::Object &recorded;
  const json::Object &histogram;
  const json::Object &mct;
  const json::Object *optimum; // or null
  const Samples *samples;      // or null
  SelectionOptions options;
  Metric metric;
  bool mctSigned;

  bool isPowerOfTwo() const {
    return options.kind == QuantizationMethod::PowerOfTwo;
  }
  double mctThreshold() const { return number(mct.get("threshold")); }
};

struct Worst {
  double toMct = 0, toExact = 0, onHistogram = 0;
};
Worst worst;

void expectUniformRange(const Case &test, const SelectedParameters &selected) {
  UniformParameters expected = uniformParametersForRange(
      *test.mct.getNumber("range_min"), *test.mct.getNumber("range_max"),
      test.options.bits);
  expectNear(selected.step, expected.step, 1e-6);
  EXPECT_EQ(selected.zeroPoint, expected.zeroPoint);
}

void checkBounded(const Case &test) {
  double lo = *test.histogram.getNumber("prior_min");
  double hi = *test.histogram.getNumber("prior_max");
  SelectedParameters selected = selectForBounds(lo, hi, test.options);
  if (test.options.kind == QuantizationMethod::Uniform)
    return expectUniformRange(test, selected);
  EXPECT_EQ(test.mctSigned, lo < 0);
  double expected = test.mctThreshold();
  if (hasDefect(test.recorded, "bounded_ignores_lower_bound")) {
    double largest = std::max(-lo, hi);
    expected = test.isPowerOfTwo() ? std::exp2(std::ceil(std::log2(largest)))
                                   : largest;
  }
  expectNear(selected.threshold, expected, test.isPowerOfTwo() ? 0 : 1e-6);
}

/// The rule, applied to the recorded edges: MCT's range is that of its
/// populated bins.
void checkNoClipping(const Case &test, const RecordedBins &bins) {
  if (test.options.kind == QuantizationMethod::Uniform)
    return expectUniformRange(
        test,
        selectForBounds(bins.left.front(), bins.right.back(), test.options));
  double largest = 0;
  for (double right : bins.right)
    largest = std::max(largest, std::fabs(right));
  expectNear(selectForBounds(0, largest, test.options).threshold,
             test.mctThreshold(), test.isPowerOfTwo() ? 0 : 1e-6);
}

/// MCT's own objective: every bin at its left edge.
void checkOnHistogram(const Case &test, const RecordedBins &bins) {
  std::vector<Atom> atoms;
  for (size_t i = 0; i != bins.counts.size(); ++i)
    atoms.push_back({bins.left[i], bins.counts[i]});
  SelectedParameters selected = selectForAtoms(atoms, test.options);
  Grid grid = gridFor(selected, test.options);
  expectUsable(grid);
  double error = meanError(grid, bins.left, bins.counts, test.metric.power);
  double slack = slackOf(meanPower(bins.left, bins.counts), test.metric);
  EXPECT_LE(std::fabs(error - selected.error), 1e-6 * error + slack)
      << "the reported error is not that of the grid";
  // A flag that we decide otherwise is another set of grids.
  bool sameGrids = test.options.kind == QuantizationMethod::Uniform ||
                   test.options.isSigned == test.mctSigned;
  double mctError = number(test.mct.get(test.metric.key + "_histogram"));
  if (!std::isnan(mctError) && sameGrids)
    EXPECT_LE(error, mctError * (1 + 1e-6) + slack);
  if (test.isPowerOfTwo() && !hasAnyDefect(test.recorded))
    EXPECT_EQ(selected.threshold, test.mctThreshold());
  const json::Object *exact =
      test.optimum ? test.optimum->getObject("on_histogram") : nullptr;
  double range = bins.right.back() - bins.left.front();
  if (!exact || !sameGrids || test.options.errorMethod != ErrorMethod::MSE ||
      !(number(exact->get("mse")) > 1e-13 * range * range))
    return;
  EXPECT_LE(error, number(exact->get("mse")) * 1.001);
  worst.onHistogram =
      std::max(worst.onHistogram, error / number(exact->get("mse")) - 1);
}

/// Found by our collector from the recorded batches, judged on the samples.
void checkOnSamples(const Case &test) {
  const Samples &samples = *test.samples;
  if (text(test.recorded, "signedness") == "AUTO" &&
      test.mct.getBoolean("is_signed") && !hasAnyDefect(test.recorded))
    EXPECT_EQ(samples.histogram.min() < 0, test.mctSigned);
  auto selected = selectForHistogram(samples.histogram, test.options);
  ASSERT_TRUE(bool(selected)) << llvm::toString(selected.takeError());
  Grid grid = gridFor(*selected, test.options);
  expectUsable(grid);
  double error = meanError(grid, samples.values, {}, test.metric.power);
  double square = meanPower(samples.values);
  double slack = slackOf(square, test.metric);
  const json::Object *exact =
      test.optimum && test.options.errorMethod == ErrorMethod::MSE
          ? test.optimum->getObject("on_samples")
          : nullptr;
  if (test.isPowerOfTwo()) {
    bool otherFlag = hasDefect(test.recorded, "constant_batch_flips_sign");
    if (otherFlag || hasDefect(test.recorded, "pot_start_unpopulated_edges") ||
        hasDefect(test.recorded, "pot_tie_takes_largest")) {
      if (exact && exact->getArray("ties") && !otherFlag)
        EXPECT_TRUE(llvm::is_contained(numbers(exact->get("ties")),
                                       selected->threshold))
            << selected->threshold;
    } else {
      EXPECT_EQ(selected->threshold, test.mctThreshold());
    }
  }
  double mctError = number(test.mct.get(test.metric.key + "_samples"));
  if (!std::isnan(mctError)) {
    EXPECT_LE(error, mctError * 1.005 + slack);
    if (mctError > slack)
      worst.toMct = std::max(worst.toMct, error / mctError - 1);
  }
  // Above 8 bits a bin is wider than a step, so the error must only not exceed
  // that without clipping.
  if (test.options.bits > 8) {
    SelectionOptions covering = test.options;
    covering.errorMethod = ErrorMethod::NoClipping;
    auto range = selectForHistogram(samples.histogram, covering);
    ASSERT_TRUE(bool(range)) << llvm::toString(range.takeError());
    EXPECT_LE(error, meanError(gridFor(*range, covering), samples.values, {},
                               test.metric.power) +
                         slack);
  }
  if (!exact)
    return;
  double optimum = number(exact->get("mse"));
  if (optimum <= 1e-13 * square) {
    EXPECT_LE(error, 1e-12 * square);
  } else {
    EXPECT_LE(error, optimum * 1.01 + slack);
    worst.toExact = std::max(worst.toExact, error / optimum - 1);
  }
}

/// Checks a table without zero in it by force, as MCT; at its threshold, and
/// with ours.
void checkTable(const Case &test, const RecordedBins &bins) {
  ASSERT_FALSE(bins.counts.empty()) << "nothing recorded";
  std::vector<Atom> atoms;
  for (size_t i = 0; i != bins.counts.size(); ++i)
    atoms.push_back({bins.left[i], bins.counts[i]});
  double slack = slackOf(meanPower(bins.left, bins.counts), test.metric);
  double mctError = number(test.mct.get("mse_histogram"));
  for (const LutParameters &found :
       {bestLutTableForAtoms(atoms, test.mctThreshold(), test.options),
        selectLutForAtoms(atoms, test.options)}) {
    EXPECT_LE(found.error, mctError * (1 + 1e-6) + slack);
    EXPECT_LE(found.table.size(), size_t(1) << test.options.bits);
    double threshold = found.thresholds.front();
    EXPECT_TRUE(std::isfinite(threshold) && threshold > 0);
    // A power of two.
    EXPECT_EQ(std::ldexp(1.0, std::ilogb(threshold)), threshold);
  }
}

TEST(GoldenActivationParameters, ReachMctAndTheExactOptimum) {
  File file("activation_params.json");
  MCT_REQUIRE_GOLDEN(file);
  std::map<std::string, const json::Object *> histograms, optima;
  std::map<std::string, Samples> samples;
  HistogramScratch scratch;
  for (const json::Object *histogram : file.objects("histograms")) {
    std::string id = text(*histogram, "id");
    histograms[id] = histogram;
    if (const json::Array *batches = histogram->getArray("batches"))
      for (const json::Value &batch : *batches) {
        std::vector<float> part = floats(&batch);
        samples[id].histogram.observe(part.data(), part.size(), scratch);
        samples[id].values.insert(samples[id].values.end(), part.begin(),
                                  part.end());
      }
  }
  for (const json::Object *optimum : file.objects("exact_optima"))
    optima[text(*optimum, "id")] = optimum;

  Report report;
  for (const json::Object *recorded : file.objects("cases")) {
    std::string histogram = text(*recorded, "histogram");
    std::string error = text(*recorded, "error_method");
    std::string family =
        "activations " + text(*recorded, "method") + " " + error;
    bool bounded = recorded->getBoolean("bounded").value_or(false);
    if (error == "KL" && !bounded) {
      report.skip(family, "KL of MCT is not to be matched");
      continue;
    }
    const json::Object &mct = *recorded->getObject("mct");
    auto optimum = optima.find(text(*recorded, "exact_optimum"));
    auto stored = samples.find(histogram);
    Case test = {*recorded, *histograms[histogram], mct,
                 optimum == optima.end() ? nullptr : optimum->second,
                 stored == samples.end() ? nullptr : &stored->second,
                 optionsOf(*recorded), metricOf(*recorded),
                 // Uniform grids have no flag.
                 mct.getBoolean("is_signed").value_or(true)};
    test.options.zThreshold = number(recorded->get("z_threshold"));
    test.options.isSigned = test.mctSigned;
    if (hasDefect(*recorded, "constant_batch_flips_sign") && test.samples)
      test.options.isSigned = test.samples->histogram.min() < 0;
    report.check(family + (bounded ? ", bounded" : ""),
                 text(*recorded, "id") + " of " + histogram, [&] {
                   RecordedBins bins(test.histogram, *recorded);
                   if (isTable(*recorded)) {
                     test.options.zThreshold =
                         std::numeric_limits<double>::infinity();
                     return checkTable(test, bins);
                   }
                   if (bounded)
                     return checkBounded(test);
                   const json::Array *removed =
                       recorded->getArray("removed_bins");
                   bool filtered = removed && !removed->empty();
                   ASSERT_TRUE(!bins.counts.empty() || test.samples)
                       << "nothing recorded";
                   if (test.options.errorMethod == ErrorMethod::NoClipping) {
                     if (!bins.counts.empty())
                       checkNoClipping(test, bins);
                     return;
                   }
                   // The recorded counts are filtered already.
                   Case onHistogram = test;
                   onHistogram.options.zThreshold =
                       std::numeric_limits<double>::infinity();
                   if (!bins.counts.empty())
                     checkOnHistogram(onHistogram, bins);
                   // The part that the filter leaves of a histogram has no
                   // counterpart among the samples, which are recorded whole.
                   if (test.samples && !filtered)
                     checkOnSamples(test);
                 });
  }
  std::printf("  largest error above MCT's on the samples %.2e; largest MSE "
              "above the optimum on the samples %.2e, on MCT's histograms "
              "%.2e\n",
              worst.toMct, worst.toExact, worst.onHistogram);
}

} // namespace
