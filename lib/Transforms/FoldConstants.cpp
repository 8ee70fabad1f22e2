// SPDX-License-Identifier: Apache-2.0
#include "ApplyPatterns.h"
#include "mct/IR/ConstantExpressions.h"
#include "mct/IR/Constants.h"
#include "mct/IR/Names.h"
#include "mct/Transforms/Passes.h"
#include "mct/Transforms/Patterns.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SmallPtrSet.h"
#include <cmath>

namespace mct {
#define GEN_PASS_DEF_FOLDCONSTANTSPASS
#include "mct/Transforms/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;

namespace {
/// Folds expressions from their results that have other users, so that no value
/// inside of an expression becomes a constant.
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
    // Other patterns may have changed values that it has cached.
    ConstantEvaluator &evaluator = expressions.getEvaluator();
    evaluator.clear();
    // If an expression is too large to be computed, parts of it may not be.
    bool changed = false;
    SmallVector<Operation *> pending = {op};
    llvm::SmallPtrSet<Operation *, 8> visited;
    while (!pending.empty()) {
      Operation *part = pending.pop_back_val();
      if (!visited.insert(part).second)
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

/// Folds a product of two constants one of which is all zeros, such as the
/// initial state of a recurrent layer times its kernel.
struct FoldProductOfZeros : public OpRewritePattern<tosa::MatMulOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tosa::MatMulOp op,
                                PatternRewriter &rewriter) const override {
    auto type = dyn_cast<RankedTensorType>(op.getType());
    if (!type || !type.hasStaticShape() || !type.getElementType().isF32())
      return rewriter.notifyMatchFailure(op, "is not a product of known size");
    if (!isZero(op.getAZp()) || !isZero(op.getBZp()) ||
        !((isZero(op.getA()) && isFinite(op.getB())) ||
          (isZero(op.getB()) && isFinite(op.getA()))))
      return rewriter.notifyMatchFailure(op, "is not known to be zero");
    rewriter.replaceOpWithNewOp<tosa::ConstOp>(
        op, type, DenseElementsAttr::get(type, 0.0F));
    return success();
  }

private:
  static bool isZero(Value value) {
    DenseElementsAttr elements;
    return matchPattern(value, m_Constant(&elements)) && elements.isSplat() &&
           elements.getElementType().isF32() &&
           elements.getSplatValue<APFloat>().isZero();
  }
  static bool isFinite(Value value) {
    std::optional<ConstantFloats> constant = ConstantFloats::get(value);
    return constant && llvm::all_of(constant->values(), [](float element) {
             return std::isfinite(element);
           });
  }
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
  patterns.add<FoldProductOfZeros>(patterns.getContext());
}
