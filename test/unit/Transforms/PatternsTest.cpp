// SPDX-License-Identifier: Apache-2.0
//
// The local rewrites in passes that are not ours.
#include "mct/Transforms/Patterns.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mct/Transforms/OperatorParts.h"
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

/// A pass of another project with a pattern of its own and those of this
/// project.
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

namespace {
/// A pass of another project that applies all rewrites around a layer at once.
struct LayerPass : public PassWrapper<LayerPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LayerPass)
  void runOnOperation() override {
    const mct::KernelOps &kernels = getAnalysis<mct::KernelOps>();
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      llvm::DenseSet<Operation *> parts =
          mct::getOperatorParts(function, kernels);
      RewritePatternSet patterns(&getContext());
      mct::populateFoldBatchNormPatterns(patterns, kernels, parts);
      mct::populateCollapseLinearPatterns(patterns, kernels, parts);
      mct::populateCollapseResidualPatterns(patterns, kernels);
      mct::populateJoinTransposesPatterns(patterns);
      if (failed(applyPatternsGreedily(function, std::move(patterns))))
        return signalPassFailure();
    }
  }
};
} // namespace

// The transpositions cancel, then the factor is folded into the first
// convolution, both convolutions become one, and that adds its own input: 3 *
// (2 * 5 * x) + x = 31 * x.
TEST(PatternsTest, AroundALayerWorkTogether) {
  MLIRContext context;
  context.loadDialect<func::FuncDialect, tosa::TosaDialect,
                      mct::tpc::TpcDialect>();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(R"mlir(
func.func @main(%x: tensor<1x2x3x1xf32>) -> tensor<1x2x3x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %k = "tosa.const"() <{values = dense<5.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %l = "tosa.const"() <{values = dense<3.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %two = "tosa.const"() <{values = dense<2.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %0 = tosa.conv2d %x, %k, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x3x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x3x1xf32>
  %1 = tosa.transpose %0 {perms = array<i32: 0, 2, 1, 3>} : (tensor<1x2x3x1xf32>) -> tensor<1x3x2x1xf32>
  %2 = tosa.transpose %1 {perms = array<i32: 0, 2, 1, 3>} : (tensor<1x3x2x1xf32>) -> tensor<1x2x3x1xf32>
  %3 = tosa.mul %2, %two, %shift : (tensor<1x2x3x1xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x2x3x1xf32>
  %4 = tosa.conv2d %3, %l, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x3x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x3x1xf32>
  %5 = tosa.add %4, %x : (tensor<1x2x3x1xf32>, tensor<1x2x3x1xf32>) -> tensor<1x2x3x1xf32>
  return %5 : tensor<1x2x3x1xf32>
})mlir",
                                                             &context);
  ASSERT_TRUE(module);
  PassManager passes(&context);
  passes.addPass(std::make_unique<LayerPass>());
  ASSERT_TRUE(succeeded(passes.run(*module)));

  auto main = module->lookupSymbol<func::FuncOp>("main");
  auto result = main.getBody().front().getTerminator()->getOperand(0);
  auto layer = result.getDefiningOp<tosa::Conv2DOp>();
  ASSERT_TRUE(layer);
  EXPECT_EQ(layer.getInput(), main.getArgument(0));
  std::optional<mct::KernelOp> kernel =
      mct::KernelOps::forModule(*module).get(layer);
  ASSERT_TRUE(kernel);
  mct::ConstantFloats values = kernel->getKernel();
  EXPECT_EQ(values.values(), ArrayRef<float>{31.0f});
  EXPECT_TRUE(main.getOps<tosa::TransposeOp>().empty());
}

namespace {
/// Counts the notifications of a rewriter.
struct CountingListener : RewriterBase::Listener {
  void notifyOperationModified(Operation *op) override { modified.insert(op); }
  void notifyOperationErased(Operation *op) override {
    numErased += isa<tosa::TransposeOp>(op);
  }
  llvm::DenseSet<Operation *> modified;
  int numErased = 0;
};
} // namespace

// Both transpositions go: abs and add compute the same in the order of %x.
TEST(PatternsTest, TransposesMoveThroughAClusterAndTellTheListener) {
  MLIRContext context;
  DialectRegistry registry;
  mct::registerOpModels(registry);
  context.appendDialectRegistry(registry);
  context.loadDialect<func::FuncDialect, tosa::TosaDialect,
                      mct::tpc::TpcDialect>();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(R"mlir(
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = tosa.transpose %x {perms = array<i32: 1, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %1 = tosa.abs %0 : (tensor<3x2xf32>) -> tensor<3x2xf32>
  %2 = tosa.add %1, %0 : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  %3 = tosa.transpose %2 {perms = array<i32: 1, 0>} : (tensor<3x2xf32>) -> tensor<2x3xf32>
  return %3 : tensor<2x3xf32>
})mlir",
                                                             &context);
  ASSERT_TRUE(module);
  Block &body = module->lookupSymbol<func::FuncOp>("main").getBody().front();
  CountingListener listener;
  IRRewriter rewriter(&context, &listener);
  EXPECT_TRUE(mct::moveTransposes(rewriter, body));
  EXPECT_TRUE(body.getOps<tosa::TransposeOp>().empty());
  EXPECT_TRUE(succeeded(module->verify()));
  EXPECT_EQ(listener.numErased, 2);
  for (Operation &op : body.without_terminator())
    EXPECT_TRUE(listener.modified.contains(&op));
  EXPECT_FALSE(mct::moveTransposes(rewriter, body));
}
