// SPDX-License-Identifier: Apache-2.0
//
// weight_params.json. Section numbers refer to the README.md of the vectors.
#include "Selection.h"

#include "mct/Quantization/Lut.h"
#include "mct/Quantizers/Channels.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

using namespace mct::quantization;
using namespace mct::golden;

namespace {

using Key = std::tuple<std::string, std::string, int64_t, bool>;
Key keyOf(const json::Object &object) {
  return {text(object, "tensor"), text(object, "method"),
          *object.getInteger("n_bits"), *object.getBoolean("per_channel")};
}

/// One channel of a case.
struct Row {
  const json::Object &recorded;
  size_t channel;
  std::vector<double> values;
  const SelectedParameters &selected;
  const SelectionOptions &options;
  Metric metric;
  const json::Object *optimum; // or null

  double mct(const std::string &key) const {
    const json::Array *list = recorded.getObject("mct")->getArray(key);
    return list ? number(&(*list)[channel]) : std::nan("");
  }
};

void checkNoClipping(const Row &row) {
  if (row.options.kind != QuantizationMethod::Uniform) {
    expectNear(row.selected.threshold, row.mct("threshold"),
               row.options.kind == QuantizationMethod::PowerOfTwo ? 0 : 1e-6);
    return;
  }
  double low = 0, high = 0;
  for (double x : row.values) {
    low = std::min(low, x);
    high = std::max(high, x);
  }
  if (low == high)
    return; // all zero: MCT stores an empty range
  UniformParameters expected =
      uniformParametersForRange(low, high, row.options.bits);
  expectNear(row.selected.step, expected.step, 1e-6);
  EXPECT_EQ(row.selected.zeroPoint, expected.zeroPoint);
  if (!hasAnyDefect(row.recorded)) {
    expectNear(row.mct("range_min"), low, 1e-6);
    expectNear(row.mct("range_max"), high, 1e-6);
  }
}

/// Largest excess of an exact search over the recorded optimum.
double worst = 0;

void checkRow(const Row &row) {
  Grid grid = gridFor(row.selected, row.options);
  expectUsable(grid);
  double square = meanPower(row.values);
  double slack = slackOf(square, row.metric);
  double error = meanError(grid, row.values, {}, row.metric.power);
  EXPECT_LE(std::fabs(error - row.selected.error), 1e-6 * error + slack)
      << "the reported error is not that of the grid";
  if (row.options.errorMethod == ErrorMethod::NoClipping)
    return checkNoClipping(row);

  // NaN where MCT stored an empty range.
  double mctError = row.mct(row.metric.key + "_per_channel");
  if (!std::isnan(mctError))
    EXPECT_LE(error, mctError * (1 + 1e-6) + slack);
  if (row.options.kind == QuantizationMethod::PowerOfTwo) {
    if (!hasDefect(row.recorded, "pot_tie_takes_largest"))
      EXPECT_EQ(row.selected.threshold, row.mct("threshold"));
    else if (row.options.errorMethod == ErrorMethod::MSE)
      EXPECT_TRUE(llvm::is_contained(
          numbers(&(*row.optimum->getArray("ties"))[row.channel]),
          row.selected.threshold))
          << row.selected.threshold;
    return;
  }
  if (row.options.errorMethod != ErrorMethod::MSE || !row.optimum)
    return;
  double exact =
      number(&(*row.optimum->getArray("mse_per_channel"))[row.channel]);
  if (exact <= 1e-13 * square) {
    EXPECT_LE(error, 1e-12 * square);
    return;
  }
  EXPECT_LE(error, exact * (1 + 1e-3) + slack);
  worst = std::max(worst, error / exact - 1);
}

void checkTable(const json::Object &recorded, llvm::ArrayRef<float> data,
                llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> axes) {
  SelectionOptions options = optionsOf(recorded);
  const json::Object &mct = *recorded.getObject("mct");
  double square = meanPower(std::vector<double>(data.begin(), data.end()));
  double slack = 1e-12 * square;
  double mctError = number(mct.get("mse"));
  std::vector<double> thresholds = numbers(mct.get("threshold"));
  LutParameters selected = selectLut(data, shape, axes, options, 1);
  LutParameters atThresholds =
      bestLutTable(data, shape, axes, thresholds, options);
  for (const LutParameters &found : {selected, atThresholds}) {
    EXPECT_LE(found.error, mctError * (1 + 1e-6) + slack);
    EXPECT_TRUE(llvm::is_contained(found.table, 0));
    EXPECT_LE(found.table.size(), size_t(1) << options.bits);
    for (double threshold : found.thresholds)
      EXPECT_TRUE(std::isfinite(threshold) && threshold > 0);
  }
  if (const json::Object *exact =
          recorded.getObject("exact_lut_optimum_at_mct_threshold"))
    EXPECT_LE(atThresholds.error,
              number(exact->get("mse")) * (1 + 1e-6) + slack);
}

TEST(GoldenWeightParameters, ReachMctAndTheExactOptimum) {
  File file("weight_params.json");
  MCT_REQUIRE_GOLDEN(file);
  std::map<std::string, const json::Object *> tensors;
  for (const json::Object *tensor : file.objects("tensors"))
    tensors[text(*tensor, "id")] = tensor;
  std::map<Key, const json::Object *> optima;
  for (const json::Object *optimum : file.objects("exact_optima"))
    optima[keyOf(*optimum)] = optimum;
  using DenseKey = std::pair<Key, std::pair<std::string, double>>;
  std::map<DenseKey, double> denseOptima;
  for (const json::Object *dense : file.objects("dense_optima"))
    denseOptima[{keyOf(*dense),
                 {text(*dense, "error_method"), number(dense->get("p"))}}] =
        number(dense->get("error"));

  Report report;
  for (const json::Object *recorded : file.objects("cases")) {
    std::string error = text(*recorded, "error_method");
    std::string family = "weights " + text(*recorded, "method") + " " + error;
    if (error == "KL") {
      report.skip(family, "KL of MCT is not to be matched");
      continue;
    }
    const json::Object &tensor = *tensors[text(*recorded, "tensor")];
    std::vector<float> data = floats(tensor.get("data"));
    std::vector<int64_t> shape = integers(tensor.get("shape")), axes;
    if (*recorded->getBoolean("per_channel"))
      axes.push_back(*recorded->getInteger("channel_axis"));
    SelectionOptions options = optionsOf(*recorded);
    report.check(family, text(*recorded, "id"), [&] {
      if (isTable(*recorded))
        return checkTable(*recorded, data, shape, axes);
      std::vector<SelectedParameters> selected =
          selectPerChannel(data, shape, axes, options, 1);
      std::vector<float> rows = gatherChannels(data, shape, axes);
      size_t length = rows.size() / selected.size();
      auto optimum = optima.find(keyOf(*recorded));
      Metric metric = metricOf(*recorded);
      for (size_t channel = 0; channel != selected.size(); ++channel) {
        SCOPED_TRACE(channel);
        checkRow({*recorded,
                  channel,
                  {rows.begin() + channel * length,
                   rows.begin() + (channel + 1) * length},
                  selected[channel],
                  options,
                  metric,
                  optimum == optima.end() ? nullptr : optimum->second});
      }
      auto dense = denseOptima.find(
          {keyOf(*recorded),
           {error, error == "MAE" ? 1.0 : number(recorded->get("p"))}});
      if (dense != denseOptima.end())
        EXPECT_LE(selected[0].error, 1.001 * dense->second);
    });
  }
  std::printf("  largest MSE above the recorded optimum: %.2e\n", worst);
}

} // namespace
