// SPDX-License-Identifier: Apache-2.0
//
// Gradients of the ops of TOSA that move elements, by moving them back.
#include "GradientModels.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"

using namespace mlir;
using namespace mct;

static LogicalResult reshapeRule(tosa::ReshapeOp op, GradientBuilder &b,
                                 Value g, OperandGradients &gradients) {
  gradients.set(0, b.reshape(g, GradientBuilder::shapeOf(op.getInput1())));
  return success();
}

static LogicalResult transposeRule(tosa::TransposeOp op, GradientBuilder &b,
                                   Value g, OperandGradients &gradients) {
  SmallVector<int32_t> inverse(op.getPerms().size());
  for (auto [to, from] : llvm::enumerate(op.getPerms()))
    inverse[from] = static_cast<int32_t>(to);
  gradients.set(0, b.transpose(g, inverse));
  return success();
}

static LogicalResult reverseRule(tosa::ReverseOp op, GradientBuilder &b,
                                 Value g, OperandGradients &gradients) {
  gradients.set(0, b.reverse(g, op.getAxis()));
  return success();
}

static LogicalResult concatRule(tosa::ConcatOp op, GradientBuilder &b, Value g,
                                OperandGradients &gradients) {
  int64_t offset = 0;
  for (OpOperand &operand : op->getOpOperands()) {
    int64_t size = GradientBuilder::shapeOf(operand.get())[op.getAxis()];
    if (gradients.isRequested(operand.getOperandNumber()))
      gradients.set(operand.getOperandNumber(),
                    b.sliceAxis(g, op.getAxis(), offset, size));
    offset += size;
  }
  return success();
}

static LogicalResult sliceRule(tosa::SliceOp op, GradientBuilder &b, Value g,
                               OperandGradients &gradients) {
  SmallVector<int64_t> start = readSizes(op.getStart());
  SmallVector<int64_t> after;
  for (auto [whole, from, size] :
       llvm::zip(GradientBuilder::shapeOf(op.getInput1()), start,
                 GradientBuilder::shapeOf(g)))
    after.push_back(whole - from - size);
  gradients.set(0, b.pad(g, start, after));
  return success();
}

static LogicalResult padRule(tosa::PadOp op, GradientBuilder &b, Value g,
                             OperandGradients &gradients) {
  SmallVector<int64_t> padding = readSizes(op.getPadding());
  ArrayRef<int64_t> size = GradientBuilder::shapeOf(op.getInput1());
  SmallVector<int64_t> start;
  for (size_t axis = 0; axis != size.size(); ++axis)
    start.push_back(padding[2 * axis]);
  Value inner = b.slice(g, start, size);
  gradients.set(0, inner);
  if (gradients.isRequested(2)) {
    SmallVector<int64_t> ones(size.size(), 1);
    Value rest = b.sub(b.sumTo(g, ones), b.sumTo(inner, ones));
    gradients.set(2,
                  b.reshape(rest, GradientBuilder::shapeOf(op.getPadConst())));
  }
  return success();
}

static LogicalResult tileRule(tosa::TileOp op, GradientBuilder &b, Value g,
                              OperandGradients &gradients) {
  SmallVector<int64_t> shape(GradientBuilder::shapeOf(g));
  for (auto [axis, size] :
       llvm::enumerate(GradientBuilder::shapeOf(op.getInput1()))) {
    int64_t copies = shape[axis] / std::max<int64_t>(size, 1);
    if (copies == 1)
      continue;
    ArrayRef<int64_t> all(shape);
    int64_t before = ShapedType::getNumElements(all.take_front(axis));
    int64_t after = ShapedType::getNumElements(all.drop_front(axis + 1));
    g = b.sum(b.reshape(g, {before, copies, size, after}), 1);
    shape[axis] = size;
  }
  gradients.set(0, b.reshape(g, shape));
  return success();
}

static LogicalResult gatherRule(tosa::GatherOp op, GradientBuilder &b, Value g,
                                OperandGradients &gradients) {
  // A row may be read several times, while tosa.scatter writes each row once.
  // So multiply by a matrix that has a 1 for each read.
  ArrayRef<int64_t> indices = GradientBuilder::shapeOf(op.getIndices());
  int64_t rows = GradientBuilder::shapeOf(op.getValues())[1];
  Value reads = b.indicator(
      b.equal(b.reshape(op.getIndices(), {indices[0], indices[1], 1}),
              b.iota(rows)),
      g);
  gradients.set(0, b.matmul(b.transpose(reads, {0, 2, 1}), g));
  return success();
}

static LogicalResult scatterRule(tosa::ScatterOp op, GradientBuilder &b,
                                 Value g, OperandGradients &gradients) {
  Type written = op.getInput().getType();
  if (gradients.isRequested(0))
    gradients.set(0, b.make("tosa.scatter", g.getType(),
                            {g, op.getIndices(),
                             b.splat(0, cast<RankedTensorType>(written))}));
  if (gradients.isRequested(2))
    gradients.set(2, b.make("tosa.gather", written, {g, op.getIndices()}));
  return success();
}

void mct::attachMovementGradients(MLIRContext *context) {
  attachRules<reshapeRule, transposeRule, reverseRule, concatRule, sliceRule,
              padRule, tileRule, gatherRule, scatterRule>(context);
}
