// SPDX-License-Identifier: Apache-2.0
//
// Layers, and ops on one and two operands.
#include "LowerToIntegerFixture.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/DialectResourceBlobManager.h"

#include <set>

using namespace mct::execution;
using namespace mct::testing;

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

TEST_F(LowerToInteger, ConvolutionsAndTheirClamps) {
  const char *type = "tensor<1x7x6x3xf32>", *to = "tensor<1x4x3x5xf32>";
  for (bool isSigned : {true, false})
    for (unsigned bits : {8u, 5u, 2u})
      for (const char *clamp :
           {"", "min_val = 0.0 : f32, max_val = 3.40282347E+38 : f32",
            "min_val = 0.0 : f32, max_val = 1.7 : f32",
            "min_val = -0.5 : f32, max_val = 0.8 : f32"}) {
        std::string text =
            std::string("(%x: ") + type + ") -> " + to + " {\n" + kZero +
            point("in", "x", type, powerOfTwo(4, bits, isSigned)) +
            kernel("k", {5, 3, 2, 3}, 0, 7) + bias("b", 5) +
            "%0 = tosa.conv2d %in, %k, %b, %zero, %zero {acc_type = f32, "
            "dilation = array<i64: 1, 2>, pad = array<i64: 1, 1, 0, 1>, stride "
            "= array<i64: 2, 2>} : (" +
            type +
            ", tensor<5x3x2x3xf32>, tensor<5xf32>, tensor<1xf32>, "
            "tensor<1xf32>) -> " +
            to + "\n";
        std::string last = "0";
        if (*clamp) {
          text += std::string("%1 = tosa.clamp %0 {") + clamp + "} : (" + to +
                  ") -> " + to + "\n";
          last = "1";
        }
        text +=
            point("out", last, to, powerOfTwo(2, bits, isSigned && !*clamp)) +
            "return %out : " + to + "\n}\n";
        expectSame(text, samples({{1, 7, 6, 3}}));
      }
}

TEST_F(LowerToInteger, OtherConvolutions) {
  std::string in = "tensor<1x5x6x4xf32>";
  auto network = [&](const std::string &kernelText, const std::string &op,
                     const std::string &from, const std::string &to,
                     int64_t outputs) {
    return "(%x: " + from + ") -> " + to + " {\n" + kZero +
           point("in", "x", from, powerOfTwo(4)) + kernelText +
           bias("b", outputs) + "%0 = " + op + " -> " + to + "\n" +
           point("out", "0", to, powerOfTwo(4)) + "return %out : " + to +
           "\n}\n";
  };
  // A depthwise kernel [KH, KW, C, 1] with scales along C.
  expectSame(
      network(kernel("k", {3, 3, 4, 1}, 2, 5),
              "tosa.depthwise_conv2d %in, %k, %b, %zero, %zero {acc_type = "
              "f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, "
              "1>, stride = array<i64: 1, 1>} : (tensor<1x5x6x4xf32>, "
              "tensor<3x3x4x1xf32>, tensor<4xf32>, tensor<1xf32>, "
              "tensor<1xf32>)",
              in, in, 4),
      samples({{1, 5, 6, 4}}));
  expectSame(
      network(kernel("k", {3, 3, 2, 4}, 0, 5),
              "tosa.transpose_conv2d %in, %k, %b, %zero, %zero {acc_type = "
              "f32, out_pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, "
              "2>} : (tensor<1x5x6x4xf32>, tensor<3x3x2x4xf32>, "
              "tensor<3xf32>, tensor<1xf32>, tensor<1xf32>)",
              in, "tensor<1x11x12x3xf32>", 3),
      samples({{1, 5, 6, 4}}));
}

