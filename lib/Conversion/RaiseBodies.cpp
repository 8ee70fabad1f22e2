// SPDX-License-Identifier: Apache-2.0
#include "RaiseBody.h"
#include "RaiseLinalg.h"
#include "mct/IR/ConstantEvaluator.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mct;

namespace {
/// Operation by which a reduction combines elements.
enum class Combination { Sum, Product, Maximum, Minimum, All, Any };
} // namespace

static std::optional<Combination> getCombination(Operation *op) {
  if (isa<arith::AddFOp, arith::AddIOp>(op))
    return Combination::Sum;
  if (isa<arith::MulFOp>(op))
    return Combination::Product;
  if (isa<arith::MaximumFOp, arith::MaxNumFOp, arith::MaxSIOp>(op))
    return Combination::Maximum;
  if (isa<arith::MinimumFOp, arith::MinNumFOp, arith::MinSIOp>(op))
    return Combination::Minimum;
  if (op->getNumResults() == 1 && op->getResult(0).getType().isInteger(1)) {
    if (isa<arith::AndIOp>(op))
      return Combination::All;
    if (isa<arith::OrIOp>(op))
      return Combination::Any;
  }
  return std::nullopt;
}

/// Returns true if combining with `number` changes nothing.
static bool isNeutral(Combination combination, double number) {
  switch (combination) {
  case Combination::Sum:
  case Combination::Any:
    return number == 0;
  case Combination::Product:
  case Combination::All:
    return number == 1;
  case Combination::Maximum:
    return number <= double(std::numeric_limits<float>::lowest());
  case Combination::Minimum:
    return number >= double(std::numeric_limits<float>::max());
  }
  return false;
}

static Value combine(TosaBuilder &builder, Combination combination, Value a,
                     Value b) {
  switch (combination) {
  case Combination::Sum:
    return builder.add(a, b);
  case Combination::Product:
    return builder.multiply(a, b);
  case Combination::Maximum:
    return builder.binary<tosa::MaximumOp>(a, b, nullptr,
                                           tosa::NanPropagationMode::PROPAGATE);
  case Combination::Minimum:
    return builder.binary<tosa::MinimumOp>(a, b, nullptr,
                                           tosa::NanPropagationMode::PROPAGATE);
  case Combination::All:
    return builder.binary<tosa::LogicalAndOp>(a, b, nullptr);
  case Combination::Any:
    return builder.binary<tosa::LogicalOrOp>(a, b, nullptr);
  }
  return nullptr;
}

static Value reduce(TosaBuilder &builder, Combination combination, Value value,
                    int64_t axis) {
  RankedTensorType type = getTensorType(value);
  SmallVector<int64_t> shape(type.getShape());
  shape[axis] = 1;
  RankedTensorType reduced = type.clone(shape);
  auto create = [&](auto tag, auto... rest) -> Value {
    return decltype(tag)::create(builder, reduced, value, uint32_t(axis),
                                 rest...);
  };
  switch (combination) {
  case Combination::Sum:
    return create(tosa::ReduceSumOp());
  case Combination::Product:
    return create(tosa::ReduceProductOp());
  case Combination::Maximum:
    return create(tosa::ReduceMaxOp(), tosa::NanPropagationMode::PROPAGATE);
  case Combination::Minimum:
    return create(tosa::ReduceMinOp(), tosa::NanPropagationMode::PROPAGATE);
  case Combination::All:
    return create(tosa::ReduceAllOp());
  case Combination::Any:
    return create(tosa::ReduceAnyOp());
  }
  return nullptr;
}

/// Converts a tensor over the loops, with size 1 along reduced ones, to the
/// layout that `map` describes; returns null if that is not possible.
static Value collapse(TosaBuilder &builder, Value value, AffineMap map,
                      RankedTensorType type) {
  // The loops of the axes, followed by those without an axis.
  SmallVector<int64_t> order;
  for (AffineExpr expression : map.getResults())
    if (auto dimension = dyn_cast<AffineDimExpr>(expression))
      order.push_back(dimension.getPosition());
    else if (!isa<AffineConstantExpr>(expression))
      return nullptr;
  for (int64_t loop = 0; loop != int64_t(map.getNumDims()); ++loop)
    if (!llvm::is_contained(order, loop)) {
      if (getTensorType(value).getDimSize(loop) != 1)
        return nullptr;
      order.push_back(loop);
    }
  if (int64_t(order.size()) != int64_t(map.getNumDims()))
    return nullptr;
  return builder.rearrange(value, order, type.getShape());
}

namespace {

/// A reduction that finds the first position of the largest or smallest element
/// along a loop.
struct PlaceSearch {
  OpOperand *element, *extremum, *place;
  bool isMaximum;

