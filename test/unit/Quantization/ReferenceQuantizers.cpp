// SPDX-License-Identifier: Apache-2.0
#include "ReferenceQuantizers.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>

using namespace mct;
using namespace mct::quantization;
using llvm::ArrayRef;
using llvm::MutableArrayRef;
using Range = LearnedRange::Range;

namespace {
struct StepGradients {
  double step = 0, offset = 0;
};
} // namespace

/// Puts the gradients of values in place of those of results, and returns what
/// comes back to the step, in levels, and to the offset.
static StepGradients passBack(StepGradient gradient, ClipGradient clip,
                              double step, double offset, double lowest,
                              double highest, ArrayRef<float> values,
                              MutableArrayRef<float> gradients) {
  StepGradients sums;
  for (auto [value, back] : llvm::zip(values, gradients)) {
    double level = (double(value) - offset) / step;
    // Round like fakeQuantize: zero is a level, so the result is a level, too.
    double rounded =
        std::nearbyint(double(value) / step) - std::nearbyint(offset / step);
    double clipped = std::clamp(rounded, lowest, highest);
    bool isInside = clipped == rounded;
    if (gradient == StepGradient::StraightThrough) {
      sums.step += back * (clipped - level);
      if (!isInside && clip == ClipGradient::Masked)
        back = 0;
      continue;
    }
    sums.step += back * (clipped - (isInside ? level : 0));
    if (isInside)
      continue;
    sums.offset += back;
    back = 0;
  }
  return sums;
}

Grid LearnedThreshold::freeze(double threshold) const {
  return symmetricGrid(getEffectiveThreshold(threshold, isPowerOfTwo), bits,
                       isSigned);
}

void LearnedThreshold::forward(double threshold, ArrayRef<float> values,
                               MutableArrayRef<float> results) const {
  fakeQuantize(freeze(threshold), values.data(), results.data(), values.size());
}

double LearnedThreshold::backward(double threshold, ArrayRef<float> values,
                                  MutableArrayRef<float> gradients) const {
  Grid grid = freeze(threshold);
  double sum = passBack(gradient, clip, grid.step, /*offset=*/0,
                        double(grid.qmin), double(grid.qmax), values, gradients)
                   .step;
  // Below the smallest threshold nothing moves; the exponent passes p / t.
  if (!(threshold >= kSmallestThreshold))
    return 0;
  return sum * grid.step / threshold * gradientScale;
}

Grid LearnedRange::freeze(Range range) const {
  range = getEffectiveRange(range);
  UniformParameters parameters =
      uniformParametersForRange(range.min, range.max, bits);
  return uniformGrid(parameters.step, parameters.zeroPoint, bits);
}

void LearnedRange::forward(Range range, ArrayRef<float> values,
                           MutableArrayRef<float> results) const {
  fakeQuantize(freeze(range), values.data(), results.data(), values.size());
}

Range LearnedRange::backward(Range range, ArrayRef<float> values,
                             MutableArrayRef<float> gradients) const {
  range = getEffectiveRange(range);
  Grid grid = freeze(range);
  double levels = double(grid.qmax - grid.qmin);
  double offset = grid.step * double(grid.qmin - grid.zeroPoint);
  StepGradients sums =
      passBack(gradient, clip, grid.step, offset, 0, levels, values, gradients);
  sums.step *= gradientScale / levels;
  // A range of one sign has its other end at zero, which does not move. Moved
  // by whole levels, the offset is so many steps.
  if (range.min > 0)
    return {0, sums.step};
  if (range.max < 0)
    return {sums.offset - sums.step, 0};
  double offsetByMax = -double(grid.zeroPoint) / levels * sums.offset;
  return {-sums.step - offsetByMax, sums.step + offsetByMax};
}