TEST_F(LowerToInteger, MatrixProducts) {
  // With a constant: a convolution, with the bias inside.
  std::string text =
      std::string("(%x: tensor<1x6x8xf32>) -> tensor<1x6x5xf32> {\n") + kZero +
      point("in", "x", "tensor<1x6x8xf32>", powerOfTwo(4)) +
      kernel("k", {1, 8, 5}, 2, 5) +
      constant("wide", {1, 1, 5}, Floats{0.5f, -0.25f, 0, 1, 0.125f}) +
      "%0 = tosa.matmul %in, %k, %zero, %zero : (tensor<1x6x8xf32>, "
      "tensor<1x8x5xf32>, tensor<1xf32>, tensor<1xf32>) -> "
      "tensor<1x6x5xf32>\n"
      "%1 = tosa.add %0, %wide : (tensor<1x6x5xf32>, tensor<1x1x5xf32>) -> "
      "tensor<1x6x5xf32>\n" +
      point("out", "1", "tensor<1x6x5xf32>", powerOfTwo(4)) +
      "return %out : tensor<1x6x5xf32>\n}\n";
  expectSame(text, samples({{1, 6, 8}}));
  auto integers = lower("func.func @main" + text);
  ASSERT_TRUE(integers);
  EXPECT_EQ(count<mlir::tosa::Conv2DOp>(*integers), 1u);
  EXPECT_EQ(count<mlir::tosa::RescaleOp>(*integers), 1u);
  // A product of two values, one unsigned.
  expectSame(std::string("(%x: tensor<2x6x8xf32>, %y: tensor<2x8x5xf32>) -> "
                         "tensor<2x6x5xf32> {\n") +
                 kZero + point("a", "x", "tensor<2x6x8xf32>", powerOfTwo(4)) +
                 point("b", "y", "tensor<2x8x5xf32>", powerOfTwo(4, 8, false)) +
                 "%0 = tosa.matmul %a, %b, %zero, %zero : (tensor<2x6x8xf32>, "
                 "tensor<2x8x5xf32>, tensor<1xf32>, tensor<1xf32>) -> "
                 "tensor<2x6x5xf32>\n" +
                 point("out", "0", "tensor<2x6x5xf32>", powerOfTwo(32)) +
                 "return %out : tensor<2x6x5xf32>\n}\n",
             samples({{2, 6, 8}, {2, 8, 5}}), "batch=0");
}

TEST_F(LowerToInteger, KernelsOfFourBits) {
  for (const char *options : {"", "extensions=int4"}) {
    const char *type = "tensor<1x4x4x3xf32>", *to = "tensor<1x4x4x5xf32>";
    std::string text =
        std::string("(%x: ") + type + ") -> " + to + " {\n" + kZero +
        point("in", "x", type, powerOfTwo(4)) +
        kernel("k", {5, 1, 1, 3}, 0, 19, 4) + bias("b", 5) +
        "%0 = tosa.conv2d %in, %k, %b, %zero, %zero {acc_type = f32, dilation "
        "= array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = "
        "array<i64: 1, 1>} : (" +
        type +
        ", tensor<5x1x1x3xf32>, tensor<5xf32>, tensor<1xf32>, tensor<1xf32>) "
        "-> " +
        to + "\n" + point("out", "0", to, powerOfTwo(4)) +
        "return %out : " + to + "\n}\n";
    auto integers = lower("func.func @main" + text, options);
    ASSERT_TRUE(integers);
    integers->walk([&](mlir::tosa::Conv2DOp op) {
      mlir::Type element = mlir::getElementTypeOrSelf(op.getWeight().getType());
      // This one holds -8.
      EXPECT_TRUE(element.isInteger(8));
    });
  }
}

TEST_F(LowerToInteger, KernelsOfTables) {
  const char *type = "tensor<1x4x4x3xf32>", *to = "tensor<1x4x4x2xf32>";
  expectSame(
      std::string("(%x: ") + type + ") -> " + to + " {\n" + kZero +
          point("in", "x", type, powerOfTwo(4)) +
          constant("k_floats", {2, 1, 1, 3}, 19) +
          "%k = tpc.quantize %k_floats as \"k\" weight \"kernel_attr\" axes "
          "[0] parameters(#tpc.lookup_table<method = lut_pot_quantizer, "
          "threshold = [1.0, 0.5], table = [-128, -64, 3, 32], bits = 2>) : "
          "tensor<2x1x1x3xf32>\n" +
          bias("b", 2) +
          "%0 = tosa.conv2d %in, %k, %b, %zero, %zero {acc_type = f32, "
          "dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride "
          "= array<i64: 1, 1>} : (" +
          type +
          ", tensor<2x1x1x3xf32>, tensor<2xf32>, tensor<1xf32>, "
          "tensor<1xf32>) -> " +
          to + "\n" + point("out", "0", to, powerOfTwo(4)) +
          "return %out : " + to + "\n}\n",
      samples({{1, 4, 4, 3}}));
}

