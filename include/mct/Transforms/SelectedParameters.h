// SPDX-License-Identifier: Apache-2.0
//
// From the target's words to a search, and from a search to the parameters of a
// point.
#ifndef MCT_TRANSFORMS_SELECTEDPARAMETERS_H
#define MCT_TRANSFORMS_SELECTEDPARAMETERS_H

#include "mct/Quantization/Selection.h"
#include "tpc_dialect/IR/TpcDialect.h"

namespace mct {

/// The searchable kind for a method; a diagnostic at the point for one that has
/// no search.
mlir::FailureOr<quantization::QuantizerKind>
getQuantizerKind(tpc::QuantizeOp point, tpc::QuantizationMethod method);

/// A diagnostic at the point unless the searches can handle this width (1 to 16
/// bits).
mlir::LogicalResult checkSelectableBits(tpc::QuantizeOp point, int64_t bits);

/// Parameters of a point, one entry per channel or one for the tensor.
tpc::QuantizerAttrInterface
createParameters(mlir::MLIRContext *context,
                 llvm::ArrayRef<quantization::SelectedParameters> selected,
                 const quantization::SelectionOptions &options);

} // namespace mct

#endif // MCT_TRANSFORMS_SELECTEDPARAMETERS_H
