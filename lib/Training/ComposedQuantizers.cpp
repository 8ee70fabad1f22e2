// SPDX-License-Identifier: Apache-2.0
//
// Quantizers that do not change, and quantizers that are faded in during
// training.
#include "TrainableModels.h"

using namespace mlir;
using namespace mct;
using mct::tpc::GradualAttr;
using mct::tpc::QuantizeOp;
using mct::tpc::StraightThroughAttr;

namespace {
/// Model of points that do not learn and stay ordinary points; other models
/// compose it.
struct StraightThroughModel
    : TrainableQuantizerAttrInterface::ExternalModel<StraightThroughModel,
                                                     StraightThroughAttr> {
  Value buildForward(Attribute trainable, GradientBuilder &b,
                     QuantizeOp point) const {
    if (!point.getParametersAttr())
      return point.getInput();
    auto ordinary = cast<QuantizeOp>(b.clone(*point));
    ordinary.getLearnedMutable().clear();
    ordinary.setTrainableAttr(cast<StraightThroughAttr>(trainable));
    return ordinary.getOutput();
  }

  void buildGradients(Attribute trainable, GradientBuilder &b, QuantizeOp point,
                      Value g, OperandGradients &gradients) const {
    bool isMasked = point.getParametersAttr() &&
                    cast<StraightThroughAttr>(trainable).getClip() ==
                        tpc::ClipGradient::Masked;
    gradients.set(0, isMasked ? b.where(buildKept(b, point), g) : g);
  }

  FailureOr<SmallVector<LearnedTensor>> initialize(Attribute, QuantizeOp,
                                                   ArrayRef<float>) const {
    return SmallVector<LearnedTensor>();
  }

  FailureOr<FrozenQuantizer> freeze(Attribute, QuantizeOp point,
                                    ArrayRef<float>,
                                    ArrayRef<ArrayRef<float>>) const {
    return FrozenQuantizer{point.getParametersAttr(), {}};
  }
};

struct GradualModel
    : TrainableQuantizerAttrInterface::ExternalModel<GradualModel,
                                                     GradualAttr> {
  /// Returns the quantizer that is faded in. Its learned values are the first
  /// ones of the point, so that it finds them in the same places as without
  /// this wrapper.
  static TrainableQuantizerAttrInterface getInner(Attribute trainable) {
    return cast<TrainableQuantizerAttrInterface>(
        cast<GradualAttr>(trainable).getOf());
  }
  static size_t getNumInner(Attribute trainable) {
    return cast<GradualAttr>(trainable).getOf().getRoles().size();
  }
  /// Returns the fraction, reshaped to the rank of the tensor.
  static Value buildFraction(Attribute trainable, GradientBuilder &b,
                             QuantizeOp point) {
    size_t rank = GradientBuilder::shapeOf(point.getInput()).size();
    return b.reshape(point.getLearned()[getNumInner(trainable)],
                     SmallVector<int64_t>(rank, 1));
  }
  static Value buildRest(GradientBuilder &b, Value fraction) {
    return b.sub(b.number(1, fraction), fraction);
  }

  Value buildForward(Attribute trainable, GradientBuilder &b,
                     QuantizeOp point) const {
    Value fraction = buildFraction(trainable, b, point);
    Value quantized = getInner(trainable).buildForward(b, point);
    return b.add(b.mul(point.getInput(), buildRest(b, fraction)),
                 b.mul(quantized, fraction));
  }

  void buildGradients(Attribute trainable, GradientBuilder &b, QuantizeOp point,
                      Value g, OperandGradients &gradients) const {
    Value fraction = buildFraction(trainable, b, point);
    Value passed = b.mul(g, buildRest(b, fraction));
    SmallVector<bool> requested;
    for (unsigned i = 0; i != point->getNumOperands(); ++i)
      requested.push_back(gradients.isRequested(i));
    auto take = [&](unsigned operand, Value value) {
      if (operand == 0)
        passed = b.add(passed, value);
      else
        gradients.set(operand, value);
    };
    OperandGradients ofInner(requested, take);
    getInner(trainable).buildGradients(b, point, b.mul(g, fraction), ofInner);
    gradients.set(0, passed);
  }

  SmallVector<Value> buildStates(Attribute trainable, GradientBuilder &b,
                                 QuantizeOp point) const {
    return getInner(trainable).buildStates(b, point);
  }

  FailureOr<SmallVector<LearnedTensor>>
  initialize(Attribute trainable, QuantizeOp point,
             ArrayRef<float> weights) const {
    auto inner = dyn_cast<TrainableQuantizerAttrInterface>(
        cast<GradualAttr>(trainable).getOf());
    if (!inner)
      return noImplementation(point);
    FailureOr<SmallVector<LearnedTensor>> learned =
        inner.initialize(point, weights);
    // Without a schedule, it has been faded in completely.
    if (succeeded(learned))
      learned->push_back({{1}, {1.0f}});
    return learned;
  }

  void keepValid(Attribute trainable,
                 MutableArrayRef<MutableArrayRef<float>> learned) const {
    getInner(trainable).keepValid(learned.take_front(getNumInner(trainable)));
  }

  FailureOr<FrozenQuantizer> freeze(Attribute trainable, QuantizeOp point,
                                    ArrayRef<float> weights,
                                    ArrayRef<ArrayRef<float>> learned) const {
    return getInner(trainable).freeze(
        point, weights, learned.take_front(getNumInner(trainable)));
  }
};
} // namespace

void mct::attachComposedQuantizers(MLIRContext *context) {
  StraightThroughAttr::attachInterface<StraightThroughModel>(*context);
  GradualAttr::attachInterface<GradualModel>(*context);
}
