// SPDX-License-Identifier: Apache-2.0
//
// Table of the supported ops, with the function that writes each.
#ifndef MCT_LIB_EXPORT_ONNXRULES_H
#define MCT_LIB_EXPORT_ONNXRULES_H

#include "OnnxGraph.h"
#include "OnnxOperators.h"

#include <functional>

namespace mct::onnx {

class Rules {
public:
  Rules();

  /// Registers `emit(graph, op, arguments...)` as the function that writes ops
  /// of this kind.
  template <typename Op, typename Function, typename... Arguments>
  void add(Function emit, Arguments... arguments) {
    ops[Op::getOperationName()] = [=](GraphBuilder &graph,
                                      mlir::Operation *op) {
      return emit(graph, mlir::cast<Op>(op), arguments...);
    };
  }

  /// Writes the operator as a whole, and returns whether it did.
  using EmitOperator = mlir::FailureOr<bool> (*)(GraphBuilder &,
                                                 const Operator &);
  void addOperator(llvm::StringRef name, EmitOperator emit) {
    operators[name] = emit;
  }

  mlir::LogicalResult emit(GraphBuilder &graph, mlir::Operation *op) const;
  /// Writes an operator as a whole, or op by op if that is not possible.
  mlir::LogicalResult emit(GraphBuilder &graph, const Operator &matched) const;

private:
  llvm::StringMap<
      std::function<mlir::LogicalResult(GraphBuilder &, mlir::Operation *)>>
      ops;
  llvm::StringMap<EmitOperator> operators;
};

/// Convolutions, products of matrices, pooling.
void addLayerRules(Rules &rules);
/// Ops that compute element by element.
void addElementwiseRules(Rules &rules);
/// Ops that move elements, and reductions.
void addShapeRules(Rules &rules);
/// Operators that are several ops in TOSA.
void addOperatorRules(Rules &rules);

/// Writes `input`, clamped, as the result of `op`.
mlir::LogicalResult emitClamp(GraphBuilder &graph, mlir::Operation *op,
                              mlir::Value input, double low, double high);

} // namespace mct::onnx

#endif // MCT_LIB_EXPORT_ONNXRULES_H
