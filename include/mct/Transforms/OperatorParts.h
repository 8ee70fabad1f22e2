// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_TRANSFORMS_OPERATORPARTS_H
#define MCT_TRANSFORMS_OPERATORPARTS_H

#include "mct/Planning/KernelOp.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace mct {

/// Returns the ops of operators that consist of several ops and have no kernel,
/// except batch norms: the `add 3` of a hard-sigmoid, the factor of an average.
/// A pass that rewrites one of them hides the operator from the targets that
/// support it.
///
/// The result is valid until one of the ops is erased.
llvm::DenseSet<mlir::Operation *> getOperatorParts(mlir::func::FuncOp function,
                                                   const KernelOps &kernelOps);

} // namespace mct

#endif // MCT_TRANSFORMS_OPERATORPARTS_H
