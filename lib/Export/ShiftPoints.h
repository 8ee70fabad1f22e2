// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_LIB_EXPORT_SHIFTPOINTS_H
#define MCT_LIB_EXPORT_SHIFTPOINTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mct {

/// Puts the points of `mct-insert-shift-points` into a function.
void insertShiftPoints(mlir::func::FuncOp function);

} // namespace mct

#endif // MCT_LIB_EXPORT_SHIFTPOINTS_H
