// SPDX-License-Identifier: Apache-2.0
//
// Paths from one layer to the next: the ops between two kernels if a factor can
// be moved from one to the other.
#ifndef MCT_LIB_TRANSFORMS_SCALINGPATH_H
#define MCT_LIB_TRANSFORMS_SCALINGPATH_H

#include "mct/Planning/KernelOp.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "llvm/ADT/StringMap.h"

namespace mct {

/// Ops each of which is the only user of the previous one.
struct ScalingPath {
  /// Ops between the start and the kernel op, in order.
  llvm::SmallVector<mlir::Operation *> ops;
  /// The kernel op that reads the last of them; none if the path ends in
  /// another op.
  std::optional<KernelOp> consumer;
  /// End of a path without a kernel op: the op that cannot be passed, or null
  /// if a value has several users, or none.
  mlir::Operation *obstacle = nullptr;

  /// The ReLUs, bounded or not, on the path.
  llvm::SmallVector<mlir::tosa::ClampOp> getClamps() const;
  /// The activation points on the path.
  llvm::SmallVector<tpc::QuantizeOp> getPoints() const;
};

/// Follows the user of `start` through the ops f with f(a * x) = a * f(x) for
/// all a > 0: those that move values, and average pooling
/// (`DataMovementOpInterface`) unless they fill with another number than zero,
/// activation points, and `tosa.clamp` from 0 on. Of the clamps only those
/// without an upper bound really are; a caller moves the bound of the others.
ScalingPath followScaling(const KernelOps &kernels, mlir::OpOperand &start);
/// The same for a value with one user; an empty path if it has several.
ScalingPath followScaling(const KernelOps &kernels, mlir::Value start);

/// Returns whether the upper bound of a clamp is the largest float: a ReLU.
bool isUnbounded(mlir::tosa::ClampOp clamp);

/// Returns `factors` along `axis` of the value that enters the path as factors
/// along the channel axis of the value that leaves it: the input channels of
/// its kernel op. None if they are no longer along that axis. `visit` is called
/// for every op of the path with the axis and the factors of its result.
std::optional<std::vector<double>>
carryFactors(const ScalingPath &path, mlir::Value start, int64_t axis,
             std::vector<double> factors,
             llvm::function_ref<void(mlir::Operation *op, int64_t axis,
                                     llvm::ArrayRef<double> factors)>
                 visit = nullptr);

/// Returns 1 / factor of each.
std::vector<double> invertFactors(llvm::ArrayRef<double> factors);

/// Multiplies kernel and bias by `factors[output channel]`. Parameters of their
/// points are dropped. Returns false, and does nothing, if the bias is not
/// constant.
bool scaleOutputs(mlir::OpBuilder &builder, const KernelOp &kernelOp,
                  llvm::ArrayRef<double> factors);

/// Multiplies the kernel by `factors[input channel]`. Parameters of its point
/// are dropped.
void scaleInputs(mlir::OpBuilder &builder, const KernelOp &kernelOp,
                 llvm::ArrayRef<double> factors);

/// Drops statistics and parameters of a point whose values have been scaled; a
/// bound of 0 stays.
void forgetValues(tpc::QuantizeOp point);

/// Appends a suffix to the names of the ops from `layer` on, including its own,
/// and to those of the points on the path: their values change.
void renameChanged(const KernelOp &layer,
                   llvm::ArrayRef<mlir::Operation *> path,
                   llvm::StringRef suffix);

/// Names of points whose values a pass has scaled.
class ScaledNames {
public:
  /// Renames an op whose values change (`forgetValues`).
  void rename(mlir::Operation *op);
  /// Renames the points in the groups of all points below `root`.
  void renameInGroups(mlir::Operation *root) const;

private:
  llvm::StringMap<std::string> renamed;
};

} // namespace mct

#endif // MCT_LIB_TRANSFORMS_SCALINGPATH_H
