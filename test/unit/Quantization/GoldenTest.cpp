// SPDX-License-Identifier: Apache-2.0
//
// Compares with the golden vectors (recorded runs of MCT 2.6.1 and
// mct-quantizers 1.7.0). The rules are those of their README.md; section
// numbers below refer to it.

#include "mct/Quantization/Channels.h"
#include "mct/Quantization/Grid.h"
#include "mct/Quantization/Histogram.h"
#include "mct/Quantization/Selection.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <string>

using namespace mct::quantization;
namespace json = llvm::json;

namespace {

std::string goldenFile(llvm::StringRef name) {
  const char *directory = std::getenv("MCT_GOLDEN_DIR");
  std::string path = directory ? directory : MCT_SOURCE_DIR "/../shared/golden";
  return path + "/" + name.str();
}

/// Case counts by family, printed at the end of a test.
class Tally {
public:
  ~Tally() {
    for (const auto &[family, count] : counts)
      std::printf("  checked %5d  %s\n", count, family.c_str());
  }
  void add(const std::string &family) { ++counts[family]; }

private:
  std::map<std::string, int> counts;
};

double number(const json::Value *value) {
  if (!value)
    return std::nan("");
  if (auto result = value->getAsNumber())
    return *result;
  if (auto text = value->getAsString()) {
    if (*text == "inf")
      return std::numeric_limits<double>::infinity();
    if (*text == "-inf")
      return -std::numeric_limits<double>::infinity();
  }
  return std::nan("");
}

std::vector<double> numbers(const json::Value *value) {
  std::vector<double> result;
  if (!value)
    return result;
  if (const json::Array *array = value->getAsArray()) {
    for (const json::Value &element : *array)
      result.push_back(number(&element));
    return result;
  }
  return {number(value)};
}

std::vector<float> floats(const json::Value *value) {
  std::vector<double> wide = numbers(value);
  return std::vector<float>(wide.begin(), wide.end());
}

std::vector<int64_t> integers(const json::Value *value) {
  std::vector<double> wide = numbers(value);
  return std::vector<int64_t>(wide.begin(), wide.end());
}

bool hasDefect(const json::Object &object, llvm::StringRef label) {
  if (const json::Array *defects = object.getArray("known_defects"))
    for (const json::Value &defect : *defects)
      if (defect.getAsString() == label)
        return true;
  return false;
}

/// Sum of weight * |value - step * level|^power over sum of weights, as section
/// 2 wants it evaluated.
double meanError(const Grid &grid, double power, llvm::ArrayRef<double> values,
                 llvm::ArrayRef<double> weights = {}) {
  double sum = 0, total = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    double q = std::nearbyint(values[i] / grid.step) + grid.zeroPoint;
    q = std::clamp(q, double(grid.qmin), double(grid.qmax));
    double error = values[i] - grid.step * (q - grid.zeroPoint);
    double weight = weights.empty() ? 1.0 : weights[i];
    sum += weight * std::pow(std::fabs(error), power);
    total += weight;
  }
  return sum / total;
}

double meanSquare(llvm::ArrayRef<double> values,
                  llvm::ArrayRef<double> weights = {}) {
  double sum = 0, total = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    double weight = weights.empty() ? 1.0 : weights[i];
    sum += weight * values[i] * values[i];
    total += weight;
  }
  return sum / total;
}

/// What an error measures, and the names the golden vectors have for it.
struct Measure {
  double power;
  std::string name;
  /// What section 2 adds to the right-hand side of every rule.
  double slack(double square) const {
    return power == 1 ? 1e-6 * std::sqrt(square)
                      : std::pow(1e-6 * std::sqrt(square), power);
  }
};
Measure measureOf(const SelectionOptions &options) {
  switch (options.errorMethod) {
  case ErrorMethod::MAE:
    return {1, "mae"};
  case ErrorMethod::LP:
    return {options.lpNorm, "lp"};
  default:
    return {2, "mse"};
  }
}

