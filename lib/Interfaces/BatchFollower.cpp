// SPDX-License-Identifier: Apache-2.0
#include "mct/Interfaces/BatchFollower.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"

using namespace mlir;
using namespace mct;

static bool allOnes(ArrayRef<int64_t> sizes) {
  return llvm::all_of(sizes, [](int64_t size) { return size == 1; });
}

std::optional<int64_t> mct::getProduct(ArrayRef<int64_t> sizes) {
  int64_t result = 1;
  for (int64_t size : sizes) {
    if (ShapedType::isDynamic(size))
      return std::nullopt;
    result *= size;
  }
  return result;
}

std::optional<ConstantTensor>
mct::getFirstPiece(Value constant, int64_t dimension, int64_t pieces) {
  std::optional<ConstantTensor> tensor = ConstantTensor::get(constant);
  if (!tensor || tensor->getShape()[dimension] % pieces != 0)
    return std::nullopt;
  SmallVector<int64_t> shape(tensor->getShape());
  shape[dimension] /= pieces;
  RankedTensorType type = tensor->getType().clone(shape);
  if (tensor->getNumStored() == 1)
    return tensor->getNumElements() == 1
               ? tensor
               : ConstantTensor::create(
                     type, tensor->getBytes(),
                     std::make_shared<ConstantTensor>(*tensor));
  int64_t outer = *getProduct(ArrayRef(shape).take_front(dimension));
  int64_t inner = *getProduct(ArrayRef(shape).drop_front(dimension)) *
                  int64_t(tensor->getElementSize());
  auto [owner, first] = ConstantTensor::allocate(outer * inner);
  for (int64_t block = 0; block != outer; ++block) {
    ArrayRef<char> rows =
        tensor->getBytes().slice(block * pieces * inner, pieces * inner);
    for (int64_t piece = 1; piece < pieces; ++piece)
      if (rows.slice(piece * inner, inner) != rows.take_front(inner))
        return std::nullopt;
    llvm::copy(rows.take_front(inner), first.begin() + block * inner);
  }
  return ConstantTensor::create(type, first, owner);
}

//===----------------------------------------------------------------------===//
// Known dimensions, requirements and answers
//===----------------------------------------------------------------------===//

std::optional<BatchDimension> BatchFollower::find(Value value) const {
  // Copy the entry, since insertions move the entries of the map.
  auto it = dimensions.find(value);
  if (it == dimensions.end())
    return std::nullopt;
  return it->second;
}

ArrayRef<int64_t> BatchFollower::getSampleOrShape(Value value) const {
  auto it = samples.find(value);
  return it == samples.end()
             ? cast<RankedTensorType>(value.getType()).getShape()
             : ArrayRef<int64_t>(it->second);
}

bool BatchFollower::canMove(Value value, int64_t dimension) const {
  ArrayRef<int64_t> sample = getSample(value);
  return dimension < int64_t(sample.size()) &&
         (find(value)->dimension == dimension ||
          !llvm::is_contained(sample, ShapedType::kDynamic));
}

bool BatchFollower::leadsWhenMoved(Value value) const {
  std::optional<BatchDimension> dimension = find(value);
  return dimension && dimension->dimension != 0 && canMove(value, 0) &&
         getSample(value).front() == 1;
}

void BatchFollower::move(Operation *op, unsigned operand, int64_t dimension) {
  if (find(op->getOperand(operand))->dimension != dimension)
    changes[op].push_back({operand, OperandChange::Move, dimension});
}

void BatchFollower::repeat(Operation *op, unsigned operand, int64_t dimension,
                           int64_t rows) {
  changes[op].push_back({operand, OperandChange::Repeat, dimension, rows});
}

void BatchFollower::take(Operation *op, unsigned operand, int64_t dimension,
                         int64_t rows) {
  changes[op].push_back({operand, OperandChange::Take, dimension, rows});
}

LogicalResult BatchFollower::keep(Operation *op, int64_t dimension,
                                  SmallVector<int64_t> sample) {
  dimensions[op->getResult(0)] = {dimension, sample[dimension]};
  samples[op->getResult(0)] = std::move(sample);
  return success();
}

LogicalResult BatchFollower::keep(Operation *op, BatchDimension result) {
  SmallVector<int64_t> sample(
      cast<RankedTensorType>(op->getResult(0).getType()).getShape());
  sample[result.dimension] = result.rows;
  return keep(op, result.dimension, std::move(sample));
}

LogicalResult BatchFollower::fail(Operation *op, const Twine &reason) {
  if (emitErrors)
    op->emitOpError("cannot follow the batch: ") << reason;
  return failure();
}

