// SPDX-License-Identifier: Apache-2.0
#include "mct/IR/QuantizedNetwork.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Quant/IR/Quant.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

/// Returns whether integers have few enough bits to be codes; flags have one
/// bit.
static bool isNarrow(Type type) {
  auto integer = dyn_cast<IntegerType>(getElementTypeOrSelf(type));
  return integer && integer.getWidth() > 1 && integer.getWidth() <= 16;
}

static bool isReal(Type type) {
  return isa<FloatType>(getElementTypeOrSelf(type));
}

static bool isInteger(Type type) {
  return isa<IntegerType>(getElementTypeOrSelf(type));
}

/// Returns whether the op computes with codes.
static bool computesWithCodes(Operation *op) {
  if (isa<tosa::TableOp, quant::QuantizeCastOp>(op))
    return true;
  if (auto rescale = dyn_cast<tosa::RescaleOp>(op))
    return isNarrow(rescale.getType()) &&
           !isNarrow(rescale.getInput().getType());
  return isa<tosa::Conv2DOp, tosa::Conv3DOp, tosa::DepthwiseConv2DOp,
             tosa::TransposeConv2DOp, tosa::MatMulOp>(op) &&
         isNarrow(op->getOperand(0).getType());
}

/// Returns whether the op multiplies by a constant.
static bool isScaling(Operation *op) {
  return isa_and_nonnull<tosa::MulOp, arith::MulFOp>(op) &&
         (matchPattern(op->getOperand(0), m_Constant()) ||
          matchPattern(op->getOperand(1), m_Constant()));
}

/// Returns whether the operand of a conversion to integers has been scaled or
/// bounded, that is, whether it is in steps of a grid. Other conversions only
/// round, which a float network may do as well.
static bool isOnGrid(Operation *conversion) {
  Operation *op = conversion->getOperand(0).getDefiningOp();
  return isScaling(op) ||
         isa_and_nonnull<tosa::ClampOp, arith::MinimumFOp, arith::MinNumFOp,
                         arith::MaximumFOp, arith::MaxNumFOp>(op);
}

/// Returns whether real numbers that were integers are scaled, after
/// subtracting a zero point.
static bool isScaledBack(Operation *conversion) {
  return llvm::any_of(conversion->getUsers(), [](Operation *user) {
    return isScaling(user) || (isa<tosa::SubOp, arith::SubFOp>(user) &&
                               llvm::any_of(user->getUsers(), isScaling));
  });
}

namespace {
/// Finds the conversions of real numbers to integers from which, through narrow
/// integers, real numbers are computed again.
class Conversions {
public:
  /// Visits the values from which a conversion to real numbers is computed.
  void visitProducers(Value integers) {
    SmallVector<std::pair<Value, bool>> pending{{integers, false}};
    while (!pending.empty()) {
      auto [value, throughNarrow] = pending.pop_back_val();
      throughNarrow |= isNarrow(value.getType());
      if (!visited[throughNarrow].insert(value).second)
        continue;
      Operation *op = value.getDefiningOp();
      if (!op)
        continue;
      bool isConversion =
          llvm::any_of(op->getOperandTypes(), isReal) &&
          isa<tosa::CastOp, arith::FPToSIOp, arith::FPToUIOp>(op);
      if (isConversion && throughNarrow && isOnGrid(op))
        quantizing.insert(op);
      if (isConversion || op->getNumRegions() != 0)
        continue;
      for (Value operand : op->getOperands())
        if (isInteger(operand.getType()))
          pending.push_back({operand, throughNarrow});
    }
  }
  bool quantizes(Operation *op) const { return quantizing.contains(op); }

private:
  /// Visited values; the second set is for those from which a narrow integer is
  /// computed.
  DenseSet<Value> visited[2];
  DenseSet<Operation *> quantizing;
};
} // namespace

Operation *mct::findQuantizedOp(func::FuncOp function) {
  Conversions conversions;
  function.walk([&](Operation *op) {
    if (isa<tosa::CastOp, arith::SIToFPOp, arith::UIToFPOp>(op) &&
        isInteger(op->getOperand(0).getType()) &&
        isReal(op->getResult(0).getType()) && isScaledBack(op))
      conversions.visitProducers(op->getOperand(0));
  });
  Operation *found = nullptr;
  function.walk([&](Operation *op) {
    if (!computesWithCodes(op) && !conversions.quantizes(op))
      return WalkResult::advance();
    found = op;
    return WalkResult::interrupt();
  });
  return found;
}