struct Golden {
  json::Value root = nullptr;
  bool present = false;
  std::string path;
  explicit Golden(llvm::StringRef name) : path(goldenFile(name)) {
    auto buffer = llvm::MemoryBuffer::getFile(path);
    if (!buffer)
      return;
    auto parsed = json::parse((*buffer)->getBuffer());
    if (!parsed) {
      ADD_FAILURE() << path << ": " << llvm::toString(parsed.takeError());
      return;
    }
    root = std::move(*parsed);
    present = true;
  }
  const json::Array &array(llvm::StringRef key) const {
    return *root.getAsObject()->getArray(key);
  }
};

#define MCT_REQUIRE_GOLDEN(golden)                                             \
  if (!(golden).present)                                                       \
  GTEST_SKIP() << "no golden vectors at " << (golden).path                     \
               << "; set MCT_GOLDEN_DIR"

std::string caseFamily(const json::Object &object) {
  llvm::StringRef errorMethod = object.getString("error_method").value_or("");
  return object.getString("method")->str() +
         (errorMethod.empty() ? "" : " " + errorMethod.str()) + " " +
         llvm::utostr(*object.getInteger("n_bits")) + " bits";
}

SelectionOptions optionsOf(const json::Object &object) {
  SelectionOptions options;
  llvm::StringRef method = *object.getString("method");
  options.kind = method == "POT"         ? QuantizerKind::PowerOfTwo
                 : method == "SYMMETRIC" ? QuantizerKind::Symmetric
                                         : QuantizerKind::Uniform;
  options.bits = *object.getInteger("n_bits");
  llvm::StringRef errorMethod = *object.getString("error_method");
  options.errorMethod = errorMethod == "MSE"   ? ErrorMethod::MSE
                        : errorMethod == "MAE" ? ErrorMethod::MAE
                        : errorMethod == "LP"  ? ErrorMethod::LP
                                               : ErrorMethod::NoClipping;
  options.lpNorm = object.getNumber("p").value_or(2);
  options.minThreshold = object.getNumber("min_threshold").value_or(0x1p-16);
  return options;
}

bool isGridMethod(const json::Object &object) {
  llvm::StringRef method = *object.getString("method");
  return method == "POT" || method == "SYMMETRIC" || method == "UNIFORM";
}

bool isSelectionCase(const json::Object &object) {
  llvm::StringRef error = *object.getString("error_method");
  // KL: "no comparison with MCT at all".
  return isGridMethod(object) && error != "KL";
}

void expectNear(double actual, double expected, double relative,
                const std::string &what) {
  EXPECT_LE(std::fabs(actual - expected), relative * std::fabs(expected))
      << what << ": " << actual << " instead of " << expected;
}

void checkFakeQuantization(llvm::StringRef file) {
  Golden golden(file);
  MCT_REQUIRE_GOLDEN(golden);
  Tally tally;
  for (const json::Value &value : golden.array("cases")) {
    const json::Object &object = *value.getAsObject();
    if (!isGridMethod(object))
      continue;
    std::string id = object.getString("id")->str();
    unsigned bits = *object.getInteger("n_bits");
    bool isSigned = object.getBoolean("signed").value_or(true);
    std::vector<Grid> grids;
    if (*object.getString("method") == "UNIFORM") {
      std::vector<double> steps = numbers(object.get("scale"));
      std::vector<int64_t> zeroPoints = integers(object.get("zero_point"));
      for (size_t i = 0; i < steps.size(); ++i)
        grids.push_back(uniformGrid(steps[i], zeroPoints[i], bits));
    } else {
      for (double threshold : numbers(object.get("threshold")))
        grids.push_back(symmetricGrid(threshold, bits, isSigned));
    }
    std::vector<int64_t> axes;
    if (object.getBoolean("per_channel").value_or(false))
      axes.push_back(*object.getInteger("channel_axis"));
    std::vector<float> input = floats(object.get("input"));
    std::vector<float> expected = floats(object.get("output"));
    std::vector<float> output(input.size());
    fakeQuantizePerChannel(grids, integers(object.get("shape")), axes,
                           input.data(), output.data());
    int mismatches = 0;
    for (size_t i = 0; i < input.size(); ++i)
      mismatches += output[i] != expected[i]; // -0 == +0
    EXPECT_EQ(mismatches, 0) << id;
    tally.add(caseFamily(object));
  }
}