NudgedRange::Nudged NudgedRange::nudge(Range range) const {
  double lowest = isNarrow ? 1 : 0, highest = std::ldexp(1.0, int(bits)) - 1;
  Nudged nudged;
  nudged.step = (range.max - range.min) / (highest - lowest);
  double zero = std::clamp(lowest - range.min / nudged.step, lowest, highest);
  zero = std::floor(zero + 0.5);
  nudged.min = (lowest - zero) * nudged.step;
  nudged.max = (highest - zero) * nudged.step;
  return nudged;
}

Grid NudgedRange::freeze(Range range) const {
  int64_t lowest = isNarrow ? 1 : 0, highest = (int64_t(1) << bits) - 1;
  if (!(range.max > range.min))
    return {kSmallestThreshold, lowest, lowest, lowest, Rounding::HalfUp};
  Nudged nudged = nudge(range);
  return {nudged.step, lowest - std::llround(nudged.min / nudged.step), lowest,
          highest, Rounding::HalfUp};
}

void NudgedRange::forward(Range range, ArrayRef<float> values,
                          MutableArrayRef<float> results) const {
  if (!(range.max > range.min)) {
    llvm::fill(results, 0.0f);
    return;
  }
  Nudged nudged = nudge(range);
  double zero = std::floor(-nudged.min / nudged.step + 0.5);
  for (auto [value, result] : llvm::zip(values, results)) {
    double clipped = std::clamp<double>(value, nudged.min, nudged.max);
    result =
        float(std::floor((clipped - nudged.min) / nudged.step - zero + 0.5) *
              nudged.step);
  }
}

Range NudgedRange::backward(Range range, ArrayRef<float> values,
                            MutableArrayRef<float> gradients) const {
  // TensorFlow passes all gradients of an empty range to the values.
  if (!(range.max > range.min))
    return {};
  Nudged nudged = nudge(range);
  Range sums;
  for (auto [value, back] : llvm::zip(values, gradients)) {
    if (value >= nudged.min && value <= nudged.max)
      continue;
    (value < nudged.min ? sums.min : sums.max) += back;
    back = 0;
  }
  return sums;
}

SoftRounding SoftRounding::ofThreshold(double threshold, unsigned bits) {
  Grid grid = symmetricGrid(threshold, bits, /*isSigned=*/true);
  return {grid.step, 0, double(grid.qmin), double(grid.qmax)};
}

SoftRounding SoftRounding::ofRange(Range range, unsigned bits) {
  Grid grid = LearnedRange{bits}.freeze(range);
  return {grid.step, -grid.step * double(grid.zeroPoint), 0, double(grid.qmax)};
}

double SoftRounding::base(float weight) const {
  return std::floor((double(weight) - offset) / step);
}

std::vector<float> SoftRounding::initialize(ArrayRef<float> weights) const {
  std::vector<float> variables;
  for (float weight : weights) {
    double level =
        std::clamp((double(weight) - offset) / step, lowest, highest);
    double rest = level - std::floor(level);
    variables.push_back(float(unsoften(rest)));
  }
  return variables;
}

/// Returns a scale that something can be multiplied with.
static double effectiveScale(double scale) {
  return scale > 0 ? scale : kSmallestThreshold;
}

void SoftRounding::forward(ArrayRef<float> weights, ArrayRef<float> variables,
                           bool isHard, MutableArrayRef<float> results,
                           double scale) const {
  scale = effectiveScale(scale);
  for (auto [weight, variable, result] :
       llvm::zip(weights, variables, results)) {
    double up = soften(variable);
    if (isHard)
      up = up >= 0.5 ? 1 : 0;
    double level = std::clamp(base(weight) + up, lowest, highest);
    result = float((level * step + offset) * scale);
  }
}

double SoftRounding::backward(ArrayRef<float> weights,
                              ArrayRef<float> variables,
                              MutableArrayRef<float> gradients,
                              double scale) const {
  double ofScale = 0, factor = effectiveScale(scale) * step;
  for (auto [weight, variable, back] :
       llvm::zip(weights, variables, gradients)) {
    double level = base(weight) + soften(variable);
    double clipped = std::clamp(level, lowest, highest);
    ofScale += back * (clipped * step + offset);
    bool passes = clip == ClipGradient::Passed || clipped == level;
    back = passes ? float(back * factor * softenDerivative(variable)) : 0.0f;
  }
  return scale > 0 ? ofScale : 0;
}

