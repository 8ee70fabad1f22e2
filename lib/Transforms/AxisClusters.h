// SPDX-License-Identifier: Apache-2.0
//
// Ops that compute the same values whatever the order of their axes is, and
// with additional axes of size 1.
#ifndef MCT_LIB_TRANSFORMS_AXISCLUSTERS_H
#define MCT_LIB_TRANSFORMS_AXISCLUSTERS_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SetVector.h"
#include <vector>

namespace mct {

/// Maps each axis of a tensor to the axis that it was before, or to
/// `kInsertedAxis` if it is a new axis of size 1.
using AxisMap = llvm::SmallVector<int32_t, 4>;
constexpr int32_t kInsertedAxis = -1;

/// Returns the type of a value, or null if it is not a ranked tensor.
mlir::RankedTensorType getRankedType(mlir::Value value);

/// Returns the type with its axes rearranged as `axes` says.
mlir::RankedTensorType rearrange(mlir::RankedTensorType type,
                                 llvm::ArrayRef<int32_t> axes);

/// Rearranges the result of `op`, an op of a cluster whose operands have been
/// rearranged already.
void rearrangeOp(mlir::RewriterBase &rewriter, mlir::Operation *op,
                 llvm::ArrayRef<int32_t> axes);

/// Ops of one block, all of the same rank and connected by values, that compute
/// the same in another order of the axes.
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
  /// Returns the values from outside of the cluster that its ops read as
  /// tensors.
  llvm::SmallVector<mlir::Value> getInputs() const;

private:
  llvm::SetVector<mlir::Operation *> members;
};

/// Returns the clusters of the block, in program order of their first ops.
std::vector<AxisCluster> findAxisClusters(mlir::Block &block);

/// Returns true if the value is the result of a constant op.
bool isConstantOp(mlir::Value value);

/// Replaces `made`, which an op computes from a constant, by a constant and
/// returns it; returns `made` if it cannot be computed. `key` is the prefix of
/// the key of a large constant.
mlir::Value foldConstant(mlir::RewriterBase &rewriter, mlir::Value made,
                         llvm::StringRef key);

/// Lets clusters keep an axis of size 1 that a reshape drops before them and
/// another one inserts after them, which is how importers write convolutions of
/// rows and matrix products. The reshapes disappear, so that the cluster is
/// adjacent to the ops around them. Returns true if anything changed.
bool keepUnitAxes(mlir::RewriterBase &rewriter, mlir::Block &block);

} // namespace mct

#endif // MCT_LIB_TRANSFORMS_AXISCLUSTERS_H
