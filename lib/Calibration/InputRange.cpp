// SPDX-License-Identifier: Apache-2.0
#include "InputRange.h"

#include "mct/IR/Names.h"
#include "mct/IR/Preprocessing.h"
#include "mct/Planning/KernelRows.h"
#include "mct/Support/Troubleshooting.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/Support/Format.h"
#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace mct;
using namespace mct::calibration;

namespace {
/// Mean and standard deviation of what an argument was given, its ends, and
/// whether all of it are whole numbers.
struct Spread {
  double mean = 0, deviation = 0, low = 0, high = 0;
  bool isWhole = false;
};

/// A value that an argument becomes before the first layer: scale * argument +
/// offset, each one number or one for each channel.
struct Scaled {
  Value value;
  std::vector<double> scale = {1}, offset = {0};
};

/// Moments of one output channel of a first layer on the samples.
struct Channel {
  /// Standard deviation of what varies, and what no sample changes.
  double variation = 0, constant = 0;
};
} // namespace

static Spread measure(const quantization::Histogram &histogram) {
  // Zeros are in no bin.
  double count = double(histogram.zeros()), sum = 0, squares = 0;
  // Whole numbers are on the edges of bins, which are narrower than one.
  bool isWhole = histogram.binWidth() < 1;
  for (auto [bin, hits] : llvm::enumerate(histogram.counts())) {
    double edge = histogram.binEdge(int(bin));
    isWhole &= hits == 0 || edge == std::floor(edge);
    double middle = edge + histogram.binWidth() / 2;
    count += double(hits);
    sum += double(hits) * middle;
    squares += double(hits) * middle * middle;
  }
  Spread spread;
  spread.low = histogram.min();
  spread.high = histogram.max();
  spread.isWhole = isWhole && spread.low == std::floor(spread.low) &&
                   spread.high == std::floor(spread.high);
  if (count == 0)
    return spread;
  spread.mean = sum / count;
  spread.deviation =
      std::sqrt(std::max(0.0, squares / count - spread.mean * spread.mean));
  return spread;
}

/// Returns the numbers of a constant operand per channel of the last axis; none
/// where it is no such constant.
static std::optional<std::vector<double>> readConstant(Value value,
                                                       RankedTensorType type) {
  int64_t axis = type.getRank() - 1;
  if (axis < 0 || type.isDynamicDim(axis))
    return std::nullopt;
  auto found = getChannelConstant(value, axis, type.getDimSize(axis));
  if (!found)
    return std::nullopt;
  return std::vector<double>(found->begin(), found->end());
}

/// Returns `values` * factors + summands, element by element; one number stands
/// for all.
static std::vector<double> apply(ArrayRef<double> values,
                                 ArrayRef<double> factors,
                                 ArrayRef<double> summands) {
  std::vector<double> result(
      std::max({values.size(), factors.size(), summands.size()}));
  auto at = [](ArrayRef<double> of, size_t i) {
    return of[of.size() == 1 ? 0 : i];
  };
  for (auto [i, each] : llvm::enumerate(result))
    each = at(values, i) * at(factors, i) + at(summands, i);
  return result;
}

/// Returns what the op makes of a scaled argument, where it is an argument
/// scaled again, or moved.
static std::optional<Scaled> follow(Operation *op, const Scaled &from) {
  if (op->getNumResults() != 1)
    return std::nullopt;
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!type || !type.getElementType().isF32())
    return std::nullopt;
  Scaled to{op->getResult(0), from.scale, from.offset};
  if (isa<tpc::QuantizeOp, tosa::ReshapeOp, tosa::TransposeOp, tosa::PadOp,
          tosa::IdentityOp, tosa::SliceOp, tosa::ConcatOp>(op))
    return to;
  if (!isa<tosa::AddOp, tosa::SubOp, tosa::MulOp>(op))
    return std::nullopt;
  bool isFirst = op->getOperand(0) == from.value;
  auto other = readConstant(op->getOperand(isFirst ? 1 : 0), type);
  if (!other || op->getOperand(0) == op->getOperand(1))
    return std::nullopt;
  if (isa<tosa::MulOp>(op)) {
    to.scale = apply(from.scale, *other, {0.0});
    to.offset = apply(from.offset, *other, {0.0});
    return to;
  }
  double own = isa<tosa::SubOp>(op) && !isFirst ? -1 : 1;
  double others = isa<tosa::SubOp>(op) && isFirst ? -1 : 1;
  to.scale = apply(from.scale, {own}, {0.0});
  to.offset = apply(from.offset, {own}, apply(*other, {others}, {0.0}));
  return to;
}

