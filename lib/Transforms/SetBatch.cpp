// SPDX-License-Identifier: Apache-2.0
#include "mct/Transforms/SetBatch.h"
#include "mct/Analysis/EraseUnused.h"

#include "mct/Transforms/Passes.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Dialect/Tosa/Utils/ConversionUtils.h"
#include "mlir/IR/Matchers.h"
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

/// What is to become of an operand when the batch changes.
struct OperandChange {
  enum Kind {
    /// Depends on the samples: they move to `dimension`.
    Move,
    /// The same for all samples: only what is for one of them stays.
    Take,
    /// The same for all samples: that is repeated along `dimension`.
    Repeat
  };
  unsigned operand;
  Kind kind;
  int64_t dimension;
  /// For one sample; 0: there is nothing to take.
  int64_t rows = 0;
};

/// Follows the batch through a function.
///
/// Every value has a shape for one sample, and the batch lies before the rows
/// of one of its dimensions. Any dimension will do, and an op that cannot have
/// it where it lies gets an operand in which it lies elsewhere: nothing but a
/// reshape where all dimensions between have size 1, else a transpose. What
/// works along the dimension itself is understood to work in each sample only
/// where the function has a batch of 1.
class Follower {
public:
  Follower(int64_t batch, bool emitErrors)
      : batch(batch), emitErrors(emitErrors) {}

  LogicalResult run(func::FuncOp function);

  /// Whether the batch lies elsewhere, but a result of the function should
  /// begin with it: the value has one row for each sample.
  bool leadsWhenMoved(Value value) const {
    std::optional<BatchDimension> dimension = find(value);
    return dimension && dimension->dimension != 0 && canMove(value, 0) &&
           samples.find(value)->second.front() == 1;
  }

  BatchDimensions dimensions;
  /// Shapes for one sample of the values in `dimensions`.
  llvm::DenseMap<Value, SmallVector<int64_t>> samples;
  llvm::DenseMap<Operation *, SmallVector<OperandChange>> changes;

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
  LogicalResult followReshape(tosa::ReshapeOp op);
  LogicalResult followMatMul(tosa::MatMulOp op);
  LogicalResult followConcat(tosa::ConcatOp op);
  LogicalResult followGather(tosa::GatherOp op);
  LogicalResult followScatter(tosa::ScatterOp op);
  LogicalResult constantShape(Operation *op, Value shape,
                              SmallVector<int64_t> &values);

  LogicalResult keep(Operation *op, int64_t dimension,
                     SmallVector<int64_t> sample) {
    dimensions[op->getResult(0)] = {dimension, sample[dimension]};
    samples[op->getResult(0)] = std::move(sample);
    return success();
  }
  /// The result has the batch there, and its other sizes do not change.
  LogicalResult keep(Operation *op, BatchDimension result) {
    SmallVector<int64_t> sample(
        cast<RankedTensorType>(op->getResult(0).getType()).getShape());
    sample[result.dimension] = result.rows;
    return keep(op, result.dimension, std::move(sample));
  }
  /// Whether the batch of a value could be moved there.
  bool canMove(Value value, int64_t dimension) const {
    ArrayRef<int64_t> sample = samples.find(value)->second;
    return dimension < int64_t(sample.size()) &&
           (find(value)->dimension == dimension ||
            !llvm::is_contained(sample, ShapedType::kDynamic));
  }
  /// Free: 0.
  int64_t costOfMove(Value value, int64_t dimension) const;
  /// Requires canMove.
  void move(Operation *op, unsigned operand, int64_t dimension) {
    if (find(op->getOperand(operand))->dimension != dimension)
      changes[op].push_back({operand, OperandChange::Move, dimension});
  }
  /// The samples see the same constant or intermediate value, of `rows` along
  /// `dimension`: it has so many, or as many copies of them as the batch.
  bool isSameForAll(Value value, int64_t dimension, int64_t rows) const;
  void repeat(Operation *op, unsigned operand, int64_t dimension,
              int64_t rows) {
    changes[op].push_back({operand, OperandChange::Repeat, dimension, rows});
  }
  /// Moves the first operand's batch to the cheapest dimension that `isFree`
  /// takes; -1 when there is none.
  int64_t moveAway(Operation *op, llvm::function_ref<bool(int64_t)> isFree);

