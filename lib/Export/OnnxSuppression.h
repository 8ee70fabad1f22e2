// SPDX-License-Identifier: Apache-2.0
//
// Non-maximum suppression after the results of a detector.
#ifndef MCT_LIB_EXPORT_ONNXSUPPRESSION_H
#define MCT_LIB_EXPORT_ONNXSUPPRESSION_H

#include "OnnxGraph.h"

namespace mct::onnx {

/// Its inputs: [batch, n, 4] and [batch, n, classes].
struct SuppressedValues {
  mlir::Value boxes, scores;
};

/// Finds boxes and scores: two results, or a concatenation of both, which is
/// then not written. Fails at `end` if there are none.
mlir::FailureOr<SuppressedValues> findSuppressed(GraphBuilder &graph,
                                                 mlir::func::ReturnOp end);
/// Adds the node `MultiClassNMS`, whose results are those of the file.
mlir::LogicalResult emitSuppression(GraphBuilder &graph,
                                    mlir::func::ReturnOp end,
                                    const SuppressedValues &values);

} // namespace mct::onnx

#endif // MCT_LIB_EXPORT_ONNXSUPPRESSION_H
