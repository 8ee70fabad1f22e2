// SPDX-License-Identifier: Apache-2.0
//
// The rule of every op: numbers derived by hand, and differences.
#include "Differences.h"

using namespace mct;
using namespace mct::testing;
using namespace mlir;

namespace {
using Sizes = std::vector<int64_t>;
using Doubles = std::vector<double>;

std::string typeText(const Sizes &shape, const char *element = "f32") {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + element + ">";
}

std::string arrayText(const Sizes &values) {
  std::string text = "array<i64";
  for (size_t i = 0; i != values.size(); ++i)
    text += (i ? ", " : ": ") + std::to_string(values[i]);
  return text + ">";
}

std::string shapeText(const char *name, const Sizes &values) {
  std::string text =
      "  %" + std::string(name) + " = tosa.const_shape {values = dense<[";
  for (size_t i = 0; i != values.size(); ++i)
    text += (i ? ", " : "") + std::to_string(values[i]);
  std::string count = std::to_string(values.size());
  return text + "]> : tensor<" + count + "xindex>} : () -> !tosa.shape<" +
         count + ">\n";
}

/// @f of arguments %0, %1, … that returns %y.
std::string functionText(const std::vector<std::string> &arguments,
                         const std::string &body, const std::string &result) {
  std::string text = "func.func @f(";
  for (size_t i = 0; i != arguments.size(); ++i)
    text += (i ? ", %" : "%") + std::to_string(i) + ": " + arguments[i];
  return text + ") -> " + result +
         " {\n  %zero = \"tosa.const\"() <{values = dense<0.0> : "
         "tensor<1xf32>}> "
         ": () -> tensor<1xf32>\n  %shift = \"tosa.const\"() <{values = "
         "dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>\n" +
         body + "\n  return %y : " + result + "\n}\n";
}

/// A convolution of a kind; sizes of the output follow.
struct Convolution {
  std::string op = "conv2d";
  Sizes input, kernel;
  Sizes pad{0, 0, 0, 0}, stride{1, 1}, dilation{1, 1};
  int64_t bias = 0; // size; 0: as many as channels

  Sizes output() const {
    bool isDepthwise = op == "depthwise_conv2d";
    Sizes shape{input[0]};
    for (size_t d = 0; d != stride.size(); ++d) {
      int64_t window = kernel[isDepthwise ? d : d + 1];
      if (op == "transpose_conv2d")
        shape.push_back((input[d + 1] - 1) * stride[d] + pad[2 * d] +
                        pad[2 * d + 1] + window);
      else
        shape.push_back((input[d + 1] - 1 + pad[2 * d] + pad[2 * d + 1] -
                         (window - 1) * dilation[d]) /
                            stride[d] +
                        1);
    }
    shape.push_back(isDepthwise ? kernel[2] * kernel[3] : kernel[0]);
    return shape;
  }
  int64_t biasSize() const { return bias ? bias : output().back(); }
  std::string text() const {
    std::string body =
        "  %y = tosa." + op + " %0, %1, %2, %zero, %zero {acc_type = f32, ";
    body +=
        op == "transpose_conv2d"
            ? "out_pad = " + arrayText(pad)
            : "pad = " + arrayText(pad) + ", dilation = " + arrayText(dilation);
    body += ", stride = " + arrayText(stride) + "} : (" + typeText(input) +
            ", " + typeText(kernel) + ", " + typeText({biasSize()}) +
            ", tensor<1xf32>, tensor<1xf32>) -> " + typeText(output());
    return functionText(
        {typeText(input), typeText(kernel), typeText({biasSize()})}, body,
        typeText(output()));
  }
};

class Gradients : public GradientTest {
protected:
  /// The gradients by all arguments at these numbers.
  Tensors gradientsAt(const std::string &text,
                      const std::vector<Doubles> &arguments,
                      const Doubles &resultGradient,
                      const GradientRules &rules = {}) {
    module = parse(text);
    auto function = module->lookupSymbol<func::FuncOp>("f");
    func::FuncOp gradient = differentiate(function, rules);
    EXPECT_TRUE(gradient) << diagnostics << text;
    if (!gradient)
      return {};
    Tensors all;
    for (auto [type, values] :
         llvm::zip(function.getArgumentTypes(), arguments))
      all.push_back(tensorOf(type, values));
    all.push_back(tensorOf(function.getResultTypes().front(), resultGradient));
    return evaluate(gradient, all);
  }

