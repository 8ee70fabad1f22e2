// SPDX-License-Identifier: Apache-2.0
#include "RaiseBody.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace mct;

BodyRaiser::BodyRaiser(TosaBuilder &builder, linalg::LinalgOp op)
    : builder(builder), op(op), loops(op.getStaticLoopRanges()) {}

LogicalResult BodyRaiser::run() {
  if (llvm::is_contained(loops, 0)) {
    reason = "has no elements";
    return failure();
  }
  for (OpOperand &operand : op->getOpOperands()) {
    Value argument = op.getMatchingBlockArgument(&operand);
    if (argument.use_empty())
      continue;
    if (Value tensor = expand(operand))
      tensors[argument] = tensor;
  }
  for (Operation &inner : op.getBlock()->without_terminator()) {
    if (auto assertion = dyn_cast<cf::AssertOp>(inner)) {
      if (holds(assertion.getArg()))
        continue;
      reason = ("asserts '" + assertion.getMsg() + "'").str();
      return failure();
    }
    if (inner.getNumResults() == 1)
      if (Value tensor = raise(&inner)) {
        tensors[inner.getResult(0)] = tensor;
        continue;
      }
    if (reason.empty())
      reason = "has no TOSA for '" + inner.getName().getStringRef().str() + "'";
  }
  return success();
}

Value BodyRaiser::get(Value scalar) {
  if (Value tensor = tensors.lookup(scalar))
    return tensor;
  Type type = getElementType(scalar);
  std::optional<double> number = TosaBuilder::getNumber(scalar);
  if (!type || !number) {
    Value outside = getOutside(scalar);
    return outside ? tensors[scalar] = outside : Value();
  }
  return tensors[scalar] = builder.createSplat(
             SmallVector<int64_t>(loops.size(), 1), type, *number);
}

Value BodyRaiser::getOutside(Value scalar) {
  auto extraction = scalar.getDefiningOp<tensor::ExtractOp>();
  if (!extraction || extraction->getBlock() == op.getBlock())
    return nullptr;
  Value value = builder.read(extraction.getTensor());
  SmallVector<int64_t> offsets;
  for (Value index : extraction.getIndices()) {
    std::optional<double> place = TosaBuilder::getNumber(index);
    if (!place)
      return nullptr;
    offsets.push_back(int64_t(*place));
  }
  if (!value || !getTensorType(value).hasStaticShape())
    return nullptr;
  value =
      builder.slice(value, offsets, SmallVector<int64_t>(offsets.size(), 1));
  return builder.reshape(value, SmallVector<int64_t>(loops.size(), 1));
}

Value BodyRaiser::takeAlong(Value value, int64_t axis, AffineExpr expression,
                            int64_t loop) {
  // Derive a linear sequence from the first, the second and the last position.
  auto getPlace = [&](int64_t index) -> std::optional<int64_t> {
    MLIRContext *context = expression.getContext();
    AffineExpr place = expression.replace(
        getAffineDimExpr(loop, context), getAffineConstantExpr(index, context));
    auto constant = dyn_cast<AffineConstantExpr>(place);
    return constant ? std::optional(constant.getValue()) : std::nullopt;
  };
  RankedTensorType type = getTensorType(value);
  int64_t count = loops[loop];
  if (ShapedType::isDynamic(count) || !expression.isPureAffine() ||
      !expression.isFunctionOfDim(loop) || type.isDynamicDim(axis))
    return nullptr;
  std::optional<int64_t> first = getPlace(0), second = getPlace(1),
                         last = getPlace(count - 1);
  if (!first || !second || !last)
    return nullptr;
  int64_t step = *second - *first;
  if (step == 0 || *last != *first + (count - 1) * step)
    return nullptr;
  // With quotients and remainders, positions in between may deviate from it.
  for (int64_t index = 2; index + 1 < count; ++index)
    if (getPlace(index) != *first + index * step)
      return nullptr;
  SmallVector<int64_t> offsets(type.getRank(), 0), sizes(type.getShape()),
      strides(type.getRank(), 1);
  offsets[axis] = std::min(*first, *last);
  sizes[axis] = count;
  strides[axis] = std::abs(step);
  value = builder.slice(value, offsets, sizes, strides);
  if (!value || step > 0)
    return value;
  return tosa::ReverseOp::create(builder, value.getType(), value,
                                 uint32_t(axis));
}

