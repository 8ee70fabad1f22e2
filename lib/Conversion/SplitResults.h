// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_LIB_CONVERSION_SPLITRESULTS_H
#define MCT_LIB_CONVERSION_SPLITRESULTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mct {

/// Splits each result that is a concatenation of values on different grids,
/// perhaps after reshapes and transpositions, into one result per part, in the
/// order of the parts. Results that cannot be split are not changed.
void splitMixedResults(mlir::func::FuncOp function);

} // namespace mct

#endif // MCT_LIB_CONVERSION_SPLITRESULTS_H
