// SPDX-License-Identifier: Apache-2.0
#include "mct/Transforms/SetBatch.h"

#include "mct/Transforms/Passes.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Dialect/Tosa/Utils/ConversionUtils.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace mct {
#define GEN_PASS_DEF_SETBATCHPASS
#include "mct/Transforms/Passes.h.inc"
} // namespace mct

namespace {

using mct::BatchDimension;
using mct::BatchDimensions;

int64_t scaled(int64_t batch, int64_t rows) {
  return ShapedType::isDynamic(batch) ? batch : batch * rows;
}

bool allOnes(ArrayRef<int64_t> sizes) {
  return llvm::all_of(sizes, [](int64_t size) { return size == 1; });
}

/// Product of the sizes, or none when one is unknown.
std::optional<int64_t> product(ArrayRef<int64_t> sizes) {
  int64_t result = 1;
  for (int64_t size : sizes) {
    if (ShapedType::isDynamic(size))
      return std::nullopt;
    result *= size;
  }
  return result;
}

/// Ops that compute every element of the result from the elements at the same
/// place of their operands, with broadcasting.
bool isElementwise(Operation *op) {
  return isa<tosa::AbsOp, tosa::AddOp, tosa::ArithmeticRightShiftOp,
             tosa::BitwiseAndOp, tosa::BitwiseNotOp, tosa::BitwiseOrOp,
             tosa::BitwiseXorOp, tosa::CastOp, tosa::CeilOp, tosa::ClampOp,
             tosa::ClzOp, tosa::CosOp, tosa::EqualOp, tosa::ErfOp, tosa::ExpOp,
             tosa::FloorOp, tosa::GreaterEqualOp, tosa::GreaterOp,
             tosa::IdentityOp, tosa::IntDivOp, tosa::LogOp, tosa::LogicalAndOp,
             tosa::LogicalLeftShiftOp, tosa::LogicalNotOp, tosa::LogicalOrOp,
             tosa::LogicalRightShiftOp, tosa::LogicalXorOp, tosa::MaximumOp,
             tosa::MinimumOp, tosa::MulOp, tosa::NegateOp, tosa::PowOp,
             tosa::ReciprocalOp, tosa::RescaleOp, tosa::RsqrtOp, tosa::SelectOp,
             tosa::SigmoidOp, tosa::SinOp, tosa::SubOp, tosa::TableOp,
             tosa::TanhOp, mct::tpc::QuantizeOp>(op) ||
         llvm::is_contained(
             {"quant.qcast", "quant.dcast", "quant.scast", "tensor.cast"},
             op->getName().getStringRef());
}

/// Operands that are tensors of data, not zero points, shifts or tables.
unsigned numDataOperands(Operation *op) {
  if (isa<tosa::RescaleOp, tosa::NegateOp, tosa::TableOp>(op))
    return 1;
  if (isa<tosa::MulOp>(op))
    return 2;
  return op->getNumOperands();
}

/// Follows the batch through a function.
class Follower {
public:
  Follower(int64_t batch, bool emitErrors)
      : batch(batch), emitErrors(emitErrors) {}

  LogicalResult run(func::FuncOp function);
  BatchDimensions dimensions;

private:
  LogicalResult fail(Operation *op, const Twine &reason) {
    if (emitErrors)
      op->emitOpError("cannot follow the batch: ") << reason;
    return failure();
  }
  /// A copy: what is added to the map moves its entries.
  std::optional<BatchDimension> find(Value value) const {
    auto it = dimensions.find(value);
    if (it == dimensions.end())
      return std::nullopt;
    return it->second;
  }
  LogicalResult follow(Operation *op);
  LogicalResult followElementwise(Operation *op);
  LogicalResult followReshape(tosa::ReshapeOp op, BatchDimension source);
  LogicalResult followMatMul(tosa::MatMulOp op);
  LogicalResult constantShape(Operation *op, Value shape,
                              SmallVector<int64_t> &values);

  int64_t batch;
  bool emitErrors;
};

} // namespace

LogicalResult Follower::run(func::FuncOp function) {
  for (BlockArgument argument : function.getArguments())
    dimensions[argument] = BatchDimension();
  if (!llvm::hasSingleElement(function.getBody()))
    return fail(function, "the function has several blocks");
  for (Operation &op : function.getBody().front())
    if (failed(follow(&op)))
      return failure();
  return success();
}

