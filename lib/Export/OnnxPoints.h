// SPDX-License-Identifier: Apache-2.0
//
// Writes quantization points as ops of `mct_quantizers`.
#ifndef MCT_LIB_EXPORT_ONNXPOINTS_H
#define MCT_LIB_EXPORT_ONNXPOINTS_H

#include "OnnxGraph.h"

namespace mct::onnx {

/// Emits an error at a point, with the remedy as a note.
mlir::LogicalResult refusePoint(tpc::QuantizeOp point, const llvm::Twine &what,
                                const llvm::Twine &remedy);

/// Emits an error: the point rounds in another way than the format.
mlir::LogicalResult refuseHalfUp(tpc::QuantizeOp point);

/// Returns, for each element of a tensor of the file, the index of its
/// parameter in a weight point. `elements`: index of the constant's element,
/// which has shape `constantShape`, for each element of the tensor.
std::vector<int64_t> findParameters(tpc::QuantizeOp point,
                                    llvm::ArrayRef<int64_t> constantShape,
                                    llvm::ArrayRef<int64_t> elements);
/// The axis of a tensor of the file along which the parameters differ, and the
/// index of the parameter for each index along it.
struct FileChannels {
  int64_t axis = 0;
  std::vector<int64_t> order{0};
};
/// Returns the axis along which the parameters of `findParameters` differ, if
/// there is exactly one.
std::optional<FileChannels> findChannels(llvm::ArrayRef<int64_t> parameters,
                                         llvm::ArrayRef<int64_t> shape);

/// Writes the point of an activation.
mlir::LogicalResult emitPoint(GraphBuilder &graph, tpc::QuantizeOp point);

/// Adds the quantizer of weights to `tensor` and returns the name of its
/// result. `elements`: index of the constant's element, which has shape
/// `constantShape`, for each element of the tensor.
mlir::FailureOr<std::string> quantizeWeights(
    GraphBuilder &graph, tpc::QuantizeOp point, const std::string &tensor,
    llvm::ArrayRef<int64_t> constantShape, llvm::ArrayRef<int64_t> shape,
    llvm::ArrayRef<int64_t> elements);

} // namespace mct::onnx

#endif // MCT_LIB_EXPORT_ONNXPOINTS_H
