// SPDX-License-Identifier: Apache-2.0
//
// Values of a function that are stored, and the points that quantize them.
#ifndef MCT_COST_STOREDVALUES_H
#define MCT_COST_STOREDVALUES_H

#include "mct/Planning/KernelOp.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mct {

/// Returns the type of a tensor of floating-point numbers, or null.
mlir::RankedTensorType getFloatTensor(mlir::Value value);

/// Returns the number of elements of a tensor whose sizes along `axes` are
/// rounded up to a multiple of `multiple`; several axes are rounded up
/// together. A dynamic size counts as 1.
int64_t countElements(mlir::RankedTensorType type,
                      llvm::ArrayRef<int64_t> axes = {}, int64_t multiple = 1);

/// Returns the activation point that quantizes a value, or null.
tpc::QuantizeOp getActivationPoint(mlir::Value value);

/// Source of the width of a value: the point that quantizes it or the value it
/// was moved from. If there is no point, `value` is the value that nothing
/// quantizes.
struct WidthSource {
  tpc::QuantizeOp point;
  mlir::Value value;
};
WidthSource findWidthSource(mlir::Value value);

/// The values inside the fused chains of a function, which are not stored.
class FusedChains {
public:
  FusedChains(mlir::func::FuncOp function, const KernelOps &kernels);

  bool isInside(mlir::Value value) const { return values.contains(value); }
  /// Returns the last op of the chain that contains an op, or else the op.
  mlir::Operation *getEnd(mlir::Operation *op) const {
    auto found = ends.find(op);
    return found == ends.end() ? op : found->second;
  }

private:
  void add(tpc::QuantizeOp point, const KernelOps &kernels);

  llvm::DenseSet<mlir::Value> values;
  llvm::DenseMap<mlir::Operation *, mlir::Operation *> ends;
};

} // namespace mct

#endif // MCT_COST_STOREDVALUES_H
