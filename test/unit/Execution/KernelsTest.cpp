// SPDX-License-Identifier: Apache-2.0
//
// Kernels of oneDNN, and what is fused into them, against loops.
#include "SmallNetworks.h"

#include <array>
#include <cmath>

using namespace mct::execution;

namespace {

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

// Such rows are convolved as images with a column for each phase, where their
// sizes allow it: pads of both sides, of one, of none, and other ones. The
// stride from row to row is none of the image's.
TEST_F(KernelTest, DilatedRows) {
  for (const char *pads : {"0, 0, 16, 16", "0, 0, 32, 0", "0, 0, 0, 0",
                           "0, 0, 5, 3", "0, 0, 8, 0"})
    for (bool isDepthwise : {false, true}) {
      SCOPED_TRACE(pads);
      llvm::SmallVector<llvm::StringRef> numbers;
      llvm::StringRef(pads).split(numbers, ", ");
      int64_t before = 0, after = 0, length = 80;
      numbers[2].getAsInteger(10, before);
      numbers[3].getAsInteger(10, after);
      std::string from = tensorType({2, 1, length, 6}),
                  to = tensorType({2, 1, length + before + after - 32, 6});
      std::string weights = isDepthwise ? constant("w", {1, 5, 6, 1}, 1)
                                        : constant("w", {6, 1, 5, 6}, 1);
      std::string kind = isDepthwise ? "depthwise_conv2d" : "conv2d";
      std::string kernel =
          isDepthwise ? tensorType({1, 5, 6, 1}) : tensorType({6, 1, 5, 6});
      std::string body = weights + constant("b", {6}, 2) + "%0 = tosa." + kind +
                         " %x, %w, %b, %zero, %zero {acc_type = f32, dilation "
                         "= array<i64: 1, 8>, pad = array<i64: " +
                         pads + ">, stride = array<i64: 2, 1>} : (" + from +
                         ", " + kernel +
                         ", tensor<6xf32>, tensor<1xf32>, tensor<1xf32>) -> " +
                         to + "\n%1 = tosa.add %0, %y : (" + to + ", " + to +
                         ") -> " + to + "\nreturn %1 : " + to;
      expectSameAsLoops(function("%x: " + from + ", %y: " + to, to, body), 1);
      if (HasFatalFailure())
        return;
    }
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

} // namespace
