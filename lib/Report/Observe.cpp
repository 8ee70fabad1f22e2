// SPDX-License-Identifier: Apache-2.0
#include "Observe.h"
#include "Describe.h"
#include "mct/IR/EntryFunction.h"
#include "mct/Interfaces/SetBatch.h"
#include "mct/Planning/KernelOp.h"
#include "mct/Quantization/Histogram.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace mct;
using namespace mct::report;
using quantization::HistogramScratch;

namespace {
/// The histogram and the range of each channel that one worker has seen.
class ValueObserver : public execution::TensorObserver {
public:
  ValueObserver(HistogramScratch &scratch, bool hasChannels)
      : scratch(scratch), hasChannels(hasChannels) {}

  void observe(const execution::TensorView &values) override {
    ArrayRef<float> data = values.floats();
    ArrayRef<int64_t> shape = values.shape();
    histogram.observe(data.data(), data.size(), scratch);
    if (!hasChannels || shape.empty() || shape.back() == 0)
      return;
    auto channels = size_t(shape.back());
    least.resize(channels, std::numeric_limits<float>::infinity());
    largest.resize(channels, -std::numeric_limits<float>::infinity());
    for (; data.size() >= channels; data = data.drop_front(channels))
      for (size_t channel = 0; channel != channels; ++channel) {
        // A NaN is neither.
        least[channel] = std::min(least[channel], data[channel]);
        largest[channel] = std::max(largest[channel], data[channel]);
      }
  }

  llvm::Error merge(const ValueObserver &other) {
    histogram.merge(other.histogram);
    if (least.empty()) {
      least = other.least;
      largest = other.largest;
    }
    for (size_t channel = 0; channel != other.least.size(); ++channel) {
      least[channel] = std::min(least[channel], other.least[channel]);
      largest[channel] = std::max(largest[channel], other.largest[channel]);
    }
    return llvm::Error::success();
  }

  Statistics toStatistics() const {
    Statistics statistics = report::toStatistics(histogram);
    statistics.channelMin.assign(least.begin(), least.end());
    statistics.channelMax.assign(largest.begin(), largest.end());
    return statistics;
  }

private:
  quantization::Histogram histogram;
  std::vector<float> least, largest;
  HistogramScratch &scratch;
  bool hasChannels;
};
} // namespace

/// Returns whether the last axis is one of channels, and not the batch.
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

LogicalResult report::observe(ModuleOp quantized, const KernelOps &kernels,
                              StringRef function,
                              const execution::RunSettings &settings,
                              Report &report) {
  OwningOpRef<ModuleOp> module = quantized.clone();
  FailureOr<func::FuncOp> entry = findEntryFunction(*module, function);
  if (failed(entry))
    return failure();
  SmallVector<KernelOp> layers;
  SmallVector<tpc::QuantizeOp> points;
  entry->walk([&](Operation *op) {
    if (auto point = dyn_cast<tpc::QuantizeOp>(op);
        point && point.isActivation())
      points.push_back(point);
    std::optional<KernelOp> kernel = kernels.get(op);
    if (kernel && kernel->getCorrections() && kernel->canTakeBackCorrections())
      layers.push_back(*kernel);
  });
  if (points.empty())
    return success();
  OpBuilder builder(*entry);
  for (const KernelOp &layer : layers)
    layer.takeBackCorrections(builder);

  execution::CompileOptions options;
  options.function = entry->getSymName().str();
  options.simulateQuantization = false;
  options.observeAfterQuantization = false;
  options.observeAllPoints = true;
  FailureOr<execution::NetworkRun> run =
      execution::NetworkRun::prepare(*module, options, settings);
  if (failed(run))
    return failure();
  FailureOr<BatchDimensions> dimensions =
      followBatch(*entry, /*emitErrors=*/false);
  std::vector<HistogramScratch> scratch(run->numWorkers());
  auto observers =
      run->observe<ValueObserver>([&](size_t worker, size_t number) {
        return std::make_unique<ValueObserver>(
            scratch[worker], hasChannels(points[number], dimensions));
      });
  if (failed(observers))
    return failure();
  llvm::StringMap<Point *> named;
  for (Point &point : report.points)
    named[point.name] = &point;
  for (auto [point, observer] : llvm::zip_equal(points, *observers))
    if (Point *of = named.lookup(point.getUniqueName()))
      of->observed = observer->toStatistics();
  return success();
}
