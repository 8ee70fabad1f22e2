// SPDX-License-Identifier: Apache-2.0
//
// Networks in which every layer and every activation is quantized coarsely.
#include "Fixture.h"

using namespace mct::execution;
using namespace mct::testing;

std::string mct::testing::weight(const std::string &name,
                                 llvm::ArrayRef<int64_t> shape,
                                 llvm::ArrayRef<int64_t> axes, unsigned seed) {
  int64_t channels = 1;
  std::string axisList, thresholds;
  for (int64_t axis : axes) {
    channels *= shape[axis];
    axisList += (axisList.empty() ? "" : ", ") + std::to_string(axis);
  }
  for (int64_t channel = 0; channel != channels; ++channel)
    thresholds += (channel ? ", " : "") + std::to_string(0.7 + 0.05 * channel);
  std::string type = tensorType(shape);
  return constant("k_" + name, shape, seed) + "%w_" + name +
         " = tpc.quantize %k_" + name + " as \"" + name +
         "\" weight \"kernel_attr\" axes [" + axisList +
         "] parameters(#tpc.symmetric<threshold = [" + thresholds +
         "], bits = 3>) : " + type + "\n";
}

std::string mct::testing::point(const std::string &result,
                                const std::string &input,
                                const std::string &type) {
  return "%" + result + " = tpc.quantize %" + input + " as \"point_" + result +
         "\" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = "
         "5>) : " +
         type + "\n";
}

std::string mct::testing::network() {
  std::string text = "func.func @main(%x: tensor<1x8x8x3xf32> loc(\"x\")) -> "
                     "(tensor<1x1x5xf32>, tensor<1x8x8x4xf32>, "
                     "tensor<1x4x4x4xf32>) {\n";
  text += kZero;
  for (int64_t size : {3, 4, 5, 6})
    text += constant("b" + std::to_string(size), {size}, 40 + size);
  auto conv = [&](const std::string &op, const std::string &name,
                  const std::string &input, const std::string &inputType,
                  const std::string &kernelType, const std::string &bias,
                  int64_t channels, const std::string &attributes,
                  const std::string &resultType) {
    text += "%" + name + " = tosa." + op + " %" + input + ", %w_" + name +
            ", %" + bias + ", %zero, %zero {acc_type = f32, " + attributes +
            "} : (" + inputType + ", " + kernelType + ", tensor<" +
            std::to_string(channels) +
            "xf32>, tensor<1xf32>, tensor<1xf32>) -> " + resultType +
            " loc(\"" + name + "\")\n";
  };
  const std::string same =
      "dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, "
      "1, 1>, stride = array<i64: 1, 1>";
  const std::string big = "tensor<1x8x8x4xf32>", small = "tensor<1x4x4x4xf32>";
  text += point("in", "x", "tensor<1x8x8x3xf32>");
  text += weight("first", {4, 3, 3, 3}, {0}, 1);
  conv("conv2d", "first", "in", "tensor<1x8x8x3xf32>", "tensor<4x3x3x3xf32>",
       "b4", 4, same, big);
  text +=
      "%relu = tosa.clamp %first {max_val = 3.40282347E+38 : f32, min_val = "
      "0.0 : f32} : (" +
      big + ") -> " + big + "\n";
  text += point("a", "relu", big);
  text += weight("depthwise", {3, 3, 4, 1}, {2, 3}, 2);
  conv("depthwise_conv2d", "depthwise", "a", big, "tensor<3x3x4x1xf32>", "b4",
       4, same, big);
  text += point("b", "depthwise", big);
  text += weight("main", {4, 3, 3, 4}, {0}, 3);
  conv("conv2d", "main", "b", big, "tensor<4x3x3x4xf32>", "b4", 4,
       "dilation = array<i64: 1, 1>, pad = array<i64: 0, 1, 0, 1>, stride = "
       "array<i64: 2, 2>",
       small);
  text += weight("shortcut", {4, 2, 2, 4}, {0}, 4);
  conv("conv2d", "shortcut", "a", big, "tensor<4x2x2x4xf32>", "b4", 4,
       "dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = "
       "array<i64: 2, 2>",
       small);
  text += "%sum = tosa.add %main, %shortcut : (" + small + ", " + small +
          ") -> " + small + "\n";
  text += point("c", "sum", small);
  text += weight("upsampled", {4, 2, 2, 4}, {0}, 5);
  conv("transpose_conv2d", "upsampled", "c", small, "tensor<4x2x2x4xf32>", "b4",
       4, "out_pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>", big);
  text += point("d", "upsampled", big);
  text +=
      "%pooled = tosa.avg_pool2d %d, %zero, %zero {acc_type = f32, kernel = "
      "array<i64: 8, 8>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: "
      "1, 1>} : (" +
      big +
      ", tensor<1xf32>, tensor<1xf32>) -> "
      "tensor<1x1x1x4xf32>\n"
      "%shape = tosa.const_shape {values = dense<[1, 1, 4]> : "
      "tensor<3xindex>} : () -> !tosa.shape<3>\n"
      "%row = tosa.reshape %pooled, %shape : (tensor<1x1x1x4xf32>, "
      "!tosa.shape<3>) -> tensor<1x1x4xf32>\n";
  text += weight("product", {1, 4, 5}, {2}, 6);
  text += "%product = tosa.matmul %row, %w_product, %zero, %zero : "
          "(tensor<1x1x4xf32>, tensor<1x4x5xf32>, tensor<1xf32>, "
          "tensor<1xf32>) -> tensor<1x1x5xf32> loc(\"product\")\n";
  text += weight("normalized", {4, 1, 1, 4}, {0}, 7);
  conv("conv2d", "normalized", "a", big, "tensor<4x1x1x4xf32>", "b4", 4,
       "dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = "
       "array<i64: 1, 1>",
       big);
  text += weight("last", {4, 1, 1, 4}, {0}, 8);
  conv("conv2d", "last", "c", small, "tensor<4x1x1x4xf32>", "b4", 4,
       "dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = "
       "array<i64: 1, 1>",
       small);
  return text + "return %product, %normalized, %last : tensor<1x1x5xf32>, " +
         big + ", " + small + "\n}\n";
}