double SoftRounding::stepGradient(ArrayRef<float> weights,
                                  ArrayRef<float> variables,
                                  ArrayRef<float> gradients) const {
  double sum = 0;
  for (auto [weight, variable, back] :
       llvm::zip(weights, variables, gradients)) {
    double level = (double(weight) - offset) / step;
    sum +=
        back *
        (std::clamp(base(weight) + soften(variable), lowest, highest) - level);
  }
  return sum;
}

PerturbedRounding PerturbedRounding::ofThreshold(double threshold,
                                                 unsigned bits) {
  Grid grid = symmetricGrid(threshold, bits, /*isSigned=*/true);
  return {grid.step, double(grid.qmin), double(grid.qmax)};
}

void PerturbedRounding::forward(ArrayRef<float> weights,
                                ArrayRef<float> perturbations,
                                MutableArrayRef<float> results) const {
  for (auto [weight, perturbation, result] :
       llvm::zip(weights, perturbations, results)) {
    double moved =
        std::clamp(double(perturbation) / step, -mostLevels, mostLevels);
    double level = std::nearbyint(std::nearbyint(weight / step) + moved);
    result = float(std::clamp(level, lowest, highest) * step);
  }
}

RangeObserver RangeObserver::create(Kind kind) {
  RangeObserver observer;
  observer.kind = kind;
  if (kind == Kind::AllValues)
    observer.range = {0, 0};
  return observer;
}

void RangeObserver::observe(ArrayRef<float> values) {
  if (values.empty() || kind == Kind::Fixed)
    return;
  auto [smallest, largest] = std::minmax_element(values.begin(), values.end());
  Range observed{*smallest, *largest};
  if (isSymmetric) {
    // Levels above zero over those below.
    double levels = std::ldexp(1.0, int(bits));
    double ratio = isNarrow ? -1 : -(levels - 2) / levels;
    observed = {std::min(observed.min, observed.max / ratio),
                std::max(observed.max, observed.min * ratio)};
  } else {
    observed = {std::min(observed.min, 0.0), std::max(observed.max, 0.0)};
  }
  switch (kind) {
  case Kind::LastValue:
    range = observed;
    break;
  case Kind::MovingAverage:
    range.min -= (range.min - observed.min) * (1 - decay);
    range.max -= (range.max - observed.max) * (1 - decay);
    break;
  case Kind::AllValues:
    range = {std::min({range.min, observed.min, 0.0}),
             std::max({range.max, observed.max, 0.0})};
    break;
  case Kind::Fixed:
    break;
  }
}

llvm::Expected<double>
quantization::sampleLayerAttention(ArrayRef<ComparedLayer> layers) {
  double largest = 0;
  for (const ComparedLayer &layer : layers) {
    size_t samples = layer.attention.size();
    if (samples == 0 || layer.channels <= 0 ||
        layer.values.size() != layer.expected.size() ||
        layer.values.size() != layer.gradients.size() ||
        layer.values.size() % (samples * size_t(layer.channels)) != 0)
      return llvm::createStringError(
          "a layer of %zu values, %zu expected ones and %lld channels cannot "
          "be divided into %zu samples",
          layer.values.size(), layer.expected.size(),
          static_cast<long long>(layer.channels), samples);
    double sum = 0;
    for (double each : layer.attention)
      sum += each;
    largest = std::max(largest, sum / double(samples));
  }
  if (!(largest > 0) || !std::isfinite(largest))
    return llvm::createStringError("no sample counts in any layer");
  double loss = 0;
  for (const ComparedLayer &layer : layers)
    loss += attendedError(layer, double(layer.attention.size()) * largest);
  return loss;
}