  /// Recognizes the search by evaluating the body for a few numbers, since
  /// there are many ways to write it.
  static std::optional<PlaceSearch> get(BodyRaiser &body, linalg::LinalgOp op,
                                        unsigned loop) {
    PlaceSearch search{nullptr, nullptr, nullptr, true};
    OpOperand *index = nullptr;
    for (OpOperand *input : op.getDpsInputOperands()) {
      bool isFloat = isa<FloatType>(getElementTypeOrSelf(input->get()));
      OpOperand *&kind = isFloat ? search.element : index;
      if (kind)
        return std::nullopt;
      kind = input;
    }
    for (OpOperand &init : op.getDpsInitsMutable())
      (isa<FloatType>(getElementTypeOrSelf(init.get())) ? search.extremum
                                                        : search.place) = &init;
    if (!search.element || !search.extremum || !search.place ||
        (index && !countsLoop(body, op, *index, loop)))
      return std::nullopt;
    std::optional<double> start =
        TosaBuilder::getNumber(search.extremum->get());
    for (bool isMaximum : {true, false}) {
      search.isMaximum = isMaximum;
      if (start &&
          isNeutral(isMaximum ? Combination::Maximum : Combination::Minimum,
                    *start) &&
          search.holds(op, index, loop))
        return search;
    }
    return std::nullopt;
  }

private:
  /// Returns true if the elements of an operand are the positions along a loop.
  static bool countsLoop(BodyRaiser &body, linalg::LinalgOp op,
                         OpOperand &operand, unsigned loop) {
    Value tensor = body.get(op.getMatchingBlockArgument(&operand));
    ConstantEvaluator evaluator;
    std::optional<ConstantTensor> constant =
        tensor ? evaluator.evaluate(tensor) : std::nullopt;
    if (!constant || getTensorType(tensor).getNumElements() !=
                         getTensorType(tensor).getDimSize(loop))
      return false;
    for (auto [i, value] : llvm::enumerate(constant->decode<int64_t>()))
      if (value != int64_t(i))
        return false;
    return true;
  }

  /// Returns true if the body keeps the extremum and its first position, for
  /// two numbers in any order.
  bool holds(linalg::LinalgOp op, OpOperand *index, unsigned loop) const {
    Builder builder(op.getContext());
    auto getType = [&](OpOperand *operand) {
      return op.getMatchingBlockArgument(operand).getType();
    };
    for (double before : {-1.0, 0.0, 1.0}) {
      DenseMap<Value, Attribute> values;
      auto set = [&](OpOperand *operand, Attribute value) {
        values[op.getMatchingBlockArgument(operand)] = value;
      };
      set(element, builder.getFloatAttr(getType(element), 0.0));
      set(extremum, builder.getFloatAttr(getType(extremum), before));
      set(place, builder.getIntegerAttr(getType(place), 2));
      if (index)
        set(index, builder.getIntegerAttr(getType(index), 5));
      for (Operation &inner : op.getBlock()->without_terminator())
        if (!evaluate(&inner, loop, values))
          return false;
      bool isNew = isMaximum ? before < 0 : before > 0;
      ValueRange yielded = op.getBlock()->getTerminator()->getOperands();
      auto get = [&](OpOperand *init) {
        return values.lookup(
            yielded[init->getOperandNumber() - op.getNumDpsInputs()]);
      };
      auto number = dyn_cast_or_null<FloatAttr>(get(extremum));
      auto found = dyn_cast_or_null<IntegerAttr>(get(place));
      if (!number || !found ||
          number.getValueAsDouble() != (isNew ? 0.0 : before) ||
          found.getInt() != (isNew ? 5 : 2))
        return false;
    }
    return true;
  }

  static bool evaluate(Operation *inner, unsigned loop,
                       DenseMap<Value, Attribute> &values) {
    if (inner->getNumResults() != 1)
      return false;
    Attribute &result = values[inner->getResult(0)];
    if (auto place = dyn_cast<linalg::IndexOp>(inner)) {
      result = place.getDim() == loop
                   ? Builder(inner->getContext()).getIndexAttr(5)
                   : Attribute();
      return bool(result);
    }
    SmallVector<Attribute> operands;
    for (Value operand : inner->getOperands()) {
      Attribute constant = values.lookup(operand);
      if (!constant)
        matchPattern(operand, m_Constant(&constant));
      operands.push_back(constant);
    }
    SmallVector<OpFoldResult> folded;
    if (failed(inner->fold(operands, folded)) || folded.size() != 1)
      return false;
    Attribute value = dyn_cast<Attribute>(folded.front());
    if (!value)
      value = values.lookup(cast<Value>(folded.front()));
    values[inner->getResult(0)] = value;
    return bool(value);
  }
};

/// Raises ops of linalg according to their bodies.
struct RaiseBodies
    : RaisingPattern<OpInterfaceRewritePattern<linalg::LinalgOp>> {
  using RaisingPattern::RaisingPattern;

  LogicalResult matchAndRewrite(linalg::LinalgOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics())
      return decline(op, "does not compute on tensors alone");
    TosaBuilder builder(op, rewriter);
    BodyRaiser body(builder, op);
    if (failed(body.run()))
      return decline(op, body.getReason());
    SmallVector<Value> values;
    for (OpResult result : op->getResults()) {
      Value value =
          result.use_empty() ? Value() : raise(builder, body, op, result);
      if (!value && !result.use_empty())
        return decline(op, body.getReason().empty()
                               ? "has a form that TOSA has no ops for"
                               : body.getReason());
      values.push_back(value);
    }
    builder.replace(values);
    return success();
  }

private:
  static Value raise(TosaBuilder &builder, BodyRaiser &body,
                     linalg::LinalgOp op, OpResult result) {
    OpOperand *init = op.getDpsInitOperand(result.getResultNumber());
    auto type = dyn_cast<RankedTensorType>(result.getType());
    Value yielded =
        op.getBlock()->getTerminator()->getOperand(result.getResultNumber());
    if (!type || !TosaBuilder::getElementType(type.getElementType()))
      return nullptr;
    Value value;
    if (op.getNumReductionLoops() == 0)
      value = body.get(yielded);
    else
      value = raiseReduction(builder, body, op, yielded, *init);
    if (!value)
      return nullptr;
    SmallVector<int64_t> shape(body.getLoops());
    SmallVector<unsigned> reduced;
    op.getReductionDims(reduced);
    for (unsigned loop : reduced)
      shape[loop] = 1;
    value = builder.broadcast(value, shape);
    return value
               ? collapse(builder, value, op.getMatchingIndexingMap(init), type)
               : Value();
  }

