// SPDX-License-Identifier: Apache-2.0
//
// Grids with a zero point whose ranges are learned.
#include "TrainableModels.h"

#include <cmath>

using namespace mlir;
using namespace mct;
using mct::quantization::kSmallestThreshold;
using mct::quantization::TrainedRange;
using mct::tpc::LearnedRangeAttr;
using mct::tpc::QuantizeOp;

static double highestCode(LearnedRangeAttr attr) {
  return std::ldexp(1.0, int(attr.getBits())) - 1;
}

namespace {
/// The grid of a range; there may be one for each channel.
struct BuiltRange {
  /// Limits, at least 2^-15 apart, before zero is included.
  Value min, max;
  Value step, zeroPoint;
  /// Values divided by the step; codes; whether a code was not clipped.
  Value levels, codes, inside;
};

/// Same computation as BuiltRange, one f32 operation at a time, so that the
/// deployed quantizer is the trained one.
struct FrozenRange {
  float step;
  int64_t zeroPoint;
};
} // namespace

static BuiltRange buildRange(LearnedRangeAttr attr, GradientBuilder &b,
                             QuantizeOp point) {
  Value min = point.getLearned()[0], max = point.getLearned()[1];
  Value isWide =
      b.greaterEqual(b.sub(max, min), b.number(2 * kSmallestThreshold, min));
  Value middle = b.mul(b.add(min, max), 0.5);
  Value half = b.number(kSmallestThreshold, min), zero = b.number(0, min);
  BuiltRange built;
  built.min = b.select(isWide, min, b.sub(middle, half));
  built.max = b.select(isWide, max, b.add(middle, half));
  Value low = b.binary("tosa.minimum", built.min, zero);
  Value high = b.binary("tosa.maximum", built.max, zero);
  built.step = b.mul(b.sub(high, low), 1 / highestCode(attr));
  Value inverse = b.reciprocal(built.step);
  built.zeroPoint = buildRound(b, b.mul(b.negate(low), inverse));
  built.levels = b.mul(point.getInput(), inverse);
  // As in the deployed quantizer, zero is a level, and halves are rounded
  // relative to it.
  Value rounded = b.add(buildRound(b, built.levels), built.zeroPoint);
  built.codes = buildClamp(b, rounded, 0, highestCode(attr));
  built.inside = b.equal(built.codes, rounded);
  return built;
}

static FrozenRange freezeRange(LearnedRangeAttr attr, float min, float max) {
  constexpr auto kHalf = static_cast<float>(kSmallestThreshold);
  if (!(max - min >= 2 * kHalf)) {
    float middle = (min + max) * 0.5f;
    min = middle - kHalf;
    max = middle + kHalf;
  }
  float low = std::fmin(min, 0), high = std::fmax(max, 0);
  float step = (high - low) * static_cast<float>(1 / highestCode(attr));
  return {step, std::llrint(-low * (1 / step))};
}

namespace {
struct LearnedRangeModel
    : TrainableQuantizerAttrInterface::ExternalModel<LearnedRangeModel,
                                                     LearnedRangeAttr> {
  Value buildForward(Attribute trainable, GradientBuilder &b,
                     QuantizeOp point) const {
    BuiltRange built = buildRange(cast<LearnedRangeAttr>(trainable), b, point);
    return b.mul(b.sub(built.codes, built.zeroPoint), built.step);
  }

  void buildGradients(Attribute trainable, GradientBuilder &b, QuantizeOp point,
                      Value g, OperandGradients &gradients) const {
    auto attr = cast<LearnedRangeAttr>(trainable);
    BuiltRange built = buildRange(attr, b, point);
    bool isLearnedStep = attr.getGradient() == tpc::StepGradient::LearnedStep;
    bool isMasked =
        isLearnedStep || attr.getClip() == tpc::ClipGradient::Masked;
    gradients.set(0, isMasked ? b.where(built.inside, g) : g);
    if (!gradients.isRequested(1) && !gradients.isRequested(2))
      return;
    ArrayRef<int64_t> shape = GradientBuilder::shapeOf(built.min);
    // Gradient of a value by the step: its rounding error in levels or, for a
    // clipped value with a learned step, its code.
    Value error = b.sub(b.sub(built.codes, built.zeroPoint), built.levels);
    if (isLearnedStep)
      error = b.select(built.inside, error, built.codes);
    double levels = highestCode(attr);
    double scale = getGradientScale(point, attr.getGradientScale(),
                                    attr.getGradient(), attr.getBits(), false);
    Value byStep = b.mul(b.sumTo(b.mul(g, error), shape), scale / levels);
    Value byOffset = b.number(0, byStep);
    // Only clipped values depend on the offset.
    if (isLearnedStep)
      byOffset = b.sumTo(b.select(built.inside, b.number(0, g), g), shape);
    // The offset is moved by whole levels, so it is a number of steps.
    Value offsetByMax = b.mul(b.mul(built.zeroPoint, byOffset), -1 / levels);
    Value byMax = b.add(byStep, offsetByMax);
    // The other end of a range with one sign is zero, and does not move.
    Value zero = b.number(0, byMax);
    Value isAbove = b.greater(built.min, zero);
    Value isBelow = b.greater(zero, built.max);
    gradients.set(1, b.select(isAbove, zero,
                              b.select(isBelow, b.sub(byOffset, byStep),
                                       b.negate(byMax))));
    gradients.set(2, b.select(isAbove, byStep, b.select(isBelow, zero, byMax)));
  }

  FailureOr<SmallVector<LearnedTensor>> initialize(Attribute, QuantizeOp point,
                                                   ArrayRef<float>) const {
    FailureOr<SmallVector<TrainedRange>> ranges = getRanges(point);
    if (failed(ranges))
      return failure();
    return getLearnedEnds(point, *ranges);
  }

  void keepValid(Attribute,
                 MutableArrayRef<MutableArrayRef<float>> learned) const {
    for (auto [min, max] : llvm::zip_equal(learned[0], learned[1])) {
      TrainedRange valid = quantization::getEffectiveRange({min, max});
      min = static_cast<float>(valid.min);
      max = static_cast<float>(valid.max);
    }
  }

  FailureOr<FrozenQuantizer> freeze(Attribute trainable, QuantizeOp point,
                                    ArrayRef<float>,
                                    ArrayRef<ArrayRef<float>> learned) const {
    auto attr = cast<LearnedRangeAttr>(trainable);
    SmallVector<quantization::SelectedParameters> selected;
    for (auto [min, max] : llvm::zip_equal(learned[0], learned[1])) {
      if (!std::isfinite(max - min))
        return point.emitOpError()
               << "has learned the range from " << min << " to " << max
               << "; train with a smaller learning rate";
      FrozenRange frozen = freezeRange(attr, min, max);
      selected.emplace_back().step = frozen.step;
      selected.back().zeroPoint = frozen.zeroPoint;
    }
    FrozenQuantizer frozen;
    frozen.parameters = withRoundingOf(
        point,
        createQuantizer(point.getContext(), tpc::QuantizationMethod::Uniform,
                        selected, attr.getBits(), /*isSigned=*/false));
    return frozen;
  }
};
} // namespace

void mct::attachRangeQuantizers(MLIRContext *context) {
  LearnedRangeAttr::attachInterface<LearnedRangeModel>(*context);
}
