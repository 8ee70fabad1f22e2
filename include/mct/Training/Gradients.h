// SPDX-License-Identifier: Apache-2.0
//
// Reverse-mode differentiation: functions that compute gradients, as TOSA.
#ifndef MCT_TRAINING_GRADIENTS_H
#define MCT_TRAINING_GRADIENTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <string>

namespace mct {

/// Conventions for derivatives that do not exist or are not useful.
struct GradientRules {
  /// A point passes no gradient to values that its quantizer clips.
  bool maskPoints = true;
  /// A clamp also passes gradients exactly at its bounds.
  bool closedClamps = false;
};

/// Builds TOSA ops and infers their types from the operands. All tensors have
/// static shapes. Operands of element-wise ops have the same rank and are
/// repeated along axes of size 1.
class GradientBuilder : public mlir::ImplicitLocOpBuilder {
public:
  GradientBuilder(mlir::Location loc, mlir::Operation *before,
                  const GradientRules &rules)
      : ImplicitLocOpBuilder(loc, before), rules(rules) {}

  const GradientRules &getRules() const { return rules; }

  static mlir::RankedTensorType typeOf(mlir::Value value) {
    return mlir::cast<mlir::RankedTensorType>(value.getType());
  }
  static llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) {
    return typeOf(value).getShape();
  }

  //===--- Constants ------------------------------------------------------===//

  /// Returns a tensor whose elements are all `number`.
  mlir::Value splat(double number, mlir::RankedTensorType type);
  /// Returns a number with the element type and the rank of another value.
  mlir::Value number(double number, mlir::Value like);
  /// Returns real numbers, row-major, in the element type of another value.
  mlir::Value constant(llvm::ArrayRef<double> numbers,
                       llvm::ArrayRef<int64_t> shape, mlir::Value like);
  /// Returns 0, 1, 2, ... as i32 along the last axis of [1, 1, count].
  mlir::Value iota(int64_t count);

  //===--- Element by element ---------------------------------------------===//

  mlir::Value unary(llvm::StringRef op, mlir::Value a);
  mlir::Value binary(llvm::StringRef op, mlir::Value a, mlir::Value b);
  mlir::Value add(mlir::Value a, mlir::Value b) {
    return binary("tosa.add", a, b);
  }
  mlir::Value sub(mlir::Value a, mlir::Value b) {
    return binary("tosa.sub", a, b);
  }
  mlir::Value mul(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, double b) { return mul(a, number(b, a)); }
  mlir::Value negate(mlir::Value a);
  mlir::Value reciprocal(mlir::Value a) { return unary("tosa.reciprocal", a); }
  /// Return truth values.
  mlir::Value greater(mlir::Value a, mlir::Value b);
  mlir::Value greaterEqual(mlir::Value a, mlir::Value b);
  mlir::Value equal(mlir::Value a, mlir::Value b);
  mlir::Value both(mlir::Value a, mlir::Value b) {
    return binary("tosa.logical_and", a, b);
  }
  mlir::Value either(mlir::Value a, mlir::Value b) {
    return binary("tosa.logical_or", a, b);
  }
  mlir::Value isNot(mlir::Value a) { return unary("tosa.logical_not", a); }
  /// Returns `a` where `truth` holds, else `b`.
  mlir::Value select(mlir::Value truth, mlir::Value a, mlir::Value b);
  /// Returns `a` where `truth` holds, else 0.
  mlir::Value where(mlir::Value truth, mlir::Value a) {
    return select(truth, a, number(0, a));
  }
  /// Returns 1 where `truth` holds, else 0, in the element type of `like`.
  mlir::Value indicator(mlir::Value truth, mlir::Value like);
  mlir::Value cast(mlir::Value a, mlir::Type element);

  //===--- Sums and movements ---------------------------------------------===//

  mlir::Value reduce(llvm::StringRef op, mlir::Value a, int64_t axis);
  mlir::Value sum(mlir::Value a, int64_t axis) {
    return reduce("tosa.reduce_sum", a, axis);
  }
  /// Returns the gradient of an operand that was repeated: sums over the axes
  /// along which `shape` has size 1 and the value does not.
  mlir::Value sumTo(mlir::Value a, llvm::ArrayRef<int64_t> shape);
  /// Repeats a value to `shape`, the inverse of `sumTo`.
  mlir::Value repeatTo(mlir::Value a, llvm::ArrayRef<int64_t> shape);
  mlir::Value reshape(mlir::Value a, llvm::ArrayRef<int64_t> shape);
  mlir::Value transpose(mlir::Value a, llvm::ArrayRef<int32_t> permutation);
  mlir::Value reverse(mlir::Value a, int64_t axis);
  mlir::Value slice(mlir::Value a, llvm::ArrayRef<int64_t> start,
                    llvm::ArrayRef<int64_t> size);
  /// Slices a value along one axis.
  mlir::Value sliceAxis(mlir::Value a, int64_t axis, int64_t start,
                        int64_t size);
  /// Pads each axis with `before` and `after` elements of this number.
  mlir::Value pad(mlir::Value a, llvm::ArrayRef<int64_t> before,
                  llvm::ArrayRef<int64_t> after, double number = 0);
  mlir::Value padAxis(mlir::Value a, int64_t axis, int64_t before,
                      int64_t after);
  /// Inserts `stride` - 1 zeros between neighbours along an axis: n elements
  /// become (n - 1) * stride + 1.
  mlir::Value stuff(mlir::Value a, int64_t axis, int64_t stride);

