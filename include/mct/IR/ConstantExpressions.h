// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_IR_CONSTANTEXPRESSIONS_H
#define MCT_IR_CONSTANTEXPRESSIONS_H

#include "mct/IR/ConstantEvaluator.h"
#include "mlir/IR/PatternMatch.h"

namespace mct {

/// Finds the ops that are computed from constants alone, by ops that a
/// `ConstantEvaluator` handles. Each op is visited once.
///
/// It is a listener: a driver that changes the IR notifies it, and an op is
/// checked again if one of its operands was changed.
class ConstantExpressions : public mlir::RewriterBase::Listener {
public:
  /// Returns whether an op is part of a constant expression. Constants
  /// themselves are not.
  bool contains(mlir::Operation *op);

  /// Returns the evaluator that handles the ops. The caller decides about its
  /// values.
  ConstantEvaluator &getEvaluator() { return evaluator; }

  /// Returns how often an op was visited so far.
  size_t getNumVisited() const { return numVisited; }

  void notifyOperationModified(mlir::Operation *op) override;
  void notifyOperationErased(mlir::Operation *op) override;

private:
  /// Returns whether an op computes from constants alone; none if that is not
  /// known for some operands yet, whose ops are added to `missing`.
  std::optional<bool> judge(mlir::Operation *op,
                            llvm::SmallVectorImpl<mlir::Operation *> &missing);

  ConstantEvaluator evaluator;
  llvm::DenseMap<mlir::Operation *, bool> known;
  size_t numVisited = 0;
};

} // namespace mct

#endif // MCT_IR_CONSTANTEXPRESSIONS_H
