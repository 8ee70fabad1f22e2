// SPDX-License-Identifier: Apache-2.0
#include "mct/IR/ConstantEvaluator.h"
#include "ConstantArithmetic.h"
#include "ElementWalk.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/CheckedArithmetic.h"
#include <cstring>

using namespace mlir;
using namespace mct;

// Most elements that all results together may have in excess of their operands.
static constexpr int64_t kMaxSurplus = int64_t(1) << 24;
// Results of fewer elements than this, and those that several operands use, are
// cached permanently.
static constexpr int64_t kLarge = 4096;
static constexpr unsigned kMaxCounted = 64;

//===----------------------------------------------------------------------===//
// Movements
//===----------------------------------------------------------------------===//

/// Returns the elements on a walk along `strides` from element `first` of
/// `source`, in the order of `type`.
static ConstantTensor gather(RankedTensorType type,
                             const ConstantTensor &source, int64_t first,
                             ArrayRef<int64_t> shape,
                             const SmallVector<int64_t> &strides) {
  size_t size = source.getElementSize();
  auto [owner, bytes] = ConstantTensor::allocate(type.getNumElements() * size);
  char *target = bytes.data();
  int64_t row = getRowSize(shape),
          stride = strides.empty() ? 1 : strides.back();
  if (!bytes.empty())
    forEachRow<1>(shape, {strides}, [&](auto at) {
      const char *from =
          source.getBytes().data() + (first + at[0]) * int64_t(size);
      if (stride == 1) {
        std::memcpy(target, from, row * size);
        target += row * size;
        return;
      }
      for (int64_t i = 0; i != row; ++i, target += size)
        std::memcpy(target, from + i * stride * int64_t(size), size);
    });
  return ConstantTensor::create(type, bytes, std::move(owner));
}

/// Returns a splat of the only element that `source` stores.
static ConstantTensor repeat(RankedTensorType type,
                             const ConstantTensor &source) {
  size_t size = type.getNumElements() == 0 ? 0 : source.getElementSize();
  return ConstantTensor::create(type, source.getBytes().take_front(size),
                                std::make_shared<ConstantTensor>(source));
}

/// Returns the values of a `tosa.const_shape` that has `count` of them.
static std::optional<SmallVector<int64_t>> getShapeValues(Value value,
                                                          size_t count) {
  auto op = value.getDefiningOp<tosa::ConstShapeOp>();
  auto elements =
      op ? dyn_cast<DenseIntElementsAttr>(op.getValuesAttr()) : nullptr;
  if (!elements || size_t(elements.getNumElements()) != count)
    return std::nullopt;
  SmallVector<int64_t> values;
  for (const APInt &element : elements.getValues<APInt>())
    values.push_back(element.getSExtValue());
  return values;
}

static std::optional<ConstantTensor>
computeTranspose(tosa::TransposeOp op, RankedTensorType type,
                 const ConstantTensor &source) {
  ArrayRef<int32_t> perms = op.getPerms();
  SmallVector<int64_t> from = support::getRowMajorStrides(source.getShape()),
                       strides;
  SmallVector<bool> taken(from.size(), false);
  if (perms.size() != from.size())
    return std::nullopt;
  for (auto [axis, perm] : llvm::enumerate(perms)) {
    if (perm < 0 || perm >= int32_t(from.size()) || taken[perm] ||
        type.getDimSize(axis) != source.getShape()[perm])
      return std::nullopt;
    taken[perm] = true;
    strides.push_back(from[perm]);
  }
  if (source.isSplat())
    return source.reshape(type);
  return gather(type, source, 0, type.getShape(), strides);
}

static std::optional<ConstantTensor>
computeReverse(tosa::ReverseOp op, RankedTensorType type,
               const ConstantTensor &source) {
  int64_t axis = op.getAxis();
  if (axis < 0 || axis >= type.getRank() ||
      type.getShape() != source.getShape())
    return std::nullopt;
  if (source.isSplat())
    return source;
  SmallVector<int64_t> strides = support::getRowMajorStrides(source.getShape());
  int64_t first = (type.getDimSize(axis) - 1) * strides[axis];
  strides[axis] = -strides[axis];
  return gather(type, source, first, type.getShape(), strides);
}

