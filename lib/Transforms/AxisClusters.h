// SPDX-License-Identifier: Apache-2.0
//
// Ops that compute the same in any order of their axes, and with additional
// axes of size 1.
#ifndef MCT_LIB_TRANSFORMS_AXISCLUSTERS_H
#define MCT_LIB_TRANSFORMS_AXISCLUSTERS_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SetVector.h"
#include <vector>

namespace mct {

/// Original axis for each axis of a tensor, or `kInsertedAxis` for a new one of
/// size 1.
using AxisMap = llvm::SmallVector<int32_t, 4>;
constexpr int32_t kInsertedAxis = -1;

/// Returns the type of a value, or null if it is not a ranked tensor.
mlir::RankedTensorType getRankedType(mlir::Value value);

/// Returns the type with its axes rearranged by `axes`.
mlir::RankedTensorType rearrange(mlir::RankedTensorType type,
                                 llvm::ArrayRef<int32_t> axes);

/// Rearranges the result of `op`, an op of a cluster whose operands have been
/// rearranged.
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
  /// Returns the values defined outside the cluster that it reads as tensors.
  llvm::SmallVector<mlir::Value> getInputs() const;

private:
  llvm::SetVector<mlir::Operation *> members;
};

/// Returns the clusters of the block in program order of their first ops.
std::vector<AxisCluster> findAxisClusters(mlir::Block &block);

/// Returns whether the value is the result of a constant op.
bool isConstantOp(mlir::Value value);

/// Returns the constant result of an op on a constant, or the op's result if it
/// cannot be computed. `key` is the prefix of the keys of large constants.
mlir::Value foldConstant(mlir::RewriterBase &rewriter, mlir::Value made,
                         llvm::StringRef key);

/// Gives clusters an axis of size 1 that reshapes drop before them and insert
/// after them, as importers write convolutions of rows and products of
/// matrices: the reshapes are removed, and the ops after them become adjacent
/// to the cluster. Returns whether anything changed.
bool keepUnitAxes(mlir::RewriterBase &rewriter, mlir::Block &block);

} // namespace mct

#endif // MCT_LIB_TRANSFORMS_AXISCLUSTERS_H
