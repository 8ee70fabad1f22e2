// SPDX-License-Identifier: Apache-2.0
#include "ApplyPatterns.h"
#include "mct/IR/ConstantExpressions.h"
#include "mct/IR/Names.h"
#include "mct/Transforms/Passes.h"
#include "mct/Transforms/Patterns.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace mct {
#define GEN_PASS_DEF_FOLDCONSTANTSPASS
#include "mct/Transforms/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;

namespace {
/// Starts at results that others read: what lies in between never becomes a
/// constant of its own.
struct FoldExpression : public RewritePattern {
  FoldExpression(MLIRContext *context, ConstantExpressions &expressions)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context),
        expressions(expressions) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (!expressions.contains(op))
      return rewriter.notifyMatchFailure(op,
                                         "is not an expression of constants");
    if (llvm::all_of(op->getUsers(), [&](Operation *user) {
          return expressions.contains(user);
        }))
      return rewriter.notifyMatchFailure(op, "is part of a larger expression");
    // Other patterns may have changed what it knows.
    ConstantEvaluator &evaluator = expressions.getEvaluator();
    evaluator.clear();
    // An expression that is too large to be computed may have parts that are
    // not.
    bool changed = false;
    SmallVector<Operation *> pending = {op};
    llvm::SmallPtrSet<Operation *, 8> seen;
    while (!pending.empty()) {
      Operation *part = pending.pop_back_val();
      if (!seen.insert(part).second)
        continue;
      if (std::optional<ConstantTensor> tensor =
              evaluator.evaluate(part->getResult(0))) {
        replace(part, *tensor, rewriter);
        changed = true;
        continue;
      }
      for (Value operand : part->getOperands())
        if (evaluator.knows(operand.getDefiningOp()))
          pending.push_back(operand.getDefiningOp());
    }
    evaluator.clear();
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

  ConstantExpressions &expressions;
};

struct FoldConstantsPass
    : public mct::impl::FoldConstantsPassBase<FoldConstantsPass> {
  void runOnOperation() override {
    ConstantExpressions expressions;
    RewritePatternSet patterns(&getContext());
    populateFoldConstantsPatterns(patterns, expressions);
    if (failed(
            applyPatterns(getOperation(), std::move(patterns), &expressions)))
      signalPassFailure();
  }
};
} // namespace

void mct::populateFoldConstantsPatterns(RewritePatternSet &patterns,
                                        ConstantExpressions &expressions) {
  patterns.add<FoldExpression>(patterns.getContext(), expressions);
}
