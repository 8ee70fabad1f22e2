// SPDX-License-Identifier: Apache-2.0
#include "ApplyPatterns.h"
#include "mct/Analysis/ConstantEvaluator.h"
#include "mct/Analysis/Names.h"
#include "mct/Transforms/Passes.h"
#include "mct/Transforms/Patterns.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "llvm/ADT/SetVector.h"

namespace mct {
#define GEN_PASS_DEF_FOLDCONSTANTSPASS
#include "mct/Transforms/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;

/// Whether an op is computed from constants alone. Each op is looked at once.
static bool isExpression(Operation *op, const ConstantEvaluator &evaluator) {
  llvm::SmallSetVector<Operation *, 8> pending;
  pending.insert(op);
  for (size_t next = 0; next != pending.size(); ++next) {
    Operation *part = pending[next];
    if (part->hasTrait<OpTrait::ConstantLike>())
      continue;
    if (!evaluator.knows(part))
      return false;
    for (Value operand : part->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      if (!producer)
        return false;
      pending.insert(producer);
    }
  }
  return true;
}

namespace {
/// Starts at results that others read: what lies in between never becomes a
/// constant of its own.
struct FoldExpression : public RewritePattern {
  explicit FoldExpression(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (!evaluator->knows(op) || !isExpression(op, *evaluator))
      return rewriter.notifyMatchFailure(op, "is no expression of constants");
    if (llvm::all_of(op->getUsers(), [&](Operation *user) {
          return evaluator->knows(user) && isExpression(user, *evaluator);
        }))
      return rewriter.notifyMatchFailure(op, "is part of a larger expression");
    // Other patterns may have changed what it knows.
    evaluator->clear();
    // What is too large to be computed may have parts that are not.
    bool changed = false;
    SmallVector<Operation *> pending = {op};
    while (!pending.empty()) {
      Operation *part = pending.pop_back_val();
      if (std::optional<ConstantTensor> tensor =
              evaluator->evaluate(part->getResult(0))) {
        replace(part, *tensor, rewriter);
        changed = true;
        continue;
      }
      for (Value operand : part->getOperands())
        if (evaluator->knows(operand.getDefiningOp()))
          pending.push_back(operand.getDefiningOp());
    }
    evaluator->clear();
    return success(changed);
  }

private:
  static void replace(Operation *op, const ConstantTensor &tensor,
                      PatternRewriter &rewriter) {
    StringAttr name = mct::getName(op->getLoc());
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(op);
    auto constant = tosa::ConstOp::create(
        rewriter, op->getLoc(), op->getResult(0).getType(),
        tensor.toAttribute(name ? name.getValue() : "folded"));
    rewriter.replaceAllUsesWith(op->getResult(0), constant.getResult());
  }

  /// The budget of one run is one for all that it evaluates.
  std::unique_ptr<ConstantEvaluator> evaluator =
      std::make_unique<ConstantEvaluator>();
};

struct FoldConstantsPass
    : public mct::impl::FoldConstantsPassBase<FoldConstantsPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateFoldConstantsPatterns(patterns);
    if (failed(applyPatterns(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace

void mct::populateFoldConstantsPatterns(RewritePatternSet &patterns) {
  patterns.add<FoldExpression>(patterns.getContext());
}
