// SPDX-License-Identifier: Apache-2.0
#include "WeightRounding.h"

#include "mct/Quantization/Parallel.h"
#include "mct/Quantizers/Simd.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace mct;
using namespace mct::corrections;
using execution::TensorView;
using quantization::ProductMoments;
using quantization::WeightLevels;

//===----------------------------------------------------------------------===//
// Levels
//===----------------------------------------------------------------------===//

/// Returns a quantizer of the same kind whose parameters are multiplied by
/// `factors`, or null if that is not possible.
static tpc::QuantizerAttrInterface scale(tpc::QuantizerAttrInterface quantizer,
                                         ArrayRef<double> factors) {
  ArrayRef<double> thresholds = quantizer.getThresholds();
  if (thresholds.empty())
    return quantizer.takesFactors() ? quantizer.scaledBy(factors)
                                    : tpc::QuantizerAttrInterface();
  SmallVector<double> scaled;
  for (auto [number, threshold] : llvm::enumerate(thresholds))
    scaled.push_back(threshold * factors[factors.size() == 1 ? 0 : number]);
  return quantizer.withThresholds(scaled);
}

/// Returns the levels for each parameter; a parameter need not belong to
/// exactly one output channel.
static std::vector<WeightLevels>
getLevels(tpc::QuantizerAttrInterface quantizer) {
  std::vector<WeightLevels> levels;
  for (const quantization::Grid &grid : quantizer.getGrids())
    levels.push_back({grid, {}});
  if (levels.empty())
    for (size_t parameter = 0; parameter != quantizer.getNumChannels();
         ++parameter) {
      SmallVector<float> own = quantizer.getLevels(parameter);
      levels.push_back({{}, {own.begin(), own.end()}});
    }
  return levels;
}

/// Returns for each output channel the index of the parameter of its weights,
/// or none if the weights of a channel have several.
static std::optional<std::vector<size_t>>
getParameters(const Layer &layer, tpc::QuantizerAttrInterface quantizer) {
  std::vector<size_t> parameters(layer.op.numOutputChannels(), 0);
  if (quantizer.getNumChannels() == 1)
    return parameters;
  ArrayRef<int64_t> shape = layer.op.getKernelShape();
  tpc::QuantizeOp point = layer.point;
  SmallVector<int64_t> steps(shape.size(), 0);
  int64_t step = 1;
  for (int64_t axis : llvm::reverse(point.getChannelAxes())) {
    // The weights of one channel have different parameters along this axis.
    if (shape[axis] > 1 && !llvm::is_contained(layer.op.getOutAxes(), axis))
      return std::nullopt;
    steps[axis] = step;
    step *= shape[axis];
  }
  for (auto [channel, parameter] : llvm::enumerate(parameters)) {
    auto rest = int64_t(channel);
    for (int64_t axis : llvm::reverse(layer.op.getOutAxes())) {
      parameter += size_t(rest % shape[axis] * steps[axis]);
      rest /= shape[axis];
    }
  }
  return parameters;
}

static bool hasDuplicates(ArrayRef<size_t> numbers) {
  std::vector<size_t> sorted(numbers.begin(), numbers.end());
  llvm::sort(sorted);
  return std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
}

void RoundedLayer::makeCandidates(tpc::QuantizerAttrInterface quantizer) {
  candidates.clear();
  for (double factor : factors) {
    std::vector<WeightLevels> levels =
        getLevels(factor == 1 ? quantizer : scale(quantizer, factor));
    if (levels.size() == 1) {
      candidates.push_back(std::move(levels));
      continue;
    }
    std::vector<WeightLevels> &byChannel = candidates.emplace_back();
    byChannel.reserve(channelParameters.size());
    for (size_t parameter : channelParameters)
      byChannel.push_back(levels[parameter]);
  }
}

