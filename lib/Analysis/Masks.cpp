// SPDX-License-Identifier: Apache-2.0
#include "mct/Analysis/Masks.h"
#include "mct/Analysis/Constants.h"
#include "mct/Analysis/OpInterfaces.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "tpc_dialect/Lookup/Algebra.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace mlir;
using namespace mct;

/// exp(-104) is 0 in f32: no score competes with such a number.
static constexpr double kLargeMask = 1000;

/// Ops whose results are elements of their operands, taken by their place.
static bool isMoving(Operation *op) {
  auto moving = dyn_cast<DataMovementOpInterface>(op);
  std::optional<Movement> movement =
      moving ? moving.getMovement() : std::nullopt;
  return movement && movement != Movement::Extreme &&
         movement != Movement::Average;
}

/// Ops that make a mask of a mask.
static bool isPassing(Operation *op) {
  return isMoving(op) ||
         isa<tosa::AddOp, tosa::SubOp, tosa::MulOp, tosa::SelectOp,
             tosa::MaximumOp, tosa::MinimumOp, tosa::CastOp, tosa::NegateOp>(
             op);
}

namespace {
class Finder {
public:
  llvm::DenseMap<Value, Mask> find(Block &block);

private:
  /// Of a constant, or of a value that has been seen.
  std::optional<Mask> get(Value value);
  std::optional<Mask> classify(Operation *op);
  /// Whether a value is made of truth values or integers.
  bool isFlag(Operation *op) const;

  llvm::DenseMap<Value, Mask> masks;
  llvm::DenseMap<Value, std::optional<Mask>> constants;
  llvm::DenseSet<Value> flags;
};
} // namespace

std::optional<Mask> Finder::get(Value value) {
  if (auto found = masks.find(value); found != masks.end())
    return found->second;
  if (!isa<FloatType>(getElementTypeOrSelf(value.getType())) ||
      !matchPattern(value, m_Constant()))
    return std::nullopt;
  auto [known, isNew] = constants.try_emplace(value, std::nullopt);
  std::optional<Mask> &mask = known->second;
  std::optional<ConstantTensor> tensor;
  if (isNew)
    tensor = ConstantTensor::get(value);
  if (!tensor)
    return mask;
  auto look = [&](double element) {
    if (std::isinf(element))
      mask = Mask::Infinite;
    else if (std::abs(element) >= kLargeMask && !mask)
      mask = Mask::Large;
  };
  if (ArrayRef<float> floats = tensor->getFloats(); !floats.empty())
    llvm::for_each(floats, look);
  else
    llvm::for_each(tensor->decode<double>(), look);
  return mask;
}

bool Finder::isFlag(Operation *op) const {
  if (isa<tosa::CastOp>(op))
    return isa<IntegerType>(getElementTypeOrSelf(op->getOperand(0).getType()));
  if (!isMoving(op) && !isa<tosa::AddOp, tosa::SubOp, tosa::MulOp>(op))
    return false;
  bool any = false;
  for (Value operand : op->getOperands()) {
    if (!isa<FloatType>(getElementTypeOrSelf(operand.getType())))
      continue;
    bool flag = flags.contains(operand);
    any |= flag;
    if (!flag && !matchPattern(operand, m_Constant()))
      return false;
  }
  return any;
}

std::optional<Mask> Finder::classify(Operation *op) {
  if (!isPassing(op))
    return std::nullopt;
  std::optional<Mask> mask;
  for (Value operand : op->getOperands()) {
    std::optional<Mask> read = get(operand);
    // A factor is a scale, unless what it scales is there or not.
    if (isa<tosa::MulOp>(op) && read == Mask::Large && !masks.contains(operand))
      if (llvm::none_of(op->getOperands(),
                        [&](Value other) { return flags.contains(other); }))
        continue;
    if (read && mask != Mask::Infinite)
      mask = read;
  }
  return mask;
}

llvm::DenseMap<Value, Mask> Finder::find(Block &block) {
  llvm::DenseSet<Operation *> softmaxes;
  for (Operation &op : block) {
    if (op.getNumResults() != 1 || op.hasTrait<OpTrait::ConstantLike>())
      continue;
    if (isFlag(&op))
      flags.insert(op.getResult(0));
    if (std::optional<Mask> mask = classify(&op))
      masks[op.getResult(0)] = *mask;
  }
  if (masks.empty())
    return masks;
  for (auto [constant, mask] : constants)
    if (mask)
      masks[constant] = *mask;
  for (const tpc::FormulaMatch &match : tpc::findFormulas(block))
    if (match.name == "softmax" || match.name == "log_softmax")
      softmaxes.insert(match.ops.begin(), match.ops.end());
  // What is read elsewhere too, or inside of a softmax, is an ordinary number.
  for (Operation &op : llvm::reverse(block)) {
    if (op.getNumResults() != 1)
      continue;
    auto mask = masks.find(op.getResult(0));
    if (mask == masks.end())
      continue;
    bool isInside = softmaxes.contains(&op);
    bool onlyMasks = llvm::all_of(op.getUsers(), [&](Operation *user) {
      return softmaxes.contains(user) ||
             (user->getNumResults() == 1 && masks.contains(user->getResult(0)));
    });
    if (isInside || (mask->second == Mask::Large && !onlyMasks))
      masks.erase(mask);
  }
  return masks;
}

llvm::DenseMap<Value, Mask> mct::findMasks(Block &block) {
  return Finder().find(block);
}
