// SPDX-License-Identifier: Apache-2.0
#include "mct/Analysis/Constants.h"
#include "mct/Analysis/Names.h"
#include "mct/Transforms/Passes.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Matchers.h"
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
/// `tosa.mul` has a shift operand for integers only, `tosa.negate` zero points.
static float (*getFunction(Operation *op))(float, float) {
  if (isa<tosa::AddOp>(op))
    return [](float lhs, float rhs) { return lhs + rhs; };
  if (isa<tosa::SubOp>(op))
    return [](float lhs, float rhs) { return lhs - rhs; };
  if (isa<tosa::MulOp>(op))
    return [](float lhs, float rhs) { return lhs * rhs; };
  if (isa<tosa::PowOp>(op))
    return [](float lhs, float rhs) { return std::pow(lhs, rhs); };
  // A NaN goes through, unlike in std::max.
  if (auto maximum = dyn_cast<tosa::MaximumOp>(op);
      maximum && maximum.getNanMode() == tosa::NanPropagationMode::PROPAGATE)
    return [](float lhs, float rhs) {
      return lhs > rhs || std::isnan(lhs) ? lhs : rhs;
    };
  if (auto minimum = dyn_cast<tosa::MinimumOp>(op);
      minimum && minimum.getNanMode() == tosa::NanPropagationMode::PROPAGATE)
    return [](float lhs, float rhs) {
      return lhs < rhs || std::isnan(lhs) ? lhs : rhs;
    };
  if (isa<tosa::RsqrtOp>(op))
    return [](float operand, float) { return 1.0f / std::sqrt(operand); };
  if (isa<tosa::ReciprocalOp>(op))
    return [](float operand, float) { return 1.0f / operand; };
  if (isa<tosa::ExpOp>(op))
    return [](float operand, float) { return std::exp(operand); };
  if (isa<tosa::LogOp>(op))
    return [](float operand, float) { return std::log(operand); };
  if (isa<tosa::AbsOp>(op))
    return [](float operand, float) { return std::fabs(operand); };
  if (isa<tosa::NegateOp>(op))
    return [](float operand, float) { return -operand; };
  return nullptr;
}

static bool isBinary(Operation *op) {
  return isa<tosa::AddOp, tosa::SubOp, tosa::MulOp, tosa::PowOp,
             tosa::MaximumOp, tosa::MinimumOp>(op);
}

/// Signed integers as f32; none when `value` is no such constant.
static std::optional<std::vector<float>> convertIntegers(Value value) {
  ElementsAttr attribute;
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.getElementType().isSignlessInteger() ||
      type.getElementType().isInteger(1) ||
      !matchPattern(value, m_Constant(&attribute)))
    return std::nullopt;
  std::vector<float> values;
  values.reserve(type.getNumElements());
  if (auto dense = dyn_cast<DenseIntElementsAttr>(attribute)) {
    for (const APInt &element : dense.getValues<APInt>())
      values.push_back(float(element.getSExtValue()));
    return values;
  }
  auto resource = dyn_cast<DenseResourceElementsAttr>(attribute);
  AsmResourceBlob *blob =
      resource ? resource.getRawHandle().getBlob() : nullptr;
  auto append = [&](auto zero) {
    using Element = decltype(zero);
    if (blob->getData().size() == type.getNumElements() * sizeof(Element))
      for (Element element : blob->getDataAs<Element>())
        values.push_back(float(element));
  };
  if (blob && type.getElementType().isInteger(8))
    append(int8_t());
  else if (blob && type.getElementType().isInteger(16))
    append(int16_t());
  else if (blob && type.getElementType().isInteger(32))
    append(int32_t());
  if (int64_t(values.size()) != type.getNumElements())
    return std::nullopt;
  return values;
}

static std::vector<float> transpose(const ConstantFloats &input,
                                    ArrayRef<int32_t> perms) {
  SmallVector<int64_t> steps(perms.size()), shape, resultSteps;
  int64_t step = 1;
  for (size_t axis = perms.size(); axis-- > 0;) {
    steps[axis] = step;
    step *= input.shape()[axis];
  }
  for (int32_t axis : perms) {
    shape.push_back(input.shape()[axis]);
    resultSteps.push_back(steps[axis]);
  }
  std::vector<float> values(input.values().size());
  for (size_t element = 0; element != values.size(); ++element) {
    int64_t rest = element, from = 0;
    for (size_t axis = shape.size(); axis-- > 0; rest /= shape[axis])
      from += rest % shape[axis] * resultSteps[axis];
    values[element] = input.values()[from];
  }
  return values;
}

/// The elements of the op's result, when it is a constant that we can compute.
static std::optional<std::vector<float>> evaluate(Operation *op,
                                                  RankedTensorType type) {
  if (isa<tosa::CastOp>(op))
    return convertIntegers(op->getOperand(0));
  auto function = getFunction(op);
  if (!function && !isa<tosa::ReshapeOp, tosa::TransposeOp>(op))
    return std::nullopt;
  std::optional<ConstantFloats> lhs = ConstantFloats::get(op->getOperand(0));
  if (!lhs)
    return std::nullopt;
  if (isa<tosa::ReshapeOp>(op))
    return lhs->values().vec();
  if (auto transposition = dyn_cast<tosa::TransposeOp>(op))
    return transpose(*lhs, transposition.getPerms());
  if (!isBinary(op))
    return evaluate(type, *lhs, nullptr, function);
  std::optional<ConstantFloats> rhs = ConstantFloats::get(op->getOperand(1));
  if (!rhs)
    return std::nullopt;
  return evaluate(type, *lhs, &*rhs, function);
}

namespace {
struct FoldConstantsPass
    : public mct::impl::FoldConstantsPassBase<FoldConstantsPass> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa<tosa::CastOp, tosa::ReshapeOp, tosa::TransposeOp>(op) ||
          getFunction(op))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
      if (!type || !type.hasStaticShape() || !type.getElementType().isF32())
        continue;
      std::optional<std::vector<float>> values = evaluate(op, type);
      if (!values)
        continue;
      OpBuilder builder(op);
      StringAttr name = mct::getName(op->getLoc());
      op->getResult(0).replaceAllUsesWith(
          mct::createConstant(builder, op->getLoc(), type, *values,
                              name ? name.getValue() : "folded"));
      llvm::SmallSetVector<Operation *, 3> producers;
      for (Value operand : op->getOperands())
        producers.insert(operand.getDefiningOp());
      op->erase();
      for (Operation *producer : producers)
        if (producer && producer->use_empty() &&
            producer->hasTrait<OpTrait::ConstantLike>())
          producer->erase();
    }
  }
};
} // namespace