LogicalResult Follower::constantShape(Operation *op, Value shape,
                                      SmallVector<int64_t> &values) {
  Operation *source = shape.getDefiningOp();
  if (!source || !tosa::getConstShapeValues(source, values))
    return fail(op, "its shape operand is not a constant");
  return success();
}

LogicalResult Follower::followElementwise(Operation *op) {
  std::optional<BatchDimension> found;
  for (Value operand : op->getOperands().take_front(numDataOperands(op)))
    if (std::optional<BatchDimension> dimension = find(operand)) {
      if (found && !(*found == *dimension))
        return fail(op, "it lies in different dimensions of the operands");
      found = *dimension;
    }
  if (!found)
    return fail(op, "it comes through an operand that is a parameter");
  for (Value operand : op->getOperands().take_front(numDataOperands(op))) {
    if (find(operand))
      continue;
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    if (!type || type.getRank() <= found->dimension ||
        type.getDimSize(found->dimension) != 1)
      return fail(op, "an operand that does not depend on the arguments has a "
                      "size other than 1 along it");
  }
  dimensions[op->getResult(0)] = *found;
  return success();
}

LogicalResult Follower::followReshape(tosa::ReshapeOp op,
                                      BatchDimension source) {
  SmallVector<int64_t> values;
  if (failed(constantShape(op, op.getShape(), values)))
    return failure();
  auto from = cast<RankedTensorType>(op.getInput1().getType());
  auto to = cast<RankedTensorType>(op.getType());
  if (!allOnes(from.getShape().take_front(source.dimension)))
    return fail(op, "it is not the outermost dimension in memory");

  // With a batch of 1 several dimensions could be the one that carries it.
  SmallVector<BatchDimension, 2> candidates;
  for (int64_t dimension = 0; dimension < to.getRank(); ++dimension) {
    int64_t size = to.getDimSize(dimension);
    if (ShapedType::isDynamic(batch)) {
      if (ShapedType::isDynamic(size) && values[dimension] == -1) {
        auto perSample =
            product(from.getShape().drop_front(source.dimension + 1));
        auto inner = product(to.getShape().drop_front(dimension + 1));
        int64_t rows = 1;
        if (perSample && inner && *inner != 0)
          rows = *perSample * source.rows / *inner;
        candidates.push_back({dimension, rows});
        break;
      }
    } else if (!ShapedType::isDynamic(size) && size % batch == 0) {
      candidates.push_back({dimension, size / batch});
    }
    if (size != 1)
      break;
  }
  if (candidates.empty())
    return fail(op, "no leading dimension of the result can carry it");

  // [B, C] -> [1, B, C] is how a matrix product with constant weights is made
  // from a fully connected layer; the first dimension cannot grow there.
  BatchDimension chosen = candidates.front();
  if (candidates.size() > 1 &&
      llvm::any_of(op->getUsers(), [&](Operation *user) {
        auto matmul = dyn_cast<tosa::MatMulOp>(user);
        return matmul && matmul.getA() == op.getResult() &&
               !find(matmul.getB());
      }))
    chosen = candidates[1];
  dimensions[op.getResult()] = chosen;
  return success();
}

LogicalResult Follower::followMatMul(tosa::MatMulOp op) {
  std::optional<BatchDimension> a = find(op.getA()), b = find(op.getB());
  if (a && b) {
    if (a->dimension != 0 || !(*a == *b))
      return fail(op, "it is not the leading dimension of both operands");
    dimensions[op.getResult()] = *a;
    return success();
  }
  if (a && a->dimension == 1) {
    dimensions[op.getResult()] = *a;
    return success();
  }
  if (b && b->dimension == 2) {
    dimensions[op.getResult()] = *b;
    return success();
  }
  return fail(op, "the other operand does not depend on the arguments");
}

