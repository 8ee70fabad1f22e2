// SPDX-License-Identifier: Apache-2.0
#include "Observe.h"
#include "Describe.h"
#include "mct/Calibration/PointStatistics.h"
#include "mct/IR/EntryFunction.h"
#include "mct/Interfaces/SetBatch.h"
#include "mct/Planning/KernelOp.h"
#include "mct/Quantization/Histogram.h"
#include "llvm/ADT/bit.h"
#include <map>

using namespace mlir;
using namespace mct;
using namespace mct::report;
using quantization::HistogramScratch;
namespace json = llvm::json;

namespace {
/// The histogram of a value, and the range of each channel.
struct ObservedValue {
  quantization::Histogram histogram;
  std::vector<float> least, largest;

  void merge(const ObservedValue &other) {
    histogram.merge(other.histogram);
    if (least.empty()) {
      least = other.least;
      largest = other.largest;
    }
    for (size_t channel = 0; channel != other.least.size(); ++channel) {
      least[channel] = std::min(least[channel], other.least[channel]);
      largest[channel] = std::max(largest[channel], other.largest[channel]);
    }
  }

  Statistics toStatistics() const {
    Statistics statistics = report::toStatistics(histogram);
    statistics.channelMin.assign(least.begin(), least.end());
    statistics.channelMax.assign(largest.begin(), largest.end());
    return statistics;
  }
};
/// Values by the unique names of their points.
using ObservedValues = std::map<std::string, ObservedValue>;

/// Collects the observations of a value by one worker.
class ValueObserver : public execution::TensorObserver {
public:
  ValueObserver(HistogramScratch &scratch, bool hasChannels)
      : scratch(scratch), hasChannels(hasChannels) {}

  void observe(const execution::TensorView &values) override {
    ArrayRef<float> data = values.floats();
    ArrayRef<int64_t> shape = values.shape();
    observedValue.histogram.observe(data.data(), data.size(), scratch);
    if (!hasChannels || shape.empty() || shape.back() == 0)
      return;
    auto channels = size_t(shape.back());
    observedValue.least.resize(channels,
                               std::numeric_limits<float>::infinity());
    observedValue.largest.resize(channels,
                                 -std::numeric_limits<float>::infinity());
    for (; data.size() >= channels; data = data.drop_front(channels))
      for (size_t channel = 0; channel != channels; ++channel) {
        // A NaN changes neither.
        observedValue.least[channel] =
            std::min(observedValue.least[channel], data[channel]);
        observedValue.largest[channel] =
            std::max(observedValue.largest[channel], data[channel]);
      }
  }

  llvm::Error merge(const ValueObserver &other) {
    observedValue.merge(other.observedValue);
    return llvm::Error::success();
  }
  ObservedValue take() { return std::move(observedValue); }

private:
  ObservedValue observedValue;
  HistogramScratch &scratch;
  bool hasChannels;
};
} // namespace

//===----------------------------------------------------------------------===//
// Shards
//===----------------------------------------------------------------------===//

static constexpr StringLiteral kObserved = "observed values";

/// Writes floats as the integers of their bits.
static json::Array toBits(ArrayRef<float> values) {
  json::Array bits;
  for (float value : values)
    bits.push_back(int64_t(llvm::bit_cast<uint32_t>(value)));
  return bits;
}

static bool readBits(const json::Object &object, StringRef name,
                     std::vector<float> &values) {
  const json::Array *bits = object.getArray(name);
  for (size_t index = 0; bits && index != bits->size(); ++index) {
    auto number = (*bits)[index].getAsInteger();
    if (!number)
      return false;
    values.push_back(llvm::bit_cast<float>(uint32_t(*number)));
  }
  return bits != nullptr;
}

static json::Object toJson(const ObservedValues &values) {
  calibration::StatisticsFile statistics;
  json::Object channels;
  for (const auto &[name, observedValue] : values) {
    if (observedValue.histogram.empty())
      continue;
    statistics.points[name].histogram = observedValue.histogram;
    channels[name] = json::Object{{"least", toBits(observedValue.least)},
                                  {"largest", toBits(observedValue.largest)}};
  }
  return json::Object{{"points", statistics.pointsToJson()},
                      {"channels", std::move(channels)}};
}

