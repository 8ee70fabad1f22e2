// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_LIB_REPORT_COSTS_H
#define MCT_LIB_REPORT_COSTS_H

#include "mct/Planning/KernelOp.h"
#include "mct/Report/Report.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mct::report {

/// Adds what operators cost on a device, by a table (empty: nothing is added),
/// and what the results lose for each cycle that an alternative saves. Needs
/// operators and their effects. Fails, with a diagnostic, for a table that
/// cannot be read or lacks a layer.
mlir::LogicalResult addCosts(mlir::func::FuncOp function,
                             const KernelOps &kernels, llvm::StringRef table,
                             Report &report);

} // namespace mct::report

#endif // MCT_LIB_REPORT_COSTS_H
