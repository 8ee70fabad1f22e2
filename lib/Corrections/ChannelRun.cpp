// SPDX-License-Identifier: Apache-2.0
#include "ChannelRun.h"

#include "mct/Support/ByteSize.h"

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace mct;
using namespace mct::corrections;
using quantization::ChannelStatistics;

void mct::corrections::observeChannels(ChannelStatistics &statistics,
                                       const float *data,
                                       ArrayRef<int64_t> shape, int64_t axis,
                                       std::vector<float> &scratch) {
  int64_t outer = 1, channels = shape[axis], inner = 1;
  for (int64_t size : shape.take_front(axis))
    outer *= size;
  for (int64_t size : shape.drop_front(axis + 1))
    inner *= size;
  if (inner == 1)
    return statistics.observe(data, outer, channels);
  scratch.resize(channels * inner);
  for (int64_t block = 0; block != outer; ++block, data += channels * inner) {
    for (int64_t channel = 0; channel != channels; ++channel)
      for (int64_t i = 0; i != inner; ++i)
        scratch[i * channels + channel] = data[channel * inner + i];
    statistics.observe(scratch.data(), inner, channels);
  }
}

void SampleMeans::add(int64_t first, int64_t count, const float *data,
                      ArrayRef<int64_t> shape, int64_t axis) {
  int64_t elements = 1, inner = 1;
  for (int64_t size : shape)
    elements *= size;
  for (int64_t size : shape.drop_front(axis + 1))
    inner *= size;
  int64_t perSample = elements / count;
  int64_t samples = channels ? int64_t(means.size()) / channels : 0;
  for (int64_t sample = first; sample < std::min(first + count, samples);
       ++sample, data += perSample) {
    double *mean = &means[sample * channels];
    std::fill_n(mean, channels, 0.0);
    int64_t rows = perSample / (channels * inner);
    if (inner == 1) {
      for (int64_t row = 0; row != rows; ++row)
        for (int64_t channel = 0; channel != channels; ++channel)
          mean[channel] += data[row * channels + channel];
    } else {
      for (int64_t row = 0; row != rows * channels; ++row)
        for (int64_t i = 0; i != inner; ++i)
          mean[row % channels] += data[row * inner + i];
    }
    for (int64_t channel = 0; channel != channels; ++channel)
      mean[channel] /= double(perSample / channels);
  }
}

void SampleMeans::add(int64_t first, int64_t count, const SampleMeans &other) {
  int64_t samples = channels ? int64_t(means.size()) / channels : 0;
  for (int64_t sample = 0; sample < std::min(count, samples - first); ++sample)
    std::copy_n(&other.means[sample * channels], channels,
                &means[(first + sample) * channels]);
}

std::vector<double>
SampleMeans::varianceOfDifference(const SampleMeans &left,
                                  const SampleMeans &right) {
  std::vector<double> result(left.channels, 0.0);
  int64_t samples = left.channels ? left.means.size() / left.channels : 0;
  if (samples < kMinSamples)
    return result;
  std::vector<double> differences(samples);
  for (int64_t channel = 0; channel != left.channels; ++channel) {
    for (int64_t sample = 0; sample != samples; ++sample) {
      int64_t i = sample * left.channels + channel;
      differences[sample] = left.means[i] - right.means[i];
    }
    // Sums of doubles depend on the order, which is that of the files.
    llvm::sort(differences);
    double mean = 0, variance = 0;
    for (double difference : differences)
      mean += difference / double(samples);
    for (double difference : differences)
      variance += (difference - mean) * (difference - mean);
    result[channel] = variance / double(samples - 1) / double(samples);
  }
  return result;
}

namespace {
class ChannelObserver : public execution::TensorObserver {
public:
  /// `perSample`: elements of one sample; 0: samples cannot be told apart.
  ChannelObserver(int64_t axis, int64_t channels, int64_t perSample,
                  int64_t unit)
      : ofUnit(perSample ? unit : 0, channels), axis(axis),
        perSample(perSample) {}

  void observe(ArrayRef<float> data, ArrayRef<int64_t> shape) override {
    observeChannels(statistics, data.data(), shape, axis, scratch);
    elements += data.size();
    if (perSample)
      ofUnit.add(0, data.size() / perSample, data.data(), shape, axis);
  }

  ChannelStatistics statistics;
  /// Of the samples of the last unit.
  SampleMeans ofUnit;
  uint64_t elements = 0;

private:
  int64_t axis, perSample;
  std::vector<float> scratch;
};
} // namespace

FailureOr<RunSettings>
RunSettings::parse(Location loc, ArrayRef<std::string> files, StringRef scale,
                   StringRef offset, uint64_t limit, uint64_t batchSize,
                   unsigned threads, StringRef maxMemory) {
  if (files.empty())
    return emitError(loc)
           << "correcting needs samples; give calibration-data=FILE.npy";
  auto samples = execution::SampleOptions::parse(files, scale, offset, limit);
  if (!samples)
    return emitError(loc) << llvm::toString(samples.takeError());
  RunSettings settings;
  settings.samples = std::move(*samples);
  settings.run.threads = threads;
  settings.run.batchSize = int64_t(batchSize);
  llvm::Expected<int64_t> memory =
      support::parseByteSize(maxMemory, "max-memory");
  if (!memory)
    return emitError(loc) << llvm::toString(memory.takeError());
  settings.maxMemory = *memory;
  return settings;
}

