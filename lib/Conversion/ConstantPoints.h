// SPDX-License-Identifier: Apache-2.0
//
// Points of constants that are added to quantized values, for integer kernels
// that only read codes.
#ifndef MCT_LIB_CONVERSION_CONSTANTPOINTS_H
#define MCT_LIB_CONVERSION_CONSTANTPOINTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mct {

/// Inserts points of 8 bits for constants of several numbers. A constant gets
/// one if it is added to a value on one grid and all users of the sum, perhaps
/// after clamps, are points of at most 8 bits. Of the parameters that the
/// method of these points allows, selects those with the least squared error.
void insertConstantPoints(mlir::func::FuncOp function);

} // namespace mct

#endif // MCT_LIB_CONVERSION_CONSTANTPOINTS_H
