// SPDX-License-Identifier: Apache-2.0
//
// The table of ops that can be exported, with the functions that write them.
#ifndef MCT_LIB_EXPORT_ONNXRULES_H
#define MCT_LIB_EXPORT_ONNXRULES_H

#include "OnnxGraph.h"
#include "OnnxOperators.h"

#include <functional>

namespace mct::onnx {

class Rules {
public:
  Rules();

  /// Registers `emit(graph, op, arguments...)` for ops of this kind.
  template <typename Op, typename Function, typename... Arguments>
  void add(Function emit, Arguments... arguments) {
    ops[Op::getOperationName()] = [=](GraphBuilder &graph,
                                      mlir::Operation *op) {
      return emit(graph, mlir::cast<Op>(op), arguments...);
    };
  }

  /// Writes an operator as a whole; returns false if it has to be written op by
  /// op.
  using EmitOperator = mlir::FailureOr<bool> (*)(GraphBuilder &,
                                                 const Operator &);
  void addOperator(llvm::StringRef name, EmitOperator emit) {
    operators[name] = emit;
  }

  mlir::LogicalResult emit(GraphBuilder &graph, mlir::Operation *op) const;
  /// Writes an operator as a whole or, if that is not possible, op by op.
  mlir::LogicalResult emit(GraphBuilder &graph, const Operator &matched) const;

private:
  llvm::StringMap<
      std::function<mlir::LogicalResult(GraphBuilder &, mlir::Operation *)>>
      ops;
  llvm::StringMap<EmitOperator> operators;
};

/// Adds convolutions, matrix products and pooling.
void addLayerRules(Rules &rules);
/// Adds element-wise ops.
void addElementwiseRules(Rules &rules);
/// Adds ops that move elements, and reductions.
void addShapeRules(Rules &rules);
/// Adds operators that TOSA expresses by several ops.
void addOperatorRules(Rules &rules);

/// Writes `input`, clamped, as the result of `op`.
mlir::LogicalResult emitClamp(GraphBuilder &graph, mlir::Operation *op,
                              mlir::Value input, double low, double high);

} // namespace mct::onnx

#endif // MCT_LIB_EXPORT_ONNXRULES_H