void mct::corrections::keepOnly(func::FuncOp function,
                                ArrayRef<ChannelValue> values) {
  Block &body = function.getBody().front();
  body.getTerminator()->setOperands({});
  function.removeResAttrsAttr();
  function.setType(FunctionType::get(function.getContext(),
                                     function.getArgumentTypes(), {}));
  llvm::SmallPtrSet<Operation *, 16> kept;
  for (const ChannelValue &value : values)
    if (Operation *op = value.value.getDefiningOp())
      kept.insert(op);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (!kept.contains(&op) && isOpTriviallyDead(&op))
      op.erase();
}

/// The values that depend on the arguments, and so on the samples.
static llvm::DenseSet<Value> findSampled(func::FuncOp function) {
  Block &body = function.getBody().front();
  llvm::DenseSet<Value> sampled(body.args_begin(), body.args_end());
  for (Operation &op : body) {
    bool reads = op.walk([&](Operation *nested) {
                     return llvm::any_of(nested->getOperands(),
                                         [&](Value operand) {
                                           return sampled.contains(operand);
                                         })
                                ? WalkResult::interrupt()
                                : WalkResult::advance();
                   }).wasInterrupted();
    if (reads)
      sampled.insert(op.result_begin(), op.result_end());
  }
  return sampled;
}

FailureOr<ChannelRun> mct::corrections::runFloat(func::FuncOp function,
                                                 ArrayRef<ChannelValue> values,
                                                 const RunSettings &settings) {
  auto module = function->getParentOfType<ModuleOp>();
  execution::CompileOptions options;
  options.function = function.getSymName().str();
  options.simulateQuantization = false;
  options.observeAfterQuantization = false;
  options.maxMemory = settings.maxMemory;
  keepOnly(function, values);
  llvm::DenseSet<Value> sampled = findSampled(function);
  // Values are observed by name, and not all have one of their own.
  OpBuilder builder(module.getContext());
  for (auto [number, value] : llvm::enumerate(values)) {
    std::string name = "mct-corrections:" + std::to_string(number);
    builder.setInsertionPointAfterValue(value.value);
    OperationState state(value.value.getLoc(),
                         tpc::QuantizeOp::getOperationName());
    state.addOperands(value.value);
    state.addTypes(value.value.getType());
    state.addAttribute("point_name", builder.getStringAttr(name));
    builder.create(state);
    options.observed.push_back(name);
  }
  FailureOr<std::unique_ptr<execution::Executor>> executor = failure();
  {
    // Calibration has remarked what runs slowly.
    ScopedDiagnosticHandler quiet(module.getContext(),
                                  [](Diagnostic &diagnostic) {
                                    return success(diagnostic.getSeverity() ==
                                                   DiagnosticSeverity::Remark);
                                  });
    executor = execution::Executor::compile(module, options);
  }
  if (failed(executor))
    return failure();

  auto report = [&](llvm::Error error) -> LogicalResult {
    return emitError(module.getLoc()) << llvm::toString(std::move(error));
  };
  ChannelRun result;
  result.unit = (*executor)->unit();
  result.allowsPartialUnits = (*executor)->allowsPartialUnits();
  auto samples = execution::SampleSource::open(
      settings.samples, (*executor)->inputs(), result.unit);
  if (!samples)
    return report(samples.takeError());
  result.samples = std::move(*samples);

  // Of a fixed batch it is not known how its samples lie in a value; and the
  // means of very many samples are not kept.
  bool told = result.allowsPartialUnits;
  int64_t channels = 0;
  for (auto [value, spec] : llvm::zip(values, (*executor)->observed()))
    channels += spec.type.getDimSize(value.axis);
  told &= channels != 0 &&
          result.samples->numSamples() <=
              SampleMeans::kMaxBytes / int64_t(sizeof(double)) / channels;
  // What the samples do not change has no mean of its own in each of them.
  auto isTold = [&](const ChannelValue &value) {
    return told && sampled.contains(value.value);
  };
  for (auto [value, spec] : llvm::zip(values, (*executor)->observed()))
    result.sampleMeans.emplace_back(isTold(value) ? result.samples->numSamples()
                                                  : 0,
                                    spec.type.getDimSize(value.axis));
  std::vector<std::vector<ChannelObserver>> workers(
      execution::numWorkers(**executor, *result.samples, settings.run));
  for (std::vector<ChannelObserver> &observers : workers)
    for (auto [value, spec] : llvm::zip(values, (*executor)->observed()))
      observers.emplace_back(
          value.axis, spec.type.getDimSize(value.axis),
          isTold(value) ? spec.type.getNumElements() / result.unit : 0,
          result.unit);
  llvm::Error error = execution::forEachUnit(
      **executor, *result.samples, settings.run,
      [&](size_t index, execution::Worker &worker) {
        for (auto [number, observer] : llvm::enumerate(workers[index]))
          worker.setObserver(number, &observer);
      },
      [&](const execution::Unit &unit) {
        // Units have rows of their own.
        for (auto [number, observer] : llvm::enumerate(workers[unit.worker]))
          result.sampleMeans[number].add(unit.firstSample, unit.validSamples,
                                         observer.ofUnit);
        return llvm::Error::success();
      });
  if (error)
    return report(std::move(error));

  for (auto [number, value] : llvm::enumerate(values)) {
    ChannelStatistics &sum = result.statistics.emplace_back();
    uint64_t seen = 0, finite = 0;
    for (std::vector<ChannelObserver> &observers : workers) {
      sum.merge(observers[number].statistics);
      seen += observers[number].elements;
    }
    for (const ChannelStatistics::Channel &channel : sum.channels())
      finite += channel.count;
    if (finite != seen)
      return emitError(value.value.getLoc())
             << "saw " << seen - finite
             << " values that are NaN or infinite; check the input scale and "
                "the weights";
  }
  return result;
}