//===----------------------------------------------------------------------===//
// Two operands, all pairs of codes
//===----------------------------------------------------------------------===//

TEST_F(LowerToInteger, SumsOfAllPairs) {
  for (const char *op : {"add", "sub"})
    for (auto [a, b, out] : {std::tuple{1.0, 1.0, 2.0},
                             {4.0, 1.0, 4.0},
                             {0.5, 8.0, 1.0},
                             {1.0, 1.0, 0.25},
                             {1.0, 1024.0, 2.0}}) {
      std::string text = std::string("(%x: ") + kA + ", %y: " + kB + ") -> " +
                         kAB + " {\n" + point("a", "x", kA, powerOfTwo(a)) +
                         point("b", "y", kB, powerOfTwo(b)) + "%0 = tosa." +
                         op + " %a, %b : (" + kA + ", " + kB + ") -> " + kAB +
                         "\n" + point("out", "0", kAB, powerOfTwo(out)) +
                         "return %out : " + kAB + "\n}\n";
      expectSame(text, allPairs(float(a) / 128, float(b) / 128), "batch=0");
    }
}

TEST_F(LowerToInteger, SumsOfUnsignedAndNarrowCodes) {
  expectSame(std::string("(%x: ") + kA + ", %y: " + kB + ") -> " + kAB +
                 " {\n" + point("a", "x", kA, powerOfTwo(2, 8, false)) +
                 point("b", "y", kB, powerOfTwo(4, 4)) +
                 "%0 = tosa.add %a, %b : (" + kA + ", " + kB + ") -> " + kAB +
                 "\n" + point("out", "0", kAB, powerOfTwo(4, 6)) +
                 "return %out : " + kAB + "\n}\n",
             allPairs(2.0f / 256, 4.0f / 128, 0), "batch=0");
}

TEST_F(LowerToInteger, SumsWithFreeScales) {
  // The exact sum is as near to a code as the sum of what the rescale of the
  // finer operand rounds to 2^-19 of a step: one step at a tie.
  auto symmetric = [](double threshold) {
    return "parameters(#tpc.symmetric<threshold = [" +
           std::to_string(threshold) + "], bits = 8, rounding = half_up>)";
  };
  expectSame(std::string("(%x: ") + kA + ", %y: " + kB + ") -> " + kAB +
                 " {\n" + point("a", "x", kA, symmetric(1.3)) +
                 point("b", "y", kB, symmetric(0.7)) +
                 "%0 = tosa.add %a, %b : (" + kA + ", " + kB + ") -> " + kAB +
                 "\n" + point("out", "0", kAB, symmetric(1.9)) +
                 "return %out : " + kAB + "\n}\n",
             allPairs(1.3f / 128, 0.7f / 128), "batch=0");
}

TEST_F(LowerToInteger, ProductsAndExtremesOfAllPairs) {
  for (const char *op : {"mul", "maximum", "minimum"})
    for (double out : {1.0, 4.0}) {
      std::string text =
          std::string("(%x: ") + kA + ", %y: " + kB + ") -> " + kAB + " {\n" +
          kShift + point("a", "x", kA, powerOfTwo(2)) +
          point("b", "y", kB, powerOfTwo(1)) + "%0 = tosa." + op + " %a, %b" +
          (op[1] == 'u' ? ", %shift : (" : " : (") + kA + ", " + kB +
          (op[1] == 'u' ? ", tensor<1xi8>" : "") + ") -> " + kAB + "\n" +
          point("out", "0", kAB, powerOfTwo(out)) + "return %out : " + kAB +
          "\n}\n";
      expectSame(text, allPairs(2.0f / 128, 1.0f / 128), "batch=0");
    }
}

