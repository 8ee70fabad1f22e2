// SPDX-License-Identifier: Apache-2.0
#include "mct/Analysis/ConstantEvaluator.h"
#include "mct/Analysis/EraseUnused.h"
#include "mct/Analysis/Names.h"
#include "mct/Transforms/Passes.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "llvm/ADT/SetVector.h"

namespace mct {
#define GEN_PASS_DEF_FOLDCONSTANTSPASS
#include "mct/Transforms/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;

namespace {
struct FoldConstantsPass
    : public mct::impl::FoldConstantsPassBase<FoldConstantsPass> {
  void runOnOperation() override {
    ConstantEvaluator evaluator;
    llvm::SetVector<Operation *> folded;
    getOperation().walk([&](Operation *op) {
      if (evaluator.knows(op) && evaluator.evaluate(op->getResult(0)))
        folded.insert(op);
    });
    // Only what somebody else reads becomes a constant: the evaluator may have
    // forgotten the rest.
    for (Operation *op : folded) {
      Value result = op->getResult(0);
      if (llvm::all_of(result.getUsers(),
                       [&](Operation *user) { return folded.contains(user); }))
        continue;
      std::optional<ConstantTensor> tensor = evaluator.evaluate(result);
      StringAttr name = mct::getName(op->getLoc());
      OpBuilder builder(op);
      auto constant = tosa::ConstOp::create(
          builder, op->getLoc(), result.getType(),
          tensor->toAttribute(name ? name.getValue() : "folded"));
      result.replaceUsesWithIf(constant.getResult(), [&](OpOperand &use) {
        return !folded.contains(use.getOwner());
      });
    }
    evaluator.clear();
    eraseUnused(folded.getArrayRef());
  }
};
} // namespace
