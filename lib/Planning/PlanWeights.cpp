// SPDX-License-Identifier: Apache-2.0
//
// Finds the constant operands that are weights, and their channel axes.
#include "PlanParts.h"
#include "mct/IR/ConstantEvaluator.h"
#include "mct/IR/Constants.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mct;
using namespace mct::plan;

DenseI64ArrayAttr mct::getChannelAxes(tpc::OpInfoAttr info, OpOperand &operand,
                                      StringRef genericName, Value result,
                                      tpc::AttrQuantConfigAttr config) {
  MLIRContext *context = operand.getOwner()->getContext();
  if (!config.getPerChannel())
    return {};
  if (info && info.getKernel() == int64_t(operand.getOperandNumber()))
    return info.getOutAxes().empty()
               ? DenseI64ArrayAttr()
               : DenseI64ArrayAttr::get(context, info.getOutAxes());
  if (genericName != tpc::kPositionalWeight)
    return {};
  // A constant has the channel axis of the result, unless it is broadcast along
  // that axis.
  auto type = cast<RankedTensorType>(operand.get().getType());
  auto resultType = dyn_cast<RankedTensorType>(result.getType());
  if (!resultType || resultType.getRank() != type.getRank() ||
      type.getRank() == 0)
    return {};
  int64_t axis = info && info.getResultAxis() ? *info.getResultAxis() : -1;
  if (axis < 0)
    axis += type.getRank();
  if (axis < 0 || axis >= type.getRank() || type.getDimSize(axis) <= 1)
    return {};
  return DenseI64ArrayAttr::get(context, axis);
}

/// Returns why a weight cannot have a quantizer; empty if it can.
static std::string getNotQuantizableReason(Value value) {
  std::string reason;
  llvm::raw_string_ostream os(reason);
  if (matchPattern(value, m_Constant())) {
    std::optional<ConstantTensor> tensor = ConstantTensor::get(value);
    if (!isQuantizable(value))
      os << "its elements are " << getElementTypeOrSelf(value.getType())
         << ", not f32";
    else if (tensor && tensor->isSplat() && !ConstantFloats::exists(value))
      os << "it is one number " << tensor->getNumElements() << " times";
    return reason;
  }
  Operation *producer = value.getDefiningOp();
  if (!producer) {
    os << "it is not a constant but an argument";
    return reason;
  }
  os << "it is not a constant but the result of '" << producer->getName()
     << "'";
  if (ConstantEvaluator().evaluate(value))
    os << ", which mct-fold-constants evaluates";
  return reason;
}

SmallVector<PlannedWeight> plan::findWeights(const tpc::Node &node,
                                             tpc::OpQuantConfigAttr base) {
  SmallVector<PlannedWeight> weights;
  if (node.info && !node.info.getQuantize())
    return weights;
  auto add = [&](OpOperand &operand, StringAttr genericName, StringAttr name) {
    PlannedWeight &weight = weights.emplace_back();
    weight.operand = &operand;
    weight.genericName = genericName;
    weight.name = name;
    if (!base.getWeightConfig(genericName).getEnabled()) {
      weight.floatReason = "its configuration is not enabled";
      return;
    }
    weight.floatReason = getNotQuantizableReason(operand.get());
    weight.isMissed = !weight.floatReason.empty();
  };
  Operation *op = node.kernelOp;
  llvm::SmallDenseSet<unsigned> named;
  if (node.weights)
    for (NamedAttribute entry : node.weights) {
      unsigned number = cast<IntegerAttr>(entry.getValue()).getInt();
      if (number >= op->getNumOperands())
        continue;
      named.insert(number);
      add(op->getOpOperand(number), entry.getName(), entry.getName());
    }
  // The form names the op of several whose constants are weights. Numbers that
  // are compared do not become part of the result.
  if ((node.ops.size() != 1 && op == node.root()) ||
      !readsPositionalConstants(op) || !isQuantizable(node.result()))
    return weights;
  SmallVector<OpOperand *> positional;
  for (OpOperand &operand :
       op->getOpOperands().take_front(getNumDataOperands(op)))
    if (!named.contains(operand.getOperandNumber()) &&
        isQuantizable(operand.get()) &&
        matchPattern(operand.get(), m_Constant()))
      positional.push_back(&operand);
  auto genericName = StringAttr::get(op->getContext(), tpc::kPositionalWeight);
  for (OpOperand *operand : positional)
    add(*operand, genericName,
        positional.size() == 1
            ? genericName
            : StringAttr::get(op->getContext(),
                              tpc::kPositionalWeight + "_" +
                                  Twine(operand->getOperandNumber())));
  return weights;
}
