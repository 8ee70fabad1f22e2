// SPDX-License-Identifier: Apache-2.0
#include "mct/Planning/KernelOp.h"
#include "mct/IR/Names.h"
#include "mct/Planning/KernelRows.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mct;
using Floats = std::vector<float>;
using Integers = std::vector<int64_t>;

namespace {
class KernelOpTest : public testing::Test {
protected:
  KernelOpTest() {
    context.loadDialect<func::FuncDialect, tosa::TosaDialect,
                        linalg::LinalgDialect, tensor::TensorDialect,
                        arith::ArithDialect, tpc::TpcDialect>();
  }

  void parse(const std::string &text) {
    module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module);
  }

  /// All kernel ops, in program order.
  std::vector<KernelOp> find() {
    KernelOps ops = KernelOps::forModule(*module);
    std::vector<KernelOp> found;
    module->walk([&](Operation *op) {
      if (std::optional<KernelOp> kernelOp = ops.get(op))
        found.push_back(*kernelOp);
    });
    return found;
  }

  size_t count(StringRef opName) {
    size_t count = 0;
    module->walk([&](Operation *op) {
      count += op->getName().getStringRef() == opName;
    });
    return count;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};
} // namespace

static Floats valuesOf(const KernelOp &op) {
  ConstantFloats kernel = op.getKernel();
  ArrayRef<float> values = kernel.values();
  return Floats(values.begin(), values.end());
}

static Integers outChannels(const KernelOp &op, int64_t elements) {
  Integers channels;
  for (int64_t element = 0; element != elements; ++element)
    channels.push_back(op.outChannelOf(element));
  Integers walked;
  forEachKernelElement(op, [&](int64_t element, int64_t output, int64_t) {
    EXPECT_EQ(element, int64_t(walked.size()));
    walked.push_back(output);
  });
  EXPECT_EQ(walked, channels);
  return channels;
}

static Integers inChannels(const KernelOp &op, int64_t elements) {
  Integers channels;
  for (int64_t element = 0; element != elements; ++element)
    channels.push_back(op.inChannelOf(element));
  Integers walked;
  forEachKernelElement(
      op, [&](int64_t, int64_t, int64_t input) { walked.push_back(input); });
  EXPECT_EQ(walked, channels);
  return channels;
}

static Integers toVector(ArrayRef<int64_t> values) {
  return Integers(values.begin(), values.end());
}

