// SPDX-License-Identifier: Apache-2.0
//
// Ops that compute the same whatever the order of their axes is, and with axes
// of size 1 more.
#ifndef MCT_LIB_TRANSFORMS_AXISCLUSTERS_H
#define MCT_LIB_TRANSFORMS_AXISCLUSTERS_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SetVector.h"
#include <vector>

namespace mct {

/// Holds for each axis of a tensor the axis that it was before, or
/// `kInsertedAxis` for one of size 1 that the tensor had not.
using AxisMap = llvm::SmallVector<int32_t, 4>;
constexpr int32_t kInsertedAxis = -1;

/// Returns the type of a value, or null where it is no ranked tensor.
mlir::RankedTensorType getRankedType(mlir::Value value);

/// Returns the type with its axes as `axes` says.
mlir::RankedTensorType rearrange(mlir::RankedTensorType type,
                                 llvm::ArrayRef<int32_t> axes);

/// Lets `op`, whose operands are rearranged already, make a rearranged result.
/// It is an op of a cluster.
void rearrangeOp(mlir::RewriterBase &rewriter, mlir::Operation *op,
                 llvm::ArrayRef<int32_t> axes);

/// Ops of one block that compute the same in another order of the axes, each
/// connected to the others by a value. All of them have the same rank.
class AxisCluster {
public:
  bool contains(mlir::Operation *op) const { return members.contains(op); }
  bool contains(mlir::Value value) const {
    return contains(value.getDefiningOp());
  }
  /// Returns the ops in program order.
  llvm::ArrayRef<mlir::Operation *> ops() const {
    return members.getArrayRef();
  }
  void add(mlir::Operation *op) { members.insert(op); }
  /// Returns the values from outside that the cluster reads as tensors.
  llvm::SmallVector<mlir::Value> getInputs() const;

private:
  llvm::SetVector<mlir::Operation *> members;
};

/// Returns the clusters of the block in program order of their first ops.
std::vector<AxisCluster> findAxisClusters(mlir::Block &block);

/// Returns whether the value is the result of a constant op.
bool isConstantOp(mlir::Value value);

/// Returns a constant in the place of what an op makes of a constant, and that
/// itself where it cannot be computed. `key` begins those of large constants.
mlir::Value foldConstant(mlir::RewriterBase &rewriter, mlir::Value made,
                         llvm::StringRef key);

/// Gives clusters an axis of size 1 that reshapes drop before and insert behind
/// them, as importers write convolutions of rows and products of matrices: the
/// reshapes vanish, and what stands behind them is next to the cluster. Returns
/// whether anything changed.
bool keepUnitAxes(mlir::RewriterBase &rewriter, mlir::Block &block);

} // namespace mct

#endif // MCT_LIB_TRANSFORMS_AXISCLUSTERS_H