  static void expectNumbers(const ReferenceTensor &tensor,
                            const Doubles &expected, const char *what) {
    ASSERT_EQ(tensor.numbers.size(), expected.size()) << what;
    for (size_t i = 0; i != expected.size(); ++i)
      EXPECT_NEAR(tensor.numbers[i].value, expected[i],
                  1e-6 * std::max(1.0, std::abs(expected[i])))
          << what << " " << i;
  }
  /// Compares the gradients of a convolution; the bias gets the sum of the
  /// result's. `result`: of the convolution itself, without a bias; empty: it
  /// is not compared.
  void expectConvolution(const Convolution &convolution, const Doubles &input,
                         const Doubles &kernel, const Doubles &resultGradient,
                         const Doubles &inputGradient,
                         const Doubles &kernelGradient,
                         const Doubles &biasGradient,
                         const Doubles &result = {}) {
    Tensors gradients = gradientsAt(
        convolution.text(), {input, kernel, Doubles(convolution.biasSize(), 0)},
        resultGradient);
    ASSERT_EQ(gradients.size(), 3u);
    expectNumbers(gradients[0], inputGradient, "input");
    expectNumbers(gradients[1], kernelGradient, "kernel");
    expectNumbers(gradients[2], biasGradient, "bias");
    if (result.empty())
      return;
    auto function = module->lookupSymbol<func::FuncOp>("f");
    const Doubles bias(convolution.biasSize(), 0);
    Tensors arguments;
    for (auto [type, values] :
         llvm::zip(function.getArgumentTypes(),
                   std::vector<Doubles>{input, kernel, bias}))
      arguments.push_back(tensorOf(type, values));
    Tensors made = evaluate(function, arguments);
    expectNumbers(made[0], result, "result");
  }

  /// Compares with differences at random arguments within [low, high].
  void expectDifferences(const std::string &text, double low = -1,
                         double high = 1, unsigned seed = 1) {
    SCOPED_TRACE(text);
    module = parse(text);
    auto function = module->lookupSymbol<func::FuncOp>("f");
    ASSERT_TRUE(succeeded(verify(*module))) << diagnostics;
    func::FuncOp gradient = differentiate(function);
    ASSERT_TRUE(gradient) << diagnostics;
    std::mt19937 random(seed);
    Tensors arguments, weights;
    for (Type type : function.getArgumentTypes())
      arguments.push_back(randomTensor(type, random, low, high));
    for (Type type : function.getResultTypes())
      weights.push_back(randomTensor(type, random));
    Tensors all = arguments;
    all.insert(all.end(), weights.begin(), weights.end());
    Tensors gradients = evaluate(gradient, all);
    for (int trial = 0; trial != 4; ++trial) {
      Tensors directions;
      for (Type type : function.getArgumentTypes())
        directions.push_back(randomTensor(type, random));
      Derivative derivative = derive(
          [&](const Tensors &moved) { return evaluate(function, moved); },
          arguments, weights, gradients, directions);
      EXPECT_TRUE(derivative.exists);
      EXPECT_NEAR(derivative.gradient, derivative.difference,
                  derivative.tolerance);
    }
    implementations = expectExecutes(gradient, all);
    EXPECT_EQ(diagnostics, "");
  }

  OwningOpRef<ModuleOp> module;
  /// Implementations of the primitives of the last execution.
  std::vector<std::string> implementations;
};

Doubles upTo(int count, int first = 0) {
  Doubles values(count);
  for (int i = 0; i != count; ++i)
    values[size_t(i)] = first + i;
  return values;
}
} // namespace

