// SPDX-License-Identifier: Apache-2.0
#include "ConstantPoints.h"
#include "mct/IR/Constants.h"
#include "mct/IR/Names.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mct/Quantization/Selection.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "tpc_dialect/Lookup/TpcLookup.h"

using namespace mlir;
using namespace mct;

static constexpr unsigned kBits = 8;

/// Returns whether a point has a single grid of at most `kBits` bits.
static bool hasNarrowGrid(tpc::QuantizeOp point) {
  tpc::QuantizerAttrInterface parameters = point.getParametersAttr();
  return point.isActivation() && parameters && parameters.getBits() <= kBits &&
         parameters.getGrids().size() == 1;
}

/// Returns whether a value is the result of such a point, perhaps moved since.
static bool isOnNarrowGrid(Value value) {
  auto point = getMovedSource(value).getDefiningOp<tpc::QuantizeOp>();
  return point && hasNarrowGrid(point);
}

/// Returns the first user of a value, perhaps after clamps, if all its users
/// are such points; null otherwise.
static tpc::QuantizeOp findOnlyPoint(Value value) {
  while (value.hasOneUse() && isa<tosa::ClampOp>(*value.user_begin()))
    value = value.user_begin()->getResult(0);
  tpc::QuantizeOp first;
  for (Operation *user : value.getUsers()) {
    auto point = dyn_cast<tpc::QuantizeOp>(user);
    if (!point || !hasNarrowGrid(point))
      return {};
    if (!first)
      first = point;
  }
  return first;
}

static tpc::QuantizerAttrInterface selectFor(ArrayRef<float> values,
                                             tpc::QuantizeOp after) {
  tpc::QuantizationMethodAttrInterface method =
      after.getParametersAttr().getQuantizationMethod();
  std::optional<quantization::QuantizationMethod> kind =
      method ? method.getGridSearch() : std::nullopt;
  if (!kind)
    return {};
  quantization::SelectionOptions options;
  options.kind = *kind;
  options.bits = kBits;
  return method.createQuantizer(quantization::selectForValues(values, options),
                                options);
}

void mct::insertConstantPoints(func::FuncOp function) {
  // There are no integer kernels for subtraction.
  SmallVector<OpOperand *> operands;
  function.walk([&](tosa::AddOp op) {
    for (OpOperand &operand : op->getOpOperands())
      operands.push_back(&operand);
  });
  for (OpOperand *operand : operands) {
    Operation *sum = operand->getOwner();
    std::optional<ConstantFloats> constant =
        ConstantFloats::get(operand->get());
    // A single number is a code of any grid with that step.
    if (!constant || llvm::all_equal(constant->values()) ||
        !isOnNarrowGrid(sum->getOperand(1 - operand->getOperandNumber())))
      continue;
    tpc::QuantizeOp after = findOnlyPoint(sum->getResult(0));
    tpc::QuantizerAttrInterface parameters =
        after ? selectFor(constant->values(), after)
              : tpc::QuantizerAttrInterface();
    if (!parameters)
      continue;
    OpBuilder builder(sum);
    StringAttr name = getName(sum->getResult(0));
    operand->set(tpc::QuantizeOp::create(
        builder, operand->get().getLoc(), operand->get(),
        name ? name : after.getPointNameAttr(),
        builder.getStringAttr(tpc::kPositionalWeight), /*axes=*/{},
        /*config=*/{}, parameters));
  }
}
