// SPDX-License-Identifier: Apache-2.0
//
// Patterns of conversions, for use in other passes.
#ifndef MCT_CONVERSION_PATTERNS_H
#define MCT_CONVERSION_PATTERNS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"

namespace mct {

/// Reasons why ops were not raised.
using RaiseFailures = llvm::DenseMap<mlir::Operation *, std::string>;

/// Adds the patterns of `mct-raise-linalg`. They are meant for
/// `walkAndApplyPatterns`: they match the TOSA ops to which earlier ops were
/// raised. Ops that become unused stay. `failures`, if not null, receives a
/// reason for each op that no pattern matched, and must outlive the patterns;
/// it may also hold ops that have been erased since.
void populateRaiseLinalgPatterns(mlir::RewritePatternSet &patterns,
                                 RaiseFailures *failures = nullptr);

/// Returns the reasons why ops of linalg in `function` cannot be raised; those
/// that can be raised have none. `function` stays unchanged.
RaiseFailures findRaiseFailures(mlir::func::FuncOp function);

} // namespace mct

#endif // MCT_CONVERSION_PATTERNS_H
