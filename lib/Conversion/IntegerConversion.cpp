// SPDX-License-Identifier: Apache-2.0
//
// Integers take the place of the values that they stand for.
#include "IntegerLowering.h"
#include "mct/IR/Names.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;
using namespace mct;

/// The type of a point's values is that of its integers. Which one depends on
/// the point and on what was made of it, not on the type alone; whoever still
/// reads numbers gets them from the integers.
struct IntegerLowering::Converter : TypeConverter {
  explicit Converter(IntegerLowering &lowering) {
    addConversion([](Type type) { return type; });
    addConversion([&lowering](Value value) -> std::optional<Type> {
      const Stored *stored = lowering.findPoint(value);
      if (!stored)
        return std::nullopt;
      return stored->value.getType();
    });
    addSourceMaterialization(
        [&lowering](OpBuilder &here, Type, ValueRange from, Location) -> Value {
          auto it = lowering.meanings.find(from.front());
          if (it == lowering.meanings.end())
            return {};
          OpBuilder::InsertionGuard guard(lowering.builder);
          lowering.builder.restoreInsertionPoint(here.saveInsertionPoint());
          lowering.loc = it->second.loc;
          return lowering.dequantize(it->second.stored);
        });
  }
};

namespace mct {
/// A pattern that knows what was lowered.
template <typename Op> struct ConvertByLowering : OpConversionPattern<Op> {
  ConvertByLowering(const TypeConverter &converter, MLIRContext *context,
                    IntegerLowering &lowering)
      : OpConversionPattern<Op>(converter, context), lowering(lowering) {}

  IntegerLowering &lowering;
};

/// A point is what it makes: integers, or what it reads where it does nothing.
/// Levels of constants that no integers stand for are constants.
struct ConvertPoint : ConvertByLowering<tpc::QuantizeOp> {
  using ConvertByLowering::ConvertByLowering;

  LogicalResult
  matchAndRewrite(tpc::QuantizeOp point, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (const auto *stored = lowering.findPoint(point.getResult())) {
      rewriter.replaceOp(point, stored->value);
      return success();
    }
    if (!point.getParametersAttr()) {
      rewriter.replaceOp(point, adaptor.getInput());
      return success();
    }
    std::optional<ConstantTensor> levels =
        point.isWeight() ? lowering.constants.evaluate(point.getResult())
                         : std::nullopt;
    if (!levels)
      return failure();
    rewriter.replaceOpWithNewOp<tosa::ConstOp>(
        point, point.getType(), levels->toAttribute(point.getUniqueName()));
    return success();
  }
};

/// Levels are ordered as what they stand for.
struct ConvertArgMax : ConvertByLowering<tosa::ArgMaxOp> {
  using ConvertByLowering::ConvertByLowering;

  LogicalResult
  matchAndRewrite(tosa::ArgMaxOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto stored = lowering.getStored(op.getInput());
    if (!stored)
      return failure();
    rewriter.replaceOpWithNewOp<tosa::ArgMaxOp>(op, op.getType(), stored->value,
                                                op.getAxis(), op.getNanMode());
    return success();
  }
};

/// Results are integers, where the options say so and there are some.
struct ConvertReturn : ConvertByLowering<func::ReturnOp> {
  using ConvertByLowering::ConvertByLowering;

  LogicalResult
  matchAndRewrite(func::ReturnOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> results(op.getOperands());
    for (auto [number, value] : llvm::enumerate(op.getOperands()))
      if (auto stored = lowering.getStored(value)) {
        results[number] = stored->value;
        lowering.describeResult(unsigned(number), value, stored->encoding);
      }
    rewriter.modifyOpInPlace(op, [&] { op->setOperands(results); });
    return success();
  }
};

/// What stays float is of TOSA only.
struct ConvertBias : OpConversionPattern<tpc::BiasOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(tpc::BiasOp bias, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<tosa::ConstOp>(bias, bias.getType(),
                                               bias.getValuesAttr());
    return success();
  }
};
} // namespace mct

