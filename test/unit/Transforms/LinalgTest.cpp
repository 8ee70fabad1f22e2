// SPDX-License-Identifier: Apache-2.0
//
// Rewrites of kernels in named ops of linalg keep what the network computes.
#include "../Execution/Fixture.h"
#include "mct/Pipelines/Pipelines.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "tpc_dialect/IR/TpcDialect.h"

using namespace mlir;
using namespace mct::execution;

namespace {
class LinalgTest : public ExecutionTest {
protected:
  LinalgTest() {
    context.loadDialect<mct::tpc::TpcDialect>();
    static const bool registered = [] {
      mct::registerAllMctPasses();
      return true;
    }();
    (void)registered;
  }

  /// An f32 constant of random values.
  std::string values(const std::string &name, ArrayRef<int64_t> shape,
                     unsigned seed) {
    Floats floats = randomFloats(elementCount(shape), seed);
    std::string bytes(floats.size() * sizeof(float), '\0');
    std::memcpy(bytes.data(), floats.data(), bytes.size());
    return "%" + name + " = arith.constant dense<\"0x" + llvm::toHex(bytes) +
           "\"> : " + tensorType(shape) + "\n";
  }

  /// Runs the pipeline on @main; its function stays, and `numOps` ops of
  /// linalg are left.
  void expectSame(const std::string &text, const std::string &pipeline,
                  size_t numOps) {
    CompileOptions options;
    options.unit = 1;
    auto run = [&](const Executor &executor) {
      std::vector<Floats> inputs = randomInputs(executor);
      Floats output(executor.outputs().front().type.getNumElements());
      llvm::cantFail(
          Worker(executor).run({inputs.front().data()}, {output.data()}, 1));
      return output;
    };
    std::unique_ptr<Executor> before = compile(text, options);
    ASSERT_TRUE(before);
    PassManager passManager(&context);
    ASSERT_TRUE(succeeded(parsePassPipeline(pipeline, passManager)));
    ASSERT_TRUE(succeeded(passManager.run(*module)));
    size_t left = 0;
    module->walk([&](Operation *op) {
      StringRef name = op->getName().getStringRef();
      left += name.starts_with("linalg.") && name != "linalg.yield" &&
              name != "linalg.broadcast" && name != "linalg.fill";
    });
    EXPECT_EQ(left, numOps);
    auto after = Executor::compile(*module, options);
    ASSERT_TRUE(succeeded(after));
    Floats expected = run(*before), actual = run(**after);
    float largest = 0;
    for (float value : expected)
      largest = std::max(largest, std::abs(value));
    for (size_t i = 0; i != expected.size(); ++i)
      // The kernel is rounded once more.
      ASSERT_NEAR(actual[i], expected[i], 1e-5f * largest) << "element " << i;
  }
};
} // namespace

// A convolution with bias and a batch norm, then one of size 1.
TEST_F(LinalgTest, ConvolutionsFoldAndCollapse) {
  std::string text =
      "func.func @main(%x: tensor<1x5x4x2xf32>) -> tensor<1x3x3x2xf32> {\n" +
      values("k1", {3, 2, 2, 4}, 1) + values("b1", {4}, 2) +
      values("s", {4}, 3) + values("o", {4}, 4) +
      values("k2", {1, 1, 4, 2}, 5) +
      R"mlir(
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x3x3x4xf32>
  %i1 = linalg.broadcast ins(%b1 : tensor<4xf32>) outs(%e : tensor<1x3x3x4xf32>) dimensions = [0, 1, 2]
  %0 = linalg.conv_2d_nhwc_hwcf ins(%x, %k1 : tensor<1x5x4x2xf32>, tensor<3x2x2x4xf32>) outs(%i1 : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %sb = linalg.broadcast ins(%s : tensor<4xf32>) outs(%e : tensor<1x3x3x4xf32>) dimensions = [0, 1, 2]
  %ob = linalg.broadcast ins(%o : tensor<4xf32>) outs(%e : tensor<1x3x3x4xf32>) dimensions = [0, 1, 2]
  %1 = linalg.mul ins(%0, %sb : tensor<1x3x3x4xf32>, tensor<1x3x3x4xf32>) outs(%e : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %2 = linalg.add ins(%1, %ob : tensor<1x3x3x4xf32>, tensor<1x3x3x4xf32>) outs(%e : tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
  %e2 = tensor.empty() : tensor<1x3x3x2xf32>
  %i2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<1x3x3x2xf32>) -> tensor<1x3x3x2xf32>
  %3 = linalg.conv_2d_nhwc_hwcf ins(%2, %k2 : tensor<1x3x3x4xf32>, tensor<1x1x4x2xf32>) outs(%i2 : tensor<1x3x3x2xf32>) -> tensor<1x3x3x2xf32>
  return %3 : tensor<1x3x3x2xf32>
})mlir";
  expectSame(text, "mct-fold-batch-norm", 2);
  expectSame(text, "mct-fold-batch-norm,mct-collapse-linear", 1);
}

