// SPDX-License-Identifier: Apache-2.0
//
// Represents the scalars in a body of linalg as tensors over its loops.
#ifndef MCT_LIB_CONVERSION_RAISEBODY_H
#define MCT_LIB_CONVERSION_RAISEBODY_H

#include "mct/Conversion/TosaBuilder.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/DenseMap.h"

namespace mct {

/// Raises the computation of an op's body to ops of TOSA. The tensor of a
/// scalar has one axis per loop, of size 1 if the scalar does not vary along
/// it.
class BodyRaiser {
public:
  BodyRaiser(TosaBuilder &builder, mlir::linalg::LinalgOp op);

  /// Raises all ops of the body except for the terminator. Fails if an
  /// assertion in it may not hold; `getReason` says which one.
  mlir::LogicalResult run();

  /// Returns the tensor of a scalar, or null if it has none.
  mlir::Value get(mlir::Value scalar);
  /// Returns the TOSA type of a scalar, or null if there is none.
  mlir::Type getElementType(mlir::Value scalar) {
    return TosaBuilder::getElementType(scalar.getType());
  }
  /// Returns the sizes of the loops.
  llvm::ArrayRef<int64_t> getLoops() const { return loops; }
  /// Returns what could not be raised, for a match failure.
  const std::string &getReason() const { return reason; }

private:
  /// Returns the operand as a tensor over the loops, or null if its map does
  /// not allow that.
  mlir::Value expand(mlir::OpOperand &operand);
  /// Returns the elements of one axis that a loop reads by an expression of
  /// that loop: in steps or backwards. Returns null for other expressions.
  mlir::Value takeAlong(mlir::Value value, int64_t axis,
                        mlir::AffineExpr expression, int64_t loop);
  /// Returns the tensor of a scalar from outside of the body, or null if the
  /// scalar is not an element of a tensor.
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
  /// Returns a number as an operand that can be combined with `value`.
  mlir::Value createNumber(mlir::Value value, double number);
  /// `prefersNumbers`: if one operand is a NaN, the result is the other one.
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
