// SPDX-License-Identifier: Apache-2.0
//
// Points of constants that are added to values on a grid, for integer kernels
// that only read codes.
#ifndef MCT_LIB_CONVERSION_CONSTANTPOINTS_H
#define MCT_LIB_CONVERSION_CONSTANTPOINTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mct {

/// Gives constants of several numbers a point of 8 bits if all users of the sum
/// of the constant and a value on one grid are points of at most 8 bits,
/// possibly after limits. The parameters have the least squared error among
/// those of the method of these points.
void insertConstantPoints(mlir::func::FuncOp function);

} // namespace mct

#endif // MCT_LIB_CONVERSION_CONSTANTPOINTS_H
