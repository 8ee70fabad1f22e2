// SPDX-License-Identifier: Apache-2.0
//
// Grids whose ranges follow observed values, like TensorFlow's fake
// quantization.
#include "TrainableModels.h"

#include "mct/Quantizers/Channels.h"

#include <cmath>

using namespace mlir;
using namespace mct;
using mct::quantization::TrainedRange;
using mct::tpc::ObservedRangeAttr;
using mct::tpc::Observer;
using mct::tpc::QuantizeOp;

static double lowestCode(ObservedRangeAttr attr) {
  return attr.getIsNarrow() ? 1 : 0;
}
static double highestCode(ObservedRangeAttr attr) {
  return std::ldexp(1.0, int(attr.getBits())) - 1;
}

/// Returns the offset for rounding half up, even if f32 makes a half slightly
/// smaller: the ends of [-6, 6] are 127.5 steps of 8 bits away from zero.
static double roundingUp(ObservedRangeAttr attr) {
  return 0.5 + highestCode(attr) * 0x1p-20;
}

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

namespace {
struct BuiltEnds {
  Value min, max;
};
} // namespace

/// Builds the observed limits for each parameter, including zero, and symmetric
/// if that is requested.
static BuiltEnds buildObserved(ObservedRangeAttr attr, GradientBuilder &b,
                               QuantizeOp point) {
  Value min = point.getInput(), max = min;
  ArrayRef<int64_t> shape = GradientBuilder::shapeOf(point.getLearned()[0]);
  for (auto [axis, size] : llvm::enumerate(shape)) {
    if (size != 1 || GradientBuilder::shapeOf(min)[axis] == 1)
      continue;
    min = b.reduce("tosa.reduce_min", min, int64_t(axis));
    max = b.reduce("tosa.reduce_max", max, int64_t(axis));
  }
  if (!attr.getIsSymmetric()) {
    Value zero = b.number(0, min);
    return {b.binary("tosa.minimum", min, zero),
            b.binary("tosa.maximum", max, zero)};
  }
  // Ratio of the levels above zero to those below.
  double levels = highestCode(attr) + 1;
  double ratio = attr.getIsNarrow() ? -1 : -(levels - 2) / levels;
  return {b.binary("tosa.minimum", min, b.mul(max, 1 / ratio)),
          b.binary("tosa.maximum", max, b.mul(min, ratio))};
}

/// Returns the limits after the values have been observed.
static BuiltEnds buildEnds(ObservedRangeAttr attr, GradientBuilder &b,
                           QuantizeOp point) {
  Value min = point.getLearned()[0], max = point.getLearned()[1];
  if (attr.getObserver() == Observer::Fixed)
    return {min, max};
  BuiltEnds observed = buildObserved(attr, b, point);
  if (attr.getObserver() == Observer::LastValue)
    return observed;
  if (attr.getObserver() == Observer::AllValues)
    return {b.binary("tosa.minimum", min,
                     b.binary("tosa.minimum", observed.min, b.number(0, min))),
            b.binary("tosa.maximum", max,
                     b.binary("tosa.maximum", observed.max, b.number(0, max)))};
  double decay =
      attr.getDecay() ? double(*attr.getDecay()) : quantization::kObserverDecay;
  auto follow = [&](Value mean, Value value) {
    return b.sub(mean, b.mul(b.sub(mean, value), 1 - decay));
  };
  return {follow(min, observed.min), follow(max, observed.max)};
}

//===----------------------------------------------------------------------===//
// Grids
//===----------------------------------------------------------------------===//

namespace {
/// A range that was moved so that zero is a level.
struct BuiltGrid {
  Value isEmpty, step, min, max;
};

/// Same computation as BuiltGrid, one f32 operation at a time.
struct FrozenGrid {
  float step;
  int64_t zeroPoint;
};
} // namespace

static BuiltGrid buildGrid(ObservedRangeAttr attr, GradientBuilder &b,
                           QuantizeOp point) {
  BuiltEnds ends = buildEnds(attr, b, point);
  double lowest = lowestCode(attr), highest = highestCode(attr);
  BuiltGrid grid;
  grid.isEmpty = b.isNot(b.greater(ends.max, ends.min));
  grid.step =
      b.select(grid.isEmpty, b.number(1, ends.min),
               b.mul(b.sub(ends.max, ends.min), 1 / (highest - lowest)));
  Value zero = b.sub(b.number(lowest, ends.min),
                     b.mul(ends.min, b.reciprocal(grid.step)));
  zero = b.unary("tosa.floor", b.add(buildClamp(b, zero, lowest, highest),
                                     b.number(roundingUp(attr), zero)));
  grid.min = b.mul(b.sub(b.number(lowest, zero), zero), grid.step);
  grid.max = b.mul(b.sub(b.number(highest, zero), zero), grid.step);
  return grid;
}

static FrozenGrid freezeGrid(ObservedRangeAttr attr, float min, float max) {
  auto lowest = static_cast<float>(lowestCode(attr));
  auto highest = static_cast<float>(highestCode(attr));
  // All values are zero; values close to it become zero, too.
  if (!(max > min))
    return {static_cast<float>(quantization::kSmallestThreshold),
            static_cast<int64_t>(lowest)};
  float step = (max - min) * static_cast<float>(1 / double(highest - lowest));
  float inverse = 1 / step;
  float below = min * inverse;
  float zero = std::clamp(lowest - below, lowest, highest);
  return {step, static_cast<int64_t>(
                    std::floor(zero + static_cast<float>(roundingUp(attr))))};
}