std::string mct::testing::channelsFirstNetwork() {
  std::string text = "func.func @main(%x: tensor<1x8x8x3xf32> loc(\"x\")) -> "
                     "(tensor<1x3xf32>, tensor<1x3x2xf32>) {\n"
                     "%nothing = arith.constant 0.0 : f32\n";
  text += kZero;
  auto transpose = [&](const std::string &result, const std::string &input,
                       const std::string &order, const std::string &from,
                       const std::string &to) {
    text += "%" + result + " = tosa.transpose %" + input +
            " {perms = array<i32: " + order + ">} : (" + from + ") -> " + to +
            "\n";
  };
  // The start that a linalg op adds to: zeros, or a bias along `others`.
  auto start = [&](const std::string &name, const std::string &type) {
    text += "%empty_" + name + " = tensor.empty() : " + type + "\n%init_" +
            name + " = linalg.fill ins(%nothing : f32) outs(%empty_" + name +
            " : " + type + ") -> " + type + "\n";
  };
  auto biased = [&](const std::string &name, const std::string &type,
                    int64_t channels, const std::string &others,
                    unsigned seed) {
    text += constant("b_" + name, {channels}, seed) + "%empty_" + name +
            " = tensor.empty() : " + type + "\n%init_" + name +
            " = linalg.broadcast ins(%b_" + name + " : " +
            tensorType({channels}) + ") outs(%empty_" + name + " : " + type +
            ") dimensions = [" + others + "]\n";
  };
  auto layer = [&](const std::string &op, const std::string &name,
                   const std::string &input, const std::string &inputType,
                   const std::string &kernelType, const std::string &resultType,
                   const std::string &attributes = "") {
    text += "%" + name + " = linalg." + op + attributes + " ins(%" + input +
            ", %w_" + name + " : " + inputType + ", " + kernelType +
            ") outs(%init_" + name + " : " + resultType + ") -> " + resultType +
            " loc(\"" + name + "\")\n";
  };
  transpose("first", "x", "0, 3, 1, 2", "tensor<1x8x8x3xf32>",
            "tensor<1x3x8x8xf32>");
  text += point("in", "first", "tensor<1x3x8x8xf32>");
  text += weight("nchw", {4, 3, 3, 3}, {0}, 1);
  biased("nchw", "tensor<1x4x6x6xf32>", 4, "0, 2, 3", 50);
  layer("conv_2d_nchw_fchw", "nchw", "in", "tensor<1x3x8x8xf32>",
        "tensor<4x3x3x3xf32>", "tensor<1x4x6x6xf32>");
  text += point("a", "nchw", "tensor<1x4x6x6xf32>");
  text += weight("depthwise", {4, 3, 3}, {0}, 2);
  start("depthwise", "tensor<1x4x4x4xf32>");
  layer("depthwise_conv_2d_nchw_chw", "depthwise", "a", "tensor<1x4x6x6xf32>",
        "tensor<4x3x3xf32>", "tensor<1x4x4x4xf32>");
  text += point("b", "depthwise", "tensor<1x4x4x4xf32>");
  transpose("there", "b", "0, 2, 3, 1", "tensor<1x4x4x4xf32>",
            "tensor<1x4x4x4xf32>");
  text += weight("between", {5, 3, 3, 4}, {0}, 3) + constant("b5", {5}, 51) +
          "%between = tosa.conv2d %there, %w_between, %b5, %zero, %zero "
          "{acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, "
          "1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x4x4x4xf32>, "
          "tensor<5x3x3x4xf32>, tensor<5xf32>, tensor<1xf32>, tensor<1xf32>) "
          "-> tensor<1x4x4x5xf32> loc(\"between\")\n";
  transpose("back", "between", "0, 3, 1, 2", "tensor<1x4x4x5xf32>",
            "tensor<1x5x4x4xf32>");
  text += point("c", "back", "tensor<1x5x4x4xf32>");
  transpose("last", "c", "0, 2, 3, 1", "tensor<1x5x4x4xf32>",
            "tensor<1x4x4x5xf32>");
  text += weight("hwcf", {2, 2, 5, 6}, {3}, 4);
  biased("hwcf", "tensor<1x1x1x6xf32>", 6, "0, 1, 2", 52);
  layer("conv_2d_nhwc_hwcf", "hwcf", "last", "tensor<1x4x4x5xf32>",
        "tensor<2x2x5x6xf32>", "tensor<1x1x1x6xf32>",
        " {dilations = dense<2> : tensor<2xi64>, strides = dense<2> : "
        "tensor<2xi64>}");
  text += point("d", "hwcf", "tensor<1x1x1x6xf32>");
  text += "%row_shape = tosa.const_shape {values = dense<[1, 6]> : "
          "tensor<2xindex>} : () -> !tosa.shape<2>\n"
          "%row = tosa.reshape %d, %row_shape : (tensor<1x1x1x6xf32>, "
          "!tosa.shape<2>) -> tensor<1x6xf32>\n"
          "%rows_shape = tosa.const_shape {values = dense<[1, 3, 2]> : "
          "tensor<3xindex>} : () -> !tosa.shape<3>\n"
          "%rows = tosa.reshape %d, %rows_shape : (tensor<1x1x1x6xf32>, "
          "!tosa.shape<3>) -> tensor<1x3x2xf32>\n";
  text += weight("matmul", {6, 3}, {1}, 5);
  start("matmul", "tensor<1x3xf32>");
  layer("matmul", "matmul", "row", "tensor<1x6xf32>", "tensor<6x3xf32>",
        "tensor<1x3xf32>");
  text += weight("batch", {1, 2, 2}, {2}, 6);
  start("batch", "tensor<1x3x2xf32>");
  layer("batch_matmul", "batch", "rows", "tensor<1x3x2xf32>",
        "tensor<1x2x2xf32>", "tensor<1x3x2xf32>");
  return text + "return %matmul, %batch : tensor<1x3xf32>, "
                "tensor<1x3x2xf32>\n}\n";
}

