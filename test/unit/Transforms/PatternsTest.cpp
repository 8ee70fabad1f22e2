// SPDX-License-Identifier: Apache-2.0
//
// The local rewrites in passes that are not ours.
#include "mct/Transforms/Patterns.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "gtest/gtest.h"

using namespace mlir;

namespace {
/// |x| of a value that cannot be negative.
struct DropAbs : public OpRewritePattern<tosa::AbsOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tosa::AbsOp op,
                                PatternRewriter &rewriter) const override {
    auto clamp = op.getInput1().getDefiningOp<tosa::ClampOp>();
    auto lowest = clamp ? dyn_cast<FloatAttr>(clamp.getMinVal()) : FloatAttr();
    if (!lowest || lowest.getValue().isNegative())
      return failure();
    rewriter.replaceOp(op, clamp.getOutput());
    return success();
  }
};

/// A pass of somebody who has a pattern and wants ours.
struct ForeignPass
    : public PassWrapper<ForeignPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ForeignPass)
  void runOnOperation() override {
    mct::ConstantExpressions expressions;
    RewritePatternSet patterns(&getContext());
    patterns.add<DropAbs>(&getContext());
    mct::populateFoldConstantsPatterns(patterns, expressions);
    mct::populateNormalizeActivationsPatterns(patterns);
    if (failed(applyPatternsGreedily(
            getOperation(), std::move(patterns),
            GreedyRewriteConfig().setListener(&expressions))))
      signalPassFailure();
  }
};
} // namespace

// The bound 2 * 3 is known once it is folded; the clamps can be one once the
// |x| between them is gone, for which the first has to be a clamp.
TEST(PatternsTest, WorkTogetherWithThoseOfAForeignPass) {
  MLIRContext context;
  context.loadDialect<func::FuncDialect, tosa::TosaDialect,
                      mct::tpc::TpcDialect>();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(R"mlir(
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %two = "tosa.const"() <{values = dense<2.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %three = "tosa.const"() <{values = dense<3.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %six = tosa.mul %two, %three, %shift : (tensor<1xf32>, tensor<1xf32>, tensor<1xi8>) -> tensor<1xf32>
  %0 = tosa.clamp %x {max_val = 3.40282347E+38 : f32, min_val = 0.0 : f32} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = tosa.abs %0 : (tensor<4xf32>) -> tensor<4xf32>
  %2 = tosa.minimum %1, %six : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
})mlir",
                                                             &context);
  ASSERT_TRUE(module);
  PassManager passes(&context);
  passes.addNestedPass<func::FuncOp>(std::make_unique<ForeignPass>());
  ASSERT_TRUE(succeeded(passes.run(*module)));

  Block &body = module->lookupSymbol<func::FuncOp>("main").getBody().front();
  ASSERT_EQ(body.getOperations().size(), 2u);
  auto clamp = dyn_cast<tosa::ClampOp>(body.front());
  ASSERT_TRUE(clamp);
  EXPECT_EQ(clamp.getInput(), body.getArgument(0));
  EXPECT_EQ(cast<FloatAttr>(clamp.getMinVal()).getValueAsDouble(), 0);
  EXPECT_EQ(cast<FloatAttr>(clamp.getMaxVal()).getValueAsDouble(), 6);
}
