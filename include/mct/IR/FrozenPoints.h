// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_IR_FROZENPOINTS_H
#define MCT_IR_FROZENPOINTS_H

#include "mlir/IR/Operation.h"
#include "tpc_dialect/IR/TpcDialect.h"

namespace mct {

/// Fails, with a diagnostic at the point, where one has learned values: its
/// parameters do not say what it computes.
llvm::LogicalResult requireNothingLearned(tpc::QuantizeOp point);

/// Fails, with a diagnostic at the point, where one in `root` has learned
/// values, or is quantized by the program around the compiler: for all that
/// reads what a point does from its parameters.
llvm::LogicalResult requireFrozenPoints(mlir::Operation *root);

} // namespace mct

#endif // MCT_IR_FROZENPOINTS_H
