// SPDX-License-Identifier: Apache-2.0
#include "mct/Planning/Masks.h"
#include "mct/IR/Constants.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "tpc_dialect/Lookup/Algebra.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace mlir;
using namespace mct;

/// exp(-104) is 0 in f32, so a score of this magnitude below another one does
/// not count.
static constexpr double kLargeMask = 1000;

/// Returns true if the op only selects elements of its operands by their
/// position.
static bool isMoving(Operation *op) {
  auto moving = dyn_cast<DataMovementOpInterface>(op);
  std::optional<Movement> movement =
      moving ? moving.getMovement() : std::nullopt;
  return movement && movement != Movement::Extreme &&
         movement != Movement::Average;
}

/// Returns true if the op computes a mask from a mask.
static bool isPassing(Operation *op) {
  return isMoving(op) ||
         isa<tosa::AddOp, tosa::SubOp, tosa::MulOp, tosa::SelectOp,
             tosa::MaximumOp, tosa::MinimumOp, tosa::CastOp, tosa::NegateOp>(
             op);
}

static bool isFloat(Value value) {
  return isa<FloatType>(getElementTypeOrSelf(value.getType()));
}

/// Returns whether all elements of a constant are 1, or all are -1.
static bool isOneOrMinusOne(Value value) {
  std::optional<ConstantTensor> tensor;
  if (matchPattern(value, m_Constant()))
    tensor = ConstantTensor::get(value);
  return tensor && (tensor->isUniformly(1) || tensor->isUniformly(-1));
}

namespace {
class Finder {
public:
  llvm::DenseMap<Value, Mask> find(Block &block);

private:
  /// Returns the mask of a constant or of a visited value.
  std::optional<Mask> get(Value value);
  std::optional<Mask> classify(Operation *op);
  /// Returns whether the result is computed from truth values or integers.
  bool isFlag(Operation *op) const;
  /// Returns whether an op computes its result only from arguments and
  /// constants, by moving or element-wise ops.
  bool isComputedFromArguments(Operation *op) const;
  /// Returns whether a value that is not masked itself is only used to compute
  /// masks.
  bool servesMasks(Value value) const;
  void removeOrdinaryNumbers(Block &block);
  void addFlags(Block &block);

  llvm::DenseMap<Value, Mask> masks;
  llvm::DenseMap<Value, std::optional<Mask>> constants;
  llvm::DenseSet<Value> flags;
  /// Arguments, perhaps after ops that move elements.
  llvm::DenseSet<Value> arguments;
  /// Results of ops that satisfy `isComputedFromArguments`.
  llvm::DenseSet<Value> computed;
};
} // namespace

std::optional<Mask> Finder::get(Value value) {
  if (auto found = masks.find(value); found != masks.end())
    return found->second;
  if (!isFloat(value) || !matchPattern(value, m_Constant()))
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
    return isFloat(op->getResult(0)) &&
           (!isFloat(op->getOperand(0)) || flags.contains(op->getOperand(0)));
  // Any argument that is compared with 1 is a flag.
  if (isa<tosa::AddOp, tosa::SubOp>(op))
    for (unsigned number : {0, 1})
      if (arguments.contains(op->getOperand(number)) &&
          isOneOrMinusOne(op->getOperand(1 - number)))
        return true;
  if (!isMoving(op) && !isa<tosa::AddOp, tosa::SubOp, tosa::MulOp,
                            tosa::MaximumOp, tosa::MinimumOp>(op))
    return false;
  bool any = false;
  for (Value operand : op->getOperands()) {
    if (!isFloat(operand))
      continue;
    bool flag = flags.contains(operand);
    any |= flag;
    if (!flag && !matchPattern(operand, m_Constant()))
      return false;
  }
  return any;
}

bool Finder::isComputedFromArguments(Operation *op) const {
  if (op->hasTrait<OpTrait::ConstantLike>() || op->getNumRegions() != 0 ||
      (!isMoving(op) && !isa<ElementwiseOpInterface>(op)))
    return false;
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    return isa<BlockArgument>(operand) || computed.contains(operand) ||
           matchPattern(operand, m_Constant());
  });
}

bool Finder::servesMasks(Value value) const {
  return !value.use_empty() &&
         llvm::all_of(value.getUses(), [&](OpOperand &use) {
           Operation *user = use.getOwner();
           if (user->getNumResults() != 1)
             return false;
           auto mask = masks.find(user->getResult(0));
           if (mask == masks.end())
             return false;
           // Masked scores are not flags, but the condition of a selection is.
           return mask->second == Mask::Flag || flags.contains(value) ||
                  (isa<tosa::SelectOp>(user) && use.getOperandNumber() == 0);
         });
}

std::optional<Mask> Finder::classify(Operation *op) {
  if (!isPassing(op))
    return std::nullopt;
  std::optional<Mask> mask;
  for (Value operand : op->getOperands()) {
    std::optional<Mask> read = get(operand);
    // A large factor is a scale, unless it is multiplied by a flag.
    if (isa<tosa::MulOp>(op) && read == Mask::Large && !masks.contains(operand))
      if (llvm::none_of(op->getOperands(),
                        [&](Value other) { return flags.contains(other); }))
        continue;
    if (read && mask != Mask::Infinite)
      mask = read;
  }
  return mask;
}

/// Removes large numbers that have other uses, and values inside of a softmax,
/// which are ordinary.
void Finder::removeOrdinaryNumbers(Block &block) {
  llvm::DenseSet<Operation *> softmaxes;
  for (const tpc::FormulaMatch &match : tpc::findFormulas(block))
    if (match.name == "softmax" || match.name == "log_softmax")
      softmaxes.insert(match.ops.begin(), match.ops.end());
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
}

void Finder::addFlags(Block &block) {
  for (Operation &op : llvm::reverse(block))
    if (op.getNumResults() == 1 &&
        (computed.contains(op.getResult(0)) ||
         flags.contains(op.getResult(0))) &&
        !masks.contains(op.getResult(0)) && servesMasks(op.getResult(0)))
      masks[op.getResult(0)] = Mask::Flag;
  for (BlockArgument argument : block.getArguments())
    if (servesMasks(argument))
      masks[argument] = Mask::Flag;
}

llvm::DenseMap<Value, Mask> Finder::find(Block &block) {
  arguments.insert(block.args_begin(), block.args_end());
  for (Operation &op : block) {
    if (op.getNumResults() != 1 || op.hasTrait<OpTrait::ConstantLike>())
      continue;
    Value result = op.getResult(0);
    OpOperand *moved = isMoving(&op) ? getMovedOperand(&op) : nullptr;
    if (moved && arguments.contains(moved->get()))
      arguments.insert(result);
    if (isComputedFromArguments(&op))
      computed.insert(result);
    if (isFlag(&op))
      flags.insert(result);
    if (std::optional<Mask> mask = classify(&op))
      masks[result] = *mask;
  }
  if (masks.empty())
    return masks;
  for (auto [constant, mask] : constants)
    if (mask)
      masks[constant] = *mask;
  removeOrdinaryNumbers(block);
  addFlags(block);
  return masks;
}

llvm::DenseMap<Value, Mask> mct::findMasks(Block &block) {
  return Finder().find(block);
}

bool mct::readsFlags(Operation *op, const llvm::DenseMap<Value, Mask> &masks) {
  if (op->getNumResults() != 1)
    return false;
  auto mask = masks.find(op->getResult(0));
  // The other factor of a product with a substitute for infinity is a flag.
  return mask != masks.end() &&
         (mask->second == Mask::Flag || isa<tosa::MulOp>(op));
}
