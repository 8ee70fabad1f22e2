// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_ANALYSIS_SHAPES_H
#define MCT_ANALYSIS_SHAPES_H

#include "mlir/IR/Operation.h"

namespace mct {

/// Fails, with a diagnostic at the op, for a type with a size below zero. Text
/// cannot spell one and no verifier looks for it, but bytecode may hold it.
mlir::LogicalResult verifyShapes(mlir::Operation *root);

} // namespace mct

#endif // MCT_ANALYSIS_SHAPES_H
