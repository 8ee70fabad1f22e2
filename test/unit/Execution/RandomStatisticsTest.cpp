// SPDX-License-Identifier: Apache-2.0
//
// Calibration and bias correction of random networks, against what
// their definitions make of the values of the reference.
#include "Expectation.h"
#include "Fixture.h"

#include "lib/Corrections/Layers.h"
#include "mct/Calibration/Passes.h"
#include "mct/Corrections/Passes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/Pass/PassManager.h"
#include "tpc_dialect/IR/TpcDialect.h"

using namespace mct;
using namespace mct::execution;
using namespace mct::testing;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

class RandomStatistics : public ExecutionTest {
protected:
  RandomStatistics() {
    llvm::SmallString<128> path;
    llvm::sys::fs::createUniqueDirectory("random-statistics", path);
    folder = path.str().str();
  }
  ~RandomStatistics() override { llvm::sys::fs::remove_directories(folder); }

  bool run(mlir::ModuleOp target, std::unique_ptr<mlir::Pass> pass) {
    diagnostics.clear();
    mlir::PassManager manager(&context);
    manager.addPass(std::move(pass));
    return mlir::succeeded(manager.run(target));
  }
  template <typename Options>
  Options onSamples(const Expectation &samples, unsigned seed) {
    Options options;
    llvm::SmallVector<std::string> files = writeSamples(samples, folder);
    options.calibrationData.assign(files.begin(), files.end());
    options.threads = 1 + seed % 3;
    options.batchSize = seed % 4;
    // The correction is applied, whatever it is worth.
    if constexpr (std::is_same_v<Options, CorrectBiasPassOptions>)
      options.judge = false;
    return options;
  }

  std::string calibrationDifference(mlir::ModuleOp network, unsigned seed);
  std::string correctionDifference(mlir::ModuleOp network, unsigned seed);
  std::string momentDifference(mlir::ModuleOp network, unsigned seed);
  std::string shrinkDifference(mlir::ModuleOp network, unsigned seed);
  /// Judges random layers, and shrinks those that differ.
  void expectNoDifference(
      llvm::function_ref<std::string(mlir::ModuleOp, unsigned)> difference,
      bool scalable = false);

  std::string folder;
  /// Points and layers that were judged.
  size_t judged = 0;
};

std::string text(const char *what, double found, double low, double high) {
  char buffer[200];
  std::snprintf(buffer, sizeof(buffer), "%s is %.17g, not in [%.17g, %.17g]",
                what, found, low, high);
  return buffer;
}

/// A number that lies in an interval; sums of doubles are good for 1e-12 of
/// their magnitude.
std::string expectIn(const char *what, double found, double low, double high) {
  double slack = 1e-12 * std::max(std::abs(low), std::abs(high));
  return found >= low - slack && found <= high + slack
             ? ""
             : text(what, found, low, high);
}

//===----------------------------------------------------------------------===//
// Calibration
//===----------------------------------------------------------------------===//

double squareLow(const Number &n) {
  if (n.low() <= 0 && n.high() >= 0)
    return 0;
  return std::min(n.low() * n.low(), n.high() * n.high());
}
double squareHigh(const Number &n) {
  return std::max(n.low() * n.low(), n.high() * n.high());
}

/// Sums over some numbers, from their lower and upper bounds.
struct Bounds {
  double sumLow = 0, sumHigh = 0, squaresLow = 0, squaresHigh = 0;
  double minLow = kInfinity, minHigh = kInfinity;
  double maxLow = -kInfinity, maxHigh = -kInfinity;
  double count = 0;
  void add(const Number &number) {
    sumLow += number.low();
    sumHigh += number.high();
    squaresLow += squareLow(number);
    squaresHigh += squareHigh(number);
    minLow = std::min(minLow, number.low());
    minHigh = std::min(minHigh, number.high());
    maxLow = std::max(maxLow, number.low());
    maxHigh = std::max(maxHigh, number.high());
    ++count;
  }
};