  int64_t batch;
  bool emitErrors;
};

} // namespace

LogicalResult Follower::run(func::FuncOp function) {
  for (BlockArgument argument : function.getArguments()) {
    dimensions[argument] = BatchDimension();
    SmallVector<int64_t> &sample = samples[argument];
    sample.assign(cast<RankedTensorType>(argument.getType()).getShape());
    sample[0] = 1;
  }
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

int64_t Follower::costOfMove(Value value, int64_t dimension) const {
  ArrayRef<int64_t> sample = samples.find(value)->second;
  int64_t from = find(value)->dimension;
  auto [low, high] = std::minmax(from, dimension);
  return allOnes(sample.slice(low, high - low)) ? 0 : 1;
}

int64_t Follower::moveAway(Operation *op,
                           llvm::function_ref<bool(int64_t)> isFree) {
  Value value = op->getOperand(0);
  int64_t current = find(value)->dimension, best = -1, bestCost = 0;
  if (isFree(current))
    return current;
  // Of a larger batch the op would work on other samples' rows.
  if (batch != 1)
    return -1;
  int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
  for (int64_t dimension = 0; dimension != rank; ++dimension) {
    if (!isFree(dimension) || !canMove(value, dimension))
      continue;
    int64_t cost = costOfMove(value, dimension);
    if (best >= 0 && cost >= bestCost)
      continue;
    best = dimension;
    bestCost = cost;
  }
  if (best >= 0)
    move(op, 0, best);
  return best;
}

/// The elements of a constant in `pieces` equal pieces along a dimension: the
/// first of them, none when they differ.
static std::optional<DenseElementsAttr>
getFirstPiece(DenseElementsAttr elements, int64_t dimension, int64_t pieces) {
  auto type = cast<RankedTensorType>(elements.getType());
  SmallVector<int64_t> shape(type.getShape());
  if (shape[dimension] % pieces != 0)
    return std::nullopt;
  shape[dimension] /= pieces;
  RankedTensorType pieceType = type.clone(shape);
  if (elements.isSplat())
    return elements.resizeSplat(pieceType);
  unsigned bits = type.getElementTypeBitWidth();
  if (bits % 8 != 0)
    return std::nullopt;
  int64_t outer = 1, inner = bits / 8;
  for (int64_t size : ArrayRef(shape).take_front(dimension))
    outer *= size;
  for (int64_t size : ArrayRef(shape).drop_front(dimension))
    inner *= size;
  ArrayRef<char> data = elements.getRawData();
  std::vector<char> first;
  for (int64_t block = 0; block != outer; ++block) {
    ArrayRef<char> rows = data.slice(block * pieces * inner, pieces * inner);
    for (int64_t piece = 1; piece < pieces; ++piece)
      if (rows.slice(piece * inner, inner) != rows.take_front(inner))
        return std::nullopt;
    first.insert(first.end(), rows.begin(), rows.begin() + inner);
  }
  return DenseElementsAttr::getFromRawBuffer(pieceType, first);
}

static DenseElementsAttr getElements(Value value) {
  DenseElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)))
    return {};
  return elements;
}

/// Multiples of the op that repeats a value; empty when it is none.
static SmallVector<int64_t> getMultiples(Value value) {
  SmallVector<int64_t> multiples;
  if (auto tile = value.getDefiningOp<tosa::TileOp>())
    if (failed(tile.getConstantMultiples(multiples)))
      multiples.clear();
  return multiples;
}

