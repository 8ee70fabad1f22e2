// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_IR_CONSTANTEVALUATOR_H
#define MCT_IR_CONSTANTEVALUATOR_H

#include "mct/IR/ConstantTensor.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include <functional>

namespace mct {

/// Computes the values of constant expressions, each once, without recursion
/// and without changing the IR.
///
/// It handles constants of every dialect and these ops of TOSA: `identity`,
/// `reshape`, `transpose`, `reverse`, `slice`, `tile`, `pad`, `concat`, `cast`;
/// `add`, `sub`, `mul`, `maximum`, `minimum`, `abs`, `negate`, `clamp`,
/// `select`, comparisons, `logical_and`, `_or`, `_xor`, `_not`; for floats also
/// `pow`, `rsqrt`, `reciprocal`, `exp`, `log`, `ceil`, `floor`, `tanh`,
/// `sigmoid`, `erf`, `sin`, `cos`. Arithmetic is that of the element type, as
/// at run time.
///
/// A splat stays a splat through every op whose result is one. All other
/// results together may have at most 2^24 elements more than the values they
/// are computed from, plus as many as the constants have: an expression whose
/// value is much larger than itself (a `tile`) is left to the run time.
///
/// Results are remembered by `Value`: call `clear` after changes of the IR
/// other than additions. A large result with few users is forgotten when all of
/// them have been computed.
class ConstantEvaluator {
public:
  /// One element per operand of the op, an empty tensor for an operand that is
  /// not a tensor (a `!tosa.shape`).
  using Operands = llvm::ArrayRef<ConstantTensor>;

  /// Adds a handler for an op, or replaces it. `compute` returns none if it
  /// cannot compute the value.
  template <typename Op>
  void
  handle(std::function<std::optional<ConstantTensor>(Op, Operands)> compute) {
    handlers[mlir::TypeID::get<Op>()] =
        [compute = std::move(compute)](mlir::Operation *op, Operands operands) {
          return compute(llvm::cast<Op>(op), operands);
        };
  }

  /// Returns whether the op is one of those above: it may have a value if its
  /// operands are constants.
  bool knows(mlir::Operation *op) const;

  /// Returns the value of an expression; none if it is not a constant
  /// expression.
  std::optional<ConstantTensor> evaluate(mlir::Value value);

  /// Sets the elements of `value` from now on, whatever its producer.
  void provide(mlir::Value value, ConstantTensor tensor) {
    results[value].tensor = std::move(tensor);
  }

  /// Makes `value`, and everything that is computed from it, unknown from now
  /// on.
  void leaveOut(mlir::Value value) { results[value] = Result(); }

  /// Forgets all results and all values that were provided or left out, but not
  /// the handlers.
  void clear() { results.clear(); }

  /// Returns the number of ops computed so far.
  size_t getNumComputed() const { return numComputed; }
  /// Returns the number of uses of values counted so far.
  size_t getNumCounted() const { return numCounted; }

private:
  using Handler =
      std::function<std::optional<ConstantTensor>(mlir::Operation *, Operands)>;
  struct Result {
    std::optional<ConstantTensor> tensor;
    /// Number of operands that have not been computed with yet; 0 if they are
    /// not counted.
    size_t numUnread = 0;
  };

  std::optional<ConstantTensor> compute(mlir::Operation *op, Operands operands);
  /// Returns whether `op` may create `count` elements, and counts them.
  bool admit(int64_t count, Operands operands);
  void remember(mlir::Value value, std::optional<ConstantTensor> tensor);
  void forgetOperands(mlir::Operation *op);

  llvm::DenseMap<mlir::TypeID, Handler> handlers;
  llvm::DenseMap<mlir::Value, Result> results;
  int64_t numSurplus = 0, numGiven = 0;
  size_t numComputed = 0, numCounted = 0;
};

} // namespace mct

#endif // MCT_IR_CONSTANTEVALUATOR_H
