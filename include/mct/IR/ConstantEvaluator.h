// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_IR_CONSTANTEVALUATOR_H
#define MCT_IR_CONSTANTEVALUATOR_H

#include "mct/IR/ConstantTensor.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include <functional>

namespace mct {

/// Computes the values of expressions of constants, each once, without
/// recursion and without changing the IR.
///
/// It knows constants of every dialect and these ops of TOSA: `identity`,
/// `reshape`, `transpose`, `reverse`, `slice`, `tile`, `pad`, `concat`, `cast`;
/// `add`, `sub`, `mul`, `maximum`, `minimum`, `abs`, `negate`, `clamp`,
/// `select`, comparisons, `logical_and`, `_or`, `_xor`, `_not`; of floats also
/// `pow`, `rsqrt`, `reciprocal`, `exp`, `log`, `ceil`, `floor`, `tanh`,
/// `sigmoid`, `erf`, `sin`, `cos`. Arithmetic is that of the element type, as
/// at run time.
///
/// A splat stays one through every op that keeps it one. All results together
/// have at most 2^24 elements more than what they are computed from, plus as
/// many as the constants have: an expression whose value is much larger than
/// itself (a `tile`) is left to the run time.
///
/// Results are remembered by `Value`: after changes of the IR other than
/// additions, call `clear`. A large one that few ops read is forgotten when all
/// of them have been computed.
class ConstantEvaluator {
public:
  /// One element per operand of the op, an empty tensor where the operand is no
  /// tensor (a `!tosa.shape`).
  using Operands = llvm::ArrayRef<ConstantTensor>;

  /// Adds an op, or replaces how it is computed. `compute` may refuse.
  template <typename Op>
  void
  handle(std::function<std::optional<ConstantTensor>(Op, Operands)> compute) {
    handlers[mlir::TypeID::get<Op>()] =
        [compute = std::move(compute)](mlir::Operation *op, Operands operands) {
          return compute(llvm::cast<Op>(op), operands);
        };
  }

  /// Returns whether the op is one of those above: with constant operands it
  /// may have a value.
  bool knows(mlir::Operation *op) const;

  /// Returns the value of an expression; none when it is no such.
  std::optional<ConstantTensor> evaluate(mlir::Value value);

  /// Sets the elements of `value` from now on, whatever makes it.
  void provide(mlir::Value value, ConstantTensor tensor) {
    results[value].tensor = std::move(tensor);
  }

  /// Makes `value`, and everything that is computed from it, unknown from now
  /// on.
  void leaveOut(mlir::Value value) { results[value] = Result(); }

  /// Forgets all results, and what was provided or left out, but not the
  /// handlers.
  void clear() { results.clear(); }

  /// Returns the number of ops computed so far.
  size_t getNumComputed() const { return numComputed; }
  /// Uses of values counted so far.
  size_t getNumCounted() const { return numCounted; }

private:
  using Handler =
      std::function<std::optional<ConstantTensor>(mlir::Operation *, Operands)>;
  struct Result {
    std::optional<ConstantTensor> tensor;
    /// Operands that nobody has used yet; 0: they are not counted.
    size_t numUnread = 0;
  };

  std::optional<ConstantTensor> compute(mlir::Operation *op, Operands operands);
  /// Returns whether `op` may make `count` elements; counts them.
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