static std::optional<ConstantTensor>
computeSlice(tosa::SliceOp op, RankedTensorType type,
             const ConstantTensor &source) {
  ArrayRef<int64_t> from = source.getShape();
  auto start = getShapeValues(op.getStart(), from.size());
  if (!start || type.getRank() != int64_t(from.size()))
    return std::nullopt;
  SmallVector<int64_t> strides = support::getRowMajorStrides(from);
  int64_t first = 0;
  for (size_t axis = 0; axis != from.size(); ++axis) {
    int64_t begin = (*start)[axis];
    if (begin < 0 || begin > from[axis] ||
        type.getDimSize(axis) > from[axis] - begin)
      return std::nullopt;
    first += begin * strides[axis];
  }
  // A splat of a splat stores a single element.
  if (source.isSplat())
    return repeat(type, source);
  return gather(type, source, first, type.getShape(), strides);
}

static std::optional<ConstantTensor> computeTile(tosa::TileOp op,
                                                 RankedTensorType type,
                                                 const ConstantTensor &source) {
  ArrayRef<int64_t> from = source.getShape();
  auto multiples = getShapeValues(op.getMultiples(), from.size());
  if (!multiples || type.getRank() != int64_t(from.size()))
    return std::nullopt;
  // Split each axis into one that repeats and one that runs over the source.
  SmallVector<int64_t> shape, strides,
      dense = support::getRowMajorStrides(from);
  for (size_t axis = 0; axis != from.size(); ++axis) {
    int64_t multiple = (*multiples)[axis];
    std::optional<int64_t> size = llvm::checkedMul(multiple, from[axis]);
    if (multiple < 0 || !size || *size != type.getDimSize(axis))
      return std::nullopt;
    shape.append({multiple, from[axis]});
    strides.append({0, dense[axis]});
  }
  if (source.getNumStored() == 1)
    return repeat(type, source);
  return gather(type, source, 0, shape, strides);
}

/// Copies `source` into `bytes`, which holds a tensor of shape `shape`, at
/// position `start`.
static void place(const ConstantTensor &source, MutableArrayRef<char> bytes,
                  ArrayRef<int64_t> shape, ArrayRef<int64_t> start) {
  if (source.getNumElements() == 0)
    return;
  size_t size = source.getElementSize();
  SmallVector<int64_t> to = support::getRowMajorStrides(shape);
  SmallVector<int64_t> from = support::getRowMajorStrides(source.getShape());
  if (source.isSplat())
    from.assign(from.size(), 0);
  int64_t first = 0;
  for (auto [at, stride] : llvm::zip_equal(start, to))
    first += at * stride;
  int64_t row = getRowSize(source.getShape());
  forEachRow<2>(source.getShape(), {from, to}, [&](auto at) {
    const char *read = source.getBytes().data() + at[0] * size;
    char *write = bytes.data() + (first + at[1]) * size;
    if (!source.isSplat()) {
      std::memcpy(write, read, row * size);
      return;
    }
    for (int64_t i = 0; i != row; ++i)
      std::memcpy(write + i * size, read, size);
  });
}

