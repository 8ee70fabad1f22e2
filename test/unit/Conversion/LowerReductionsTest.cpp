// SPDX-License-Identifier: Apache-2.0
//
// Reductions, pools, softmax and layer norms, and ops that only move values.
#include "LowerToIntegerFixture.h"
#include "tpc_dialect/IR/TpcDialect.h"

using namespace mlir;
using namespace mct::execution;
using namespace mct::testing;

namespace {
/// Layer norms, written as importers do.
class LowerLayerNorms : public LowerToInteger {
protected:
  /// A layer norm of rows of `count` values; its only point lies after it.
  static std::string layerNorm(int64_t rows, int64_t count, double epsilon,
                               const std::string &gain,
                               const std::string &offset,
                               const std::string &input,
                               const std::string &output) {
    std::string type = tensorType({rows, count}), sum = tensorType({rows, 1}),
                one = tensorType({1, 1});
    auto binary = [&](const char *result, const char *op, const char *a,
                      const char *b, const std::string &left,
                      const std::string &right, const std::string &to) {
      bool isMul = std::string(op) == "mul";
      return "%" + std::string(result) + " = tosa." + op + " %" + a + ", %" +
             b + (isMul ? ", %shift : (" : " : (") + left + ", " + right +
             (isMul ? ", tensor<1xi8>" : "") + ") -> " + to + "\n";
    };
    return "(%x: " + type + ") -> " + type + " {\n" + kShift +
           constant("n", {1, 1}, Floats{float(1.0 / double(count))}) +
           constant("e", {1, 1}, Floats{float(epsilon)}) + gain + offset +
           point("in", "x", type, input) +
           "%s = tosa.reduce_sum %in {axis = 1 : i32} : (" + type + ") -> " +
           sum + "\n" + binary("m", "mul", "s", "n", sum, one, sum) +
           binary("d", "sub", "in", "m", type, sum, type) +
           binary("q", "mul", "d", "d", type, type, type) +
           "%t = tosa.reduce_sum %q {axis = 1 : i32} : (" + type + ") -> " +
           sum + "\n" + binary("v", "mul", "t", "n", sum, one, sum) +
           binary("w", "add", "v", "e", sum, one, sum) +
           "%r = tosa.rsqrt %w : (" + sum + ") -> " + sum + "\n" +
           binary("y", "mul", "d", "r", type, sum, type) +
           binary("z", "mul", "y", "g", type, tensorType({1, count}), type) +
           binary("o", "add", "z", "b", type, tensorType({1, count}), type) +
           point("out", "o", type, output) + "return %out : " + type + "\n}\n";
  }
};

/// Means that are written as a sum times a number.
class LowerMeans : public LowerToInteger {
protected:
  /// Returns the network of a mean of whole images between two points.
  static std::string sumTimesNumber(int64_t positions, int64_t channels,
                                    const std::string &input,
                                    const std::string &output) {
    std::string type = tensorType({1, positions, channels}),
                sum = tensorType({1, 1, channels});
    return "(%x: " + type + ") -> " + sum + " {\n" + kShift +
           constant("n", {1, 1, 1}, Floats{float(1.0 / double(positions))}) +
           point("in", "x", type, input) +
           "%s = tosa.reduce_sum %in {axis = 1 : i32} : (" + type + ") -> " +
           sum + "\n%m = tosa.mul %s, %n, %shift : (" + sum +
           ", tensor<1x1x1xf32>, tensor<1xi8>) -> " + sum + "\n" +
           point("out", "m", sum, output) + "return %out : " + sum + "\n}\n";
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Reductions and pools
//===----------------------------------------------------------------------===//

TEST_F(LowerToInteger, Pools) {
  struct Case {
    const char *attributes, *to;
  };
  std::vector<Floats> inputs = samples({{1, 8, 8, 3}});
  for (size_t i = 0; i != inputs[0].size(); ++i)
    inputs[0][i] *= float(1 + i % 3) / 6;
  for (const char *op : {"avg_pool2d", "max_pool2d"})
    for (bool isSigned : {true, false})
      for (double threshold : {4.0, 2.0})
        for (auto [attributes, to] :
             {Case{"kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, "
                   "stride = array<i64: 2, 2>",
                   "tensor<1x4x4x3xf32>"},
              Case{"kernel = array<i64: 3, 2>, pad = array<i64: 0, 0, 0, 0>, "
                   "stride = array<i64: 1, 2>",
                   "tensor<1x6x4x3xf32>"},
              Case{"kernel = array<i64: 8, 8>, pad = array<i64: 0, 0, 0, 0>, "
                   "stride = array<i64: 8, 8>",
                   "tensor<1x1x1x3xf32>"},
              Case{"kernel = array<i64: 4, 4>, pad = array<i64: 2, 1, 1, 2>, "
                   "stride = array<i64: 1, 1>",
                   "tensor<1x8x8x3xf32>"}}) {
          bool isMean = op[0] == 'a';
          std::string from = "tensor<1x8x8x3xf32>";
          expectSame(
              "(%x: " + from + ") -> " + to + " {\n" + kZero +
                  point("in", "x", from, powerOfTwo(4, 8, isSigned)) +
                  "%0 = tosa." + op + " %in" +
                  (isMean ? ", %zero, %zero {acc_type = f32, " : " {") +
                  attributes + "} : (" + from +
                  (isMean ? ", tensor<1xf32>, tensor<1xf32>" : "") + ") -> " +
                  to + "\n" +
                  point("out", "0", to, powerOfTwo(threshold, 8, isSigned)) +
                  "return %out : " + to + "\n}\n",
              inputs);
        }
}

TEST_F(LowerToInteger, MeansOfWholeImagesWhoseSizesAreNoPowersOfTwo) {
  // Sums of every size, so that many means lie halfway between two codes.
  std::vector<Floats> inputs = samples({{1, 3, 2, 600}});
  for (size_t i = 0; i != inputs[0].size(); ++i)
    inputs[0][i] *= float(1 + i % 600) / 400;
  for (bool isSigned : {true, false})
    for (double threshold : {16.0, 4.0, 1.0, 0.125, 0.03125})
      expectSame(
          "(%x: tensor<1x3x2x600xf32>) -> tensor<1x1x1x600xf32> {\n" +
              std::string(kZero) +
              point("in", "x", "tensor<1x3x2x600xf32>",
                    powerOfTwo(4, 8, isSigned)) +
              "%0 = tosa.avg_pool2d %in, %zero, %zero {acc_type = f32, kernel "
              "= array<i64: 3, 2>, pad = array<i64: 0, 0, 0, 0>, stride = "
              "array<i64: 1, 1>} : (tensor<1x3x2x600xf32>, tensor<1xf32>, "
              "tensor<1xf32>) -> tensor<1x1x1x600xf32>\n" +
              point("out", "0", "tensor<1x1x1x600xf32>",
                    powerOfTwo(threshold, 8, isSigned)) +
              "return %out : tensor<1x1x1x600xf32>\n}\n",
          inputs);
}

TEST_F(LowerMeans, OfNumbersThatF32HasTooSmall) {
  // f32 has more than 1 / 6, and less than 1 / 100. Sums are of every size.
  for (int64_t positions : {6, 100}) {
    std::vector<Floats> inputs = samples({{1, positions, 300}});
    for (size_t i = 0; i != inputs[0].size(); ++i)
      inputs[0][i] *= float(1 + i % 300) / 200;
    for (auto [isSigned, threshold] :
         {std::pair(false, 4.0), {true, 4.0}, {true, 2.0}, {true, 8.0}})
      expectSame(sumTimesNumber(positions, 300, powerOfTwo(4, 8, isSigned),
                                powerOfTwo(threshold, 8, isSigned)),
                 inputs);
  }
}

TEST_F(LowerMeans, WithZeroPoints) {
  auto uniform = [](const char *scale, int zeroPoint) {
    return "parameters(#tpc.uniform<scale = [" + std::string(scale) +
           "], zero_point = [" + std::to_string(zeroPoint) +
           "], bits = 8, rounding = half_up>)";
  };
  std::vector<Floats> inputs = samples({{1, 12, 100}});
  for (size_t i = 0; i != inputs[0].size(); ++i)
    inputs[0][i] *= float(1 + i % 100) / 70;
  for (auto [scale, zeroPoint] : {std::pair("0.0625", 77), {"0.03125", 131}})
    expectSame(sumTimesNumber(12, 100, uniform("0.03125", 100),
                              uniform(scale, zeroPoint)),
               inputs);
}

TEST_F(LowerMeans, OfSignedCodesAreOneRescale) {
  // The zero point of the result is that of what the codes are counted from.
  auto countProducts = [&](double threshold) {
    auto integers = lower("func.func @main" +
                              sumTimesNumber(12, 4, powerOfTwo(4, 8, true),
                                             powerOfTwo(threshold, 8, true)),
                          "io=integer");
    unsigned count = 0;
    if (integers)
      integers->walk([&](tosa::MulOp) { ++count; });
    return count;
  };
  EXPECT_EQ(countProducts(8), 0u);
  EXPECT_EQ(countProducts(4), 0u);
  EXPECT_EQ(countProducts(2), 0u);
}

TEST_F(LowerToInteger, MeansWithStepsOfAnyRatio) {
  // Passing halves on the right side would move numbers that are no halves.
  std::string type = "tensor<1x16x16x8xf32>";
  expectSame("(%x: " + type + ") -> " + type + " {\n" + kZero +
                 point("in", "x", type,
                       "parameters(#tpc.symmetric<threshold = [0.874], bits = "
                       "8, rounding "
                       "= half_up>)") +
                 "%0 = tosa.avg_pool2d %in, %zero, %zero {acc_type = f32, "
                 "kernel = array<i64: 1, 2>, pad = array<i64: 0, 0, 1, 0>, "
                 "stride = array<i64: 1, 1>} : (" +
                 type + ", tensor<1xf32>, tensor<1xf32>) -> " + type + "\n" +
                 point("out", "0", type,
                       "parameters(#tpc.symmetric<threshold = [0.384], bits = "
                       "8, rounding "
                       "= half_up>)") +
                 "return %out : " + type + "\n}\n",
             samples({{1, 16, 16, 8}}));
}

TEST_F(LowerToInteger, MeanIsOneSum) {
  std::string text =
      std::string("(%x: tensor<1x8x4x3xf32>) -> tensor<1x3xf32> {\n") + kShift +
      "%n = \"tosa.const\"() <{values = dense<0.03125> : "
      "tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>\n" +
      shapeConstant("flat", {1, 3}) +
      point("in", "x", "tensor<1x8x4x3xf32>", powerOfTwo(4)) +
      "%0 = tosa.reduce_sum %in {axis = 1 : i32} : (tensor<1x8x4x3xf32>) -> "
      "tensor<1x1x4x3xf32>\n"
      "%1 = tosa.reduce_sum %0 {axis = 2 : i32} : (tensor<1x1x4x3xf32>) -> "
      "tensor<1x1x1x3xf32>\n"
      "%2 = tosa.mul %1, %n, %shift : (tensor<1x1x1x3xf32>, "
      "tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x1x1x3xf32>\n"
      "%3 = tosa.reshape %2, %flat : (tensor<1x1x1x3xf32>, !tosa.shape<2>) -> "
      "tensor<1x3xf32>\n" +
      point("out", "3", "tensor<1x3xf32>", powerOfTwo(1)) +
      "return %out : tensor<1x3xf32>\n}\n";
  expectSame(text, samples({{1, 8, 4, 3}}));
  auto integers = lower("func.func @main" + text);
  ASSERT_TRUE(integers);
  EXPECT_EQ(count<mlir::tosa::ReduceSumOp>(*integers), 1u);
}

//===----------------------------------------------------------------------===//
// Moved values
//===----------------------------------------------------------------------===//

TEST_F(LowerToInteger, WhatMovesCodes) {
  std::string in = "tensor<1x4x4x2xf32>";
  auto network = [&](const std::string &ops, const std::string &to,
                     bool isSigned, double threshold = 2) {
    return "(%x: " + in + ") -> " + to + " {\n" +
           point("in", "x", in, powerOfTwo(2, 8, isSigned)) + ops +
           point("out", "r", to, powerOfTwo(threshold, 8, isSigned)) +
           "return %out : " + to + "\n}\n";
  };
  for (bool isSigned : {true, false})
    for (double threshold : {2.0, 1.0}) {
      std::vector<Floats> inputs = samples({{1, 4, 4, 2}}, 2);
      expectSame(network(shapeConstant("s", {1, 32}) +
                             "%r = tosa.reshape %in, %s : (" + in +
                             ", !tosa.shape<2>) -> tensor<1x32xf32>\n",
                         "tensor<1x32xf32>", isSigned, threshold),
                 inputs);
      expectSame(network("%r = tosa.transpose %in {perms = array<i32: 0, 3, 1, "
                         "2>} : (" +
                             in + ") -> tensor<1x2x4x4xf32>\n",
                         "tensor<1x2x4x4xf32>", isSigned, threshold),
                 inputs);
      expectSame(network(shapeConstant("s", {0, 1, 0, 0}) +
                             shapeConstant("n", {1, 2, 4, 1}) +
                             "%r = tosa.slice %in, %s, %n : (" + in +
                             ", !tosa.shape<4>, !tosa.shape<4>) -> "
                             "tensor<1x2x4x1xf32>\n",
                         "tensor<1x2x4x1xf32>", isSigned, threshold),
                 inputs);
      expectSame(network(shapeConstant("s", {0, 0, 1, 2, 0, 1, 1, 0}) +
                             "%f = \"tosa.const\"() <{values = dense<0.3> : "
                             "tensor<1xf32>}> : () -> tensor<1xf32>\n"
                             "%r = tosa.pad %in, %s, %f : (" +
                             in +
                             ", !tosa.shape<8>, tensor<1xf32>) -> "
                             "tensor<1x7x5x3xf32>\n",
                         "tensor<1x7x5x3xf32>", isSigned, threshold),
                 inputs);
      expectSame(network("%h = tosa.reverse %in {axis = 1 : i32} : (" + in +
                             ") -> " + in + "\n" +
                             point("q", "h", in, powerOfTwo(1)) +
                             "%r = tosa.concat %in, %q {axis = 3 : i32} : (" +
                             in + ", " + in + ") -> tensor<1x4x4x4xf32>\n",
                         "tensor<1x4x4x4xf32>", isSigned, threshold),
                 inputs);
      expectSame(network("%r = tosa.reduce_max %in {axis = 2 : i32} : (" + in +
                             ") -> tensor<1x4x1x2xf32>\n",
                         "tensor<1x4x1x2xf32>", isSigned, threshold),
                 inputs);
    }
}

TEST_F(LowerToInteger, Resizes) {
  for (bool isSigned : {true, false})
    for (auto [mode, offset, border] : {std::tuple{"NEAREST_NEIGHBOR", 0, 2},
                                        {"BILINEAR", -1, 1},
                                        {"BILINEAR", 0, 2}})
      expectSame(
          std::string("(%x: tensor<1x4x5x3xf32>) -> tensor<1x8x10x3xf32> {\n") +
              shapeConstant("s", {4, 2, 4, 2}) +
              shapeConstant("o", {offset, offset}) +
              shapeConstant("b", {border, border}) +
              point("in", "x", "tensor<1x4x5x3xf32>",
                    powerOfTwo(2, 8, isSigned)) +
              "%0 = tosa.resize %in, %s, %o, %b {mode = " + mode +
              "} : (tensor<1x4x5x3xf32>, !tosa.shape<4>, !tosa.shape<2>, "
              "!tosa.shape<2>) -> tensor<1x8x10x3xf32>\n" +
              point("out", "0", "tensor<1x8x10x3xf32>",
                    powerOfTwo(2, 8, isSigned)) +
              "return %out : tensor<1x8x10x3xf32>\n}\n",
          samples({{1, 4, 5, 3}}, 2));
}

// Sums of 9 or 12 values that are the same one, halfway between two codes.
TEST_F(LowerToInteger, ResizesWithMiddlesByNoPowersOfTwo) {
  const std::string type = "tensor<1x1x1x256xf32>";
  Floats codes;
  for (int code = -128; code != 128; ++code)
    codes.push_back(float(code) / 128);
  for (int64_t factor : {3, 4})
    for (double threshold : {2.0, 1.0})
      expectSame("(%x: " + type + ") -> " + type + " {\n" +
                     point("in", "x", type, powerOfTwo(1)) +
                     shapeConstant("scale", {factor, 1, 3, 1}) +
                     shapeConstant("none", {0, 0}) +
                     "%0 = tosa.resize %in, %scale, %none, %none {mode = "
                     "BILINEAR} : (" +
                     type +
                     ", !tosa.shape<4>, !tosa.shape<2>, "
                     "!tosa.shape<2>) -> " +
                     type + "\n" +
                     point("out", "0", type, powerOfTwo(threshold)) +
                     "return %out : " + type + "\n}\n",
                 {codes});
}

namespace {
class LowerSoftmax : public LowerToInteger {
protected:
  /// Returns a function that computes the softmax of rows of 8-bit codes.
  std::string softmax(int64_t rows, int64_t count) {
    std::string begin = "tensor<" + std::to_string(rows) + "x";
    std::string type = begin + std::to_string(count) + "xf32>";
    std::string sum = begin + "1xf32>";
    return "(%x: " + type + ") -> " + type + " {\n" + kShift +
           point("in", "x", type, powerOfTwo(8)) +
           "%m = tosa.reduce_max %in {axis = 1 : i32} : (" + type + ") -> " +
           sum + "\n%d = tosa.sub %in, %m : (" + type + ", " + sum + ") -> " +
           type + "\n%e = tosa.exp %d : (" + type + ") -> " + type +
           "\n%s = tosa.reduce_sum %e {axis = 1 : i32} : (" + type + ") -> " +
           sum + "\n%i = tosa.reciprocal %s : (" + sum + ") -> " + sum +
           "\n%p = tosa.mul %e, %i, %shift : (" + type + ", " + sum +
           ", tensor<1xi8>) -> " + type + "\n" +
           point("out", "p", type, powerOfTwo(1, 8, false)) +
           "return %out : " + type + "\n}\n";
  }
};
} // namespace

TEST_F(LowerSoftmax, IsWithinOneStep) {
  expectSame(softmax(8, 40), samples({{8, 40}}, 8), "batch=0 softmax=integer",
             1.0 / 256);
}

// Against the formula in double. The codes may only be others where the bound
// that the pass states reaches the middle between two.
TEST_F(LowerSoftmax, IsWithinItsBound) {
  constexpr int64_t kRows = 24;
  constexpr double kStep = 1.0 / 16, kError = 0x1p-13;
  for (int64_t count : {1, 2, 3, 10, 100, 511}) {
    // Rows from all alike to all codes there are; one value alone is large.
    Floats input, spread = randomFloats(kRows * count, 7);
    for (int64_t row = 0; row != kRows; ++row)
      for (int64_t i = 0; i != count; ++i) {
        double width = row == 0 ? 0 : std::exp2(double(row) / 3 - 1);
        double code = std::clamp<double>(
            std::round(width * double(spread[row * count + i])), -128, 127);
        if (row == 1)
          code = i == 0 ? 127 : -128;
        input.push_back(float(code * kStep));
      }
    diagnostics.clear();
    auto integers = lower("func.func @main" + softmax(kRows, count),
                          "batch=0 softmax=integer");
    ASSERT_TRUE(integers);
    EXPECT_EQ(llvm::join(diagnostics, "\n"), "");
    CompileOptions keep;
    keep.keepTypes = true;
    auto executor = Executor::compile(*integers, keep);
    ASSERT_TRUE(mlir::succeeded(executor)) << llvm::join(diagnostics, "\n");
    Floats found = runUnit(**executor, {input});
    for (int64_t row = 0; row != kRows; ++row) {
      const float *own = &input[row * count];
      double sum = 0;
      for (int64_t i = 0; i != count; ++i)
        sum += std::exp(double(own[i]));
      for (int64_t i = 0; i != count; ++i) {
        double value = std::exp(double(own[i])) / sum;
        auto codeOf = [](double real) {
          return std::clamp<double>(std::floor(real * 256 + 0.5), 0, 255);
        };
        double code = std::round(double(found[row * count + i]) * 256);
        EXPECT_GE(code, codeOf(value - kError)) << count << " row " << row;
        EXPECT_LE(code, codeOf(value + kError)) << count << " row " << row;
      }
    }
  }
}

// Against the formula in double. The codes may only be others where the bound
// that the pass states reaches the middle between two.
TEST_F(LowerLayerNorms, AreWithinTheirBound) {
  constexpr int64_t kRows = 24, kZero = 37, kOutputZero = 120;
  constexpr double kStep = 0.013, kOutputStep = 0.031;
  for (int64_t count : {2, 8, 33, 64, 768, 2048})
    for (double epsilon : {0.0, 1e-5, 0.1}) {
      Floats gain = randomFloats(count, 5), offset = randomFloats(count, 6);
      // Negative ones are there; none, too.
      gain[count / 2] = 0;
      std::string text = layerNorm(
          kRows, count, epsilon, constant("g", {1, count}, gain),
          constant("b", {1, count}, offset),
          "parameters(#tpc.uniform<scale = [0.013], zero_point = [37], bits = "
          "8, rounding = half_up>)",
          "parameters(#tpc.uniform<scale = [0.031], zero_point = [120], bits "
          "= 8, rounding = half_up>)");
      // Rows from all alike to all codes there are.
      Floats input, spread = randomFloats(kRows * count, 7);
      std::vector<int64_t> codes;
      for (int64_t row = 0; row != kRows; ++row)
        for (int64_t i = 0; i != count; ++i) {
          double width = row == 0 ? 0 : std::exp2(double(row) / 3 - 1);
          int64_t code = std::clamp<int64_t>(
              std::lround(100 + double(row) +
                          width * double(spread[row * count + i])),
              0, 255);
          if (row == 1)
            code = i == 0 ? 101 : 100;
          if (row == 2)
            code = i % 2 == 0 ? 0 : 255;
          codes.push_back(code);
          input.push_back(float(double(code - kZero) * kStep));
        }
      diagnostics.clear();
      auto integers = lower("func.func @main" + text, "layer-norm=integer");
      ASSERT_TRUE(integers);
      EXPECT_EQ(llvm::join(diagnostics, "\n"), "");
      CompileOptions keep;
      keep.keepTypes = true;
      auto executor = Executor::compile(*integers, keep);
      ASSERT_TRUE(mlir::succeeded(executor)) << llvm::join(diagnostics, "\n");
      Floats found = runUnit(**executor, {input});
      size_t others = 0;
      for (int64_t row = 0; row != kRows; ++row) {
        double mean = 0, squares = 0;
        const int64_t *own = &codes[row * count];
        for (int64_t i = 0; i != count; ++i)
          mean += double(own[i]) / double(count);
        for (int64_t i = 0; i != count; ++i)
          squares += (double(own[i]) - mean) * (double(own[i]) - mean);
        for (int64_t i = 0; i != count; ++i) {
          double deviation = std::sqrt(squares / double(count) * kStep * kStep +
                                       double(float(epsilon)));
          double x = deviation == 0 || squares == 0
                         ? 0
                         : (double(own[i]) - mean) * kStep / deviation;
          double error =
              (std::abs(x) * (0x1p-13 + 1 / std::max(squares, 0.5)) + 0x1p-13) *
              std::abs(double(gain[i]));
          // Offsets are rounded to 2^-8 steps where there is no gain.
          error += 0x1p-8 * kOutputStep;
          double value = x * double(gain[i]) + double(offset[i]);
          auto codeOf = [&](double real) {
            return std::clamp<double>(
                std::floor(real / kOutputStep + 0.5) + kOutputZero, 0, 255);
          };
          double code =
              std::round(double(found[row * count + i]) / kOutputStep) +
              kOutputZero;
          EXPECT_GE(code, codeOf(value - error))
              << count << " " << epsilon << " row " << row << " " << i;
          EXPECT_LE(code, codeOf(value + error))
              << count << " " << epsilon << " row " << row << " " << i;
          others += squares > 100 && code != codeOf(value);
        }
      }
      // Twice the bound of some 2^-13 times |x| is a hundredth of a step, so
      // that more would say that the bound is used up everywhere.
      EXPECT_LE(double(others), 0.01 * double(kRows * count));
    }
}

TEST_F(LowerToInteger, SlopesThatAreTooSmallForAMultiplier) {
  std::string type = "tensor<1x256x2xf32>", condition = "tensor<1x256x2xi1>";
  Floats codes;
  for (int code = -128; code != 128; ++code)
    codes.insert(codes.end(), 2, float(code));
  expectSame("(%x: " + type + ") -> " + type + " {\n" + kShift +
                 point("in", "x", type, powerOfTwo(128)) +
                 constant("s", {1, 1, 2}, Floats{0.1f, 1e-38f}) +
                 constant("z", {1, 1, 1}, Floats{0}) +
                 "%p = tosa.greater_equal %in, %z : (" + type +
                 ", tensor<1x1x1xf32>) -> " + condition +
                 "\n%n = tosa.mul %in, %s, %shift : (" + type +
                 ", tensor<1x1x2xf32>, tensor<1xi8>) -> " + type +
                 "\n%r = tosa.select %p, %in, %n : (" + condition + ", " +
                 type + ", " + type + ") -> " + type + "\n" +
                 point("out", "r", type, powerOfTwo(128)) +
                 "return %out : " + type + "\n}\n",
             {codes});
}

TEST_F(LowerToInteger, SumsFarBeyondTheResultsSaturate) {
  // Codes of the sums, rounded to even, that no rescale by 1 takes: their steps
  // are 393216.5 times those of the results.
  std::string in = "tensor<1x4x4x3xf32>", to = "tensor<1x4x4x2xf32>";
  std::string text =
      "func.func @main(%x: " + in + ") -> " + to + " {\n" + kZero +
      point("in", "x", in,
            "parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>)") +
      constant("k_floats", {2, 1, 1, 3}, 5) +
      "%k = tpc.quantize %k_floats as \"k\" weight \"kernel_attr\" "
      "parameters(#tpc.symmetric<threshold = [0.7500009536743164], bits = "
      "8>) : tensor<2x1x1x3xf32>\n" +
      bias("b", 2) +
      "%0 = tosa.conv2d %in, %k, %b, %zero, %zero {acc_type = f32, dilation "
      "= array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = "
      "array<i64: 1, 1>} : (" +
      in +
      ", tensor<2x1x1x3xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) "
      "-> " +
      to + "\n" +
      point("out", "0", to,
            "parameters(#tpc.power_of_two<threshold = "
            "[1.52587890625e-05], bits = 16>)") +
      "return %out : " + to + "\n}\n";
  diagnostics.clear();
  auto integers = lower(text, "rounding=half-even extensions=int16 io=integer");
  ASSERT_TRUE(integers);
  mlir::PassManager passes(&context, mlir::ModuleOp::getOperationName());
  ASSERT_TRUE(succeeded(mlir::parsePassPipeline("mct-check-integer", passes)));
  EXPECT_TRUE(succeeded(passes.run(*integers)))
      << llvm::join(diagnostics, "\n");
}

TEST_F(LowerToInteger, ConditionsOnWiderFloats) {
  std::string type = "tensor<2x64xf32>", condition = "tensor<2x64xi1>";
  // 0.25 is a code, 0.3 lies between two, and minus infinity below all.
  for (const char *number : {"0.25", "0.3", "0xFFF0000000000000"})
    for (const char *chosen : {"e", "c"})
      expectSame("(%x: " + type + ", %y: " + type + ") -> " + type + " {\n" +
                     point("in", "x", type, powerOfTwo(1)) +
                     point("other", "y", type, powerOfTwo(1)) +
                     "%n = \"tosa.const\"() <{values = dense<" + number +
                     "> : tensor<1x1xf64>}> : () -> tensor<1x1xf64>\n"
                     "%w = tosa.cast %in : (" +
                     type +
                     ") -> tensor<2x64xf64>\n%e = tosa.equal %n, %w : "
                     "(tensor<1x1xf64>, tensor<2x64xf64>) -> " +
                     condition + "\n%c = tosa.logical_not %e : (" + condition +
                     ") -> " + condition + "\n%s = tosa.select %" + chosen +
                     ", %other, %in : (" + condition + ", " + type + ", " +
                     type + ") -> " + type + "\n" +
                     point("out", "s", type, powerOfTwo(2)) +
                     "return %out : " + type + "\n}\n",
                 samples({{2, 64}, {2, 64}}, 1));
}

TEST_F(LowerToInteger, ClampsInARow) {
  // Ranges may be disjoint: the result is then the nearer end of the later one.
  std::string type = "tensor<1x64xf32>";
  for (auto [low, high] :
       {std::pair{"2.0", "3.0"}, {"-3.0", "-2.0"}, {"-3.0", "0.5"}}) {
    std::string text =
        "(%x: " + type + ") -> (" + type + ", " + type + ") {\n" +
        point("in", "x", type, powerOfTwo(4)) +
        "%0 = tosa.clamp %in {min_val = -1.0 : f32, max_val = 1.0 : f32} : (" +
        type + ") -> " + type + "\n%1 = tosa.clamp %0 {min_val = " + low +
        " : f32, max_val = " + high + " : f32} : (" + type + ") -> " + type +
        "\n" + point("out", "1", type, powerOfTwo(4)) +
        "return %in, %out : " + type + ", " + type + "\n}\n";
    auto simulation = compile("func.func @main" + text);
    auto integers = lower("func.func @main" + text);
    ASSERT_TRUE(simulation && integers);
    auto executor = Executor::compile(*integers);
    ASSERT_TRUE(mlir::succeeded(executor));
    std::vector<Floats> inputs = samples({{simulation->unit(), 64}});
    EXPECT_EQ(runOutputs(*simulation, inputs), runOutputs(**executor, inputs));
  }
}

TEST_F(LowerToInteger, LargestPlacesOfMovedValues) {
  // The moved value is returned, too: its integers stand before both users.
  std::string text =
      "func.func @main(%x: tensor<1x4xf32>) -> (tensor<1xi32>, "
      "tensor<4x1xf32>) {\n" +
      shapeConstant("s", {4, 1}) +
      point("in", "x", "tensor<1x4xf32>", powerOfTwo(4)) +
      "%r = tosa.reshape %in, %s : (tensor<1x4xf32>, !tosa.shape<2>) -> "
      "tensor<4x1xf32>\n"
      "%m = tosa.argmax %r {axis = 0 : i32} : (tensor<4x1xf32>) -> "
      "tensor<1xi32>\n"
      "return %m, %r : tensor<1xi32>, tensor<4x1xf32>\n}\n";
  for (const char *options : {"io=float", "io=integer"}) {
    auto integers = lower(text, options);
    ASSERT_TRUE(integers) << options;
    integers->walk([&](mlir::tosa::ArgMaxOp op) {
      EXPECT_TRUE(mlir::getElementTypeOrSelf(op.getInput()).isInteger(8));
    });
    EXPECT_EQ(count<mlir::tosa::ArgMaxOp>(*integers), 1u);
  }
}

//===----------------------------------------------------------------------===//
// 16 bits
//===----------------------------------------------------------------------===//

TEST_F(LowerToInteger, SixteenBits) {
  const char *type = "tensor<1x7x6x3xf32>", *to = "tensor<1x4x3x5xf32>";
  std::string text =
      std::string("(%x: ") + type + ") -> " + to + " {\n" + kZero +
      point("in", "x", type, powerOfTwo(4, 16)) +
      kernel("k", {5, 3, 2, 3}, 0, 7, 4) + bias("b", 5) +
      "%0 = tosa.conv2d %in, %k, %b, %zero, %zero {acc_type = f32, dilation = "
      "array<i64: 1, 2>, pad = array<i64: 1, 1, 0, 1>, stride = array<i64: 2, "
      "2>} : (" +
      type +
      ", tensor<5x3x2x3xf32>, tensor<5xf32>, tensor<1xf32>, tensor<1xf32>) "
      "-> " +
      to + "\n";
  // Down to 8 bits, and to 16.
  for (unsigned bits : {8u, 12u, 16u})
    expectSame(text + point("out", "0", to, powerOfTwo(4, bits)) +
                   "return %out : " + to + "\n}\n",
               samples({{1, 7, 6, 3}}), "extensions=int16");
  std::string wide = "tensor<1x40xf32>";
  for (const char *op : {"add", "sub"})
    expectSame(std::string("(%x: ") + wide + ", %y: " + wide + ") -> " + wide +
                   " {\n" + point("a", "x", wide, powerOfTwo(4, 16)) +
                   point("b", "y", wide, powerOfTwo(2, 8)) + "%0 = tosa." + op +
                   " %a, %b : (" + wide + ", " + wide + ") -> " + wide + "\n" +
                   point("out", "0", wide, powerOfTwo(8, 16)) +
                   "return %out : " + wide + "\n}\n",
               samples({{1, 40}, {1, 40}}), "extensions=int16");
}
