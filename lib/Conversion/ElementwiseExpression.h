// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_LIB_CONVERSION_ELEMENTWISEEXPRESSION_H
#define MCT_LIB_CONVERSION_ELEMENTWISEEXPRESSION_H

#include "mct/IR/ConstantEvaluator.h"
#include "llvm/ADT/SetVector.h"

namespace mct {

/// An element-wise function of one value and of numbers, given as ops, which
/// one table computes.
struct ElementwiseExpression {
  /// More than the ops of any activation function.
  static constexpr size_t kMaxOps = 64;

  /// Records the numbers that an element-wise op reads, and returns its other
  /// operands. Returns nothing for other ops, and for numbers that differ
  /// between elements.
  std::optional<llvm::SmallVector<mlir::Value>>
  readOperands(mlir::Operation *op, ConstantEvaluator &constants);
  /// Returns true if clamping the codes computes the same.
  bool isClamp() const;
  /// Computes the function in f32, as at run time. Returns nothing if it cannot
  /// be computed at compile time.
  std::optional<std::vector<float>>
  evaluate(llvm::ArrayRef<float> inputs) const;

  mlir::Value result, source;
  llvm::SetVector<mlir::Operation *> ops;
  llvm::DenseMap<mlir::Value, ConstantTensor> numbers;
};

} // namespace mct

#endif // MCT_LIB_CONVERSION_ELEMENTWISEEXPRESSION_H
