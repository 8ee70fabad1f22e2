// SPDX-License-Identifier: Apache-2.0
//
// Points between a layer and the activation function that is fused with it,
// where integer networks need codes to look up.
#ifndef MCT_LIB_CONVERSION_TABLEPOINTS_H
#define MCT_LIB_CONVERSION_TABLEPOINTS_H

#include "mct/IR/Records.h"
#include "mct/Planning/KernelOp.h"
#include "mct/Quantizers/Grid.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mct {

/// Inserts a point after every value from which a chain of element-wise ops
/// (not only clamps) computes the input of an activation point with parameters
/// of at most 8 bits, unless the value is already quantized.
/// `mct-simulate-integers` describes how its parameters are chosen. Calls
/// `report` for each op with what was done or why not.
void insertTablePoints(
    mlir::func::FuncOp function, const KernelOps &kernels,
    quantization::Rounding rounding,
    llvm::function_ref<void(mlir::Operation *, const Record &)> report);

} // namespace mct

#endif // MCT_LIB_CONVERSION_TABLEPOINTS_H