/// Counts have 32 or 64 bits.
std::vector<int64_t> countsOf(tpc::HistogramAttr histogram) {
  if (auto resource = mlir::dyn_cast<mlir::DenseResourceElementsAttr>(
          histogram.getCounts())) {
    llvm::ArrayRef<char> bytes = resource.getRawHandle().getBlob()->getData();
    auto read = [&](auto element) {
      std::vector<decltype(element)> counts(bytes.size() / sizeof(element));
      std::memcpy(counts.data(), bytes.data(), bytes.size());
      return std::vector<int64_t>(counts.begin(), counts.end());
    };
    return resource.getElementType().isInteger(32) ? read(int32_t())
                                                   : read(int64_t());
  }
  std::vector<int64_t> counts;
  for (const llvm::APInt &count :
       histogram.getCounts().getValues<llvm::APInt>())
    counts.push_back(count.getSExtValue());
  return counts;
}

std::string histogramDifference(tpc::StatisticsAttr found,
                                llvm::ArrayRef<Number> numbers) {
  uint64_t binned = 0;
  if (tpc::HistogramAttr histogram = found.getHistogram()) {
    double width = std::ldexp(1.0, int(histogram.getStepExponent()));
    std::vector<int64_t> counts = countsOf(histogram);
    for (size_t bin = 0; bin <= counts.size(); ++bin) {
      // Count the values below the left edge of this bin, except for zeros.
      double edge = double(histogram.getFirst() + int64_t(bin)) * width;
      double certain = 0, possible = 0;
      for (const Number &number : numbers) {
        bool mayBeZero = number.low() <= 0 && number.high() >= 0;
        bool isZero = number.isExact() && number.value == 0;
        certain += !mayBeZero && number.high() < edge;
        possible += !isZero && number.low() < edge;
      }
      std::string difference = expectIn("histogram below an edge",
                                        double(binned), certain, possible);
      if (!difference.empty())
        return difference;
      if (bin != counts.size())
        binned += uint64_t(counts[bin]);
    }
  }
  if (binned + uint64_t(found.getZeros()) != uint64_t(found.getCount()))
    return "bins and zeros hold " +
           std::to_string(binned + uint64_t(found.getZeros())) + " of " +
           std::to_string(found.getCount());
  return "";
}

std::string statisticsDifference(tpc::StatisticsAttr found,
                                 llvm::ArrayRef<Number> numbers,
                                 int64_t channels) {
  Bounds all;
  std::vector<Bounds> perChannel(static_cast<size_t>(channels));
  double certainZeros = 0, possibleZeros = 0;
  for (size_t i = 0; i != numbers.size(); ++i) {
    all.add(numbers[i]);
    perChannel[i % perChannel.size()].add(numbers[i]);
    certainZeros += numbers[i].isExact() && numbers[i].value == 0;
    possibleZeros += numbers[i].low() <= 0 && numbers[i].high() >= 0;
  }
  if (size_t(found.getCount()) != numbers.size())
    return "count is " + std::to_string(found.getCount()) + ", not " +
           std::to_string(numbers.size());
  std::string result =
      expectIn("zeros", double(found.getZeros()), certainZeros, possibleZeros);
  auto expect = [&](const char *what, double value, double low, double high) {
    if (result.empty())
      result = expectIn(what, value, low, high);
  };
  expect("min", found.getMin(), all.minLow, all.minHigh);
  expect("max", found.getMax(), all.maxLow, all.maxHigh);
  auto channel = [&](mlir::ElementsAttr attribute, size_t i) {
    auto dense = mlir::cast<mlir::DenseElementsAttr>(attribute);
    return (*std::next(dense.getValues<llvm::APFloat>().begin(), i))
        .convertToDouble();
  };
  for (size_t i = 0; i != perChannel.size() && result.empty(); ++i) {
    const Bounds &one = perChannel[i];
    expect("channel mean", channel(found.getChannelMean(), i),
           one.sumLow / one.count, one.sumHigh / one.count);
    expect("channel mean square", channel(found.getChannelMeanSquare(), i),
           one.squaresLow / one.count, one.squaresHigh / one.count);
    expect("channel min", channel(found.getChannelMin(), i), one.minLow,
           one.minHigh);
    expect("channel max", channel(found.getChannelMax(), i), one.maxLow,
           one.maxHigh);
  }
  return result.empty() ? histogramDifference(found, numbers) : result;
}

