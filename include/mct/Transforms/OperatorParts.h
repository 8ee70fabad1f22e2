// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_TRANSFORMS_OPERATORPARTS_H
#define MCT_TRANSFORMS_OPERATORPARTS_H

#include "mct/Planning/KernelOp.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace mct {

/// Returns the ops of operators that arrive as several ops and have no kernel,
/// batch norms apart: the `add 3` of a hard-sigmoid, the factor of an average.
/// A pass that rewrites one of them hides the operator from the targets that
/// know it.
///
/// Valid as long as none of them is erased.
llvm::DenseSet<mlir::Operation *> getOperatorParts(mlir::func::FuncOp function,
                                                   const KernelOps &kernelOps);

} // namespace mct

#endif // MCT_TRANSFORMS_OPERATORPARTS_H
