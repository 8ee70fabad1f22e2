// SPDX-License-Identifier: Apache-2.0
//
// Quantization points as ops of `mct_quantizers`.
#ifndef MCT_LIB_EXPORT_ONNXPOINTS_H
#define MCT_LIB_EXPORT_ONNXPOINTS_H

#include "OnnxGraph.h"

namespace mct::onnx {

/// Emits an error at a point that describes the problem, with the remedy as a
/// note.
mlir::LogicalResult refusePoint(tpc::QuantizeOp point, const llvm::Twine &what,
                                const llvm::Twine &remedy);

/// Emits the error that the format does not support the rounding of a point.
mlir::LogicalResult refuseHalfUp(tpc::QuantizeOp point);

/// Returns for each element of a tensor of the file the index of the parameter
/// that a weight point has for it. `elements` has for each the index of that of
/// the constant, which has `constantShape`.
std::vector<int64_t> findParameters(tpc::QuantizeOp point,
                                    llvm::ArrayRef<int64_t> constantShape,
                                    llvm::ArrayRef<int64_t> elements);
/// The axis of a tensor of the file along which the parameters differ, and for
/// each index along it the index of the parameter.
struct FileChannels {
  int64_t axis = 0;
  std::vector<int64_t> order{0};
};
/// Returns the axis along which the parameters of `findParameters` differ, if
/// it is a single one.
std::optional<FileChannels> findChannels(llvm::ArrayRef<int64_t> parameters,
                                         llvm::ArrayRef<int64_t> shape);

/// Writes the point of an activation.
mlir::LogicalResult emitPoint(GraphBuilder &graph, tpc::QuantizeOp point);

/// Adds the quantizer of weights to `tensor` and returns the name of its
/// result. `elements` has for each element of the tensor the index of that of
/// the constant, which has `constantShape`.
mlir::FailureOr<std::string> quantizeWeights(
    GraphBuilder &graph, tpc::QuantizeOp point, const std::string &tensor,
    llvm::ArrayRef<int64_t> constantShape, llvm::ArrayRef<int64_t> shape,
    llvm::ArrayRef<int64_t> elements);

} // namespace mct::onnx

#endif // MCT_LIB_EXPORT_ONNXPOINTS_H