llvm::SmallVector<tpc::QuantizeOp> pointsOf(mlir::ModuleOp module) {
  llvm::SmallVector<tpc::QuantizeOp> points;
  mainOf(module).walk([&](tpc::QuantizeOp point) {
    if (point.isActivation())
      points.push_back(point);
  });
  return points;
}

std::string RandomStatistics::calibrationDifference(mlir::ModuleOp network,
                                                    unsigned seed) {
  auto first = mlir::cast<mlir::RankedTensorType>(
      mainOf(network).getArgumentTypes().front());
  int64_t batch = first.getRank() == 0 ? 1 : first.getDimSize(0);
  Expectation expected(network, seed, batch * (1 + seed % 5),
                       /*simulate=*/false);
  if (!expected.error.empty())
    return "reference: " + expected.error;
  llvm::SmallVector<tpc::QuantizeOp> points = pointsOf(network);
  if (points.empty())
    return "";
  mlir::OwningOpRef<mlir::ModuleOp> calibrated =
      mlir::cast<mlir::ModuleOp>(network->clone());
  auto options = onSamples<CalibratePassOptions>(expected, seed);
  options.channelStatistics = true;
  if (!run(*calibrated, createCalibratePass(options)))
    return "does not calibrate: " + llvm::join(diagnostics, "\n");
  for (auto [point, calibratedPoint] :
       llvm::zip(points, pointsOf(*calibrated))) {
    std::vector<Number> numbers;
    for (const ReferenceEvaluator &evaluator : expected.evaluators)
      llvm::append_range(numbers, evaluator[point.getInput()].numbers);
    if (llvm::any_of(numbers, [](const Number &number) {
          return !(number.error < kInfinity);
        }))
      continue;
    // Where the samples lie along the last axis, they are no channels.
    llvm::ArrayRef<int64_t> shape = shapeOf(point);
    int64_t channels = shape.empty() ? 1 : shape.back();
    tpc::StatisticsAttr statistics = calibratedPoint.getStatisticsAttr();
    int64_t found = statistics.getChannelMean().getNumElements();
    if (!shape.empty() && found * expected.batch == channels &&
        llvm::all_of(shape.drop_back(), [](int64_t size) { return size == 1; }))
      channels = found;
    std::string difference =
        found == channels ? statisticsDifference(statistics, numbers, channels)
                          : "has " + std::to_string(found) + " channels";
    if (!difference.empty())
      return "statistics of '" + point.getUniqueName() + "': " + difference;
    ++judged;
  }
  return "";
}

TEST_F(RandomStatistics, CalibrationCountsWhatTheNetworkComputes) {
  size_t count = numRandomNetworks(60), failures = 0;
  for (size_t i = 0; i != count; ++i) {
    unsigned seed = firstSeed() + unsigned(i);
    auto network = makeRandomNetwork(context, seed);
    std::string difference = calibrationDifference(*network, seed);
    if (difference.empty())
      continue;
    std::string small;
    if (++failures <= 3)
      small = print(*shrink(*network, [&](mlir::ModuleOp candidate) {
        return !calibrationDifference(candidate, seed).empty();
      }));
    ADD_FAILURE() << "seed " << seed << ": " << difference << "\n" << small;
  }
  // Half of the networks have points, and most of those several.
  EXPECT_GE(judged, count);
}

//===----------------------------------------------------------------------===//
// Bias correction
//===----------------------------------------------------------------------===//

/// Mean over all samples of one channel of a value, and how far it may be off.
Number meanOf(const Expectation &expected, mlir::Value value, int64_t axis,
              int64_t channel) {
  llvm::ArrayRef<int64_t> shape = shapeOf(value);
  int64_t inner = 1;
  for (int64_t size : shape.drop_front(size_t(axis) + 1))
    inner *= size;
  Number mean;
  double count = 0;
  for (const ReferenceEvaluator &evaluator : expected.evaluators) {
    const std::vector<Number> &numbers = evaluator[value].numbers;
    for (size_t i = 0; i != numbers.size(); ++i)
      if (int64_t(i) / inner % shape[size_t(axis)] == channel) {
        mean.value += numbers[i].value;
        mean.error += numbers[i].error;
        ++count;
      }
  }
  return {mean.value / count, mean.error / count};
}

