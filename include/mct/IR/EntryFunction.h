// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_IR_ENTRYFUNCTION_H
#define MCT_IR_ENTRYFUNCTION_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace mct {

/// Returns the function that is run, calibrated and corrected: the function
/// `name`, or, if it is empty, `main` or else the only public function. The
/// result has a body. If there is no such function, or several, a diagnostic
/// lists the candidates.
mlir::FailureOr<mlir::func::FuncOp> findEntryFunction(mlir::ModuleOp module,
                                                      llvm::StringRef name);

/// Runs a pass on the function that its option `function` names.
template <typename PassBase> struct EntryFunctionPass : PassBase {
  using PassBase::PassBase;

  void runOnOperation() final {
    mlir::FailureOr<mlir::func::FuncOp> entry =
        findEntryFunction(this->getOperation(), this->function);
    if (failed(entry) || failed(runOn(*entry)))
      this->signalPassFailure();
  }

protected:
  virtual mlir::LogicalResult runOn(mlir::func::FuncOp entry) = 0;
};

} // namespace mct

#endif // MCT_IR_ENTRYFUNCTION_H
