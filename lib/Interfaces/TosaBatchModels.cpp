// SPDX-License-Identifier: Apache-2.0
//
// Batch models of the TOSA ops that do not compute element by element.
#include "OpModels.h"
#include "mct/IR/EraseUnused.h"
#include "mct/Interfaces/BatchFollower.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Dialect/Tosa/Utils/ConversionUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mct;

/// Elements of a `tosa.const_shape`.
static LogicalResult getConstantShape(Operation *op, BatchFollower &follower,
                                      Value shape,
                                      SmallVector<int64_t> &values) {
  Operation *source = shape.getDefiningOp();
  if (!source || !tosa::getConstShapeValues(source, values))
    return follower.fail(op, "its shape operand is not a constant");
  return success();
}

//===----------------------------------------------------------------------===//
// Ops with data in their first operand only
//===----------------------------------------------------------------------===//

static LogicalResult checkFirst(Operation *op, BatchFollower &follower) {
  if (follower.find(op->getOperand(0)))
    return success();
  return follower.fail(op, "it comes through an operand that is a parameter");
}

/// Keeps the batch in a dimension for which `isFree` holds, or moves it there;
/// the result has it in the same dimension.
static LogicalResult followAway(Operation *op, BatchFollower &follower,
                                llvm::function_ref<bool(int64_t)> isFree,
                                StringRef why) {
  if (failed(checkFirst(op, follower)))
    return failure();
  int64_t dimension = follower.moveAway(op, isFree);
  if (dimension < 0)
    return follower.fail(op, why);
  return follower.keep(
      op, {dimension, follower.getSample(op->getOperand(0))[dimension]});
}

/// Windows that move over the axes between the batch and the channels.
template <typename Op>
static LogicalResult followWindows(Op op, BatchFollower &follower) {
  if (failed(checkFirst(op, follower)))
    return failure();
  if (llvm::any_of(op->getOperands().drop_front(), [&](Value operand) {
        return follower.find(operand).has_value();
      }))
    return follower.fail(op, "the weights depend on the arguments");
  return followAway(
      op, follower, [](int64_t dimension) { return dimension == 0; },
      "it is not the leading dimension");
}

/// Ops with an `axis` that they work along.
template <typename Op>
static LogicalResult followOtherAxes(Op op, BatchFollower &follower) {
  return followAway(
      op, follower,
      [&](int64_t dimension) { return dimension != int64_t(op.getAxis()); },
      "the op works along it");
}

static LogicalResult followArgMax(tosa::ArgMaxOp op, BatchFollower &follower) {
  if (failed(checkFirst(op, follower)))
    return failure();
  int64_t axis = op.getAxis();
  int64_t dimension =
      follower.moveAway(op, [&](int64_t other) { return other != axis; });
  if (dimension < 0)
    return follower.fail(op, "the op works along it");
  return follower.keep(op, {dimension - (axis < dimension ? 1 : 0),
                            follower.getSample(op.getInput())[dimension]});
}

static LogicalResult followTranspose(tosa::TransposeOp op,
                                     BatchFollower &follower) {
  if (failed(checkFirst(op, follower)))
    return failure();
  BatchDimension first = *follower.find(op.getInput1());
  ArrayRef<int32_t> permutation = op.getPerms();
  const int32_t *it = llvm::find(permutation, first.dimension);
  if (it == permutation.end())
    return follower.fail(op, "the permutation lacks it");
  return follower.keep(op, {it - permutation.begin(), first.rows});
}

static LogicalResult followSlice(tosa::SliceOp op, BatchFollower &follower) {
  SmallVector<int64_t> start, size;
  if (failed(checkFirst(op, follower)) ||
      failed(getConstantShape(op, follower, op.getStart(), start)) ||
      failed(getConstantShape(op, follower, op.getSize(), size)))
    return failure();
  auto type = cast<RankedTensorType>(op.getInput1().getType());
  return followAway(
      op, follower,
      [&](int64_t dimension) {
        return start[dimension] == 0 &&
               (size[dimension] == type.getDimSize(dimension) ||
                size[dimension] == -1);
      },
      "the op takes a part of it");
}

static LogicalResult followPad(tosa::PadOp op, BatchFollower &follower) {
  SmallVector<int64_t> padding;
  if (failed(checkFirst(op, follower)) ||
      failed(getConstantShape(op, follower, op.getPadding(), padding)))
    return failure();
  return followAway(
      op, follower,
      [&](int64_t dimension) {
        return padding[2 * dimension] == 0 && padding[2 * dimension + 1] == 0;
      },
      "the op pads it");
}