/// Checks that in the corrected network every layer has, over the samples, the
/// mean that it has in the float network, per channel: this is what the
/// correction is defined to achieve, one layer after the other.
std::string RandomStatistics::correctionDifference(mlir::ModuleOp network,
                                                   unsigned seed) {
  Expectation floating(network, seed, 4 + seed % 9, /*simulate=*/false);
  if (!floating.error.empty())
    return "reference: " + floating.error;
  diagnostics.clear();
  auto before = corrections::Layers::find(
      network, KernelOps::forModule(network), "main", "test", false);
  if (mlir::failed(before))
    return "no layers: " + llvm::join(diagnostics, "\n");
  mlir::OwningOpRef<mlir::ModuleOp> corrected =
      mlir::cast<mlir::ModuleOp>(network->clone());
  auto options = onSamples<CorrectBiasPassOptions>(floating, seed);
  options.shrink = false;
  if (!run(*corrected, createCorrectBiasPass(options)))
    return "cannot be corrected: " + llvm::join(diagnostics, "\n");
  auto after = corrections::Layers::find(
      *corrected, KernelOps::forModule(*corrected), "main", "test", false);
  if (mlir::failed(after) || after->layers.size() != before->layers.size())
    return "other layers";

  // The pass measured sums to which the correction was added afterwards; in
  // the network it is part of the bias. Three roundings lie between the two.
  llvm::DenseMap<mlir::Value, double> uncertain;
  std::vector<double> slack;
  for (auto [old, layer] : llvm::zip(before->layers, after->layers)) {
    double largest = 0;
    for (auto [a, b] : llvm::zip(old.bias, layer.bias))
      largest = std::max(largest, double(std::abs(a)) + std::abs(b));
    slack.push_back(3 * 0x1p-24 * largest);
    if (mlir::Value constant = layer.op.getBiasConstant())
      uncertain[constant] = slack.back();
  }
  Expectation quantized(*corrected, seed, floating.samples, /*simulate=*/true,
                        &uncertain);
  if (!quantized.error.empty())
    return "reference: " + quantized.error;
  for (auto [i, old, layer] : llvm::enumerate(before->layers, after->layers)) {
    for (int64_t channel = 0; channel != layer.op.numOutputChannels();
         ++channel) {
      Number wanted =
          meanOf(floating, old.op.getResult(), old.op.resultAxis(), channel);
      Number found = meanOf(quantized, layer.op.getResult(),
                            layer.op.resultAxis(), channel);
      double allowed = wanted.error + found.error + slack[i] + 0x1p-126;
      if (!(std::abs(wanted.value - found.value) <= allowed))
        return "layer '" + layer.point.getPointName().str() + "' channel " +
               std::to_string(channel) + ": " +
               text("mean", found.value, wanted.value - allowed,
                    wanted.value + allowed);
    }
    ++judged;
  }

  // The function that is declared the float network computes the same as the
  // float one.
  mlir::IRMapping mapping;
  auto twin = after->cloneFloat(mapping);
  for (auto [value, original] :
       llvm::zip(mainOf(*twin).getBody().front().getTerminator()->getOperands(),
                 floating.outputs)) {
    Expectation computed(*twin, seed, floating.samples, /*simulate=*/false);
    if (!computed.error.empty())
      return "reference: " + computed.error;
    for (auto [a, b] : llvm::zip(computed.evaluators, floating.evaluators))
      for (auto [x, y] : llvm::zip(a[value].numbers, b[original].numbers))
        if (std::abs(x.value - y.value) > x.error + y.error)
          return text("the float twin", x.value, y.low(), y.high());
  }
  return "";
}

