// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_IR_ERASEUNUSED_H
#define MCT_IR_ERASEUNUSED_H

#include "mlir/IR/Builders.h"

namespace mct {

/// Erases those of `ops` whose results nobody reads and that have no effects,
/// then what only they read, and so on. Null pointers are passed over. Nothing
/// else is touched: who keeps pointers to ops knows which ones to doubt.
/// `listener`, if it is not null and that of a rewriter, is told of each.
void eraseUnused(llvm::ArrayRef<mlir::Operation *> ops,
                 mlir::OpBuilder::Listener *listener = nullptr);

/// Erases an op whose results have no uses; `listener` as above.
void eraseOp(mlir::Operation *op, mlir::OpBuilder::Listener *listener);

} // namespace mct

#endif // MCT_IR_ERASEUNUSED_H
