// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_IR_ERASEUNUSED_H
#define MCT_IR_ERASEUNUSED_H

#include "mlir/IR/Operation.h"

namespace mct {

/// Erases those of `ops` whose results nobody reads and that have no effects,
/// then what only they read, and so on. Null pointers are passed over. Nothing
/// else is touched: who keeps pointers to ops knows which ones to doubt.
void eraseUnused(llvm::ArrayRef<mlir::Operation *> ops);

} // namespace mct

#endif // MCT_IR_ERASEUNUSED_H
