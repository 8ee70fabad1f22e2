// SPDX-License-Identifier: Apache-2.0
#include "mct/IR/DependentOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

llvm::SetVector<Operation *> mct::findDependentOps(ArrayRef<Value> values) {
  llvm::SetVector<Operation *> found;
  for (Value value : values)
    found.insert(value.user_begin(), value.user_end());
  for (size_t next = 0; next != found.size(); ++next) {
    for (Value result : found[next]->getResults())
      found.insert(result.user_begin(), result.user_end());
    // A value that a region uses affects the results of the surrounding op.
    if (Operation *parent = found[next]->getParentOp();
        parent && !isa<FunctionOpInterface>(parent))
      found.insert(parent);
  }
  return found;
}
