// SPDX-License-Identifier: Apache-2.0
//
// Values that can be multiplied by a power of two together, and the constants
// to change.
#ifndef MCT_LIB_TRANSFORMS_SCALEDREGION_H
#define MCT_LIB_TRANSFORMS_SCALEDREGION_H

#include "mct/Planning/KernelOp.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace mct {

/// Layers of a module, also by their results.
struct Layers {
  const KernelOps &kernels;
  llvm::DenseMap<mlir::Value, KernelOp> byResult;

  Layers(const KernelOps &kernels, mlir::Operation *root);
  /// Returns the layer that reads `use` as its input.
  std::optional<KernelOp> getConsumer(mlir::OpOperand &use) const;
};

/// Returns the operand that holds the constant which `operand` reads, possibly
/// before a weight point; null if that is not a constant of f32, if the point
/// has imported parameters, or if the point has other users.
mlir::OpOperand *findConstant(mlir::OpOperand &operand);

/// Replaces the constant that `operand` holds, and drops the parameters of the
/// point after it.
void replaceConstant(mlir::OpOperand &operand, mlir::RankedTensorType type,
                     llvm::ArrayRef<float> values);

/// Returns whether a power of two scales all of these numbers without rounding.
bool scalesExactly(llvm::ArrayRef<float> values, double factor);

/// The values that take a factor f > 0 when one of them does. Ops with op(f *
/// x, f * y) = f * op(x, y) pass it on, in both directions; where values with
/// the factor are combined with others, constants take it: kernels and biases,
/// and those of multiplications and additions.
class ScaledRegion {
public:
  /// Returns the region around `value`; `end` reads it, and takes the factor by
  /// other means. None if another user cannot take it, which is stored in
  /// `obstacle`.
  static std::optional<ScaledRegion> find(const Layers &layers,
                                          mlir::Value value,
                                          mlir::Operation *end,
                                          mlir::Operation *&obstacle);

  bool contains(mlir::Value value) const { return values.contains(value); }
  /// Returns whether all constants that take the factor do so exactly.
  bool scalesExactly(double factor) const;
  /// Multiplies the values by `factor`. `changed` is called for each op whose
  /// result changes.
  void apply(double factor,
             llvm::function_ref<void(mlir::Operation *)> changed) const;

private:
  /// Adds the constant or the value that an op with the factor reads.
  void addOperand(mlir::OpOperand &operand);
  /// Adds the operands of `value`, or returns false.
  bool addSources(const Layers &layers, mlir::Value value);
  /// Adds the user that owns `use`, or returns false.
  bool addUser(const Layers &layers, mlir::OpOperand &use);
  /// Returns the factor that the constant of a product takes.
  double getFactor(mlir::Operation *product, double factor) const;

  llvm::SetVector<mlir::Value> values;
  /// Layers that produce such values, and those that read them.
  llvm::MapVector<mlir::Operation *, KernelOp> producers, consumers;
  /// Operands that hold constants which take the factor.
  llvm::SetVector<mlir::OpOperand *> constants;
  /// Multiplications with a constant that read or make such values.
  llvm::SetVector<mlir::Operation *> products;
};

/// Returns the operands that have to take a factor if the result of an op does;
/// none for an op that does not propagate it.
std::optional<llvm::SmallVector<mlir::OpOperand *>>
getScaledOperands(mlir::Operation *op);

/// Returns the operand of a multiplication that holds a constant, as
/// `findConstant` finds it, and the other operand; null for another op.
std::pair<mlir::OpOperand *, mlir::OpOperand *>
getProductWithConstant(mlir::Operation *op);

} // namespace mct

#endif // MCT_LIB_TRANSFORMS_SCALEDREGION_H