const IntegerLowering::Stored *IntegerLowering::findPoint(Value value) const {
  if (!value.getDefiningOp<tpc::QuantizeOp>())
    return nullptr;
  auto it = storedValues.find(value);
  return it == storedValues.end() || !it->second.value ? nullptr : &it->second;
}

void IntegerLowering::describeResult(unsigned number, Value value,
                                     const Encoding &encoding) {
  // The name of the point that it was moved from.
  auto point = value.getDefiningOp<tpc::QuantizeOp>();
  while (!point && value.getDefiningOp()) {
    OpOperand *moved = getMovedOperand(value.getDefiningOp());
    if (!moved)
      break;
    value = moved->get();
    point = value.getDefiningOp<tpc::QuantizeOp>();
  }
  function.setResultAttr(
      number, kQuantizedAttrName,
      encoding.describe(point ? point.getPointName() : StringRef(""))
          .toAttribute(builder.getContext()));
}

void IntegerLowering::cutSoftmax() {
  for (OpOperand &operand : function.front().getTerminator()->getOpOperands()) {
    auto point = operand.get().getDefiningOp<tpc::QuantizeOp>();
    Value input;
    int64_t axis;
    if (isSoftmax(point ? point.getInput() : operand.get(), input, axis))
      operand.set(input);
  }
}

/// What nobody reads, from the end on.
static void eraseDead(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
    if (isOpTriviallyDead(&op)) {
      op.erase();
      continue;
    }
    for (Region &region : op.getRegions())
      for (Block &nested : region)
        eraseDead(nested);
  }
}

LogicalResult IntegerLowering::finish() {
  if (options.softmax == IntegerSoftmax::Cut)
    cutSoftmax();
  for (tpc::QuantizeOp point : points)
    if (const Stored *stored = findPoint(point.getResult()))
      meanings.try_emplace(
          stored->value,
          Meaning{*stored, NameLoc::get(builder.getStringAttr(
                                            point.getPointName() + "/float"),
                                        point.getLoc())});
  MLIRContext *context = builder.getContext();
  Converter converter(*this);
  RewritePatternSet patterns(context);
  patterns.add<ConvertPoint, ConvertArgMax>(converter, context, *this);
  if (options.boundary == IntegerBoundary::Integer)
    patterns.add<ConvertReturn>(converter, context, *this);
  patterns.add<ConvertBias>(converter, context);
  // Whatever has no pattern stays, and reads numbers.
  ConversionTarget target(*context);
  auto readsNumbers = [&](Operation *op) {
    loc = op->getLoc();
    return llvm::none_of(op->getOperands(), [&](Value value) {
      return isa<FloatType>(getElementTypeOrSelf(value)) && getStored(value);
    });
  };
  target.addLegalDialect<tosa::TosaDialect>();
  target.addDynamicallyLegalOp<tosa::ArgMaxOp>(readsNumbers);
  if (options.boundary == IntegerBoundary::Integer)
    target.addDynamicallyLegalOp<func::ReturnOp>(readsNumbers);
  if (mlir::failed(
          applyPartialConversion(function, target, std::move(patterns))))
    return failure();
  eraseDead(function.front());

  // A name in the records is that of one op.
  llvm::StringMap<Attribute> named;
  for (Attribute entry : entries)
    named[cast<StringAttr>(cast<DictionaryAttr>(entry).get("name"))
              .getValue()] = entry;
  SmallVector<Attribute> present;
  function.walk([&](Operation *op) {
    StringAttr opName = getName(op->getLoc());
    if (op->getNumResults() != 1 || !opName || !named.count(opName.getValue()))
      return;
    if (getElementTypeOrSelf(op->getResult(0)).isSignlessInteger())
      present.push_back(named[opName.getValue()]);
    else
      op->setLoc(NameLoc::get(
          builder.getStringAttr(opName.getValue() + "/float"), op->getLoc()));
  });
  function->setAttr(kPointsAttrName, builder.getArrayAttr(present));
  function.setFunctionType(builder.getFunctionType(
      function.front().getArgumentTypes(),
      function.front().getTerminator()->getOperandTypes()));
  return success();
}