  static Value raiseReduction(TosaBuilder &builder, BodyRaiser &body,
                              linalg::LinalgOp op, Value yielded,
                              OpOperand &init) {
    Value accumulator = op.getMatchingBlockArgument(&init);
    Operation *last = yielded.getDefiningOp();
    if (Value place = raisePlace(builder, body, op, init))
      return place;
    std::optional<Combination> combination = last && last->getNumOperands() == 2
                                                 ? getCombination(last)
                                                 : std::nullopt;
    // Apart from a search for a position, the accumulator may only be used
    // here.
    if (!combination || !llvm::is_contained(last->getOperands(), accumulator))
      return nullptr;
    Value element = last->getOperand(0) == accumulator ? last->getOperand(1)
                                                       : last->getOperand(0);
    if (element == accumulator || dependsOn(element, accumulator))
      return nullptr;
    Value value = body.get(element);
    value = value ? builder.broadcast(value, body.getLoops()) : Value();
    if (!value)
      return nullptr;
    SmallVector<unsigned> reduced;
    op.getReductionDims(reduced);
    for (unsigned loop : reduced)
      value = reduce(builder, *combination, value, loop);
    std::optional<double> start = TosaBuilder::getNumber(init.get());
    if (start && isNeutral(*combination, *start))
      return value;
    Value from = body.get(accumulator);
    return from ? combine(builder, *combination, value, from) : Value();
  }

  /// Raises the first position of the largest or smallest element along one
  /// loop, or that element itself.
  static Value raisePlace(TosaBuilder &builder, BodyRaiser &body,
                          linalg::LinalgOp op, OpOperand &init) {
    SmallVector<unsigned> reduced;
    op.getReductionDims(reduced);
    if (op.getNumDpsInits() != 2 || reduced.size() != 1)
      return nullptr;
    std::optional<PlaceSearch> search = PlaceSearch::get(body, op, reduced[0]);
    if (!search)
      return nullptr;
    Value value = body.get(op.getMatchingBlockArgument(search->element));
    value = value ? builder.broadcast(value, body.getLoops()) : Value();
    if (!value)
      return nullptr;
    auto combination =
        search->isMaximum ? Combination::Maximum : Combination::Minimum;
    if (&init == search->extremum)
      return reduce(builder, combination, value, reduced[0]);
    if (!search->isMaximum)
      value = tosa::NegateOp::create(builder, value.getType(), value);
    SmallVector<int64_t> shape(getTensorType(value).getShape());
    shape.erase(shape.begin() + reduced[0]);
    Value found = tosa::ArgMaxOp::create(
        builder, RankedTensorType::get(shape, builder.getI32Type()), value,
        uint32_t(reduced[0]));
    shape.insert(shape.begin() + reduced[0], 1);
    return builder.reshape(found, shape);
  }

  static bool dependsOn(Value value, Value other) {
    SmallVector<Value> open = {value};
    llvm::SmallDenseSet<Value> visited;
    while (!open.empty()) {
      Value each = open.pop_back_val();
      if (each == other)
        return true;
      if (Operation *producer = each.getDefiningOp();
          producer && producer->getBlock() == other.getParentBlock())
        for (Value operand : producer->getOperands())
          if (visited.insert(operand).second)
            open.push_back(operand);
    }
    return false;
  }
};

} // namespace

void mct::populateRaiseBodiesPatterns(RewritePatternSet &patterns,
                                      RaiseFailures *failures) {
  patterns.add<RaiseBodies>(patterns.getContext(), failures);
}
