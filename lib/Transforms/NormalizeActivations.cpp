// SPDX-License-Identifier: Apache-2.0
#include "mct/Analysis/Constants.h"
#include "mct/Transforms/Passes.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace mct {
#define GEN_PASS_DEF_NORMALIZEACTIVATIONSPASS
#include "mct/Transforms/Passes.h.inc"
} // namespace mct

using namespace mlir;
using mct::ConstantFloats;

namespace {
/// An op that computes min(max(input, lowest), highest).
struct Limiter {
  Operation *op;
  Value input;
  float lowest = -std::numeric_limits<float>::infinity();
  float highest = std::numeric_limits<float>::infinity();
};
} // namespace

/// The number that all elements of a constant are, if they are one.
static std::optional<float> getNumber(Value value) {
  std::optional<ConstantFloats> constant = ConstantFloats::get(value);
  if (!constant || constant->values().empty() ||
      !llvm::all_equal(constant->values()) ||
      std::isnan(constant->values().front()))
    return std::nullopt;
  return constant->values().front();
}

/// Reads a clamp, or the comparison of a tensor with a number. A NaN must pass
/// all of them alike.
static std::optional<Limiter> getLimiter(Operation *op) {
  if (!op || !isa<tosa::ClampOp, tosa::MaximumOp, tosa::MinimumOp>(op))
    return std::nullopt;
  if (auto mode = op->getAttrOfType<tosa::NanPropagationModeAttr>("nan_mode");
      mode && mode.getValue() != tosa::NanPropagationMode::PROPAGATE)
    return std::nullopt;
  Limiter limiter{op, op->getOperand(0)};
  if (auto clamp = dyn_cast<tosa::ClampOp>(op)) {
    auto lowest = dyn_cast<FloatAttr>(clamp.getMinVal());
    auto highest = dyn_cast<FloatAttr>(clamp.getMaxVal());
    if (!lowest || !highest || !lowest.getType().isF32())
      return std::nullopt;
    limiter.lowest = lowest.getValue().convertToFloat();
    limiter.highest = highest.getValue().convertToFloat();
  } else {
    std::optional<float> number = getNumber(op->getOperand(1));
    if (!number) {
      number = getNumber(op->getOperand(0));
      limiter.input = op->getOperand(1);
    }
    if (!number)
      return std::nullopt;
    (isa<tosa::MaximumOp>(op) ? limiter.lowest : limiter.highest) = *number;
  }
  // A constant of higher rank would change the shape.
  if (limiter.input.getType() != op->getResult(0).getType() ||
      limiter.lowest > limiter.highest)
    return std::nullopt;
  return limiter;
}

/// One clamp in place of `op` and the limiter that it reads.
static void normalize(Operation *op) {
  std::optional<Limiter> outer = getLimiter(op);
  if (!outer)
    return;
  std::optional<Limiter> inner = getLimiter(outer->input.getDefiningOp());
  // A value in between that is used elsewhere, or that its tag makes an
  // operator of its own, stays what it is.
  if (!inner || !inner->op->hasOneUse() ||
      inner->op->hasAttr(mct::tpc::TpcDialect::kSetAttrName))
    return;
  float lowest = std::clamp(inner->lowest, outer->lowest, outer->highest);
  float highest = std::clamp(inner->highest, outer->lowest, outer->highest);
  // A clamp has two finite bounds.
  if (!std::isfinite(lowest) || !std::isfinite(highest))
    return;
  OpBuilder builder(op);
  auto clamp = tosa::ClampOp::create(
      builder, op->getLoc(), op->getResult(0).getType(), inner->input,
      builder.getF32FloatAttr(lowest), builder.getF32FloatAttr(highest));
  clamp->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  op->getResult(0).replaceAllUsesWith(clamp.getOutput());
  llvm::SmallSetVector<Operation *, 4> producers;
  for (Operation *replaced : {op, inner->op}) {
    for (Value operand : replaced->getOperands())
      if (Operation *producer = operand.getDefiningOp())
        producers.insert(producer);
    producers.remove(replaced);
    replaced->erase();
  }
  for (Operation *producer : producers)
    if (producer->hasTrait<OpTrait::ConstantLike>() && producer->use_empty())
      producer->erase();
}

namespace {
struct NormalizeActivationsPass
    : public mct::impl::NormalizeActivationsPassBase<NormalizeActivationsPass> {
  void runOnOperation() override {
    // In program order a chain shrinks from its first op on.
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa<tosa::ClampOp, tosa::MaximumOp, tosa::MinimumOp>(op))
        ops.push_back(op);
    });
    for (Operation *op : ops)
      normalize(op);
  }
};
} // namespace