//===----------------------------------------------------------------------===//
// Numbers derived by hand: sums of products, window by window
//===----------------------------------------------------------------------===//

TEST_F(Gradients, OfAConvolution) {
  expectConvolution({"conv2d", {1, 3, 3, 1}, {1, 2, 2, 1}}, upTo(9, 1),
                    {1, 2, 3, 4}, {1, 1, 1, 1}, {1, 3, 2, 4, 10, 6, 3, 7, 4},
                    {12, 16, 24, 28}, {4}, {37, 47, 67, 77});
}

TEST_F(Gradients, OfAConvolutionWithAStride) {
  expectConvolution(
      {"conv2d", {1, 4, 4, 1}, {1, 2, 2, 1}, {0, 0, 0, 0}, {2, 2}}, upTo(16),
      {1, 2, 3, 4}, {1, 2, 3, 4},
      {1, 2, 2, 4, 3, 4, 6, 8, 3, 6, 4, 8, 9, 12, 12, 16}, {68, 78, 108, 118},
      {10}, {34, 54, 114, 134});
}

TEST_F(Gradients, OfAPaddedConvolution) {
  expectConvolution({"conv2d", {1, 2, 2, 1}, {1, 3, 3, 1}, {1, 1, 1, 1}},
                    {1, 2, 3, 4}, upTo(9, 1), {1, 0, 0, 0}, {5, 6, 8, 9},
                    {0, 0, 0, 0, 1, 2, 0, 3, 4}, {1}, {77, 67, 47, 37});
}

TEST_F(Gradients, OfADilatedConvolution) {
  expectConvolution(
      {"conv2d", {1, 1, 5, 1}, {1, 1, 2, 1}, {0, 0, 0, 0}, {1, 1}, {1, 3}},
      {1, 2, 3, 4, 5}, {2, 3}, {1, 10}, {2, 20, 0, 3, 30}, {21, 54}, {11},
      {14, 19});
}

TEST_F(Gradients, OfAConvolutionPaddedOnOneSide) {
  expectConvolution(
      {"conv2d", {1, 4, 4, 1}, {1, 3, 3, 1}, {0, 1, 0, 1}, {2, 2}}, upTo(16),
      Doubles(9, 1), {1, 1, 1, 1},
      {1, 1, 2, 1, 1, 1, 2, 1, 2, 2, 4, 2, 1, 1, 2, 1},
      {20, 24, 12, 36, 40, 20, 18, 20, 10}, {4}, {45, 39, 66, 50});
}

TEST_F(Gradients, OfADepthwiseConvolutionWithAMultiplier) {
  expectConvolution({"depthwise_conv2d", {1, 2, 2, 2}, {1, 1, 2, 2}},
                    {1, 5, 2, 6, 3, 7, 4, 8}, {1, 10, 100, 1000},
                    Doubles(16, 1), {11, 1100, 11, 1100, 11, 1100, 11, 1100},
                    {10, 10, 26, 26}, {4, 4, 4, 4});
}

TEST_F(Gradients, OfATransposedConvolution) {
  expectConvolution(
      {"transpose_conv2d", {1, 2, 2, 1}, {1, 2, 2, 1}, {0, 0, 0, 0}, {2, 2}},
      {1, 2, 3, 4}, {1, 10, 100, 1000}, Doubles(16, 1), Doubles(4, 1111),
      Doubles(4, 10), {16});
}

TEST_F(Gradients, OfAnAveragePoolCountWhatLiesInTheInput) {
  std::string type = typeText({1, 3, 3, 1});
  Tensors gradients = gradientsAt(
      functionText(
          {type},
          "  %y = tosa.avg_pool2d %0, %zero, %zero {kernel = array<i64: "
          "2, 2>, stride = array<i64: 1, 1>, pad = array<i64: 1, 0, 1, "
          "0>, acc_type = f32} : (" +
              type + ", tensor<1xf32>, tensor<1xf32>) -> " + type,
          type),
      {Doubles(9, 0)}, Doubles(9, 1));
  expectNumbers(gradients[0], {2.25, 1.5, 0.75, 1.5, 1, 0.5, 0.75, 0.5, 0.25},
                "input");
}

