// SPDX-License-Identifier: Apache-2.0
//
// Gradients of reductions and matrix products of TOSA.
#include "GradientModels.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"

using namespace mlir;
using namespace mct;

static LogicalResult reduceSumRule(tosa::ReduceSumOp op, GradientBuilder &b,
                                   Value g, OperandGradients &gradients) {
  gradients.set(0, b.repeatTo(g, GradientBuilder::shapeOf(op.getInput())));
  return success();
}

/// Equal extrema share the gradient.
template <typename Op>
static LogicalResult reduceExtremeRule(Op op, GradientBuilder &b, Value g,
                                       OperandGradients &gradients) {
  Value isExtreme =
      b.indicator(b.equal(op.getInput(), op.getResult()), op.getInput());
  Value share = b.mul(g, b.reciprocal(b.sum(isExtreme, op.getAxis())));
  gradients.set(0, b.mul(isExtreme, share));
  return success();
}

/// The gradient is the product of the other elements: that of all, divided by
/// the element, or that of all but a single zero.
static LogicalResult reduceProductRule(tosa::ReduceProductOp op,
                                       GradientBuilder &b, Value g,
                                       OperandGradients &gradients) {
  Value x = op.getInput();
  Value isZero = b.equal(x, b.number(0, x));
  Value others = b.select(isZero, b.number(1, x), x);
  Value product = b.reduce("tosa.reduce_product", others, op.getAxis());
  Value zeros = b.sum(b.indicator(isZero, x), op.getAxis());
  Value ofZero = b.where(b.equal(zeros, b.number(1, zeros)), product);
  Value ofOther = b.mul(b.where(b.equal(zeros, b.number(0, zeros)), product),
                        b.reciprocal(others));
  gradients.set(0, b.mul(g, b.select(isZero, ofZero, ofOther)));
  return success();
}

static LogicalResult matmulRule(tosa::MatMulOp op, GradientBuilder &b, Value g,
                                OperandGradients &gradients) {
  if (failed(requireZero(op, {op.getAZp(), op.getBZp()})))
    return failure();
  // The sums of the product may have a wider type than its factors.
  auto narrowed = [&](Value value, Value like) {
    return b.cast(value, GradientBuilder::typeOf(like).getElementType());
  };
  auto transposed = [&](Value value) { return b.transpose(value, {0, 2, 1}); };
  if (gradients.isRequested(0))
    gradients.set(0, b.matmul(narrowed(g, op.getB()), transposed(op.getB())));
  if (gradients.isRequested(1))
    gradients.set(1, b.matmul(transposed(op.getA()), narrowed(g, op.getA())));
  return success();
}

void mct::attachReductionGradients(MLIRContext *context) {
  attachRules<reduceSumRule, reduceExtremeRule<tosa::ReduceMaxOp>,
              reduceExtremeRule<tosa::ReduceMinOp>, reduceProductRule,
              matmulRule>(context);
}
