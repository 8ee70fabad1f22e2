// SPDX-License-Identifier: Apache-2.0
//
// Quantizer points as ops of `mct_quantizers`.
#ifndef MCT_LIB_EXPORT_ONNXPOINTS_H
#define MCT_LIB_EXPORT_ONNXPOINTS_H

#include "OnnxGraph.h"

namespace mct::onnx {

/// Writes the point of an activation.
mlir::LogicalResult emitPoint(GraphBuilder &graph, tpc::QuantizeOp point);

/// Adds the quantizer of weights to `tensor` and returns the name of its
/// result. `elements`: for each element of the tensor the index of that of the
/// constant, which has `constantShape`.
mlir::FailureOr<std::string> quantizeWeights(
    GraphBuilder &graph, tpc::QuantizeOp point, const std::string &tensor,
    llvm::ArrayRef<int64_t> constantShape, llvm::ArrayRef<int64_t> shape,
    llvm::ArrayRef<int64_t> elements);

} // namespace mct::onnx

#endif // MCT_LIB_EXPORT_ONNXPOINTS_H