std::string mct::testing::wideNetwork(const std::string &op) {
  constexpr int64_t kColumns = 192 * 28, kOutputs = 3;
  const std::string wide = tensorType({1, 1, kColumns});
  const std::string type = "tensor<1x1x3xf32>";
  std::string text = "func.func @main(%x: tensor<1x8x8x3xf32> loc(\"x\")) -> " +
                     type + " {\n" + kZero;
  text += "%flat = tosa.const_shape {values = dense<[1, 1, 192]> : "
          "tensor<3xindex>} : () -> !tosa.shape<3>\n"
          "%row = tosa.reshape %x, %flat : (tensor<1x8x8x3xf32>, "
          "!tosa.shape<3>) -> tensor<1x1x192xf32>\n"
          "%times = tosa.const_shape {values = dense<[1, 1, 28]> : "
          "tensor<3xindex>} : () -> !tosa.shape<3>\n"
          "%tiled = tosa.tile %row, %times : (tensor<1x1x192xf32>, "
          "!tosa.shape<3>) -> " +
          wide + "\n" + constant("factors", {1, 1, kColumns}, 60) +
          "%shift = \"tosa.const\"() <{values = dense<0> : tensor<1xi8>}> : () "
          "-> tensor<1xi8>\n"
          "%scaled = tosa.mul %tiled, %factors, %shift : (" +
          wide + ", " + wide + ", tensor<1xi8>) -> " + wide +
          "\n"
          "%many = tosa." +
          op + " %scaled : (" + wide + ") -> " + wide + "\n";
  text += weight("product", {1, kColumns, kOutputs}, {2}, 6);
  text += "%product = tosa.matmul %many, %w_product, %zero, %zero : (" + wide +
          ", " + tensorType({1, kColumns, kOutputs}) +
          ", tensor<1xf32>, tensor<1xf32>) -> " + type +
          " loc(\"product\")\nreturn %product : " + type + "\n}\n";
  return text;
}
