// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_ANALYSIS_SHAPES_H
#define MCT_ANALYSIS_SHAPES_H

#include "mlir/IR/Operation.h"

namespace mct {

/// Fails, with a diagnostic at the op, for what no verifier of upstream looks
/// at and everything that computes with shapes relies on:
/// * a type with a size below zero: text cannot spell one, but bytecode may
///   hold it;
/// * elements that are fewer than their type has, likewise;
/// * an op of `tosa`, `linalg` or `tensor` whose shapes contradict each other,
///   as 2 channels that meet a kernel for 3. A size that is not known agrees
///   with all.
mlir::LogicalResult verifyShapes(mlir::Operation *root);

} // namespace mct

#endif // MCT_ANALYSIS_SHAPES_H