std::variant<Record, RoundedLayer>
mct::corrections::describeRounding(const Layer &layer,
                                   tpc::QuantizerAttrInterface quantizer,
                                   unsigned maxBits, int stride) {
  // With one range for all channels, most of them use only a part of it, as if
  // they had one bit less.
  bool shares = maxBits != 0 && quantizer.getNumChannels() == 1 &&
                layer.op.numOutputChannels() > 1;
  if (quantizer.getBits() - unsigned(shares) > maxBits)
    return Record(Reason::TooManyBits)
           << "its kernel has more bits than max-bits";
  std::optional<ProductLayout> layout = ProductLayout::create(layer.op);
  if (!layout)
    return Record(Reason::OtherLayout);
  std::optional<std::vector<size_t>> parameters =
      getParameters(layer, quantizer);
  if (!parameters)
    return Record(Reason::NotPerChannel)
           << "weights of one output channel have several thresholds";
  RoundedLayer rounded(std::move(*layout), std::move(*parameters));
  rounded.choosesPerChannel = !hasDuplicates(rounded.channelParameters);
  auto add = [&](double factor) {
    tpc::QuantizerAttrInterface scaled =
        factor == 1 ? quantizer : scale(quantizer, factor);
    if (!scaled ||
        failed(scaled.verifyParameters([&] { return InFlightDiagnostic(); })))
      return;
    rounded.factors.push_back(factor);
  };
  add(1);
  // A single threshold is chosen for all channels together. Thresholds that
  // only some channels share are kept.
  if (stride != 0 &&
      (quantizer.getNumChannels() == 1 || rounded.choosesPerChannel))
    for (int step = -24; step <= 12; step += stride)
      if (step != 0)
        add(std::exp2(step / 20.0));
  return rounded;
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// Scrambles a number, so that rows chosen by it are unrelated to the rows and
/// columns of images.
static uint64_t scramble(uint64_t number) {
  number += 0x9e3779b97f4a7c15;
  number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9;
  number = (number ^ (number >> 27)) * 0x94d049bb133111eb;
  return number ^ (number >> 31);
}

static uint8_t getBit(LayerValue kind) { return uint8_t(1U << unsigned(kind)); }

ProductRows::ProductRows(const ProductLayout &layout, int64_t unit,
                         int64_t rowsPerUnit, int64_t samples, int64_t bytes,
                         bool hasSummand)
    : layout(layout), unit(unit), rowsPerUnit(rowsPerUnit),
      complete(getBit(LayerValue::Input) | getBit(LayerValue::FloatOutput)) {
  if (hasSummand)
    complete |= getBit(LayerValue::Summand) | getBit(LayerValue::FloatSummand);
  bool areSeparate = rowsPerUnit % unit == 0;
  int64_t parts =
      areSeparate ? samples : int64_t(llvm::divideCeil(samples, unit));
  int64_t rowsPerPart = areSeparate ? rowsPerUnit / unit : rowsPerUnit;
  total = rowsPerPart * parts;
  half = rowsPerPart * (parts / 2);
  int64_t rowBytes =
      int64_t(sizeof(float)) * (layout.rowSize() + layout.channels());
  int64_t most = std::max<int64_t>(1, bytes / rowBytes);
  step = std::max<int64_t>(1, int64_t(llvm::divideCeil(total, most)));
  auto kept = int64_t(llvm::divideCeil(total, step));
  inputs.resize(kept * layout.rowSize());
  targets.resize(kept * layout.channels());
  observed.assign(kept, 0);
}

void ProductRows::add(LayerValue kind, const TensorView &values) {
  if (!(complete & getBit(kind)))
    return;
  float sign = kind == LayerValue::Summand ? -1 : 1;
  std::vector<float> made(layout.channels());
  ArrayRef<int64_t> shape = values.shape();
  int64_t first = values.samples().first / unit * rowsPerUnit;
  int64_t rows = rowsPerUnit % unit == 0
                     ? rowsPerUnit / unit * values.samples().count
                     : rowsPerUnit;
  const float *data = values.floats().data();
  for (int64_t slot = first / step; slot * step < first + rows; ++slot) {
    int64_t begin = slot * step;
    auto among = uint64_t(std::min(step, total - begin));
    int64_t row = begin + int64_t(scramble(uint64_t(slot)) % among) - first;
    if (row < 0 || row >= rows)
      continue;
    // Only the worker that has this row writes it, and it sees the values of a
    // unit in the same order, whatever the other workers do.
    observed[slot] |= getBit(kind);
    if (kind == LayerValue::Input) {
      layout.gatherInput(data, shape, row, &inputs[slot * layout.rowSize()]);
      continue;
    }
    layout.gatherResult(data, shape, row, made.data());
    float *target = &targets[slot * layout.channels()];
    for (auto [channel, value] : llvm::enumerate(made))
      target[channel] += sign * value;
  }
}

double ProductRows::shrinkTargets(ArrayRef<float> weights,
                                  const support::Threads &threads) {
  quantization::TargetRows rows;
  auto firstHalf = int64_t(llvm::divideCeil(half, step));
  rows.half =
      std::count(observed.begin(), observed.begin() + firstHalf, complete);
  rows.rows = compact();
  rows.groups = layout.groups();
  rows.columns = layout.columns();
  rows.outputs = layout.outputs();
  rows.inputs = inputs.data();
  rows.targets = targets.data();
  return quantization::shrinkTargets(
      rows, weights, quantization::RoundingProblem::kDamping, threads);
}

template <typename T>
static MCT_VECTOR_BODY void countInfinite(const T *values, int64_t count,
                                          int64_t &found) {
  for (int64_t i = 0; i != count; ++i)
    found += !(std::fabs(values[i]) <= std::numeric_limits<T>::max());
}

int64_t ProductRows::countNonFinite() const {
  int64_t found = 0;
  for (const std::vector<float> *values : {&inputs, &targets})
    quantization::runVectorLoop<countInfinite<float>>(
        values->data(), int64_t(values->size()), found);
  return found;
}

std::vector<ProductMoments>
ProductRows::moments(const support::Threads &threads) {
  int64_t rows = compact(), width = layout.rowSize();
  std::vector<ProductMoments> groups(layout.groups());
  bool single = groups.size() == 1;
  auto compute = [&](size_t group, const support::Threads &own) {
    groups[group] = quantization::productMoments(
        {inputs.data() + int64_t(group) * layout.columns(), rows,
         layout.columns(), width},
        {targets.data() + int64_t(group) * layout.outputs(), rows,
         layout.outputs(), layout.channels()},
        own);
  };
  if (single)
    compute(0, threads);
  else
    quantization::parallelFor(groups.size(), threads,
                              [&](size_t group) { compute(group, 1); });
  return groups;
}

int64_t ProductRows::compact() {
  int64_t rows = 0;
  for (int64_t slot = 0; slot != int64_t(observed.size()); ++slot) {
    if (observed[slot] != complete)
      continue;
    if (rows != slot) {
      std::copy_n(&inputs[slot * layout.rowSize()], layout.rowSize(),
                  &inputs[rows * layout.rowSize()]);
      std::copy_n(&targets[slot * layout.channels()], layout.channels(),
                  &targets[rows * layout.channels()]);
    }
    observed[slot] = 0;
    observed[rows++] = complete;
  }
  return rows;
}

//===----------------------------------------------------------------------===//
// Samples
//===----------------------------------------------------------------------===//

ProductSamples ProductSamples::take(std::unique_ptr<ProductRows> rows,
                                    const support::Threads &threads) {
  ProductSamples samples;
  int64_t most = quantization::WideRoundingProblem::mostColumns(
      quantization::WideRoundingProblem::kMaxBytes);
  if (rows->layout.groups() == 1 && rows->layout.columns() > most) {
    samples.numRows = rows->compact();
    samples.rows = std::move(rows);
  } else {
    samples.moments = rows->moments(threads);
  }
  return samples;
}

bool ProductSamples::hasFiniteSquares() const {
  auto isFinite = [](ArrayRef<double> values) {
    int64_t found = 0;
    quantization::runVectorLoop<countInfinite<double>>(
        values.data(), int64_t(values.size()), found);
    return found == 0;
  };
  // The squares of values up to this one can be summed over all rows.
  constexpr float kLargest = 1e16f;
  auto isSmall = [](ArrayRef<float> values) {
    return llvm::all_of(
        values, [](float value) { return std::abs(value) <= kLargest; });
  };
  if (rows)
    return isSmall(rows->inputs) && isSmall(rows->targets);
  return llvm::all_of(moments, [&](const ProductMoments &group) {
    return isFinite(group.covariance) && isFinite(group.cross) &&
           isFinite(group.targetVariance);
  });
}

quantization::MatrixView ProductSamples::inputs() const {
  return {rows->inputs.data(), numRows, rows->layout.columns(),
          rows->layout.rowSize()};
}

quantization::MatrixView ProductSamples::targets() const {
  return {rows->targets.data(), numRows, rows->layout.outputs(),
          rows->layout.channels()};
}

//===----------------------------------------------------------------------===//
// Rounding
//===----------------------------------------------------------------------===//

quantization::RoundedWeights mct::corrections::roundWeights(
    const ProductSamples &samples, ArrayRef<float> weights,
    const RoundedLayer &layer, const support::Threads &threads) {
  if (samples.rows) {
    quantization::WideRoundingProblem problem;
    problem.inputs = samples.inputs();
    problem.targets = samples.targets();
    problem.weights = weights;
    problem.candidates = layer.candidates;
    problem.choosesPerChannel = layer.choosesPerChannel;
    return quantization::roundWideLayer(problem, threads);
  }
  quantization::RoundingProblem problem;
  problem.groups = samples.moments;
  problem.weights = weights;
  problem.candidates = layer.candidates;
  problem.choosesPerChannel = layer.choosesPerChannel;
  return quantization::roundLeastSquares(problem, threads);
}

LogicalResult mct::corrections::checkSquares(const Layer &layer,
                                             const ProductSamples &samples) {
  if (samples.hasFiniteSquares())
    return success();
  return emitError(layer.op.getLoc())
         << "saw values whose squares are beyond the range of f32; check the "
            "input scale and the weights";
}

LogicalResult mct::corrections::roundLayer(
    const Layer &layer, tpc::QuantizerAttrInterface quantizer,
    const ProductSamples &samples, RoundedLayer &rounded,
    const support::Threads &threads) {
  if (failed(checkSquares(layer, samples)))
    return failure();
  std::vector<float> weights =
      rounded.layout.fromKernel(layer.op.getKernel().values());
  quantization::RoundedWeights result =
      roundWeights(samples, weights, rounded, threads);
  if (threads.isCancelled())
    return emitError(layer.op.getLoc()) << "keeps its weights: cancelled";
  takeRounded(layer, quantizer, result, rounded);
  return success();
}

void mct::corrections::takeRounded(const Layer &layer,
                                   tpc::QuantizerAttrInterface quantizer,
                                   const quantization::RoundedWeights &result,
                                   RoundedLayer &rounded) {
  tpc::QuantizeOp point = layer.point;
  rounded.parameters = quantizer;
  rounded.bias.clear();
  rounded.error = rounded.nearestError = 0;
  SmallVector<double> factors(rounded.parameters.getNumChannels(), 1.0);
  rounded.errors.assign(factors.size(), 0.0);
  auto sharing = double(result.chosen.size()) / double(factors.size());
  for (auto [channel, chosen] : llvm::enumerate(result.chosen)) {
    size_t parameter = rounded.channelParameters[channel];
    factors[parameter] = rounded.factors[chosen];
    rounded.errors[parameter] += std::max(0.0, result.error[channel]) / sharing;
    rounded.error += result.error[channel];
    rounded.nearestError += result.nearestError[channel];
    rounded.bias.push_back(float(result.bias[channel]));
  }
  if (llvm::any_of(factors, [](double factor) { return factor != 1; }))
    rounded.parameters = scale(rounded.parameters, factors);
  // Recompute the levels as the quantizer does.
  rounded.kernel = rounded.layout.toKernel(result.weights);
  rounded.parameters.fakeQuantize(layer.op.getKernelShape(),
                                  point.getChannelAxes(), rounded.kernel.data(),
                                  rounded.kernel.data());
}
