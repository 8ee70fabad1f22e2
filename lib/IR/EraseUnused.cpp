// SPDX-License-Identifier: Apache-2.0
#include "mct/IR/EraseUnused.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

void mct::eraseUnused(ArrayRef<Operation *> ops) {
  llvm::SmallSetVector<Operation *, 8> pending(ops.begin(), ops.end());
  while (!pending.empty()) {
    Operation *op = pending.pop_back_val();
    if (!op || !isOpTriviallyDead(op))
      continue;
    for (Value operand : op->getOperands())
      pending.insert(operand.getDefiningOp());
    op->erase();
  }
}
