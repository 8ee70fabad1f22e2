// SPDX-License-Identifier: Apache-2.0
//
// Simulates kernels that round products twice.
#ifndef MCT_CONVERSION_ROUNDTWICE_H
#define MCT_CONVERSION_ROUNDTWICE_H

#include "mct/Conversion/Passes.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mct/Planning/KernelOp.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mct {

/// Makes the points after layers, products and sums of codes, means, average
/// pools, leaky ReLUs and codes of other grids, which round halves up, return
/// the results of kernels that round a product to 31 bits, shift it, and round
/// again, with halves away from zero. A product q * m * 2^-e, m from 0.5 to 1,
/// becomes floor((q * m + s / 2) * 2^-e + 1/2), where s is its sign: half of
/// 2^-e codes is added before the point, or subtracted.
void roundTwice(mlir::func::FuncOp function, const KernelOps &kernels,
                IntegerRounding rounding);

/// Makes the points after means of codes on the same grid return the codes of
/// `rounding`, HalfUp or HalfEven, for means that lie halfway between two
/// codes. f32 represents them exactly only if their step is a power of two.
void roundHalfwayMeans(mlir::func::FuncOp function, IntegerRounding rounding);

/// Does the same as `roundTwice` only after leaky ReLUs, which are tables in
/// integers.
void roundLeakyRelusTwice(mlir::func::FuncOp function);

/// Removes the ops that these functions added.
void roundOnce(mlir::func::FuncOp function);

} // namespace mct

#endif // MCT_CONVERSION_ROUNDTWICE_H
