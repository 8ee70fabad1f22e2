// SPDX-License-Identifier: Apache-2.0
//
// mlir-reduce with the tpc dialect, and with patterns that make networks of
// tosa smaller. MLIR's search applies patterns to all ops at once and stops if
// that is not interesting, so these patterns run the tester themselves.
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Reducer/ReductionPatternInterface.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/Support/LogicalResult.h"

#include <cstdlib>

using namespace mlir;

namespace {

/// Returns whether an op is part of a network and its results are used.
bool isNetworkOp(Operation *op) {
  return isa_and_present<tosa::TosaDialect, mct::tpc::TpcDialect>(
             op->getDialect()) &&
         op->getNumResults() == 1 && op->getNumRegions() == 0 &&
         !op->use_empty() && !matchPattern(op, m_Constant());
}

/// A change of one op that is made if the module stays interesting.
class TestedPattern : public RewritePattern {
public:
  TestedPattern(MLIRContext *context, unsigned benefit, const Tester &tester)
      : RewritePattern(MatchAnyOpTypeTag(), benefit, context), tester(tester) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    auto module = op->getParentOfType<ModuleOp>();
    if (!module || !isNetworkOp(op))
      return failure();
    IRMapping mapping;
    OwningOpRef<ModuleOp> copy = cast<ModuleOp>(module->clone(mapping));
    Operation *copied = mapping.lookup(op);
    IRRewriter copyRewriter(copied);
    Value instead = replacement(copied, copyRewriter);
    if (!instead)
      return failure();
    copyRewriter.replaceOp(copied, instead);
    if (tester.isInteresting(*copy).first != Tester::Interestingness::True)
      return failure();
    rewriter.replaceOp(op, replacement(op, rewriter));
    return success();
  }

protected:
  /// Returns the value that replaces the result, or null if there is none.
  virtual Value replacement(Operation *op, RewriterBase &rewriter) const = 0;

private:
  const Tester &tester;
};

/// Removes an op: users read an operand of the same type instead.
class ForwardOperand : public TestedPattern {
public:
  ForwardOperand(MLIRContext *context, const Tester &tester)
      : TestedPattern(context, /*benefit=*/2, tester) {}

protected:
  Value replacement(Operation *op, RewriterBase &) const override {
    for (Value operand : op->getOperands())
      if (operand.getType() == op->getResult(0).getType())
        return operand;
    return {};
  }
};

/// Replaces the result of an op by zeros, so that its operands may become
/// unused.
class ReplaceByZeros : public TestedPattern {
public:
  ReplaceByZeros(MLIRContext *context, const Tester &tester)
      : TestedPattern(context, /*benefit=*/1, tester) {}

protected:
  Value replacement(Operation *op, RewriterBase &rewriter) const override {
    auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    if (!type || !type.hasStaticShape() ||
        !type.getElementType().isIntOrFloat())
      return {};
    rewriter.setInsertionPoint(op);
    return tosa::ConstOp::create(
        rewriter, op->getLoc(), type,
        cast<DenseElementsAttr>(rewriter.getZeroAttr(type)));
  }
};

class NetworkReduction : public DialectReductionPatternInterface {
public:
  NetworkReduction(Dialect *dialect)
      : DialectReductionPatternInterface(dialect) {}

  void populateReductionPatterns(RewritePatternSet &) const override {}
  void populateReductionPatternsWithTester(RewritePatternSet &patterns,
                                           Tester &tester) const override {
    patterns.add<ForwardOperand, ReplaceByZeros>(patterns.getContext(), tester);
  }
};

} // namespace

int main(int argc, char **argv) {
  registerAllPasses();
  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registry.insert<mct::tpc::TpcDialect>();
  registry.addExtension(+[](MLIRContext *, tosa::TosaDialect *dialect) {
    dialect->addInterfaces<NetworkReduction>();
  });
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  return failed(mlirReduceMain(argc, argv, context)) ? EXIT_FAILURE
                                                     : EXIT_SUCCESS;
}