static std::optional<ConstantTensor> computePad(tosa::PadOp op,
                                                RankedTensorType type,
                                                const ConstantTensor &source,
                                                const ConstantTensor &value) {
  ArrayRef<int64_t> from = source.getShape();
  auto padding = getShapeValues(op.getPadding(), 2 * from.size());
  if (!padding || type.getRank() != int64_t(from.size()) ||
      value.getNumStored() != 1 ||
      value.getElementSize() != source.getElementSize())
    return std::nullopt;
  SmallVector<int64_t> start;
  for (size_t axis = 0; axis != from.size(); ++axis) {
    int64_t before = (*padding)[2 * axis], after = (*padding)[2 * axis + 1];
    std::optional<int64_t> both = llvm::checkedAdd(before, after);
    if (before < 0 || after < 0 || !both ||
        *both != type.getDimSize(axis) - from[axis])
      return std::nullopt;
    start.push_back(before);
  }
  if (source.getBytes() == value.getBytes())
    return repeat(type, source);
  size_t size = source.getElementSize();
  auto [owner, bytes] = ConstantTensor::allocate(type.getNumElements() * size);
  for (size_t at = 0; at != bytes.size(); at += size)
    std::memcpy(bytes.data() + at, value.getBytes().data(), size);
  place(source, bytes, type.getShape(), start);
  return ConstantTensor::create(type, bytes, std::move(owner));
}

static std::optional<ConstantTensor>
computeConcat(tosa::ConcatOp op, RankedTensorType type,
              ArrayRef<ConstantTensor> sources) {
  int64_t axis = op.getAxis(), sum = 0;
  if (axis < 0 || axis >= type.getRank())
    return std::nullopt;
  bool areEqualSplats = true;
  for (const ConstantTensor &source : sources) {
    if (source.getType().getRank() != type.getRank())
      return std::nullopt;
    for (int64_t other = 0; other != type.getRank(); ++other)
      if (other != axis && source.getShape()[other] != type.getDimSize(other))
        return std::nullopt;
    sum += source.getShape()[axis];
    areEqualSplats &= source.getNumStored() == 1 &&
                      source.getBytes() == sources.front().getBytes();
  }
  if (sum != type.getDimSize(axis))
    return std::nullopt;
  if (areEqualSplats)
    return repeat(type, sources.front());
  auto [owner, bytes] = ConstantTensor::allocate(
      type.getNumElements() * sources.front().getElementSize());
  SmallVector<int64_t> start(type.getRank(), 0);
  for (const ConstantTensor &source : sources) {
    place(source, bytes, type.getShape(), start);
    start[axis] += source.getShape()[axis];
  }
  return ConstantTensor::create(type, bytes, std::move(owner));
}

static std::optional<ConstantTensor>
computeSelect(RankedTensorType type, const ConstantTensor &condition,
              const ConstantTensor &yes, const ConstantTensor &no) {
  ArrayRef<int64_t> shape = type.getShape();
  auto conditions = getBroadcastStrides(condition, shape);
  auto yeses = getBroadcastStrides(yes, shape);
  auto noes = getBroadcastStrides(no, shape);
  if (!conditions || !yeses || !noes)
    return std::nullopt;
  size_t size = yes.getElementSize();
  if (type.getNumElements() != 0 && condition.getNumStored() == 1 &&
      yes.getNumStored() == 1 && no.getNumStored() == 1)
    return repeat(type, condition.getBytes().front() ? yes : no);
  auto [owner, bytes] = ConstantTensor::allocate(type.getNumElements() * size);
  char *target = bytes.data();
  int64_t row = getRowSize(shape);
  if (!bytes.empty())
    forEachRow<3>(shape, {*conditions, *yeses, *noes}, [&](auto at) {
      for (int64_t i = 0; i != row; ++i, target += size) {
        auto step = [&](ArrayRef<int64_t> strides) {
          return strides.empty() ? 0 : i * strides.back();
        };
        bool holds = condition.getBytes()[at[0] + step(*conditions)];
        const char *from =
            holds ? yes.getBytes().data() + (at[1] + step(*yeses)) * size
                  : no.getBytes().data() + (at[2] + step(*noes)) * size;
        std::memcpy(target, from, size);
      }
    });
  return ConstantTensor::create(type, bytes, std::move(owner));
}

//===----------------------------------------------------------------------===//
// The evaluator
//===----------------------------------------------------------------------===//

