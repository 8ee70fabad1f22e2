// SPDX-License-Identifier: Apache-2.0
//
// Lets ops on f64 that importers have created compute in f32, since TOSA does
// not have f64.
#include "RaiseLinalg.h"
#include "mct/IR/ConstantTensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"

using namespace mlir;
using namespace mct;

static bool isDouble(Value value) {
  return getElementTypeOrSelf(value.getType()).isF64();
}

static bool isNarrowed(Operation *op) {
  return isa_and_nonnull<tosa::TosaDialect>(op->getDialect()) &&
         op->getNumRegions() == 0 &&
         llvm::all_of(op->getResultTypes(),
                      llvm::IsaPred<RankedTensorType, tosa::shapeType>);
}

static Type getNarrow(Type type) {
  return cast<RankedTensorType>(type).clone(
      Float32Type::get(type.getContext()));
}

/// Casts a value to f32.
static Value narrow(IRRewriter &rewriter, Location loc, Value value) {
  return tosa::CastOp::create(rewriter, loc, getNarrow(value.getType()), value);
}

static void narrowAttributes(Operation *op) {
  if (auto constant = dyn_cast<tosa::ConstOp>(op)) {
    auto type = cast<RankedTensorType>(getNarrow(constant.getType()));
    std::optional<ConstantTensor> values =
        ConstantTensor::get(constant.getValues());
    if (values)
      constant.setValuesAttr(
          ConstantTensor::create<double>(type, values->decode<double>())
              .toAttribute("raised"));
    return;
  }
  Type f32 = Float32Type::get(op->getContext());
  for (NamedAttribute attribute : op->getAttrs()) {
    if (auto number = dyn_cast<FloatAttr>(attribute.getValue());
        number && number.getType().isF64())
      op->setAttr(attribute.getName(),
                  FloatAttr::get(f32, number.getValueAsDouble()));
    else if (auto type = dyn_cast<TypeAttr>(attribute.getValue());
             type && type.getValue().isF64())
      op->setAttr(attribute.getName(), TypeAttr::get(f32));
  }
}

bool mct::narrowDoubles(func::FuncOp function) {
  SmallVector<Operation *> ops;
  function.walk([&](Operation *op) {
    if (isNarrowed(op) && (llvm::any_of(op->getOperands(), isDouble) ||
                           llvm::any_of(op->getResults(), isDouble)))
      ops.push_back(op);
  });
  IRRewriter rewriter(function.getContext());
  for (Operation *op : ops) {
    rewriter.setInsertionPoint(op);
    for (OpOperand &operand : op->getOpOperands())
      if (isDouble(operand.get()))
        operand.set(narrow(rewriter, op->getLoc(), operand.get()));
    narrowAttributes(op);
    rewriter.setInsertionPointAfter(op);
    for (OpResult result : op->getResults()) {
      if (!isDouble(result))
        continue;
      Type before = result.getType();
      result.setType(getNarrow(before));
      // Users still read f64; the casts of users that are narrowed as well
      // cancel this one.
      Value extended =
          tosa::CastOp::create(rewriter, op->getLoc(), before, result);
      rewriter.replaceAllUsesExcept(result, extended, extended.getDefiningOp());
    }
  }
  function.walk([&](tosa::CastOp cast) {
    Value value = cast.getInput();
    auto extended = value.getDefiningOp<tosa::CastOp>();
    if (extended && isDouble(value) &&
        extended.getInput().getType() == cast.getType())
      value = extended.getInput();
    if (value.getType() == cast.getType())
      rewriter.replaceOp(cast, value);
  });
  function.walk([&](tosa::CastOp cast) {
    if (isDouble(cast) && cast->use_empty())
      rewriter.eraseOp(cast);
  });
  return !ops.empty();
}
