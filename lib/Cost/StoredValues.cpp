// SPDX-License-Identifier: Apache-2.0
#include "mct/Cost/StoredValues.h"
#include "mct/Cost/Resources.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mct;

int64_t mct::countElements(RankedTensorType type, ArrayRef<int64_t> axes,
                           int64_t multiple) {
  int64_t channels = 1, others = 1;
  for (auto [axis, size] : llvm::enumerate(type.getShape()))
    (llvm::is_contained(axes, int64_t(axis)) ? channels : others) *=
        ShapedType::isDynamic(size) ? 1 : size;
  if (!axes.empty())
    channels = int64_t(llvm::alignTo(uint64_t(channels), uint64_t(multiple)));
  return channels * others;
}

RankedTensorType mct::getFloatTensor(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && isa<FloatType>(type.getElementType()) ? type
                                                       : RankedTensorType();
}

std::optional<unsigned> mct::getBits(tpc::QuantizeOp point) {
  if (tpc::QuantizerAttrInterface parameters = point.getParametersAttr())
    return parameters.getBits();
  if (tpc::OpQuantConfigAttr config = point.getActivationConfig())
    return config.getActEnabled() ? std::optional<unsigned>(config.getActBits())
                                  : std::nullopt;
  if (tpc::AttrQuantConfigAttr config = point.getWeightConfig())
    return config.getEnabled() ? std::optional<unsigned>(config.getBits())
                               : std::nullopt;
  return std::nullopt;
}

tpc::QuantizeOp mct::getActivationPoint(Value value) {
  for (Operation *user : value.getUsers())
    if (auto point = dyn_cast<tpc::QuantizeOp>(user);
        point && point.isActivation())
      return point;
  return {};
}

WidthSource mct::findWidthSource(Value value) {
  while (getFloatTensor(value)) {
    tpc::QuantizeOp point = getActivationPoint(value);
    if (point && getBits(point))
      return {point, value};
    Operation *producer = value.getDefiningOp();
    if (auto made = dyn_cast_or_null<tpc::QuantizeOp>(producer)) {
      if (getBits(made))
        return {made, value};
      value = made.getInput();
    } else if (OpOperand *moved =
                   producer ? getMovedOperand(producer) : nullptr) {
      value = moved->get();
    } else {
      break;
    }
  }
  return {{}, value};
}

FusedChains::FusedChains(func::FuncOp function, const KernelOps &kernels) {
  function.walk([&](tpc::QuantizeOp point) {
    if (point.isActivation() && point.getGroupAttr())
      add(point, kernels);
  });
}

void FusedChains::add(tpc::QuantizeOp point, const KernelOps &kernels) {
  Operation *last = point.getInput().getDefiningOp();
  // An operator may consist of several ops. Without a kernel op at the
  // beginning, the chain has at most as many ops as there are operators.
  SmallVector<Value> inside;
  size_t most = point.getGroupAttr().size() - 1;
  SmallVector<Operation *> pending = {last};
  bool hasKernel = false;
  for (size_t next = 0; next != pending.size(); ++next) {
    Operation *op = pending[next];
    if (!op)
      continue;
    if (kernels.get(op)) {
      hasKernel = true;
      continue;
    }
    for (Value operand : op->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      if (!producer || isa<tpc::QuantizeOp>(producer) ||
          matchPattern(operand, m_Constant()) || getActivationPoint(operand) ||
          llvm::is_contained(inside, operand))
        continue;
      inside.push_back(operand);
      pending.push_back(producer);
    }
  }
  if (!hasKernel && inside.size() > most)
    inside.resize(most);
  values.insert(inside.begin(), inside.end());
  for (Value value : inside)
    ends[value.getDefiningOp()] = last;
}
