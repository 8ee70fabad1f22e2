// SPDX-License-Identifier: Apache-2.0
#include "mct/Transforms/StatisticsConversion.h"
#include "mct/Analysis/Constants.h"
#include "mct/Quantization/HistogramShift.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/Support/MathExtras.h"

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

/// The i64 elements of `counts`, or none when a resource has no data.
static std::optional<std::vector<uint64_t>> readCounts(ElementsAttr counts) {
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(counts)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    size_t expected = size_t(resource.getType().getNumElements());
    if (!blob || blob->getData().size() != expected * sizeof(int64_t))
      return std::nullopt;
    ArrayRef<int64_t> values = blob->getDataAs<int64_t>();
    return std::vector<uint64_t>(values.begin(), values.end());
  }
  auto values = counts.tryGetValues<int64_t>();
  if (!values)
    return std::nullopt;
  return std::vector<uint64_t>(values->begin(), values->end());
}

FailureOr<Histogram>
mct::getHistogram(tpc::StatisticsAttr statistics,
                  llvm::function_ref<InFlightDiagnostic()> emitError) {
  Histogram::Parts parts;
  parts.min = float(statistics.getMin());
  parts.max = float(statistics.getMax());
  parts.zeros = uint64_t(statistics.getZeros());
  tpc::HistogramAttr stored = statistics.getHistogram();
  if (!stored && statistics.getZeros() != statistics.getCount())
    return emitError() << "has statistics without a histogram; run "
                          "mct-calibrate, or use error-method=no-clipping";
  if (stored) {
    std::optional<std::vector<uint64_t>> counts =
        readCounts(stored.getCounts());
    if (!counts)
      return emitError() << "has a histogram whose counts are missing";
    parts.exponent = int(stored.getStepExponent() + kBinsLog2 - 1);
    parts.firstBin = int(stored.getFirst() + Histogram::kBins / 2);
    parts.counts = std::move(*counts);
  }
  llvm::Expected<Histogram> histogram = Histogram::fromParts(parts);
  if (!histogram)
    return emitError() << "has statistics that no data can give: "
                       << llvm::toString(histogram.takeError());
  if (int64_t(histogram->count()) != statistics.getCount())
    return emitError() << "has statistics of " << statistics.getCount()
                       << " elements with a histogram of "
                       << histogram->count();
  return *histogram;
}

template <typename T>
static ElementsAttr mapEach(ElementsAttr elements,
                            llvm::function_ref<double(size_t, double)> map) {
  auto dense = dyn_cast_or_null<DenseElementsAttr>(elements);
  if (!dense)
    return {};
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
  auto add = [&](size_t, double value) { return value + offset; };
  auto means = dyn_cast_or_null<DenseElementsAttr>(statistics.getChannelMean());
  SmallVector<double> mean;
  if (means)
    mean.assign(means.value_begin<double>(), means.value_end<double>());
  // mean((x + c)^2) = mean(x^2) + 2 c mean(x) + c^2
  auto addToSquare = [&](size_t channel, double square) {
    return square + offset * (2 * mean[channel] + offset);
  };
  int64_t zeros = 0;
  float min = float(statistics.getMin() + offset),
        max = float(statistics.getMax() + offset);
  tpc::HistogramAttr histogram;
  if (statistics.getHistogram() ||
      statistics.getZeros() == statistics.getCount()) {
    FailureOr<Histogram> seen = getHistogram(statistics, emitError);
    if (failed(seen))
      return failure();
    tpc::StatisticsAttr shifted = createStatistics(
        statistics.getContext(), quantization::shiftHistogram(*seen, offset),
        /*channels=*/nullptr, name);
    zeros = shifted.getZeros();
    min = float(shifted.getMin());
    max = float(shifted.getMax());
    histogram = shifted.getHistogram();
  }
  return tpc::StatisticsAttr::get(
      statistics.getContext(), statistics.getCount(), zeros, min, max,
      histogram, mapEach<double>(statistics.getChannelMean(), add),
      mapEach<double>(statistics.getChannelMeanSquare(), addToSquare),
      mapEach<float>(statistics.getChannelMin(), add),
      mapEach<float>(statistics.getChannelMax(), add));
}
