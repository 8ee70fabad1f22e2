// SPDX-License-Identifier: Apache-2.0
//
// Points as QuantizeLinear and DequantizeLinear, kernels and biases as
// constants of integers.
#ifndef MCT_LIB_EXPORT_ONNXQDQ_H
#define MCT_LIB_EXPORT_ONNXQDQ_H

#include "OnnxGraph.h"

namespace mct::onnx {

/// Type of the node that stands for a point until `lowerQdqPoints`.
inline constexpr llvm::StringLiteral kPointType = "Point";

/// Writes the point of an activation as one node that no file has;
/// `lowerQdqPoints` replaces it when the readers of its result are known.
mlir::LogicalResult emitQdqPoint(GraphBuilder &graph, tpc::QuantizeOp point);

/// Adds the codes of weights and what makes them real numbers, and returns the
/// name of these. `elements`: for each element of the tensor the index of that
/// of the constant.
mlir::FailureOr<std::string> writeQdqWeights(GraphBuilder &graph,
                                             tpc::QuantizeOp point,
                                             const Constant &constant,
                                             llvm::ArrayRef<int64_t> shape,
                                             llvm::ArrayRef<int64_t> elements);

/// Does the same for a bias, in steps of the layer's accumulator. None where
/// the layer has none, or where 32 bits do not hold them: such a bias is float.
std::optional<std::string> writeQdqBias(GraphBuilder &graph,
                                        const KernelOp &layer,
                                        llvm::ArrayRef<float> bias,
                                        const llvm::Twine &name);

/// Replaces the nodes of `emitQdqPoint`:
///
/// * A limit (Relu, Clip) that points alone read becomes one of their codes.
/// * What moves values of one point (Reshape, MaxPool, Concat, ...) gets a
/// point
///   like that behind it, and one before it where only points read what it
///   moves: it moves integers then.
void lowerQdqPoints(GraphBuilder &graph);

} // namespace mct::onnx

#endif // MCT_LIB_EXPORT_ONNXQDQ_H