static LogicalResult followTile(tosa::TileOp op, BatchFollower &follower) {
  SmallVector<int64_t> multiples;
  if (failed(checkFirst(op, follower)) ||
      failed(getConstantShape(op, follower, op.getMultiples(), multiples)))
    return failure();
  return followAway(
      op, follower,
      [&](int64_t dimension) { return multiples[dimension] == 1; },
      "the op repeats it");
}

static LogicalResult followReshape(tosa::ReshapeOp op,
                                   BatchFollower &follower) {
  SmallVector<int64_t> values;
  if (failed(checkFirst(op, follower)) ||
      failed(getConstantShape(op, follower, op.getShape(), values)))
    return failure();
  BatchDimension source = *follower.find(op.getInput1());
  ArrayRef<int64_t> from = follower.getSample(op.getInput1());
  auto to = cast<RankedTensorType>(op.getType());

  // Axes before the batch in memory lie before it in the result. With a batch
  // of 1 several dimensions could be the one that carries it.
  auto findCandidates = [&](int64_t dimension, int64_t rows) {
    SmallVector<BatchDimension, 2> candidates;
    std::optional<int64_t> before = getProduct(from.take_front(dimension));
    for (int64_t next = 0, prefix = 1; before && next < to.getRank(); ++next) {
      int64_t size = to.getDimSize(next);
      if (prefix == *before) {
        if (ShapedType::isDynamic(follower.getBatch())) {
          if (ShapedType::isDynamic(size) && values[next] == -1) {
            auto perSample = getProduct(from.drop_front(dimension + 1));
            auto inner = getProduct(to.getShape().drop_front(next + 1));
            int64_t newRows = 1, total = 0;
            if (perSample && inner && *inner != 0) {
              // A part of a row is not a sample, since several would share the
              // row.
              if (llvm::MulOverflow(*perSample, rows, total) || total == 0 ||
                  total % *inner != 0)
                break;
              newRows = total / *inner;
            }
            candidates.push_back({next, newRows});
            break;
          }
        } else if (!ShapedType::isDynamic(size) &&
                   size % follower.getBatch() == 0) {
          candidates.push_back({next, size / follower.getBatch()});
        }
      }
      if (ShapedType::isDynamic(size))
        break;
      prefix *= size;
      if (prefix > *before)
        break;
    }
    return candidates;
  };
  SmallVector<BatchDimension, 2> candidates =
      findCandidates(source.dimension, source.rows);
  bool isOutermost = llvm::all_of(from.take_front(source.dimension),
                                  [](int64_t size) { return size == 1; });
  if (candidates.empty() && !isOutermost && follower.getBatch() == 1 &&
      follower.canMove(op.getInput1(), 0)) {
    follower.move(op, 0, 0);
    candidates = findCandidates(0, from.front());
  }
  if (candidates.empty())
    return follower.fail(
        op, isOutermost ? "no leading dimension of the result can carry it"
                        : "it is not the outermost dimension in memory");

  // [B, C] -> [1, B, C] is how a matrix product with constant weights is made
  // from a fully connected layer; the first dimension cannot grow there.
  BatchDimension chosen = candidates.front();
  if (candidates.size() > 1 &&
      llvm::any_of(op->getUsers(), [&](Operation *user) {
        auto matmul = dyn_cast<tosa::MatMulOp>(user);
        return matmul && matmul.getA() == op.getResult() &&
               !follower.find(matmul.getB());
      }))
    chosen = candidates[1];
  return follower.keep(op, chosen);
}

//===----------------------------------------------------------------------===//
// Ops with several operands of data
//===----------------------------------------------------------------------===//

static LogicalResult followMatMul(tosa::MatMulOp op, BatchFollower &follower) {
  std::optional<BatchDimension> a = follower.find(op.getA()),
                                b = follower.find(op.getB());
  auto shapeOf = [&](Value value) { return follower.getSampleOrShape(value); };
  auto result = [&](int64_t products) {
    return SmallVector<int64_t>{products, shapeOf(op.getA())[1],
                                shapeOf(op.getB())[2]};
  };
  if (a && b) {
    // Every sample has products of its own.
    if (!follower.canMove(op.getA(), 0) || !follower.canMove(op.getB(), 0) ||
        (follower.getBatch() != 1 &&
         (a->dimension != 0 || b->dimension != 0)) ||
        shapeOf(op.getA())[0] != shapeOf(op.getB())[0])
      return follower.fail(op,
                           "it is not the leading dimension of both operands");
    follower.move(op, 0, 0);
    follower.move(op, 1, 0);
    return follower.keep(op, 0, result(shapeOf(op.getA())[0]));
  }
  // All samples share the constant factor: their rows, or columns, are
  // adjacent.
  unsigned number = a ? 0 : 1, constant = a ? 1 : 0;
  int64_t target = a ? 1 : 2;
  Value value = op->getOperand(number), factor = op->getOperand(constant);
  int64_t products = shapeOf(value)[0], present = shapeOf(factor)[0];
  if (!follower.canMove(value, target) ||
      (follower.getBatch() != 1 &&
       follower.find(value)->dimension == (a ? 2 : 1)) ||
      (present != products && !follower.isSameForAll(factor, 0, products)))
    return follower.fail(op,
                         "the other operand does not depend on the arguments");
  follower.move(op, number, target);
  if (present != products)
    follower.take(op, constant, 0, products);
  return follower.keep(op, target, result(products));
}