LogicalResult Follower::follow(Operation *op) {
  if (op->getNumRegions() != 0) {
    WalkResult result = op->walk([&](Operation *nested) {
      return llvm::any_of(
                 nested->getOperands(),
                 [&](Value operand) { return find(operand).has_value(); })
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    });
    return result.wasInterrupted()
               ? fail(op, "ops with regions are not supported")
               : success();
  }
  if (llvm::none_of(op->getOperands(),
                    [&](Value operand) { return find(operand).has_value(); }))
    return success();
  if (op->hasTrait<OpTrait::IsTerminator>())
    return success();
  if (isElementwise(op))
    return followElementwise(op);
  if (auto reshape = dyn_cast<tosa::ReshapeOp>(op))
    return followReshape(reshape, *find(reshape.getInput1()));
  if (auto matmul = dyn_cast<tosa::MatMulOp>(op))
    return followMatMul(matmul);

  std::optional<BatchDimension> first;
  if (op->getNumOperands() != 0)
    first = find(op->getOperand(0));
  // What remains has its data in the leading operands.
  if (!first)
    return fail(op, isa<tosa::TosaDialect>(op->getDialect())
                        ? "it comes through an operand that is a parameter"
                        : "the op is unknown");
  BatchDimension source = *first;
  int64_t dimension = source.dimension;
  auto keep = [&](BatchDimension result) {
    dimensions[op->getResult(0)] = result;
    return success();
  };
  auto onlyFirst = [&] {
    return llvm::none_of(op->getOperands().drop_front(), [&](Value operand) {
      return find(operand).has_value();
    });
  };
  auto alongAxis = [&](int64_t axis) -> LogicalResult {
    if (axis == dimension)
      return fail(op, "the op works along it");
    return keep(source);
  };

  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case<tosa::Conv2DOp, tosa::Conv3DOp, tosa::DepthwiseConv2DOp,
            tosa::TransposeConv2DOp, tosa::AvgPool2dOp, tosa::MaxPool2dOp,
            tosa::ResizeOp>([&](Operation *) -> LogicalResult {
        if (dimension != 0)
          return fail(op, "it is not the leading dimension");
        if (!onlyFirst())
          return fail(op, "the weights depend on the arguments");
        return keep(source);
      })
      .Case([&](tosa::TransposeOp transpose) -> LogicalResult {
        auto permutation = transpose.getPerms();
        auto *it = llvm::find(permutation, dimension);
        if (it == permutation.end())
          return fail(op, "the permutation lacks it");
        return keep({it - permutation.begin(), source.rows});
      })
      .Case<tosa::ReduceAllOp, tosa::ReduceAnyOp, tosa::ReduceMaxOp,
            tosa::ReduceMinOp, tosa::ReduceProductOp, tosa::ReduceSumOp,
            tosa::ReverseOp>([&](auto reduce) -> LogicalResult {
        return alongAxis(reduce.getAxis());
      })
      .Case([&](tosa::ArgMaxOp argmax) -> LogicalResult {
        int64_t axis = argmax.getAxis();
        if (axis == dimension)
          return fail(op, "the op works along it");
        return keep({dimension - (axis < dimension ? 1 : 0), source.rows});
      })
      .Case([&](tosa::ConcatOp concat) -> LogicalResult {
        for (Value operand : concat->getOperands()) {
          std::optional<BatchDimension> other = find(operand);
          if (!other || !(*other == source))
            return fail(op, "not every operand has it in the same dimension");
        }
        return alongAxis(concat.getAxis());
      })
      .Case([&](tosa::SliceOp slice) -> LogicalResult {
        SmallVector<int64_t> start, size;
        if (failed(constantShape(op, slice.getStart(), start)) ||
            failed(constantShape(op, slice.getSize(), size)))
          return failure();
        auto type = cast<RankedTensorType>(slice.getInput1().getType());
        int64_t whole = type.getDimSize(dimension);
        if (start[dimension] != 0 ||
            (size[dimension] != whole && size[dimension] != -1))
          return fail(op, "the op takes a part of it");
        return keep(source);
      })
      .Case([&](tosa::PadOp pad) -> LogicalResult {
        SmallVector<int64_t> padding;
        if (failed(constantShape(op, pad.getPadding(), padding)))
          return failure();
        if (padding[2 * dimension] != 0 || padding[2 * dimension + 1] != 0)
          return fail(op, "the op pads it");
        return keep(source);
      })
      .Case([&](tosa::TileOp tile) -> LogicalResult {
        SmallVector<int64_t> multiples;
        if (failed(constantShape(op, tile.getMultiples(), multiples)))
          return failure();
        if (multiples[dimension] != 1)
          return fail(op, "the op repeats it");
        return keep(source);
      })
      .Case<tosa::GatherOp, tosa::ScatterOp>([&](Operation *) -> LogicalResult {
        for (Value operand : op->getOperands()) {
          std::optional<BatchDimension> other = find(operand);
          if (!other || other->dimension != 0 || other->rows != source.rows)
            return fail(op, "it is not the leading dimension of all operands");
        }
        return keep(source);
      })
      .Default([&](Operation *) -> LogicalResult {
        return fail(op, "the op is unknown");
      });
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
  Follower follower(*batch, emitErrors);
  if (failed(follower.run(function)))
    return failure();
  return std::move(follower.dimensions);
}

