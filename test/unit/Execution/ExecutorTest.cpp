// SPDX-License-Identifier: Apache-2.0
#include "Fixture.h"
#include <array>

#include "mct/Quantizers/Grid.h"
#include "mct/Quantizers/LutQuantizer.h"
#include "mlir/AsmParser/AsmParser.h"

#include <cmath>

using namespace mct::execution;
using namespace mct::quantization;

namespace {

/// One function body that ends in a value, with its argument and result types.
std::string function(const std::string &arguments, const std::string &result,
                     const std::string &body) {
  return "func.func @main(" + arguments + ") -> " + result + " {\n" + kZero +
         body + "\n}";
}

class KernelTest : public ExecutionTest {
protected:
  /// The kernels and upstream's loops compute the same up to the order of
  /// additions; values and weights are in [-1, 1), sums have a few hundred
  /// terms.
  void expectSameAsLoops(const std::string &text, size_t kernels,
                         float tolerance = 2e-5f) {
    CompileOptions options;
    auto fast = compile(text, options);
    ASSERT_TRUE(fast) << llvm::join(diagnostics, "\n");
    EXPECT_EQ(fast->primitives().size(), kernels)
        << llvm::join(diagnostics, "\n");
    for (const Executor::PrimitiveInfo &kernel : fast->primitives())
      EXPECT_EQ(kernel.implementation.find("ref"), std::string::npos)
          << kernel.op << ": " << kernel.implementation;
    options.usePrimitives = false;
    auto slow = compile(text, options);
    ASSERT_TRUE(slow) << llvm::join(diagnostics, "\n");
    ASSERT_EQ(fast->unit(), slow->unit());
    std::vector<Floats> inputs = randomInputs(*fast);
    Floats a = runUnit(*fast, inputs), b = runUnit(*slow, inputs);
    ASSERT_EQ(a.size(), b.size());
    for (size_t i = 0; i < a.size(); ++i)
      ASSERT_NEAR(a[i], b[i], tolerance) << "element " << i;
  }
};

TEST_F(KernelTest, ConvolutionWithPadsStridesAndDilations) {
  expectSameAsLoops(
      function("%x: tensor<1x12x14x5xf32>", "tensor<1x6x4x7xf32>",
               constant("w", {7, 3, 4, 5}, 1) + constant("b", {7}, 2) + R"(
    %0 = tosa.conv2d %x, %w, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 2>, pad = array<i64: 1, 0, 2, 0>, stride = array<i64: 2, 3>}
      : (tensor<1x12x14x5xf32>, tensor<7x3x4x5xf32>, tensor<7xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x6x4x7xf32>
    return %0 : tensor<1x6x4x7xf32>)"),
      1);
}

// Many convolutions side by side, some of the same shape: none may compute in
// the buffer of another. The expected values are summed up one by one.
TEST_F(KernelTest, ManyConvolutionsKeepTheirBuffers) {
  struct Axis {
    int64_t input, kernel, dilation, before, after, stride, output;
  };
  std::mt19937 random(5);
  std::vector<std::array<Axis, 2>> shapes;
  while (shapes.size() != 50) {
    std::array<Axis, 2> shape;
    bool divides = true;
    for (Axis &axis : shape) {
      axis.input = 1 + random() % 9;
      axis.kernel = 1 + random() % 3;
      axis.dilation = 1 + random() % 4;
      int64_t reach = (axis.kernel - 1) * axis.dilation;
      axis.before = random() % (reach + 1);
      axis.after = random() % (reach + 1);
      axis.stride = 1 + random() % 2;
      int64_t span = axis.input - 1 + axis.before + axis.after - reach;
      divides &= span >= 0 && span % axis.stride == 0;
      axis.output = span / axis.stride + 1;
    }
    if (divides)
      shapes.push_back(shape);
  }
  std::string body = constant("b", {4}, 1) + kZero, results, types;
  auto list = [](std::initializer_list<int64_t> values) {
    std::string text;
    for (int64_t value : values)
      text += (text.empty() ? "" : ", ") + std::to_string(value);
    return text;
  };
  for (auto [index, shape] : llvm::enumerate(shapes)) {
    auto [h, w] = shape;
    std::string id = std::to_string(index),
                input = tensorType({1, h.input, w.input, 4}),
                kernel = tensorType({4, h.kernel, w.kernel, 4}),
                output = tensorType({1, h.output, w.output, 4});
    body += constant("k" + id, {4, h.kernel, w.kernel, 4}, 10 + index);
    body +=
        "%from" + id +
        " = tosa.const_shape {values = dense<0> : tensor<4xindex>} : () -> "
        "!tosa.shape<4>\n%size" +
        id + " = tosa.const_shape {values = dense<[" +
        list({1, h.input, w.input, 4}) +
        "]> : tensor<4xindex>} : () -> !tosa.shape<4>\n%x" + id +
        " = tosa.slice %x, %from" + id + ", %size" + id +
        " : (tensor<1x9x9x4xf32>, !tosa.shape<4>, !tosa.shape<4>) -> " + input +
        "\n%y" + id + " = tosa.conv2d %x" + id + ", %k" + id +
        ", %b, %zero, %zero {acc_type = f32, dilation = array<i64: " +
        list({h.dilation, w.dilation}) +
        ">, pad = array<i64: " + list({h.before, h.after, w.before, w.after}) +
        ">, stride = array<i64: " + list({h.stride, w.stride}) + ">} : (" +
        input + ", " + kernel +
        ", tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) -> " + output + "\n";
    results += (index ? ", %y" : "%y") + id;
    types += (index ? ", " : "") + output;
  }
  std::string text = "func.func @main(%x: tensor<1x9x9x4xf32>) -> (" + types +
                     ") {\n" + body + "return " + results + " : " + types +
                     "\n}";
  for (bool usePrimitives : {true, false}) {
    CompileOptions options;
    options.unit = 1;
    options.usePrimitives = usePrimitives;
    auto executor = compile(text, options);
    ASSERT_TRUE(executor) << llvm::join(diagnostics, "\n");
    Floats input = randomFloats(9 * 9 * 4, 7), bias = randomFloats(4, 1);
    std::vector<Floats> outputs;
    std::vector<void *> pointers;
    for (const TensorSpec &spec : executor->outputs())
      outputs.emplace_back(spec.type.getNumElements());
    for (Floats &output : outputs)
      pointers.push_back(output.data());
    llvm::cantFail(Worker(*executor).run({input.data()}, pointers, 1));
    for (auto [index, shape] : llvm::enumerate(shapes)) {
      auto [h, w] = shape;
      Floats kernel = randomFloats(4 * h.kernel * w.kernel * 4, 10 + index);
      for (int64_t e = 0; e != int64_t(outputs[index].size()); ++e) {
        int64_t o = e % 4, x = e / 4 % w.output, y = e / 4 / w.output;
        double sum = bias[o];
        for (int64_t ky = 0; ky != h.kernel; ++ky)
          for (int64_t kx = 0; kx != w.kernel; ++kx) {
            int64_t row = y * h.stride - h.before + ky * h.dilation,
                    column = x * w.stride - w.before + kx * w.dilation;
            if (row < 0 || column < 0 || row >= h.input || column >= w.input)
              continue;
            for (int64_t i = 0; i != 4; ++i)
              sum += input[(row * 9 + column) * 4 + i] *
                     kernel[((o * h.kernel + ky) * w.kernel + kx) * 4 + i];
          }
        // At most 37 terms of magnitude 1.
        ASSERT_NEAR(outputs[index][e], sum, 1e-5)
            << "convolution " << index
            << (usePrimitives ? " kernel" : " loops");
      }
    }
  }
}

TEST_F(KernelTest, OneBiasForAllChannels) {
  expectSameAsLoops(
      function("%x: tensor<1x4x4x3xf32>", "tensor<1x4x4x6xf32>",
               constant("w", {6, 1, 1, 3}, 1) + constant("b", {1}, 2) + R"(
    %0 = tosa.conv2d %x, %w, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
      : (tensor<1x4x4x3xf32>, tensor<6x1x1x3xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x6xf32>
    return %0 : tensor<1x4x4x6xf32>)"),
      1);
}

TEST_F(KernelTest, DepthwiseWithMultiplier) {
  expectSameAsLoops(
      function("%x: tensor<1x9x8x3xf32>", "tensor<1x5x8x6xf32>",
               constant("w", {3, 3, 3, 2}, 1) + constant("b", {6}, 2) + R"(
    %0 = tosa.depthwise_conv2d %x, %w, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 1>}
      : (tensor<1x9x8x3xf32>, tensor<3x3x3x2xf32>, tensor<6xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x5x8x6xf32>
    return %0 : tensor<1x5x8x6xf32>)"),
      1);
}

// oneDNN chooses an implementation by the form; that which multiplies matrices
// adds one number everywhere (pads at one side, strides, dilations).
TEST_F(KernelTest, ConvolutionsOfAnyFormWithResidual) {
  std::mt19937 random(11);
  auto below = [&](size_t n) { return static_cast<int64_t>(random() % n); };
  for (int tried = 0; tried != 60; ++tried) {
    bool depthwise = below(3) == 0;
    int64_t in = 1 + below(6), out = depthwise ? in : 1 + below(6);
    int64_t input[2], kernel[2], stride[2], dilation[2], pad[4], output[2];
    for (int axis : {0, 1}) {
      input[axis] = 1 + below(7);
      kernel[axis] = 1 + below(3);
      stride[axis] = 1 + below(2);
      dilation[axis] = kernel[axis] == 1 ? 1 : 1 + below(3);
      int64_t reach = (kernel[axis] - 1) * dilation[axis];
      int64_t &before = pad[2 * axis], &after = pad[2 * axis + 1];
      before = below(3);
      after = below(3) + std::max<int64_t>(0, reach + 1 - input[axis] - before);
      while ((input[axis] - 1 + before + after - reach) % stride[axis] != 0)
        ++after;
      output[axis] =
          (input[axis] - 1 + before + after - reach) / stride[axis] + 1;
    }
    auto list = [](llvm::ArrayRef<int64_t> values) {
      return llvm::join(
          llvm::map_range(values, [](int64_t v) { return std::to_string(v); }),
          ", ");
    };
    std::string from = tensorType({1, input[0], input[1], in}),
                to = tensorType({1, output[0], output[1], out});
    llvm::SmallVector<int64_t> weights{out, kernel[0], kernel[1], in};
    if (depthwise)
      weights = {kernel[0], kernel[1], in, 1};
    std::string body =
        constant("w", weights, 1) + constant("b", {out}, 2) + "%0 = tosa." +
        (depthwise ? "depthwise_conv2d" : "conv2d") +
        " %x, %w, %b, %zero, %zero {acc_type = f32, dilation = array<i64: " +
        list(dilation) + ">, pad = array<i64: " + list(pad) +
        ">, stride = array<i64: " + list(stride) + ">} : (" + from + ", " +
        tensorType(weights) + ", " + tensorType({out}) +
        ", tensor<1xf32>, tensor<1xf32>) -> " + to +
        "\n%1 = tosa.add %0, %y : (" + to + ", " + to + ") -> " + to +
        "\nreturn %1 : " + to;
    SCOPED_TRACE(body);
    expectSameAsLoops(function("%x: " + from + ", %y: " + to, to, body), 1);
    if (HasFatalFailure())
      return;
  }
}

TEST_F(KernelTest, DilatedDepthwiseOfANarrowImageWithResidual) {
  expectSameAsLoops(
      function("%x: tensor<1x4x1x4xf32>", "tensor<1x4x1x4xf32>",
               constant("w", {1, 3, 4, 1}, 1) + constant("b", {4}, 2) + R"(
    %0 = tosa.depthwise_conv2d %x, %w, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 2, 2>, pad = array<i64: 0, 0, 2, 2>, stride = array<i64: 1, 1>}
      : (tensor<1x4x1x4xf32>, tensor<1x3x4x1xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x1x4xf32>
    %1 = tosa.add %0, %x : (tensor<1x4x1x4xf32>, tensor<1x4x1x4xf32>) -> tensor<1x4x1x4xf32>
    return %1 : tensor<1x4x1x4xf32>)"),
      1);
}

TEST_F(KernelTest, DilatedConvolutionOfANarrowImageWithResidual) {
  expectSameAsLoops(
      function("%x: tensor<1x4x1x4xf32>", "tensor<1x4x1x4xf32>",
               constant("w", {4, 3, 3, 4}, 1) + constant("b", {4}, 2) + R"(
    %0 = tosa.conv2d %x, %w, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 2, 2>, pad = array<i64: 2, 2, 2, 2>, stride = array<i64: 1, 1>}
      : (tensor<1x4x1x4xf32>, tensor<4x3x3x4xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x1x4xf32>
    %1 = tosa.add %0, %x : (tensor<1x4x1x4xf32>, tensor<1x4x1x4xf32>) -> tensor<1x4x1x4xf32>
    return %1 : tensor<1x4x1x4xf32>)"),
      1);
}

TEST_F(KernelTest, TransposedConvolution) {
  expectSameAsLoops(
      function("%x: tensor<1x4x5x6xf32>", "tensor<1x8x10x7xf32>",
               constant("w", {7, 3, 4, 6}, 1) + constant("b", {7}, 2) + R"(
    %0 = tosa.transpose_conv2d %x, %w, %b, %zero, %zero {acc_type = f32, out_pad = array<i64: 0, -1, -1, -1>, stride = array<i64: 2, 2>}
      : (tensor<1x4x5x6xf32>, tensor<7x3x4x6xf32>, tensor<7xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x10x7xf32>
    return %0 : tensor<1x8x10x7xf32>)"),
      1);
}

// A training step has its weights from outside, and each kind in any layout.
TEST_F(KernelTest, ConvolutionsWithKernelsAndBiasesThatAreOperands) {
  expectSameAsLoops(
      function("%x: tensor<2x9x8x16xf32>, %w: tensor<32x3x3x16xf32>, %b: "
               "tensor<32xf32>, %d: tensor<3x3x32x2xf32>, %e: tensor<64xf32>, "
               "%t: tensor<16x3x3x64xf32>, %f: tensor<16xf32>",
               "tensor<2x11x18x16xf32>", R"(
    %0 = tosa.conv2d %x, %w, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 1>}
      : (tensor<2x9x8x16xf32>, tensor<32x3x3x16xf32>, tensor<32xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x5x8x32xf32>
    %1 = tosa.clamp %0 {min_val = 0.0 : f32, max_val = 2.0 : f32} : (tensor<2x5x8x32xf32>) -> tensor<2x5x8x32xf32>
    %2 = tosa.depthwise_conv2d %1, %d, %e, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>}
      : (tensor<2x5x8x32xf32>, tensor<3x3x32x2xf32>, tensor<64xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x5x8x64xf32>
    %3 = tosa.transpose_conv2d %2, %t, %f, %zero, %zero {acc_type = f32, out_pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>}
      : (tensor<2x5x8x64xf32>, tensor<16x3x3x64xf32>, tensor<16xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x11x17x16xf32>
    %4 = tosa.concat %3, %3 {axis = 2 : i32} : (tensor<2x11x17x16xf32>, tensor<2x11x17x16xf32>) -> tensor<2x11x34x16xf32>
    %start = tosa.const_shape {values = dense<[0, 0, 7, 0]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %size = tosa.const_shape {values = dense<[2, 11, 18, 16]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %5 = tosa.slice %4, %start, %size : (tensor<2x11x34x16xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<2x11x18x16xf32>
    return %5 : tensor<2x11x18x16xf32>)"),
      // Three layers of sums with up to 600 terms each.
      3, 2e-2f);
}

// The gradient of the kernel of a convolution with a stride: a convolution over
// the samples with a dilation.
TEST_F(KernelTest, ConvolutionOverSamplesIsAWeightGradient) {
  auto text = [&](bool turned) {
    std::string body = R"(
    %0 = tosa.transpose %x {perms = array<i32: 3, 1, 2, 0>} : (tensor<2x9x8x16xf32>) -> tensor<16x9x8x2xf32>
    %1 = tosa.transpose %g {perms = array<i32: 3, 1, 2, 0>} : (tensor<2x5x8x32xf32>) -> tensor<32x5x8x2xf32>
    %2 = tosa.conv2d %0, %1, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 2, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>}
      : (tensor<16x9x8x2xf32>, tensor<32x5x8x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<16x3x3x32xf32> loc("slope"))";
    if (turned)
      body += R"(
    %3 = tosa.transpose %2 {perms = array<i32: 3, 1, 2, 0>} : (tensor<16x3x3x32xf32>) -> tensor<32x3x3x16xf32>
    return %3 : tensor<32x3x3x16xf32>)";
    else
      body += R"(
    return %2 : tensor<16x3x3x32xf32>)";
    return function("%x: tensor<2x9x8x16xf32>, %g: tensor<2x5x8x32xf32>",
                    turned ? "tensor<32x3x3x16xf32>" : "tensor<16x3x3x32xf32>",
                    body);
  };
  for (bool turned : {true, false}) {
    expectSameAsLoops(text(turned), 1);
    // Only of what has the layout of images: else it is a convolution.
    auto executor = compile(text(turned));
    ASSERT_TRUE(executor);
    EXPECT_EQ(executor->primitives()[0].op, "slope");
  }
}

// Transposed convolutions with a stride run as convolutions without, one for
// each remainder of a position. Kernels of fewer elements than the stride leave
// gaps; what is cut off may be more than the kernel reaches.
TEST_F(KernelTest, TransposedConvolutionsOfAnyForm) {
  struct Form {
    std::array<int64_t, 2> kernel, stride;
    std::array<int64_t, 4> outPad;
    bool hasBias, clamps;
  };
  const Form forms[] = {
      {{3, 3}, {2, 2}, {-1, 0, -1, 0}, true, true},
      {{4, 4}, {2, 2}, {-1, -1, -1, -1}, true, false},
      {{1, 1}, {2, 2}, {0, 0, 0, 0}, false, true},
      {{2, 3}, {3, 2}, {0, -1, -2, 0}, false, false},
      {{5, 3}, {1, 3}, {-2, -1, 0, -2}, true, false},
      {{3, 2}, {2, 1}, {-2, -2, 0, -1}, true, true},
      {{9, 9}, {5, 5}, {-2, -2, -3, 0}, true, false},
  };
  for (const Form &form : forms) {
    SCOPED_TRACE(::testing::PrintToString(form.kernel) +
                 ::testing::PrintToString(form.stride));
    std::vector<int64_t> sizes{2, 0, 0, 5};
    for (int d : {0, 1})
      sizes[d + 1] = (5 + d - 1) * form.stride[d] + form.outPad[2 * d] +
                     form.outPad[2 * d + 1] + form.kernel[d];
    std::string result = tensorType(sizes);
    std::string kernel = tensorType({5, form.kernel[0], form.kernel[1], 6});
    auto list = [](llvm::ArrayRef<int64_t> values) {
      return llvm::join(
          llvm::map_range(values, [](int64_t v) { return std::to_string(v); }),
          ", ");
    };
    // The kernel is turned as in a gradient, or constant.
    for (bool isTurned : {false, true}) {
      std::string body =
          form.hasBias ? constant("b", {5}, 2) : constant("b", {1}, Floats{0});
      if (isTurned)
        body += "%w = tosa.transpose %t {perms = array<i32: 3, 1, 2, 0>} : (" +
                tensorType({6, form.kernel[0], form.kernel[1], 5}) + ") -> " +
                kernel + "\n";
      else
        body += constant("w", {5, form.kernel[0], form.kernel[1], 6}, 1);
      body += "%0 = tosa.transpose_conv2d %x, %w, %b, %zero, %zero {acc_type = "
              "f32, out_pad = array<i64: " +
              list(form.outPad) +
              ">, stride = array<i64: " + list(form.stride) +
              ">} : (tensor<2x5x6x6xf32>, " + kernel +
              (form.hasBias ? ", tensor<5xf32>" : ", tensor<1xf32>") +
              ", tensor<1xf32>, tensor<1xf32>) -> " + result + "\n";
      if (form.clamps)
        body += "%1 = tosa.clamp %0 {min_val = -0.5 : f32, max_val = 0.75 : "
                "f32} : (" +
                result + ") -> " + result + "\n";
      body +=
          std::string("return ") + (form.clamps ? "%1 : " : "%0 : ") + result;
      std::string arguments = "%x: tensor<2x5x6x6xf32>";
      if (isTurned)
        arguments +=
            ", %t: " + tensorType({6, form.kernel[0], form.kernel[1], 5});
      expectSameAsLoops(function(arguments, result, body), 1);
    }
  }
}

TEST_F(KernelTest, ConvolutionOfVolumes) {
  expectSameAsLoops(
      function("%x: tensor<2x5x8x7x3xf32>, %w: tensor<4x3x2x3x3xf32>",
               "tensor<2x3x6x9x4xf32>", constant("b", {4}, 2) + R"(
    %0 = tosa.conv3d %x, %w, %b, %zero, %zero {acc_type = f32, pad = array<i64: 1, 1, 0, 0, 2, 4>, stride = array<i64: 2, 1, 1>, dilation = array<i64: 1, 2, 2>}
      : (tensor<2x5x8x7x3xf32>, tensor<4x3x2x3x3xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x3x6x9x4xf32>
    %1 = tosa.clamp %0 {min_val = -1.0 : f32, max_val = 1.5 : f32} : (tensor<2x3x6x9x4xf32>) -> tensor<2x3x6x9x4xf32>
    return %1 : tensor<2x3x6x9x4xf32>)"),
      1);
}

TEST_F(KernelTest, PointwiseConvolutionOfVolumes) {
  expectSameAsLoops(
      function("%x: tensor<2x3x4x5x6xf32>", "tensor<2x3x4x5x7xf32>",
               constant("w", {7, 1, 1, 1, 6}, 1) + constant("b", {7}, 2) + R"(
    %0 = tosa.conv3d %x, %w, %b, %zero, %zero {acc_type = f32, pad = array<i64: 0, 0, 0, 0, 0, 0>, stride = array<i64: 1, 1, 1>, dilation = array<i64: 1, 1, 1>}
      : (tensor<2x3x4x5x6xf32>, tensor<7x1x1x1x6xf32>, tensor<7xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x3x4x5x7xf32>
    return %0 : tensor<2x3x4x5x7xf32>)"),
      1);
}

TEST_F(KernelTest, ConvolutionOfVolumesOverSamplesIsAWeightGradient) {
  expectSameAsLoops(
      function("%x: tensor<2x5x8x7x3xf32>, %g: tensor<2x3x8x7x4xf32>",
               "tensor<4x3x3x2x3xf32>", R"(
    %0 = tosa.transpose %x {perms = array<i32: 4, 1, 2, 3, 0>} : (tensor<2x5x8x7x3xf32>) -> tensor<3x5x8x7x2xf32>
    %1 = tosa.transpose %g {perms = array<i32: 4, 1, 2, 3, 0>} : (tensor<2x3x8x7x4xf32>) -> tensor<4x3x8x7x2xf32>
    %2 = tosa.conv3d %0, %1, %zero, %zero, %zero {acc_type = f32, pad = array<i64: 1, 1, 1, 1, 0, 2>, stride = array<i64: 1, 1, 2>, dilation = array<i64: 2, 1, 1>}
      : (tensor<3x5x8x7x2xf32>, tensor<4x3x8x7x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<3x3x3x2x4xf32>
    %3 = tosa.transpose %2 {perms = array<i32: 4, 1, 2, 3, 0>} : (tensor<3x3x3x2x4xf32>) -> tensor<4x3x3x2x3xf32>
    return %3 : tensor<4x3x3x2x3xf32>)"),
      1);
}

// Every channel of every sample is a channel; the samples are added up. With a
// stride of 2 by 1, a dilation of 1 by 2, and one or two outputs for a channel.
TEST_F(KernelTest, DepthwiseConvolutionSummedOverSamplesIsAWeightGradient) {
  for (int64_t multiplier : {1, 2}) {
    std::string g = tensorType({2, 4, 4, 16 * multiplier}),
                apart = tensorType({4, 4, 2, 16 * multiplier}),
                kernel = tensorType({4, 4, 32, multiplier}),
                product = tensorType({1, 3, 3, 32 * multiplier}),
                taps = tensorType({9, 2, 16 * multiplier}),
                sum = tensorType({9, 1, 16 * multiplier}),
                result = tensorType({3, 3, 16, multiplier});
    std::string m = std::to_string(multiplier),
                channels = std::to_string(16 * multiplier);
    expectSameAsLoops(
        function("%x: tensor<2x7x8x16xf32>, %g: " + g, result,
                 R"(
    %s0 = tosa.const_shape {values = dense<[1, 7, 8, 32]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %s1 = tosa.const_shape {values = dense<[4, 4, 32, )" +
                     m +
                     R"(]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %s2 = tosa.const_shape {values = dense<[9, 2, )" +
                     channels +
                     R"(]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %s3 = tosa.const_shape {values = dense<[3, 3, 16, )" +
                     m + R"(]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %0 = tosa.transpose %x {perms = array<i32: 1, 2, 0, 3>} : (tensor<2x7x8x16xf32>) -> tensor<7x8x2x16xf32>
    %1 = tosa.reshape %0, %s0 : (tensor<7x8x2x16xf32>, !tosa.shape<4>) -> tensor<1x7x8x32xf32>
    %2 = tosa.transpose %g {perms = array<i32: 1, 2, 0, 3>} : ()" +
                     g + ") -> " + apart + R"(
    %3 = tosa.reshape %2, %s1 : ()" +
                     apart + ", !tosa.shape<4>) -> " + kernel + R"(
    %4 = tosa.depthwise_conv2d %1, %3, %zero, %zero, %zero {acc_type = f32, pad = array<i64: 1, 1, 0, 0>, stride = array<i64: 1, 2>, dilation = array<i64: 2, 1>}
      : (tensor<1x7x8x32xf32>, )" +
                     kernel +
                     ", tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> " +
                     product + R"(
    %5 = tosa.reshape %4, %s2 : ()" +
                     product + ", !tosa.shape<3>) -> " + taps + R"(
    %6 = tosa.reduce_sum %5 {axis = 1 : i32} : ()" +
                     taps + ") -> " + sum + R"(
    %7 = tosa.reshape %6, %s3 : ()" +
                     sum + ", !tosa.shape<4>) -> " + result + R"(
    return %7 : )" + result),
        1);
  }
}

TEST_F(KernelTest, TransposedFactorsOfAMatrixProduct) {
  expectSameAsLoops(function("%x: tensor<3x16x5xf32>, %y: tensor<3x8x16xf32>",
                             "tensor<3x5x8xf32>", R"(
    %0 = tosa.transpose %x {perms = array<i32: 0, 2, 1>} : (tensor<3x16x5xf32>) -> tensor<3x5x16xf32>
    %1 = tosa.transpose %y {perms = array<i32: 0, 2, 1>} : (tensor<3x8x16xf32>) -> tensor<3x16x8xf32>
    %2 = tosa.matmul %0, %1, %zero, %zero : (tensor<3x5x16xf32>, tensor<3x16x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<3x5x8xf32>
    return %2 : tensor<3x5x8xf32>)"),
                    1);
}

// One copy instead of four.
TEST_F(KernelTest, TurnedAndReversedPartsOfTensors) {
  expectSameAsLoops(
      function("%x: tensor<4x6x5x3xf32>", "tensor<3x4x5x4xf32>", R"(
    %start = tosa.const_shape {values = dense<[0, 1, 0, 0]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %size = tosa.const_shape {values = dense<[3, 4, 5, 4]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %0 = tosa.transpose %x {perms = array<i32: 3, 1, 2, 0>} : (tensor<4x6x5x3xf32>) -> tensor<3x6x5x4xf32>
    %1 = tosa.reverse %0 {axis = 1 : i32} : (tensor<3x6x5x4xf32>) -> tensor<3x6x5x4xf32>
    %2 = tosa.slice %1, %start, %size : (tensor<3x6x5x4xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<3x4x5x4xf32>
    %3 = tosa.reverse %2 {axis = 2 : i32} : (tensor<3x4x5x4xf32>) -> tensor<3x4x5x4xf32>
    return %3 : tensor<3x4x5x4xf32>)"),
      0, 0.0f);
}

TEST_F(KernelTest, MatrixProductOfActivations) {
  expectSameAsLoops(function("%x: tensor<2x5x7xf32>, %y: tensor<2x7x4xf32>",
                             "tensor<2x5x4xf32>", R"(
    %0 = tosa.matmul %x, %y, %zero, %zero : (tensor<2x5x7xf32>, tensor<2x7x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x5x4xf32>
    return %0 : tensor<2x5x4xf32>)"),
                    1);
}

TEST_F(KernelTest, MatrixProductWithConstant) {
  expectSameAsLoops(function("%x: tensor<?x7xf32>", "tensor<?x4xf32>",
                             constant("w", {1, 7, 4}, 1) + R"(
    %s = tosa.const_shape {values = dense<[1, -1, 7]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %t = tosa.const_shape {values = dense<[-1, 4]> : tensor<2xindex>} : () -> !tosa.shape<2>
    %0 = tosa.reshape %x, %s : (tensor<?x7xf32>, !tosa.shape<3>) -> tensor<1x?x7xf32>
    %1 = tosa.matmul %0, %w, %zero, %zero : (tensor<1x?x7xf32>, tensor<1x7x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x?x4xf32>
    %2 = tosa.clamp %1 {min_val = -0.5 : f32, max_val = 0.75 : f32} : (tensor<1x?x4xf32>) -> tensor<1x?x4xf32>
    %3 = tosa.reshape %2, %t : (tensor<1x?x4xf32>, !tosa.shape<2>) -> tensor<?x4xf32>
    return %3 : tensor<?x4xf32>)"),
                    1);
}

/// An MLP as importers write it: reshape, pointwise convolution, reshape,
/// clamp.
std::string fullyConnected() {
  return function("%x: tensor<1x20xf32>", "tensor<1x11xf32>",
                  constant("w", {11, 1, 1, 20}, 1) + constant("b", {11}, 2) +
                      R"(
    %s = tosa.const_shape {values = dense<[1, 1, 1, 20]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %t = tosa.const_shape {values = dense<[1, 11]> : tensor<2xindex>} : () -> !tosa.shape<2>
    %0 = tosa.reshape %x, %s : (tensor<1x20xf32>, !tosa.shape<4>) -> tensor<1x1x1x20xf32>
    %1 = tosa.conv2d %0, %w, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
      : (tensor<1x1x1x20xf32>, tensor<11x1x1x20xf32>, tensor<11xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x11xf32>
    %2 = tosa.reshape %1, %t : (tensor<1x1x1x11xf32>, !tosa.shape<2>) -> tensor<1x11xf32>
    %3 = tosa.clamp %2 {min_val = 0.0 : f32, max_val = 3.40282347E+38 : f32} : (tensor<1x11xf32>) -> tensor<1x11xf32>
    return %3 : tensor<1x11xf32>)");
}

TEST_F(KernelTest, FullyConnectedWithReshapes) {
  expectSameAsLoops(fullyConnected(), 1);
}

/// Two convolutions whose sum is clamped; `named` puts a name on the first sum.
std::string residual() {
  return function("%x: tensor<1x6x6x8xf32>", "tensor<1x6x6x8xf32>",
                  constant("w", {8, 3, 3, 8}, 1) + constant("b", {8}, 2) +
                      constant("v", {8, 1, 1, 8}, 3) + R"(
    %0 = tosa.conv2d %x, %w, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>}
      : (tensor<1x6x6x8xf32>, tensor<8x3x3x8xf32>, tensor<8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x6x6x8xf32> loc("left")
    %1 = tosa.conv2d %x, %v, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
      : (tensor<1x6x6x8xf32>, tensor<8x1x1x8xf32>, tensor<8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x6x6x8xf32> loc("right")
    %2 = tosa.add %0, %1 : (tensor<1x6x6x8xf32>, tensor<1x6x6x8xf32>) -> tensor<1x6x6x8xf32> loc("sum")
    %3 = tosa.clamp %2 {min_val = -1.0 : f32, max_val = 6.0 : f32} : (tensor<1x6x6x8xf32>) -> tensor<1x6x6x8xf32> loc("clamp")
    return %3 : tensor<1x6x6x8xf32>)");
}

TEST_F(KernelTest, ResidualAddAndClampAreFused) {
  expectSameAsLoops(residual(), 2);
}

TEST_F(KernelTest, ObservedIntermediatesAreNotFused) {
  CompileOptions options;
  options.observed = {"left", "right", "sum", "clamp"};
  auto executor = compile(residual(), options);
  ASSERT_TRUE(executor);
  ASSERT_EQ(executor->observed().size(), 4u);
  Recorder left, right, sum, clamp;
  Floats output = runUnit(*executor, randomInputs(*executor), -1,
                          {&left, &right, &sum, &clamp});
  EXPECT_EQ(clamp.values, output);
  ASSERT_EQ(sum.values.size(), output.size());
  for (size_t i = 0; i < output.size(); ++i) {
    EXPECT_EQ(sum.values[i], left.values[i] + right.values[i]);
    EXPECT_EQ(output[i], std::min(std::max(sum.values[i], -1.0f), 6.0f));
  }
}

TEST_F(KernelTest, RowsThatAStridedWindowNeverReachesAreNotCopied) {
  expectSameAsLoops(
      function("%x: tensor<1x8x8x4xf32>", "tensor<1x4x4x5xf32>",
               constant("w", {5, 1, 1, 4}, 1) + constant("b", {5}, 2) + R"(
    %s = tosa.const_shape {values = dense<0> : tensor<4xindex>} : () -> !tosa.shape<4>
    %t = tosa.const_shape {values = dense<[1, 7, 7, 4]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %0 = tosa.slice %x, %s, %t : (tensor<1x8x8x4xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<1x7x7x4xf32>
    %1 = tosa.conv2d %0, %w, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>}
      : (tensor<1x7x7x4xf32>, tensor<5x1x1x4xf32>, tensor<5xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x5xf32>
    return %1 : tensor<1x4x4x5xf32>)"),
      1);
}

TEST_F(KernelTest, SliceThatTheWindowReachesIsKept) {
  // Stride 1: row 7 of the input would be read if the slice were dropped.
  expectSameAsLoops(
      function("%x: tensor<1x8x8x4xf32>", "tensor<1x6x6x5xf32>",
               constant("w", {5, 2, 2, 4}, 1) + constant("b", {5}, 2) + R"(
    %s = tosa.const_shape {values = dense<0> : tensor<4xindex>} : () -> !tosa.shape<4>
    %t = tosa.const_shape {values = dense<[1, 7, 7, 4]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %0 = tosa.slice %x, %s, %t : (tensor<1x8x8x4xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<1x7x7x4xf32>
    %1 = tosa.conv2d %0, %w, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
      : (tensor<1x7x7x4xf32>, tensor<5x2x2x4xf32>, tensor<5xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x6x6x5xf32>
    return %1 : tensor<1x6x6x5xf32>)"),
      1);
}

TEST_F(KernelTest, PaddedPools) {
  expectSameAsLoops(
      function("%x: tensor<1x7x7x5xf32>", "tensor<1x4x4x5xf32>", R"(
    %0 = tosa.avg_pool2d %x, %zero, %zero {acc_type = f32, kernel = array<i64: 3, 2>, pad = array<i64: 1, 1, 1, 0>, stride = array<i64: 2, 2>}
      : (tensor<1x7x7x5xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x5xf32>
    %1 = tosa.max_pool2d %x {kernel = array<i64: 3, 2>, pad = array<i64: 1, 1, 1, 0>, stride = array<i64: 2, 2>}
      : (tensor<1x7x7x5xf32>) -> tensor<1x4x4x5xf32>
    %2 = tosa.sub %0, %1 : (tensor<1x4x4x5xf32>, tensor<1x4x4x5xf32>) -> tensor<1x4x4x5xf32>
    return %2 : tensor<1x4x4x5xf32>)"),
      0);
}

TEST_F(KernelTest, DequantizedWeightsArePacked) {
  expectSameAsLoops(
      function("%x: tensor<1x3x3x2xf32>", "tensor<1x3x3x2xf32>",
               constant("scale", {2, 1, 1, 1}, 4) + constant("b", {2}, 2) + R"(
    %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %q = "tosa.const"() <{values = dense<[[[[3, -7]]], [[[100, -128]]]]> : tensor<2x1x1x2xi8>}> : () -> tensor<2x1x1x2xi8>
    %f = tosa.cast %q : (tensor<2x1x1x2xi8>) -> tensor<2x1x1x2xf32>
    %w = tosa.mul %f, %scale, %shift : (tensor<2x1x1x2xf32>, tensor<2x1x1x1xf32>, tensor<1xi8>) -> tensor<2x1x1x2xf32>
    %0 = tosa.conv2d %x, %w, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
      : (tensor<1x3x3x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x3x2xf32>
    return %0 : tensor<1x3x3x2xf32>)"),
      1, 1e-4f);
}

TEST_F(KernelTest, ConvolutionThatCannotBeAKernelGetsARemark) {
  auto executor = compile(function("%x: tensor<1x2x2x1xf32>, %b: tensor<1xf32>",
                                   "tensor<1x2x2x2xf32>",
                                   constant("w", {2, 1, 1, 1}, 2) + R"(
    %0 = tosa.conv2d %x, %w, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
      : (tensor<1x2x2x1xf32>, tensor<2x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x2xf32> loc("conv")
    return %0 : tensor<1x2x2x2xf32>)"));
  ASSERT_TRUE(executor);
  ASSERT_EQ(diagnostics.size(), 1u);
  EXPECT_EQ(diagnostics[0],
            "loc(\"conv\"): remark: 'tosa.conv2d' op runs without oneDNN, "
            "slowly: its bias is one number for all channels, and not "
            "constant");
}

//===----------------------------------------------------------------------===//
// Points
//===----------------------------------------------------------------------===//

class PointTest : public ExecutionTest {
protected:
  /// A convolution between an input point and an output point.
  static std::string network(
      const std::string &weight,
      const std::string &parameters =
          R"(parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, is_signed = true>))") {
    return function("%x: tensor<1x4x4x3xf32>", "tensor<1x4x4x6xf32>",
                    constant("k", {6, 1, 1, 3}, 1) + constant("b", {6}, 2) +
                        "%w = " + weight + R"(
    %in = tpc.quantize %x as "input" activation parameters(#tpc.uniform<scale = [0.01], zero_point = [100], bits = 8>) : tensor<1x4x4x3xf32>
    %0 = tosa.conv2d %in, %w, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
      : (tensor<1x4x4x3xf32>, tensor<6x1x1x3xf32>, tensor<6xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x6xf32>
    %1 = tpc.quantize %0 as "conv" activation )" +
                        parameters + R"( : tensor<1x4x4x6xf32>
    return %1 : tensor<1x4x4x6xf32>)");
  }
  static std::string plainWeight() {
    return R"(tosa.identity %k : (tensor<6x1x1x3xf32>) -> tensor<6x1x1x3xf32>)";
  }
};

TEST_F(PointTest, ActivationsAreTheGridsBitForBit) {
  CompileOptions before, after;
  before.observeAllPoints = after.observeAllPoints = true;
  before.observeAfterQuantization = false;
  auto first = compile(network(plainWeight()), before);
  auto second = compile(network(plainWeight()), after);
  ASSERT_TRUE(first && second);
  std::vector<Floats> inputs = randomInputs(*first);
  Recorder inBefore, outBefore, inAfter, outAfter;
  Floats result = runUnit(*first, inputs, -1, {&inBefore, &outBefore});
  EXPECT_EQ(runUnit(*second, inputs, -1, {&inAfter, &outAfter}), result);
  EXPECT_EQ(inBefore.values, inputs[0]);
  EXPECT_EQ(outAfter.values, result);
  Floats expected(inputs[0].size());
  fakeQuantize(uniformGrid(0.01, 100, 8), inputs[0].data(), expected.data(),
               expected.size());
  EXPECT_EQ(inAfter.values, expected);
  expected.resize(result.size());
  fakeQuantize(symmetricGrid(2, 8, true), outBefore.values.data(),
               expected.data(), expected.size());
  EXPECT_EQ(result, expected);
}

TEST_F(PointTest, PointsAreTheIdentityWithoutSimulation) {
  CompileOptions options;
  options.simulateQuantization = false;
  auto identity = compile(network(plainWeight()), options);
  auto simulated = compile(network(plainWeight()));
  ASSERT_TRUE(identity && simulated);
  std::vector<Floats> inputs = randomInputs(*identity);
  EXPECT_NE(runUnit(*identity, inputs), runUnit(*simulated, inputs));
  std::string text = network(plainWeight());
  for (size_t at; (at = text.find("parameters(")) != std::string::npos;)
    text.erase(at, text.find(">)", at) + 2 - at);
  auto without = compile(text);
  ASSERT_TRUE(without);
  EXPECT_EQ(runUnit(*identity, inputs), runUnit(*without, inputs));
}

TEST_F(PointTest, APointCanBeSwitchedOffOrQuantizeOtherwise) {
  constexpr const char *kUniform =
      "parameters(#tpc.uniform<scale = [0.01], zero_point = [100], bits = 8>)";
  constexpr const char *kOther =
      "#tpc.symmetric<threshold = [0.3], bits = 3, rounding = half_up>";
  std::string weight =
      R"(tpc.quantize %k as "conv" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [1.0, 0.5, 0.25, 1.0, 0.7, 0.9], bits = 4>) : tensor<6x1x1x3xf32>)";
  auto with = [&](const std::string &inputParameters, bool weights,
                  const std::string &result) {
    std::string text = network(weights ? weight : plainWeight(), result);
    size_t at = text.find(kUniform);
    return text.replace(at, std::strlen(kUniform), inputParameters);
  };
  std::string result = "parameters(#tpc.power_of_two<threshold = [2.0], bits = "
                       "8>)";
  std::string all = with(kUniform, true, result);
  mlir::Attribute other = mlir::parseAttribute(kOther, &context);
  auto resultOf = [&](const std::string &text, const CompileOptions &options) {
    auto executor = compile(text, options);
    EXPECT_TRUE(executor) << llvm::join(diagnostics, "\n");
    return executor ? runUnit(*executor, randomInputs(*executor)) : Floats();
  };

  CompileOptions options;
  options.quantizers["input"] = mlir::Attribute();
  EXPECT_EQ(resultOf(all, options), resultOf(with("", true, result), {}));
  options.quantizers["conv/kernel_attr"] = mlir::Attribute();
  EXPECT_EQ(resultOf(all, options), resultOf(with("", false, result), {}));
  options.quantizers["input"] = other;
  std::string replaced = "parameters(" + std::string(kOther) + ")";
  EXPECT_EQ(resultOf(all, options),
            resultOf(with(replaced, false, result), {}));
  // A point without parameters can be given some, and be the only one.
  options.simulateQuantization = false;
  options.quantizers.erase("conv/kernel_attr");
  EXPECT_EQ(resultOf(with("", true, result), options),
            resultOf(with(replaced, false, ""), {}));
  EXPECT_EQ(diagnostics.size(), 0u);
}

TEST_F(PointTest, AQuantizerThatDoesNotFitIsAnError) {
  auto errorOf = [&](llvm::StringRef name,
                     mlir::Attribute quantizer) -> std::string {
    diagnostics.clear();
    CompileOptions options;
    options.quantizers[name] = quantizer;
    EXPECT_FALSE(compile(network(plainWeight()), options));
    EXPECT_EQ(diagnostics.size(), 1u);
    return diagnostics.empty() ? "" : diagnostics.front();
  };
  EXPECT_NE(errorOf("other", {})
                .find("error: function 'main' has no point named 'other' whose "
                      "quantizer could be replaced"),
            std::string::npos);
  EXPECT_NE(errorOf("input", mlir::parseAttribute("\"float\"", &context))
                .find("error: 'tpc.quantize' op cannot quantize by \"float\", "
                      "which is not a quantizer"),
            std::string::npos);
  EXPECT_NE(
      errorOf("input",
              mlir::parseAttribute("#tpc.symmetric<threshold = [1.0, 2.0], "
                                   "bits = 8>",
                                   &context))
          .find("error: 'tpc.quantize' op has 2 parameters for 1 channels"),
      std::string::npos);
  CompileOptions lenient;
  lenient.quantizers["other"] = mlir::Attribute();
  lenient.ignoreUnknownNames = true;
  EXPECT_TRUE(compile(network(plainWeight()), lenient));
}

TEST_F(PointTest, WeightsAreQuantizedWhenTheyArePacked) {
  auto executor = compile(network(
      R"(tpc.quantize %k as "conv" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [1.0, 0.5, 0.25, 1.0, 0.7, 0.9], bits = 4>) : tensor<6x1x1x3xf32>)"));
  ASSERT_TRUE(executor);
  EXPECT_EQ(executor->primitives().size(), 1u);
  Floats weights = randomFloats(18, 1);
  double thresholds[] = {1.0, 0.5, 0.25, 1.0, 0.7, 0.9};
  for (int channel = 0; channel < 6; ++channel)
    fakeQuantize(symmetricGrid(thresholds[channel], 4, true),
                 &weights[3 * channel], &weights[3 * channel], 3);
  std::vector<Floats> inputs = randomInputs(*executor);
  Floats result = runUnit(*executor, inputs);
  std::string text = network(plainWeight());
  std::string before = constant("k", {6, 1, 1, 3}, 1);
  text.replace(text.find(before), before.size(),
               constant("k", {6, 1, 1, 3}, weights));
  auto expected = compile(text);
  ASSERT_TRUE(expected);
  EXPECT_EQ(result, runUnit(*expected, inputs));
}

TEST_F(PointTest, ActivationsWithATable) {
  CompileOptions options;
  options.observeAllPoints = true;
  options.observeAfterQuantization = false;
  for (std::vector<int64_t> table :
       {std::vector<int64_t>{-70, -10, 0, 31}, std::vector<int64_t>{-20, 5}}) {
    std::string list = llvm::join(
        llvm::map_range(table, [](int64_t e) { return std::to_string(e); }),
        ", ");
    std::string text =
        network(plainWeight(),
                "parameters(#tpc.lookup_table<method = lut_pot_quantizer, "
                "threshold = [2.0], table = [" +
                    list + "], bits = 2>)");
    auto executor = compile(text, options);
    ASSERT_TRUE(executor) << llvm::join(diagnostics, "\n");
    std::vector<Floats> inputs = randomInputs(*executor);
    Recorder in, out;
    Floats result = runUnit(*executor, inputs, -1, {&in, &out});
    Floats expected(result.size());
    LutQuantizer(table, {2.0}, true)
        .run({int64_t(result.size())}, {}, out.values.data(), expected.data());
    EXPECT_NE(out.values, expected);
    EXPECT_EQ(result, expected);
  }
}

TEST_F(PointTest, WeightsWithATable) {
  auto executor = compile(network(
      R"(tpc.quantize %k as "conv" weight "kernel_attr" axes [0] parameters(#tpc.lookup_table<method = lut_sym_quantizer, threshold = [1.0, 0.5, 0.25, 1.0, 0.7, 0.9], table = [-101, -17, 0, 60], bits = 2>) : tensor<6x1x1x3xf32>)"));
  ASSERT_TRUE(executor) << llvm::join(diagnostics, "\n");
  Floats weights = randomFloats(18, 1), quantized(18);
  LutQuantizer({-101, -17, 0, 60}, {1.0, 0.5, 0.25, 1.0, 0.7, 0.9}, true)
      .run({6, 1, 1, 3}, {0}, weights.data(), quantized.data());
  EXPECT_NE(weights, quantized);
  std::vector<Floats> inputs = randomInputs(*executor);
  std::string text = network(plainWeight());
  std::string before = constant("k", {6, 1, 1, 3}, 1);
  text.replace(text.find(before), before.size(),
               constant("k", {6, 1, 1, 3}, quantized));
  auto expected = compile(text);
  ASSERT_TRUE(expected);
  EXPECT_EQ(runUnit(*executor, inputs), runUnit(*expected, inputs));
}

TEST_F(PointTest, QuantizedConstantsOfOtherOps) {
  auto executor = compile(function("%x: tensor<1x3x2xf32>", "tensor<1x3x2xf32>",
                                   constant("k", {1, 3, 2}, 1) + R"(
    %w = tpc.quantize %k as "sum" weight "kernel_attr" axes [2] parameters(#tpc.symmetric<threshold = [1.0, 0.1], bits = 3>) : tensor<1x3x2xf32>
    %0 = tosa.add %x, %w : (tensor<1x3x2xf32>, tensor<1x3x2xf32>) -> tensor<1x3x2xf32>
    return %0 : tensor<1x3x2xf32>)"));
  ASSERT_TRUE(executor) << llvm::join(diagnostics, "\n");
  std::vector<Floats> inputs = randomInputs(*executor);
  Floats result = runUnit(*executor, inputs);
  Floats weights = randomFloats(6, 1);
  for (size_t i = 0; i < result.size(); ++i) {
    float quantized;
    fakeQuantize(symmetricGrid(i % 2 ? 0.1 : 1.0, 3, true), &weights[i % 6],
                 &quantized, 1);
    EXPECT_EQ(result[i], inputs[0][i] + quantized) << i;
  }
}

TEST_F(PointTest, ObserversSeeTheValidSamplesOnly) {
  CompileOptions options;
  options.observeAllPoints = true;
  options.unit = 4;
  auto executor = compile(network(plainWeight()), options);
  ASSERT_TRUE(executor);
  EXPECT_EQ(executor->unit(), 4);
  EXPECT_EQ(executor->inputs()[0].type.getDimSize(0), 4);
  Recorder in, out;
  Floats result = runUnit(*executor, randomInputs(*executor), 3, {&in, &out});
  EXPECT_EQ(in.lastShape, (std::vector<int64_t>{3, 4, 4, 3}));
  EXPECT_EQ(in.values.size(), 3u * 4 * 4 * 3);
  result.resize(3 * 4 * 4 * 6);
  EXPECT_EQ(out.values, result);
}

//===----------------------------------------------------------------------===//
// The unit
//===----------------------------------------------------------------------===//

TEST_F(ExecutionTest, SamplesOfAUnitDoNotTouch) {
  CompileOptions one;
  one.unit = 1;
  auto single = compile(fullyConnected(), one);
  auto many = compile(fullyConnected());
  ASSERT_TRUE(single && many);
  ASSERT_GT(many->unit(), 1);
  std::vector<Floats> inputs = randomInputs(*many);
  Floats result = runUnit(*many, inputs);
  for (int64_t sample = 0; sample < many->unit(); ++sample) {
    Floats input(inputs[0].begin() + sample * 20,
                 inputs[0].begin() + (sample + 1) * 20);
    Floats expected = runUnit(*single, {input});
    for (size_t i = 0; i < expected.size(); ++i)
      EXPECT_NEAR(result[sample * 11 + i], expected[i], 2e-6f);
  }
}

// The result has no row for each row of the argument: a call is a sample.
TEST_F(ExecutionTest, LeadingDimensionThatResultsDoNotHaveIsNoBatch) {
  auto executor = compile(R"(
    func.func @main(%x: tensor<3x2xf32>) -> tensor<1x2xf32> {
      %0 = tosa.reduce_sum %x {axis = 0 : i32} : (tensor<3x2xf32>) -> tensor<1x2xf32>
      return %0 : tensor<1x2xf32>
    })");
  ASSERT_TRUE(executor) << llvm::join(diagnostics, "\n");
  EXPECT_EQ(executor->unit(), 1);
  EXPECT_TRUE(executor->allowsPartialUnits());
  EXPECT_EQ(runUnit(*executor, {Floats{1, 2, 3, 4, 5, 6}}), (Floats{9, 12}));
}

TEST_F(ExecutionTest, BatchThatCannotGrowStays) {
  auto executor = compile(R"(
    func.func @main(%x: tensor<3x2xf32>) -> tensor<3x2xf32> {
      %0 = tosa.reverse %x {axis = 0 : i32} : (tensor<3x2xf32>) -> tensor<3x2xf32>
      return %0 : tensor<3x2xf32>
    })");
  ASSERT_TRUE(executor) << llvm::join(diagnostics, "\n");
  EXPECT_EQ(executor->unit(), 3);
  EXPECT_FALSE(executor->allowsPartialUnits());
  EXPECT_EQ(runUnit(*executor, {Floats{1, 2, 3, 4, 5, 6}}),
            (Floats{5, 6, 3, 4, 1, 2}));
}

TEST_F(ExecutionTest, ElementwiseMathAndCalls) {
  CompileOptions options;
  auto executor = compile(R"(
    func.func private @activation(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
      %0 = tosa.tanh %x : (tensor<?x3xf32>) -> tensor<?x3xf32>
      %1 = tosa.erf %0 : (tensor<?x3xf32>) -> tensor<?x3xf32>
      return %1 : tensor<?x3xf32>
    }
    func.func @main(%x: tensor<?x3xf32> loc("image")) -> tensor<?x3xf32> {
      %0 = call @activation(%x) : (tensor<?x3xf32>) -> tensor<?x3xf32>
      return %0 : tensor<?x3xf32>
    })",
                          options);
  ASSERT_TRUE(executor) << llvm::join(diagnostics, "\n");
  EXPECT_EQ(executor->inputs()[0].name, "image");
  std::vector<Floats> inputs = randomInputs(*executor);
  Floats result = runUnit(*executor, inputs);
  for (size_t i = 0; i < result.size(); ++i)
    EXPECT_NEAR(result[i], std::erf(std::tanh(inputs[0][i])), 1e-6f);
}

//===----------------------------------------------------------------------===//
// Diagnostics
//===----------------------------------------------------------------------===//

class DiagnosticTest : public ExecutionTest {
protected:
  void expectError(const std::string &text, const std::string &message,
                   const CompileOptions &options = {}) {
    EXPECT_FALSE(compile(text, options));
    ASSERT_EQ(diagnostics.size(), 1u) << llvm::join(diagnostics, "\n");
    EXPECT_NE(diagnostics[0].find(message), std::string::npos)
        << diagnostics[0];
  }
};

TEST_F(DiagnosticTest, UnknownDialect) {
  expectError(R"(
    func.func @main(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
      %0 = "my.op"(%x) : (tensor<1x2xf32>) -> tensor<1x2xf32> loc("layer")
      return %0 : tensor<1x2xf32>
    })",
              "loc(\"layer\"): error: 'my.op' op cannot be executed: the "
              "executor does not know this op");
}

TEST_F(DiagnosticTest, OpWithoutLowering) {
  expectError(R"(
    func.func @main(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
      %0 = tosa.custom %x {domain_name = "d", implementation_attrs = "", operator_name = "n"} : (tensor<1x2xf32>) -> tensor<1x2xf32> loc("layer")
      return %0 : tensor<1x2xf32>
    })",
              "loc(\"layer\"): error: 'tosa.custom' op cannot be executed");
}

TEST_F(DiagnosticTest, ConstantsWithoutTheirData) {
  const char *text = R"(
    func.func @main(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
      %c = "tosa.const"() <{values = dense_resource<weights> : tensor<1x2xf32>}> : () -> tensor<1x2xf32> loc("weights")
      %0 = tosa.add %x, %c : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
      return %0 : tensor<1x2xf32>
    })";
  expectError(text, "loc(\"weights\"): error: 'tosa.const' op cannot be "
                    "executed: the data of its resource 'weights' are missing");
  diagnostics.clear();
  // One float where the type asks for two.
  expectError(std::string(text) + "{-# dialect_resources: {builtin: {weights: "
                                  "\"0x040000000000803F\"}} #-}",
              "cannot be executed: expected 8 bytes in its resource");
  diagnostics.clear();
  expectError(R"(
    func.func @main(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
      %c = "tosa.const"() <{values = dense_resource<huge> : tensor<4611686018427387904x1x2xf32>}> : () -> tensor<4611686018427387904x1x2xf32>
      return %x : tensor<1x2xf32>
    }
    {-# dialect_resources: {builtin: {huge: "0x040000000000803F"}} #-})",
              "cannot be executed: its resource 'huge' would have more than "
              "2^63 bytes");
}

TEST_F(DiagnosticTest, MissingFunction) {
  CompileOptions options;
  options.function = "other";
  expectError("module {}", "has no function 'other' to run", options);
}

TEST_F(DiagnosticTest, UnknownNameToObserve) {
  CompileOptions options;
  options.observed = {"nothing"};
  expectError(fullyConnected(), "has no value named 'nothing' to observe",
              options);
}

TEST_F(DiagnosticTest, UnknownNamesCanBeIgnored) {
  CompileOptions options;
  options.observed = {"nothing", "sum"};
  options.ignoreUnknownNames = true;
  auto executor = compile(residual(), options);
  ASSERT_TRUE(executor);
  ASSERT_EQ(executor->observed().size(), 1u);
  EXPECT_EQ(executor->observed()[0].name, "sum");
}

TEST_F(DiagnosticTest, ObservedIndices) {
  CompileOptions options;
  options.observed = {"indices"};
  expectError(R"(
    func.func @main(%x: tensor<1x2xi32>) -> tensor<1x2xi32> {
      %0 = arith.index_cast %x : tensor<1x2xi32> to tensor<1x2xindex> loc("indices")
      %1 = arith.index_cast %0 : tensor<1x2xindex> to tensor<1x2xi32>
      return %1 : tensor<1x2xi32>
    })",
              "'indices' cannot be observed: it has type 'tensor<1x2xindex>'",
              options);
}

TEST_F(DiagnosticTest, UnknownShape) {
  expectError(R"(
    func.func @main(%x: tensor<1x?xf32>) -> tensor<1x?xf32> {
      %0 = tosa.exp %x : (tensor<1x?xf32>) -> tensor<1x?xf32> loc("exp")
      return %0 : tensor<1x?xf32>
    })",
              "its shape is not known");
}

TEST_F(DiagnosticTest, DynamicBatchThatNotAllArgumentsHave) {
  expectError(R"(
    func.func @main(%x: tensor<?x2xf32>, %h: tensor<4x1x2xf32>) -> (tensor<?x2xf32>, tensor<4x1x2xf32>) {
      return %x, %h : tensor<?x2xf32>, tensor<4x1x2xf32>
    })",
              "cannot be executed: argument 0 ('tensor<?x2xf32>') has a batch "
              "of unknown size, and argument 1 ('tensor<4x1x2xf32>') has none; "
              "write the sizes into the types");
}

TEST_F(DiagnosticTest, DynamicBatchThatCannotBeFollowed) {
  expectError(R"(
    func.func @main(%x: tensor<?x2xf32>) -> tensor<1x2xf32> {
      %0 = tosa.reduce_sum %x {axis = 0 : i32} : (tensor<?x2xf32>) -> tensor<1x2xf32> loc("sum")
      return %0 : tensor<1x2xf32>
    })",
              "loc(\"sum\"): error: 'tosa.reduce_sum' op cannot follow the "
              "batch: the op works along it");
}

} // namespace