static void addChannels(const KernelOp &layer, const Scaled &input,
                        const Spread &spread, std::vector<Channel> &channels) {
  std::optional<std::vector<float>> bias = layer.getBias();
  int64_t inputs = layer.numInputChannels();
  auto fits = [&](ArrayRef<double> values) {
    return values.size() == 1 || int64_t(values.size()) == inputs;
  };
  if (!bias || !fits(input.scale) || !fits(input.offset))
    return;
  auto at = [](ArrayRef<double> of, int64_t i) {
    return of[of.size() == 1 ? 0 : size_t(i)];
  };
  ConstantFloats kernel = layer.getKernel();
  std::vector<Channel> own(size_t(layer.numOutputChannels()));
  for (auto [constant, channel] : llvm::zip_equal(*bias, own))
    channel.constant = constant;
  ArrayRef<float> weights = kernel.values();
  forEachKernelElement(layer, [&](int64_t element, int64_t to, int64_t from) {
    double factor = weights[element] * at(input.scale, from);
    own[to].variation += factor * factor;
    own[to].constant += weights[element] * at(input.offset, from);
  });
  for (Channel &channel : own)
    channel.variation = std::sqrt(channel.variation) * spread.deviation;
  llvm::append_range(channels, own);
}

//===----------------------------------------------------------------------===//
// The warning
//===----------------------------------------------------------------------===//

/// Bounds of the median of variation / |constant| of a trained network. Those
/// of MLPerf Tiny, for CIFAR-10, ImageNet and digits have medians from 0.18 to
/// 3.6 on samples as they expect them; samples before or after a division by
/// 255, or by 16, have others.
static constexpr double kFewestVariation = 1.0 / 16, kMostVariation = 16;
/// Largest median of samples that may be too small.
static constexpr double kSuspiciousVariation = 1.0 / 50;
/// Pixels that are not scaled, of images that may have been resized.
static constexpr double kDarkestWhite = 128, kWhite = 255;
/// Upper limit of the values of samples that were scaled although they should
/// not have been, and lower limit of those that were not, although they
/// should have been.
static constexpr double kScaled = 2, kNotScaled = 8;
/// Smallest number of channels with a bias that allows a conclusion.
static constexpr size_t kFewestChannels = 4;

namespace {
/// A preprocessing that the samples seem to lack: numbers of a file, which are
/// not scaled, or numbers up to 1 for a network that reads pixels.
struct Suspicion {
  double factor = 1;
  bool arePixels = false;
};
} // namespace

static double largestMagnitude(const Spread &spread) {
  return std::max(std::abs(spread.low), std::abs(spread.high));
}

/// Returns the factor that makes pixels, or whole numbers, numbers up to 1;
/// none for other samples. Real numbers of any size may be what a network
/// reads: embeddings, decibels.
static std::optional<Suspicion> suspectScale(const Spread &spread) {
  double largest = largestMagnitude(spread);
  bool arePixels =
      spread.low >= 0 && largest > kDarkestWhite && largest <= kWhite + 1;
  if (largest < kNotScaled || (!arePixels && !spread.isWhole))
    return std::nullopt;
  return Suspicion{1 / (arePixels ? kWhite : largest), arePixels};
}

/// Judges an input by the results of the first layers: what they are with these
/// samples, and what they would be with the preprocessing that these seem to
/// lack.
static std::optional<Suspicion> judge(ArrayRef<Channel> channels,
                                      const Spread &spread, double &median) {
  std::vector<double> ratios;
  for (const Channel &channel : channels)
    if (channel.constant != 0)
      ratios.push_back(channel.variation / std::abs(channel.constant));
  if (ratios.size() < kFewestChannels || 2 * ratios.size() < channels.size())
    return std::nullopt;
  auto middle = ratios.begin() + ptrdiff_t(ratios.size() / 2);
  std::nth_element(ratios.begin(), middle, ratios.end());
  median = *middle;
  auto isUsual = [](double ratio) {
    return ratio >= kFewestVariation && ratio <= kMostVariation;
  };
  std::optional<Suspicion> found;
  if (median > kMostVariation)
    found = suspectScale(spread);
  else if (median < kSuspiciousVariation && largestMagnitude(spread) <= kScaled)
    found = Suspicion{kWhite, true};
  return found && isUsual(median * found->factor) ? found : std::nullopt;
}