TEST_F(Gradients, OfAMaxPoolGoesToTheFirstOfEqualElements) {
  Tensors gradients = gradientsAt(
      functionText(
          {typeText({1, 2, 2, 1})},
          "  %y = tosa.max_pool2d %0 {kernel = array<i64: 2, 2>, stride "
          "= array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>} : " +
              ("(" + typeText({1, 2, 2, 1}) + ") -> ") + typeText({1, 1, 1, 1}),
          typeText({1, 1, 1, 1})),
      {Doubles(4, 2)}, {5});
  expectNumbers(gradients[0], {5, 0, 0, 0}, "input");
}

TEST_F(Gradients, OfAReductionAreSharedByEqualExtremes) {
  Tensors gradients =
      gradientsAt(functionText({typeText({2, 3})},
                               "  %y = tosa.reduce_max %0 {axis = 1 : i32} : "
                               "(tensor<2x3xf32>) -> tensor<2x1xf32>",
                               typeText({2, 1})),
                  {{1, 3, 3, 2, 0, 1}}, {4, 5});
  expectNumbers(gradients[0], {0, 2, 2, 5, 0, 0}, "input");
}

TEST_F(Gradients, OfAProductWithZerosAreTheProductsOfTheOthers) {
  Tensors gradients =
      gradientsAt(functionText({typeText({3, 3})},
                               "  %y = tosa.reduce_product %0 {axis = 1 : i32} "
                               ": (tensor<3x3xf32>) -> tensor<3x1xf32>",
                               typeText({3, 1})),
                  {{2, 3, 4, 2, 0, 4, 0, 5, 0}}, {1, 10, 100});
  expectNumbers(gradients[0], {12, 8, 6, 0, 80, 0, 0, 0, 0}, "input");
}

TEST_F(Gradients, OfAMatrixProduct) {
  std::string type = typeText({1, 2, 2});
  Tensors gradients = gradientsAt(
      functionText({type, type},
                   "  %y = tosa.matmul %0, %1, %zero, %zero : (" + type + ", " +
                       type + ", tensor<1xf32>, tensor<1xf32>) -> " + type,
                   type),
      {{1, 2, 3, 4}, {5, 6, 7, 8}}, {1, 0, 0, 1});
  expectNumbers(gradients[0], {5, 7, 6, 8}, "first");
  expectNumbers(gradients[1], {1, 3, 2, 4}, "second");
}

TEST_F(Gradients, OfAGatherAddUpWhatIsReadTwice) {
  Tensors gradients = gradientsAt(
      functionText(
          {typeText({1, 5, 1})},
          "  %i = \"tosa.const\"() <{values = dense<[[0, 4, 4]]> : "
          "tensor<1x3xi32>}> : () -> tensor<1x3xi32>\n  %y = tosa.gather %0, "
          "%i "
          ": (tensor<1x5x1xf32>, tensor<1x3xi32>) -> tensor<1x3x1xf32>",
          typeText({1, 3, 1})),
      {Doubles(5, 0)}, {1, 2, 3});
  expectNumbers(gradients[0], {1, 0, 0, 0, 5}, "values");
}

TEST_F(Gradients, OfEqualOperandsOfAMaximumAreHalves) {
  Tensors gradients =
      gradientsAt(functionText({typeText({3}), typeText({3})},
                               "  %y = tosa.maximum %0, %1 : (tensor<3xf32>, "
                               "tensor<3xf32>) -> tensor<3xf32>",
                               typeText({3})),
                  {{1, 2, 3}, {2, 2, 2}}, {10, 20, 30});
  expectNumbers(gradients[0], {0, 10, 30}, "first");
  expectNumbers(gradients[1], {10, 10, 0}, "second");
}

