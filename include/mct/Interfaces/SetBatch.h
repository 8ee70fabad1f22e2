// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_INTERFACES_SETBATCH_H
#define MCT_INTERFACES_SETBATCH_H

#include "mct/Interfaces/BatchFollower.h"

namespace mct {

/// Returns the batch size of the arguments: `ShapedType::kDynamic`, or their
/// common leading dimension. Fails, with a diagnostic if `emitErrors`, if there
/// is no such dimension.
mlir::FailureOr<int64_t> getBatch(mlir::func::FuncOp function,
                                  bool emitErrors = true);

/// Follows the batch from dimension 0 of the arguments to every value. Fails,
/// with a diagnostic if `emitErrors`, at the first op through which that is not
/// possible.
mlir::FailureOr<BatchDimensions> followBatch(mlir::func::FuncOp function,
                                             bool emitErrors = true);

/// Rewrites types and `tosa.const_shape` operands to a batch of `newBatch`
/// samples (`ShapedType::kDynamic`: unknown). Nothing is changed on failure.
/// The batch stays in the dimensions that `followBatch` found before;
/// afterwards `followBatch` could fail, because ops that work along the batch's
/// dimension within each sample are followed only in a function of one sample.
mlir::LogicalResult setBatch(mlir::func::FuncOp function, int64_t newBatch);

} // namespace mct

#endif // MCT_INTERFACES_SETBATCH_H
