// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_IR_QUANTIZEDNETWORK_H
#define MCT_IR_QUANTIZEDNETWORK_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mct {

/// Returns the first op that shows that a network is quantized already, or null
/// for a float network: a layer of integers of 16 bits or fewer, a table, a
/// rescaling to such integers, or a conversion of scaled or bounded real
/// numbers to such integers that are converted back and scaled later. Integers
/// at the boundary (images as bytes, results as codes), stored weights,
/// indices, masks and rounding do not count.
///
/// Takes time linear in the number of ops.
mlir::Operation *findQuantizedOp(mlir::func::FuncOp function);

} // namespace mct

#endif // MCT_IR_QUANTIZEDNETWORK_H
