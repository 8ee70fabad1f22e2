// SPDX-License-Identifier: Apache-2.0
#include "IntegerLowering.h"
#include "mlir/Dialect/Tosa/Utils/ConversionUtils.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mct;

static bool isConvolved(Value value) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    return isa<tosa::Conv2DOp, tosa::DepthwiseConv2DOp>(user) &&
           user->getOperand(0) == value;
  });
}

static void stage(BlockArgument argument, tpc::StagedArgumentsOp staging) {
  int64_t burst = staging.getBurst();
  auto type = dyn_cast<RankedTensorType>(argument.getType());
  if (!type || type.getRank() != 4 || !type.getElementType().isInteger(8) ||
      !isConvolved(argument))
    return;
  int64_t bytes = type.getNumElements();
  if (type.getDimSize(3) >= burst || bytes < int64_t(staging.getSmallest()) ||
      bytes % burst)
    return;

  // Not the argument's location, whose name may be that of a point.
  ImplicitLocOpBuilder builder(argument.getOwner()->getParentOp()->getLoc(),
                               argument.getContext());
  builder.setInsertionPointToStart(argument.getOwner());
  int64_t bursts = bytes / burst, width = burst;
  while (bursts % width)
    --width;
  auto reshape = [&](Value value, ArrayRef<int64_t> shape) -> Value {
    return tosa::ReshapeOp::create(builder, type.clone(shape), value,
                                   tosa::getTosaConstShape(builder, shape));
  };
  Value rows = reshape(argument, {1, bursts / width, width, burst});
  Operation *first = rows.getDefiningOp();
  auto copied = tosa::MaxPool2dOp::create(
      builder, rows.getType(), rows, builder.getDenseI64ArrayAttr({1, 1}),
      builder.getDenseI64ArrayAttr({1, 1}),
      builder.getDenseI64ArrayAttr({0, 0, 0, 0}));
  Value back = reshape(copied, type.getShape());
  argument.replaceAllUsesExcept(back, first);
}

void mct::stageArguments(func::FuncOp function,
                         tpc::StagedArgumentsOp staging) {
  for (BlockArgument argument : function.getArguments())
    stage(argument, staging);
}
