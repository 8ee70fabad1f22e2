// SPDX-License-Identifier: Apache-2.0
//
// Points of a network that is already quantized, kept aside while the points of
// a target are inserted.
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
  /// Erases the points that were not put back.
  ~KeptPoints();

  /// Gives the points that the function has now the parameters of the former
  /// points at the same places, and inserts the former points where there are
  /// none now. Emits a warning for each point whose parameters the target
  /// cannot hold, and a remark for each point at a place where the target has
  /// none.
  void putBack();

private:
  struct Taken {
    tpc::QuantizeOp point; // in no block
    /// Its uses, except for those by other removed points.
    llvm::SmallVector<mlir::OpOperand *> readers;
  };

  void putBackActivation(Taken &taken);
  void putBackWeight(Taken &taken, mlir::OpOperand *reader);
  void insert(Taken &taken, mlir::Value input);
  tpc::QuantizerAttrInterface chooseAlternative(tpc::QuantizeOp planned,
                                                tpc::QuantizeOp imported);
  bool give(tpc::QuantizeOp planned, tpc::QuantizeOp imported);
  tpc::QuantizeOp findPlanned(mlir::Value value) const;
  void makeNamesUnique();

  mlir::func::FuncOp function;
  llvm::SmallVector<Taken> all;
  /// Values that replace the results of the removed points.
  llvm::DenseMap<mlir::Value, mlir::Value> replacements;
  /// Points of the target that have been matched with a removed point.
  llvm::SmallPtrSet<mlir::Operation *, 16> claimed;
  llvm::SmallVector<tpc::QuantizeOp> inserted;
};

} // namespace mct

#endif // MCT_LIB_TRANSFORMS_KEPTPOINTS_H
