// SPDX-License-Identifier: Apache-2.0
//
// The order and place of what a lowering makes: repeated layers, branches,
// loops, and values with several uses.
#include "LowerToIntegerFixture.h"

using namespace mct::execution;
using namespace mct::testing;

namespace {
class LowerControlFlow : public LowerToInteger {
protected:
  /// A layer, and whether one of its first results is above zero.
  static std::string layerAndCondition() {
    const char *type = "tensor<1x4x4x2xf32>";
    return kZero + std::string(kShift) + point("in", "x", type, powerOfTwo(4)) +
           kernel("k", {2, 1, 1, 2}, 0, 5) + bias("b", 2) +
           "%layer = tosa.conv2d %in, %k, %b, %zero, %zero {acc_type = f32, "
           "dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride "
           "= "
           "array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, "
           "tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> "
           "tensor<1x4x4x2xf32>\n" +
           shapeConstant("start", {0, 0, 0, 0}) +
           shapeConstant("one", {1, 1, 1, 1}) +
           "%none = tosa.const_shape {values = dense<> : tensor<0xindex>} : () "
           "-> !tosa.shape<0>\n" +
           constant("origin", {1, 1, 1, 1}, Floats{0}) +
           "%first = tosa.slice %in, %start, %one : (tensor<1x4x4x2xf32>, "
           "!tosa.shape<4>, !tosa.shape<4>) -> tensor<1x1x1x1xf32>\n"
           "%above = tosa.greater %first, %origin : (tensor<1x1x1x1xf32>, "
           "tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xi1>\n"
           "%condition = tosa.reshape %above, %none : (tensor<1x1x1x1xi1>, "
           "!tosa.shape<0>) -> tensor<i1>\n";
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Order and place
//===----------------------------------------------------------------------===//

// For Ethos-U a layer is computed for each of its users.
TEST_F(LowerToInteger, RepeatedLayersMakeTheSameCodes) {
  std::string type = "tensor<1x8x8x4xf32>", to = "tensor<1x8x8x8xf32>";
  std::string text =
      "func.func @main(%x: " + type + ") -> (" + to + ", " + to + ") {\n" +
      kZero + point("in", "x", type, powerOfTwo(4)) +
      kernel("k", {8, 1, 1, 4}, 0, 7) + bias("b", 8) +
      "%0 = tosa.conv2d %in, %k, %b, %zero, %zero {acc_type = f32, dilation = "
      "array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, "
      "1>} : (" +
      type +
      ", tensor<8x1x1x4xf32>, tensor<8xf32>, tensor<1xf32>, tensor<1xf32>) "
      "-> " +
      to + "\n" + point("a", "0", to, powerOfTwo(8)) +
      point("c", "0", to, powerOfTwo(4, 8, false)) + "return %a, %c : " + to +
      ", " + to + "\n}\n";
  Floats noise = randomFloats(1 * 8 * 8 * 4, 11);
  std::vector<int8_t> codes;
  for (float value : noise)
    codes.push_back(int8_t(value * 127));
  std::vector<std::vector<int8_t>> all;
  for (const char *profile : {"none", "ethos-u55", "ethos-u85"}) {
    auto integers = lower(text, "io=integer profile=" + std::string(profile));
    ASSERT_TRUE(integers);
    EXPECT_EQ(count<mlir::tosa::Conv2DOp>(*integers), all.empty() ? 1u : 2u);
    CompileOptions keep;
    keep.keepTypes = true;
    auto executor = Executor::compile(*integers, keep);
    ASSERT_TRUE(mlir::succeeded(executor)) << llvm::join(diagnostics, "\n");
    std::vector<int8_t> results(size_t(2 * 8 * 8 * 8));
    llvm::SmallVector<void *> outputs{results.data(), &results[8 * 8 * 8]};
    Worker worker(**executor);
    const void *input = codes.data();
    llvm::cantFail(worker.run(input, outputs, 1));
    all.push_back(results);
  }
  EXPECT_FALSE(llvm::all_equal(all[0]));
  EXPECT_EQ(all[0], all[1]);
  EXPECT_EQ(all[0], all[2]);
}

// The sums of the layer were computed in one branch, and read in the other and
// after both.
TEST_F(LowerControlFlow, PointsInBranchesReadWhatIsOutside) {
  const std::string type = "tensor<1x4x4x2xf32>",
                    sum = "(" + type + ", " + type + ") -> " + type + "\n",
                    yield = " : " + type + "\n";
  std::string text =
      "(%x: " + type + ") -> (" + type + ", " + type + ") {\n" +
      layerAndCondition() +
      "%branch = tosa.cond_if %condition : tensor<i1> "
      "-> " +
      type + " {\n" + point("a", "layer", type, powerOfTwo(8)) +
      "%0 = tosa.tanh %in : (" + type + ") -> " + type + "\n" +
      point("c", "0", type, powerOfTwo(1)) + "%1 = tosa.add %a, %c : " + sum +
      point("d", "1", type, powerOfTwo(4)) + "tosa.yield %d" + yield +
      "} else {\n" + point("a2", "layer", type, powerOfTwo(4)) +
      "tosa.yield %a2" + yield + "}\n" +
      point("out", "layer", type, powerOfTwo(8)) +
      "return %branch, %out : " + type + ", " + type + "\n}\n";
  for (float sign : {1.0f, -1.0f}) {
    std::vector<Floats> inputs = samples({{1, 4, 4, 2}});
    inputs[0][0] = sign;
    expectEvaluated(text, inputs[0]);
  }
}

TEST_F(LowerControlFlow, PointsInLoopsReadWhatIsOutside) {
  const std::string type = "tensor<1x4x4x2xf32>",
                    sum = "(" + type + ", " + type + ") -> " + type + "\n";
  std::string text =
      "(%x: " + type + ") -> (" + type + ", " + type + ") {\n" +
      layerAndCondition() +
      "%from = \"tosa.const\"() <{values = dense<0> : tensor<i32>}> : () -> "
      "tensor<i32>\n"
      "%r:2 = tosa.while_loop (%i = %from, %v = %in) : (tensor<i32>, " +
      type + ") -> (tensor<i32>, " + type +
      ") {\n"
      "%end = \"tosa.const\"() <{values = dense<3> : tensor<i32>}> : () -> "
      "tensor<i32>\n"
      "%more = tosa.greater %end, %i : (tensor<i32>, tensor<i32>) -> "
      "tensor<i1>\n"
      "tosa.yield %more : tensor<i1>\n} do {\n^bb0(%j: tensor<i32>, %w: " +
      type +
      "):\n%by = \"tosa.const\"() <{values = dense<1> : tensor<i32>}> : () "
      "-> tensor<i32>\n"
      "%next = tosa.add %j, %by : (tensor<i32>, tensor<i32>) -> tensor<i32>\n" +
      point("a", "layer", type, powerOfTwo(8)) +
      "%0 = tosa.add %w, %a : " + sum + "tosa.yield %next, %0 : tensor<i32>, " +
      type + "\n}\n" + point("out", "layer", type, powerOfTwo(8)) +
      "return %r#1, %out : " + type + ", " + type + "\n}\n";
  expectEvaluated(text, samples({{1, 4, 4, 2}})[0]);
}

// The operand of the reshape was computed for the point, after the argmax.
TEST_F(LowerToInteger, LargestPlacesBeforeOtherUsers) {
  std::string text =
      "(%x: tensor<1x8xf32>) -> (tensor<2xf32>, tensor<2x4xf32>) {\n" +
      shapeConstant("s", {2, 4}) +
      point("in", "x", "tensor<1x8xf32>", powerOfTwo(4)) +
      "%r = tosa.reshape %in, %s : (tensor<1x8xf32>, !tosa.shape<2>) -> "
      "tensor<2x4xf32>\n"
      "%a = tosa.argmax %r {axis = 1 : i32} : (tensor<2x4xf32>) -> "
      "tensor<2xi32>\n"
      "%f = tosa.cast %a : (tensor<2xi32>) -> tensor<2xf32>\n"
      "%t = tosa.tanh %r : (tensor<2x4xf32>) -> tensor<2x4xf32>\n" +
      point("out", "t", "tensor<2x4xf32>", powerOfTwo(1)) +
      "return %f, %out : tensor<2xf32>, tensor<2x4xf32>\n}\n";
  expectSame(text, samples({{1, 8}}));
}

// One step is 2^24 of the finer point: what is not zero saturates, and with
// such a factor rescale takes codes below 32 only.
TEST_F(LowerToInteger, StepsThatAreFinerThanRescaleTakes) {
  std::string type = "tensor<1x256xf32>";
  std::string text =
      "(%x: " + type + ") -> " + type + " {\n" +
      point("in", "x", type, powerOfTwo(1)) +
      point("out", "in", type,
            "parameters(#tpc.power_of_two<threshold = "
            "[5.9604644775390625e-08], bits = 8, rounding = half_up>)") +
      "return %out : " + type + "\n}\n";
  Floats codes;
  for (int code = -128; code != 128; ++code)
    codes.push_back(float(code) / 128);
  expectSame(text, {codes});
  auto integers = lower("func.func @main" + text);
  ASSERT_TRUE(integers);
  EXPECT_TRUE(run(*integers, "mct-check-integer"))
      << llvm::join(diagnostics, "\n");
}

TEST_F(LowerToInteger, LooksThroughSoManyOpsOnly) {
  std::string type = "tensor<1x8xf32>";
  for (int length : {20, 3000}) {
    std::string text = "func.func @main(%x: " + type + ") -> " + type + " {\n" +
                       point("v0", "x", type, powerOfTwo(2));
    for (int i = 0; i != length; ++i)
      text += "%v" + std::to_string(i + 1) + " = tosa.clamp %v" +
              std::to_string(i) +
              " {min_val = -1.0 : f32, max_val = " + std::to_string(1 + i) +
              ".0 : f32} : (" + type + ") -> " + type + "\n";
    text += point("out", "v" + std::to_string(length), type, powerOfTwo(2)) +
            "return %out : " + type + "\n}\n";
    diagnostics.clear();
    ASSERT_TRUE(lower(text));
    std::string all = llvm::join(diagnostics, "\n");
    EXPECT_EQ(all.find("too many ops lie between it and the quantizers before "
                       "it") != std::string::npos,
              length > 1000)
        << all;
  }
}
