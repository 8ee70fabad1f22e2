// SPDX-License-Identifier: Apache-2.0
//
// Points as QuantizeLinear and DequantizeLinear, kernels and biases as
// constants of integers.
#ifndef MCT_LIB_EXPORT_ONNXQDQ_H
#define MCT_LIB_EXPORT_ONNXQDQ_H

#include "OnnxGraph.h"
#include "mct/Quantizers/Grid.h"

namespace mct::onnx {

/// Type of the node that stands for a point until `lowerQdqPoints`.
inline constexpr llvm::StringLiteral kPointType = "Point";

/// The type that codes are stored as, and how.
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

/// Returns how the codes of an activation are stored; fails where the operator
/// set has no such integers.
mlir::FailureOr<Storage> findStorage(GraphBuilder &graph, tpc::QuantizeOp point,
                                     const quantization::Grid &grid);

bool isPoint(const Node &node);
/// Returns the grid of a node that is a point.
quantization::Grid gridOf(const Node &point);
bool haveSameGrid(const Node &lhs, const Node &rhs);
/// Returns whether an operator moves or selects values.
bool isMoving(const Node &node);

/// Writes the point of an activation as one node that no file has;
/// `lowerQdqPoints` replaces it when the readers of its result are known.
mlir::LogicalResult emitQdqPoint(GraphBuilder &graph, tpc::QuantizeOp point);

/// Adds the codes of weights and what makes them real numbers, and returns the
/// name of these. `elements`: for each element of the tensor the index of that
/// of the constant. `isKernel`: else codes of one grid are stored as those of
/// activations are, which kernels of two operands want.
mlir::FailureOr<std::string>
writeQdqWeights(GraphBuilder &graph, tpc::QuantizeOp point,
                const Constant &constant, llvm::ArrayRef<int64_t> shape,
                llvm::ArrayRef<int64_t> elements, bool isKernel);

/// Does the same for a bias, in steps of the layer's accumulator. None where
/// the layer has none, or where 32 bits do not hold them: such a bias is float.
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
