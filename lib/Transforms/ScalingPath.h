// SPDX-License-Identifier: Apache-2.0
//
// Paths from one layer to the next: the ops between two kernels through which a
// factor can be moved.
#ifndef MCT_LIB_TRANSFORMS_SCALINGPATH_H
#define MCT_LIB_TRANSFORMS_SCALINGPATH_H

#include "mct/Planning/KernelOp.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "llvm/ADT/StringMap.h"

namespace mct {

/// A chain of ops without other users.
struct ScalingPath {
  /// Ops between the start and the consumer, in order.
  llvm::SmallVector<mlir::Operation *> ops;
  /// The kernel op that uses the result of the last op, or none if the path
  /// ends elsewhere.
  std::optional<KernelOp> consumer;
  /// If there is no consumer, the op that a factor cannot pass, or null
  /// if a value has several users or none.
  mlir::Operation *obstacle = nullptr;

  /// The ReLUs, bounded or not, on the path.
  llvm::SmallVector<mlir::tosa::ClampOp> getClamps() const;
  /// The activation points on the path.
  llvm::SmallVector<tpc::QuantizeOp> getPoints() const;
};

/// Follows the use `start` through ops f with f(a * x) = a * f(x) for all a >
/// 0: activation points, `tosa.clamp` with a lower bound of 0, and ops that
/// move values, including average pooling (`DataMovementOpInterface`), unless
/// they fill with a number other than zero. A clamp with an upper bound has
/// this property only if the caller scales the bound.
ScalingPath followScaling(const KernelOps &kernels, mlir::OpOperand &start);
/// Same as above for a value with one user; returns an empty path if it has
/// several.
ScalingPath followScaling(const KernelOps &kernels, mlir::Value start);

/// Returns whether the upper bound of a clamp is at least the largest float, as
/// in a ReLU.
bool isUnbounded(mlir::tosa::ClampOp clamp);

/// Carries `factors` along `axis` of the value at the start of the path to the
/// input channels of its consumer. Returns none if they do not lie along the
/// input channel axis at the end. `visit` is called for every op of the path
/// with the axis and the factors of its result.
std::optional<std::vector<double>>
carryFactors(const ScalingPath &path, mlir::Value start, int64_t axis,
             std::vector<double> factors,
             llvm::function_ref<void(mlir::Operation *op, int64_t axis,
                                     llvm::ArrayRef<double> factors)>
                 visit = nullptr);

/// Returns 1 / factor for each factor.
std::vector<double> invertFactors(llvm::ArrayRef<double> factors);

/// Multiplies kernel and bias by `factors[output channel]` and drops the
/// parameters of their points. Returns false, without changes, if the bias is
/// not constant.
bool scaleOutputs(mlir::OpBuilder &builder, const KernelOp &kernelOp,
                  llvm::ArrayRef<double> factors);

/// Multiplies the kernel by `factors[input channel]` and drops the parameters
/// of its point.
void scaleInputs(mlir::OpBuilder &builder, const KernelOp &kernelOp,
                 llvm::ArrayRef<double> factors);

/// Drops the statistics and parameters of a point whose values are scaled; a
/// bound of 0 stays.
void forgetValues(tpc::QuantizeOp point);

/// Appends a suffix to the names of the ops from `layer` on, including itself,
/// and of the points on the path, whose values have changed.
void renameChanged(const KernelOp &layer,
                   llvm::ArrayRef<mlir::Operation *> path,
                   llvm::StringRef suffix);

/// Records new names of points whose values a pass has scaled.
class ScaledNames {
public:
  /// Renames an op whose values have changed (`forgetValues`).
  void rename(mlir::Operation *op);
  /// Renames the points in the groups of all points below `root`.
  void renameInGroups(mlir::Operation *root) const;

private:
  llvm::StringMap<std::string> renamed;
};

} // namespace mct

#endif // MCT_LIB_TRANSFORMS_SCALINGPATH_H
