// SPDX-License-Identifier: Apache-2.0
//
// Keeps the parameters of a network that is quantized already, while a target
// determines the positions of its points.
#ifndef MCT_LIB_TRANSFORMS_KEPTPOINTS_H
#define MCT_LIB_TRANSFORMS_KEPTPOINTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"

namespace mct {

class KeptPoints {
public:
  /// Removes all points with imported parameters from the function.
  explicit KeptPoints(mlir::func::FuncOp function);
  KeptPoints(const KeptPoints &) = delete;
  KeptPoints &operator=(const KeptPoints &) = delete;
  /// Discards those that were not restored.
  ~KeptPoints();

  /// Gives the present points of the function the parameters of the removed
  /// points at the same positions. Restores removed points where there is no
  /// present one. Emits a warning for each point whose parameters the target
  /// does not support, and a remark for each at a position where the target has
  /// none.
  void putBack();

private:
  struct Taken {
    tpc::QuantizeOp point; // in no block
    /// Its uses, except other removed points.
    llvm::SmallVector<mlir::OpOperand *> uses;
  };

  void putBackActivation(Taken &taken);
  void putBackWeight(Taken &taken);
  void insert(Taken &taken, mlir::Value input);
  void dropPointBeforeRelu(tpc::QuantizeOp planned);
  tpc::QuantizerAttrInterface chooseAlternative(tpc::QuantizeOp planned,
                                                tpc::QuantizeOp imported);
  bool give(tpc::QuantizeOp planned, tpc::QuantizeOp imported);
  tpc::QuantizeOp findPlanned(mlir::Value value) const;
  void makeNamesUnique();

  mlir::func::FuncOp function;
  llvm::SmallVector<Taken> all;
  /// Values that replaced the results of points.
  llvm::DenseMap<mlir::Value, mlir::Value> replacements;
  /// Points of the target at the positions of removed ones.
  llvm::SmallPtrSet<mlir::Operation *, 16> claimed;
  llvm::SmallVector<tpc::QuantizeOp> inserted;
};

} // namespace mct

#endif // MCT_LIB_TRANSFORMS_KEPTPOINTS_H
