// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_LIB_REPORT_COSTS_H
#define MCT_LIB_REPORT_COSTS_H

#include "mct/Planning/KernelOp.h"
#include "mct/Report/Report.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mct::report {

/// Adds the costs of operators on a device, according to a table (nothing if it
/// is empty), and how much the results lose for each cycle that an alternative
/// saves. Requires the operators and their effects. Fails with a diagnostic if
/// the table cannot be read or lacks a layer.
mlir::LogicalResult addCosts(mlir::func::FuncOp function,
                             const KernelOps &kernels, llvm::StringRef table,
                             Report &report);

} // namespace mct::report

#endif // MCT_LIB_REPORT_COSTS_H