TEST_F(LowerToInteger, HalfEvenIsThatOfTheSimulation) {
  std::string parameters = "parameters(#tpc.power_of_two<threshold = [2.0], "
                           "bits = 8>)";
  std::string finer = "parameters(#tpc.power_of_two<threshold = [0.5], bits = "
                      "8>)";
  expectSame(
      std::string("(%x: ") + kA + ", %y: " + kB + ") -> " + kAB + " {\n" +
          point("a", "x", kA, finer) + point("b", "y", kB, finer) +
          "%0 = tosa.add %a, %b : (" + kA + ", " + kB + ") -> " + kAB + "\n" +
          point("out", "0", kAB, parameters) + "return %out : " + kAB + "\n}\n",
      allPairs(0.5f / 128, 0.5f / 128), "batch=0 rounding=half-even");
}

//===----------------------------------------------------------------------===//
// One operand, all codes
//===----------------------------------------------------------------------===//

TEST_F(LowerToInteger, TablesOfEveryFunction) {
  auto network = [&](const std::string &ops) {
    return std::string("(%x: ") + kA + ") -> " + kA + " {\n" + kShift +
           "%two = \"tosa.const\"() <{values = dense<2.0> : "
           "tensor<1x1xf32>}> : () -> tensor<1x1xf32>\n" +
           point("in", "x", kA, powerOfTwo(4)) + ops +
           point("out", "r", kA, powerOfTwo(2)) + "return %out : " + kA +
           "\n}\n";
  };
  std::string unary = std::string(" : (") + kA + ") -> " + kA + "\n";
  std::string two =
      std::string(" : (") + kA + ", tensor<1x1xf32>) -> " + kA + "\n";
  std::string twoShift = std::string(" : (") + kA +
                         ", tensor<1x1xf32>, tensor<1xi8>) -> " + kA + "\n";
  std::string both =
      std::string(" : (") + kA + ", " + kA + ", tensor<1xi8>) -> " + kA + "\n";
  for (const char *op :
       {"sigmoid", "tanh", "erf", "exp", "abs", "ceil", "floor"})
    expectSame(network(std::string("%r = tosa.") + op + " %in" + unary),
               allPairs(4.0f / 128, 1), "batch=0");
  // A leaky ReLU, x * sigmoid(x) and a hard swish.
  expectSame(network("%s = tosa.mul %in, %two, %shift" + twoShift +
                     "%r = tosa.maximum %s, %in" + std::string(" : (") + kA +
                     ", " + kA + ") -> " + kA + "\n"),
             allPairs(4.0f / 128, 1), "batch=0");
  expectSame(network("%s = tosa.sigmoid %in" + unary +
                     "%r = tosa.mul %in, %s, %shift" + both),
             allPairs(4.0f / 128, 1), "batch=0");
  expectSame(network("%s = tosa.add %in, %two" + two +
                     "%c = tosa.clamp %s {min_val = 0.0 : f32, max_val = 4.0 "
                     ": f32}" +
                     unary + "%r = tosa.mul %in, %c, %shift" + both),
             allPairs(4.0f / 128, 1), "batch=0");
  auto integers =
      lower("func.func @main" + network("%r = tosa.tanh %in" + unary),
            "io=integer batch=0");
  ASSERT_TRUE(integers);
  EXPECT_EQ(count<mlir::tosa::TableOp>(*integers), 1u);
  EXPECT_EQ(count<mlir::tosa::RescaleOp>(*integers), 0u);
}

