// SPDX-License-Identifier: Apache-2.0
//
// Points of constants that are added to values on a grid, where integer kernels
// read codes alone.
#ifndef MCT_LIB_CONVERSION_CONSTANTPOINTS_H
#define MCT_LIB_CONVERSION_CONSTANTPOINTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mct {

/// Gives constants of several numbers a point of 8 bits where the sum
/// of one and of a value on one grid is read by points of at most 8
/// bits alone, perhaps behind limits. The parameters have the least squared
/// error among those of the method that the points behind have.
void insertConstantPoints(mlir::func::FuncOp function);

} // namespace mct

#endif // MCT_LIB_CONVERSION_CONSTANTPOINTS_H
