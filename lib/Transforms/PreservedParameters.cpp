// SPDX-License-Identifier: Apache-2.0
#include "mct/Transforms/PreservedParameters.h"
#include "mct/Transforms/SelectedParameters.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mct;

tpc::QuantizeOp mct::getPreservedPoint(tpc::QuantizeOp point) {
  tpc::OpQuantConfigAttr config =
      point.isActivation() ? point.getActivationConfig() : nullptr;
  if (!config || !config.getPreserving())
    return nullptr;
  tpc::QuantizeOp source;
  llvm::SetVector<Value> open;
  open.insert(point.getInput());
  for (size_t i = 0; i != open.size(); ++i) {
    Operation *op = open[i].getDefiningOp();
    if (!op)
      return nullptr;
    auto other = dyn_cast<tpc::QuantizeOp>(op);
    if (other && other.isActivation()) {
      if (source && source != other)
        return nullptr;
      source = other;
      continue;
    }
    if (other || matchPattern(op, m_Constant()))
      continue;
    for (Value operand : op->getOperands())
      if (isa<FloatType>(getElementTypeOrSelf(operand)))
        open.insert(operand);
  }
  return source;
}

void mct::sharePreservedParameters(Operation *root) {
  root->walk([](tpc::QuantizeOp point) {
    tpc::QuantizeOp source = getPreservedPoint(point);
    if (!source || !source.getParametersAttr() ||
        source.getParametersAttr() == point.getParametersAttr())
      return;
    if (point.hasImportedParameters()) {
      InFlightDiagnostic warning =
          point.emitWarning()
          << "the target cannot hold the parameters that '"
          << point.getUniqueName()
          << "' has in its file: it keeps the grid of its operand; they become "
             "those of '"
          << source.getUniqueName() << "'";
      warning.attachNote()
          << "they are " << point.getParametersAttr()
          << "; take a target where such an operator has a grid of its own";
    }
    point.setQuantizer(source.getParametersAttr(),
                       measureGiven(point, source.getParametersAttr()));
  });
}
