// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_IR_ERASEUNUSED_H
#define MCT_IR_ERASEUNUSED_H

#include "mlir/IR/Builders.h"

namespace mct {

/// Erases those of `ops` that have no effects and whose results have no uses,
/// then the ops that only they used, and so on. Null pointers are ignored. No
/// other op is erased, so that callers know which pointers may dangle.
/// `listener`, if it is not null and is a rewriter's listener, is notified of
/// each.
void eraseUnused(llvm::ArrayRef<mlir::Operation *> ops,
                 mlir::OpBuilder::Listener *listener = nullptr);

/// Erases an op whose results have no uses; `listener` as above.
void eraseOp(mlir::Operation *op, mlir::OpBuilder::Listener *listener);

} // namespace mct

#endif // MCT_IR_ERASEUNUSED_H