TEST_F(Gradients, OfAClampAtItsBoundsAreAskedFor) {
  std::string text =
      functionText({typeText({5})},
                   "  %y = tosa.clamp %0 {min_val = 0.0 : f32, max_val = 6.0 : "
                   "f32} : (tensor<5xf32>) -> tensor<5xf32>",
                   typeText({5}));
  Doubles values{-1, 0, 3, 6, 7};
  expectNumbers(gradientsAt(text, {values}, Doubles(5, 2))[0], {0, 0, 2, 0, 0},
                "open");
  GradientRules closed;
  closed.closedClamps = true;
  expectNumbers(gradientsAt(text, {values}, Doubles(5, 2), closed)[0],
                {0, 2, 2, 2, 0}, "closed");
}

//===----------------------------------------------------------------------===//
// Points
//===----------------------------------------------------------------------===//

namespace {
std::string pointText(const Sizes &shape, const std::string &clauses) {
  std::string type = typeText(shape);
  return functionText(
      {type}, "  %y = tpc.quantize %0 as \"p\" " + clauses + " : " + type,
      type);
}
} // namespace

TEST_F(Gradients, PassAPointWhereTheNearestCodeIsOnTheGrid) {
  // Steps of 1/4 from -8 to 7; 7.5 rounds to the even 8, -8.5 to -8.
  std::string parameters =
      "activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 4, "
      "is_signed = true";
  Doubles steps{7.4, 7.6, -8.4, -8.6, 7.5, -8.5, 0}, values;
  for (double step : steps)
    values.push_back(step / 4);
  Doubles ones(steps.size(), 1);
  expectNumbers(
      gradientsAt(pointText({7}, parameters + ">)"), {values}, ones)[0],
      {1, 0, 1, 0, 0, 1, 1}, "to even");
  expectNumbers(
      gradientsAt(pointText({7}, parameters + ", rounding = half_up>)"),
                  {values}, ones)[0],
      {1, 0, 1, 0, 0, 1, 1}, "up");
  GradientRules everywhere;
  everywhere.maskPoints = false;
  expectNumbers(gradientsAt(pointText({7}, parameters + ">)"), {values}, ones,
                            everywhere)[0],
                ones, "everywhere");
}

TEST_F(Gradients, PassAPointWhoseEndsRoundInside) {
  // Codes 0 to 3 for -1 to 2 around the zero point 1: in steps, -1.5 is nearer
  // to the even -2 and 2.5 to 2; half up they are -1 and 3.
  std::string parameters = "activation parameters(#tpc.uniform<scale = [1.0], "
                           "zero_point = [1], bits "
                           "= 2";
  Doubles values{-1.6, -1.5, -1.4, 2.4, 2.5, 2.6};
  expectNumbers(gradientsAt(pointText({6}, parameters + ">)"), {values},
                            Doubles(6, 1))[0],
                {0, 0, 1, 1, 1, 0}, "to even");
  expectNumbers(
      gradientsAt(pointText({6}, parameters + ", rounding = half_up>)"),
                  {values}, Doubles(6, 1))[0],
      {0, 1, 1, 1, 0, 0}, "up");
}

TEST_F(Gradients, PassAPointByChannel) {
  expectNumbers(
      gradientsAt(pointText({2, 3}, "weight \"w\" axes [0] "
                                    "parameters(#tpc.symmetric<threshold = "
                                    "[1.0, 4.0], bits = 3>)"),
                  {{-1.2, 0.5, 1.5, -4.4, 1.5, 5}}, {1, 2, 3, 4, 5, 6})[0],
      {0, 2, 0, 4, 5, 0}, "channels");
}

TEST_F(Gradients, PassAPointWithATableBetweenItsLevels) {
  // Levels -1, 0 and 0.5.
  expectNumbers(
      gradientsAt(pointText({5}, "activation parameters(#tpc.lookup_table<"
                                 "method = lut_pot_quantizer, threshold = "
                                 "[1.0], table = [-128, 0, 64], "
                                 "bits = 2>)"),
                  {{-1.25, -1, 0.25, 0.5, 0.75}}, Doubles(5, 1))[0],
      {0, 1, 1, 1, 0}, "table");
}

