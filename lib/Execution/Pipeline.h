// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_LIB_EXECUTION_PIPELINE_H
#define MCT_LIB_EXECUTION_PIPELINE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"

namespace mct::execution {

/// Everything the lowering, and the code around it, needs in the context.
void registerPipelineDependencies(mlir::DialectRegistry &registry);

/// Lowers a module of TOSA (and upstream dialects below it), whose entry
/// function takes buffers, to the LLVM dialect. On failure there is one error,
/// at the op that cannot be executed; what upstream passes had to say are notes
/// of it.
mlir::LogicalResult lowerToLLVM(mlir::ModuleOp module);

} // namespace mct::execution

#endif // MCT_LIB_EXECUTION_PIPELINE_H
