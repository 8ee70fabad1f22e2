// SPDX-License-Identifier: Apache-2.0
//
// Networks in linalg on their way through the integer lowering, whose forms are
// those of TOSA.
#ifndef MCT_LIB_CONVERSION_LINALG_H
#define MCT_LIB_CONVERSION_LINALG_H

#include "mct/Planning/KernelOp.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"

namespace mct {

/// Returns true if the function has ops of linalg that compute something.
bool hasLinalg(mlir::func::FuncOp function);

/// Writes ops of TOSA that compute the same for convolutions, matrix products,
/// element-wise ops, maximum pools, and what moves values. The others stay.
void raiseLinalg(mlir::func::FuncOp function, const KernelOps &kernels);

/// Lowers the ops of TOSA that are left to linalg, tensor, arith and math.
/// Values that have a name in the records of the function keep it.
mlir::LogicalResult lowerToLinalg(
    mlir::func::FuncOp function,
    llvm::function_ref<mlir::LogicalResult(mlir::OpPassManager &)> runPipeline);

/// Registers the dialects that `lowerToLinalg` writes.
void registerLinalgDialects(mlir::DialectRegistry &registry);

} // namespace mct

#endif // MCT_LIB_CONVERSION_LINALG_H
