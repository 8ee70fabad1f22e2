// SPDX-License-Identifier: Apache-2.0
//
// Integer forms of ops that move values, which are the same ops on integers.
#include "IntegerModels.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Dialect/Tosa/Utils/ConversionUtils.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mct;

/// Pads stored integers.
static IntegerOr<Value> movePadded(IntegerBuilder &b, tosa::PadOp op,
                                   Value operand, const Encoding &encoding) {
  auto from = cast<RankedTensorType>(op.getInput1().getType());
  auto to = cast<RankedTensorType>(op.getType());
  std::optional<float> fill =
      cast<DataMovementOpInterface>(op.getOperation()).getFill();
  SmallVector<int64_t> sizes;
  auto constant = op.getPadding().getDefiningOp();
  if (!fill || !constant || !tosa::getConstShapeValues(constant, sizes))
    return {IntegerReason::PadNotConstant, op};
  Value number =
      b.createConstant(1, encoding.storageBits, encoding.quantize(*fill));
  // Level 8k does not allow shapes of 8 sizes, so pad one axis at a time and
  // merge those on either side of it.
  Value result = operand;
  SmallVector<int64_t> shape(from.getShape());
  for (int64_t axis = 0; axis < from.getRank(); ++axis) {
    int64_t low = sizes[2 * axis], high = sizes[2 * axis + 1];
    if (low == 0 && high == 0)
      continue;
    int64_t outer = 1, inner = 1;
    for (int64_t i = 0; i < axis; ++i)
      outer *= shape[i];
    for (int64_t i = axis + 1; i < from.getRank(); ++i)
      inner *= shape[i];
    result = b.reshape(result, {outer, shape[axis], inner});
    shape[axis] += low + high;
    auto type = cast<RankedTensorType>(result.getType())
                    .clone({outer, shape[axis], inner});
    result = tosa::PadOp::create(
        b, type, result, b.createShape({0, 0, low, high, 0, 0}), number);
  }
  return b.reshape(result, to.getShape());
}

/// Clones the op for integers, with `operand` instead of the moved operand.
static IntegerOr<Value> moveIntegers(IntegerBuilder &b, Operation *op,
                                     const OpOperand &moved, Value operand,
                                     const Encoding &encoding) {
  if (auto padOp = dyn_cast<tosa::PadOp>(op))
    return movePadded(b, padOp, operand, encoding);
  IRMapping mapping;
  mapping.map(moved.get(), operand);
  Operation *copy = b.clone(*op, mapping);
  copy->setLoc(b.getLoc());
  copy->getResult(0).setType(b.getType(op->getResult(0), encoding.storageBits));
  return copy->getResult(0);
}

namespace {
template <typename Op>
struct MovementModel
    : IntegerOpInterface::ExternalModel<MovementModel<Op>, Op> {
  IntegerOr<StoredIntegers> getStoredIntegers(Operation *op,
                                              IntegerContext &context) const {
    OpOperand *moved = getMovedOperand(op, takesElements);
    if (!moved)
      return {IntegerReason::NoForm, op};
    IntegerOr<StoredIntegers> before = context.getStored(moved->get());
    if (!before)
      return before;
    const Encoding &encoding = before->encoding;
    // The number that a pad fills with must be a level.
    if (auto moving = cast<DataMovementOpInterface>(op);
        moving.getMovement() == Movement::Fill) {
      std::optional<float> fill = moving.getFill();
      if (!fill || encoding.dequantize(encoding.quantize(*fill)) != *fill)
        return {IntegerReason::NoForm, op};
    }
    IntegerOr<Value> result =
        moveIntegers(context.getBuilder(), op, *moved, before->value, encoding);
    if (!result)
      return result.getFailure();
    return StoredIntegers{*result, encoding};
  }

  IntegerOr<IntegerAccumulator> getAccumulator(Operation *op,
                                               IntegerContext &context) const {
    OpOperand *moved = getMovedOperand(op, takesElements);
    if (!moved)
      return {IntegerReason::NoForm, op};
    // The reshape is applied after rounding, when the elements are small.
    if (isa<tosa::ReshapeOp>(op)) {
      IntegerOr<IntegerAccumulator> result =
          context.getAccumulator(moved->get());
      if (result)
        result->shape.clear();
      return result;
    }
    if (auto moving = cast<DataMovementOpInterface>(op);
        moving.getMovement() == Movement::Fill && moving.getFill() != 0.0f)
      return {IntegerReason::FillsSums, op};
    IntegerOr<IntegerAccumulator> term = getTerm(context, op, moved->get());
    if (!term)
      return term;
    if (term->scales.size() > 1)
      return {IntegerReason::MovesChannelScales, op};
    Encoding wide;
    wide.storageBits = 32;
    IntegerOr<Value> result =
        moveIntegers(context.getBuilder(), op, *moved, term->value, wide);
    if (!result)
      return result.getFailure();
    return IntegerAccumulator{
        *result, term->scales, term->bound, term->mean, {}};
  }

  IntegerOr<Value> getCodes(Operation *op, IntegerContext &context,
                            const Encoding &encoding) const {
    IntegerOr<IntegerAccumulator> sums =
        context.getAccumulator(op->getResult(0));
    if (sums)
      return requantize(context, *sums, encoding);
    OpOperand *moved = getMovedOperand(op, takesElements);
    if (!moved)
      return sums.getFailure();
    IntegerOr<Value> before = context.getCodes(moved->get(), encoding);
    if (before)
      return moveIntegers(context.getBuilder(), op, *moved, *before, encoding);
    bool isKnown = before.getFailure().reason != IntegerReason::NoForm;
    return isKnown ? before.getFailure() : sums.getFailure();
  }
};

struct ConcatModel
    : IntegerOpInterface::ExternalModel<ConcatModel, tosa::ConcatOp> {
  IntegerOr<StoredIntegers> getStoredIntegers(Operation *op,
                                              IntegerContext &context) const {
    IntegerOr<StoredIntegers> first = context.getStored(op->getOperand(0));
    if (!first)
      return first;
    for (Value operand : op->getOperands()) {
      IntegerOr<StoredIntegers> other = context.getStored(operand);
      if (!other || other->encoding != first->encoding)
        return {IntegerReason::NoForm, op};
    }
    IntegerOr<Value> codes = getCodes(op, context, first->encoding);
    if (!codes)
      return codes.getFailure();
    return StoredIntegers{*codes, first->encoding};
  }

  IntegerOr<Value> getCodes(Operation *op, IntegerContext &context,
                            const Encoding &encoding) const {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      IntegerOr<Value> codes = context.getCodes(operand, encoding);
      if (!codes)
        return codes;
      operands.push_back(*codes);
    }
    IntegerBuilder &b = context.getBuilder();
    return tosa::ConcatOp::create(
        b, b.getType(op->getResult(0), encoding.storageBits), operands,
        cast<tosa::ConcatOp>(op).getAxis());
  }
};
} // namespace

template <typename... Ops> static void attachMovements(MLIRContext *context) {
  (Ops::template attachInterface<MovementModel<Ops>>(*context), ...);
}

void mct::attachIntegerMovementModels(MLIRContext *context) {
  attachMovements<tosa::IdentityOp, tosa::ReshapeOp, tosa::TransposeOp,
                  tosa::ReverseOp, tosa::TileOp, tosa::SliceOp, tosa::GatherOp,
                  tosa::PadOp, tosa::MaxPool2dOp, tosa::ReduceMaxOp,
                  tosa::ReduceMinOp>(context);
  tosa::ConcatOp::attachInterface<ConcatModel>(*context);
}
