// SPDX-License-Identifier: Apache-2.0
//
// Reshapes and transpositions of some channels of their operands.
#ifndef MCT_TRANSFORMS_MOVEDCHANNELS_H
#define MCT_TRANSFORMS_MOVEDCHANNELS_H

#include "mlir/IR/Builders.h"
#include <optional>

namespace mct {

/// Returns the axis along which the result of a reshape or a transposition has
/// the operand's channels of `axis`, in the same order. None if there is no
/// such axis, and for any other op.
std::optional<int64_t> findMovedAxis(mlir::Operation *op, int64_t axis);

/// Clones such an op for the `size` channels of `input` alone. `axis` is that
/// of the result.
mlir::Value cloneMoving(mlir::OpBuilder &builder, mlir::Operation *op,
                        mlir::Value input, int64_t axis, int64_t size);

} // namespace mct

#endif // MCT_TRANSFORMS_MOVEDCHANNELS_H