LogicalResult BatchFollower::run(func::FuncOp function) {
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

int64_t BatchFollower::costOfMove(Value value, int64_t dimension) const {
  ArrayRef<int64_t> sample = getSample(value);
  int64_t from = find(value)->dimension;
  auto [low, high] = std::minmax(from, dimension);
  return allOnes(sample.slice(low, high - low)) ? 0 : 1;
}

int64_t BatchFollower::moveAway(Operation *op,
                                llvm::function_ref<bool(int64_t)> isFree) {
  Value value = op->getOperand(0);
  int64_t current = find(value)->dimension, best = -1, bestCost = 0;
  if (isFree(current))
    return current;
  // A larger batch would make the op work on other samples' rows.
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

/// Returns the multiples of an op that repeats a value; empty for other ops.
static SmallVector<int64_t> getMultiples(Value value) {
  SmallVector<int64_t> multiples;
  if (auto tile = value.getDefiningOp<tosa::TileOp>())
    if (failed(tile.getConstantMultiples(multiples)))
      multiples.clear();
  return multiples;
}

bool BatchFollower::isSameForAll(Value value, int64_t dimension,
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
  return getFirstPiece(value, dimension, batch).has_value();
}

LogicalResult BatchFollower::followElementwise(Operation *op) {
  auto elementwise = cast<ElementwiseOpInterface>(op);
  SmallVector<unsigned> batched, others;
  SmallVector<int64_t> candidates, sample;
  for (unsigned number = 0; number != getNumDataOperands(op); ++number) {
    Value operand = op->getOperand(number);
    std::optional<BatchDimension> dimension = find(operand);
    if (!dimension) {
      others.push_back(number);
      continue;
    }
    batched.push_back(number);
    if (!llvm::is_contained(candidates, dimension->dimension))
      candidates.push_back(dimension->dimension);
    ArrayRef<int64_t> shape = getSample(operand);
    if (sample.empty())
      sample.assign(shape.begin(), shape.end());
    if (shape.size() != sample.size())
      return fail(op, "it lies in different dimensions of the operands");
    for (auto [size, other] : llvm::zip(sample, shape))
      size = size == 1 ? other : size;
  }
  if (batched.empty())
    return fail(op, "it comes through an operand that is a parameter");
  // A larger batch would make the op combine samples with others.
  if (batch != 1 && candidates.size() > 1)
    return fail(op, "it lies in different dimensions of the operands");
  int64_t present = candidates.front();
  for (int64_t dimension = 0; dimension < int64_t(sample.size()); ++dimension)
    if (!llvm::is_contained(candidates, dimension))
      candidates.push_back(dimension);

  // Repeating a constant costs as much as a transpose.
  std::optional<int64_t> best;
  int64_t bestCost = 0;
  SmallVector<unsigned> bestRepeats;
  bool anyCommon = false;
  for (int64_t dimension : candidates) {
    if (elementwise.hasParametersAlong(dimension))
      continue;
    int64_t cost = 0;
    if (!llvm::all_of(batched, [&](unsigned number) {
          Value operand = op->getOperand(number);
          if (!canMove(operand, dimension) ||
              getSample(operand)[dimension] != sample[dimension])
            return false;
          cost += costOfMove(operand, dimension);
          return true;
        }))
      continue;
    anyCommon = true;
    // The shapes of the other operands depend on the position of a larger
    // batch.
    if (batch != 1 && !others.empty() && dimension != present)
      continue;
    SmallVector<unsigned> repeats;
    if (!llvm::all_of(others, [&](unsigned number) {
          Value operand = op->getOperand(number);
          auto type = dyn_cast<RankedTensorType>(operand.getType());
          if (!type || type.getRank() != int64_t(sample.size()))
            return false;
          for (auto [axis, size] : llvm::enumerate(type.getShape()))
            if (int64_t(axis) != dimension && size != 1 && batch != 1 &&
                sample[axis] != 1 && size != sample[axis])
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
  // A constant may be larger than the other operand.
  for (unsigned number : others) {
    auto type = cast<RankedTensorType>(op->getOperand(number).getType());
    for (auto [axis, size] : llvm::enumerate(sample))
      if (size == 1 && int64_t(axis) != *best)
        size = type.getDimSize(axis);
  }
  return keep(op, *best, std::move(sample));
}

LogicalResult BatchFollower::follow(Operation *op) {
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
  if (auto batched = dyn_cast<BatchOpInterface>(op))
    return batched.followBatch(*this);
  // The output operand of an op in destination style has a batch of its own.
  if (isa<ElementwiseOpInterface>(op) && !isa<DestinationStyleOpInterface>(op))
    return followElementwise(op);
  return fail(op, "the op is unknown");
}
