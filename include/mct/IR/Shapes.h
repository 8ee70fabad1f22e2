// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_IR_SHAPES_H
#define MCT_IR_SHAPES_H

#include "mlir/IR/BuiltinTypeInterfaces.h"
#include "mlir/IR/Operation.h"

namespace mct {

/// Fails, with a diagnostic at the op, for what no verifier of upstream looks
/// at and everything that computes with shapes relies on:
/// * a type with a size below zero: text cannot spell one, but bytecode may
///   hold it;
/// * elements that are fewer than their type has, likewise;
/// * a type with more elements than any memory holds: products of the sizes of
///   one type, in bits, can be computed in 64 bits where there is none;
/// * an op of `tosa`, `linalg` or `tensor` whose shapes contradict each other,
///   as 2 channels that meet a kernel for 3, or what its attributes and
///   constant shapes say, as a window that is put down twice and makes three
///   elements. A size that is not known agrees with all.
mlir::LogicalResult verifyShapes(mlir::Operation *root);

/// Returns whether a type has more elements than any memory holds; sizes that
/// are not known count as 1.
bool exceedsMemory(mlir::ShapedType type);

} // namespace mct

#endif // MCT_IR_SHAPES_H