// Everything under one key would be tried one number after the other, and stay
// in memory.
TEST_F(LowerToInteger, TablesHaveTheOnlyResources) {
  constexpr size_t kTables = 40;
  const std::string type = "tensor<1x8xf32>";
  std::string text = "(%x: " + type + ") -> " + type + " {\n" +
                     point("p0", "x", type, powerOfTwo(1));
  for (size_t number = 1; number <= kTables; ++number) {
    std::string at = std::to_string(number);
    text += "%t" + at + " = tosa.tanh %p" + std::to_string(number - 1) +
            " : (" + type + ") -> " + type + "\n" +
            point("p" + at, "t" + at, type, powerOfTwo(1));
  }
  text += "return %p" + std::to_string(kTables) + " : " + type + "\n}\n";
  auto integers = lower("func.func @main" + text, "io=integer");
  ASSERT_TRUE(integers);
  EXPECT_EQ(count<mlir::tosa::TableOp>(*integers), kTables);
  std::set<std::string> expected, found;
  for (size_t number = 1; number <= kTables; ++number)
    expected.insert("p" + std::to_string(number) + "/integer");
  mlir::DenseResourceElementsHandle::getManagerInterface(&context)
      .getBlobManager()
      .getBlobMap([&](const auto &blobs) {
        for (const auto &blob : blobs)
          found.insert(blob.getKey().str());
      });
  EXPECT_EQ(found, expected);
}

TEST_F(LowerToInteger, FactorsOfEveryChannel) {
  std::string type = "tensor<1x16x16x4xf32>";
  for (bool isSum : {false, true})
    for (const Floats &factors :
         {Floats{0.25f, -0.5f, 0, 1.375f}, Floats{-3, -3, -3, -3}}) {
      std::string text = "(%x: " + type + ") -> " + type + " {\n" + kShift +
                         constant("factor", {1, 1, 1, 4}, factors) +
                         point("in", "x", type, powerOfTwo(4));
      if (isSum)
        text += "%y = tosa.add %in, %in : (" + type + ", " + type + ") -> " +
                type + "\n";
      expectSame(text + "%p = tosa.mul %" + (isSum ? "y" : "in") +
                     ", %factor, %shift : (" + type +
                     ", tensor<1x1x1x4xf32>, tensor<1xi8>) -> " + type + "\n" +
                     point("out", "p", type, powerOfTwo(4)) +
                     "return %out : " + type + "\n}\n",
                 samples({{1, 16, 16, 4}}));
    }
}

TEST_F(LowerToInteger, SlopesOfEveryChannel) {
  // All codes of a stored value, and sums; slopes of both signs, and 0.
  std::string from = "tensor<1x16x16x1xf32>", to = "tensor<1x16x16x5xf32>",
              slopes = "tensor<1x1x1x5xf32>";
  auto network = [&](const std::string &y, const std::string &inner) {
    return "(%x: " + from + ") -> " + to + " {\n" + kZero + kShift +
           constant("slope", {1, 1, 1, 5},
                    Floats{0.25f, -0.5f, 0, 1.375f, -2}) +
           "%nought = \"tosa.const\"() <{values = dense<0.0> : "
           "tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>\n" +
           point("in", "x", from, powerOfTwo(4)) +
           kernel("k", {5, 1, 1, 1}, 0, 7) + bias("b", 5) +
           "%0 = tosa.conv2d %in, %k, %b, %zero, %zero {acc_type = f32, "
           "dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride "
           "= array<i64: 1, 1>} : (" +
           from +
           ", tensor<5x1x1x1xf32>, tensor<5xf32>, tensor<1xf32>, "
           "tensor<1xf32>) -> " +
           to + "\n" + inner + "%p = tosa.mul %" + y + ", %slope, %shift : (" +
           to + ", " + slopes + ", tensor<1xi8>) -> " + to +
           "\n%c = tosa.greater_equal %" + y + ", %nought : (" + to +
           ", tensor<1x1x1x1xf32>) -> tensor<1x16x16x5xi1>\n"
           "%r = tosa.select %c, %" +
           y + ", %p : (tensor<1x16x16x5xi1>, " + to + ", " + to + ") -> " +
           to + "\n" + point("out", "r", to, powerOfTwo(2)) +
           "return %out : " + to + "\n}\n";
  };
  std::vector<Floats> codes = {allPairs(4.0f / 128, 1)[0]};
  expectSame(network("y", point("y", "0", to, powerOfTwo(4))), codes);
  expectSame(network("0", ""), codes);
}