/// Judges an input by the scale that the module has recorded, where that is one
/// of pixels, or one of numbers up to 1: `raw` are samples before it.
static std::optional<Suspicion> judge(double scale, const Spread &raw) {
  if (scale <= 1.0 / 32 && largestMagnitude(raw) <= kScaled)
    return Suspicion{kWhite, true};
  if (scale > 1 && largestMagnitude(raw) >= 32)
    return Suspicion{1 / kWhite, true};
  return std::nullopt;
}

static double largestMagnitude(ArrayRef<double> values, double none) {
  double largest = values.empty() ? none : 0;
  for (double value : values)
    largest = std::max(largest, std::abs(value));
  return largest;
}

/// Returns all channels of the layers that are the first to read an argument,
/// and these layers.
static std::vector<Channel> readFirstLayers(BlockArgument argument,
                                            const KernelOps &kernels,
                                            const Spread &spread,
                                            SmallVectorImpl<KernelOp> &layers) {
  std::vector<Channel> channels;
  SmallVector<Scaled> pending{{argument}};
  while (!pending.empty()) {
    Scaled scaled = pending.pop_back_val();
    for (Operation *user : scaled.value.getUsers()) {
      std::optional<KernelOp> layer = kernels.get(user);
      if (layer && layer->getInput().get() == scaled.value) {
        addChannels(*layer, scaled, spread, channels);
        layers.push_back(*layer);
      } else if (std::optional<Scaled> next = follow(user, scaled)) {
        pending.push_back(std::move(*next));
      }
    }
  }
  return channels;
}

static std::string show(double number, const char *format = "%.4g") {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format(format, number);
  return text;
}

static void warn(BlockArgument argument, StringRef name,
                 const Suspicion &suspicion, const Spread &spread,
                 StringRef evidence) {
  InFlightDiagnostic warning = emitWarning(argument.getLoc());
  warning << "the samples of input '" << name << "' seem to have another range "
          << "than the network expects: it reads values from "
          << show(spread.low) << " to " << show(spread.high) << ", "
          << evidence;
  Diagnostic &note = warning.attachNote(argument.getLoc());
  if (suspicion.factor > 1)
    note << "if they were pixels that are scaled to 0 to 1, leave them as they "
            "are, or give input-scale=255";
  else
    note << "where they are "
         << (suspicion.arePixels ? "pixels from 0 to 255"
                                 : "whole numbers that are to be scaled")
         << " and the network reads values from 0 to 1, give input-scale="
         << show(suspicion.factor, "%.6g");
  note << support::kTroubleshooting << "samples-that-do-not-fit";
}

void mct::calibration::warnOfInputRanges(func::FuncOp function,
                                         const KernelOps &kernels,
                                         const StatisticsMap &statistics,
                                         bool followsRecord) {
  FailureOr<Preprocessings> records = readPreprocessing(function);
  followsRecord &= succeeded(records);
  for (BlockArgument argument : function.getArguments()) {
    std::optional<Spread> spread;
    std::string name;
    for (Operation *user : argument.getUsers())
      if (auto point = dyn_cast<tpc::QuantizeOp>(user)) {
        name = point.getUniqueName();
        if (auto seen = statistics.find(name);
            seen != statistics.end() && !seen->second.histogram.empty())
          spread = measure(seen->second.histogram);
      }
    if (!spread || spread->deviation == 0)
      continue;
    if (followsRecord && (*records)[argument.getArgNumber()]) {
      const Preprocessing &record = *(*records)[argument.getArgNumber()];
      double scale = largestMagnitude(record.scale, 1);
      // Channels differ little; those of the largest scale stand for all.
      Spread raw = *spread;
      double offset = record.offset.empty() ? 0 : record.offset.front();
      raw.low = (raw.low - offset) / scale;
      raw.high = (raw.high - offset) / scale;
      if (std::optional<Suspicion> found = judge(scale, raw)) {
        warn(argument, name, *found, *spread,
             "which were " + show(raw.low) + " to " + show(raw.high) +
                 " before the recorded scale of " + show(scale));
        continue;
      }
    }
    SmallVector<KernelOp> layers;
    std::vector<Channel> channels =
        readFirstLayers(argument, kernels, *spread, layers);
    double median = 0;
    std::optional<Suspicion> found = judge(channels, *spread, median);
    if (!found)
      continue;
    std::string layer;
    if (StringAttr own = getName(layers.front().getOperation()->getLoc()))
      layer = " '" + own.getValue().str() + "'";
    warn(argument, name, *found, *spread,
         "which change the results of its first layer" + layer + " by " +
             show(median) + " times their biases");
  }
}
