// SPDX-License-Identifier: Apache-2.0
#include "mct/Transforms/StatisticsConversion.h"
#include "mct/IR/Constants.h"
#include "mct/Quantization/HistogramShift.h"
#include "tpc_dialect/IR/Elements.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace mct;
using quantization::ChannelStatistics;
using quantization::Histogram;

static constexpr int64_t kBinsLog2 = llvm::ConstantLog2<Histogram::kBins>();

static tpc::HistogramAttr createHistogram(MLIRContext *context,
                                          const Histogram::Parts &parts,
                                          StringRef name) {
  if (parts.counts.empty())
    return {};
  auto counts = llvm::to_vector_of<int64_t>(parts.counts);
  return tpc::HistogramAttr::get(
      context, /*step_exponent=*/parts.exponent + 1 - kBinsLog2,
      /*first=*/parts.firstBin - Histogram::kBins / 2,
      createIntegers(context, counts, ("histogram." + name).str()));
}

template <typename T, typename Read>
static ElementsAttr createPerChannel(Type elementType,
                                     const ChannelStatistics &channels,
                                     Read read) {
  auto values =
      llvm::map_to_vector(channels.channels(), [&](const auto &channel) {
        return static_cast<T>(read(channel));
      });
  return DenseElementsAttr::get(
      RankedTensorType::get(int64_t(values.size()), elementType),
      ArrayRef<T>(values));
}

tpc::StatisticsAttr mct::createStatistics(MLIRContext *context,
                                          const Histogram &histogram,
                                          const ChannelStatistics *channels,
                                          StringRef name) {
  using Channel = ChannelStatistics::Channel;
  ElementsAttr mean, meanSquare, min, max;
  if (channels) {
    Type f64 = Float64Type::get(context), f32 = Float32Type::get(context);
    mean = createPerChannel<double>(
        f64, *channels, [](const Channel &channel) { return channel.mean(); });
    meanSquare =
        createPerChannel<double>(f64, *channels, [](const Channel &channel) {
          return channel.count
                     ? channel.sumOfSquares.round() / double(channel.count)
                     : 0.0;
        });
    min = createPerChannel<float>(
        f32, *channels, [](const Channel &channel) { return channel.min; });
    max = createPerChannel<float>(
        f32, *channels, [](const Channel &channel) { return channel.max; });
  }
  return tpc::StatisticsAttr::get(
      context, int64_t(histogram.count()), int64_t(histogram.zeros()),
      histogram.min(), histogram.max(),
      createHistogram(context, histogram.parts(), name), mean, meanSquare, min,
      max);
}

std::optional<SmallVector<int64_t>>
mct::readCounts(tpc::HistogramAttr histogram) {
  ElementsAttr counts = histogram.getCounts();
  // A splat of any length takes only a few bytes of text, but no histogram is
  // longer than this.
  if (counts.getNumElements() > Histogram::kBins)
    return std::nullopt;
  std::optional<SmallVector<int64_t>> values;
  if (!counts.getElementType().isInteger(32))
    values = tpc::readElements<int64_t>(counts);
  else if (auto narrow = tpc::readElements<int32_t>(counts))
    values = llvm::to_vector_of<int64_t>(*narrow);
  if (!values || llvm::any_of(*values, [](int64_t count) { return count < 0; }))
    return std::nullopt;
  return values;
}

llvm::Expected<Histogram> mct::readHistogram(tpc::StatisticsAttr statistics) {
  auto refuse = [](const Twine &why) { return llvm::createStringError(why); };
  Histogram::Parts parts;
  parts.min = float(statistics.getMin());
  parts.max = float(statistics.getMax());
  parts.zeros = uint64_t(statistics.getZeros());
  tpc::HistogramAttr stored = statistics.getHistogram();
  if (!stored && statistics.getZeros() != statistics.getCount())
    return refuse("has statistics without a histogram; run mct-calibrate, or "
                  "use error-method=no-clipping");
  if (stored) {
    std::optional<SmallVector<int64_t>> counts = readCounts(stored);
    if (!counts)
      return refuse("has a histogram whose " +
                    Twine(stored.getCounts().getNumElements()) +
                    " counts are missing, negative or more than the " +
                    Twine(Histogram::kBins) +
                    " that there can be; run mct-calibrate again");
    parts.exponent = int(stored.getStepExponent() + kBinsLog2 - 1);
    // Bins outside of the range of int do not exist.
    parts.firstBin = int(std::clamp<int64_t>(
        stored.getFirst() + Histogram::kBins / 2, -1, Histogram::kBins));
    parts.counts.assign(counts->begin(), counts->end());
  }
  llvm::Expected<Histogram> histogram = Histogram::fromParts(parts);
  if (!histogram)
    return refuse("has statistics that no data can give: " +
                  llvm::toString(histogram.takeError()));
  if (int64_t(histogram->count()) != statistics.getCount())
    return refuse("has statistics of " + Twine(statistics.getCount()) +
                  " elements with a histogram of " + Twine(histogram->count()));
  return histogram;
}