TEST_F(Gradients, PassAPointWithoutParameters) {
  expectNumbers(
      gradientsAt(pointText({2}, "activation"), {{-1e9, 1e9}}, {1, 2})[0],
      {1, 2}, "no parameters");
}

//===----------------------------------------------------------------------===//
// Differences
//===----------------------------------------------------------------------===//

TEST_F(Gradients, OfConvolutionsAreDifferences) {
  std::mt19937 random(7);
  auto between = [&](int64_t first, int64_t last) {
    return first + int64_t(random() % size_t(last - first + 1));
  };
  for (unsigned number = 0; number != 96; ++number) {
    Convolution made;
    static const char *const kinds[] = {"conv2d", "depthwise_conv2d",
                                        "transpose_conv2d", "conv3d"};
    made.op = kinds[number % 4];
    size_t space = made.op == "conv3d" ? 3 : 2;
    int64_t inputs = between(1, 3), outputs = between(1, 3);
    made.input = {between(1, 3)};
    made.pad.assign(2 * space, 0);
    made.stride.assign(space, 1);
    made.dilation.assign(space, 1);
    Sizes window;
    for (size_t d = 0; d != space; ++d) {
      int64_t kernel = between(1, 3), stride = between(1, 3);
      made.stride[d] = stride;
      window.push_back(kernel);
      if (made.op == "transpose_conv2d") {
        // More than what the kernel reaches would be cut off.
        made.pad[2 * d] = between(1 - kernel, 2);
        made.pad[2 * d + 1] = between(1 - kernel, 2);
        made.input.push_back(between(2, 4));
        continue;
      }
      int64_t dilation = between(1, 3), reach = (kernel - 1) * dilation;
      made.dilation[d] = dilation;
      // Padding may be larger than the reach of the kernel.
      made.pad[2 * d] = between(0, reach + (number % 3 == 0 ? 2 : 0));
      made.pad[2 * d + 1] = between(0, reach + (number % 5 == 0 ? 2 : 0));
      int64_t size = reach - made.pad[2 * d] - made.pad[2 * d + 1] + 1;
      // The next that divides exactly, and has elements.
      size += stride * between(0, 2);
      while (size < 1)
        size += stride;
      made.input.push_back(size);
    }
    made.input.push_back(inputs);
    if (made.op == "depthwise_conv2d")
      made.kernel = {window[0], window[1], inputs, between(1, 2)};
    else {
      made.kernel = {outputs};
      made.kernel.insert(made.kernel.end(), window.begin(), window.end());
      made.kernel.push_back(inputs);
    }
    made.bias = random() % 3 == 0 ? 1 : 0;
    expectDifferences(made.text(), -1, 1, number);
  }
}

TEST_F(Gradients, OfPoolsAreDifferences) {
  std::mt19937 random(11);
  auto between = [&](int64_t first, int64_t last) {
    return first + int64_t(random() % size_t(last - first + 1));
  };
  for (unsigned number = 0; number != 40; ++number) {
    bool isMax = number % 2;
    Sizes kernel, stride, pad, input{between(1, 2)}, output{input[0]};
    for (int d = 0; d != 2; ++d) {
      kernel.push_back(between(1, 3));
      stride.push_back(between(1, 3));
      pad.push_back(between(0, kernel.back() - 1));
      pad.push_back(between(0, kernel.back() - 1));
      int64_t size = kernel.back() - pad[2 * d] - pad[2 * d + 1];
      int64_t steps = between(0, 2);
      size += stride.back() * steps;
      for (; size < 1; size += stride.back())
        ++steps;
      input.push_back(size);
      output.push_back(steps + 1);
    }
    int64_t channels = between(1, 2);
    input.push_back(channels);
    output.push_back(channels);
    std::string attributes = "{kernel = " + arrayText(kernel) +
                             ", stride = " + arrayText(stride) +
                             ", pad = " + arrayText(pad);
    std::string body =
        isMax ? "  %y = tosa.max_pool2d %0 " + attributes + "} : (" +
                    typeText(input) + ") -> " + typeText(output)
              : "  %y = tosa.avg_pool2d %0, %zero, %zero " + attributes +
                    ", acc_type = f32} : (" + typeText(input) +
                    ", tensor<1xf32>, tensor<1xf32>) -> " + typeText(output);
    expectDifferences(functionText({typeText(input)}, body, typeText(output)),
                      -1, 1, number);
  }
}

