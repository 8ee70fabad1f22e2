// SPDX-License-Identifier: Apache-2.0
#include "ShiftReach.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include <set>

using namespace mlir;
using namespace mct;

/// Most ops that one shift may pass. A value that is added to a long chain of
/// residual blocks would reach all of them, which a short tail does not
/// justify; the limit also keeps the pass linear in the size of the network.
static constexpr size_t kMaxReach = 64;
static constexpr int64_t kMaxTimes = int64_t(1) << 32;

namespace {
/// Orders ops of one block in program order.
struct InOrder {
  bool operator()(Operation *lhs, Operation *rhs) const {
    return lhs != rhs && lhs->isBeforeInBlock(rhs);
  }
};
} // namespace

static Record readBy(Operation *op, const Twine &why) {
  return Record(Decision::Declined, Reason::UserTakesNoShift, op)
         << "'" << named("reader", op->getName().getStringRef()) << "' reads it"
         << why;
}

/// Returns none if the kernel op can subtract the contribution of a constant
/// input from its bias, or the reason why not.
static std::optional<Record> checkAbsorbs(const KernelOp &kernel) {
  Operation *op = kernel.getOperation();
  if (kernel.isTransposed())
    return readBy(op, ", whose borders see fewer elements of the kernel");
  if (!kernel.getBias())
    return readBy(op, " and has no constant bias");
  for (Value operand : op->getOperands())
    if (auto point = operand.getDefiningOp<tpc::QuantizeOp>();
        point && point.isWeight() && point.getParametersAttr() &&
        point != kernel.getKernelPoint())
      return readBy(op, ", whose bias has been quantized");
  return std::nullopt;
}

/// Returns whether the op adds elements of a constant value to those that it
/// moves.
static bool fills(Operation *op) {
  auto moving = dyn_cast<DataMovementOpInterface>(op);
  return moving && moving.getMovement() == Movement::Fill;
}

/// Returns whether the result of an op is shifted by the sum of the shifts of
/// its operands. `shifted` contains the numbers of the shifted operands.
static bool passesShift(Operation *op, ArrayRef<unsigned> shifted) {
  if (isa<tosa::AddOp, linalg::AddOp>(op))
    return shifted.back() < getNumDataOperands(op);
  OpOperand *moved = getMovedOperand(op);
  if (!moved || shifted.size() != 1 ||
      shifted.front() != moved->getOperandNumber())
    return false;
  return getMovedOperand(op, commutesWithAffine) ||
         cast<DataMovementOpInterface>(op).getFill().has_value();
}

std::variant<ShiftReach, Record> mct::followShift(tpc::QuantizeOp point,
                                                  const KernelOps &kernelOps) {
  ShiftReach reach;
  llvm::DenseMap<Value, int64_t> times = {{point.getOutput(), 1}};
  std::set<Operation *, InOrder> pending;
  auto addUsers = [&](Value value) -> std::optional<Record> {
    for (Operation *user : value.getUsers()) {
      if (user->getBlock() != point->getBlock())
        return readBy(user, "");
      pending.insert(user);
    }
    return std::nullopt;
  };
  if (std::optional<Record> reason = addUsers(point.getOutput()))
    return *reason;
  while (!pending.empty()) {
    Operation *op = *pending.begin();
    pending.erase(pending.begin());
    SmallVector<unsigned> shifted;
    int64_t total = 0;
    for (OpOperand &operand : op->getOpOperands())
      if (int64_t count = times.lookup(operand.get())) {
        shifted.push_back(operand.getOperandNumber());
        total += count;
      }
    // The count doubles with each value that is added to itself.
    if (total > kMaxTimes)
      return readBy(op, ", and would be shifted more than 2^32 times");
    if (op->hasTrait<OpTrait::IsTerminator>())
      return Record(Decision::Declined, Reason::LeavesFunction, op);
    if (std::optional<KernelOp> kernel = kernelOps.get(op)) {
      if (shifted.size() != 1 ||
          shifted.front() != kernel->getInput().getOperandNumber())
        return readBy(op, ", and not as its input");
      if (std::optional<Record> reason = checkAbsorbs(*kernel))
        return *reason;
      reach.kernels.push_back({*kernel, total});
      continue;
    }
    if (auto other = dyn_cast<tpc::QuantizeOp>(op);
        other && other.isActivation()) {
      reach.points.push_back({other, total});
    } else if (passesShift(op, shifted)) {
      if (reach.moved.size() == kMaxReach)
        return Record(Decision::Declined, Reason::ReachesTooFar, op)
               << "it reaches more than " << named("most", int64_t(kMaxReach))
               << " ops that pass a shift on";
      reach.moved.push_back(op);
      if (fills(op))
        reach.pads.push_back({op, total});
    } else {
      return readBy(op, "");
    }
    times[op->getResult(0)] = total;
    if (std::optional<Record> reason = addUsers(op->getResult(0)))
      return *reason;
  }
  if (reach.kernels.empty())
    return Record(Reason::NoLayerReads)
           << "no convolution or fully connected op reads it";
  return reach;
}
