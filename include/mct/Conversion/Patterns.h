// SPDX-License-Identifier: Apache-2.0
//
// Patterns of conversions, for passes of others.
#ifndef MCT_CONVERSION_PATTERNS_H
#define MCT_CONVERSION_PATTERNS_H

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

} // namespace mct

#endif // MCT_CONVERSION_PATTERNS_H
