// SPDX-License-Identifier: Apache-2.0
//
// Evaluates TOSA ops element by element, on constants.
#ifndef MCT_LIB_IR_CONSTANTARITHMETIC_H
#define MCT_LIB_IR_CONSTANTARITHMETIC_H

#include "mct/IR/ConstantTensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"

namespace mct {

bool isBinary(mlir::Operation *op);
bool isUnary(mlir::Operation *op);
bool isComparison(mlir::Operation *op);

/// Each returns the result of an op, of type `type`, for its operands; none if
/// the op is not defined for them, or if they do not broadcast.
std::optional<ConstantTensor> computeBinary(mlir::Operation *op,
                                            mlir::RankedTensorType type,
                                            const ConstantTensor &lhs,
                                            const ConstantTensor &rhs);
std::optional<ConstantTensor> computeComparison(mlir::Operation *op,
                                                mlir::RankedTensorType type,
                                                const ConstantTensor &lhs,
                                                const ConstantTensor &rhs);
std::optional<ConstantTensor> computeUnary(mlir::Operation *op,
                                           mlir::RankedTensorType type,
                                           const ConstantTensor &operand);
std::optional<ConstantTensor> computeClamp(mlir::tosa::ClampOp op,
                                           mlir::RankedTensorType type,
                                           const ConstantTensor &operand);
std::optional<ConstantTensor> computeCast(mlir::RankedTensorType type,
                                          const ConstantTensor &operand);

} // namespace mct

#endif // MCT_LIB_IR_CONSTANTARITHMETIC_H