namespace {
struct ObservedRangeModel
    : TrainableQuantizerAttrInterface::ExternalModel<ObservedRangeModel,
                                                     ObservedRangeAttr> {
  Value buildForward(Attribute trainable, GradientBuilder &b,
                     QuantizeOp point) const {
    BuiltGrid grid = buildGrid(cast<ObservedRangeAttr>(trainable), b, point);
    Value inside = b.binary(
        "tosa.minimum", b.binary("tosa.maximum", point.getInput(), grid.min),
        grid.max);
    Value levels = b.mul(inside, b.reciprocal(grid.step));
    Value rounded = b.unary("tosa.floor", b.add(levels, b.number(0.5, levels)));
    Value result = b.mul(rounded, grid.step);
    return b.select(grid.isEmpty, b.number(0, result), result);
  }

  void buildGradients(Attribute trainable, GradientBuilder &b, QuantizeOp point,
                      Value g, OperandGradients &gradients) const {
    if (!gradients.isRequested(0))
      return;
    BuiltGrid grid = buildGrid(cast<ObservedRangeAttr>(trainable), b, point);
    Value x = point.getInput();
    // TensorFlow passes all values if the range is empty.
    Value passes = b.either(grid.isEmpty, b.both(b.greaterEqual(x, grid.min),
                                                 b.greaterEqual(grid.max, x)));
    gradients.set(0, b.where(passes, g));
  }

  SmallVector<Value> buildStates(Attribute trainable, GradientBuilder &b,
                                 QuantizeOp point) const {
    BuiltEnds ends = buildEnds(cast<ObservedRangeAttr>(trainable), b, point);
    return {ends.min, ends.max};
  }

  FailureOr<SmallVector<LearnedTensor>>
  initialize(Attribute trainable, QuantizeOp point, ArrayRef<float>) const {
    auto attr = cast<ObservedRangeAttr>(trainable);
    SmallVector<TrainedRange> ranges;
    // Present parameters are taken over, unless the observer begins without a
    // range.
    if (attr.getObserver() == Observer::AllValues ||
        (!point.getParametersAttr() && attr.getObserver() != Observer::Fixed)) {
      size_t channels = quantization::channelCount(
          GradientBuilder::shapeOf(point.getInput()), point.getChannelAxes());
      ranges.assign(channels, attr.getObserver() == Observer::AllValues
                                  ? TrainedRange()
                                  : quantization::kFirstRange);
    } else {
      FailureOr<SmallVector<TrainedRange>> present =
          getRanges(point, attr.getIsNarrow());
      if (failed(present))
        return failure();
      ranges = *present;
    }
    return getLearnedEnds(point, ranges);
  }

  FailureOr<FrozenQuantizer> freeze(Attribute trainable, QuantizeOp point,
                                    ArrayRef<float> weights,
                                    ArrayRef<ArrayRef<float>> learned) const {
    auto attr = cast<ObservedRangeAttr>(trainable);
    SmallVector<quantization::SelectedParameters> selected;
    bool isCentered = attr.getIsSymmetric();
    for (auto [min, max] : llvm::zip_equal(learned[0], learned[1])) {
      if (!std::isfinite(max - min))
        return point.emitOpError()
               << "has seen values from " << min << " to " << max
               << "; check the input scale, or train with a smaller learning "
                  "rate";
      FrozenGrid grid = freezeGrid(attr, min, max);
      double half = std::ldexp(1.0, int(attr.getBits()) - 1);
      quantization::SelectedParameters &parameters = selected.emplace_back();
      parameters.step = grid.step;
      parameters.zeroPoint = grid.zeroPoint;
      parameters.threshold = double(grid.step) * half;
      isCentered &= !(max > min) || double(grid.zeroPoint) == half;
    }
    FrozenQuantizer frozen;
    frozen.parameters =
        createQuantizer(point.getContext(),
                        isCentered ? tpc::QuantizationMethod::Symmetric
                                   : tpc::QuantizationMethod::Uniform,
                        selected, attr.getBits(), /*isSigned=*/isCentered)
            .withRoundingMode(quantization::Rounding::HalfUp);
    // Ordinary grids are not narrow, so weights must avoid the lowest level.
    if (attr.getIsNarrow() && !weights.empty())
      frozen.weights = keepNarrow(point, frozen.parameters, weights);
    return frozen;
  }

  static std::vector<float> keepNarrow(QuantizeOp point,
                                       tpc::QuantizerAttrInterface parameters,
                                       ArrayRef<float> weights) {
    std::vector<float> kept = weights.vec();
    forEachWeight(point, parameters.getGrids(),
                  [&](size_t number, const quantization::Grid &grid) {
                    auto lowest = static_cast<float>(
                        grid.step * double(grid.qmin + 1 - grid.zeroPoint));
                    kept[number] = std::max(kept[number], lowest);
                  });
    return kept;
  }
};
} // namespace

void mct::attachObservedQuantizers(MLIRContext *context) {
  ObservedRangeAttr::attachInterface<ObservedRangeModel>(*context);
}