void RandomStatistics::expectNoDifference(
    llvm::function_ref<std::string(mlir::ModuleOp, unsigned)> difference,
    bool scalable) {
  size_t count = numRandomNetworks(40), failures = 0;
  for (size_t i = 0; i != count; ++i) {
    unsigned seed = firstSeed() + unsigned(i);
    auto network = makeRandomLayers(context, seed, scalable);
    std::string text = difference(*network, seed);
    if (text.empty())
      continue;
    std::string small;
    if (++failures <= 3)
      small = print(*shrink(*network, [&](mlir::ModuleOp candidate) {
        return !difference(candidate, seed).empty();
      }));
    ADD_FAILURE() << "seed " << seed << ": " << text << "\n" << small;
  }
}

TEST_F(RandomStatistics, BiasCorrectionGivesEveryLayerItsFloatMean) {
  expectNoDifference([&](mlir::ModuleOp network, unsigned seed) {
    return correctionDifference(network, seed);
  });
  EXPECT_GE(judged, numRandomNetworks(40));
}

//===----------------------------------------------------------------------===//
// Chance in means
//===----------------------------------------------------------------------===//

/// Means of one channel of a value, one for each sample, and the largest error
/// among them.
std::vector<double> sampleMeans(const Expectation &expected, mlir::Value value,
                                int64_t axis, int64_t channel, double &error) {
  llvm::ArrayRef<int64_t> shape = shapeOf(value);
  int64_t inner = 1;
  for (int64_t size : shape.drop_front(size_t(axis) + 1))
    inner *= size;
  std::vector<double> means;
  for (const ReferenceEvaluator &evaluator : expected.evaluators) {
    const std::vector<Number> &numbers = evaluator[value].numbers;
    double sum = 0, errors = 0, count = 0;
    for (size_t i = 0; i != numbers.size(); ++i)
      if (int64_t(i) / inner % shape[size_t(axis)] == channel) {
        sum += numbers[i].value;
        errors += numbers[i].error;
        ++count;
      }
    means.push_back(sum / count);
    error = std::max(error, errors / count);
  }
  return means;
}

/// Returns what is left of errors `d` with variances `v` (of their means over
/// `n` samples), by the words of the pass: d * max(0, 1 - v / d^2), but no more
/// than one of two factors that all channels have together.
std::vector<double> shrunk(llvm::ArrayRef<double> d, llvm::ArrayRef<double> v,
                           double n) {
  double excess = 0, ratios = 0, known = 0;
  for (auto [one, variance] : llvm::zip(d, v)) {
    excess += (one * one - variance) / double(d.size());
    if (variance > 0) {
      ratios += std::min(9.0, one * one / variance * (n - 3) / (n - 1));
      ++known;
    }
  }
  double spread = std::max(0.0, excess);
  double ofMany = ratios > 0 ? std::max(0.0, 1 - known / ratios) : 0;
  std::vector<double> result;
  for (auto [one, variance] : llvm::zip(d, v)) {
    double factor = 1;
    if (variance > 0 && one != 0)
      factor = std::min(std::max(0.0, 1 - variance / (one * one)),
                        std::max(ofMany, spread / (spread + variance)));
    result.push_back(factor * one);
  }
  return result;
}

