// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_LIB_EXECUTION_PIPELINE_H
#define MCT_LIB_EXECUTION_PIPELINE_H

#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "llvm/ADT/DenseMap.h"

namespace mct::execution {

/// Registers everything that the lowering, and the code that calls it, need in
/// the context.
void registerPipelineDependencies(mlir::DialectRegistry &registry);

/// Name of the op before the lowering by location, for errors.
using OpNames = llvm::DenseMap<mlir::Location, llvm::StringRef>;

/// Replaces a transposed convolution of 16-bit codes by a convolution of the
/// image with zeros between its positions: upstream's decomposition mixes types
/// there. Returns false, and does nothing, for other types.
bool decomposeWideTransposed(mlir::tosa::TransposeConv2DOp op);

/// Replaces `exp`, `tanh` and `erf` of f32, and powers with the exponents 2 and
/// 3, by arithmetic for which loops can be vectorized. The error is below 1.5
/// units in the last place.
void expandFunctions(mlir::ModuleOp module);

/// Lowers the functions of a module from TOSA (and upstream dialects below it)
/// to linalg on tensors. On failure there is one error, at the op that cannot
/// be executed; messages of upstream passes become its notes.
mlir::LogicalResult lowerToLinalg(mlir::ModuleOp module, const OpNames &names);

/// Lowers functions on buffers in the modules inside `module` to loops on
/// buffers, and those to the LLVM dialect. Fails like `lowerToLinalg`.
mlir::LogicalResult lowerToLoops(mlir::ModuleOp module, const OpNames &names);
mlir::LogicalResult lowerToLLVM(mlir::ModuleOp module, const OpNames &names);

} // namespace mct::execution

#endif // MCT_LIB_EXECUTION_PIPELINE_H