// Channels first: the batch norm's axis is 1. Its scale is folded into the
// product after it, and the residual into the convolution.
TEST_F(LinalgTest, ChannelsFirstFoldsAndResidualCollapses) {
  std::string text =
      "func.func @main(%x: tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32> {\n" +
      values("k", {3, 3, 1, 1}, 1) + values("s", {3}, 3) + values("o", {3}, 4) +
      R"mlir(
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x3x4x4xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32>
  %sb = linalg.broadcast ins(%s : tensor<3xf32>) outs(%e : tensor<1x3x4x4xf32>) dimensions = [0, 2, 3]
  %ob = linalg.broadcast ins(%o : tensor<3xf32>) outs(%e : tensor<1x3x4x4xf32>) dimensions = [0, 2, 3]
  %0 = linalg.conv_2d_nchw_fchw ins(%x, %k : tensor<1x3x4x4xf32>, tensor<3x3x1x1xf32>) outs(%i : tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32>
  %1 = linalg.mul ins(%sb, %0 : tensor<1x3x4x4xf32>, tensor<1x3x4x4xf32>) outs(%e : tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32>
  %2 = linalg.sub ins(%1, %ob : tensor<1x3x4x4xf32>, tensor<1x3x4x4xf32>) outs(%e : tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32>
  %3 = linalg.add ins(%2, %x : tensor<1x3x4x4xf32>, tensor<1x3x4x4xf32>) outs(%e : tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32>
  return %3 : tensor<1x3x4x4xf32>
})mlir";
  expectSame(text, "mct-fold-batch-norm", 2);
  expectSame(text, "mct-fold-batch-norm,mct-collapse-residual", 1);
}

// A batch norm before a product.
TEST_F(LinalgTest, ProductTakesTheBatchNormBeforeIt) {
  std::string text =
      "func.func @main(%x: tensor<1x3xf32>) -> tensor<1x4xf32> {\n" +
      values("k", {3, 4}, 1) + values("s", {3}, 3) + values("o", {3}, 4) +
      R"mlir(
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x3xf32>
  %sb = linalg.broadcast ins(%s : tensor<3xf32>) outs(%e : tensor<1x3xf32>) dimensions = [0]
  %ob = linalg.broadcast ins(%o : tensor<3xf32>) outs(%e : tensor<1x3xf32>) dimensions = [0]
  %0 = linalg.mul ins(%x, %sb : tensor<1x3xf32>, tensor<1x3xf32>) outs(%e : tensor<1x3xf32>) -> tensor<1x3xf32>
  %1 = linalg.add ins(%0, %ob : tensor<1x3xf32>, tensor<1x3xf32>) outs(%e : tensor<1x3xf32>) -> tensor<1x3xf32>
  %e2 = tensor.empty() : tensor<1x4xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e2 : tensor<1x4xf32>) -> tensor<1x4xf32>
  %2 = linalg.matmul ins(%1, %k : tensor<1x3xf32>, tensor<3x4xf32>) outs(%i : tensor<1x4xf32>) -> tensor<1x4xf32>
  return %2 : tensor<1x4xf32>
})mlir";
  expectSame(text, "mct-fold-batch-norm", 1);
}