// Kernel [2, 1, 2, 2]: output channel, height, width, input channel.
TEST_F(KernelOpTest, ReadsAndWritesConv2D) {
  parse(R"mlir(
func.func @main(%x: tensor<1x4x4x2xf32>) -> tensor<1x3x3x2xf32> {
  %k = "tosa.const"() <{values = dense<[[[[1.0, 2.0], [3.0, 4.0]]], [[[5.0, 6.0], [7.0, 8.0]]]]> : tensor<2x1x2x2xf32>}> : () -> tensor<2x1x2x2xf32>
  %b = "tosa.const"() <{values = dense<0.5> : tensor<1xf32>}> : () -> tensor<1xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.conv2d %x, %k, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 2>, pad = array<i64: 1, 0, 0, 1>, stride = array<i64: 2, 1>} : (tensor<1x4x4x2xf32>, tensor<2x1x2x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x3x2xf32>
  return %0 : tensor<1x3x3x2xf32>
})mlir");
  std::vector<KernelOp> ops = find();
  ASSERT_EQ(ops.size(), 1u);
  KernelOp &op = ops.front();
  EXPECT_EQ(op.inputAxis(), 3);
  EXPECT_EQ(op.resultAxis(), 3);
  EXPECT_EQ(op.numInputChannels(), 2);
  EXPECT_EQ(op.numOutputChannels(), 2);
  EXPECT_FALSE(op.isDepthwise());
  EXPECT_EQ(outChannels(op, 8), Integers({0, 0, 0, 0, 1, 1, 1, 1}));
  EXPECT_EQ(inChannels(op, 8), Integers({0, 1, 0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(toVector(op.getWindow()), Integers({1, 2}));
  EXPECT_EQ(toVector(op.getStrides()), Integers({2, 1}));
  EXPECT_EQ(toVector(op.getDilations()), Integers({1, 2}));
  EXPECT_EQ(toVector(op.getPadding()), Integers({1, 0, 0, 1}));
  EXPECT_FALSE(op.isPointwise());
  EXPECT_EQ(*op.getBias(), Floats({0.5, 0.5}));
  // (1 + 3) * 10 + (2 + 4) * 100 and (5 + 7) * 10 + (6 + 8) * 100.
  EXPECT_EQ(op.contract(valuesOf(op), {10, 100}),
            std::vector<double>({640, 1520}));

  // The constant zero stays: the zero points read it too.
  OpBuilder builder(&context);
  op.setKernel(builder, {8, 7, 6, 5, 4, 3, 2, 1});
  op.setBias(builder, {-1, -2});
  op.setPadding({0, 1, 1, 0});
  ASSERT_TRUE(succeeded(verify(*module)));
  EXPECT_EQ(count("tosa.const"), 3u);
  KernelOp again = find().front();
  EXPECT_EQ(valuesOf(again), Floats({8, 7, 6, 5, 4, 3, 2, 1}));
  EXPECT_EQ(*again.getBias(), Floats({-1, -2}));
  EXPECT_EQ(toVector(again.getPadding()), Integers({0, 1, 1, 0}));
}

// A record of corrections is about one kernel and one bias.
TEST_F(KernelOpTest, RecordOfCorrectionsEndsWithItsKernelOrBias) {
  const char *const text = R"mlir(
func.func @main(%x: tensor<1x4x4x1xf32>) -> tensor<1x4x4x2xf32> {
  %k = "tosa.const"() <{values = dense<4.0> : tensor<2x1x1x1xf32>}> : () -> tensor<2x1x1x1xf32>
  %b = "tosa.const"() <{values = dense<[1.0, 2.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w = tpc.quantize %k as "conv" weight "kernel_attr" corrections(#tpc.corrections<applied = ["second_moment"], bias_offset = [0.5, 0.0], kernel_scale = [2.0, 1.0]>) : tensor<2x1x1x1xf32>
  %0 = tosa.conv2d %x, %w, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  return %0 : tensor<1x4x4x2xf32>
})mlir";
  OpBuilder builder(&context);
  parse(text);
  EXPECT_TRUE(find().front().getCorrections());
  find().front().setKernel(builder, {1, 1});
  EXPECT_FALSE(find().front().getCorrections());
  parse(text);
  find().front().setBias(builder, {1, 1});
  EXPECT_FALSE(find().front().getCorrections());

  // The float bias is (1 - 0.5) / 2 and 2. The float results become 4 * r + 1
  // and 3 - r, so that the biases would be 2 * (4 * 0.25 + 1) and 3 - 2.
  parse(text);
  KernelOp op = find().front();
  tpc::CorrectionsAttr after = op.getCorrectionsAfter({6, 1}, {4, -1}, {1, 3});
  ASSERT_TRUE(after);
  EXPECT_EQ(after.getBiasOffset(), ArrayRef<double>({2, 0}));
  EXPECT_EQ(after.getKernelScale(), ArrayRef<double>({2, 1}));
  op.setKernel(builder, {16, -4}, after);
  op.setBias(builder, {6, 1}, after);
  EXPECT_EQ(find().front().getCorrections(), after);
  // No factors and no offsets: the float layer stays.
  EXPECT_EQ(op.getCorrectionsAfter({7, 1}, {}, {}).getBiasOffset(),
            ArrayRef<double>({3, 0}));
  // Offsets that no record can hold.
  EXPECT_FALSE(op.getCorrectionsAfter({6, 1}, {1e308, 1e308}, {}));
}

// Kernel [1, 1, 2, 2]: height, width, channel, multiplier.
TEST_F(KernelOpTest, DepthwiseChannelsRunOverChannelAndMultiplier) {
  parse(R"mlir(
func.func @main(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x4xf32> {
  %k = "tosa.const"() <{values = dense<[[[[1.0, 2.0], [3.0, 4.0]]]]> : tensor<1x1x2x2xf32>}> : () -> tensor<1x1x2x2xf32>
  %b = "tosa.const"() <{values = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>}> : () -> tensor<4xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.depthwise_conv2d %x, %k, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x2x2xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x4xf32>
  return %0 : tensor<1x4x4x4xf32>
})mlir");
  std::vector<KernelOp> ops = find();
  ASSERT_EQ(ops.size(), 1u);
  KernelOp &op = ops.front();
  EXPECT_TRUE(op.isDepthwise());
  EXPECT_TRUE(op.isPositionwise());
  EXPECT_EQ(op.numInputChannels(), 2);
  EXPECT_EQ(op.numOutputChannels(), 4);
  EXPECT_EQ(outChannels(op, 4), Integers({0, 1, 2, 3}));
  EXPECT_EQ(inChannels(op, 4), Integers({0, 0, 1, 1}));
  EXPECT_EQ(*op.getBias(), Floats({1, 2, 3, 4}));
  // Each input channel has two output channels of its own.
  EXPECT_EQ(op.contract(valuesOf(op), {10, 100}),
            std::vector<double>({10, 20, 300, 400}));
}

// Kernel [1, 2, 1, 2]: output channel, height, width, input channel.
TEST_F(KernelOpTest, ReadsTransposedConvolution) {
  parse(R"mlir(
func.func @main(%x: tensor<1x2x2x2xf32>) -> tensor<1x4x2x1xf32> {
  %k = "tosa.const"() <{values = dense<[[[[1.0, 2.0]], [[3.0, 4.0]]]]> : tensor<1x2x1x2xf32>}> : () -> tensor<1x2x1x2xf32>
  %b = "tosa.const"() <{values = dense<3.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.transpose_conv2d %x, %k, %b, %z, %z {acc_type = f32, out_pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 1>} : (tensor<1x2x2x2xf32>, tensor<1x2x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x2x1xf32>
  return %0 : tensor<1x4x2x1xf32>
})mlir");
  std::vector<KernelOp> ops = find();
  ASSERT_EQ(ops.size(), 1u);
  EXPECT_TRUE(ops[0].isTransposed());
  EXPECT_EQ(toVector(ops[0].getDilations()), Integers({1, 1}));
  EXPECT_EQ(toVector(ops[0].getWindow()), Integers({2, 1}));
  EXPECT_EQ(inChannels(ops[0], 4), Integers({0, 1, 0, 1}));
  EXPECT_EQ(*ops[0].getBias(), Floats({3}));
}

static const char *const kMatMul = R"mlir(
func.func @main(%x: tensor<1x3x2xf32>) -> tensor<1x3x2xf32> {
  %k = "tosa.const"() <{values = dense<[[[1.0, 2.0], [3.0, 4.0]]]> : tensor<1x2x2xf32>}> : () -> tensor<1x2x2xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %c = "tosa.const"() <{values = dense<[[[10.0, 20.0]]]> : tensor<1x1x2xf32>}> : () -> tensor<1x1x2xf32>
  %0 = tosa.matmul %x, %k, %z, %z : (tensor<1x3x2xf32>, tensor<1x2x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x2xf32> loc("dense")
)mlir";

TEST_F(KernelOpTest, MatMulWithoutBiasGetsAnAddition) {
  parse(std::string(kMatMul) + "return %0 : tensor<1x3x2xf32>\n}");
  std::vector<KernelOp> ops = find();
  ASSERT_EQ(ops.size(), 1u);
  KernelOp &op = ops.front();
  EXPECT_FALSE(op.isConvolution());
  EXPECT_TRUE(op.isPositionwise());
  // [1, K, O].
  EXPECT_EQ(outChannels(op, 4), Integers({0, 1, 0, 1}));
  EXPECT_EQ(inChannels(op, 4), Integers({0, 0, 1, 1}));
  EXPECT_EQ(*op.getBias(), Floats({0, 0}));
  OpBuilder builder(&context);
  op.setBias(builder, {5, 6});
  ASSERT_TRUE(succeeded(verify(*module)));
  auto add = op.getResult().getDefiningOp<tosa::AddOp>();
  ASSERT_TRUE(add);
  // The value that the function returns keeps its name.
  EXPECT_EQ(getName(add.getLoc()).getValue(), "dense");
  EXPECT_EQ(getName(op.getLoc()).getValue(), "dense.product");
  EXPECT_EQ(op.getResult().use_begin()->getOwner()->getName().getStringRef(),
            "func.return");
  EXPECT_EQ(*op.getBias(), Floats({5, 6}));
  // A second time the same addition is used.
  op.setBias(builder, {7, 8});
  EXPECT_EQ(count("tosa.add"), 1u);
  EXPECT_EQ(*op.getBias(), Floats({7, 8}));
}

TEST_F(KernelOpTest, AdditionAfterMatMulIsItsBias) {
  parse(std::string(kMatMul) + R"mlir(
  %1 = tosa.add %0, %c : (tensor<1x3x2xf32>, tensor<1x1x2xf32>) -> tensor<1x3x2xf32> loc("biased")
  return %1 : tensor<1x3x2xf32>
})mlir");
  KernelOp op = find().front();
  EXPECT_EQ(*op.getBias(), Floats({10, 20}));
  EXPECT_EQ(getName(op.getResult()).getValue(), "biased");
}

TEST_F(KernelOpTest, AdditionAfterAReshapeIsTheBiasOfAMatMul) {
  parse(std::string(kMatMul) + R"mlir(
  %s = tosa.const_shape {values = dense<[3, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %d = "tosa.const"() <{values = dense<[[10.0, 20.0]]> : tensor<1x2xf32>}> : () -> tensor<1x2xf32>
  %1 = tosa.reshape %0, %s : (tensor<1x3x2xf32>, !tosa.shape<2>) -> tensor<3x2xf32>
  %2 = tosa.add %1, %d : (tensor<3x2xf32>, tensor<1x2xf32>) -> tensor<3x2xf32>
  %t = tosa.const_shape {values = dense<[1, 3, 2]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %3 = tosa.reshape %2, %t : (tensor<3x2xf32>, !tosa.shape<3>) -> tensor<1x3x2xf32>
  return %3 : tensor<1x3x2xf32>
})mlir");
  KernelOp op = find().front();
  EXPECT_EQ(*op.getBias(), Floats({10, 20}));
  EXPECT_EQ(op.resultAxis(), 1);
  OpBuilder builder(&context);
  op.setBias(builder, {1, 2});
  ASSERT_TRUE(succeeded(verify(*module)));
  EXPECT_EQ(*op.getBias(), Floats({1, 2}));
}

// Somebody reads the product without the addition.
TEST_F(KernelOpTest, AdditionIsNoBiasWhenTheProductHasAnotherUser) {
  parse(std::string(kMatMul) + R"mlir(
  %1 = tosa.add %0, %c : (tensor<1x3x2xf32>, tensor<1x1x2xf32>) -> tensor<1x3x2xf32>
  %2 = tosa.add %1, %0 : (tensor<1x3x2xf32>, tensor<1x3x2xf32>) -> tensor<1x3x2xf32>
  return %2 : tensor<1x3x2xf32>
})mlir");
  EXPECT_EQ(*find().front().getBias(), Floats({0, 0}));
}

TEST_F(KernelOpTest, ConstantsThatOthersReadAreNotChanged) {
  parse(R"mlir(
func.func @main(%x: tensor<1x1x2xf32>) -> (tensor<1x1x2xf32>, tensor<1x1x2xf32>) {
  %k = "tosa.const"() <{values = dense<[[[1.0, 2.0], [3.0, 4.0]]]> : tensor<1x2x2xf32>}> : () -> tensor<1x2x2xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w = tpc.quantize %k as "a" weight "kernel_attr" axes [2] : tensor<1x2x2xf32>
  %0 = tosa.matmul %x, %w, %z, %z : (tensor<1x1x2xf32>, tensor<1x2x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x2xf32>
  %1 = tosa.matmul %x, %k, %z, %z : (tensor<1x1x2xf32>, tensor<1x2x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x2xf32>
  return %0, %1 : tensor<1x1x2xf32>, tensor<1x1x2xf32>
})mlir");
  std::vector<KernelOp> ops = find();
  ASSERT_EQ(ops.size(), 2u);
  ASSERT_TRUE(ops[0].getKernelPoint());
  EXPECT_EQ(ops[0].getKernelPoint().getUniqueName(), "a/kernel_attr");
  EXPECT_FALSE(ops[1].getKernelPoint());
  EXPECT_EQ(ops[0].getKernelConstant(), ops[1].getKernelConstant());
  OpBuilder builder(&context);
  ops[0].setKernel(builder, {0, 0, 0, 9});
  ASSERT_TRUE(succeeded(verify(*module)));
  EXPECT_EQ(valuesOf(ops[0]), Floats({0, 0, 0, 9}));
  EXPECT_EQ(valuesOf(ops[1]), Floats({1, 2, 3, 4}));
  EXPECT_TRUE(ops[0].getKernelPoint());
}

// Products of two activations, or with several kernels, are none.
TEST_F(KernelOpTest, FindsNoKernelWhereThereIsNotOne) {
  parse(R"mlir(
func.func @main(%x: tensor<2x1x2xf32>, %y: tensor<2x2x2xf32>) -> (tensor<2x1x2xf32>, tensor<2x1x2xf32>) {
  %k = "tosa.const"() <{values = dense<1.0> : tensor<2x2x2xf32>}> : () -> tensor<2x2x2xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.matmul %x, %y, %z, %z : (tensor<2x1x2xf32>, tensor<2x2x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x1x2xf32>
  %1 = tosa.matmul %x, %k, %z, %z : (tensor<2x1x2xf32>, tensor<2x2x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x1x2xf32>
  return %0, %1 : tensor<2x1x2xf32>, tensor<2x1x2xf32>
})mlir");
  EXPECT_TRUE(find().empty());
}

// The description in the module takes precedence over the stock one.
TEST_F(KernelOpTest, TheModulesDescriptionWins) {
  parse(std::string(kMatMul) + R"mlir(
  return %0 : tensor<1x3x2xf32>
}
tpc.framework @mine [#tpc.op_info<"tosa.matmul", quantize = false>])mlir");
  EXPECT_TRUE(find().empty());
}

/// A convolution of `op` with kernel 1, 2, 3, … and its result from `init`.
static std::string linalgConv(const std::string &op, const std::string &input,
                              const std::string &kernel,
                              const std::string &values,
                              const std::string &result,
                              const std::string &init) {
  return "func.func @main(%x: " + input + ") -> " + result + " {\n" +
         "%k = arith.constant dense<" + values + "> : " + kernel + "\n" + init +
         "%0 = linalg." + op +
         " {dilations = dense<1> : tensor<2xi64>, strides = dense<[2, 1]> : "
         "tensor<2xi64>} ins(%x, %k : " +
         input + ", " + kernel + ") outs(%init : " + result + ") -> " + result +
         "\nreturn %0 : " + result + "\n}";
}

TEST_F(KernelOpTest, ReadsAndWritesLinalgConvolutions) {
  const char *fill = R"mlir(
%empty = tensor.empty() : tensor<1x2x4x2xf32>
%zero = arith.constant 0.0 : f32
%init = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x2x4x2xf32>) -> tensor<1x2x4x2xf32>
)mlir";
  // [height, width, input channel, output channel].
  parse(linalgConv("conv_2d_nhwc_hwcf", "tensor<1x4x4x1xf32>",
                   "tensor<1x1x1x2xf32>", "[[[[1.0, 2.0]]]]",
                   "tensor<1x2x4x2xf32>", fill));
  KernelOp op = find().front();
  EXPECT_EQ(outChannels(op, 2), Integers({0, 1}));
  EXPECT_EQ(toVector(op.getWindow()), Integers({1, 1}));
  EXPECT_EQ(toVector(op.getStrides()), Integers({2, 1}));
  EXPECT_EQ(toVector(op.getPadding()), Integers({0, 0, 0, 0}));
  EXPECT_FALSE(op.isPositionwise());
  EXPECT_EQ(*op.getBias(), Floats({0, 0}));
  OpBuilder builder(&context);
  op.setKernel(builder, {3, 4});
  op.setBias(builder, {5, 6});
  ASSERT_TRUE(succeeded(verify(*module)));
  EXPECT_EQ(count("linalg.fill"), 0u);
  EXPECT_EQ(count("linalg.broadcast"), 1u);
  EXPECT_EQ(count("tosa.const"), 0u);
  EXPECT_EQ(valuesOf(op), Floats({3, 4}));
  EXPECT_EQ(*op.getBias(), Floats({5, 6}));
  op.setBias(builder, {7, 8});
  EXPECT_EQ(count("linalg.broadcast"), 1u);
  EXPECT_EQ(*op.getBias(), Floats({7, 8}));
}

// Channels are axis 1; the result starts as a constant, or as an argument.
TEST_F(KernelOpTest, ReadsTheBiasOfAChannelsFirstConvolution) {
  const char *dense =
      "%init = arith.constant dense<[[[[1.0, 1.0]], [[2.0, 2.0]]]]> : "
      "tensor<1x2x1x2xf32>\n";
  parse(linalgConv("conv_2d_nchw_fchw", "tensor<1x1x1x2xf32>",
                   "tensor<2x1x1x1xf32>", "1.0", "tensor<1x2x1x2xf32>", dense));
  KernelOp op = find().front();
  EXPECT_EQ(op.resultAxis(), 1);
  EXPECT_EQ(op.inputAxis(), 1);
  EXPECT_EQ(*op.getBias(), Floats({1, 2}));
  OpBuilder builder(&context);
  op.setBias(builder, {3, 4});
  ASSERT_TRUE(succeeded(verify(*module)));
  EXPECT_EQ(*op.getBias(), Floats({3, 4}));

  const char *varying =
      "%init = arith.constant dense<[[[[1.0, 1.5]], [[2.0, 2.0]]]]> : "
      "tensor<1x2x1x2xf32>\n";
  parse(linalgConv("conv_2d_nchw_fchw", "tensor<1x1x1x2xf32>",
                   "tensor<2x1x1x1xf32>", "1.0", "tensor<1x2x1x2xf32>",
                   varying));
  EXPECT_FALSE(find().front().getBias());
}

TEST_F(KernelOpTest, ReadsLinalgMatMul) {
  parse(R"mlir(
func.func @main(%x: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %k = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %b = arith.constant dense<[5.0, 6.0]> : tensor<2xf32>
  %empty = tensor.empty() : tensor<3x2xf32>
  %init = linalg.broadcast ins(%b : tensor<2xf32>) outs(%empty : tensor<3x2xf32>) dimensions = [0]
  %0 = linalg.matmul ins(%x, %k : tensor<3x2xf32>, tensor<2x2xf32>) outs(%init : tensor<3x2xf32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
})mlir");
  KernelOp op = find().front();
  EXPECT_EQ(inChannels(op, 4), Integers({0, 0, 1, 1}));
  EXPECT_EQ(*op.getBias(), Floats({5, 6}));
  EXPECT_TRUE(op.isPositionwise());
  EXPECT_FALSE(op.isConvolution());
}

// Strides and dilations of 1 need not be written.
TEST_F(KernelOpTest, ReadsLinalgConvolutionWithoutAttributes) {
  parse(R"mlir(
func.func @main(%x: tensor<1x4x4x1xf32>, %init: tensor<1x3x2x1xf32>) -> tensor<1x3x2x1xf32> {
  %k = arith.constant dense<1.0> : tensor<1x2x3x1xf32>
  %0 = linalg.conv_2d_nhwc_fhwc ins(%x, %k : tensor<1x4x4x1xf32>, tensor<1x2x3x1xf32>) outs(%init : tensor<1x3x2x1xf32>) -> tensor<1x3x2x1xf32>
  return %0 : tensor<1x3x2x1xf32>
})mlir");
  std::vector<KernelOp> ops = find();
  ASSERT_EQ(ops.size(), 1u);
  EXPECT_TRUE(ops[0].isConvolution());
  EXPECT_EQ(toVector(ops[0].getWindow()), Integers({2, 3}));
  EXPECT_EQ(toVector(ops[0].getStrides()), Integers({1, 1}));
  EXPECT_EQ(toVector(ops[0].getDilations()), Integers({1, 1}));
  // The start of the result comes from outside.
  EXPECT_FALSE(ops[0].getBias());
}