  //===--- Products -------------------------------------------------------===//

  mlir::Value matmul(mlir::Value a, mlir::Value b);
  /// Returns a convolution without a bias: `op` is `tosa.conv2d`, `tosa.conv3d`
  /// or `tosa.depthwise_conv2d`; `accumulator` is the type of its sums.
  mlir::Value convolution(llvm::StringRef op, mlir::Value input,
                          mlir::Value kernel, llvm::ArrayRef<int64_t> pad,
                          llvm::ArrayRef<int64_t> stride,
                          llvm::ArrayRef<int64_t> dilation,
                          mlir::Type accumulator);
  mlir::Value transposeConvolution(mlir::Value input, mlir::Value kernel,
                                   llvm::ArrayRef<int64_t> outPad,
                                   llvm::ArrayRef<int64_t> stride,
                                   mlir::Type accumulator);

  /// Creates an op with one result.
  mlir::Value make(llvm::StringRef op, mlir::Type type,
                   mlir::ValueRange operands,
                   llvm::ArrayRef<mlir::NamedAttribute> attributes = {});

private:
  mlir::Value shapeConstant(llvm::ArrayRef<int64_t> sizes);
  mlir::Value scalar(double number, mlir::Type element);

  const GradientRules &rules;
};

/// Receives the gradients of the operands from a rule; `take` must outlive it.
class OperandGradients {
public:
  using Taker = llvm::function_ref<void(unsigned operand, mlir::Value)>;
  OperandGradients(llvm::ArrayRef<bool> requested, Taker take)
      : requested(requested), take(take) {}

  /// Returns whether the gradient of this operand is needed.
  bool isRequested(unsigned operand) const { return requested[operand]; }
  /// Sets the gradient of an operand; it has the operand's type. A gradient
  /// that is not needed is dropped.
  void set(unsigned operand, mlir::Value gradient) {
    if (requested[operand])
      take(operand, gradient);
  }

private:
  llvm::ArrayRef<bool> requested;
  Taker take;
};

} // namespace mct

#include "mct/Training/DifferentiableOp.h.inc"

namespace mct {

/// Attaches the gradient rules of the ops of TOSA, and of `tpc.quantize`,
/// whenever those dialects are loaded. The pass does so itself.
void registerGradientModels(mlir::DialectRegistry &registry);

/// Base of the passes that use the gradients of ops: a pass registers the
/// models itself, so that it can be run on its own.
template <typename PassBase> class WithGradientModels : public PassBase {
public:
  using PassBase::PassBase;
  void getDependentDialects(mlir::DialectRegistry &registry) const override {
    PassBase::getDependentDialects(registry);
    registerGradientModels(registry);
  }
};

struct GradientRequest {
  /// Values whose gradients are requested: arguments of the function, or
  /// results of its ops; all of real numbers.
  llvm::SmallVector<mlir::Value> inputs;
  /// Numbers of the results that s depends on; all of real numbers.
  llvm::SmallVector<unsigned> results;
  /// Name of the new function, which no other has.
  std::string name;
  /// True if the new function also returns those results, before the gradients.
  bool withResults = false;
  /// Numbers of further results that it returns between the two.
  llvm::SmallVector<unsigned> kept;
  GradientRules rules;
  /// True to emit remarks on ops that have no rule, and on ops that pass no
  /// gradient.
  bool remarks = false;
};

/// Adds a function after `function`. Its arguments are those of `function` and,
/// for each of the results, the gradient of a number s with respect to it; it
/// returns the gradient of s with respect to each input (the vector-Jacobian
/// product). `function` stays unchanged. Fails with a diagnostic at an op
/// between an input and a result that has no rule or whose shape is not static;
/// then there is no new function.
mlir::FailureOr<mlir::func::FuncOp> addGradient(mlir::func::FuncOp function,
                                                const GradientRequest &request);

} // namespace mct

#endif // MCT_TRAINING_GRADIENTS_H