std::string RandomStatistics::shrinkDifference(mlir::ModuleOp network,
                                               unsigned seed) {
  Expectation floating(network, seed, 6 + seed % 9, /*simulate=*/false);
  if (!floating.error.empty())
    return "reference: " + floating.error;
  diagnostics.clear();
  auto before = corrections::Layers::find(
      network, KernelOps::forModule(network), "main", "test", false);
  mlir::OwningOpRef<mlir::ModuleOp> corrected =
      mlir::cast<mlir::ModuleOp>(network->clone());
  if (mlir::failed(before) ||
      !run(*corrected, createCorrectBiasPass(
                           onSamples<CorrectBiasPassOptions>(floating, seed))))
    return "cannot be corrected: " + llvm::join(diagnostics, "\n");
  auto after = corrections::Layers::find(
      *corrected, KernelOps::forModule(*corrected), "main", "test", false);
  if (mlir::failed(after) || after->layers.size() != before->layers.size())
    return "other layers";
  Expectation quantized(*corrected, seed, floating.samples, /*simulate=*/true);
  if (!quantized.error.empty())
    return "reference: " + quantized.error;
  double n = double(floating.samples);
  for (auto [old, layer] : llvm::zip(before->layers, after->layers)) {
    std::vector<double> d, v, added;
    double error = 0, largest = 0;
    bool isChanceKnown = true;
    for (int64_t channel = 0; channel != layer.op.numOutputChannels();
         ++channel) {
      double offset = double(layer.bias[channel]) - double(old.bias[channel]);
      std::vector<double> wanted = sampleMeans(
          floating, old.op.getResult(), old.op.resultAxis(), channel, error);
      std::vector<double> found =
          sampleMeans(quantized, layer.op.getResult(), layer.op.resultAxis(),
                      channel, error);
      double mean = 0, variance = 0;
      for (auto [x, y] : llvm::zip(wanted, found))
        mean += (x - (y - offset)) / n;
      for (auto [x, y] : llvm::zip(wanted, found)) {
        double rest = x - (y - offset) - mean;
        variance += rest * rest / (n - 1) / n;
      }
      largest = std::max(largest, std::abs(double(old.bias[channel])) +
                                      std::abs(offset) + std::abs(mean));
      d.push_back(mean);
      v.push_back(n < 8 ? 0 : variance);
      added.push_back(offset);
      isChanceKnown &= n < 8 || std::sqrt(variance) > 1e-4 * std::abs(mean);
    }
    // The corrected bias and the sums that were measured are floats; chance
    // that is no larger than their rounding is none, or a little.
    error += 4 * 0x1p-24 * largest;
    for (double variance : v)
      isChanceKnown &= n < 8 || std::sqrt(variance) > 100 * error;
    if (!isChanceKnown || !(error < kInfinity))
      continue;
    // Every factor depends on means and variances of all channels, each with
    // a slope of a few.
    double allowed = 16 * double(1 + d.size()) * error + 0x1p-126;
    std::vector<double> wanted = shrunk(d, v, n);
    for (size_t channel = 0; channel != d.size(); ++channel)
      if (!(std::abs(added[channel] - wanted[channel]) <= allowed))
        return "layer '" + layer.point.getPointName().str() + "' channel " +
               std::to_string(channel) + ": " +
               text("what was added", added[channel], wanted[channel] - allowed,
                    wanted[channel] + allowed);
    ++judged;
  }
  return "";
}

TEST_F(RandomStatistics, BiasCorrectionLeavesOutWhatIsChance) {
  expectNoDifference([&](mlir::ModuleOp network, unsigned seed) {
    return shrinkDifference(network, seed);
  });
  EXPECT_GE(judged, numRandomNetworks(40) / 2);
}

//===----------------------------------------------------------------------===//
// Second moments
//===----------------------------------------------------------------------===//

/// Mean and deviation over all samples of one channel. A deviation moves by at
/// most the root of the mean of the squares of what its numbers move.
std::pair<Number, Number> momentsOf(const Expectation &expected,
                                    mlir::Value value, int64_t axis,
                                    int64_t channel) {
  Number mean = meanOf(expected, value, axis, channel);
  llvm::ArrayRef<int64_t> shape = shapeOf(value);
  int64_t inner = 1;
  for (int64_t size : shape.drop_front(size_t(axis) + 1))
    inner *= size;
  double squares = 0, errors = 0, count = 0;
  for (const ReferenceEvaluator &evaluator : expected.evaluators) {
    const std::vector<Number> &numbers = evaluator[value].numbers;
    for (size_t i = 0; i != numbers.size(); ++i)
      if (int64_t(i) / inner % shape[size_t(axis)] == channel) {
        double rest = numbers[i].value - mean.value;
        squares += rest * rest;
        errors += numbers[i].error * numbers[i].error;
        ++count;
      }
  }
  return {mean, {std::sqrt(squares / count), std::sqrt(errors / count)}};
}

