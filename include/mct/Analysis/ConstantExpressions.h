// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_ANALYSIS_CONSTANTEXPRESSIONS_H
#define MCT_ANALYSIS_CONSTANTEXPRESSIONS_H

#include "mct/Analysis/ConstantEvaluator.h"
#include "mlir/IR/PatternMatch.h"

namespace mct {

/// Which ops are computed from constants alone, by ops that a
/// `ConstantEvaluator` knows. Each op is looked at once.
///
/// Whoever changes the IR in the meantime tells it, as a listener: then an op
/// is looked at again when what it reads was changed.
class ConstantExpressions : public mlir::RewriterBase::Listener {
public:
  /// Constants themselves are none.
  bool contains(mlir::Operation *op);

  /// Knows the ops; its values are up to the caller.
  ConstantEvaluator &getEvaluator() { return evaluator; }

  /// Ops that were looked at so far, each as often as that was.
  size_t getNumVisited() const { return numVisited; }

  void notifyOperationModified(mlir::Operation *op) override;
  void notifyOperationErased(mlir::Operation *op) override;

private:
  /// What is known of an op from what is known of its operands; of those of
  /// which nothing is known, the ops in `missing`.
  std::optional<bool> judge(mlir::Operation *op,
                            llvm::SmallVectorImpl<mlir::Operation *> &missing);

  ConstantEvaluator evaluator;
  llvm::DenseMap<mlir::Operation *, bool> known;
  size_t numVisited = 0;
};

} // namespace mct

#endif // MCT_ANALYSIS_CONSTANTEXPRESSIONS_H