TEST_F(Gradients, OfResizesAreDifferences) {
  struct Case {
    Sizes scale, offset, border;
    int64_t height, width;
  };
  // Input 3 x 4: sizes of the output are (size - 1) * n - offset + border) / d
  // + 1.
  const Case cases[] = {{{2, 1, 2, 1}, {0, 0}, {0, 0}, 5, 7},
                        {{4, 2, 4, 2}, {-1, -1}, {1, 1}, 6, 8},
                        {{3, 2, 1, 1}, {0, 0}, {0, 0}, 4, 4},
                        {{2, 4, 6, 4}, {1, -2}, {1, 0}, 2, 6}};
  for (const Case &resize : cases)
    for (const char *mode : {"BILINEAR", "NEAREST_NEIGHBOR"}) {
      std::string from = typeText({2, 3, 4, 2}),
                  to = typeText({2, resize.height, resize.width, 2});
      expectDifferences(functionText(
          {from},
          shapeText("scale", resize.scale) +
              shapeText("offset", resize.offset) +
              shapeText("border", resize.border) +
              "  %y = tosa.resize %0, %scale, %offset, %border {mode = " +
              mode + "} : (" + from +
              ", !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>) -> " + to,
          to));
    }
}

TEST_F(Gradients, OfElementwiseOpsAreDifferences) {
  std::string type = typeText({2, 3}), repeated = typeText({1, 3});
  for (const char *op : {"sigmoid", "tanh", "erf", "exp", "sin", "cos", "abs"})
    expectDifferences(functionText({type},
                                   "  %y = tosa." + std::string(op) +
                                       " %0 : (" + type + ") -> " + type,
                                   type));
  for (const char *op : {"log", "reciprocal", "rsqrt"})
    expectDifferences(functionText({type},
                                   "  %y = tosa." + std::string(op) +
                                       " %0 : (" + type + ") -> " + type,
                                   type),
                      0.25, 2);
  expectDifferences(
      functionText({type},
                   "  %y = tosa.negate %0, %zero, %zero : (" + type +
                       ", tensor<1xf32>, tensor<1xf32>) -> " + type,
                   type));
  // Each operand repeated.
  for (bool first : {false, true}) {
    std::string a = first ? repeated : type, b = first ? type : repeated;
    for (const char *op : {"add", "sub", "maximum", "minimum", "pow"})
      expectDifferences(functionText({a, b},
                                     "  %y = tosa." + std::string(op) +
                                         " %0, %1 : (" + a + ", " + b +
                                         ") -> " + type,
                                     type),
                        0.25, 2);
    expectDifferences(functionText({a, b},
                                   "  %y = tosa.mul %0, %1, %shift : (" + a +
                                       ", " + b + ", tensor<1xi8>) -> " + type,
                                   type));
    Sizes decides = first ? Sizes{1, 3} : Sizes{2, 3};
    expectDifferences(functionText(
        {a, b},
        "  %zeros = \"tosa.const\"() <{values = dense<0.0> : "
        "tensor<1x1xf32>}> : () -> tensor<1x1xf32>\n  %p = tosa.greater %0, "
        "%zeros : (" +
            a + ", tensor<1x1xf32>) -> " + typeText(decides, "i1") +
            "\n  %y = tosa.select %p, %0, %1 : (" + typeText(decides, "i1") +
            ", " + a + ", " + b + ") -> " + type,
        type));
  }
}

