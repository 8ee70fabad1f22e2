// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_IR_FROZENPOINTS_H
#define MCT_IR_FROZENPOINTS_H

#include "mlir/IR/Operation.h"
#include "tpc_dialect/IR/TpcDialect.h"

namespace mct {

/// Fails, with a diagnostic at the point, if it has learned values: its
/// parameters do not determine its results.
llvm::LogicalResult requireNothingLearned(tpc::QuantizeOp point);

/// Fails, with a diagnostic at the point, if a point in `root` has learned
/// values or is quantized by the calling program. To be called before deriving
/// the behaviour of points from their parameters.
llvm::LogicalResult requireFrozenPoints(mlir::Operation *root);

} // namespace mct

#endif // MCT_IR_FROZENPOINTS_H
