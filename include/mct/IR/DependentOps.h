// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_IR_DEPENDENTOPS_H
#define MCT_IR_DEPENDENTOPS_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SetVector.h"

namespace mct {

/// Returns the ops of a function whose results depend on `values`, each once,
/// without the ops that define the values.
llvm::SetVector<mlir::Operation *>
findDependentOps(llvm::ArrayRef<mlir::Value> values);

} // namespace mct

#endif // MCT_IR_DEPENDENTOPS_H