/// Adds the values of one shard.
static llvm::Error readJson(const json::Object &object,
                            ObservedValues &values) {
  const json::Object *points = object.getObject("points"),
                     *channels = object.getObject("channels");
  if (!points || !channels)
    return llvm::createStringError("expected 'points' and 'channels'");
  auto statistics = calibration::StatisticsFile::pointsFromJson(*points);
  if (!statistics)
    return statistics.takeError();
  for (auto &[name, point] : *statistics) {
    ObservedValue own;
    own.histogram = std::move(point.histogram);
    const json::Object *ranges = channels->getObject(name);
    ObservedValue &all = values[name];
    if (!ranges || !readBits(*ranges, "least", own.least) ||
        !readBits(*ranges, "largest", own.largest) ||
        own.least.size() != own.largest.size() ||
        (!all.least.empty() && all.least.size() != own.least.size()))
      return llvm::createStringError("expected 'least' and 'largest' of the "
                                     "channels of '" +
                                     name + "'");
    all.merge(own);
  }
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

/// Returns whether the last axis has channels and is not the batch.
static bool hasChannels(tpc::QuantizeOp point,
                        const FailureOr<BatchDimensions> &dimensions) {
  if (failed(dimensions))
    return false;
  Value input = point.getInput();
  auto batch = dimensions->find(input);
  return batch != dimensions->end() &&
         batch->second.dimension !=
             cast<RankedTensorType>(input.getType()).getRank() - 1;
}

/// Runs the network on the samples.
static FailureOr<ObservedValues>
runSamples(ModuleOp module, func::FuncOp entry,
           ArrayRef<tpc::QuantizeOp> points,
           const execution::RunSettings &settings, execution::Shards *shards) {
  execution::CompileOptions options;
  options.function = entry.getSymName().str();
  options.simulateQuantization = false;
  options.observeAfterQuantization = false;
  options.observeAllPoints = true;
  FailureOr<execution::NetworkRun> run =
      execution::NetworkRun::prepare(module, options, settings);
  if (failed(run))
    return failure();
  FailureOr<BatchDimensions> dimensions =
      followBatch(entry, /*emitErrors=*/false);
  std::vector<HistogramScratch> scratch(run->numWorkers());
  auto observers =
      run->observe<ValueObserver>([&](size_t worker, size_t number) {
        return std::make_unique<ValueObserver>(
            scratch[worker], hasChannels(points[number], dimensions));
      });
  if (failed(observers) ||
      (shards && failed(execution::recordSampleHashes(*shards, entry, settings,
                                                      run->samples()))))
    return failure();
  ObservedValues values;
  for (auto [point, observer] : llvm::zip_equal(points, *observers))
    values[tpc::QuantizeOp(point).getUniqueName()] = observer->take();
  return values;
}

/// Returns the observations of all shards, or an empty map if this shard has
/// recorded its own.
static FailureOr<ObservedValues>
readShards(execution::Shards &shards, StringRef key,
           llvm::function_ref<FailureOr<ObservedValues>()> runSamples) {
  auto parts = shards.find(kObserved, key);
  if (failed(parts))
    return failure();
  ObservedValues values;
  for (const execution::ShardPart *part : *parts)
    if (failed(shards.read(*part, [&](const json::Object &content) {
          return readJson(content, values);
        })))
      return failure();
  if (!parts->empty())
    return values;
  if (!shards.canMeasure())
    return shards.reportMissing(kObserved);
  FailureOr<ObservedValues> own = runSamples();
  if (failed(own))
    return failure();
  shards.record(kObserved, key, toJson(*own));
  return values;
}

LogicalResult report::observe(ModuleOp quantized, const KernelOps &kernels,
                              StringRef function,
                              const execution::RunSettings &settings,
                              execution::Shards *shards, Report &report) {
  OwningOpRef<ModuleOp> module = quantized.clone();
  FailureOr<func::FuncOp> entry = findEntryFunction(*module, function);
  if (failed(entry))
    return failure();
  SmallVector<tpc::QuantizeOp> points;
  entry->walk([&](tpc::QuantizeOp point) {
    if (point.isActivation())
      points.push_back(point);
  });
  if (points.empty())
    return success();
  takeBackCorrectionsBelow(*entry, kernels);

  auto run = [&] {
    return runSamples(*module, *entry, points, settings, shards);
  };
  FailureOr<ObservedValues> values =
      shards ? readShards(*shards,
                          execution::nameContent(*module) + " " +
                              entry->getSymName().str(),
                          run)
             : run();
  if (failed(values))
    return failure();
  for (Point &point : report.points)
    if (auto observedValue = values->find(point.name);
        observedValue != values->end())
      point.observed = observedValue->second.toStatistics();
  // A point without values has been observed, too.
  for (Point &point : report.points)
    if (shards && !point.observed &&
        llvm::any_of(points, [&](tpc::QuantizeOp of) {
          return of.getUniqueName() == point.name;
        }))
      point.observed = ObservedValue().toStatistics();
  return success();
}