bool Follower::isSameForAll(Value value, int64_t dimension,
                            int64_t rows) const {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || ShapedType::isDynamic(rows) || dimension >= type.getRank())
    return false;
  int64_t size = type.getDimSize(dimension);
  if (ShapedType::isDynamic(batch) || batch == 1)
    return size == rows;
  if (size != rows * batch)
    return false;
  if (SmallVector<int64_t> multiples = getMultiples(value); !multiples.empty())
    return multiples[dimension] % batch == 0;
  DenseElementsAttr elements = getElements(value);
  return elements && getFirstPiece(elements, dimension, batch);
}

/// Whether the op treats positions of a dimension differently.
static bool isChannel(Operation *op, int64_t dimension) {
  if (auto rescale = dyn_cast<tosa::RescaleOp>(op))
    return rescale.getPerChannel() &&
           dimension ==
               cast<RankedTensorType>(op->getResult(0).getType()).getRank() - 1;
  if (auto point = dyn_cast<mct::tpc::QuantizeOp>(op))
    return llvm::is_contained(point.getChannelAxes(), dimension);
  return false;
}

LogicalResult Follower::followElementwise(Operation *op) {
  SmallVector<unsigned> batched, others;
  SmallVector<int64_t> candidates, sample;
  for (unsigned number = 0; number != numDataOperands(op); ++number) {
    Value operand = op->getOperand(number);
    std::optional<BatchDimension> dimension = find(operand);
    if (!dimension) {
      others.push_back(number);
      continue;
    }
    batched.push_back(number);
    if (!llvm::is_contained(candidates, dimension->dimension))
      candidates.push_back(dimension->dimension);
    ArrayRef<int64_t> shape = samples.find(operand)->second;
    if (sample.empty())
      sample.assign(shape.begin(), shape.end());
    if (shape.size() != sample.size())
      return fail(op, "it lies in different dimensions of the operands");
    for (auto [size, other] : llvm::zip(sample, shape))
      size = size == 1 ? other : size;
  }
  if (batched.empty())
    return fail(op, "it comes through an operand that is a parameter");
  for (int64_t dimension = 0; dimension < int64_t(sample.size()); ++dimension)
    if (!llvm::is_contained(candidates, dimension))
      candidates.push_back(dimension);

  // Repeating a constant costs as much as a transpose.
  std::optional<int64_t> best;
  int64_t bestCost = 0;
  SmallVector<unsigned> bestRepeats;
  bool anyCommon = false;
  for (int64_t dimension : candidates) {
    if (isChannel(op, dimension))
      continue;
    int64_t cost = 0;
    if (!llvm::all_of(batched, [&](unsigned number) {
          Value operand = op->getOperand(number);
          if (!canMove(operand, dimension) ||
              samples.find(operand)->second[dimension] != sample[dimension])
            return false;
          cost += costOfMove(operand, dimension);
          return true;
        }))
      continue;
    anyCommon = true;
    SmallVector<unsigned> repeats;
    if (!llvm::all_of(others, [&](unsigned number) {
          Value operand = op->getOperand(number);
          auto type = dyn_cast<RankedTensorType>(operand.getType());
          if (!type || type.getRank() != int64_t(sample.size()))
            return false;
          for (auto [axis, size] : llvm::enumerate(type.getShape()))
            if (int64_t(axis) != dimension && size != 1 && batch != 1 &&
                size != sample[axis])
              return false;
          if (type.getDimSize(dimension) == 1)
            return true;
          repeats.push_back(number);
          ++cost;
          return isSameForAll(operand, dimension, sample[dimension]);
        }))
      continue;
    if (best && cost >= bestCost)
      continue;
    best = dimension;
    bestCost = cost;
    bestRepeats = std::move(repeats);
  }
  if (!best)
    return fail(
        op, anyCommon ? "an operand that does not depend on the arguments has "
                        "a size other than 1 along it"
                      : "it lies in different dimensions of the operands");
  for (unsigned number : batched)
    move(op, number, *best);
  for (unsigned number : bestRepeats)
    repeat(op, number, *best, sample[*best]);
  // A constant may be larger than what it meets.
  for (unsigned number : others) {
    auto type = cast<RankedTensorType>(op->getOperand(number).getType());
    for (auto [axis, size] : llvm::enumerate(sample))
      if (size == 1 && int64_t(axis) != *best)
        size = type.getDimSize(axis);
  }
  return keep(op, *best, std::move(sample));
}