static LogicalResult followConcat(tosa::ConcatOp op, BatchFollower &follower) {
  int64_t axis = op.getAxis();
  SmallVector<int64_t> candidates, sample;
  for (Value operand : op->getOperands())
    if (std::optional<BatchDimension> dimension = follower.find(operand)) {
      if (sample.empty())
        sample = llvm::to_vector(follower.getSample(operand));
      if (!llvm::is_contained(candidates, dimension->dimension))
        candidates.push_back(dimension->dimension);
      // A larger batch would make the op join samples.
      if (follower.getBatch() != 1 && dimension->dimension == axis)
        return follower.fail(op, "the op works along it");
    }
  // A larger batch would make the op put samples beside others.
  if (follower.getBatch() != 1 && candidates.size() > 1)
    return follower.fail(op, "not every operand has it in the same dimension");
  for (int64_t dimension = 0;
       follower.getBatch() == 1 && dimension < int64_t(sample.size());
       ++dimension)
    if (!llvm::is_contained(candidates, dimension))
      candidates.push_back(dimension);
  std::optional<int64_t> best;
  int64_t bestCost = 0;
  for (int64_t dimension : candidates) {
    int64_t cost = 0;
    if (dimension == axis ||
        !llvm::all_of(op->getOperands(), [&](Value operand) {
          if (!follower.find(operand))
            return follower.isSameForAll(operand, dimension, sample[dimension]);
          cost += follower.canMove(operand, dimension)
                      ? follower.costOfMove(operand, dimension)
                      : 0;
          return follower.canMove(operand, dimension);
        }))
      continue;
    if (best && cost >= bestCost)
      continue;
    best = dimension;
    bestCost = cost;
  }
  if (!best)
    return follower.fail(
        op, sample.size() == 1
                ? "the op works along it"
                : "not every operand has it in the same dimension");
  for (unsigned number = 0; number != op->getNumOperands(); ++number) {
    if (follower.find(op->getOperand(number)))
      follower.move(op, number, *best);
    else
      follower.repeat(op, number, *best, sample[*best]);
  }
  return follower.keep(op, {*best, sample[*best]});
}

static LogicalResult followGather(tosa::GatherOp op, BatchFollower &follower) {
  Value values = op.getValues(), indices = op.getIndices();
  std::optional<BatchDimension> ofValues = follower.find(values),
                                ofIndices = follower.find(indices);
  auto isLeading = [&](Value value) {
    return follower.canMove(value, 0) &&
           (follower.getBatch() == 1 || follower.find(value)->dimension == 0);
  };
  if (!ofValues) {
    // All samples look into the same table.
    ArrayRef<int64_t> sample = follower.getSample(indices);
    auto table = cast<RankedTensorType>(values.getType());
    bool takes = table.getDimSize(0) != sample[0];
    if (!follower.canMove(indices, 1) ||
        (takes && !follower.isSameForAll(values, 0, sample[0])))
      return follower.fail(op, "the table has a size other than 1 along it");
    follower.move(op, 1, 1);
    if (takes)
      follower.take(op, 0, 0, sample[0]);
    return follower.keep(op, 1, {sample[0], sample[1], table.getDimSize(2)});
  }
  int64_t rows = follower.getSample(values)[0];
  if (!isLeading(values) ||
      (ofIndices ? !isLeading(indices) || follower.getSample(indices)[0] != rows
                 : !follower.isSameForAll(indices, 0, rows)))
    return follower.fail(op, "it is not the leading dimension of all operands");
  follower.move(op, 0, 0);
  if (ofIndices)
    follower.move(op, 1, 0);
  else
    follower.repeat(op, 1, 0, rows);
  return follower.keep(op, {0, rows});
}

