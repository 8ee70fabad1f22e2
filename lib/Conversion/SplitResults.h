// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_LIB_CONVERSION_SPLITRESULTS_H
#define MCT_LIB_CONVERSION_SPLITRESULTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mct {

/// Splits results that are a concatenation of values on different grids,
/// possibly reshaped and transposed, into one result for each part, in the
/// order of the parts. Results that cannot be split stay.
void splitMixedResults(mlir::func::FuncOp function);

} // namespace mct

#endif // MCT_LIB_CONVERSION_SPLITRESULTS_H
