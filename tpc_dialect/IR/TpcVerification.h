// SPDX-License-Identifier: Apache-2.0
//
// Checks that the verifiers of several attributes share.
#ifndef TPC_DIALECT_IR_TPCVERIFICATION_H
#define TPC_DIALECT_IR_TPCVERIFICATION_H

#include "mlir/IR/Diagnostics.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include <optional>

namespace mct::tpc {
using EmitError = llvm::function_ref<mlir::InFlightDiagnostic()>;

/// Checks that bounds are f32 values, and that there is a value between them.
mlir::LogicalResult verifyBounds(EmitError emitError, const llvm::Twine &what,
                                 std::optional<Real> min,
                                 std::optional<Real> max);

/// Check the parameters of quantizers.
mlir::LogicalResult verifyBits(EmitError emitError, unsigned bits);

/// Checks the learned values of a point, and its operands.
mlir::LogicalResult verifyLearned(QuantizeOp point);
} // namespace mct::tpc

#endif // TPC_DIALECT_IR_TPCVERIFICATION_H
