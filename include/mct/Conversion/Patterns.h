// SPDX-License-Identifier: Apache-2.0
//
// Patterns of conversions, for passes of others.
#ifndef MCT_CONVERSION_PATTERNS_H
#define MCT_CONVERSION_PATTERNS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"

namespace mct {

/// Why ops were not raised.
using RaiseFailures = llvm::DenseMap<mlir::Operation *, std::string>;

/// Adds what `mct-raise-linalg` does. The patterns are meant for
/// `walkAndApplyPatterns`: they look at the ops of TOSA that those before were
/// raised to. Ops that become unused stay. `failures`, if not null, receives a
/// reason for each op that no pattern matched, and outlives the patterns; it
/// may also hold ops that were erased since.
void populateRaiseLinalgPatterns(mlir::RewritePatternSet &patterns,
                                 RaiseFailures *failures = nullptr);

/// Returns why ops of linalg in `function` cannot be raised; those that can be
/// are not in the result. `function` stays as it is.
RaiseFailures findRaiseFailures(mlir::func::FuncOp function);

} // namespace mct

#endif // MCT_CONVERSION_PATTERNS_H