TEST(GoldenTest, ActivationFakeQuantizationMatchesBitForBit) {
  checkFakeQuantization("fakequant_activations.json");
}

TEST(GoldenTest, WeightFakeQuantizationMatchesBitForBit) {
  checkFakeQuantization("fakequant_weights.json");
}

using OptimumKey = std::tuple<std::string, std::string, int64_t, bool>;
OptimumKey optimumKey(const json::Object &object) {
  return {object.getString("tensor")->str(), object.getString("method")->str(),
          *object.getInteger("n_bits"), *object.getBoolean("per_channel")};
}

TEST(GoldenTest, WeightParametersReachMctAndTheExactOptimum) {
  Golden golden("weight_params.json");
  MCT_REQUIRE_GOLDEN(golden);
  std::map<std::string, const json::Object *> tensors;
  for (const json::Value &tensor : golden.array("tensors"))
    tensors[tensor.getAsObject()->getString("id")->str()] =
        tensor.getAsObject();
  std::map<OptimumKey, const json::Object *> optima;
  for (const json::Value &optimum : golden.array("exact_optima"))
    optima[optimumKey(*optimum.getAsObject())] = optimum.getAsObject();
  // By tensor, kind, bits, channels, error method and p.
  using DenseKey = std::pair<OptimumKey, std::pair<std::string, double>>;
  auto denseKey = [](const json::Object &object) -> DenseKey {
    std::string method = object.getString("error_method")->str();
    double p = method == "LP" ? *object.getNumber("p") : 0;
    return {optimumKey(object), {method, p}};
  };
  std::map<DenseKey, double> denseOptima;
  for (const json::Value &optimum : golden.array("dense_optima"))
    denseOptima[denseKey(*optimum.getAsObject())] =
        *optimum.getAsObject()->getNumber("error");

  Tally tally;
  double worst = 0;
  for (const json::Value &value : golden.array("cases")) {
    const json::Object &object = *value.getAsObject();
    if (!isSelectionCase(object))
      continue;
    const json::Object &tensor = *tensors[object.getString("tensor")->str()];
    std::vector<float> data = floats(tensor.get("data"));
    std::vector<int64_t> shape = integers(tensor.get("shape"));
    std::vector<int64_t> axes;
    if (*object.getBoolean("per_channel"))
      axes.push_back(*object.getInteger("channel_axis"));
    SelectionOptions options = optionsOf(object);
    std::vector<SelectedParameters> selected =
        selectPerChannel(data, shape, axes, options, 1);
    std::vector<float> rows = gatherChannels(data, shape, axes);
    size_t rowLength = rows.size() / selected.size();
    std::string id = object.getString("id")->str();
    const json::Object &mct = *object.getObject("mct");
    std::vector<double> thresholds = numbers(mct.get("threshold"));
    Measure measure = measureOf(options);
    bool squared = measure.power == 2;
    std::vector<double> mctErrors =
        numbers(mct.get(measure.name + "_per_channel"));
    auto optimum = optima.find(optimumKey(object));
    std::vector<double> exact;
    if (optimum != optima.end() && squared)
      exact = numbers(optimum->second->get("mse_per_channel"));
    double dense = std::numeric_limits<double>::infinity();
    if (auto found = denseOptima.find(denseKey(object));
        found != denseOptima.end())
      dense = found->second;
    bool searched = options.errorMethod != ErrorMethod::NoClipping;
    tally.add(caseFamily(object));

    for (size_t channel = 0; channel < selected.size(); ++channel) {
      const SelectedParameters &parameters = selected[channel];
      std::string what = id + " channel " + std::to_string(channel);
      std::vector<double> row(rows.begin() + channel * rowLength,
                              rows.begin() + (channel + 1) * rowLength);
      Grid grid = gridFor(parameters, options);
      ASSERT_TRUE(std::isfinite(grid.step) && grid.step > 0) << what;
      float zero = 0, quantizedZero = 1;
      fakeQuantize(grid, &zero, &quantizedZero, 1);
      EXPECT_EQ(quantizedZero, 0) << what;
      double error = meanError(grid, measure.power, row);
      double square = meanSquare(row);
      double slack = measure.slack(square);
      EXPECT_LE(std::fabs(error - parameters.error), 1e-6 * error + slack)
          << what << ": the reported error is not that of the grid";

      if (!searched && options.kind == QuantizerKind::Uniform) {
        double low = 0, high = 0;
        for (double x : row) {
          low = std::min(low, x);
          high = std::max(high, x);
        }
        if (low == high)
          continue;
        UniformParameters expected =
            uniformParametersForRange(low, high, options.bits);
        expectNear(parameters.step, expected.step, 1e-6, what);
        EXPECT_EQ(parameters.zeroPoint, expected.zeroPoint) << what;
        // The same from MCT's recorded range, where that is not defective.
        if (!object.getArray("known_defects")) {
          expectNear(number(&(*mct.getArray("range_min"))[channel]), low, 1e-6,
                     what);
          expectNear(number(&(*mct.getArray("range_max"))[channel]), high, 1e-6,
                     what);
        }
        continue;
      }
      if (!searched) {
        expectNear(parameters.threshold, thresholds[channel],
                   options.kind == QuantizerKind::PowerOfTwo ? 0 : 1e-6, what);
        continue;
      }
      if (options.kind == QuantizerKind::PowerOfTwo) {
        if (!hasDefect(object, "pot_tie_takes_largest")) {
          EXPECT_EQ(parameters.threshold, thresholds[channel]) << what;
        } else if (squared) {
          std::vector<double> ties =
              numbers(&(*optimum->second->getArray("ties"))[channel]);
          EXPECT_TRUE(llvm::is_contained(ties, parameters.threshold))
              << what << ": " << parameters.threshold;
        }
      }
      EXPECT_LE(error, dense * 1.001 + slack) << what;
      // MCT's error is NaN where it stored an empty range.
      if (!std::isnan(mctErrors[channel]))
        EXPECT_LE(error, mctErrors[channel] * (1 + 1e-6) + slack) << what;
      if (exact.empty() || options.kind == QuantizerKind::PowerOfTwo)
        continue;
      if (exact[channel] <= 1e-13 * square) {
        EXPECT_LE(error, 1e-12 * square) << what;
        continue;
      }
      EXPECT_LE(error, exact[channel] * (1 + 1e-3) + slack) << what;
      worst = std::max(worst, error / exact[channel] - 1);
    }
  }
  std::printf("  largest error above the recorded optimum: %.2e\n", worst);
}

