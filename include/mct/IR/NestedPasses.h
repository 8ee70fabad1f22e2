// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_IR_NESTEDPASSES_H
#define MCT_IR_NESTEDPASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"

namespace mct {

/// Runs the pipelines of an option of a pass on a module that is not the one of
/// the pass.
llvm::LogicalResult runPasses(llvm::ArrayRef<mlir::OpPassManager> pipelines,
                              mlir::ModuleOp module);

/// Runs the pipelines without remarks and warnings, which the passes around the
/// calling one emit as well.
llvm::LogicalResult runQuietly(llvm::ArrayRef<mlir::OpPassManager> pipelines,
                               mlir::ModuleOp module);

} // namespace mct

#endif // MCT_IR_NESTEDPASSES_H
