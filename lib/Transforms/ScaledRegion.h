// SPDX-License-Identifier: Apache-2.0
//
// Values that can only be multiplied by a power of two together, and the
// constants that scale them.
#ifndef MCT_LIB_TRANSFORMS_SCALEDREGION_H
#define MCT_LIB_TRANSFORMS_SCALEDREGION_H

#include "mct/Planning/KernelOp.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace mct {

/// The layers of a module, also indexed by their results.
struct Layers {
  const KernelOps &kernels;
  llvm::DenseMap<mlir::Value, KernelOp> byResult;

  Layers(const KernelOps &kernels, mlir::Operation *root);
  /// Returns the layer that uses `use` as its input.
  std::optional<KernelOp> getReader(mlir::OpOperand &use) const;
};

/// Returns the operand that holds the constant which `operand` reads directly
/// or through a weight point. Returns null if it is not a constant of f32, the
/// point has imported parameters, or the point has other users.
mlir::OpOperand *findConstant(mlir::OpOperand &operand);

/// Replaces the constant that `operand` holds, and drops the parameters of the
/// point that reads it.
void replaceConstant(mlir::OpOperand &operand, mlir::RankedTensorType type,
                     llvm::ArrayRef<float> values);

/// Returns whether scaling all of these numbers by a power of two rounds none
/// of them.
bool scalesExactly(llvm::ArrayRef<float> values, double factor);

/// The values that have to be multiplied by a factor f > 0 when one of them is.
/// Ops with op(f * x, f * y) = f * op(x, y) propagate the factor in both
/// directions. Where scaled values meet others, constants absorb it: kernels
/// and biases, and constant operands of multiplications and additions.
class ScaledRegion {
public:
  /// Returns the region around `value`. `end` uses it and absorbs the factor by
  /// other means. Returns none, and sets `obstacle`, if another op cannot
  /// absorb it.
  static std::optional<ScaledRegion> find(const Layers &layers,
                                          mlir::Value value,
                                          mlir::Operation *end,
                                          mlir::Operation *&obstacle);

  bool contains(mlir::Value value) const { return values.contains(value); }
  /// Returns whether all constants absorb the factor without rounding.
  bool scalesExactly(double factor) const;
  /// Multiplies the values by `factor`. `changed` is called for each op whose
  /// result changes.
  void apply(double factor,
             llvm::function_ref<void(mlir::Operation *)> changed) const;

private:
  /// Adds a constant or a value that an op with a scaled result uses.
  void addOperand(mlir::OpOperand &operand);
  /// Adds the values from which `value` is computed; returns false if one of
  /// them cannot be scaled.
  bool addSources(const Layers &layers, mlir::Value value);
  /// Adds the user of `use`; returns false if it cannot take the factor.
  bool addReader(const Layers &layers, mlir::OpOperand &use);
  /// Returns the factor that the constant of a product absorbs.
  double getFactor(mlir::Operation *product, double factor) const;

  llvm::SetVector<mlir::Value> values;
  /// Layers that compute such values, and layers that use them.
  llvm::MapVector<mlir::Operation *, KernelOp> makers, readers;
  /// Operands that hold the constants that absorb the factor.
  llvm::SetVector<mlir::OpOperand *> constants;
  /// Multiplications by a constant that use or compute such values.
  llvm::SetVector<mlir::Operation *> products;
};

/// Returns the operands that have to be scaled when the result of an op is, or
/// none if the op does not propagate a factor.
std::optional<llvm::SmallVector<mlir::OpOperand *>>
getScaledOperands(mlir::Operation *op);

/// Returns the operand of a multiplication that holds a constant, as found by
/// `findConstant`, and the other operand; both are null for another op.
std::pair<mlir::OpOperand *, mlir::OpOperand *>
getProductWithConstant(mlir::Operation *op);

} // namespace mct

#endif // MCT_LIB_TRANSFORMS_SCALEDREGION_H
