// SPDX-License-Identifier: Apache-2.0
#include "mct/IR/ConstantExpressions.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace mct;

std::optional<bool>
ConstantExpressions::judge(Operation *op,
                           SmallVectorImpl<Operation *> &missing) {
  ++numVisited;
  if (op->hasTrait<OpTrait::ConstantLike>() || !evaluator.knows(op))
    return false;
  for (Value operand : op->getOperands()) {
    Operation *producer = operand.getDefiningOp();
    if (!producer)
      return false;
    if (producer->hasTrait<OpTrait::ConstantLike>())
      continue;
    auto found = known.find(producer);
    if (found == known.end())
      missing.push_back(producer);
    else if (!found->second)
      return false;
  }
  return missing.empty() ? std::optional(true) : std::nullopt;
}

bool ConstantExpressions::contains(Operation *op) {
  SmallVector<Operation *> pending{op}, missing;
  // Ops that wait for their operands.
  llvm::SmallDenseSet<Operation *> opened;
  while (!pending.empty()) {
    Operation *next = pending.back();
    if (known.contains(next)) {
      pending.pop_back();
      continue;
    }
    missing.clear();
    std::optional<bool> isExpression = judge(next, missing);
    // In a graph region, an op may use its own result.
    if (!isExpression && !opened.insert(next).second)
      isExpression = false;
    if (isExpression)
      known[next] = *isExpression;
    else
      llvm::append_range(pending, missing);
  }
  return known.lookup(op);
}

void ConstantExpressions::notifyOperationModified(Operation *op) {
  SmallVector<Operation *> pending{op}, missing;
  while (!pending.empty()) {
    Operation *next = pending.pop_back_val();
    auto found = known.find(next);
    if (found == known.end())
      continue;
    missing.clear();
    std::optional<bool> now = judge(next, missing);
    if (now == found->second)
      continue;
    // Users were classified by the former state.
    if (now)
      found->second = *now;
    else
      known.erase(found);
    llvm::append_range(pending, next->getUsers());
  }
}

void ConstantExpressions::notifyOperationErased(Operation *op) {
  known.erase(op);
}