LogicalResult Follower::followReshape(tosa::ReshapeOp op) {
  SmallVector<int64_t> values;
  if (failed(constantShape(op, op.getShape(), values)))
    return failure();
  BatchDimension source = *find(op.getInput1());
  ArrayRef<int64_t> from = samples.find(op.getInput1())->second;
  auto to = cast<RankedTensorType>(op.getType());

  // What lies before the batch in memory lies before it in the result. With a
  // batch of 1 several dimensions could be the one that carries it.
  auto findCandidates = [&](int64_t dimension, int64_t rows) {
    SmallVector<BatchDimension, 2> candidates;
    std::optional<int64_t> before = product(from.take_front(dimension));
    for (int64_t next = 0, prefix = 1; before && next < to.getRank(); ++next) {
      int64_t size = to.getDimSize(next);
      if (prefix == *before) {
        if (ShapedType::isDynamic(batch)) {
          if (ShapedType::isDynamic(size) && values[next] == -1) {
            auto perSample = product(from.drop_front(dimension + 1));
            auto inner = product(to.getShape().drop_front(next + 1));
            int64_t newRows = 1;
            if (perSample && inner && *inner != 0)
              newRows = *perSample * rows / *inner;
            candidates.push_back({next, newRows});
            break;
          }
        } else if (!ShapedType::isDynamic(size) && size % batch == 0) {
          candidates.push_back({next, size / batch});
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
  if (candidates.empty() && !isOutermost && batch == 1 &&
      canMove(op.getInput1(), 0)) {
    move(op, 0, 0);
    candidates = findCandidates(0, from.front());
  }
  if (candidates.empty())
    return fail(op, isOutermost
                        ? "no leading dimension of the result can carry it"
                        : "it is not the outermost dimension in memory");

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
  return keep(op, chosen);
}

LogicalResult Follower::followMatMul(tosa::MatMulOp op) {
  std::optional<BatchDimension> a = find(op.getA()), b = find(op.getB());
  auto shapeOf = [&](Value value) {
    auto it = samples.find(value);
    return it == samples.end()
               ? cast<RankedTensorType>(value.getType()).getShape()
               : ArrayRef<int64_t>(it->second);
  };
  auto result = [&](int64_t products) {
    return SmallVector<int64_t>{products, shapeOf(op.getA())[1],
                                shapeOf(op.getB())[2]};
  };
  if (a && b) {
    // Every sample has products of its own.
    if (!canMove(op.getA(), 0) || !canMove(op.getB(), 0) ||
        (batch != 1 && (a->dimension != 0 || b->dimension != 0)) ||
        shapeOf(op.getA())[0] != shapeOf(op.getB())[0])
      return fail(op, "it is not the leading dimension of both operands");
    move(op, 0, 0);
    move(op, 1, 0);
    return keep(op, 0, result(shapeOf(op.getA())[0]));
  }
  // All samples share the constant factor: their rows, or columns, stand side
  // by side.
  unsigned number = a ? 0 : 1, constant = a ? 1 : 0;
  int64_t target = a ? 1 : 2;
  Value value = op->getOperand(number), factor = op->getOperand(constant);
  int64_t products = shapeOf(value)[0], present = shapeOf(factor)[0];
  if (!canMove(value, target) ||
      (batch != 1 && find(value)->dimension == (a ? 2 : 1)) ||
      (present != products && !isSameForAll(factor, 0, products)))
    return fail(op, "the other operand does not depend on the arguments");
  move(op, number, target);
  if (present != products)
    changes[op].push_back({constant, OperandChange::Take, 0, products});
  return keep(op, target, result(products));
}

LogicalResult Follower::followConcat(tosa::ConcatOp op) {
  int64_t axis = op.getAxis();
  SmallVector<int64_t> candidates, sample;
  for (Value operand : op->getOperands())
    if (std::optional<BatchDimension> dimension = find(operand)) {
      if (sample.empty())
        sample = samples.find(operand)->second;
      if (!llvm::is_contained(candidates, dimension->dimension))
        candidates.push_back(dimension->dimension);
      // Of a larger batch the op joins samples.
      if (batch != 1 && dimension->dimension == axis)
        return fail(op, "the op works along it");
    }
  for (int64_t dimension = 0; batch == 1 && dimension < int64_t(sample.size());
       ++dimension)
    if (!llvm::is_contained(candidates, dimension))
      candidates.push_back(dimension);
  std::optional<int64_t> best;
  int64_t bestCost = 0;
  for (int64_t dimension : candidates) {
    int64_t cost = 0;
    if (dimension == axis ||
        !llvm::all_of(op->getOperands(), [&](Value operand) {
          if (!find(operand))
            return isSameForAll(operand, dimension, sample[dimension]);
          cost +=
              canMove(operand, dimension) ? costOfMove(operand, dimension) : 0;
          return canMove(operand, dimension);
        }))
      continue;
    if (best && cost >= bestCost)
      continue;
    best = dimension;
    bestCost = cost;
  }
  if (!best)
    return fail(op, sample.size() == 1
                        ? "the op works along it"
                        : "not every operand has it in the same dimension");
  for (unsigned number = 0; number != op->getNumOperands(); ++number) {
    if (find(op->getOperand(number)))
      move(op, number, *best);
    else
      repeat(op, number, *best, sample[*best]);
  }
  return keep(op, {*best, sample[*best]});
}

LogicalResult Follower::followGather(tosa::GatherOp op) {
  Value values = op.getValues(), indices = op.getIndices();
  std::optional<BatchDimension> ofValues = find(values),
                                ofIndices = find(indices);
  auto isLeading = [&](Value value) {
    return canMove(value, 0) && (batch == 1 || find(value)->dimension == 0);
  };
  if (!ofValues) {
    // All samples look into the same table.
    ArrayRef<int64_t> sample = samples.find(indices)->second;
    auto table = cast<RankedTensorType>(values.getType());
    bool takes = table.getDimSize(0) != sample[0];
    if (!canMove(indices, 1) || (takes && !isSameForAll(values, 0, sample[0])))
      return fail(op, "the table has a size other than 1 along it");
    move(op, 1, 1);
    if (takes)
      changes[op].push_back({0, OperandChange::Take, 0, sample[0]});
    return keep(op, 1, {sample[0], sample[1], table.getDimSize(2)});
  }
  int64_t rows = samples.find(values)->second[0];
  if (!isLeading(values) ||
      (ofIndices
           ? !isLeading(indices) || samples.find(indices)->second[0] != rows
           : !isSameForAll(indices, 0, rows)))
    return fail(op, "it is not the leading dimension of all operands");
  move(op, 0, 0);
  if (ofIndices)
    move(op, 1, 0);
  else
    repeat(op, 1, 0, rows);
  return keep(op, {0, rows});
}

LogicalResult Follower::followScatter(tosa::ScatterOp op) {
  std::optional<int64_t> rows;
  for (Value operand : op->getOperands())
    if (std::optional<BatchDimension> dimension = find(operand)) {
      int64_t size = samples.find(operand)->second[0];
      if (!canMove(operand, 0) || (batch != 1 && dimension->dimension != 0) ||
          (rows && *rows != size))
        return fail(op, "it is not the leading dimension of all operands");
      rows = size;
    }
  for (auto [number, operand] : llvm::enumerate(op->getOperands())) {
    if (find(operand))
      move(op, number, 0);
    else if (isSameForAll(operand, 0, *rows))
      repeat(op, number, 0, *rows);
    else
      return fail(op, "it is not the leading dimension of all operands");
  }
  return keep(op, {0, *rows});
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
  if (auto matmul = dyn_cast<tosa::MatMulOp>(op))
    return followMatMul(matmul);
  if (auto concat = dyn_cast<tosa::ConcatOp>(op))
    return followConcat(concat);
  if (auto gather = dyn_cast<tosa::GatherOp>(op))
    return followGather(gather);
  if (auto scatter = dyn_cast<tosa::ScatterOp>(op))
    return followScatter(scatter);

  std::optional<BatchDimension> first;
  if (op->getNumOperands() != 0)
    first = find(op->getOperand(0));
  // What remains has its data in the leading operand.
  if (!first)
    return fail(op, isa<tosa::TosaDialect>(op->getDialect())
                        ? "it comes through an operand that is a parameter"
                        : "the op is unknown");
  ArrayRef<int64_t> sample = samples.find(op->getOperand(0))->second;
  auto onlyFirst = [&] {
    return llvm::none_of(op->getOperands().drop_front(), [&](Value operand) {
      return find(operand).has_value();
    });
  };
  auto away = [&](llvm::function_ref<bool(int64_t)> isFree,
                  StringRef why) -> LogicalResult {
    int64_t dimension = moveAway(op, isFree);
    if (dimension < 0)
      return fail(op, why);
    return keep(op, {dimension, sample[dimension]});
  };

  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](tosa::ReshapeOp reshape) { return followReshape(reshape); })
      .Case<tosa::Conv2DOp, tosa::Conv3DOp, tosa::DepthwiseConv2DOp,
            tosa::TransposeConv2DOp, tosa::AvgPool2dOp, tosa::MaxPool2dOp,
            tosa::ResizeOp>([&](Operation *) -> LogicalResult {
        if (!onlyFirst())
          return fail(op, "the weights depend on the arguments");
        return away([](int64_t dimension) { return dimension == 0; },
                    "it is not the leading dimension");
      })
      .Case([&](tosa::TransposeOp transpose) -> LogicalResult {
        auto permutation = transpose.getPerms();
        auto *it = llvm::find(permutation, first->dimension);
        if (it == permutation.end())
          return fail(op, "the permutation lacks it");
        return keep(op, {it - permutation.begin(), first->rows});
      })
      .Case<tosa::ReduceAllOp, tosa::ReduceAnyOp, tosa::ReduceMaxOp,
            tosa::ReduceMinOp, tosa::ReduceProductOp, tosa::ReduceSumOp,
            tosa::ReverseOp>([&](auto reduce) -> LogicalResult {
        return away(
            [&](int64_t dimension) { return dimension != reduce.getAxis(); },
            "the op works along it");
      })
      .Case([&](tosa::ArgMaxOp argmax) -> LogicalResult {
        int64_t axis = argmax.getAxis();
        int64_t dimension =
            moveAway(op, [&](int64_t other) { return other != axis; });
        if (dimension < 0)
          return fail(op, "the op works along it");
        return keep(
            op, {dimension - (axis < dimension ? 1 : 0), sample[dimension]});
      })
      .Case([&](tosa::SliceOp slice) -> LogicalResult {
        SmallVector<int64_t> start, size;
        if (failed(constantShape(op, slice.getStart(), start)) ||
            failed(constantShape(op, slice.getSize(), size)))
          return failure();
        auto type = cast<RankedTensorType>(slice.getInput1().getType());
        return away(
            [&](int64_t dimension) {
              return start[dimension] == 0 &&
                     (size[dimension] == type.getDimSize(dimension) ||
                      size[dimension] == -1);
            },
            "the op takes a part of it");
      })
      .Case([&](tosa::PadOp pad) -> LogicalResult {
        SmallVector<int64_t> padding;
        if (failed(constantShape(op, pad.getPadding(), padding)))
          return failure();
        return away(
            [&](int64_t dimension) {
              return padding[2 * dimension] == 0 &&
                     padding[2 * dimension + 1] == 0;
            },
            "the op pads it");
      })
      .Case([&](tosa::TileOp tile) -> LogicalResult {
        SmallVector<int64_t> multiples;
        if (failed(constantShape(op, tile.getMultiples(), multiples)))
          return failure();
        return away(
            [&](int64_t dimension) { return multiples[dimension] == 1; },
            "the op repeats it");
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
  mct::eraseUnused(before);
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

namespace {

/// Rewrites a function whose batch was followed.
class Rewriter {
public:
  Rewriter(Follower &follower, int64_t batch, int64_t newBatch)
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

  Follower &follower;
  int64_t batch, newBatch;
  llvm::DenseMap<std::pair<Value, int64_t>, Value> movedValues;
};

} // namespace

/// The location without the name of the value there: what is made beside it has
/// none.
static Location withoutName(Location loc) {
  for (;;) {
    if (auto name = dyn_cast<NameLoc>(loc))
      loc = name.getChildLoc();
    else if (auto fused = dyn_cast<FusedLoc>(loc);
             fused && fused.getLocations().size() == 1)
      loc = fused.getLocations().front();
    else
      return loc;
  }
}

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
  SmallVector<int64_t> sizes = follower.samples.find(value)->second;
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
  // Right behind the value, so that all who want it there share it.
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfterValue(value);
  Location loc = withoutName(value.getLoc());
  ArrayRef<int64_t> sample = follower.samples.find(value)->second;
  int64_t from = follower.dimensions.find(value)->second.dimension;
  auto [low, high] = std::minmax(from, dimension);
  int64_t before = *product(sample.take_front(low));
  int64_t between = *product(sample.slice(low, high - low));
  int64_t behind = *product(sample.drop_front(high));
  SmallVector<int64_t> sizes(sample);
  sizes[dimension] = scaled(newBatch, sizes[dimension]);
  Value result = value;
  if (between != 1) {
    SmallVector<int64_t> split = {before, between, newBatch, behind};
    SmallVector<int64_t> other = {before, newBatch, between, behind};
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
  if (DenseElementsAttr elements = getElements(value)) {
    DenseElementsAttr piece = *getFirstPiece(elements, dimension, batch);
    return tosa::ConstOp::create(builder, loc, piece.getType(), piece);
  }
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
    ShapeOperand shape = newShapeOperand(&op, it->second, newBatch);
    if (shape.operand)
      setShapeOperand(shape);
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

FailureOr<BatchDimensions> mct::setBatch(func::FuncOp function,
                                         int64_t newBatch) {
  FailureOr<int64_t> batch = getBatch(function);
  if (failed(batch))
    return failure();
  Follower follower(*batch, /*emitErrors=*/true);
  if (failed(follower.run(function)))
    return failure();
  if (*batch == newBatch)
    return std::move(follower.dimensions);
  if (ShapedType::isDynamic(newBatch))
    for (Operation &op : function.getBody().front())
      for (const OperandChange &change : follower.changes.lookup(&op))
        if (change.kind == OperandChange::Repeat)
          return op.emitOpError("cannot get a dynamic batch: operand ")
                 << change.operand
                 << " is the same for all samples, and would have to be "
                    "repeated an unknown number of times; choose a size";
  Rewriter(follower, *batch, newBatch).rewrite(function);
  return std::move(follower.dimensions);
}

namespace {
struct SetBatchPass : mct::impl::SetBatchPassBase<SetBatchPass> {
  using SetBatchPassBase::SetBatchPassBase;

  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    // Sizes and their products are computed with.
    constexpr int64_t kLargest = int64_t(1) << 31;
    if (size < -1 || size > kLargest) {
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