/// The populated bins MCT searched over: its edges, and counts after its z
/// filter.
struct RecordedBins {
  std::vector<double> left, right, counts;
};

RecordedBins recordedBins(const json::Object &histogram,
                          const json::Object &object) {
  RecordedBins bins;
  std::vector<double> counts = numbers(histogram.get("counts"));
  if (!histogram.getArray("counts"))
    return bins;
  for (int64_t removed : integers(object.get("removed_bins")))
    counts[removed] = 0;
  double low = *histogram.getNumber("edge_lo");
  double high = *histogram.getNumber("edge_hi");
  double width = (high - low) / counts.size();
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0)
      continue;
    bins.left.push_back(low + i * width);
    bins.right.push_back(i + 1 == counts.size() ? high : low + (i + 1) * width);
    bins.counts.push_back(counts[i]);
  }
  return bins;
}

struct Samples {
  std::vector<float> values;
  std::vector<double> wide;
  Histogram histogram;
};

TEST(GoldenTest, ActivationParametersReachMctAndTheExactOptimum) {
  Golden golden("activation_params.json");
  MCT_REQUIRE_GOLDEN(golden);
  std::map<std::string, const json::Object *> histograms;
  std::map<std::string, Samples> samples;
  HistogramScratch scratch;
  for (const json::Value &value : golden.array("histograms")) {
    const json::Object &object = *value.getAsObject();
    std::string id = object.getString("id")->str();
    histograms[id] = &object;
    if (const json::Array *batches = object.getArray("batches")) {
      Samples &entry = samples[id];
      for (const json::Value &batch : *batches) {
        std::vector<float> part = floats(&batch);
        entry.histogram.observe(part.data(), part.size(), scratch);
        entry.values.insert(entry.values.end(), part.begin(), part.end());
      }
      entry.wide.assign(entry.values.begin(), entry.values.end());
    }
  }
  std::map<std::string, const json::Object *> optima;
  for (const json::Value &optimum : golden.array("exact_optima"))
    optima[optimum.getAsObject()->getString("id")->str()] =
        optimum.getAsObject();

  Tally tally;
  double worstToMct = 0, worstToExact = 0, worstOnHistogram = 0;
  for (const json::Value &value : golden.array("cases")) {
    const json::Object &object = *value.getAsObject();
    if (!isSelectionCase(object))
      continue;
    std::string id = object.getString("id")->str();
    std::string histogramId = object.getString("histogram")->str();
    const json::Object &recorded = *histograms[histogramId];
    const json::Object &mct = *object.getObject("mct");
    SelectionOptions options = optionsOf(object);
    // Uniform grids have no sign flag; the defect is about exactly this flag.
    bool mctSigned = mct.getBoolean("is_signed").value_or(true);
    options.isSigned = mctSigned;
    if (hasDefect(object, "constant_batch_flips_sign") &&
        samples.count(histogramId))
      options.isSigned = samples[histogramId].histogram.min() < 0;
    Measure measure = measureOf(options);
    bool squared = measure.power == 2;
    double mctThreshold = number(mct.get("threshold"));
    double potTolerance =
        options.kind == QuantizerKind::PowerOfTwo ? 0.0 : 1e-6;

    if (object.getBoolean("bounded").value_or(false)) {
      double lo = *recorded.getNumber("prior_min");
      double hi = *recorded.getNumber("prior_max");
      EXPECT_EQ(options.isSigned, lo < 0) << id;
      SelectedParameters parameters = selectForBounds(lo, hi, options);
      if (options.kind == QuantizerKind::Uniform) {
        UniformParameters expected = uniformParametersForRange(
            *mct.getNumber("range_min"), *mct.getNumber("range_max"),
            options.bits);
        expectNear(parameters.step, expected.step, 1e-6, id);
        EXPECT_EQ(parameters.zeroPoint, expected.zeroPoint) << id;
      } else if (hasDefect(object, "bounded_ignores_lower_bound")) {
        double largest = std::max(-lo, hi);
        double expected = options.kind == QuantizerKind::PowerOfTwo
                              ? std::exp2(std::ceil(std::log2(largest)))
                              : largest;
        expectNear(parameters.threshold, expected, 1e-6, id);
      } else {
        expectNear(parameters.threshold, mctThreshold, potTolerance, id);
      }
      tally.add(caseFamily(object) + ", bounded");
      continue;
    }

    if (options.errorMethod == ErrorMethod::NoClipping) {
      // MCT's range is that of the populated bins, so this compares the rule,
      // applied to the recorded edges, and not the collector.
      RecordedBins bins = recordedBins(recorded, object);
      if (bins.counts.empty())
        continue;
      double low = bins.left.front(), high = bins.right.back();
      double largest = 0;
      for (double right : bins.right)
        largest = std::max(largest, std::fabs(right));
      SelectedParameters parameters =
          options.kind == QuantizerKind::Uniform
              ? selectForBounds(low, high, options)
              : selectForBounds(0, largest, options);
      if (options.kind == QuantizerKind::Uniform) {
        UniformParameters expected = uniformParametersForRange(
            *mct.getNumber("range_min"), *mct.getNumber("range_max"),
            options.bits);
        expectNear(parameters.step, expected.step, 1e-6, id);
        EXPECT_EQ(parameters.zeroPoint, expected.zeroPoint) << id;
      } else {
        expectNear(parameters.threshold, mctThreshold, potTolerance, id);
      }
      tally.add(caseFamily(object));
      continue;
    }

    const json::Object *optimum = nullptr;
    if (auto key = object.getString("exact_optimum"))
      optimum = optima[key->str()];

    // MCT's own objective: every bin at its left edge.
    RecordedBins bins = recordedBins(recorded, object);
    if (!bins.counts.empty()) {
      std::vector<Atom> atoms;
      for (size_t i = 0; i < bins.counts.size(); ++i)
        atoms.push_back({bins.left[i], bins.counts[i]});
      SelectedParameters parameters = selectForAtoms(atoms, options);
      Grid grid = gridFor(parameters, options);
      double error = meanError(grid, measure.power, bins.left, bins.counts);
      double slack = measure.slack(meanSquare(bins.left, bins.counts));
      EXPECT_LE(std::fabs(error - parameters.error), 1e-6 * error + slack)
          << id;
      double mctError = number(mct.get(measure.name + "_histogram"));
      // An AUTO flag we decide otherwise is another set of grids.
      if (!std::isnan(mctError) && options.isSigned == mctSigned)
        EXPECT_LE(error, mctError * (1 + 1e-6) + slack) << id;
      if (options.kind == QuantizerKind::PowerOfTwo &&
          !object.getArray("known_defects"))
        EXPECT_EQ(parameters.threshold, mctThreshold) << id;
      const json::Object *onHistogram =
          optimum ? optimum->getObject("on_histogram") : nullptr;
      double range = bins.right.back() - bins.left.front();
      if (onHistogram && squared && options.isSigned == mctSigned &&
          number(onHistogram->get("mse")) > 1e-13 * range * range) {
        double exact = number(onHistogram->get("mse"));
        EXPECT_LE(error, exact * 1.001) << id;
        worstOnHistogram = std::max(worstOnHistogram, error / exact - 1);
      }
      tally.add(caseFamily(object) + ", on MCT's histogram");
    }

    // A filtered histogram has no counterpart among the samples.
    const json::Array *removed = object.getArray("removed_bins");
    if (!samples.count(histogramId) || (removed && !removed->empty())) {
      tally.add(caseFamily(object) +
                (removed && !removed->empty()
                     ? ", samples not compared (bins removed by the z filter)"
                     : ", samples not compared (none recorded)"));
      continue;
    }
    const Samples &entry = samples[histogramId];
    if (object.getString("signedness") == "AUTO" &&
        mct.getBoolean("is_signed") && !object.getArray("known_defects"))
      EXPECT_EQ(entry.histogram.min() < 0, mctSigned) << id;
    auto selected = selectForHistogram(entry.histogram, options);
    ASSERT_TRUE(bool(selected)) << llvm::toString(selected.takeError());
    Grid grid = gridFor(*selected, options);
    ASSERT_TRUE(std::isfinite(grid.step) && grid.step > 0) << id;
    double error = meanError(grid, measure.power, entry.wide);
    double square = meanSquare(entry.wide);
    double slack = measure.slack(square);
    double mctError = number(mct.get(measure.name + "_samples"));
    const json::Object *onSamples =
        optimum ? optimum->getObject("on_samples") : nullptr;
    tally.add(caseFamily(object));

    if (options.kind == QuantizerKind::PowerOfTwo) {
      if (hasDefect(object, "pot_start_unpopulated_edges") ||
          hasDefect(object, "pot_tie_takes_largest") ||
          hasDefect(object, "constant_batch_flips_sign")) {
        if (onSamples && squared && onSamples->getArray("ties") &&
            !hasDefect(object, "constant_batch_flips_sign"))
          EXPECT_TRUE(llvm::is_contained(numbers(onSamples->get("ties")),
                                         selected->threshold))
              << id << ": " << selected->threshold;
      } else {
        EXPECT_EQ(selected->threshold, mctThreshold) << id;
      }
    }
    if (!std::isnan(mctError)) {
      EXPECT_LE(error, mctError * 1.005 + slack) << id << " " << histogramId;
      if (mctError > slack)
        worstToMct = std::max(worstToMct, error / mctError - 1);
    }
    if (onSamples && squared) {
      double exact = number(onSamples->get("mse"));
      if (exact <= 1e-13 * square) {
        EXPECT_LE(error, 1e-12 * square) << id << " " << histogramId;
      } else {
        EXPECT_LE(error, exact * 1.01 + slack) << id << " " << histogramId;
        worstToExact = std::max(worstToExact, error / exact - 1);
      }
    }
  }
  std::printf("  largest error above MCT's: %.2e, above the optimum on the "
              "samples: %.2e, on MCT's histograms: %.2e\n",
              worstToMct, worstToExact, worstOnHistogram);
}

} // namespace
