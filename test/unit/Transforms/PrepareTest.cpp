// SPDX-License-Identifier: Apache-2.0
//
// The rewrites of mct-prepare compute what the module computed before.
#include "mct/Execution/Executor.h"
#include "mct/Pipelines/Pipelines.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

#include <random>

using namespace mlir;
using namespace mct;

namespace {
class PrepareTest : public testing::Test {
protected:
  PrepareTest() {
    DialectRegistry registry;
    execution::Executor::registerDependencies(registry);
    registry.insert<func::FuncDialect, tosa::TosaDialect>();
    context.appendDialectRegistry(registry);
    for (StringRef name : registry.getDialectNames())
      context.getOrLoadDialect(name);
  }

  /// `dense<[...]>` with `count` values of a fixed random sequence in [lo, hi].
  std::string values(size_t count, float lo, float hi) {
    std::uniform_real_distribution<float> distribution(lo, hi);
    std::string text = "dense<\"0x";
    for (size_t i = 0; i != count; ++i) {
      float value = distribution(random);
      auto *bytes = reinterpret_cast<const unsigned char *>(&value);
      for (size_t byte = 0; byte != sizeof(value); ++byte) {
        constexpr char kDigits[] = "0123456789ABCDEF";
        text += kDigits[bytes[byte] >> 4];
        text += kDigits[bytes[byte] & 15];
      }
    }
    return text + "\">";
  }

  std::string constant(StringRef name, StringRef shape, size_t count, float lo,
                       float hi) {
    std::string type = ("tensor<" + shape + "xf32>").str();
    return ("%" + name + " = \"tosa.const\"() <{values = " +
            values(count, lo, hi) + " : " + type + "}> : () -> " + type + "\n")
        .str();
  }

  /// Output of @main on a fixed random input.
  std::vector<float> run(ModuleOp module) {
    auto executor = execution::Executor::compile(module);
    if (failed(executor))
      return {};
    std::mt19937 inputRandom(7);
    std::normal_distribution<float> distribution;
    std::vector<float> input(
        (*executor)->inputs().front().type.getNumElements());
    for (float &value : input)
      value = distribution(inputRandom);
    std::vector<float> output(
        (*executor)->outputs().front().type.getNumElements());
    execution::Worker worker(**executor);
    llvm::cantFail(
        worker.run({input.data()}, {output.data()}, (*executor)->unit()));
    return output;
  }

  /// Expects the same function from the module and its prepared form, without
  /// any of the ops of a batch norm left.
  void expectFolded(const std::string &text) {
    auto module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module);
    std::vector<float> before = run(*module);
    PassManager passManager(&context);
    buildPreparePipeline(passManager);
    ASSERT_TRUE(succeeded(passManager.run(*module)));
    module->walk([](Operation *op) {
      bool isBatchNorm =
          isa<tosa::AddOp, tosa::SubOp, tosa::MulOp, tosa::RsqrtOp>(op);
      EXPECT_FALSE(isBatchNorm) << op->getName().getStringRef().str();
    });
    std::vector<float> after = run(*module);
    ASSERT_EQ(before.size(), after.size());
    ASSERT_FALSE(before.empty());
    float largest = 0;
    for (float value : before)
      largest = std::max(largest, std::abs(value));
    // The kernel is rounded once more after it is scaled: a few float steps of
    // the largest value.
    for (size_t i = 0; i != before.size(); ++i)
      ASSERT_NEAR(before[i], after[i], 1e-5f * largest) << "element " << i;
  }

  /// Expects the same values, bit by bit, from a function whose body makes `%y`
  /// of `%x`, and from its prepared form, in which one clamp is left.
  void expectOneClamp(const std::string &body) {
    auto module = parseSourceString<ModuleOp>(
        "func.func @main(%x: tensor<1x64x64x1xf32>) -> tensor<1x64x64x1xf32> "
        "{\n" +
            body + "return %y : tensor<1x64x64x1xf32>\n}",
        &context);
    ASSERT_TRUE(module);
    std::vector<float> before = run(*module);
    PassManager passManager(&context);
    buildPreparePipeline(passManager);
    ASSERT_TRUE(succeeded(passManager.run(*module)));
    std::vector<std::string> ops;
    module->walk([&](Operation *op) {
      if (isa<tosa::ClampOp, tosa::MaximumOp, tosa::MinimumOp>(op))
        ops.push_back(op->getName().getStringRef().str());
    });
    EXPECT_EQ(ops, std::vector<std::string>({"tosa.clamp"}));
    ASSERT_FALSE(before.empty());
    EXPECT_EQ(before, run(*module));
  }

  /// `%result = tosa.op %operand, VALUE`.
  std::string compare(const std::string &result, const std::string &op,
                      const std::string &operand, float value) {
    return constant("c" + result, "1x1x1x1", 1, value, value) + "%" + result +
           " = tosa." + op + " %" + operand + ", %c" + result +
           " : (tensor<1x64x64x1xf32>, tensor<1x1x1x1xf32>) -> "
           "tensor<1x64x64x1xf32>\n";
  }

