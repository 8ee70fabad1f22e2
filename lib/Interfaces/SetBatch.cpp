// SPDX-License-Identifier: Apache-2.0
#include "mct/Interfaces/SetBatch.h"
#include "mct/IR/Names.h"
#include "mct/IR/Shapes.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"

using namespace mlir;
using namespace mct;

static int64_t scaled(int64_t batch, int64_t rows) {
  return ShapedType::isDynamic(batch) ? batch : batch * rows;
}

FailureOr<int64_t> mct::getBatch(func::FuncOp function, bool emitErrors) {
  std::optional<int64_t> batch;
  auto fail = [&](const Twine &reason) -> FailureOr<int64_t> {
    if (emitErrors)
      function.emitOpError(reason);
    return failure();
  };
  if (function.isExternal())
    return fail("has no body");
  for (auto [number, type] : llvm::enumerate(function.getArgumentTypes())) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || tensor.getRank() == 0)
      return fail("has no batch: argument " + Twine(number) +
                  " is not a tensor with a leading dimension");
    int64_t size = tensor.getDimSize(0);
    if (size == 0)
      return fail("has no batch: argument " + Twine(number) + " is empty");
    if (batch && *batch != size)
      return fail("has no batch: the leading dimensions of its arguments "
                  "differ");
    batch = size;
  }
  if (!batch)
    return fail("has no batch: it has no arguments");
  return *batch;
}

FailureOr<BatchDimensions> mct::followBatch(func::FuncOp function,
                                            bool emitErrors) {
  FailureOr<int64_t> batch = getBatch(function, emitErrors);
  if (failed(batch))
    return failure();
  BatchFollower follower(*batch, emitErrors);
  if (failed(follower.run(function)))
    return failure();
  return std::move(follower.dimensions);
}

namespace {

/// Sizes that were unknown beside the batch follow from the operands.
void inferRemaining(Operation *op) {
  for (OpResult result : op->getResults()) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type || type.hasStaticShape())
      continue;
    auto inferable = dyn_cast<InferShapedTypeOpInterface>(op);
    SmallVector<ShapedTypeComponents> components;
    if (!inferable ||
        failed(inferable.inferReturnTypeComponents(
            op->getContext(), op->getLoc(), op->getOperands(),
            op->getDiscardableAttrDictionary(), op->getPropertiesStorage(),
            op->getRegions(), components)))
      continue;
    ShapedTypeComponents &found = components[result.getResultNumber()];
    if (!found.hasRank() ||
        static_cast<int64_t>(found.getDims().size()) != type.getRank())
      continue;
    SmallVector<int64_t> sizes(type.getShape());
    for (auto [size, inferred] : llvm::zip(sizes, found.getDims()))
      if (ShapedType::isDynamic(size))
        size = inferred;
    result.setType(type.clone(sizes));
  }
}

} // namespace

namespace {

/// Rewrites a function whose batch was followed.
class Rewriter {
public:
  Rewriter(BatchFollower &follower, int64_t batch, int64_t newBatch)
      : follower(follower), batch(batch), newBatch(newBatch) {}

  void rewrite(func::FuncOp function);

private:
  void setType(Value value);
  void changeOperand(Operation *op, const OperandChange &change);
  Value moved(Operation *op, Value value, int64_t dimension);
  Value onePiece(OpBuilder &builder, Location loc, Value value,
                 int64_t dimension, int64_t rows);
  Value reshaped(OpBuilder &builder, Location loc, Value value,
                 ArrayRef<int64_t> sizes);

  BatchFollower &follower;
  int64_t batch, newBatch;
  llvm::DenseMap<std::pair<Value, int64_t>, Value> movedValues;
};

} // namespace

static Value createShape(OpBuilder &builder, Location loc,
                         ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> values(sizes);
  for (int64_t &value : values)
    if (ShapedType::isDynamic(value))
      value = -1;
  auto type = tosa::shapeType::get(builder.getContext(), values.size());
  return tosa::ConstShapeOp::create(builder, loc, type,
                                    builder.getIndexTensorAttr(values));
}

void Rewriter::setType(Value value) {
  auto it = follower.dimensions.find(value);
  SmallVector<int64_t> sizes(follower.getSample(value));
  sizes[it->second.dimension] = scaled(newBatch, it->second.rows);
  value.setType(cast<RankedTensorType>(value.getType()).clone(sizes));
}

Value Rewriter::reshaped(OpBuilder &builder, Location loc, Value value,
                         ArrayRef<int64_t> sizes) {
  auto type = cast<RankedTensorType>(value.getType()).clone(sizes);
  if (type == value.getType())
    return value;
  return tosa::ReshapeOp::create(builder, loc, type, value,
                                 createShape(builder, loc, sizes));
}

Value Rewriter::moved(Operation *op, Value value, int64_t dimension) {
  Value &known = movedValues[{value, dimension}];
  if (known)
    return known;
  // Right after the value, so that all who want it there share it.
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfterValue(value);
  Location loc = withoutName(value.getLoc());
  ArrayRef<int64_t> sample = follower.getSample(value);
  int64_t from = follower.dimensions.find(value)->second.dimension;
  auto [low, high] = std::minmax(from, dimension);
  int64_t before = *getProduct(sample.take_front(low));
  int64_t between = *getProduct(sample.slice(low, high - low));
  int64_t after = *getProduct(sample.drop_front(high));
  SmallVector<int64_t> sizes(sample);
  sizes[dimension] = scaled(newBatch, sizes[dimension]);
  Value result = value;
  if (between != 1) {
    SmallVector<int64_t> split = {before, between, newBatch, after};
    SmallVector<int64_t> other = {before, newBatch, between, after};
    if (from < dimension)
      std::swap(split, other);
    result = reshaped(builder, loc, value, split);
    result = tosa::TransposeOp::create(
        builder, loc, cast<RankedTensorType>(result.getType()).clone(other),
        result, builder.getDenseI32ArrayAttr({0, 2, 1, 3}));
  }
  return known = reshaped(builder, loc, result, sizes);
}

