// SPDX-License-Identifier: Apache-2.0
//
// Finds the values that are affected by a number which is added to every
// element of a point.
#ifndef MCT_LIB_TRANSFORMS_SHIFTREACH_H
#define MCT_LIB_TRANSFORMS_SHIFTREACH_H

#include "mct/IR/Records.h"
#include "mct/Planning/KernelOp.h"
#include <variant>

namespace mct {

/// All values that a shifted value affects, up to the ops that compensate the
/// shift. A number counts how many times the shift is contained in a value.
struct ShiftReach {
  /// Ops on the way whose results are shifted, in program order.
  llvm::SmallVector<mlir::Operation *> moved;
  llvm::SmallVector<std::pair<tpc::QuantizeOp, int64_t>> points;
  llvm::SmallVector<std::pair<mlir::Operation *, int64_t>> pads;
  llvm::SmallVector<std::pair<KernelOp, int64_t>> kernels;
};

/// Follows the result of `point`; returns the reason if some user does not
/// support a shifted value.
std::variant<ShiftReach, Record> followShift(tpc::QuantizeOp point,
                                             const KernelOps &kernelOps);

} // namespace mct

#endif // MCT_LIB_TRANSFORMS_SHIFTREACH_H
