// SPDX-License-Identifier: Apache-2.0
//
// Element-wise evaluation of ops of TOSA on constants.
#ifndef MCT_LIB_IR_CONSTANTARITHMETIC_H
#define MCT_LIB_IR_CONSTANTARITHMETIC_H

#include "mct/IR/ConstantTensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"

namespace mct {

bool isBinary(mlir::Operation *op);
bool isUnary(mlir::Operation *op);
bool isComparison(mlir::Operation *op);

/// Each of these functions computes the result of an op, which has type `type`,
/// from its operands. Returns none if the op is not defined for them or they
/// cannot be broadcast.
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
