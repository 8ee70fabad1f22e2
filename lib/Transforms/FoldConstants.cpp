// SPDX-License-Identifier: Apache-2.0
#include "mct/Analysis/Names.h"
#include "mct/Analysis/Constants.h"
#include "mct/Transforms/Passes.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "llvm/ADT/SetVector.h"
#include <cmath>

namespace mct {
#define GEN_PASS_DEF_FOLDCONSTANTSPASS
#include "mct/Transforms/Passes.h.inc"
} // namespace mct

using namespace mlir;
using mct::ConstantFloats;

/// Distance, in elements, between neighbours along each axis of `shape`
/// broadcast to `result`; 0 along a broadcast one.
static SmallVector<int64_t> broadcastStrides(ArrayRef<int64_t> shape,
                                             ArrayRef<int64_t> result) {
  SmallVector<int64_t> strides(result.size(), 0);
  int64_t stride = 1;
  for (size_t axis = result.size(); axis-- > 0;) {
    if (shape[axis] != 1)
      strides[axis] = stride;
    stride *= shape[axis];
  }
  return strides;
}

static std::vector<float>
evaluate(RankedTensorType type, const ConstantFloats &lhs,
         const ConstantFloats *rhs,
         llvm::function_ref<float(float, float)> compute) {
  ArrayRef<int64_t> shape = type.getShape();
  SmallVector<int64_t> lhsStrides = broadcastStrides(lhs.shape(), shape);
  SmallVector<int64_t> rhsStrides = rhs ? broadcastStrides(rhs->shape(), shape)
                                        : SmallVector<int64_t>(shape.size(), 0);
  std::vector<float> values(type.getNumElements());
  for (int64_t element = 0, end = type.getNumElements(); element != end;
       ++element) {
    int64_t rest = element, lhsIndex = 0, rhsIndex = 0;
    for (size_t axis = shape.size(); axis-- > 0; rest /= shape[axis]) {
      lhsIndex += rest % shape[axis] * lhsStrides[axis];
      rhsIndex += rest % shape[axis] * rhsStrides[axis];
    }
    values[element] =
        compute(lhs.values()[lhsIndex], rhs ? rhs->values()[rhsIndex] : 0.0f);
  }
  return values;
}

/// The f32 function that the op computes element by element, or null.
/// `tosa.mul` has a shift operand for integers only.
static float (*getFunction(Operation *op))(float, float) {
  if (isa<tosa::AddOp>(op))
    return [](float lhs, float rhs) { return lhs + rhs; };
  if (isa<tosa::SubOp>(op))
    return [](float lhs, float rhs) { return lhs - rhs; };
  if (isa<tosa::MulOp>(op))
    return [](float lhs, float rhs) { return lhs * rhs; };
  if (isa<tosa::RsqrtOp>(op))
    return [](float operand, float) { return 1.0f / std::sqrt(operand); };
  if (isa<tosa::ReciprocalOp>(op))
    return [](float operand, float) { return 1.0f / operand; };
  return nullptr;
}

namespace {
struct FoldConstantsPass
    : public mct::impl::FoldConstantsPassBase<FoldConstantsPass> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (getFunction(op))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
      bool isUnary = isa<tosa::RsqrtOp, tosa::ReciprocalOp>(op);
      std::optional<ConstantFloats> lhs =
          ConstantFloats::get(op->getOperand(0));
      std::optional<ConstantFloats> rhs =
          isUnary || !lhs ? lhs : ConstantFloats::get(op->getOperand(1));
      if (!type || !type.hasStaticShape() || !lhs || !rhs)
        continue;
      std::vector<float> values =
          evaluate(type, *lhs, isUnary ? nullptr : &*rhs, getFunction(op));
      OpBuilder builder(op);
      StringAttr name = mct::getName(op->getLoc());
      op->getResult(0).replaceAllUsesWith(
          mct::createConstant(builder, op->getLoc(), type, values,
                              name ? name.getValue() : "folded"));
      llvm::SmallSetVector<Operation *, 3> producers;
      for (Value operand : op->getOperands())
        producers.insert(operand.getDefiningOp());
      op->erase();
      for (Operation *producer : producers)
        if (producer && producer->use_empty())
          producer->erase();
    }
  }
};
} // namespace
