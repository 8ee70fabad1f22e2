// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_LIB_EXPORT_SHIFTPOINTS_H
#define MCT_LIB_EXPORT_SHIFTPOINTS_H

#include "mct/Planning/KernelOp.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mct {

/// Width of the points of `mct-insert-shift-points`, in bits; they are signed.
inline constexpr int64_t kShiftPointBits = 16;

/// Inserts the points of `mct-insert-shift-points` into a function. `kernels`:
/// those of its module.
void insertShiftPoints(mlir::func::FuncOp function, const KernelOps &kernels);

} // namespace mct

#endif // MCT_LIB_EXPORT_SHIFTPOINTS_H
