// SPDX-License-Identifier: Apache-2.0
//
// Builds TOSA ops that replace an op of another dialect.
#ifndef MCT_CONVERSION_TOSABUILDER_H
#define MCT_CONVERSION_TOSABUILDER_H

#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"

namespace mct {

/// Builds the replacement of one op before it. New ops are erased again unless
/// `replace` was called, so that a failing pattern changes nothing.
///
/// TOSA computes in f32 and i32: values of f64 and i64 are converted to these
/// (`read`), and results are extended to the types of the op.
class TosaBuilder : public mlir::ImplicitLocOpBuilder {
public:
  TosaBuilder(mlir::Operation *op, mlir::PatternRewriter &rewriter);
  ~TosaBuilder();
  TosaBuilder(const TosaBuilder &) = delete;
  TosaBuilder &operator=(const TosaBuilder &) = delete;

  /// Replaces the results of the op, and erases it. A null value stands for a
  /// result without uses. The values have the shapes of the results.
  void replace(llvm::ArrayRef<mlir::Value> values);

  //===--- Values ---------------------------------------------------------===//

  /// Returns the element type that replaces another one: f32 for f64, i32 for
  /// i64 and index; null if TOSA has none.
  static mlir::Type getElementType(mlir::Type type);
  /// Returns a ranked tensor converted to such an element type; null if there
  /// is none.
  mlir::Value read(mlir::Value value);
  /// Returns the source of the value if that is repeated along axes of size 1;
  /// otherwise the value.
  static mlir::Value getRepeated(mlir::Value value);
  /// Returns the number that a scalar, or every element of a tensor, is equal
  /// to.
  static std::optional<double> getNumber(mlir::Value value);

  //===--- Constants ------------------------------------------------------===//

  mlir::Value createShape(llvm::ArrayRef<int64_t> sizes);
  /// Creates a constant with all elements equal to `number`.
  mlir::Value createSplat(llvm::ArrayRef<int64_t> shape, mlir::Type type,
                          double number);
  mlir::Value createVector(llvm::ArrayRef<int64_t> values);

  //===--- Ops ------------------------------------------------------------===//

  mlir::Value reshape(mlir::Value value, llvm::ArrayRef<int64_t> shape);
  /// Moves axis `order[i]` to position i.
  mlir::Value transpose(mlir::Value value, llvm::ArrayRef<int64_t> order);
  /// Transposes and reshapes, without a transposition if only axes of size 1
  /// change places. `shape` has the same other sizes.
  mlir::Value rearrange(mlir::Value value, llvm::ArrayRef<int64_t> order,
                        llvm::ArrayRef<int64_t> shape);
  /// Repeats axes of size 1 until the value has this shape. Returns null if
  /// that is not possible.
  mlir::Value broadcast(mlir::Value value, llvm::ArrayRef<int64_t> shape);
  /// Returns `sizes` elements of every axis from `offsets` on.
  mlir::Value slice(mlir::Value value, llvm::ArrayRef<int64_t> offsets,
                    llvm::ArrayRef<int64_t> sizes);
  /// Takes every `strides[i]`th of these elements; returns null for positions
  /// out of range.
  mlir::Value slice(mlir::Value value, llvm::ArrayRef<int64_t> offsets,
                    llvm::ArrayRef<int64_t> sizes,
                    llvm::ArrayRef<int64_t> strides);
  /// Pads each axis with `low` elements before and `high` elements after it.
  mlir::Value pad(mlir::Value value, llvm::ArrayRef<int64_t> low,
                  llvm::ArrayRef<int64_t> high, double number);
  mlir::Value cast(mlir::Value value, mlir::Type elementType);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value multiply(mlir::Value a, mlir::Value b);
  /// Applies an op with two operands of broadcastable shapes; returns null if
  /// they are not broadcastable. `elementType` is that of the result; null for
  /// that of the operands.
  template <typename Op, typename... Rest>
  mlir::Value binary(mlir::Value a, mlir::Value b, mlir::Type elementType,
                     Rest &&...rest) {
    mlir::RankedTensorType type = getBroadcastType(a, b, elementType);
    return type ? mlir::Value(Op::create(*this, type, a, b, rest...)) : nullptr;
  }
  /// Returns the type of the result; null if the shapes are not broadcastable.
  static mlir::RankedTensorType
  getBroadcastType(mlir::Value a, mlir::Value b,
                   mlir::Type elementType = nullptr);

private:
  mlir::PatternRewriter &rewriter;
  mlir::Operation *op;
  /// The op before the first one that was built; null if there is none.
  mlir::Operation *before;
};

/// Returns the type of a ranked tensor.
inline mlir::RankedTensorType getTensorType(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType());
}

} // namespace mct

#endif // MCT_CONVERSION_TOSABUILDER_H