TEST_F(Gradients, OfMovementsAreDifferences) {
  std::string x = typeText({2, 3, 4});
  auto check = [&](const std::string &body, const Sizes &result,
                   std::vector<std::string> arguments = {}) {
    if (arguments.empty())
      arguments = {x};
    expectDifferences(functionText(arguments, body, typeText(result)));
  };
  check(shapeText("s", {4, 6}) + "  %y = tosa.reshape %0, %s : (" + x +
            ", !tosa.shape<2>) -> tensor<4x6xf32>",
        {4, 6});
  check("  %y = tosa.transpose %0 {perms = array<i32: 2, 0, 1>} : (" + x +
            ") -> tensor<4x2x3xf32>",
        {4, 2, 3});
  check("  %y = tosa.reverse %0 {axis = 1 : i32} : (" + x + ") -> " + x,
        {2, 3, 4});
  check("  %y = tosa.identity %0 : (" + x + ") -> " + x, {2, 3, 4});
  check(shapeText("a", {1, 0, 1}) + shapeText("s", {1, 3, 2}) +
            "  %y = tosa.slice %0, %a, %s : (" + x +
            ", !tosa.shape<3>, !tosa.shape<3>) -> tensor<1x3x2xf32>",
        {1, 3, 2});
  check(shapeText("p", {0, 1, 2, 0, 1, 1}) + "  %y = tosa.pad %0, %p, %1 : (" +
            x + ", !tosa.shape<6>, tensor<1xf32>) -> tensor<3x5x6xf32>",
        {3, 5, 6}, {x, "tensor<1xf32>"});
  check(shapeText("m", {2, 1, 3}) + "  %y = tosa.tile %0, %m : (" + x +
            ", !tosa.shape<3>) -> tensor<4x3x12xf32>",
        {4, 3, 12});
  check("  %y = tosa.concat %0, %1, %0 {axis = 1 : i32} : (" + x +
            ", tensor<2x1x4xf32>, " + x + ") -> tensor<2x7x4xf32>",
        {2, 7, 4}, {x, "tensor<2x1x4xf32>"});
  std::string indices =
      "  %i = \"tosa.const\"() <{values = dense<[[2, 0], [1, 2]]> : "
      "tensor<2x2xi32>}> : () -> tensor<2x2xi32>\n";
  check(indices + "  %y = tosa.gather %0, %i : (" + x +
            ", tensor<2x2xi32>) -> tensor<2x2x4xf32>",
        {2, 2, 4});
  check(indices + "  %y = tosa.scatter %0, %i, %1 : (" + x +
            ", tensor<2x2xi32>, tensor<2x2x4xf32>) -> " + x,
        {2, 3, 4}, {x, "tensor<2x2x4xf32>"});
  for (const char *op :
       {"reduce_sum", "reduce_max", "reduce_min", "reduce_product"})
    check("  %y = tosa." + std::string(op) + " %0 {axis = 1 : i32} : (" + x +
              ") -> tensor<2x1x4xf32>",
          {2, 1, 4});
}

TEST_F(Gradients, OfMatrixProductsAreDifferences) {
  expectDifferences(functionText(
      {typeText({2, 3, 4}), typeText({2, 4, 5})},
      "  %y = tosa.matmul %0, %1, %zero, %zero : (tensor<2x3x4xf32>, "
      "tensor<2x4x5xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x3x5xf32>",
      typeText({2, 3, 5})));
}

/// Gradients of all users of one value add up, across ops without a rule of
/// their own: a softmax.
TEST_F(Gradients, OfASoftmaxAreDifferences) {
  std::string x = typeText({2, 5}), one = typeText({2, 1});
  expectDifferences(functionText(
      {x},
      "  %m = tosa.reduce_max %0 {axis = 1 : i32} : (" + x + ") -> " + one +
          "\n  %d = tosa.sub %0, %m : (" + x + ", " + one + ") -> " + x +
          "\n  %e = tosa.exp %d : (" + x + ") -> " + x +
          "\n  %s = tosa.reduce_sum %e {axis = 1 : i32} : (" + x + ") -> " +
          one + "\n  %r = tosa.reciprocal %s : (" + one + ") -> " + one +
          "\n  %y = tosa.mul %e, %r, %shift : (" + x + ", " + one +
          ", tensor<1xi8>) -> " + x,
      x));
}
