// SPDX-License-Identifier: Apache-2.0
#include "IntegerLowering.h"
#include "mlir/Dialect/Tosa/Utils/ConversionUtils.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mct;

/// Returns the convolutions that read `value` as their input.
static SmallVector<Operation *> getConvolutions(Value value) {
  return llvm::filter_to_vector(value.getUsers(), [&](Operation *user) {
    return isa<tosa::Conv2DOp, tosa::DepthwiseConv2DOp>(user) &&
           user->getOperand(0) == value;
  });
}

/// Returns the number of elements, which is the size in bytes after rescaling.
static int64_t getSize(Value value) {
  return cast<ShapedType>(value.getType()).getNumElements();
}

/// Returns the result of the ops that the device fuses with `convolution`:
/// rescales, clamps and tables after it.
static Value getFusedResult(Operation *convolution) {
  Value result = convolution->getResult(0);
  while (result.hasOneUse()) {
    Operation *user = *result.getUsers().begin();
    if (!isa<tosa::RescaleOp, tosa::ClampOp, tosa::TableOp>(user))
      break;
    result = user->getResult(0);
  }
  return result;
}

/// Returns whether the memory of the device can hold the argument together with
/// the result of `convolution`, and that result together with those of its
/// users. A result that does not fit is stored in the argument's memory, where
/// writing it takes the same time with and without the copy.
static bool fits(Operation *convolution, int64_t argument, int64_t memory) {
  Value result = getFusedResult(convolution);
  int64_t most = argument;
  for (Operation *user : result.getUsers())
    for (Value made : user->getResults())
      most = std::max(most, getSize(made));
  return most <= memory - getSize(result);
}

static void stage(BlockArgument argument, tpc::StagedArgumentsOp staging) {
  int64_t burst = staging.getBurst();
  auto type = dyn_cast<RankedTensorType>(argument.getType());
  if (!type || type.getRank() != 4 || !type.getElementType().isInteger(8))
    return;
  int64_t bytes = type.getNumElements(), memory = staging.getMemory();
  SmallVector<Operation *> convolutions = getConvolutions(argument);
  if (convolutions.empty() ||
      !llvm::all_of(convolutions, [&](Operation *convolution) {
        return fits(convolution, bytes, memory);
      }))
    return;
  if (type.getDimSize(3) >= burst || bytes < int64_t(staging.getSmallest()) ||
      bytes % burst)
    return;

  // Do not use the argument's location, whose name may be that of a point.
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
