// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_IR_SHAPES_H
#define MCT_IR_SHAPES_H

#include "mlir/IR/BuiltinTypeInterfaces.h"
#include "mlir/IR/Operation.h"

namespace mct {

/// Fails, with a diagnostic at the op, for properties that no upstream verifier
/// checks and that all computations with shapes rely on:
/// * a type with a size below zero: the text format has none, but bytecode may
///   hold it;
/// * fewer elements than the type has, likewise;
/// * a type with more elements than any memory holds: without such types,
///   products of the sizes of one type, in bits, can be computed in 64 bits;
/// * an op of `tosa`, `linalg` or `tensor` whose shapes contradict each other,
///   as 2 channels with a kernel for 3, or contradict its attributes and
///   constant shapes, as a window that is applied twice and has three results.
///   A dynamic size agrees with all.
mlir::LogicalResult verifyShapes(mlir::Operation *root);

/// Returns whether a type has more elements than any memory holds; dynamic
/// sizes count as 1.
bool exceedsMemory(mlir::ShapedType type);

/// Returns whether a value is a ranked tensor of f32.
bool isF32Tensor(mlir::Value value);

} // namespace mct

#endif // MCT_IR_SHAPES_H
