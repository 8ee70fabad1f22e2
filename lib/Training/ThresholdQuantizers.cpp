// SPDX-License-Identifier: Apache-2.0
//
// Symmetric grids with learned or constant thresholds.
#include "TrainableModels.h"

#include "mct/Quantization/TrainableQuantizers.h"

#include <cmath>

using namespace mlir;
using namespace mct;
using mct::quantization::kSmallestThreshold;
using mct::tpc::LearnedThresholdAttr;
using mct::tpc::QuantizeOp;

/// Returns the smallest power of two, from 2^-16 to 2^47, that is not below the
/// threshold. Comparisons and products with powers of two are exact, unlike a
/// logarithm.
static Value roundUpToPowerOfTwo(GradientBuilder &b, Value thresholds) {
  Value power = b.splat(kSmallestThreshold, b.typeOf(thresholds));
  for (int exponents : {32, 16, 8, 4, 2, 1}) {
    Value isBelow =
        b.greater(thresholds, b.mul(power, std::ldexp(1.0, exponents - 1)));
    power = b.select(isBelow, b.mul(power, std::ldexp(1.0, exponents)), power);
  }
  return power;
}

namespace {
struct LearnedThresholdModel
    : TrainableQuantizerAttrInterface::ExternalModel<LearnedThresholdModel,
                                                     LearnedThresholdAttr> {
  static double highest(LearnedThresholdAttr attr) {
    return std::ldexp(1.0, int(attr.getBits()) - int(attr.getIsSigned())) - 1;
  }
  static double lowest(LearnedThresholdAttr attr) {
    return attr.getIsSigned() ? -highest(attr) - 1 : 0;
  }

  static OnGrid build(LearnedThresholdAttr attr, GradientBuilder &b,
                      QuantizeOp point) {
    Value threshold = point.getLearned().front();
    threshold = attr.getPowerOfTwo()
                    ? roundUpToPowerOfTwo(b, threshold)
                    : b.binary("tosa.maximum", threshold,
                               b.number(kSmallestThreshold, threshold));
    Value step = b.mul(threshold, 1 / (highest(attr) + 1));
    return buildOnGrid(b, point.getInput(), step, lowest(attr), highest(attr));
  }

  Value buildForward(Attribute trainable, GradientBuilder &b,
                     QuantizeOp point) const {
    OnGrid grid = build(cast<LearnedThresholdAttr>(trainable), b, point);
    return b.mul(grid.clipped, grid.step);
  }

  void buildGradients(Attribute trainable, GradientBuilder &b, QuantizeOp point,
                      Value g, OperandGradients &gradients) const {
    auto attr = cast<LearnedThresholdAttr>(trainable);
    OnGrid grid = build(attr, b, point);
    bool isLearnedStep = attr.getGradient() == tpc::StepGradient::LearnedStep;
    bool isMasked =
        isLearnedStep || attr.getClip() == tpc::ClipGradient::Masked;
    gradients.set(0, isMasked ? b.where(grid.inside, g) : g);
    if (!gradients.isRequested(1))
      return;
    Value threshold = point.getLearned().front();
    Value level =
        isLearnedStep ? b.where(grid.inside, grid.levels) : grid.levels;
    Value sum = b.sumTo(b.mul(g, b.sub(grid.clipped, level)),
                        GradientBuilder::shapeOf(threshold));
    // The threshold determines the step through the power of two; below the
    // smallest power, it has no effect.
    Value valid = b.greaterEqual(threshold, b.number(kSmallestThreshold, sum));
    Value back = b.mul(sum, b.mul(grid.step, b.reciprocal(threshold)));
    double scale =
        getGradientScale(point, attr.getGradientScale(), attr.getGradient(),
                         attr.getBits(), attr.getIsSigned());
    gradients.set(1, b.where(valid, b.mul(back, scale)));
  }

  FailureOr<SmallVector<LearnedTensor>>
  initialize(Attribute trainable, QuantizeOp point, ArrayRef<float>) const {
    ArrayRef<double> thresholds;
    if (tpc::QuantizerAttrInterface parameters = point.getParametersAttr();
        parameters && !parameters.getGrids().empty())
      thresholds = parameters.getThresholds();
    if (thresholds.empty())
      return point.emitOpError()
             << "has no thresholds to learn from; select parameters of a "
                "symmetric grid first";
    LearnedTensor learned;
    learned.shape = getParameterShape(point, thresholds.size());
    for (double threshold : thresholds)
      learned.values.push_back(float(threshold));
    return SmallVector<LearnedTensor>{learned};
  }

  void keepValid(Attribute,
                 MutableArrayRef<MutableArrayRef<float>> learned) const {
    for (float &threshold : learned.front())
      if (threshold < float(kSmallestThreshold))
        threshold = float(kSmallestThreshold);
  }

  FailureOr<FrozenQuantizer> freeze(Attribute trainable, QuantizeOp point,
                                    ArrayRef<float>,
                                    ArrayRef<ArrayRef<float>> learned) const {
    auto attr = cast<LearnedThresholdAttr>(trainable);
    SmallVector<quantization::SelectedParameters> selected;
    for (float threshold : learned.front()) {
      if (!std::isfinite(threshold))
        return point.emitOpError() << "has learned the threshold " << threshold
                                   << "; train with a smaller learning rate";
      selected.emplace_back().threshold =
          quantization::getEffectiveThreshold(threshold, attr.getPowerOfTwo());
    }
    FrozenQuantizer frozen;
    frozen.parameters = withRoundingOf(
        point, createQuantizer(point.getContext(),
                               attr.getPowerOfTwo()
                                   ? tpc::QuantizationMethod::PowerOfTwo
                                   : tpc::QuantizationMethod::Symmetric,
                               selected, attr.getBits(), attr.getIsSigned()));
    return frozen;
  }
};
} // namespace

void mct::attachThresholdQuantizers(MLIRContext *context) {
  LearnedThresholdAttr::attachInterface<LearnedThresholdModel>(*context);
}
