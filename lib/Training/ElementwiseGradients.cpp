// SPDX-License-Identifier: Apache-2.0
//
// Gradients of the element-wise ops of TOSA.
#include "GradientModels.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"

#include <cmath>

using namespace mlir;
using namespace mct;

/// Returns the sums over the axes along which an operand was broadcast.
static Value unrepeat(GradientBuilder &b, Value gradient, Value operand) {
  return b.sumTo(gradient, GradientBuilder::shapeOf(operand));
}

static LogicalResult addRule(tosa::AddOp op, GradientBuilder &b, Value g,
                             OperandGradients &gradients) {
  for (unsigned i : {0u, 1u})
    if (gradients.isRequested(i))
      gradients.set(i, unrepeat(b, g, op->getOperand(i)));
  return success();
}

static LogicalResult subRule(tosa::SubOp op, GradientBuilder &b, Value g,
                             OperandGradients &gradients) {
  if (gradients.isRequested(0))
    gradients.set(0, unrepeat(b, g, op.getInput1()));
  if (gradients.isRequested(1))
    gradients.set(1, b.negate(unrepeat(b, g, op.getInput2())));
  return success();
}

static LogicalResult mulRule(tosa::MulOp op, GradientBuilder &b, Value g,
                             OperandGradients &gradients) {
  if (gradients.isRequested(0))
    gradients.set(0, unrepeat(b, b.mul(g, op.getInput2()), op.getInput1()));
  if (gradients.isRequested(1))
    gradients.set(1, unrepeat(b, b.mul(g, op.getInput1()), op.getInput2()));
  return success();
}

/// Gradient of a maximum or minimum: each of two equal operands gets one half.
template <typename Op>
static LogicalResult extremeRule(Op op, GradientBuilder &b, Value g,
                                 OperandGradients &gradients) {
  Value first = op.getInput1(), second = op.getInput2();
  Value wins = std::is_same_v<Op, tosa::MaximumOp> ? b.greater(first, second)
                                                   : b.greater(second, first);
  Value half = b.where(b.equal(first, second), b.mul(g, 0.5));
  Value toFirst = b.select(wins, g, half);
  if (gradients.isRequested(0))
    gradients.set(0, unrepeat(b, toFirst, first));
  if (gradients.isRequested(1))
    gradients.set(1, unrepeat(b, b.sub(g, toFirst), second));
  return success();
}

static LogicalResult powRule(tosa::PowOp op, GradientBuilder &b, Value g,
                             OperandGradients &gradients) {
  Value base = op.getInput1(), exponent = op.getInput2();
  if (gradients.isRequested(0)) {
    // x^0 is 1 for every base, while 0^-1 is not defined.
    Value slope =
        b.mul(exponent, b.binary("tosa.pow", base,
                                 b.sub(exponent, b.number(1, exponent))));
    slope = b.select(b.equal(exponent, b.number(0, exponent)),
                     b.number(0, base), slope);
    gradients.set(0, unrepeat(b, b.mul(g, slope), base));
  }
  if (gradients.isRequested(1)) {
    Value positive = b.greater(base, b.number(0, base));
    Value log =
        b.unary("tosa.log", b.select(positive, base, b.number(1, base)));
    gradients.set(1,
                  unrepeat(b, b.mul(g, b.mul(op.getResult(), log)), exponent));
  }
  return success();
}

static LogicalResult clampRule(tosa::ClampOp op, GradientBuilder &b, Value g,
                               OperandGradients &gradients) {
  Value x = op.getInput();
  auto type = cast<FloatType>(GradientBuilder::typeOf(x).getElementType());
  double largest =
      APFloat::getLargest(type.getFloatSemantics()).convertToDouble();
  double low = cast<FloatAttr>(op.getMinVal()).getValueAsDouble();
  double high = cast<FloatAttr>(op.getMaxVal()).getValueAsDouble();
  auto isAbove = [&](Value a, Value than) {
    return b.getRules().closedClamps ? b.greaterEqual(a, than)
                                     : b.greater(a, than);
  };
  Value inside;
  if (low > -largest)
    inside = isAbove(x, b.number(low, x));
  if (high < largest) {
    Value below = isAbove(b.number(high, x), x);
    inside = inside ? b.both(inside, below) : below;
  }
  gradients.set(0, inside ? b.where(inside, g) : g);
  return success();
}

/// The gradient of an op y with one operand, x.
template <typename Op,
          Value (*gradient)(GradientBuilder &b, Value g, Value x, Value y)>
static LogicalResult unaryRule(Op op, GradientBuilder &b, Value g,
                               OperandGradients &gradients) {
  gradients.set(0, gradient(b, g, op->getOperand(0), op->getResult(0)));
  return success();
}

