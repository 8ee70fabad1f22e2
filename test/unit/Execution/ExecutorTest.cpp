// SPDX-License-Identifier: Apache-2.0
//
// Points, units and errors of the executor.
#include "SmallNetworks.h"
#include "mct/Quantizers/Grid.h"
#include "mct/Quantizers/LutQuantizer.h"
#include "mlir/AsmParser/AsmParser.h"

#include <cmath>

using namespace mct::execution;
using namespace mct::quantization;

namespace {

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
  // One float instead of the two of the type.
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

// mct-lower-to-integer leaves the shapes of reshapes and slices whose values
// have other names; a comparison asks for the value of that name.
TEST_F(DiagnosticTest, NamesOfShapesAreNotObserved) {
  CompileOptions options;
  options.observed = {"moved", "result"};
  options.ignoreUnknownNames = true;
  auto executor = compile(R"(
    func.func @main(%x: tensor<1x2xf32>) -> tensor<2x1xf32> {
      %s = tosa.const_shape {values = dense<[2, 1]> : tensor<2xindex>} : () -> !tosa.shape<2> loc("moved")
      %0 = tosa.reshape %x, %s : (tensor<1x2xf32>, !tosa.shape<2>) -> tensor<2x1xf32> loc("result")
      return %0 : tensor<2x1xf32>
    })",
                          options);
  ASSERT_TRUE(executor) << llvm::join(diagnostics, "\n");
  ASSERT_EQ(executor->observed().size(), 1u);
  EXPECT_EQ(executor->observed()[0].name, "result");
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
