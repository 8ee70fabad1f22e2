// SPDX-License-Identifier: Apache-2.0
#include "RaiseBody.h"
#include "mct/IR/ConstantEvaluator.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"
#include <numeric>

using namespace mlir;
using namespace mct;

BodyRaiser::BodyRaiser(TosaBuilder &builder, linalg::LinalgOp op)
    : builder(builder), op(op), loops(op.getStaticLoopRanges()) {}

LogicalResult BodyRaiser::run() {
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
  if (!type || !number)
    return nullptr;
  return tensors[scalar] = builder.createSplat(
             SmallVector<int64_t>(loops.size(), 1), type, *number);
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
  // Ops broadcast what was repeated.
  value = TosaBuilder::getRepeated(value);
  RankedTensorType type = getTensorType(value);
  // Axes of the loops in their order, behind those that are read at 0.
  SmallVector<std::pair<int64_t, int64_t>> axes;
  for (auto [axis, expression] : llvm::enumerate(map.getResults())) {
    auto dimension = dyn_cast<AffineDimExpr>(expression);
    if (!dimension) {
      auto constant = dyn_cast<AffineConstantExpr>(expression);
      if (!constant || constant.getValue() != 0 || type.getDimSize(axis) != 1)
        return nullptr;
      axes.push_back({-1, axis});
      continue;
    }
    int64_t loop = dimension.getPosition();
    if (llvm::is_contained(llvm::make_first_range(axes), loop))
      return nullptr;
    axes.push_back({loop, axis});
    shape[loop] = type.getDimSize(axis);
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

Value BodyRaiser::raiseFloat(Operation *inner) {
  SmallVector<Value> operands;
  for (Value operand : inner->getOperands())
    operands.push_back(get(operand));
  auto unary = [&](auto tag) -> Value {
    return decltype(tag)::create(builder, operands[0].getType(), operands[0]);
  };
  auto power = [&](double exponent) -> Value {
    RankedTensorType type = getTensorType(operands[0]);
    return builder.binary<tosa::PowOp>(
        operands[0],
        builder.createSplat(SmallVector<int64_t>(type.getRank(), 1),
                            type.getElementType(), exponent),
        nullptr);
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
      .Case<math::ExpOp>([&](auto) { return unary(tosa::ExpOp()); })
      .Case<math::LogOp>([&](auto) { return unary(tosa::LogOp()); })
      .Case<math::AbsFOp>([&](auto) { return unary(tosa::AbsOp()); })
      .Case<math::CeilOp>([&](auto) { return unary(tosa::CeilOp()); })
      .Case<math::FloorOp>([&](auto) { return unary(tosa::FloorOp()); })
      .Case<math::TanhOp>([&](auto) { return unary(tosa::TanhOp()); })
      .Case<math::ErfOp>([&](auto) { return unary(tosa::ErfOp()); })
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
  // Codes of fewer bits are widened before anything is computed.
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
      .Case<arith::MaxSIOp>([&](auto) { return arithmetic(tosa::MaximumOp()); })
      .Case<arith::MinSIOp>([&](auto) { return arithmetic(tosa::MinimumOp()); })
      .Default([](auto) { return Value(); });
}

/// Returns what has the mean `value` is multiplied by its count; null: none.
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
  // TOSA's are false for NaN; the unordered ones are what is left of them.
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

/// Returns true if two scalars are one value, or the same number.
static bool isSame(Value a, Value b) {
  if (a == b)
    return true;
  std::optional<double> number = TosaBuilder::getNumber(a);
  return number && number == TosaBuilder::getNumber(b);
}

Value BodyRaiser::raiseSelection(arith::SelectOp selection) {
  Value yes = selection.getTrueValue(), no = selection.getFalseValue();
  // The larger or the smaller one of what is compared; a NaN stays one.
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
  Value condition = get(selection.getCondition()), first = get(yes),
        second = get(no);
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
  // tosa.cast rounds to the nearest integer, and knows signed ones only.
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
  // Towards zero.
  auto type = getTensorType(value);
  Value zero =
      builder.createSplat(SmallVector<int64_t>(type.getRank(), 1), from, 0);
  Value isNegative =
      builder.binary<tosa::GreaterOp>(zero, value, builder.getI1Type());
  Value truncated = tosa::SelectOp::create(
      builder, type, isNegative, tosa::CeilOp::create(builder, type, value),
      tosa::FloorOp::create(builder, type, value));
  return builder.cast(truncated, to);
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

Value BodyRaiser::raiseIndex(linalg::IndexOp index) {
  int64_t loop = index.getDim(), size = loops[loop];
  // Constants of a dynamic size there are none.
  if (ShapedType::isDynamic(size) || size > (int64_t(1) << 24))
    return nullptr;
  SmallVector<int64_t> values(size), shape(loops.size(), 1);
  std::iota(values.begin(), values.end(), 0);
  shape[loop] = size;
  return builder.reshape(builder.createVector(values), shape);
}

bool BodyRaiser::holds(Value condition) {
  if (Value tensor = get(condition)) {
    ConstantEvaluator evaluator;
    if (std::optional<ConstantTensor> value = evaluator.evaluate(tensor))
      return llvm::all_of(value->decode<int64_t>(),
                          [](int64_t each) { return each != 0; });
  }
  // That the place of an element lies within its tensor goes for every gather.
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  std::optional<double> bound =
      compare ? TosaBuilder::getNumber(compare.getRhs()) : std::nullopt;
  if (!bound)
    return false;
  auto getSource = [](Value value) {
    while (auto cast = value.getDefiningOp<arith::IndexCastOp>())
      value = cast.getIn();
    return value;
  };
  Value place = getSource(compare.getLhs());
  for (auto extraction : op.getBlock()->getOps<tensor::ExtractOp>())
    for (auto [axis, index] : llvm::enumerate(extraction.getIndices())) {
      if (getSource(index) != place)
        continue;
      int64_t size = extraction.getTensor().getType().getDimSize(axis);
      if (compare.getPredicate() == arith::CmpIPredicate::slt
              ? *bound == double(size)
              : compare.getPredicate() == arith::CmpIPredicate::sge &&
                    *bound == 0)
        return true;
    }
  return false;
}

namespace {
/// How one axis of a tensor is read.
struct AxisPlaces {
  /// The loop along which the place runs; none: it is always the first one.
  std::optional<int64_t> loop;
  /// The places along it, where they are constants.
  std::vector<int64_t> places;
  /// The places otherwise.
  Value tensor;
};
} // namespace

/// Returns the elements of `value` at constant places of an axis; null where
/// they are in no order.
static Value take(TosaBuilder &builder, Value value, int64_t axis,
                  ArrayRef<int64_t> places) {
  RankedTensorType type = getTensorType(value);
  int64_t step = places.size() < 2 ? 1 : places[1] - places[0];
  if (std::abs(step) != 1)
    return nullptr;
  for (auto [i, place] : llvm::enumerate(places))
    if (place != places.front() + int64_t(i) * step || place < 0 ||
        place >= type.getDimSize(axis))
      return nullptr;
  SmallVector<int64_t> offsets(type.getRank(), 0), sizes(type.getShape());
  offsets[axis] = std::min(places.front(), places.back());
  sizes[axis] = int64_t(places.size());
  value = builder.slice(value, offsets, sizes);
  if (step == 1)
    return value;
  return tosa::ReverseOp::create(builder, value.getType(), value,
                                 uint32_t(axis));
}

/// Looks up rows: `places` is the only tensor of them, of axis `axis`; the
/// others run along loops. Returns the axes of `places` before the others.
static Value gather(TosaBuilder &builder, Value value, int64_t axis,
                    Value places) {
  RankedTensorType type = getTensorType(value), indices = getTensorType(places);
  SmallVector<int64_t> order = {axis}, shape(indices.getShape());
  int64_t rest = 1;
  for (int64_t other = 0; other != type.getRank(); ++other) {
    if (other == axis)
      continue;
    order.push_back(other);
    shape.push_back(type.getDimSize(other));
    rest *= type.getDimSize(other);
  }
  int64_t count = indices.getNumElements();
  Value rows = builder.reshape(builder.transpose(value, order),
                               {1, type.getDimSize(axis), rest});
  Value found =
      tosa::GatherOp::create(builder, type.clone({1, count, rest}), rows,
                             builder.reshape(places, {1, count}));
  return builder.reshape(found, shape);
}

Value BodyRaiser::raiseExtraction(tensor::ExtractOp extraction) {
  Value value = builder.read(extraction.getTensor());
  if (!value || !getTensorType(value).hasStaticShape() ||
      llvm::any_of(loops, ShapedType::isDynamic))
    return nullptr;
  SmallVector<AxisPlaces> axes;
  std::optional<size_t> looked;
  SmallVector<bool> taken(loops.size(), false);
  ConstantEvaluator evaluator;
  for (auto [axis, index] : llvm::enumerate(extraction.getIndices())) {
    Value tensor = get(index);
    if (!tensor)
      return nullptr;
    AxisPlaces &places = axes.emplace_back();
    SmallVector<int64_t> along;
    for (auto [loop, size] : llvm::enumerate(getTensorType(tensor).getShape()))
      if (size != 1)
        along.push_back(int64_t(loop));
    std::optional<ConstantTensor> constant = evaluator.evaluate(tensor);
    if (constant) {
      places.places = constant->decode<int64_t>();
      // The same place everywhere is one.
      if (llvm::all_equal(places.places)) {
        places.places.resize(1);
        continue;
      }
    }
    if (!constant || along.size() > 1) {
      if (looked)
        return nullptr;
      looked = axis;
      places.tensor = tensor;
    } else {
      places.loop = along.front();
    }
    for (int64_t loop : along) {
      if (taken[loop])
        return nullptr;
      taken[loop] = true;
    }
  }
  for (auto [axis, places] : llvm::enumerate(axes))
    if (!places.tensor &&
        !(value = take(builder, value, int64_t(axis), places.places)))
      return nullptr;
  // The loop of every axis of what there is now; those without one have size 1.
  SmallVector<std::pair<int64_t, int64_t>> order;
  if (looked) {
    Value places = axes[*looked].tensor;
    value = gather(builder, value, int64_t(*looked), places);
    for (int64_t loop = 0; loop != int64_t(loops.size()); ++loop)
      order.push_back(
          {getTensorType(places).getDimSize(loop) == 1 ? -1 : loop, loop});
  }
  for (auto [axis, places] : llvm::enumerate(axes))
    if (!places.tensor)
      order.push_back({places.loop.value_or(-1), int64_t(order.size())});
  llvm::sort(order);
  SmallVector<int64_t> shape(loops.size(), 1);
  for (auto [loop, axis] : order)
    if (loop >= 0)
      shape[loop] = getTensorType(value).getDimSize(axis);
  return builder.rearrange(
      value, llvm::to_vector(llvm::make_second_range(order)), shape);
}