static LogicalResult followScatter(tosa::ScatterOp op,
                                   BatchFollower &follower) {
  std::optional<int64_t> rows;
  for (Value operand : op->getOperands())
    if (std::optional<BatchDimension> dimension = follower.find(operand)) {
      int64_t size = follower.getSample(operand)[0];
      if (!follower.canMove(operand, 0) ||
          (follower.getBatch() != 1 && dimension->dimension != 0) ||
          (rows && *rows != size))
        return follower.fail(op,
                             "it is not the leading dimension of all operands");
      rows = size;
    }
  for (auto [number, operand] : llvm::enumerate(op->getOperands())) {
    if (follower.find(operand))
      follower.move(op, number, 0);
    else if (follower.isSameForAll(operand, 0, *rows))
      follower.repeat(op, number, 0, *rows);
    else
      return follower.fail(op,
                           "it is not the leading dimension of all operands");
  }
  return follower.keep(op, {0, *rows});
}

//===----------------------------------------------------------------------===//
// Shapes that are spelled
//===----------------------------------------------------------------------===//

/// Replaces a size by `size` (-1 if it is unknown) in a `tosa.const_shape`,
/// which other ops may still use unchanged.
static void setShape(OpOperand &operand, SmallVector<int64_t> values,
                     int64_t dimension, int64_t size) {
  values[dimension] = ShapedType::isDynamic(size) ? -1 : size;
  Operation *before = operand.get().getDefiningOp();
  OpBuilder builder(before);
  auto type =
      tosa::shapeType::get(builder.getContext(), int64_t(values.size()));
  operand.set(tosa::ConstShapeOp::create(builder, before->getLoc(), type,
                                         builder.getIndexTensorAttr(values)));
  eraseUnused(before);
}

static void setNoSize(Operation *, int64_t, int64_t) {}

static void setReshapeSize(Operation *op, int64_t dimension, int64_t size) {
  OpOperand &shape = cast<tosa::ReshapeOp>(op).getShapeMutable();
  SmallVector<int64_t> values(
      cast<RankedTensorType>(op->getResult(0).getType()).getShape());
  // Sizes that the type does not know stay as they were spelled.
  SmallVector<int64_t> old;
  tosa::getConstShapeValues(shape.get().getDefiningOp(), old);
  for (auto [value, before] : llvm::zip(values, old))
    if (ShapedType::isDynamic(value))
      value = before;
  setShape(shape, values, dimension, size);
}

static void setSliceSize(Operation *op, int64_t dimension, int64_t size) {
  OpOperand &shape = cast<tosa::SliceOp>(op).getSizeMutable();
  SmallVector<int64_t> values;
  tosa::getConstShapeValues(shape.get().getDefiningOp(), values);
  setShape(shape, values, dimension, size);
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

namespace {
template <typename Op, LogicalResult (*follow)(Op, BatchFollower &),
          void (*setSize)(Operation *, int64_t, int64_t)>
struct BatchModel
    : BatchOpInterface::ExternalModel<BatchModel<Op, follow, setSize>, Op> {
  LogicalResult followBatch(Operation *op, BatchFollower &follower) const {
    return follow(cast<Op>(op), follower);
  }
  void setResultSize(Operation *op, int64_t dimension, int64_t size) const {
    setSize(op, dimension, size);
  }
};
} // namespace

template <typename Op, LogicalResult (*follow)(Op, BatchFollower &),
          void (*setSize)(Operation *, int64_t, int64_t) = setNoSize>
static void attach(MLIRContext *context) {
  Op::template attachInterface<BatchModel<Op, follow, setSize>>(*context);
}

template <typename... Ops> static void attachWindows(MLIRContext *context) {
  (attach<Ops, followWindows<Ops>>(context), ...);
}

template <typename... Ops> static void attachOtherAxes(MLIRContext *context) {
  (attach<Ops, followOtherAxes<Ops>>(context), ...);
}

void mct::attachTosaBatchModels(MLIRContext *context) {
  attachWindows<tosa::Conv2DOp, tosa::Conv3DOp, tosa::DepthwiseConv2DOp,
                tosa::TransposeConv2DOp, tosa::AvgPool2dOp, tosa::MaxPool2dOp,
                tosa::ResizeOp>(context);
  attachOtherAxes<tosa::ReduceAllOp, tosa::ReduceAnyOp, tosa::ReduceMaxOp,
                  tosa::ReduceMinOp, tosa::ReduceProductOp, tosa::ReduceSumOp,
                  tosa::ReverseOp>(context);
  attach<tosa::ArgMaxOp, followArgMax>(context);
  attach<tosa::TransposeOp, followTranspose>(context);
  attach<tosa::ReshapeOp, followReshape, setReshapeSize>(context);
  attach<tosa::SliceOp, followSlice, setSliceSize>(context);
  attach<tosa::PadOp, followPad>(context);
  attach<tosa::TileOp, followTile>(context);
  attach<tosa::MatMulOp, followMatMul>(context);
  attach<tosa::ConcatOp, followConcat>(context);
  attach<tosa::GatherOp, followGather>(context);
  attach<tosa::ScatterOp, followScatter>(context);
}