/// Checks that with quantized weights and float activations every corrected
/// layer has, per channel, the mean and the deviation that it has in the float
/// network.
std::string RandomStatistics::momentDifference(mlir::ModuleOp network,
                                               unsigned seed) {
  Expectation floating(network, seed, 4 + seed % 9, /*simulate=*/false);
  if (!floating.error.empty())
    return "reference: " + floating.error;
  diagnostics.clear();
  auto before = corrections::Layers::find(
      network, KernelOps::forModule(network), "main", "test", false);
  mlir::OwningOpRef<mlir::ModuleOp> corrected =
      mlir::cast<mlir::ModuleOp>(network->clone());
  if (mlir::failed(before) ||
      !run(*corrected,
           createCorrectSecondMomentPass(
               onSamples<CorrectSecondMomentPassOptions>(floating, seed))))
    return "cannot be corrected: " + llvm::join(diagnostics, "\n");
  corrected->walk([](tpc::QuantizeOp point) {
    if (point.isActivation())
      point.removeQuantizer();
  });
  auto after = corrections::Layers::find(
      *corrected, KernelOps::forModule(*corrected), "main", "test", false);
  if (mlir::failed(after) || after->layers.size() != before->layers.size())
    return "other layers";
  // Kernels and biases were rounded to float after the factors were known: a
  // value between two levels may have gone to the other.
  llvm::DenseMap<mlir::Value, double> uncertain;
  std::vector<double> slack;
  for (auto [old, layer] : llvm::zip(before->layers, after->layers)) {
    double largest = 0;
    for (auto [a, b] : llvm::zip(old.bias, layer.bias))
      largest = std::max(largest, double(std::abs(a)) + std::abs(b));
    slack.push_back(4 * 0x1p-24 * largest);
    if (mlir::Value constant = layer.op.getBiasConstant())
      uncertain[constant] = slack.back();
    if (!layer.isCorrected(tpc::kSecondMomentCorrection))
      continue;
    double kernel = 0;
    mct::ConstantFloats constantKernel = layer.op.getKernel();
    for (float value : constantKernel.values())
      kernel = std::max(kernel, double(std::abs(value)));
    mlir::Value constant = layer.point.getInput();
    uncertain[constant] = 2 * 0x1p-24 * kernel;
  }
  Expectation quantized(*corrected, seed, floating.samples, /*simulate=*/true,
                        &uncertain);
  if (!quantized.error.empty())
    return "reference: " + quantized.error;
  for (size_t i = 0; i != after->layers.size(); ++i) {
    corrections::Layer &old = before->layers[i], &layer = after->layers[i];
    if (!layer.isCorrected(tpc::kSecondMomentCorrection))
      continue;
    for (int64_t channel = 0; channel != layer.op.numOutputChannels();
         ++channel) {
      auto [mean, deviation] =
          momentsOf(floating, old.op.getResult(), old.op.resultAxis(), channel);
      auto [foundMean, foundDeviation] = momentsOf(
          quantized, layer.op.getResult(), layer.op.resultAxis(), channel);
      double rounding = slack[i] +
                        8 * 0x1p-24 * (std::abs(mean.value) + deviation.value) +
                        0x1p-126;
      auto differs = [&](const char *what, const Number &wanted,
                         const Number &found) -> std::string {
        double allowed = wanted.error + found.error + rounding;
        if (std::abs(wanted.value - found.value) <= allowed)
          return "";
        return "layer '" + layer.point.getPointName().str() + "' channel " +
               std::to_string(channel) + ": " +
               text(what, found.value, wanted.value - allowed,
                    wanted.value + allowed);
      };
      std::string difference = differs("mean", mean, foundMean);
      // A channel that does not vary keeps its factor.
      double noise = 1e3 * (deviation.error + foundDeviation.error + rounding);
      if (difference.empty() && deviation.value > noise &&
          foundDeviation.value > noise)
        difference = differs("deviation", deviation, foundDeviation);
      if (!difference.empty())
        return difference;
    }
    ++judged;
  }
  return "";
}

TEST_F(RandomStatistics, SecondMomentCorrectionGivesEveryLayerItsFloatMoments) {
  expectNoDifference(
      [&](mlir::ModuleOp network, unsigned seed) {
        return momentDifference(network, seed);
      },
      /*scalable=*/true);
  EXPECT_GE(judged, numRandomNetworks(40) / 4);
}

} // namespace
