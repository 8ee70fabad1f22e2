// SPDX-License-Identifier: Apache-2.0
//
// Factors and offsets beside a layer, folded into it: what the network computes
// stays the same, and the arithmetic is gone.
#include "GraphPasses.h"

using namespace mlir;
using namespace mct;
using namespace mct::testing;

namespace {
/// One layer %c of %i, and the constants that it reads.
struct Layer {
  std::string op;
  Shape from, kernel, to;
  int64_t pad = 0;
  int64_t stride = 1;

  std::string text(const std::string &result, const std::string &input) const {
    std::string constants =
        constant("k", kernel, 11) + constant("b", {to.back()}, 12);
    if (op == "matmul")
      return constant("k", kernel, 11) + "%" + result + " = tosa.matmul %" +
             input + ", %k, %zero, %zero : " + types({from, kernel, {1}, {1}}) +
             tensorType(to) + "\n";
    std::string layer =
        convolution(op, result, input, from, "k", kernel, "b", to, pad);
    if (stride != 1) {
      size_t at = layer.find("stride = array<i64: 1, 1>");
      layer.replace(at, 25, "stride = array<i64: 2, 2>");
    }
    return constants + layer;
  }
};

const Layer kConvolution{"conv2d", {1, 6, 6, 3}, {4, 3, 3, 3}, {1, 6, 6, 4}, 1};
const Layer kUnpadded{"conv2d", {1, 6, 6, 3}, {4, 3, 3, 3}, {1, 4, 4, 4}};
const Layer kDepthwise{
    "depthwise_conv2d", {1, 6, 6, 3}, {3, 3, 3, 2}, {1, 4, 4, 6}};
const Layer kTransposed{
    "transpose_conv2d", {1, 4, 4, 3}, {4, 2, 2, 3}, {1, 5, 5, 4}};
const Layer kStrided{
    "transpose_conv2d", {1, 3, 3, 3}, {4, 2, 2, 3}, {1, 6, 6, 4}, 0, 2};
const Layer kProduct{"matmul", {1, 5, 3}, {1, 3, 4}, {1, 5, 4}};

constexpr StringLiteral kFold = "mct-fold-batch-norm";

class ScaleFoldingTest : public GraphPassesTest {
protected:
  /// `%result = op %lhs, %rhs`, either of them a constant made for it.
  std::string arithmetic(const std::string &op, const std::string &result,
                         const std::string &input, const Shape &shape,
                         bool perChannel, bool constantFirst, unsigned seed) {
    Shape constantShape(shape.size(), 1);
    if (perChannel)
      constantShape.back() = shape.back();
    std::string name = result + "c";
    Shape lhs = constantFirst ? constantShape : shape;
    Shape rhs = constantFirst ? shape : constantShape;
    std::string operands =
        constantFirst ? "%" + name + ", %" + input : "%" + input + ", %" + name;
    std::string text = constant(name, constantShape, seed);
    if (op == "mul")
      return text + "%" + result +
             "s = \"tosa.const\"() <{values = dense<0> : "
             "tensor<1xi8>}> : () -> tensor<1xi8>\n%" +
             result + " = tosa.mul " + operands + ", %" + result + "s : (" +
             tensorType(lhs) + ", " + tensorType(rhs) + ", tensor<1xi8>) -> " +
             tensorType(shape) + "\n";
    return text + "%" + result + " = tosa." + op + " " + operands + " : " +
           types({lhs, rhs}) + tensorType(shape) + "\n";
  }

  size_t count(StringRef name) {
    size_t count = 0;
    module->walk(
        [&](Operation *op) { count += op->getName().getStringRef() == name; });
    return count;
  }

  /// Factors are gone, and additions but for the bias of a product.
  void expectFolded(const std::string &text, size_t additions = 0) {
    expectSame(text, kFold);
    EXPECT_EQ(count("tosa.mul"), 0u) << text;
    EXPECT_EQ(count("tosa.sub"), 0u) << text;
    EXPECT_EQ(count("tosa.add"), additions) << text;
  }
};
} // namespace

