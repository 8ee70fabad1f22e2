// SPDX-License-Identifier: Apache-2.0
//
// Points as QuantizeLinear and DequantizeLinear, kernels and biases as
// constants of integers.
#ifndef MCT_LIB_EXPORT_ONNXQDQ_H
#define MCT_LIB_EXPORT_ONNXQDQ_H

#include "OnnxGraph.h"
#include "mct/Quantizers/Grid.h"

namespace mct::onnx {

/// Type of the node that represents a point until `lowerQdqPoints`.
inline constexpr llvm::StringLiteral kPointType = "Point";

/// Storage type of codes.
struct Storage {
  ElementType type = ElementType::UInt8;
  /// Stored = code + offset.
  int64_t offset = 0;

  int64_t lowest() const {
    return isSigned(type) ? -(int64_t(1) << (bitsOf(type) - 1)) : 0;
  }
  int64_t highest() const {
    return lowest() + (int64_t(1) << bitsOf(type)) - 1;
  }
};

/// Returns the storage of the codes of an activation; fails if the operator set
/// has no such integers.
mlir::FailureOr<Storage> findStorage(GraphBuilder &graph, tpc::QuantizeOp point,
                                     const quantization::Grid &grid);

bool isPoint(const Node &node);
/// Returns the grid of a node that is a point.
quantization::Grid getGrid(const Node &point);
bool haveSameGrid(const Node &lhs, const Node &rhs);
/// Returns whether an operator moves or selects values.
bool isMoving(const Node &node);

/// Writes the point of an activation as a temporary node; `lowerQdqPoints`
/// replaces it when the users of its result are known.
mlir::LogicalResult emitQdqPoint(GraphBuilder &graph, tpc::QuantizeOp point);

/// Adds the codes of weights and their dequantization, and returns the name of
/// the real numbers. `elements` has for each element of the tensor the index of
/// that of the constant. Unless `isKernel`, codes of one grid are stored like
/// those of activations, as kernels with two operands require.
mlir::FailureOr<std::string>
writeQdqWeights(GraphBuilder &graph, tpc::QuantizeOp point,
                const Constant &constant, llvm::ArrayRef<int64_t> shape,
                llvm::ArrayRef<int64_t> elements, bool isKernel);

/// A bias as integers of 32 bits: a number is its code times its scale.
struct BiasCodes {
  std::vector<int64_t> codes;
  std::vector<float> scales;
  /// True if the scales are the steps of the layer's accumulator, so that the
  /// layer is computed with integers.
  bool isInteger = true;
};

/// Returns the codes of a layer's bias. None if the layer reads no codes, or
/// has a kernel whose scales no integer layer takes: its bias is float.
///
/// A layer whose kernel is float, or whose bias does not fit in 32 bits, is
/// computed with real numbers. ONNX Runtime would quantize its constants if
/// they were floats; it does not if the bias is dequantized. Each number of
/// such a bias is the scale of its own code, which is exact.
std::optional<BiasCodes> findBiasCodes(const KernelOp &layer,
                                       llvm::ArrayRef<float> bias);
/// Adds the codes of a bias and their dequantization, and returns the name of
/// the real numbers.
std::string writeBiasCodes(GraphBuilder &graph, const KernelOp &layer,
                           const BiasCodes &bias, const llvm::Twine &name);

/// Gives integer kernels only integer operands, before the points are replaced:
///
/// * A number that is added to codes, or multiplied with them, becomes one code
///   with a step of its own.
/// * Constants that are concatenated with codes become codes of the following
///   point.
/// * A point that only limits the result of another point becomes a limit, or
///   nothing if float operators read it.
void quantizeConstants(GraphBuilder &graph);

/// Replaces the nodes of `emitQdqPoint`:
///
/// * A limit (Relu, Clip) whose only users are points becomes a limit of their
///   codes.
/// * An op that moves values of one point (Reshape, MaxPool, Concat, ...) gets
///   a point like that after it, and one before it if only points read its
///   result: it then moves integers.
void lowerQdqPoints(GraphBuilder &graph);

} // namespace mct::onnx

#endif // MCT_LIB_EXPORT_ONNXQDQ_H
