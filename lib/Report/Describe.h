// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_LIB_REPORT_DESCRIBE_H
#define MCT_LIB_REPORT_DESCRIBE_H

#include "mct/Report/Report.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mct::report {

/// What stands in the IR of a quantized function, without running anything:
/// operators, points, memory and operations. `function` is named
/// (`assignNames`). Where the module has no target, operators say what they
/// compute and nothing about sets and alternatives. Fails with a diagnostic
/// where `QuantizationPlan` does, and where the function has several blocks.
mlir::LogicalResult describe(mlir::func::FuncOp function, Report &report);

} // namespace mct::report

#endif // MCT_LIB_REPORT_DESCRIBE_H
