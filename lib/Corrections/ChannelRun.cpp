// SPDX-License-Identifier: Apache-2.0
#include "ChannelRun.h"

#include "llvm/ADT/DenseSet.h"
#include <cmath>

using namespace mlir;
using namespace mct;
using namespace mct::corrections;
using execution::TensorView;
using quantization::ChannelStatistics;

/// Adds the elements of a row-major tensor to the statistics of its channels.
static void observeChannels(ChannelStatistics &statistics,
                            const TensorView &values, int64_t axis,
                            std::vector<float> &scratch) {
  const float *data = values.floats().data();
  ArrayRef<int64_t> shape = values.shape();
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

/// Returns the mean, and the sum of the squared differences from it. Sorts the
/// values, since sums of doubles depend on the order, which would be that of
/// the files.
static std::pair<double, double> meanAndSquares(std::vector<double> &values) {
  llvm::sort(values);
  double sum = 0, squares = 0;
  for (double value : values)
    sum += value;
  double mean = values.empty() ? 0 : sum / double(values.size());
  for (double value : values)
    squares += (value - mean) * (value - mean);
  return {mean, squares};
}

double SampleMeans::mean(int64_t channel) const {
  std::vector<double> values;
  for (size_t i = channel; i < means.size(); i += channels)
    values.push_back(means[i]);
  return meanAndSquares(values).first;
}

SampleMeans::Difference SampleMeans::computeDifference(const SampleMeans &left,
                                                       const SampleMeans &right,
                                                       int64_t channel) {
  std::vector<double> differences;
  for (size_t i = channel; i < left.means.size(); i += left.channels)
    differences.push_back(left.means[i] - right.means[i]);
  auto [mean, squares] = meanAndSquares(differences);
  auto samples = int64_t(differences.size());
  if (samples < kMinSamples)
    return {mean, 0};
  return {mean, squares / double(samples - 1) / double(samples)};
}

//===----------------------------------------------------------------------===//
// Summaries
//===----------------------------------------------------------------------===//

ChannelSummary::ChannelSummary(ChannelValue value, int64_t samples,
                               bool moments)
    : value(value),
      channels(
          cast<RankedTensorType>(value.value.getType()).getDimSize(value.axis)),
      samples(samples), means(std::make_shared<SampleMeans>(samples, channels)),
      hasMoments(moments), keepsElements(moments || samples == 0) {}

ChannelSummary ChannelSummary::fresh() const {
  return ChannelSummary(value, samples, hasMoments);
}

void ChannelSummary::add(const TensorView &values) {
  ArrayRef<float> data = values.floats();
  if (keepsElements)
    observeChannels(statistics, values, value.axis, scratch);
  if (!means->empty())
    // All copies share the means, but each sample has its own row.
    means->add(values.samples().first, values.samples().count, data.data(),
               values.shape(), value.axis);
  uint32_t found = 0;
  for (float element : data)
    found += !std::isfinite(element);
  nonFinite += found;
}

void ChannelSummary::merge(const ChannelSummary &other) {
  statistics.merge(other.statistics);
  nonFinite += other.nonFinite;
}

double ChannelSummary::mean(int64_t channel) const {
  if (!keepsElements)
    return means->mean(channel);
  ArrayRef<ChannelStatistics::Channel> measured = statistics.channels();
  return measured.empty() ? 0 : measured[channel].mean();
}

SampleMeans::Difference
ChannelSummary::differenceFrom(const ChannelSummary &other,
                               int64_t channel) const {
  if (!means->empty())
    return SampleMeans::computeDifference(*means, *other.means, channel);
  return {mean(channel) - other.mean(channel), 0};
}

quantization::Moments ChannelSummary::moments(int64_t channel) const {
  const ChannelStatistics::Channel &measured = statistics.channels()[channel];
  double mean = measured.mean();
  double meanSquare =
      measured.count ? measured.sumOfSquares.round() / double(measured.count)
                     : 0;
  return {mean, std::sqrt(std::max(0.0, meanSquare - mean * mean))};
}

LogicalResult ChannelSummary::checkFinite() const {
  if (nonFinite == 0)
    return success();
  return emitError(value.value.getLoc())
         << "saw " << nonFinite
         << " values that are NaN or infinite; check the input scale and the "
            "weights";
}

SmallVector<quantization::Affine> mct::corrections::biasCorrection(
    const ChannelSummary &exact, const ChannelSummary &measured,
    int64_t numSamples, ArrayRef<float> bias, bool shrink) {
  SmallVector<quantization::Affine> correction;
  SmallVector<SampleMeans::Difference> errors;
  // The sum of squared errors, each relative to the square that chance explains
  // with this number of samples.
  auto samples = double(numSamples);
  double total = 0, known = 0, energy = 0;
  for (int64_t channel = 0; channel != measured.numChannels(); ++channel) {
    errors.push_back(exact.differenceFrom(measured, channel));
    auto [error, variance] = errors.back();
    energy += error * error - variance;
    if (variance == 0)
      continue;
    constexpr double kSureEnough = 9;
    total += std::min(kSureEnough,
                      error * error / variance * (samples - 3) / (samples - 1));
    ++known;
  }
  // Leave out the part of the errors that other samples would not show. This
  // shrinks more where the errors of a layer hardly differ from chance as a
  // whole, since few samples determine a single channel badly. The large
  // errors alone, or all of them together, can show that they are not chance.
  double jointFactor = total > 0 ? std::max(0.0, 1 - known / total) : 0;
  double spread = std::max(0.0, energy / double(errors.size()));
  for (auto [error, variance] : errors) {
    if (shrink && variance > 0 && error != 0)
      error *= std::clamp(1 - variance / (error * error), 0.0,
                          std::max(jointFactor, spread / (spread + variance)));
    correction.push_back({1, error});
  }
  // The next layers must see the rounded bias, which is what the module will
  // contain.
  for (auto [affine, value] : llvm::zip(correction, bias))
    affine.offset = double(float(value + affine.offset)) - double(value);
  return correction;
}

/// Returns the values that depend on the arguments, and thus on the samples.
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

execution::CompileOptions mct::corrections::compileFloat(
    func::FuncOp function, ArrayRef<ChannelValue> values, bool keepsResults) {
  keepOnly(function, values, keepsResults);
  execution::CompileOptions options;
  options.function = function.getSymName().str();
  options.simulateQuantization = false;
  options.observeAfterQuantization = false;
  for (const ChannelValue &value : values)
    options.observedValues.push_back(value.value);
  return options;
}

FailureOr<std::vector<std::unique_ptr<execution::Executor>>>
mct::corrections::compileQuietly(ModuleOp module,
                                 MutableArrayRef<execution::CompileOptions> all,
                                 const execution::RunSettings &settings) {
  for (execution::CompileOptions &options : all)
    options.maxMemory = settings.maxMemory;
  ScopedDiagnosticHandler quiet(
      module.getContext(), [](Diagnostic &diagnostic) {
        return success(diagnostic.getSeverity() == DiagnosticSeverity::Remark);
      });
  return execution::Executor::compileAll(module, all, settings.cache.get());
}

FailureOr<CompiledPair>
mct::corrections::compilePair(ModuleOp module,
                              MutableArrayRef<execution::CompileOptions> both,
                              const execution::RunSettings &settings) {
  auto executors = compileQuietly(module, both, settings);
  // Both executors must read the same units. If the batch can be followed
  // through only one of them, use the smaller units.
  if (succeeded(executors) &&
      executors->front()->unit() != executors->back()->unit()) {
    const int64_t unit =
        std::min(executors->front()->unit(), executors->back()->unit());
    for (execution::CompileOptions &options : both)
      options.unit = unit;
    executors = compileQuietly(module, both, settings);
  }
  if (failed(executors))
    return failure();
  auto run = execution::NetworkRun::prepare(
      module.getLoc(), std::move(executors->front()), settings);
  if (failed(run))
    return failure();
  return CompiledPair{std::make_unique<execution::NetworkRun>(std::move(*run)),
                      std::move(executors->back())};
}

std::vector<ChannelSummary>
mct::corrections::createSummaries(const execution::Executor &executor,
                                  int64_t samples, func::FuncOp function,
                                  ArrayRef<ChannelValue> values, bool moments) {
  llvm::DenseSet<Value> sampled = findSampled(function);
  // With a fixed batch, the positions of the samples in a value are unknown,
  // and the means of very many samples would take too much memory.
  int64_t channels = 0;
  for (const ChannelValue &value : values)
    channels +=
        cast<RankedTensorType>(value.value.getType()).getDimSize(value.axis);
  bool keepsMeans =
      executor.allowsPartialUnits() && channels != 0 &&
      samples <= SampleMeans::kMaxBytes / int64_t(sizeof(double)) / channels;
  std::vector<ChannelSummary> summaries;
  for (const ChannelValue &value : values)
    // A value that does not depend on the samples has the same mean for all of
    // them.
    summaries.emplace_back(
        value, keepsMeans && sampled.contains(value.value) ? samples : 0,
        moments);
  return summaries;
}

static FailureOr<std::vector<ChannelSummary>>
summarize(const execution::NetworkRun &run, func::FuncOp function,
          ArrayRef<ChannelValue> values, bool moments) {
  std::vector<ChannelSummary> summaries = createSummaries(
      run.executor(), run.samples().numSamples(), function, values, moments);
  auto observers =
      run.observe<SummaryObserver>([&](size_t /*worker*/, size_t value) {
        return std::make_unique<SummaryObserver>(summaries[value]);
      });
  if (failed(observers))
    return failure();
  for (auto [summary, observer] : llvm::zip(summaries, *observers)) {
    summary = std::move(observer->summary);
    if (failed(summary.checkFinite()))
      return failure();
  }
  return summaries;
}

FailureOr<std::vector<ChannelSummary>>
mct::corrections::runFloat(func::FuncOp function, ArrayRef<ChannelValue> values,
                           const execution::RunSettings &settings,
                           const ChannelRunOptions &runOptions) {
  auto module = function->getParentOfType<ModuleOp>();
  execution::CompileOptions options = compileFloat(function, values);
  auto executors = compileQuietly(module, options, settings);
  if (failed(executors))
    return failure();
  auto run = execution::NetworkRun::prepare(
      module.getLoc(), std::move(executors->front()), settings);
  if (failed(run) || failed(run->thin(runOptions.maxSamples)))
    return failure();
  return summarize(*run, function, values, runOptions.moments);
}
