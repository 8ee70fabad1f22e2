// SPDX-License-Identifier: Apache-2.0
//
// Integer forms of ops that compare: maxima, minima, and selections by
// conditions.
#include "IntegerModels.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/IRMapping.h"
#include <cmath>

using namespace mlir;
using namespace mct;

/// Most ops between a selection and the values that decide its condition.
static constexpr unsigned kMaxPredicateDepth = 256;

//===----------------------------------------------------------------------===//
// Numbers between codes
//===----------------------------------------------------------------------===//

/// Returns the f32 value from which a value was widened to f64, or the value.
static Value skipWidening(Value value) {
  auto cast = value.getDefiningOp<tosa::CastOp>();
  return cast && getElementTypeOrSelf(cast.getType()).isF64() &&
                 getElementTypeOrSelf(cast.getInput()).isF32()
             ? cast.getInput()
             : value;
}

/// Returns the distances of numbers from the zero point in half steps. A
/// distance is odd if the number lies between two codes or beyond all of them.
/// Returns an empty list if a number is NaN.
static std::vector<int64_t> getHalfSteps(const ConstantTensor &numbers,
                                         const Encoding &encoding) {
  std::vector<int64_t> codes;
  for (double number : numbers.decode<double>()) {
    if (std::isnan(number))
      return {};
    int64_t low = encoding.low - 1, high = encoding.high + 1;
    // Find the largest code not above the number, and the smallest above it.
    while (high - low > 1) {
      int64_t middle = low + (high - low) / 2;
      if (double(encoding.dequantize(middle)) <= number)
        low = middle;
      else
        high = middle;
    }
    bool isCode =
        low >= encoding.low && double(encoding.dequantize(low)) == number;
    codes.push_back(2 * (low - encoding.zeroPoint) + (isCode ? 0 : 1));
  }
  return codes;
}

namespace {
/// The constant operand of a comparison, in half steps of the other operand.
struct ComparedNumbers {
  unsigned operand = 0;
  StoredIntegers stored;
  SmallVector<int64_t> shape;
  std::vector<int64_t> halfSteps;
};
} // namespace

