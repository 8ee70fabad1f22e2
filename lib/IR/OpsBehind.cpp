// SPDX-License-Identifier: Apache-2.0
#include "mct/IR/OpsBehind.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

llvm::SetVector<Operation *> mct::findOpsBehind(ArrayRef<Value> values) {
  llvm::SetVector<Operation *> behind;
  for (Value value : values)
    behind.insert(value.user_begin(), value.user_end());
  for (size_t next = 0; next != behind.size(); ++next) {
    for (Value result : behind[next]->getResults())
      behind.insert(result.user_begin(), result.user_end());
    // A value that a region uses affects the results of the surrounding op.
    if (Operation *parent = behind[next]->getParentOp();
        parent && !isa<FunctionOpInterface>(parent))
      behind.insert(parent);
  }
  return behind;
}