bool ConstantEvaluator::knows(Operation *op) const {
  if (op->getNumResults() != 1)
    return false;
  return isBinary(op) || isUnary(op) || isComparison(op) ||
         isa<tosa::IdentityOp, tosa::ReshapeOp, tosa::TransposeOp,
             tosa::ReverseOp, tosa::SliceOp, tosa::TileOp, tosa::PadOp,
             tosa::ConcatOp, tosa::CastOp, tosa::SelectOp, tosa::ClampOp>(op) ||
         handlers.contains(op->getName().getTypeID());
}

bool ConstantEvaluator::admit(int64_t count, Operands operands) {
  llvm::SmallPtrSet<const char *, 4> counted;
  for (const ConstantTensor &operand : operands)
    if (operand.getType() && counted.insert(operand.getBytes().data()).second)
      count -= operand.getNumStored();
  if (count <= 0)
    return true;
  if (count > kMaxSurplus + numGiven - numSurplus)
    return false;
  numSurplus += count;
  return true;
}

/// Returns whether the result stores only one element, however large it is.
static bool staysSplat(Operation *op, ArrayRef<ConstantTensor> operands) {
  const ConstantTensor *first = nullptr;
  for (auto [operand, value] : llvm::zip_equal(operands, op->getOperands())) {
    if (!operand.getType())
      continue;
    if (operand.getNumStored() > 1)
      return false;
    if (isa<tosa::PadOp, tosa::ConcatOp>(op) && first &&
        first->getBytes() != operand.getBytes())
      return false;
    first = first ? first : &operand;
  }
  return true;
}

std::optional<ConstantTensor> ConstantEvaluator::compute(Operation *op,
                                                         Operands operands) {
  ++numComputed;
  auto handler = handlers.find(op->getName().getTypeID());
  if (handler != handlers.end())
    return handler->second(op, operands);
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  const ConstantTensor &first = operands.front();
  if (!first.getType())
    return std::nullopt;
  Type element = type.getElementType();
  Type from = first.getType().getElementType();
  if (isa<tosa::IdentityOp, tosa::ReshapeOp>(op)) {
    if (from != element || type.getNumElements() != first.getNumElements())
      return std::nullopt;
    return first.reshape(type);
  }
  if (!staysSplat(op, operands) && !admit(type.getNumElements(), operands))
    return std::nullopt;
  if (isa<tosa::CastOp>(op)) {
    if (type.getShape() != first.getShape())
      return std::nullopt;
    return computeCast(type, first);
  }
  if (isComparison(op)) {
    if (!element.isInteger(1) || !operands[1].getType() ||
        operands[1].getType().getElementType() != from)
      return std::nullopt;
    return computeComparison(op, type, first, operands[1]);
  }
  if (isa<tosa::SelectOp>(op)) {
    if (!from.isInteger(1) || !operands[1].getType() ||
        !operands[2].getType() ||
        operands[1].getType().getElementType() != element ||
        operands[2].getType().getElementType() != element)
      return std::nullopt;
    return computeSelect(type, first, operands[1], operands[2]);
  }
  // The product of integers may be wider than the factors.
  bool isIntegerProduct = isa<tosa::MulOp>(op) && element.isInteger();
  if (isIntegerProduct ? !from.isInteger() || !operands[2].isUniformly(0)
                       : from != element)
    return std::nullopt;
  if (isBinary(op)) {
    if (!operands[1].getType() ||
        operands[1].getType().getElementType() != from)
      return std::nullopt;
    return computeBinary(op, type, first, operands[1]);
  }
  if (type.getNumElements() == 0 || first.getNumElements() == 0)
    return std::nullopt;
  if (isUnary(op) || isa<tosa::ClampOp>(op)) {
    if (type.getShape() != first.getShape())
      return std::nullopt;
    // The other operands are zero points of integers.
    for (const ConstantTensor &other : operands.drop_front())
      if (!other.isUniformly(0))
        return std::nullopt;
    if (auto clamp = dyn_cast<tosa::ClampOp>(op))
      return computeClamp(clamp, type, first);
    return computeUnary(op, type, first);
  }
  if (auto transpose = dyn_cast<tosa::TransposeOp>(op))
    return computeTranspose(transpose, type, first);
  if (auto reverse = dyn_cast<tosa::ReverseOp>(op))
    return computeReverse(reverse, type, first);
  if (auto slice = dyn_cast<tosa::SliceOp>(op))
    return computeSlice(slice, type, first);
  if (auto tile = dyn_cast<tosa::TileOp>(op))
    return computeTile(tile, type, first);
  if (auto pad = dyn_cast<tosa::PadOp>(op))
    return operands[2].getType() ? computePad(pad, type, first, operands[2])
                                 : std::nullopt;
  if (auto concat = dyn_cast<tosa::ConcatOp>(op))
    return llvm::all_of(operands,
                        [&](const ConstantTensor &operand) {
                          return operand.getType() &&
                                 operand.getType().getElementType() == element;
                        })
               ? computeConcat(concat, type, operands)
               : std::nullopt;
  return std::nullopt;
}

