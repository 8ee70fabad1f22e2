// SPDX-License-Identifier: Apache-2.0
#include "mct/Transforms/MovedChannels.h"

#include "mct/Interfaces/OpInterfaces.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Dialect/Tosa/Utils/ConversionUtils.h"

using namespace mlir;

std::optional<int64_t> mct::findMovedAxis(Operation *op, int64_t axis) {
  if (!isa<tosa::ReshapeOp, tosa::TransposeOp>(op))
    return std::nullopt;
  auto type = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  std::optional<ChannelMap> map =
      cast<DataMovementOpInterface>(op).mapChannels(0, axis);
  if (!type || !map || !map->isIdentity(type.getDimSize(axis)))
    return std::nullopt;
  return map->axis;
}

Value mct::cloneMoving(OpBuilder &builder, Operation *op, Value input,
                       int64_t axis, int64_t size) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[axis] = size;
  Operation *own = builder.clone(*op);
  own->setOperand(0, input);
  own->getResult(0).setType(type.clone(shape));
  if (auto reshape = dyn_cast<tosa::ReshapeOp>(own)) {
    ImplicitLocOpBuilder shapes(op->getLoc(), own);
    reshape.getShapeMutable().assign(tosa::getTosaConstShape(shapes, shape));
  }
  return own->getResult(0);
}
