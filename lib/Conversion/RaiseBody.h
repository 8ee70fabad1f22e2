// SPDX-License-Identifier: Apache-2.0
//
// The scalars of a body of linalg as tensors over its loops.
#ifndef MCT_LIB_CONVERSION_RAISEBODY_H
#define MCT_LIB_CONVERSION_RAISEBODY_H

#include "mct/Conversion/TosaBuilder.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/DenseMap.h"

namespace mct {

/// Writes what the body of an op computes as ops of TOSA. The tensor of a
/// scalar has one axis for each loop, of size 1 where the scalar is the same
/// everywhere along it.
class BodyRaiser {
public:
  BodyRaiser(TosaBuilder &builder, mlir::linalg::LinalgOp op);

  /// Raises all ops of the body but the terminator. Fails when an assertion in
  /// it may not hold; `getReason` says which.
  mlir::LogicalResult run();

  /// Returns the tensor of a scalar; null where there is none.
  mlir::Value get(mlir::Value scalar);
  /// Returns the type that a scalar has in TOSA; null: none.
  mlir::Type getElementType(mlir::Value scalar) {
    return TosaBuilder::getElementType(scalar.getType());
  }
  /// Returns the sizes of the loops.
  llvm::ArrayRef<int64_t> getLoops() const { return loops; }
  /// Returns what could not be raised, for a match failure.
  const std::string &getReason() const { return reason; }

private:
  /// The operand as a tensor over the loops; null where its map permits none.
  mlir::Value expand(mlir::OpOperand &operand);
  /// The elements of one axis that a loop reads: with an expression of that
  /// loop, by steps or backwards. Null where they are others.
  mlir::Value takeAlong(mlir::Value value, int64_t axis,
                        mlir::AffineExpr expression, int64_t loop);
  /// A scalar that the body takes from outside; null where it is no element of
  /// a tensor.
  mlir::Value getOutside(mlir::Value scalar);
  mlir::Value raise(mlir::Operation *op);
  mlir::Value raiseFloat(mlir::Operation *op);
  /// Raises an op of the math dialect.
  mlir::Value raiseFunction(mlir::Operation *op,
                            llvm::ArrayRef<mlir::Value> operands);
  mlir::Value raiseInteger(mlir::Operation *op);
  mlir::Value raiseQuotient(mlir::Operation *op);
  mlir::Value raiseRounding(mlir::Value value, bool tiesToEven);
  mlir::Value raiseTruncation(mlir::Value value);
  /// A number as an operand beside `value`.
  mlir::Value createNumber(mlir::Value value, double number);
  /// `prefersNumbers`: what a NaN becomes is the other operand.
  mlir::Value raiseExtremum(mlir::Value a, mlir::Value b, bool isMaximum,
                            bool prefersNumbers);
  mlir::Value raiseComparison(mlir::arith::CmpFPredicate predicate,
                              mlir::Value a, mlir::Value b);
  mlir::Value raiseComparison(mlir::arith::CmpIPredicate predicate,
                              mlir::Value a, mlir::Value b);
  mlir::Value raiseSelection(mlir::arith::SelectOp op);
  mlir::Value select(mlir::Value condition, mlir::Value first,
                     mlir::Value second);
  mlir::Value raiseCast(mlir::Operation *op);
  mlir::Value raiseIndex(mlir::linalg::IndexOp op);
  mlir::Value raiseExtraction(mlir::tensor::ExtractOp op);
  /// Returns true if an assertion holds for every element.
  bool holds(mlir::Value condition);

  TosaBuilder &builder;
  mlir::linalg::LinalgOp op;
  llvm::SmallVector<int64_t> loops;
  llvm::DenseMap<mlir::Value, mlir::Value> tensors;
  std::string reason;
};

} // namespace mct

#endif // MCT_LIB_CONVERSION_RAISEBODY_H