TEST_F(ScaleFoldingTest, AfterEveryKindOfLayer) {
  for (const Layer &layer :
       {kConvolution, kDepthwise, kTransposed, kStrided, kProduct})
    for (bool perChannel : {false, true})
      for (bool constantFirst : {false, true}) {
        bool isProduct = layer.op == "matmul";
        expectFolded(function(layer.from, layer.to,
                              layer.text("c", "x") +
                                  arithmetic("mul", "m", "c", layer.to,
                                             perChannel, constantFirst, 21) +
                                  arithmetic("add", "y", "m", layer.to,
                                             perChannel, constantFirst, 22)),
                     isProduct);
        expectFolded(function(layer.from, layer.to,
                              layer.text("c", "x") +
                                  arithmetic("sub", "m", "c", layer.to,
                                             perChannel, constantFirst, 21) +
                                  arithmetic("mul", "y", "m", layer.to,
                                             perChannel, !constantFirst, 22)),
                     isProduct);
      }
}

TEST_F(ScaleFoldingTest, FactorsInFrontOfEveryKindOfLayer) {
  for (const Layer &layer :
       {kConvolution, kDepthwise, kTransposed, kStrided, kProduct})
    for (bool perChannel : {false, true})
      for (bool constantFirst : {false, true})
        expectFolded(function(layer.from, layer.to,
                              arithmetic("mul", "m", "x", layer.from,
                                         perChannel, constantFirst, 21) +
                                  layer.text("y", "m")));
}

TEST_F(ScaleFoldingTest, OffsetsInFrontOfLayersWithoutBorders) {
  for (const Layer &layer : {kUnpadded, kDepthwise, kProduct})
    for (bool perChannel : {false, true})
      expectFolded(function(layer.from, layer.to,
                            arithmetic("sub", "s", "x", layer.from, perChannel,
                                       perChannel, 21) +
                                arithmetic("mul", "m", "s", layer.from,
                                           perChannel, false, 22) +
                                arithmetic("add", "a", "m", layer.from,
                                           !perChannel, false, 23) +
                                layer.text("y", "a")),
                   layer.op == "matmul");
}

TEST_F(ScaleFoldingTest, AFactorAfterABatchNormChangesItsMoments) {
  // mean 1, deviation 2 of a batch norm; times -3, minus 1.
  Shape shape = {1, 6, 6, 4}, channels = {1, 1, 1, 4}, one = {1, 1, 1, 1};
  auto apply = [&](const std::string &op, const std::string &result,
                   const std::string &input, const Shape &constantShape,
                   float value) {
    std::string text = arithmetic(op, result, input, shape,
                                  constantShape.back() != 1, false, 1);
    // The constant comes first.
    return constant(result + "c", constantShape,
                    Floats(constantShape.back(), value)) +
           text.substr(text.find('\n') + 1);
  };
  module = parseSourceString<ModuleOp>(
      function(kConvolution.from, shape,
               kConvolution.text("c", "x") +
                   apply("sub", "s", "c", channels, 0.5f) +
                   apply("mul", "r", "s", channels, 0.25f) +
                   apply("mul", "g", "r", channels, 2.0f) +
                   apply("add", "n", "g", channels, 1.0f) +
                   apply("mul", "f", "n", one, -3.0f) +
                   apply("add", "y", "f", one, -1.0f)),
      &context);
  ASSERT_TRUE(module) << llvm::join(diagnostics, "\n");
  ASSERT_TRUE(succeeded(runPipeline(kFold, *module)));
  EXPECT_EQ(count("tosa.mul"), 0u);
  size_t found = 0;
  module->walk([&](tpc::BiasOp bias) {
    auto moments = bias.getMoments();
    ASSERT_TRUE(moments);
    for (auto [mean, deviation] :
         llvm::zip_equal(moments->first, moments->second)) {
      EXPECT_FLOAT_EQ(mean, -4);
      EXPECT_FLOAT_EQ(deviation, 6);
      ++found;
    }
  });
  EXPECT_EQ(found, 4u);
}
