// SPDX-License-Identifier: Apache-2.0
//
// Reports on the functions of a module, as text or as a JSON document.
#ifndef MCT_LIB_INSPECTION_FUNCTIONREPORTS_H
#define MCT_LIB_INSPECTION_FUNCTIONREPORTS_H

#include "mct/Inspection/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace mct {

/// Writes a report on each function that has a body: the output of `print` as
/// text, or `document` with the objects returned by `describe` as "functions".
/// Writes nothing if one of the callbacks fails, which then emits the
/// diagnostic.
mlir::LogicalResult writeFunctionReports(
    mlir::ModuleOp module, ExplainFormat format, llvm::raw_ostream &stream,
    llvm::function_ref<mlir::FailureOr<llvm::json::Object>(mlir::func::FuncOp)>
        describe,
    llvm::function_ref<mlir::LogicalResult(mlir::func::FuncOp,
                                           llvm::raw_ostream &)>
        print,
    llvm::json::Object document = {});

} // namespace mct

#endif // MCT_LIB_INSPECTION_FUNCTIONREPORTS_H