void ConstantEvaluator::remember(Value value,
                                 std::optional<ConstantTensor> tensor) {
  Result &result = results[value];
  result.tensor = std::move(tensor);
  result.numUnread = 0;
  if (!result.tensor || result.tensor->getNumStored() < kLarge)
    return;
  // A zero point may have as many uses as there are layers.
  for (auto use = value.use_begin(); use != value.use_end(); ++use) {
    ++numCounted;
    if (++result.numUnread > kMaxCounted) {
      result.numUnread = 0;
      return;
    }
  }
}

void ConstantEvaluator::forgetOperands(Operation *op) {
  for (Value operand : op->getOperands()) {
    auto found = results.find(operand);
    if (found == results.end() || !found->second.tensor)
      continue;
    Result &result = found->second;
    if (result.numUnread > 0 && --result.numUnread == 0)
      results.erase(found);
  }
}

std::optional<ConstantTensor> ConstantEvaluator::evaluate(Value root) {
  SmallVector<Value> pending = {root};
  // Values on the stack that wait for their operands.
  llvm::SmallDenseSet<Value> opened;
  while (!pending.empty()) {
    Value value = pending.back();
    if (results.contains(value)) {
      pending.pop_back();
      continue;
    }
    Operation *op = value.getDefiningOp();
    if (!op || !ConstantTensor::isSupported(value.getType()) ||
        op->hasTrait<OpTrait::ConstantLike>()) {
      auto constant = op ? ConstantTensor::get(value) : std::nullopt;
      if (constant)
        numGiven += constant->getNumStored();
      remember(value, std::move(constant));
      continue;
    }
    if (!knows(op) || op->getNumOperands() == 0) {
      remember(value, std::nullopt);
      continue;
    }
    SmallVector<ConstantTensor> operands;
    SmallVector<Value> missing;
    bool isConstant = true;
    for (Value operand : op->getOperands()) {
      operands.emplace_back();
      if (!isa<TensorType>(operand.getType()))
        continue;
      auto found = results.find(operand);
      if (found == results.end())
        missing.push_back(operand);
      else if (found->second.tensor)
        operands.back() = *found->second.tensor;
      else
        isConstant = false;
    }
    if (!isConstant) {
      opened.erase(value);
      remember(value, std::nullopt);
      continue;
    }
    // A value that depends on itself, in a graph region, has no evaluation
    // order.
    if (llvm::any_of(missing, [&](Value operand) {
          return operand == value || opened.contains(operand);
        })) {
      opened.erase(value);
      remember(value, std::nullopt);
      continue;
    }
    if (!missing.empty()) {
      opened.insert(value);
      llvm::append_range(pending, missing);
      continue;
    }
    opened.erase(value);
    auto tensor = compute(op, operands);
    if (tensor)
      forgetOperands(op);
    remember(value, std::move(tensor));
  }
  return results.find(root)->second.tensor;
}