Value BodyRaiser::expand(OpOperand &operand) {
  Value value = operand.get();
  AffineMap map = op.getMatchingIndexingMap(&operand);
  SmallVector<int64_t> shape(loops.size(), 1);
  if (std::optional<double> number = TosaBuilder::getNumber(value)) {
    Type type = TosaBuilder::getElementType(getElementTypeOrSelf(value));
    return type ? builder.createSplat(shape, type, *number) : Value();
  }
  value = builder.read(value);
  if (!value)
    return nullptr;
  // Ops broadcast, so repetitions are not needed.
  value = TosaBuilder::getRepeated(value);
  RankedTensorType type = getTensorType(value);
  // The axes in the order of their loops, after those that are read at a
  // constant position.
  SmallVector<std::pair<int64_t, int64_t>> axes;
  for (auto [axis, expression] : llvm::enumerate(map.getResults())) {
    auto dimension = dyn_cast<AffineDimExpr>(expression);
    std::optional<int64_t> loop;
    if (dimension)
      loop = dimension.getPosition();
    else if (!isa<AffineConstantExpr>(expression))
      for (int64_t other = 0; other != int64_t(loops.size()); ++other)
        if (expression.isFunctionOfDim(other))
          loop = other;
    if (loop && !dimension) {
      value = takeAlong(value, int64_t(axis), expression, *loop);
      if (!value)
        return nullptr;
      type = getTensorType(value);
    }
    if (!loop) {
      auto constant = dyn_cast<AffineConstantExpr>(expression);
      if (!constant || type.isDynamicDim(axis))
        return nullptr;
      SmallVector<int64_t> offsets(type.getRank(), 0), sizes(type.getShape());
      offsets[axis] = constant.getValue();
      sizes[axis] = 1;
      value = builder.slice(value, offsets, sizes);
      type = getTensorType(value);
      axes.push_back({-1, axis});
      continue;
    }
    if (llvm::is_contained(llvm::make_first_range(axes), *loop))
      return nullptr;
    axes.push_back({*loop, axis});
    shape[*loop] = type.getDimSize(axis);
  }
  llvm::sort(axes);
  return builder.rearrange(
      value, llvm::to_vector(llvm::make_second_range(axes)), shape);
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Value BodyRaiser::raise(Operation *inner) {
  if (auto index = dyn_cast<linalg::IndexOp>(inner))
    return raiseIndex(index);
  if (auto extraction = dyn_cast<tensor::ExtractOp>(inner))
    return raiseExtraction(extraction);
  if (!llvm::all_of(inner->getOperands(),
                    [&](Value operand) { return bool(get(operand)); }))
    return nullptr;
  if (auto selection = dyn_cast<arith::SelectOp>(inner))
    return raiseSelection(selection);
  if (isa<CastOpInterface>(inner))
    return raiseCast(inner);
  if (inner->getNumOperands() == 0 || inner->getNumRegions() != 0)
    return nullptr;
  Type type = getElementType(inner->getOperand(0));
  return isa<FloatType>(type) ? raiseFloat(inner) : raiseInteger(inner);
}

/// Returns x for -x, and x * y for -x * y; null if there is no sign to remove.
static Value getNegated(TosaBuilder &builder, Value value) {
  if (auto negation = value.getDefiningOp<tosa::NegateOp>())
    return negation.getInput1();
  auto product = value.getDefiningOp<tosa::MulOp>();
  if (!product)
    return nullptr;
  for (bool isFirst : {true, false}) {
    auto negation = (isFirst ? product.getInput1() : product.getInput2())
                        .getDefiningOp<tosa::NegateOp>();
    if (negation)
      return builder.multiply(negation.getInput1(), isFirst
                                                        ? product.getInput2()
                                                        : product.getInput1());
  }
  return nullptr;
}

Value BodyRaiser::raiseFloat(Operation *inner) {
  SmallVector<Value> operands;
  for (Value operand : inner->getOperands())
    operands.push_back(get(operand));
  auto unary = [&](auto tag) -> Value {
    return decltype(tag)::create(builder, operands[0].getType(), operands[0]);
  };
  auto extremum = [&](bool isMaximum, bool prefersNumbers) {
    return raiseExtremum(operands[0], operands[1], isMaximum, prefersNumbers);
  };
  return TypeSwitch<Operation *, Value>(inner)
      .Case<arith::AddFOp>(
          [&](auto) { return builder.add(operands[0], operands[1]); })
      .Case<arith::SubFOp>([&](auto) {
        return builder.binary<tosa::SubOp>(operands[0], operands[1], nullptr);
      })
      .Case<arith::MulFOp>(
          [&](auto) { return builder.multiply(operands[0], operands[1]); })
      .Case<arith::DivFOp>([&](auto) { return raiseQuotient(inner); })
      .Case<arith::NegFOp>([&](auto) { return unary(tosa::NegateOp()); })
      .Case<arith::MaximumFOp>([&](auto) { return extremum(true, false); })
      .Case<arith::MaxNumFOp>([&](auto) { return extremum(true, true); })
      .Case<arith::MinimumFOp>([&](auto) { return extremum(false, false); })
      .Case<arith::MinNumFOp>([&](auto) { return extremum(false, true); })
      .Case<arith::CmpFOp>([&](arith::CmpFOp compare) {
        return raiseComparison(compare.getPredicate(), operands[0],
                               operands[1]);
      })
      .Default([&](auto) { return raiseFunction(inner, operands); });
}

Value BodyRaiser::raiseFunction(Operation *inner, ArrayRef<Value> operands) {
  auto unary = [&](auto tag) -> Value {
    return decltype(tag)::create(builder, operands[0].getType(), operands[0]);
  };
  auto power = [&](double exponent) -> Value {
    return builder.binary<tosa::PowOp>(
        operands[0], createNumber(operands[0], exponent), nullptr);
  };
  auto create = [&](auto tag, Value operand) -> Value {
    return decltype(tag)::create(builder, operand.getType(), operand);
  };
  return TypeSwitch<Operation *, Value>(inner)
      .Case<math::ExpOp>([&](auto) { return unary(tosa::ExpOp()); })
      .Case<math::LogOp>([&](auto) { return unary(tosa::LogOp()); })
      .Case<math::ExpM1Op>([&](auto) {
        return builder.binary<tosa::SubOp>(
            unary(tosa::ExpOp()), createNumber(operands[0], 1), nullptr);
      })
      .Case<math::Log1pOp>([&](auto) {
        return create(tosa::LogOp(),
                      builder.add(operands[0], createNumber(operands[0], 1)));
      })
      .Case<math::SinhOp, math::CoshOp>([&](auto) {
        Value half = builder.multiply(unary(tosa::ExpOp()),
                                      createNumber(operands[0], 0.5)),
              other = builder.multiply(
                  create(tosa::ExpOp(), unary(tosa::NegateOp())),
                  createNumber(operands[0], 0.5));
        return isa<math::CoshOp>(inner)
                   ? builder.add(half, other)
                   : builder.binary<tosa::SubOp>(half, other, nullptr);
      })
      .Case<math::TanOp>([&](auto) {
        return builder.multiply(
            unary(tosa::SinOp()),
            create(tosa::ReciprocalOp(), unary(tosa::CosOp())));
      })
      .Case<math::RoundOp>([&](auto) {
        return raiseRounding(operands[0], /*tiesToEven=*/false);
      })
      .Case<math::RoundEvenOp>(
          [&](auto) { return raiseRounding(operands[0], /*tiesToEven=*/true); })
      .Case<math::TruncOp>([&](auto) { return raiseTruncation(operands[0]); })
      .Case<math::CopySignOp>([&](auto) -> Value {
        Value size = unary(tosa::AbsOp()),
              isNegative = builder.binary<tosa::GreaterOp>(
                  createNumber(operands[1], 0), operands[1],
                  builder.getI1Type());
        return isNegative
                   ? select(isNegative, create(tosa::NegateOp(), size), size)
                   : Value();
      })
      .Case<math::AbsFOp>([&](auto) { return unary(tosa::AbsOp()); })
      .Case<math::CeilOp>([&](auto) { return unary(tosa::CeilOp()); })
      .Case<math::FloorOp>([&](auto) { return unary(tosa::FloorOp()); })
      .Case<math::TanhOp>([&](auto) { return unary(tosa::TanhOp()); })
      .Case<math::ErfOp>([&](auto) { return unary(tosa::ErfOp()); })
      .Case<math::ErfcOp>([&](auto) -> Value {
        // erfc(-x) is 1 + erf(x), the form in which other tools write a GELU.
        Value one = createNumber(operands[0], 1),
              negated = getNegated(builder, operands[0]);
        if (negated)
          return builder.add(create(tosa::ErfOp(), negated), one);
        return builder.binary<tosa::SubOp>(one, unary(tosa::ErfOp()), nullptr);
      })
      .Case<math::SinOp>([&](auto) { return unary(tosa::SinOp()); })
      .Case<math::CosOp>([&](auto) { return unary(tosa::CosOp()); })
      .Case<math::RsqrtOp>([&](auto) { return unary(tosa::RsqrtOp()); })
      .Case<math::SqrtOp>([&](auto) { return power(0.5); })
      .Case<math::PowFOp>([&](auto) {
        return builder.binary<tosa::PowOp>(operands[0], operands[1], nullptr);
      })
      .Case<math::FPowIOp>([&](auto) -> Value {
        std::optional<double> exponent =
            TosaBuilder::getNumber(inner->getOperand(1));
        if (!exponent)
          return nullptr;
        return *exponent == 2 ? builder.multiply(operands[0], operands[0])
                              : power(*exponent);
      })
      .Case<math::FmaOp>([&](auto) {
        Value product = builder.multiply(operands[0], operands[1]);
        return product ? builder.add(product, operands[2]) : Value();
      })
      .Default([](auto) { return Value(); });
}

Value BodyRaiser::raiseInteger(Operation *inner) {
  // Integers of fewer bits must have been widened before computing with them.
  Type type = getElementType(inner->getOperand(0));
  SmallVector<Value> operands;
  for (Value operand : inner->getOperands())
    operands.push_back(get(operand));
  if (auto compare = dyn_cast<arith::CmpIOp>(inner))
    return raiseComparison(compare.getPredicate(), operands[0], operands[1]);
  auto logical = [&](auto tag) -> Value {
    return type.isInteger(1) ? builder.binary<decltype(tag)>(
                                   operands[0], operands[1], nullptr)
                             : Value();
  };
  auto arithmetic = [&](auto tag) -> Value {
    return type.isInteger(32) ? builder.binary<decltype(tag)>(
                                    operands[0], operands[1], nullptr)
                              : Value();
  };
  return TypeSwitch<Operation *, Value>(inner)
      .Case<arith::AndIOp>([&](auto) { return logical(tosa::LogicalAndOp()); })
      .Case<arith::OrIOp>([&](auto) { return logical(tosa::LogicalOrOp()); })
      .Case<arith::XOrIOp>([&](auto) { return logical(tosa::LogicalXorOp()); })
      .Case<arith::AddIOp>([&](auto) { return arithmetic(tosa::AddOp()); })
      .Case<arith::SubIOp>([&](auto) { return arithmetic(tosa::SubOp()); })
      .Case<arith::MulIOp>([&](auto) {
        return type.isInteger(32) ? builder.multiply(operands[0], operands[1])
                                  : Value();
      })
      .Case<arith::DivSIOp>([&](auto) { return arithmetic(tosa::IntDivOp()); })
      .Case<arith::RemSIOp>([&](auto) -> Value {
        Value quotient = arithmetic(tosa::IntDivOp()),
              product =
                  quotient ? builder.multiply(quotient, operands[1]) : Value();
        return product
                   ? builder.binary<tosa::SubOp>(operands[0], product, nullptr)
                   : Value();
      })
      .Case<arith::MaxSIOp>([&](auto) { return arithmetic(tosa::MaximumOp()); })
      .Case<arith::MinSIOp>([&](auto) { return arithmetic(tosa::MinimumOp()); })
      .Default([](auto) { return Value(); });
}

/// Returns the mean if `value` is the product of a mean and its count, or null.
static Value getMeanOfSum(Value value, double count) {
  auto product = value.getDefiningOp<tosa::MulOp>();
  if (!product || TosaBuilder::getNumber(product.getInput2()) != count)
    return nullptr;
  Value mean = product.getInput1(), pool = mean;
  while (
      isa_and_nonnull<tosa::TransposeOp, tosa::ReshapeOp>(pool.getDefiningOp()))
    pool = pool.getDefiningOp()->getOperand(0);
  return pool.getDefiningOp<tosa::AvgPool2dOp>() ? mean : Value();
}

Value BodyRaiser::raiseQuotient(Operation *inner) {
  Value a = get(inner->getOperand(0)), b = get(inner->getOperand(1));
  std::optional<double> divisor = TosaBuilder::getNumber(b);
  if (divisor && *divisor != 0) {
    if (Value mean = getMeanOfSum(a, *divisor))
      return mean;
    RankedTensorType type = getTensorType(b);
    return builder.multiply(a, builder.createSplat(type.getShape(),
                                                   type.getElementType(),
                                                   1 / *divisor));
  }
  Value inverse = tosa::ReciprocalOp::create(builder, b.getType(), b);
  if (TosaBuilder::getNumber(a) == 1.0)
    return inverse;
  return builder.multiply(a, inverse);
}

Value BodyRaiser::raiseExtremum(Value a, Value b, bool isMaximum,
                                bool prefersNumbers) {
  auto mode = prefersNumbers ? tosa::NanPropagationMode::IGNORE
                             : tosa::NanPropagationMode::PROPAGATE;
  if (TosaBuilder::getNumber(a))
    std::swap(a, b);
  std::optional<double> number = TosaBuilder::getNumber(b);
  RankedTensorType type = getTensorType(a);
  // No value lies beyond infinity.
  if (number && std::isinf(*number) && std::signbit(*number) == isMaximum &&
      !prefersNumbers)
    return a;
  if (number && type.getElementType().isF32()) {
    double far = std::numeric_limits<float>::max();
    return tosa::ClampOp::create(
        builder, type, a,
        builder.getF32FloatAttr(float(isMaximum ? *number : -far)),
        builder.getF32FloatAttr(float(isMaximum ? far : *number)), mode);
  }
  if (isMaximum)
    return builder.binary<tosa::MaximumOp>(a, b, nullptr, mode);
  return builder.binary<tosa::MinimumOp>(a, b, nullptr, mode);
}

//===----------------------------------------------------------------------===//
// Comparisons
//===----------------------------------------------------------------------===//

Value BodyRaiser::raiseComparison(arith::CmpFPredicate predicate, Value a,
                                  Value b) {
  using Predicate = arith::CmpFPredicate;
  Type boolean = builder.getI1Type();
  auto greater = [&](Value left, Value right) {
    return builder.binary<tosa::GreaterOp>(left, right, boolean);
  };
  auto greaterEqual = [&](Value left, Value right) {
    return builder.binary<tosa::GreaterEqualOp>(left, right, boolean);
  };
  auto negate = [&](Value value) -> Value {
    return value ? tosa::LogicalNotOp::create(builder, value.getType(), value)
                       .getResult()
                 : Value();
  };
  auto differ = [&]() -> Value {
    Value more = greater(a, b), less = greater(b, a);
    return more && less ? builder.binary<tosa::LogicalOrOp>(more, less, nullptr)
                        : Value();
  };
  // TOSA's comparisons are false for NaN; the unordered ones negate the
  // opposite comparison.
  switch (predicate) {
  case Predicate::OGT:
    return greater(a, b);
  case Predicate::OGE:
    return greaterEqual(a, b);
  case Predicate::OLT:
    return greater(b, a);
  case Predicate::OLE:
    return greaterEqual(b, a);
  case Predicate::OEQ:
    return builder.binary<tosa::EqualOp>(a, b, boolean);
  case Predicate::ONE:
    return differ();
  case Predicate::UGT:
    return negate(greaterEqual(b, a));
  case Predicate::UGE:
    return negate(greater(b, a));
  case Predicate::ULT:
    return negate(greaterEqual(a, b));
  case Predicate::ULE:
    return negate(greater(a, b));
  case Predicate::UNE:
    return negate(builder.binary<tosa::EqualOp>(a, b, boolean));
  case Predicate::UEQ:
    return negate(differ());
  case Predicate::UNO:
  case Predicate::ORD: {
    // Only a NaN differs from itself.
    Value ordered = builder.binary<tosa::EqualOp>(a, a, boolean),
          other = builder.binary<tosa::EqualOp>(b, b, boolean);
    if (TosaBuilder::getNumber(b) || a == b)
      other = ordered;
    ordered = other == ordered
                  ? ordered
                  : builder.binary<tosa::LogicalAndOp>(ordered, other, nullptr);
    return predicate == Predicate::ORD ? ordered : negate(ordered);
  }
  default:
    return nullptr;
  }
}

Value BodyRaiser::raiseComparison(arith::CmpIPredicate predicate, Value a,
                                  Value b) {
  using Predicate = arith::CmpIPredicate;
  Type boolean = builder.getI1Type();
  if (!getTensorType(a).getElementType().isInteger(32))
    return nullptr;
  switch (predicate) {
  case Predicate::eq:
    return builder.binary<tosa::EqualOp>(a, b, boolean);
  case Predicate::ne: {
    Value equal = builder.binary<tosa::EqualOp>(a, b, boolean);
    return equal ? tosa::LogicalNotOp::create(builder, equal.getType(), equal)
                       .getResult()
                 : Value();
  }
  case Predicate::sgt:
    return builder.binary<tosa::GreaterOp>(a, b, boolean);
  case Predicate::sge:
    return builder.binary<tosa::GreaterEqualOp>(a, b, boolean);
  case Predicate::slt:
    return builder.binary<tosa::GreaterOp>(b, a, boolean);
  case Predicate::sle:
    return builder.binary<tosa::GreaterEqualOp>(b, a, boolean);
  default:
    return nullptr;
  }
}

/// Returns true if two scalars are the same value or the same number.
static bool isSame(Value a, Value b) {
  if (a == b)
    return true;
  std::optional<double> number = TosaBuilder::getNumber(a);
  return number && number == TosaBuilder::getNumber(b);
}

Value BodyRaiser::raiseSelection(arith::SelectOp selection) {
  Value yes = selection.getTrueValue(), no = selection.getFalseValue();
  // A selection of one of the compared values is a maximum or a minimum, which
  // propagates NaN.
  if (auto compare = selection.getCondition().getDefiningOp<arith::CmpFOp>()) {
    using Predicate = arith::CmpFPredicate;
    bool isGreater = llvm::is_contained(
             {Predicate::OGT, Predicate::OGE, Predicate::UGT, Predicate::UGE},
             compare.getPredicate()),
         isLess = llvm::is_contained(
             {Predicate::OLT, Predicate::OLE, Predicate::ULT, Predicate::ULE},
             compare.getPredicate());
    bool isStraight =
             isSame(compare.getLhs(), yes) && isSame(compare.getRhs(), no),
         isCrossed =
             isSame(compare.getLhs(), no) && isSame(compare.getRhs(), yes);
    if ((isGreater || isLess) && (isStraight || isCrossed))
      return raiseExtremum(get(yes), get(no), isGreater == isStraight,
                           /*prefersNumbers=*/false);
  }
  return select(get(selection.getCondition()), get(yes), get(no));
}

Value BodyRaiser::select(Value condition, Value first, Value second) {
  RankedTensorType values = TosaBuilder::getBroadcastType(first, second),
                   left = TosaBuilder::getBroadcastType(condition, first),
                   right = TosaBuilder::getBroadcastType(condition, second);
  if (!values || !left || !right)
    return nullptr;
  SmallVector<int64_t> shape;
  for (auto [a, b] : llvm::zip_equal(values.getShape(), left.getShape()))
    shape.push_back(a == 1 ? b : a);
  return tosa::SelectOp::create(builder, values.clone(shape), condition, first,
                                second);
}

//===----------------------------------------------------------------------===//
// Casts
//===----------------------------------------------------------------------===//

Value BodyRaiser::raiseCast(Operation *inner) {
  Value value = get(inner->getOperand(0));
  Type from = getTensorType(value).getElementType(),
       to = getElementType(inner->getResult(0));
  if (!to)
    return nullptr;
  if (from == to)
    return isa<arith::BitcastOp>(inner) ? Value() : value;
  // tosa.cast rounds to the nearest integer, and only supports signed ones.
  bool keeps =
      TypeSwitch<Operation *, bool>(inner)
          .Case<arith::ExtFOp, arith::TruncFOp, arith::ExtSIOp,
                arith::IndexCastOp>([](auto) { return true; })
          .Case<arith::SIToFPOp>([&](auto) { return !from.isInteger(1); })
          .Case<arith::UIToFPOp, arith::ExtUIOp>(
              [&](auto) { return from.isInteger(1); })
          .Default([](auto) { return false; });
  if (keeps)
    return from.isInteger(1) && isa<arith::ExtSIOp>(inner)
               ? Value()
               : builder.cast(value, to);
  if (!isa<arith::FPToSIOp>(inner))
    return nullptr;
  return builder.cast(raiseTruncation(value), to);
}

Value BodyRaiser::createNumber(Value value, double number) {
  RankedTensorType type = getTensorType(value);
  return builder.createSplat(SmallVector<int64_t>(type.getRank(), 1),
                             type.getElementType(), number);
}

Value BodyRaiser::raiseTruncation(Value value) {
  auto type = getTensorType(value);
  Value isNegative = builder.binary<tosa::GreaterOp>(
      createNumber(value, 0), value, builder.getI1Type());
  return tosa::SelectOp::create(builder, type, isNegative,
                                tosa::CeilOp::create(builder, type, value),
                                tosa::FloorOp::create(builder, type, value));
}

Value BodyRaiser::raiseRounding(Value value, bool tiesToEven) {
  auto type = getTensorType(value);
  Type boolean = builder.getI1Type();
  // This is exact in floating point, unlike floor(value + 0.5).
  Value floor = tosa::FloorOp::create(builder, type, value),
        above = builder.binary<tosa::SubOp>(value, floor, nullptr),
        half = createNumber(value, 0.5),
        isTie = builder.binary<tosa::EqualOp>(above, half, boolean),
        goesUp = builder.binary<tosa::GreaterOp>(above, half, boolean), tiesUp;
  if (tiesToEven) {
    Value halved = builder.multiply(floor, half);
    tiesUp = builder.binary<tosa::GreaterOp>(
        halved, tosa::FloorOp::create(builder, type, halved), boolean);
  } else {
    tiesUp = builder.binary<tosa::GreaterEqualOp>(value, createNumber(value, 0),
                                                  boolean);
  }
  goesUp = builder.binary<tosa::LogicalOrOp>(
      goesUp, builder.binary<tosa::LogicalAndOp>(isTie, tiesUp, nullptr),
      nullptr);
  return select(goesUp, builder.add(floor, createNumber(value, 1)), floor);
}
