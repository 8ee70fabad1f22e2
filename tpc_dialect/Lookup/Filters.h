// SPDX-License-Identifier: Apache-2.0
//
// Filters of a binding: comparisons of an op's attributes, and of numbers
// derived from its types.
#ifndef TPC_DIALECT_LOOKUP_FILTERS_H
#define TPC_DIALECT_LOOKUP_FILTERS_H

#include "mlir/IR/Operation.h"
#include "tpc_dialect/IR/TpcDialect.h"

namespace mct::tpc {

/// Returns whether the op satisfies the filter.
bool matches(PredicateAttr filter, mlir::Operation *op);

/// Returns the names that a filter may use besides the op's attributes. All
/// start with `$`.
llvm::ArrayRef<llvm::StringRef> listDerivedNames();

} // namespace mct::tpc

#endif // TPC_DIALECT_LOOKUP_FILTERS_H