  /// mean, variance + epsilon, gamma and beta after `%conv`.
  std::string batchNorm(const std::string &result, size_t channels) {
    std::string shape = "1x1x1x" + std::to_string(channels);
    std::string type = "tensor<" + result + "xf32>";
    std::string vector = "tensor<" + shape + "xf32>";
    auto binary = [&](const char *name, const char *op, const char *lhs,
                      const char *rhs) {
      return std::string("%") + name + " = tosa." + op + " %" + lhs + ", %" +
             rhs + " : (" + type + ", " + vector + ") -> " + type + "\n";
    };
    auto multiply = [&](const char *name, const char *lhs, const char *rhs) {
      return std::string("%") + name + " = tosa.mul %" + lhs + ", %" + rhs +
             ", %shift : (" + type + ", " + vector + ", tensor<1xi8>) -> " +
             type + "\n";
    };
    return constant("mean", shape, channels, -1, 1) +
           constant("variance", shape, channels, 0.1f, 4) +
           constant("gamma", shape, channels, -2, 2) +
           constant("beta", shape, channels, -1, 1) +
           constant("epsilon", "1x1x1x1", 1, 0.001f, 0.001f) +
           "%shift = \"tosa.const\"() <{values = dense<0> : tensor<1xi8>}> : "
           "() -> tensor<1xi8>\n" +
           "%sum = tosa.add %variance, %epsilon : (" + vector +
           ", tensor<1x1x1x1xf32>) -> " + vector + "\n" +
           "%inverse = tosa.rsqrt %sum : (" + vector + ") -> " + vector + "\n" +
           binary("centered", "sub", "conv", "mean") +
           multiply("normal", "centered", "inverse") +
           multiply("scaled", "normal", "gamma") +
           binary("shifted", "add", "scaled", "beta") +
           "return %shifted : " + type + "\n";
  }

  MLIRContext context;
  std::mt19937 random{42};
};
} // namespace

TEST_F(PrepareTest, FoldedConvolutionComputesTheSameWithBordersAndStride) {
  expectFolded(
      "func.func @main(%x: tensor<1x9x7x3xf32>) -> tensor<1x5x4x8xf32> {\n" +
      constant("kernel", "8x3x3x3", 216, -1, 1) +
      constant("bias", "8", 8, -1, 1) + constant("zero", "1", 1, 0, 0) +
      "%conv = tosa.conv2d %x, %kernel, %bias, %zero, %zero {acc_type = f32, "
      "dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = "
      "array<i64: 2, 2>} : (tensor<1x9x7x3xf32>, tensor<8x3x3x3xf32>, "
      "tensor<8xf32>, tensor<1xf32>, tensor<1xf32>) -> "
      "tensor<1x5x4x8xf32>\n" +
      batchNorm("1x5x4x8", 8) + "}");
}

TEST_F(PrepareTest, FoldedDepthwiseConvolutionWithMultiplierComputesTheSame) {
  expectFolded(
      "func.func @main(%x: tensor<1x6x6x4xf32>) -> tensor<1x6x6x8xf32> {\n" +
      constant("kernel", "3x3x4x2", 72, -1, 1) +
      constant("bias", "8", 8, -1, 1) + constant("zero", "1", 1, 0, 0) +
      "%conv = tosa.depthwise_conv2d %x, %kernel, %bias, %zero, %zero "
      "{acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, "
      "1, 1>, stride = array<i64: 1, 1>} : (tensor<1x6x6x4xf32>, "
      "tensor<3x3x4x2xf32>, tensor<8xf32>, tensor<1xf32>, tensor<1xf32>) -> "
      "tensor<1x6x6x8xf32>\n" +
      batchNorm("1x6x6x8", 8) + "}");
}

// TOSA allows one bias value for all channels; folding needs one for each.
TEST_F(PrepareTest, FoldedConvolutionWithOneBiasValueComputesTheSame) {
  expectFolded(
      "func.func @main(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x3xf32> {\n" +
      constant("kernel", "3x1x1x2", 6, -1, 1) + constant("bias", "1", 1, 1, 1) +
      constant("zero", "1", 1, 0, 0) +
      "%conv = tosa.conv2d %x, %kernel, %bias, %zero, %zero {acc_type = f32, "
      "dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = "
      "array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<3x1x1x2xf32>, "
      "tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> "
      "tensor<1x4x4x3xf32>\n" +
      batchNorm("1x4x4x3", 3) + "}");
}

static std::string clamp(const std::string &result, const std::string &operand,
                         const std::string &lowest,
                         const std::string &highest) {
  return "%" + result + " = tosa.clamp %" + operand + " {min_val = " + lowest +
         " : f32, max_val = " + highest +
         " : f32} : (tensor<1x64x64x1xf32>) -> tensor<1x64x64x1xf32>\n";
}

// The input is normally distributed: both bounds are met.
TEST_F(PrepareTest, SplitReLU6ComputesTheSameAsOneClamp) {
  expectOneClamp(clamp("a", "x", "0.0", "3.40282347E+38") +
                 compare("y", "minimum", "a", 0.5f));
}

TEST_F(PrepareTest, SplitHardTanhComputesTheSameAsOneClamp) {
  expectOneClamp(compare("a", "maximum", "x", -0.5f) +
                 compare("y", "minimum", "a", 0.25f));
  expectOneClamp(compare("a", "minimum", "x", 0.25f) +
                 compare("y", "maximum", "a", -0.5f));
}

// The second clamp lies above the first: one number comes out.
TEST_F(PrepareTest, DisjointClampsComputeTheSameAsOneClamp) {
  expectOneClamp(clamp("a", "x", "-0.5", "0.25") +
                 clamp("y", "a", "0.75", "1.0"));
}
