// SPDX-License-Identifier: Apache-2.0
//
// Paths from one layer to the next: the ops that lie between two kernels when a
// factor can move from one to the other.
#ifndef MCT_LIB_TRANSFORMS_SCALINGPATH_H
#define MCT_LIB_TRANSFORMS_SCALINGPATH_H

#include "mct/Planning/KernelOp.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "llvm/ADT/StringMap.h"

namespace mct {

/// Ops that read each other's result, and that nobody else reads.
struct ScalingPath {
  /// Ops between the start and the consumer, in order.
  llvm::SmallVector<mlir::Operation *> ops;
  /// The kernel op that reads the last of them; none when the path ends in
  /// something else.
  std::optional<KernelOp> consumer;
  /// End of a path without a kernel op: the op that cannot be passed, or null
  /// when a value has several readers, or none.
  mlir::Operation *obstacle = nullptr;

  /// The ReLUs, bounded or not, on the path.
  llvm::SmallVector<mlir::tosa::ClampOp> getClamps() const;
  /// The activation points on the path.
  llvm::SmallVector<tpc::QuantizeOp> getPoints() const;
};

/// Follows the reader of `start` through the ops f with f(a * x) = a * f(x) for
/// all a > 0: those that move values, and average pooling
/// (`DataMovementOpInterface`) unless they fill with another number than zero,
/// activation points, and `tosa.clamp` from 0 on. Of the clamps only those
/// without an upper bound really are; a caller moves the bound of the others.
ScalingPath followScaling(const KernelOps &kernels, mlir::OpOperand &start);
/// The same for a value with one reader; an empty path when it has several.
ScalingPath followScaling(const KernelOps &kernels, mlir::Value start);

/// Returns whether a clamp ends at the largest float: a ReLU.
bool isUnbounded(mlir::tosa::ClampOp clamp);

/// Returns what `factors` along `axis` of the value that enters the path
/// are along the channel axis of what leaves it: its consumer's input channels.
/// None when they do not run along that axis any more. `visit`: called for
/// every op of the path with the axis and the factors of its result.
std::optional<std::vector<double>>
carryFactors(const ScalingPath &path, mlir::Value start, int64_t axis,
             std::vector<double> factors,
             llvm::function_ref<void(mlir::Operation *op, int64_t axis,
                                     llvm::ArrayRef<double> factors)>
                 visit = nullptr);

/// 1 / factor of each.
std::vector<double> invertFactors(llvm::ArrayRef<double> factors);

/// Kernel and bias times `factors[output channel]`. Parameters of their points
/// are dropped. False, with nothing done, when the bias is not constant.
bool scaleOutputs(mlir::OpBuilder &builder, const KernelOp &kernelOp,
                  llvm::ArrayRef<double> factors);

/// Kernel times `factors[input channel]`. Parameters of its point are dropped.
void scaleInputs(mlir::OpBuilder &builder, const KernelOp &kernelOp,
                 llvm::ArrayRef<double> factors);

/// Drops what was measured and chosen for a point whose values have a factor
/// now; a bound of 0 stays.
void forgetValues(tpc::QuantizeOp point);

/// Appends a suffix to the names of the ops from `layer` on, its own included,
/// and to those of the points on the path: their values are no longer what they
/// were.
void renameChanged(const KernelOp &layer,
                   llvm::ArrayRef<mlir::Operation *> path,
                   llvm::StringRef suffix);

/// The names of points whose values a pass has scaled.
class ScaledNames {
public:
  /// Gives an op another name, whose values are others (`forgetValues`).
  void rename(mlir::Operation *op);
  /// Renames the points in the groups of all points below `root`.
  void renameInGroups(mlir::Operation *root) const;

private:
  llvm::StringMap<std::string> renamed;
};

} // namespace mct

#endif // MCT_LIB_TRANSFORMS_SCALINGPATH_H
