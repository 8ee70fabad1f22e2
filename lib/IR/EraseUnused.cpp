// SPDX-License-Identifier: Apache-2.0
#include "mct/IR/EraseUnused.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

void mct::eraseOp(Operation *op, OpBuilder::Listener *listener) {
  // The rewriter also notifies the listener of the ops in regions, which ops of
  // linalg have.
  IRRewriter(op->getContext(), listener).eraseOp(op);
}

void mct::eraseUnused(ArrayRef<Operation *> ops,
                      OpBuilder::Listener *listener) {
  llvm::SmallSetVector<Operation *, 8> pending(ops.begin(), ops.end());
  while (!pending.empty()) {
    Operation *op = pending.pop_back_val();
    if (!op || !isOpTriviallyDead(op))
      continue;
    for (Value operand : op->getOperands())
      pending.insert(operand.getDefiningOp());
    eraseOp(op, listener);
  }
}