namespace {

/// The new value of the `tosa.const_shape` operand of `op`, if it has one in
/// which the batch occurs.
struct ShapeOperand {
  OpOperand *operand = nullptr;
  SmallVector<int64_t> values;
};

ShapeOperand newShapeOperand(Operation *op, const BatchDimension &result,
                             int64_t newBatch) {
  ShapeOperand shape;
  int64_t size = scaled(newBatch, result.rows);
  if (ShapedType::isDynamic(size))
    size = -1;
  if (auto reshape = dyn_cast<tosa::ReshapeOp>(op)) {
    shape.operand = &reshape.getShapeMutable();
    shape.values =
        llvm::to_vector(cast<RankedTensorType>(reshape.getType()).getShape());
    // Sizes that the type does not know stay as they were spelled.
    SmallVector<int64_t> old;
    tosa::getConstShapeValues(reshape.getShape().getDefiningOp(), old);
    for (auto [value, before] : llvm::zip(shape.values, old))
      if (ShapedType::isDynamic(value))
        value = before;
  } else if (auto slice = dyn_cast<tosa::SliceOp>(op)) {
    shape.operand = &slice.getSizeMutable();
    tosa::getConstShapeValues(slice.getSize().getDefiningOp(), shape.values);
  } else {
    return shape;
  }
  shape.values[result.dimension] = size;
  return shape;
}

void setShapeOperand(const ShapeOperand &shape) {
  // followBatch has seen that it is a constant; others may use it as it is.
  Operation *before = shape.operand->get().getDefiningOp();
  OpBuilder builder(before);
  auto type = tosa::shapeType::get(builder.getContext(), shape.values.size());
  auto constant =
      tosa::ConstShapeOp::create(builder, before->getLoc(), type,
                                 builder.getIndexTensorAttr(shape.values));
  shape.operand->set(constant);
  if (before->use_empty())
    before->erase();
}

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

LogicalResult mct::setBatch(func::FuncOp function, int64_t newBatch) {
  FailureOr<BatchDimensions> dimensions = followBatch(function);
  if (failed(dimensions))
    return failure();
  auto update = [&](Value value) -> bool {
    auto it = dimensions->find(value);
    if (it == dimensions->end())
      return false;
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> sizes(type.getShape());
    sizes[it->second.dimension] = scaled(newBatch, it->second.rows);
    value.setType(type.clone(sizes));
    return true;
  };
  for (BlockArgument argument : function.getArguments())
    update(argument);
  for (Operation &op : llvm::make_early_inc_range(function.getBody().front())) {
    if (op.getNumResults() == 0)
      continue;
    auto it = dimensions->find(op.getResult(0));
    if (it != dimensions->end()) {
      ShapeOperand shape = newShapeOperand(&op, it->second, newBatch);
      if (shape.operand)
        setShapeOperand(shape);
      update(op.getResult(0));
      inferRemaining(&op);
    }
  }
  Operation *terminator = function.getBody().front().getTerminator();
  function.setType(FunctionType::get(function.getContext(),
                                     function.getBody().getArgumentTypes(),
                                     terminator->getOperandTypes()));
  return success();
}

namespace {
struct SetBatchPass : mct::impl::SetBatchPassBase<SetBatchPass> {
  using SetBatchPassBase::SetBatchPassBase;

  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    if (size < -1) {
      getOperation().emitOpError("cannot get a batch of ")
          << static_cast<int64_t>(size);
      return signalPassFailure();
    }
    int64_t batch = size <= 0 ? ShapedType::kDynamic : size;
    if (failed(mct::setBatch(getOperation(), batch)))
      return signalPassFailure();
  }
};
} // namespace