static std::optional<ComparedNumbers> findNumbers(IntegerContext &context,
                                                  Operation *op) {
  for (unsigned i = 0; i != 2; ++i) {
    std::optional<ConstantTensor> numbers =
        context.getConstants().evaluate(op->getOperand(i));
    IntegerOr<StoredIntegers> stored =
        context.getStored(skipWidening(op->getOperand(1 - i)));
    if (numbers && stored)
      return ComparedNumbers{i, *stored,
                             SmallVector<int64_t>(numbers->getShape()),
                             getHalfSteps(*numbers, stored->encoding)};
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

/// Returns the value of a condition if it is the same for all codes.
static std::optional<bool> getAlways(IntegerContext &context, Value predicate,
                                     unsigned level = 0) {
  if (std::optional<ConstantTensor> constant =
          context.getConstants().evaluate(predicate)) {
    std::vector<int64_t> values = constant->decode<int64_t>();
    if (values.empty() || !llvm::all_equal(values))
      return std::nullopt;
    return values.front() != 0;
  }
  Operation *op = predicate.getDefiningOp();
  if (!op || level == kMaxPredicateDepth)
    return std::nullopt;
  if (isa<tosa::ReduceAllOp, tosa::ReduceAnyOp, tosa::ReshapeOp>(op))
    return getAlways(context, op->getOperand(0), level + 1);
  if (isa<tosa::LogicalNotOp>(op)) {
    std::optional<bool> always =
        getAlways(context, op->getOperand(0), level + 1);
    if (always)
      return !*always;
    return std::nullopt;
  }
  if (!isa<tosa::EqualOp>(op))
    return std::nullopt;
  // A number that is not a code of the other operand equals none of them.
  std::optional<ComparedNumbers> numbers = findNumbers(context, op);
  if (!numbers || numbers->halfSteps.empty() ||
      llvm::any_of(numbers->halfSteps,
                   [](int64_t step) { return step % 2 == 0; }))
    return std::nullopt;
  return false;
}

/// Compares both sides in i32 in the same unit, if that is exact. A value is
/// compared with numbers by its codes, which have the same order as its levels.
static IntegerOr<Value> lowerComparison(IntegerContext &context,
                                        Operation *op) {
  IntegerBuilder &b = context.getBuilder();
  auto create = [&](Value first, Value second) -> Value {
    Operation *copy = b.clone(*op);
    copy->setLoc(b.getLoc());
    copy->setOperands({first, second});
    return copy->getResult(0);
  };
  if (std::optional<ComparedNumbers> numbers = findNumbers(context, op)) {
    if (numbers->halfSteps.empty())
      return {IntegerReason::ComparesNaN, op};
    std::array<Value, 2> operands;
    operands[numbers->operand] =
        b.createConstant(numbers->shape, 32, numbers->halfSteps);
    operands[1 - numbers->operand] = b.widen(numbers->stored, 2);
    return create(operands[0], operands[1]);
  }
  SmallVector<IntegerAccumulator, 2> terms;
  for (Value operand : op->getOperands()) {
    operand = skipWidening(operand);
    if (!context.getStored(operand))
      return {IntegerReason::ComparesFloat, op};
    IntegerOr<IntegerAccumulator> term = getTerm(context, op, operand);
    if (!term)
      return {IntegerReason::ComparesFloat, op};
    terms.push_back(*term);
  }
  double ratio = terms[0].scales.front() / terms[1].scales.front();
  if (!quantization::isPowerOfTwo(ratio))
    return {IntegerReason::GridsDiffer, op};
  if (std::optional<IntegerFailure> failure = align(b, op, terms[0], terms[1]))
    return *failure;
  return create(terms[0].value, terms[1].value);
}

/// Returns an i1 condition that is computed without floating-point numbers.
static IntegerOr<Value> lowerPredicate(IntegerContext &context, Value value,
                                       unsigned level = 0) {
  Operation *op = value.getDefiningOp();
  if (!op || context.getConstants().evaluate(value))
    return value;
  if (isa<tosa::EqualOp, tosa::GreaterOp, tosa::GreaterEqualOp>(op) &&
      isa<Float32Type, Float64Type>(getElementTypeOrSelf(op->getOperand(0))))
    return lowerComparison(context, op);
  bool readsFloats = llvm::any_of(op->getOperandTypes(), [](Type type) {
    return isa<FloatType>(getElementTypeOrSelf(type));
  });
  if (readsFloats || level == kMaxPredicateDepth)
    return {IntegerReason::NoForm, op};
  if (!getElementTypeOrSelf(value).isInteger(1))
    return value;
  IRMapping mapping;
  bool isSame = true;
  for (Value operand : op->getOperands()) {
    IntegerOr<Value> other = lowerPredicate(context, operand, level + 1);
    if (!other)
      return other;
    mapping.map(operand, *other);
    isSame &= *other == operand;
  }
  if (isSame)
    return value;
  IntegerBuilder &b = context.getBuilder();
  Operation *copy = b.clone(*op, mapping);
  copy->setLoc(b.getLoc());
  return copy->getResult(0);
}

//===----------------------------------------------------------------------===//
// ReLU with slopes
//===----------------------------------------------------------------------===//

namespace {
/// The function x if x >= 0, slope * x otherwise.
struct ParametricRelu {
  Value input;
  /// One number, or one for each position along the last axis.
  std::vector<double> slopes;
};
} // namespace

static std::optional<ParametricRelu>
matchParametricRelu(tosa::SelectOp op, ConstantEvaluator &constants) {
  Operation *comparison = op.getPred().getDefiningOp();
  auto product = op.getOnFalse().getDefiningOp<tosa::MulOp>();
  Value input = op.getOnTrue();
  if (!isa_and_nonnull<tosa::GreaterEqualOp, tosa::GreaterOp>(comparison) ||
      comparison->getOperand(0) != input || !product ||
      input.getType() != op.getType())
    return std::nullopt;
  std::optional<ConstantTensor> zero =
      constants.evaluate(comparison->getOperand(1));
  if (!zero || !zero->isUniformly(0))
    return std::nullopt;
  unsigned slope = product.getInput1() == input ? 1 : 0;
  std::optional<ConstantTensor> slopes =
      product->getOperand(1 - slope) == input
          ? constants.evaluate(product->getOperand(slope))
          : std::nullopt;
  // At most one number for each position along the last axis.
  if (!slopes || slopes->getShape().empty() ||
      slopes->getNumElements() != slopes->getShape().back())
    return std::nullopt;
  return ParametricRelu{input, slopes->decode<double>()};
}

/// Rounds the positive and the negative half in i32, each with its own rescale.
static IntegerOr<Value> lowerParametricRelu(IntegerContext &context,
                                            tosa::SelectOp op,
                                            const ParametricRelu &relu,
                                            const Encoding &encoding) {
  IntegerOr<IntegerAccumulator> sum = accumulate(context, relu.input);
  if (!sum)
    return sum.getFailure();
  if (!getElementTypeOrSelf(sum->value).isInteger(32) || sum->mean)
    return {IntegerReason::NoForm, op};
  IntegerBuilder &b = context.getBuilder();
  Type type = sum->value.getType();
  Value zero = b.createNumber(sum->value, 0);
  IntegerAccumulator positive = *sum, low = *sum;
  positive.value = tosa::MaximumOp::create(b, type, sum->value, zero,
                                           tosa::NanPropagationMode::PROPAGATE);
  positive.history.reset();
  low.value = tosa::MinimumOp::create(b, type, sum->value, zero,
                                      tosa::NanPropagationMode::PROPAGATE);
  low.history.reset();
  if (sum->history && sum->history->steps.empty())
    low.history = FloatHistory{low.value, sum->history->step,
                               std::min<int64_t>(sum->history->low, 0), 0,
                               sum->history->reach};
  IntegerOr<IntegerAccumulator> negative = scale(context, op, low, relu.slopes);
  if (!negative)
    return negative.getFailure();
  // Each half is rounded separately; the other half is 0 there.
  Encoding wide = encoding;
  wide.storageBits = 32;
  wide.zeroPoint = 0;
  wide.low = std::numeric_limits<int32_t>::min();
  wide.high = std::numeric_limits<int32_t>::max();
  IntegerOr<Value> above = requantize(context, positive, wide);
  IntegerOr<Value> below = requantize(context, *negative, wide);
  if (!above || !below)
    return !below ? below : above;
  Value both = b.limit(b.add(*above, *below), -kFarCode, kFarCode);
  return b.clamp(
      b.rescale(both, 0, 1.0, encoding.zeroPoint, encoding.storageBits),
      encoding.low, encoding.high, encoding);
}

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

namespace {
struct SelectModel
    : IntegerOpInterface::ExternalModel<SelectModel, tosa::SelectOp> {
  IntegerOr<Value> getCodes(Operation *op, IntegerContext &context,
                            const Encoding &encoding) const {
    auto select = cast<tosa::SelectOp>(op);
    if (std::optional<ParametricRelu> relu =
            matchParametricRelu(select, context.getConstants()))
      return lowerParametricRelu(context, select, *relu, encoding);
    // This occurs in attention masks, where no code is minus infinity.
    if (std::optional<bool> always = getAlways(context, select.getPred()))
      if (Value chosen = *always ? select.getOnTrue() : select.getOnFalse();
          chosen.getType() == select.getType())
        return context.getCodes(chosen, encoding);
    IntegerOr<Value> predicate = lowerPredicate(context, select.getPred());
    if (!predicate)
      return predicate;
    IntegerOr<Value> onTrue = context.getCodes(select.getOnTrue(), encoding);
    if (!onTrue)
      return onTrue;
    IntegerOr<Value> onFalse = context.getCodes(select.getOnFalse(), encoding);
    if (!onFalse)
      return onFalse;
    IntegerBuilder &b = context.getBuilder();
    return tosa::SelectOp::create(
        b, b.getType(select.getResult(), encoding.storageBits), *predicate,
        *onTrue, *onFalse);
  }
};

/// Model of a maximum or a minimum.
template <typename Op>
struct ExtremeModel : IntegerOpInterface::ExternalModel<ExtremeModel<Op>, Op> {
  IntegerOr<Value> getCodes(Operation *op, IntegerContext &context,
                            const Encoding &encoding) const {
    IntegerBuilder &b = context.getBuilder();
    SmallVector<Value, 2> operands;
    for (Value operand : op->getOperands()) {
      IntegerOr<Value> codes = context.getCodes(operand, encoding);
      if (!codes)
        return codes;
      // TOSA compares in 32 bits.
      operands.push_back(b.rescale(*codes, 0, 1.0, 0, 32));
    }
    Value wide = Op::create(b, b.getType(op->getResult(0), 32), operands[0],
                            operands[1], tosa::NanPropagationMode::PROPAGATE);
    return b.rescale(wide, 0, 1.0, 0, encoding.storageBits);
  }
};
} // namespace

void mct::attachIntegerComparisonModels(MLIRContext *context) {
  tosa::SelectOp::attachInterface<SelectModel>(*context);
  tosa::MaximumOp::attachInterface<ExtremeModel<tosa::MaximumOp>>(*context);
  tosa::MinimumOp::attachInterface<ExtremeModel<tosa::MinimumOp>>(*context);
}
