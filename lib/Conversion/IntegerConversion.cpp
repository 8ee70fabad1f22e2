// SPDX-License-Identifier: Apache-2.0
//
// Replaces values by the integers that represent them.
#include "IntegerLowering.h"
#include "IntegerModels.h"
#include "mct/IR/Names.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;
using namespace mct;

/// Returns the integers of a value that does not come from a point.
static IntegerOr<StoredIntegers> getStored(IntegerForms &forms, Value value) {
  IntegerDeviations deviations;
  return IntegerContext(forms, deviations).getStored(value);
}

namespace {
/// The integers of a point, and the location of the ops that dequantize them.
struct DequantizeInfo {
  StoredIntegers stored;
  Location loc;
};

/// Converts the types of points to those of their integers. The type depends on
/// the integers that were created for a point, not on its float type alone. Ops
/// that still need floats get them by dequantizing the integers.
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

/// Replaces a point by its integers, or by its operand if it has no parameters.
/// A weight point without integers becomes a constant of its levels.
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

/// Lets an op read the integers instead of the levels that they represent. This
/// is valid since integers have the same order as levels, and for results if
/// the options request integers.
template <typename Op> struct ConvertUser : OpConversionPattern<Op> {
  ConvertUser(const TypeConverter &converter, IntegerForms &forms,
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

/// Replaces the biases of values that stay float by ops of TOSA.
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

/// Returns the name of the point from whose result a value was moved; empty if
/// there is none.
static StringRef findPointName(Value value) {
  auto point = getMovedSource(value).getDefiningOp<tpc::QuantizeOp>();
  return point ? point.getPointName() : "";
}

void IntegerLowering::cutSoftmax() {
  for (OpOperand &operand : function.front().getTerminator()->getOpOperands()) {
    auto point = operand.get().getDefiningOp<tpc::QuantizeOp>();
    if (Value input = getSoftmaxInput(point ? point.getInput() : operand.get()))
      operand.set(input);
  }
}

void IntegerLowering::lowerUsers() {
  IntegerBuilder &b = forms.getBuilder();
  bool areResults = forms.getOptions().boundary == IntegerBoundary::Integer;
  function.walk([&](Operation *op) {
    auto result = dyn_cast<func::ReturnOp>(op);
    if (!isa<tosa::ArgMaxOp>(op) && !(areResults && result))
      return;
    b.setLoc(op->getLoc());
    for (auto [number, value] : llvm::enumerate(op->getOperands())) {
      IntegerOr<StoredIntegers> stored = getStored(forms, value);
      if (!stored || !result)
        continue;
      StringAttr state = stateNames.lookup(unsigned(number));
      StringRef name = state ? state.getValue() : findPointName(value);
      function.setResultAttr(
          unsigned(number), kQuantizedAttrName,
          stored->encoding.describe(name).toAttribute(b.getContext()));
    }
  });
}

LogicalResult IntegerLowering::convert() {
  MLIRContext *ir = function.getContext();
  IntegerConverter converter(forms, points);
  RewritePatternSet patterns(ir);
  patterns.add<ConvertPoint, ConvertUser<tosa::ArgMaxOp>>(converter, forms, ir);
  patterns.add<ConvertBias>(converter, ir);
  // Other ops have no pattern: they stay and read floats.
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
    patterns.add<ConvertUser<func::ReturnOp>>(converter, forms, ir);
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
  // Each name in the records must belong to one op only.
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
  lowerUsers();
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
