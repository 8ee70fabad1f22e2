// SPDX-License-Identifier: Apache-2.0
//
// Networks with transpositions in many places compute the same after these have
// been moved, and never move more elements.
#include "GraphPasses.h"
#include "RandomGraphs.h"

#include <random>

using namespace mlir;
using namespace mct;
using namespace mct::testing;

namespace {
/// Reshapes a value before or after `op`.
Value reshape(OpBuilder &builder, Operation *op, Value value,
              ArrayRef<int64_t> shape) {
  Value sizes = tosa::ConstShapeOp::create(
      builder, op->getLoc(),
      tosa::shapeType::get(op->getContext(), int(shape.size())),
      builder.getIndexTensorAttr(shape));
  auto type = cast<RankedTensorType>(value.getType()).clone(shape);
  return tosa::ReshapeOp::create(builder, op->getLoc(), type, value, sizes);
}

/// Lets an op of rank 4 work without an axis of size 1, where it has one, as an
/// import does with convolutions of rows.
void dropUnitAxis(Operation *op) {
  auto isTensor = [](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && type.getRank() == 4;
  };
  auto attribute = op->getAttrOfType<IntegerAttr>("axis");
  int64_t dropped = 0;
  auto isUnit = [&](Value value) {
    return !isTensor(value) ||
           cast<RankedTensorType>(value.getType()).getDimSize(dropped) == 1;
  };
  while (dropped != 4 && ((attribute && attribute.getInt() == dropped) ||
                          !isUnit(op->getResult(0)) ||
                          !llvm::all_of(op->getOperands(), isUnit)))
    ++dropped;
  if (dropped == 4)
    return;
  auto shorten = [&](Value value) {
    auto shape =
        llvm::to_vector(cast<RankedTensorType>(value.getType()).getShape());
    shape.erase(shape.begin() + dropped);
    return shape;
  };
  OpBuilder builder(op);
  for (OpOperand &operand : op->getOpOperands())
    if (isTensor(operand.get()))
      operand.set(reshape(builder, op, operand.get(), shorten(operand.get())));
  if (attribute && attribute.getInt() > dropped)
    op->setAttr("axis", builder.getI32IntegerAttr(attribute.getInt() - 1));
  Value result = op->getResult(0);
  auto type = cast<RankedTensorType>(result.getType());
  result.setType(type.clone(shorten(result)));
  builder.setInsertionPointAfter(op);
  Value whole = reshape(builder, op, result, type.getShape());
  result.replaceAllUsesExcept(whole, whole.getDefiningOp());
}

/// Lets some ops of rank 4 work in another order of the axes, most often with
/// channels in front, and transposes around them: as an import does, op by op.
/// Some of them work without an axis of size 1.
void scatterTransposes(ModuleOp module) {
  std::mt19937 random(5);
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) {
    if (isa<tosa::AddOp, tosa::SubOp, tosa::MulOp, tosa::MaximumOp,
            tosa::MinimumOp, tosa::ClampOp, tosa::SigmoidOp, tosa::TanhOp,
            tosa::ExpOp, tosa::ConcatOp, tosa::ReduceSumOp>(op))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    if (!type || type.getRank() != 4 || random() % 10 == 0)
      continue;
    SmallVector<int32_t> perms = {0, 3, 1, 2}, inverse(4);
    if (random() % 8 == 0)
      for (size_t i = 4; i-- > 1;)
        std::swap(perms[i], perms[random() % (i + 1)]);
    for (size_t axis = 0; axis != 4; ++axis)
      inverse[perms[axis]] = axis;
    auto permuted = [](Type from, ArrayRef<int32_t> order) {
      auto tensor = cast<RankedTensorType>(from);
      SmallVector<int64_t> shape;
      for (int32_t axis : order)
        shape.push_back(tensor.getDimSize(axis));
      return tensor.clone(shape);
    };
    OpBuilder builder(op);
    for (OpOperand &operand : op->getOpOperands())
      if (auto tensor = dyn_cast<RankedTensorType>(operand.get().getType());
          tensor && tensor.getRank() == 4)
        operand.set(tosa::TransposeOp::create(
            builder, op->getLoc(), permuted(tensor, perms), operand.get(),
            builder.getDenseI32ArrayAttr(perms)));
    if (auto axis = op->getAttrOfType<IntegerAttr>("axis"))
      op->setAttr("axis", builder.getI32IntegerAttr(inverse[axis.getInt()]));
    op->getResult(0).setType(permuted(type, perms));
    builder.setInsertionPointAfter(op);
    auto back =
        tosa::TransposeOp::create(builder, op->getLoc(), type, op->getResult(0),
                                  builder.getDenseI32ArrayAttr(inverse));
    op->getResult(0).replaceAllUsesExcept(back.getResult(), back);
    if (random() % 2 == 0)
      dropUnitAxis(op);
  }
}

/// Elements that all transpositions of activations move.
int64_t countMoved(ModuleOp module) {
  int64_t count = 0;
  module.walk([&](tosa::TransposeOp op) {
    if (!op.getInput1().getDefiningOp<tosa::ConstOp>())
      count += cast<RankedTensorType>(op.getType()).getNumElements();
  });
  return count;
}
} // namespace

TEST(MoveTransposes, KeepsRandomGraphs) {
  RandomGraphsOptions options;
  options.prepare = scatterTransposes;
  expectSameFunction("func.func(mct-move-transposes)", 50, options);
  options.seed = 2;
  expectSameFunction("func.func(mct-fold-constants,mct-move-transposes,mct-"
                     "normalize-activations),mct-fold-batch-norm",
                     50, options);
}

TEST_F(GraphPassesTest, MovedTransposesMoveFewerElements) {
  std::vector<size_t> graphOf;
  module = makeRandomGraphs(context, 40, 3, graphOf);
  int64_t ofTheModel = countMoved(*module);
  scatterTransposes(*module);
  int64_t before = countMoved(*module);
  ASSERT_TRUE(
      succeeded(runPipeline("func.func(mct-move-transposes)", *module)));
  int64_t after = countMoved(*module);
  EXPECT_LT(after, before / 4);
  // Nothing is left to gain.
  ASSERT_TRUE(
      succeeded(runPipeline("func.func(mct-move-transposes)", *module)));
  EXPECT_EQ(countMoved(*module), after);
  // The model has some of its own, and some orders above are at odds.
  EXPECT_LT(after, ofTheModel + (before - ofTheModel) / 4);
}