static Value ofSigmoid(GradientBuilder &b, Value g, Value x, Value y) {
  return b.mul(g, b.mul(y, b.sub(b.number(1, y), y)));
}

static Value ofTanh(GradientBuilder &b, Value g, Value x, Value y) {
  return b.mul(g, b.sub(b.number(1, y), b.mul(y, y)));
}

static Value ofErf(GradientBuilder &b, Value g, Value x, Value y) {
  Value bell = b.unary("tosa.exp", b.negate(b.mul(x, x)));
  // 2 / sqrt(pi)
  return b.mul(g, b.mul(bell, 1.1283791670955126));
}

static Value ofExp(GradientBuilder &b, Value g, Value x, Value y) {
  return b.mul(g, y);
}

static Value ofLog(GradientBuilder &b, Value g, Value x, Value y) {
  return b.mul(g, b.reciprocal(x));
}

static Value ofReciprocal(GradientBuilder &b, Value g, Value x, Value y) {
  return b.negate(b.mul(g, b.mul(y, y)));
}

static Value ofRsqrt(GradientBuilder &b, Value g, Value x, Value y) {
  return b.mul(b.mul(g, b.mul(y, b.mul(y, y))), -0.5);
}

static Value ofAbs(GradientBuilder &b, Value g, Value x, Value y) {
  Value zero = b.number(0, x);
  Value negative = b.where(b.greater(zero, x), b.negate(g));
  return b.select(b.greater(x, zero), g, negative);
}

static Value ofSin(GradientBuilder &b, Value g, Value x, Value y) {
  return b.mul(g, b.unary("tosa.cos", x));
}

static Value ofCos(GradientBuilder &b, Value g, Value x, Value y) {
  return b.negate(b.mul(g, b.unary("tosa.sin", x)));
}

static LogicalResult negateRule(tosa::NegateOp op, GradientBuilder &b, Value g,
                                OperandGradients &gradients) {
  if (failed(requireZero(op, {op.getInput1Zp(), op.getOutputZp()})))
    return failure();
  gradients.set(0, b.negate(g));
  return success();
}

static LogicalResult selectRule(tosa::SelectOp op, GradientBuilder &b, Value g,
                                OperandGradients &gradients) {
  Value zero = b.number(0, g);
  if (gradients.isRequested(1))
    gradients.set(
        1, unrepeat(b, b.select(op.getInput1(), g, zero), op.getInput2()));
  if (gradients.isRequested(2))
    gradients.set(
        2, unrepeat(b, b.select(op.getInput1(), zero, g), op.getInput3()));
  return success();
}

static LogicalResult castRule(tosa::CastOp op, GradientBuilder &b, Value g,
                              OperandGradients &gradients) {
  gradients.set(
      0, b.cast(g, GradientBuilder::typeOf(op.getInput()).getElementType()));
  return success();
}

static LogicalResult identityRule(tosa::IdentityOp op, GradientBuilder &b,
                                  Value g, OperandGradients &gradients) {
  gradients.set(0, g);
  return success();
}

namespace {
/// Model of step functions, whose gradient is zero.
template <typename Op>
struct StepModel : DifferentiableOpInterface::ExternalModel<StepModel<Op>, Op> {
  LogicalResult buildGradients(Operation *, GradientBuilder &, Value,
                               OperandGradients &) const {
    return success();
  }
  bool isPiecewiseConstant(Operation *) const { return true; }
};
} // namespace

template <typename... Ops> static void attachSteps(MLIRContext *context) {
  (Ops::template attachInterface<StepModel<Ops>>(*context), ...);
}

void mct::attachElementwiseGradients(MLIRContext *context) {
  attachRules<addRule, subRule, mulRule, extremeRule<tosa::MaximumOp>,
              extremeRule<tosa::MinimumOp>, powRule, clampRule, negateRule,
              unaryRule<tosa::SigmoidOp, ofSigmoid>,
              unaryRule<tosa::TanhOp, ofTanh>, unaryRule<tosa::ErfOp, ofErf>,
              unaryRule<tosa::ExpOp, ofExp>, unaryRule<tosa::LogOp, ofLog>,
              unaryRule<tosa::ReciprocalOp, ofReciprocal>,
              unaryRule<tosa::RsqrtOp, ofRsqrt>, unaryRule<tosa::AbsOp, ofAbs>,
              unaryRule<tosa::SinOp, ofSin>, unaryRule<tosa::CosOp, ofCos>,
              selectRule, castRule, identityRule>(context);
  attachSteps<tosa::FloorOp, tosa::CeilOp, tosa::EqualOp, tosa::GreaterOp,
              tosa::GreaterEqualOp, tosa::ArgMaxOp>(context);
}
