// SPDX-License-Identifier: Apache-2.0
//
// Integers take the place of the values that they stand for.
#include "IntegerLowering.h"
#include "IntegerModels.h"
#include "mct/IR/Names.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;
using namespace mct;

/// Returns the integers of a value that no point asks for.
static IntegerOr<StoredIntegers> getStored(IntegerForms &forms, Value value) {
  IntegerDeviations deviations;
  return IntegerContext(forms, deviations).getStored(value);
}

namespace {
/// How to make numbers of the integers of a point.
struct DequantizeInfo {
  StoredIntegers stored;
  Location loc;
};

/// Gives values of points the types of their integers. Which one depends on the
/// point and on what was made of it, not on the type alone. Ops that still read
/// numbers get them from the integers.
class IntegerConverter : public TypeConverter {
public:
  IntegerConverter(const IntegerForms &forms,
                   ArrayRef<tpc::QuantizeOp> points) {
    for (tpc::QuantizeOp point : points)
      if (const StoredIntegers *stored = forms.findPoint(point.getResult())) {
        auto name = StringAttr::get(point.getContext(),
                                    point.getPointName() + "/float");
        infos.try_emplace(
            stored->value,
            DequantizeInfo{*stored, NameLoc::get(name, point.getLoc())});
      }
    addConversion([](Type type) { return type; });
    addConversion([&forms](Value value) -> std::optional<Type> {
      const StoredIntegers *stored = forms.findPoint(value);
      if (!stored)
        return std::nullopt;
      return stored->value.getType();
    });
    addSourceMaterialization([this](OpBuilder &here, Type, ValueRange from,
                                    Location) -> Value {
      auto it = infos.find(from.front());
      if (it == infos.end())
        return {};
      return IntegerBuilder(it->second.loc, here).dequantize(it->second.stored);
    });
  }

private:
  llvm::DenseMap<Value, DequantizeInfo> infos;
};

/// Replaces a point by what it makes: integers, or what it reads where it does
/// nothing. Levels of constants that no integers stand for are constants.
struct ConvertPoint : OpConversionPattern<tpc::QuantizeOp> {
  ConvertPoint(const TypeConverter &converter, IntegerForms &forms,
               MLIRContext *context)
      : OpConversionPattern(converter, context), forms(forms) {}

  LogicalResult
  matchAndRewrite(tpc::QuantizeOp point, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (const StoredIntegers *stored = forms.findPoint(point.getResult())) {
      rewriter.replaceOp(point, stored->value);
      return success();
    }
    if (!point.getParametersAttr()) {
      rewriter.replaceOp(point, adaptor.getInput());
      return success();
    }
    std::optional<ConstantTensor> levels;
    if (point.isWeight())
      levels = forms.getConstants().evaluate(point.getResult());
    if (!levels)
      return failure();
    rewriter.replaceOpWithNewOp<tosa::ConstOp>(
        point, point.getType(), levels->toAttribute(point.getUniqueName()));
    return success();
  }

  IntegerForms &forms;
};

/// Makes an op read integers instead of the numbers that they stand for: levels
/// are ordered as these, and results are integers where the options say so.
template <typename Op> struct ConvertReader : OpConversionPattern<Op> {
  ConvertReader(const TypeConverter &converter, IntegerForms &forms,
                MLIRContext *context)
      : OpConversionPattern<Op>(converter, context), forms(forms) {}

  LogicalResult
  matchAndRewrite(Op op, typename Op::Adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SmallVector<Value> operands(op->getOperands());
    for (Value &operand : operands)
      if (IntegerOr<StoredIntegers> stored = getStored(forms, operand))
        operand = stored->value;
    rewriter.modifyOpInPlace(op, [&] { op->setOperands(operands); });
    return success();
  }

  IntegerForms &forms;
};

/// Leaves ops of TOSA only where values stay float.
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
} // namespace

/// Returns the name of the point that a value was moved from; empty if none.
static StringRef findPointName(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto point = dyn_cast<tpc::QuantizeOp>(op))
      return point.getPointName();
    OpOperand *moved = getMovedOperand(op);
    if (!moved)
      break;
    value = moved->get();
  }
  return "";
}

void IntegerLowering::cutSoftmax() {
  for (OpOperand &operand : function.front().getTerminator()->getOpOperands()) {
    auto point = operand.get().getDefiningOp<tpc::QuantizeOp>();
    if (Value input = getSoftmaxInput(point ? point.getInput() : operand.get()))
      operand.set(input);
  }
}

void IntegerLowering::lowerReaders() {
  IntegerBuilder &b = forms.getBuilder();
  bool areResults = forms.getOptions().boundary == IntegerBoundary::Integer;
  function.walk([&](Operation *op) {
    auto result = dyn_cast<func::ReturnOp>(op);
    if (!isa<tosa::ArgMaxOp>(op) && !(areResults && result))
      return;
    b.setLoc(op->getLoc());
    for (auto [number, value] : llvm::enumerate(op->getOperands())) {
      IntegerOr<StoredIntegers> stored = getStored(forms, value);
      if (stored && result)
        function.setResultAttr(unsigned(number), kQuantizedAttrName,
                               stored->encoding.describe(findPointName(value))
                                   .toAttribute(b.getContext()));
    }
  });
}

LogicalResult IntegerLowering::convert() {
  MLIRContext *ir = function.getContext();
  IntegerConverter converter(forms, points);
  RewritePatternSet patterns(ir);
  patterns.add<ConvertPoint, ConvertReader<tosa::ArgMaxOp>>(converter, forms,
                                                            ir);
  patterns.add<ConvertBias>(converter, ir);
  // Other ops have no pattern, stay, and read numbers.
  ConversionTarget target(*ir);
  auto readsNumbers = [&](Operation *op) {
    return llvm::none_of(op->getOperands(), [&](Value value) {
      return isa<FloatType>(getElementTypeOrSelf(value)) &&
             getStored(forms, value);
    });
  };
  target.addLegalDialect<tosa::TosaDialect>();
  target.addDynamicallyLegalOp<tosa::ArgMaxOp>(readsNumbers);
  if (forms.getOptions().boundary == IntegerBoundary::Integer) {
    patterns.add<ConvertReader<func::ReturnOp>>(converter, forms, ir);
    target.addDynamicallyLegalOp<func::ReturnOp>(readsNumbers);
  }
  return applyPartialConversion(function, target, std::move(patterns));
}

/// Erases dead ops bottom-up.
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

void IntegerLowering::eraseArguments() {
  llvm::BitVector replaced(function.getNumArguments());
  for (BlockArgument argument : replacedArguments)
    replaced.set(argument.getArgNumber());
  (void)function.eraseArguments(replaced);
}

void IntegerLowering::recordPoints() {
  // A name in the records is that of one op.
  llvm::StringMap<Attribute> named;
  for (Attribute entry : entries)
    named[cast<StringAttr>(cast<DictionaryAttr>(entry).get("name"))
              .getValue()] = entry;
  SmallVector<Attribute> present;
  Builder builder(function.getContext());
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
}

LogicalResult IntegerLowering::finish() {
  if (forms.getOptions().softmax == IntegerSoftmax::Cut)
    cutSoftmax();
  lowerReaders();
  if (failed(convert()))
    return failure();
  eraseDead(function.front());
  function.setFunctionType(FunctionType::get(
      function.getContext(), function.front().getArgumentTypes(),
      function.front().getTerminator()->getOperandTypes()));
  eraseArguments();
  recordPoints();
  return success();
}