Value Rewriter::onePiece(OpBuilder &builder, Location loc, Value value,
                         int64_t dimension, int64_t rows) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getDimSize(dimension) == rows)
    return value;
  if (std::optional<ConstantTensor> piece =
          getFirstPiece(value, dimension, batch))
    return tosa::ConstOp::create(builder, loc, piece->getType(),
                                 piece->toAttribute("piece"));
  SmallVector<int64_t> start(type.getRank(), 0), sizes(type.getShape());
  sizes[dimension] = rows;
  return tosa::SliceOp::create(builder, loc, type.clone(sizes), value,
                               createShape(builder, loc, start),
                               createShape(builder, loc, sizes));
}

void Rewriter::changeOperand(Operation *op, const OperandChange &change) {
  OpOperand &operand = op->getOpOperand(change.operand);
  if (change.kind == OperandChange::Move) {
    operand.set(moved(op, operand.get(), change.dimension));
    return;
  }
  OpBuilder builder(op);
  Location loc = withoutName(op->getLoc());
  Value value =
      onePiece(builder, loc, operand.get(), change.dimension, change.rows);
  if (change.kind == OperandChange::Repeat && newBatch != 1) {
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> multiples(type.getRank(), 1), sizes(type.getShape());
    multiples[change.dimension] = newBatch;
    sizes[change.dimension] *= newBatch;
    value = tosa::TileOp::create(builder, loc, type.clone(sizes), value,
                                 createShape(builder, loc, multiples));
  }
  operand.set(value);
}

void Rewriter::rewrite(func::FuncOp function) {
  for (BlockArgument argument : function.getArguments())
    setType(argument);
  for (Operation &op : llvm::make_early_inc_range(function.getBody().front())) {
    if (op.getNumResults() == 0)
      continue;
    auto it = follower.dimensions.find(op.getResult(0));
    if (it == follower.dimensions.end())
      continue;
    if (auto change = follower.changes.find(&op);
        change != follower.changes.end())
      for (const OperandChange &one : change->second)
        changeOperand(&op, one);
    if (auto batched = dyn_cast<BatchOpInterface>(op))
      batched.setResultSize(it->second.dimension,
                            scaled(newBatch, it->second.rows));
    setType(op.getResult(0));
    inferRemaining(&op);
  }
  // It led the results as it led the arguments.
  Operation *terminator = function.getBody().front().getTerminator();
  for (OpOperand &operand : terminator->getOpOperands())
    if (follower.leadsWhenMoved(operand.get()))
      operand.set(moved(terminator, operand.get(), 0));
  function.setType(FunctionType::get(function.getContext(),
                                     function.getBody().getArgumentTypes(),
                                     terminator->getOperandTypes()));
}

/// The first value that would have more elements than can be counted, or null.
static Value findTooLarge(func::FuncOp function, const BatchFollower &follower,
                          int64_t newBatch) {
  auto isTooLarge = [&](Value value) {
    std::optional<BatchDimension> place = follower.find(value);
    if (!place)
      return false;
    SmallVector<int64_t> sizes(follower.getSample(value));
    int64_t &size = sizes[place->dimension];
    if (!ShapedType::isDynamic(newBatch) && !ShapedType::isDynamic(size) &&
        llvm::MulOverflow(newBatch, size, size))
      return true;
    return exceedsMemory(cast<RankedTensorType>(value.getType()).clone(sizes));
  };
  for (BlockArgument argument : function.getArguments())
    if (isTooLarge(argument))
      return argument;
  for (Operation &op : function.getBody().front())
    for (Value result : op.getResults())
      if (isTooLarge(result))
        return result;
  return nullptr;
}

LogicalResult mct::setBatch(func::FuncOp function, int64_t newBatch) {
  FailureOr<int64_t> batch = getBatch(function);
  if (failed(batch))
    return failure();
  BatchFollower follower(*batch, /*emitErrors=*/true);
  if (failed(follower.run(function)))
    return failure();
  if (*batch == newBatch)
    return success();
  if (ShapedType::isDynamic(newBatch))
    for (Operation &op : function.getBody().front())
      for (const OperandChange &change : follower.changes.lookup(&op))
        if (change.kind == OperandChange::Repeat)
          return op.emitOpError("cannot get a dynamic batch: operand ")
                 << change.operand
                 << " is the same for all samples, and would have to be "
                    "repeated an unknown number of times; choose a size";
  if (Value large = findTooLarge(function, follower, newBatch)) {
    InFlightDiagnostic diagnostic =
        function.emitOpError("cannot get a batch of ") << newBatch;
    diagnostic.attachNote(large.getLoc())
        << "this value of type " << large.getType()
        << " would have more elements than fit into memory";
    return diagnostic;
  }
  Rewriter(follower, *batch, newBatch).rewrite(function);
  return success();
}