FailureOr<Histogram>
mct::getHistogram(tpc::StatisticsAttr statistics,
                  llvm::function_ref<InFlightDiagnostic()> emitError) {
  llvm::Expected<Histogram> histogram = readHistogram(statistics);
  if (!histogram)
    return emitError() << llvm::toString(histogram.takeError());
  return std::move(*histogram);
}

/// Maps each value; `map` also receives the channel. A splat stays one if
/// `sameForAll` is set, since it may stand for any number of channels.
template <typename T>
static ElementsAttr mapEach(ElementsAttr elements, bool sameForAll,
                            llvm::function_ref<double(size_t, double)> map) {
  auto dense = dyn_cast_or_null<DenseElementsAttr>(elements);
  if (!dense)
    return {};
  if (dense.isSplat() && sameForAll)
    return DenseElementsAttr::get(dense.getType(),
                                  T(map(0, dense.getSplatValue<T>())));
  SmallVector<T> values;
  for (T value : dense.getValues<T>())
    values.push_back(T(map(values.size(), value)));
  return DenseElementsAttr::get(dense.getType(), ArrayRef<T>(values));
}

FailureOr<tpc::StatisticsAttr>
mct::shiftStatistics(tpc::StatisticsAttr statistics, double offset,
                     StringRef name,
                     llvm::function_ref<InFlightDiagnostic()> emitError) {
  if (!statistics)
    return statistics;
  if (!std::isfinite(float(statistics.getMin() + offset)) ||
      !std::isfinite(float(statistics.getMax() + offset)))
    return emitError() << "has values of " << statistics.getMin() << " to "
                       << statistics.getMax() << ", which plus " << offset
                       << " leave the range of f32";
  auto add = [&](size_t, double value) { return value + offset; };
  auto means = dyn_cast_or_null<DenseElementsAttr>(statistics.getChannelMean());
  // One mean for all channels, or one for each.
  SmallVector<double> mean;
  bool sameMeans = means && means.isSplat();
  if (sameMeans)
    mean.push_back(means.getSplatValue<double>());
  else if (means)
    mean.assign(means.value_begin<double>(), means.value_end<double>());
  // mean((x + c)^2) = mean(x^2) + 2 c mean(x) + c^2
  auto addToSquare = [&](size_t channel, double square) {
    return square + offset * (2 * mean[sameMeans ? 0 : channel] + offset);
  };
  int64_t zeros = 0;
  float min = float(statistics.getMin() + offset),
        max = float(statistics.getMax() + offset);
  tpc::HistogramAttr histogram;
  if (statistics.getHistogram() ||
      statistics.getZeros() == statistics.getCount()) {
    FailureOr<Histogram> original = getHistogram(statistics, emitError);
    if (failed(original))
      return failure();
    tpc::StatisticsAttr shifted =
        createStatistics(statistics.getContext(),
                         quantization::shiftHistogram(*original, offset),
                         /*channels=*/nullptr, name);
    zeros = shifted.getZeros();
    min = float(shifted.getMin());
    max = float(shifted.getMax());
    histogram = shifted.getHistogram();
  }
  return tpc::StatisticsAttr::get(
      statistics.getContext(), statistics.getCount(), zeros, min, max,
      histogram, mapEach<double>(statistics.getChannelMean(), true, add),
      mapEach<double>(statistics.getChannelMeanSquare(), sameMeans,
                      addToSquare),
      mapEach<float>(statistics.getChannelMin(), true, add),
      mapEach<float>(statistics.getChannelMax(), true, add));
}
