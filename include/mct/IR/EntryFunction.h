// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_IR_ENTRYFUNCTION_H
#define MCT_IR_ENTRYFUNCTION_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace mct {

/// The function that is run, calibrated and corrected: the one of that name, or
/// for an empty name `main`, or else the only public function. It has a body.
/// A diagnostic lists the candidates when there is no such function, or are
/// several.
mlir::FailureOr<mlir::func::FuncOp> findEntryFunction(mlir::ModuleOp module,
                                                      llvm::StringRef name);

} // namespace mct

#endif // MCT_IR_ENTRYFUNCTION_H
