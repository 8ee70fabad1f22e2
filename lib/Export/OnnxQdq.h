// SPDX-License-Identifier: Apache-2.0
//
// Writes points as QuantizeLinear and DequantizeLinear, and kernels and biases
// as integer constants.
#ifndef MCT_LIB_EXPORT_ONNXQDQ_H
#define MCT_LIB_EXPORT_ONNXQDQ_H

#include "OnnxGraph.h"
#include "mct/Quantizers/Grid.h"

namespace mct::onnx {

/// Type of the node that represents a point until `lowerQdqPoints`.
inline constexpr llvm::StringLiteral kPointType = "Point";

/// The type in which codes are stored, and their offset.
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

/// Returns how the codes of an activation are stored. Fails if the operator set
/// has no such integers.
mlir::FailureOr<Storage> findStorage(GraphBuilder &graph, tpc::QuantizeOp point,
                                     const quantization::Grid &grid);

bool isPoint(const Node &node);
/// Returns the grid of a node that is a point.
quantization::Grid gridOf(const Node &point);
bool haveSameGrid(const Node &lhs, const Node &rhs);
/// Returns whether an operator moves or selects values.
bool isMoving(const Node &node);

/// Writes the point of an activation as one node that is not part of the
/// format; `lowerQdqPoints` replaces it when the users of its result are known.
mlir::LogicalResult emitQdqPoint(GraphBuilder &graph, tpc::QuantizeOp point);

/// Adds the codes of weights and the node that dequantizes them, and returns
/// the name of its result. `elements`: index of the constant's element for each
/// element of the tensor. `isKernel`: if false, codes on one grid are stored
/// like those of activations, as kernels of two operands require.
mlir::FailureOr<std::string>
writeQdqWeights(GraphBuilder &graph, tpc::QuantizeOp point,
                const Constant &constant, llvm::ArrayRef<int64_t> shape,
                llvm::ArrayRef<int64_t> elements, bool isKernel);

/// Same as above for a bias, in steps of the layer's accumulator. Returns none
/// if the layer has no accumulator, or if 32 bits cannot hold the codes; the
/// bias is then float.
std::optional<std::string> writeQdqBias(GraphBuilder &graph,
                                        const KernelOp &layer,
                                        llvm::ArrayRef<float> bias,
                                        const llvm::Twine &name);

/// Gives kernels of integers integers alone, before the points are replaced:
///
/// * A number that is added to codes, or multiplied with them, becomes one code
///   of a step of its own.
/// * Constants that are joined with codes become codes of the point behind.
/// * A point that only limits what another one has made becomes a limit, or
/// nothing, where
///   operators in float read it.
void quantizeConstants(GraphBuilder &graph);

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
