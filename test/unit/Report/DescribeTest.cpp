// SPDX-License-Identifier: Apache-2.0
#include "lib/Report/Describe.h"
#include "Filled.h"
#include "mct/IR/Names.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mct/Transforms/StatisticsConversion.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace mlir;
using namespace mct;
using mct::report::Operator;
using mct::report::Point;
using mct::report::Report;

static constexpr const char *kModule = R"mlir(
func.func @main(%x: tensor<1x2x2x2xf32> loc("x")) -> tensor<8xf32> {
  %kernel = "tosa.const"() <{values = dense<[[[[0.5, -0.25]]], [[[2.0, 0.1]]]]> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<[0.51, -1.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shape = tosa.const_shape {values = dense<8> : tensor<1xindex>} : () -> !tosa.shape<1>
  %input = tpc.quantize %x as "x" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 4, is_signed = false>) : tensor<1x2x2x2xf32>
  %weight = tpc.quantize %kernel as "conv" weight "kernel_attr" axes [0]
    parameters(#tpc.symmetric<threshold = [1.0, 2.0], bits = 4>)
    selection(#tpc.selection<error_method = mse, error = [0.0, 0.03625], certificate = bound, bound = 0.5>)
    corrections(#tpc.corrections<applied = ["second_moment", "quantized_network"], bias_offset = [0.25, -0.5], kernel_scale = [1.5, 1.25], samples = 7>)
    : tensor<2x1x1x2xf32>
  %conv = tosa.conv2d %input, %weight, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x2xf32> loc("conv")
  %relu = tosa.clamp %conv {min_val = 0.0 : f32, max_val = 6.0 : f32} : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32> loc("relu")
  %made = tpc.quantize %relu as "relu" activation group(["conv", "relu"]) parameters(#tpc.power_of_two<threshold = [8.0], bits = 4, is_signed = false>) : tensor<1x2x2x2xf32>
  %flat = tosa.reshape %made, %shape : (tensor<1x2x2x2xf32>, !tosa.shape<1>) -> tensor<8xf32> loc("flat")
  %exp = tosa.exp %flat : (tensor<8xf32>) -> tensor<8xf32> loc("exp")
  return %exp : tensor<8xf32>
}
)mlir";

namespace {
class DescribeTest : public ::testing::Test {
protected:
  DescribeTest() {
    DialectRegistry registry;
    registry.insert<cf::ControlFlowDialect, func::FuncDialect,
                    tosa::TosaDialect, tpc::TpcDialect>();
    registerOpModels(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  void parse(StringRef text) {
    module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module);
    function = *module->getOps<func::FuncOp>().begin();
  }
  /// Adds the statistics that calibration would have seen at an activation.
  void observe(StringRef name, ArrayRef<float> values) {
    quantization::Histogram histogram;
    quantization::HistogramScratch scratch;
    histogram.observe(values.data(), values.size(), scratch);
    function.walk([&](tpc::QuantizeOp point) {
      if (point.getUniqueName() == name)
        point.setStatisticsAttr(
            createStatistics(&context, histogram, nullptr, name));
    });
  }
  Report describe(unsigned threads = 1) {
    Report report;
    assignNames(function);
    EXPECT_TRUE(succeeded(
        report::describe(function, KernelOps(*module), threads, report)));
    return report;
  }
  const Point &point(const Report &report, StringRef name) {
    for (const Point &point : report.points)
      if (point.name == name)
        return point;
    ADD_FAILURE() << "no point " << name.str();
    return report.points.front();
  }
  const Operator &op(const Report &report, StringRef name) {
    for (const Operator &op : report.operators)
      if (op.name == name)
        return op;
    ADD_FAILURE() << "no operator " << name.str();
    return report.operators.front();
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  func::FuncOp function;
};
} // namespace

TEST_F(DescribeTest, OperatorsAreTheGraph) {
  parse(kModule);
  Report report = describe();
  std::vector<std::string> names;
  for (const Operator &op : report.operators)
    names.push_back(op.name);
  EXPECT_EQ(names,
            (std::vector<std::string>{"x", "conv", "relu", "flat", "exp"}));
  EXPECT_EQ(op(report, "x").ops, std::vector<std::string>{"argument"});
  EXPECT_EQ(op(report, "conv").ops, std::vector<std::string>{"tosa.conv2d"});
  EXPECT_EQ(op(report, "conv").inputs, std::vector<std::string>{"x"});
  EXPECT_EQ(op(report, "relu").inputs, std::vector<std::string>{"conv"});
  EXPECT_EQ(op(report, "exp").inputs, std::vector<std::string>{"flat"});
  EXPECT_EQ(op(report, "conv").points,
            std::vector<std::string>{"conv/kernel_attr"});
  EXPECT_EQ(op(report, "relu").points, std::vector<std::string>{"relu"});
  EXPECT_EQ(op(report, "flat").shape, std::vector<int64_t>{8});
  EXPECT_EQ(point(report, "conv/kernel_attr").owner, "conv");
  EXPECT_EQ(point(report, "conv/kernel_attr").weight, "kernel_attr");
  EXPECT_EQ(point(report, "relu").owner, "relu");
  EXPECT_EQ(point(report, "relu").group,
            (std::vector<std::string>{"conv", "relu"}));
}

TEST_F(DescribeTest, CoverSaysWhatQuantizesAResult) {
  parse(kModule);
  Report report = describe();
  EXPECT_EQ(op(report, "x").cover, "point");
  EXPECT_EQ(op(report, "conv").cover, "fused");
  EXPECT_EQ(op(report, "conv").group, "relu");
  EXPECT_EQ(op(report, "relu").cover, "point");
  EXPECT_EQ(op(report, "relu").group, "relu");
  EXPECT_EQ(op(report, "flat").cover, "preserved");
  EXPECT_EQ(op(report, "flat").group, "");
  EXPECT_EQ(op(report, "exp").cover, "float");
  EXPECT_EQ(op(report, "exp").floatReason,
            "the module has no target that fits it");
  // Nothing is invented where there is no target.
  EXPECT_EQ(report.target, "");
  EXPECT_EQ(op(report, "conv").operatorSet, "");
  EXPECT_EQ(op(report, "conv").matchedBy, "");
}

// 4 bits of weights and activations; the bias and what exp makes stay float and
// are not counted.
TEST_F(DescribeTest, MemoryAndOperationsOfEachOperator) {
  parse(kModule);
  Report report = describe();
  EXPECT_EQ(op(report, "x").activationBytes, 4);
  EXPECT_EQ(op(report, "conv").weightBytes, 2);
  EXPECT_EQ(op(report, "conv").floatWeightBytes, 16);
  EXPECT_EQ(op(report, "conv").activationBytes, 0);
  EXPECT_EQ(op(report, "relu").activationBytes, 4);
  EXPECT_EQ(op(report, "relu").floatActivationBytes, 32);
  EXPECT_EQ(op(report, "exp").activationBytes, 0);
  EXPECT_EQ(op(report, "conv").multiplications, 16);
  EXPECT_EQ(op(report, "conv").bops, 16 * 4 * 4);
  EXPECT_EQ(op(report, "relu").multiplications, 0);
  EXPECT_EQ(report.floatWeightBytes, 16);
  EXPECT_EQ(report.resources.weightBytes, 2);
  EXPECT_EQ(report.resources.activationBytes, 8);
  EXPECT_EQ(report.resources.totalBytes, 10);
  EXPECT_EQ(report.resources.bops, 256);
  EXPECT_EQ(report.eightBit.weightBytes, 4);
  EXPECT_EQ(report.eightBit.bops, 16 * 8 * 8);
}

TEST_F(DescribeTest, WithoutAlternativesThereIsOne) {
  parse(kModule);
  Report report = describe();
  ASSERT_EQ(op(report, "conv").alternatives.size(), 1u);
  EXPECT_EQ(op(report, "conv").alternatives[0].weightBits, 4);
  EXPECT_EQ(op(report, "conv").alternatives[0].activationBits, 0);
  EXPECT_EQ(op(report, "relu").alternatives[0].activationBits, 4);
  EXPECT_TRUE(op(report, "exp").alternatives.empty());
}

// The input has codes 0 to 15 and steps of 1/4, the kernel the codes 4, -2 of
// steps of 1/8, and 7, 0 of steps of 1/4: the first bias is 16.32 steps of
// 1/32, the second one -16 of 1/16.
TEST_F(DescribeTest, SumsAreWhatAnIntegerNetworkCanReach) {
  parse(kModule);
  Report report = describe();
  const auto &sums = op(report, "conv").sums;
  ASSERT_TRUE(sums);
  EXPECT_EQ(sums->largest, 7 * 15);
  EXPECT_EQ(sums->largestBias, 16);
  EXPECT_NEAR(sums->biasError, 0.32 / 32 / 0.5 / std::sqrt(2), 1e-6);
  EXPECT_FALSE(op(report, "relu").sums);
}

TEST_F(DescribeTest, WeightsHaveTheErrorsOfTheirChannels) {
  parse(kModule);
  Report report = describe();
  const Point &weight = point(report, "conv/kernel_attr");
  ASSERT_TRUE(weight.parameters);
  EXPECT_EQ(weight.parameters->method, "symmetric");
  EXPECT_EQ(weight.parameters->hasPowersOfTwo, false);
  EXPECT_EQ(weight.parameters->bits, 4);
  EXPECT_EQ(weight.parameters->threshold, (std::vector<double>{1, 2}));
  EXPECT_EQ(weight.parameters->step, (std::vector<double>{0.125, 0.25}));
  EXPECT_EQ(weight.parameters->lowest, (std::vector<double>{-1, -2}));
  EXPECT_EQ(weight.parameters->highest, (std::vector<double>{0.875, 1.75}));
  EXPECT_EQ(weight.axes, std::vector<int64_t>{0});
  ASSERT_EQ(weight.channels.size(), 2u);
  EXPECT_EQ(weight.channels[0].min, -0.25);
  EXPECT_EQ(weight.channels[0].error, 0);
  EXPECT_TRUE(std::isinf(weight.channels[0].sqnr));
  EXPECT_EQ(weight.channels[1].max, 2);
  EXPECT_NEAR(weight.channels[1].error, (0.25 * 0.25 + 0.1 * 0.1) / 2, 1e-8);
  // 2.0 is beyond 1.75 by more than half a step.
  EXPECT_EQ(weight.clipped, 0.25);
  EXPECT_NEAR(*weight.used, (0.75 / 1.875 + 1.65 / 3.75) / 2, 1e-7);
  EXPECT_EQ(weight.total->largest, 0.25);
  EXPECT_EQ(weight.statistics->count, 4);
  EXPECT_EQ(weight.statistics->max, 2);
}

TEST_F(DescribeTest, SelectionsAndCorrectionsAreToldOf) {
  parse(kModule);
  Report report = describe();
  const Point &weight = point(report, "conv/kernel_attr");
  ASSERT_TRUE(weight.selection);
  EXPECT_EQ(weight.selection->errorMethod, "mse");
  EXPECT_EQ(weight.selection->certificate, "bound");
  EXPECT_EQ(weight.selection->bound, 0.5);
  EXPECT_EQ(weight.selection->error, (std::vector<double>{0, 0.03625}));
  ASSERT_EQ(weight.decisions.size(), 2u);
  EXPECT_EQ(weight.decisions[0].pass, "mct-correct-second-moment");
  EXPECT_EQ(weight.decisions[0].text,
            "kernel and bias are multiplied by 1.25 to 1.5");
  EXPECT_EQ(weight.decisions[1].pass, "mct-correct-bias");
  EXPECT_EQ(weight.decisions[1].reason, "quantized-network");
  EXPECT_EQ(weight.decisions[1].text,
            "the bias is moved, by at most 0.5 in all");
  EXPECT_EQ(weight.decisions[1].numbers[1].name, "samples");
  EXPECT_EQ(weight.decisions[1].numbers[1].value, 7);
}

// Two zeros, five values that a histogram takes for the middle of a bin of
// 2^-9, and one that is clipped.
TEST_F(DescribeTest, ActivationsHaveTheErrorsOfTheirHistogram) {
  parse(kModule);
  observe("x", {0, 0, 2.25f, 2.25f, 2.25f, 2.25f, 2.25f, 6});
  Report report = describe();
  const Point &input = point(report, "x");
  ASSERT_TRUE(input.statistics && input.statistics->histogram);
  EXPECT_EQ(input.statistics->count, 8);
  EXPECT_EQ(input.statistics->zeros, 2);
  EXPECT_EQ(input.statistics->max, 6);
  EXPECT_LE(input.statistics->histogram->counts.size(), 256u);
  EXPECT_EQ(input.statistics->histogram->first, 2.25);
  EXPECT_EQ(input.statistics->histogram->counts.front(), 5);
  EXPECT_EQ(input.statistics->histogram->counts.back(), 1);
  EXPECT_EQ(input.clipped, 1.0 / 8);
  EXPECT_EQ(input.used, 1);
  // Powers of two have nothing between them.
  ASSERT_TRUE(input.selection);
  const auto &curve = input.selection->curve;
  ASSERT_EQ(curve.size(), 6u);
  double middle = std::ldexp(1, -10);
  EXPECT_EQ(curve[3].scale, 1);
  EXPECT_DOUBLE_EQ(curve[3].error,
                   (5 * middle * middle + (6 - 3.75) * (6 - 3.75)) / 8);
  // With twice the threshold 2.25 and half a bin is nearer to 2.5, and 6 is a
  // level.
  EXPECT_EQ(curve[4].scale, 2);
  EXPECT_DOUBLE_EQ(curve[4].error, 5 * (0.25 - middle) * (0.25 - middle) / 8);
  // A point that was not observed has no numbers.
  EXPECT_FALSE(point(report, "relu").statistics);
  EXPECT_FALSE(point(report, "relu").selection);
  EXPECT_FALSE(point(report, "relu").clipped);
}

TEST_F(DescribeTest, FreeThresholdsAreTriedSixToAnOctave) {
  parse(kModule);
  Report report = describe();
  const auto &curve = point(report, "conv/kernel_attr").selection->curve;
  ASSERT_EQ(curve.size(), 31u);
  EXPECT_EQ(curve.front().scale, 0.125);
  EXPECT_EQ(curve[18].scale, 1);
  EXPECT_EQ(curve.back().scale, 4);
  EXPECT_NEAR(curve[18].error, (0.25 * 0.25 + 0.1 * 0.1) / 4, 1e-8);
}

TEST_F(DescribeTest, RoundedWeightsAreComparedWithTheFloatKernel) {
  std::string text = kModule;
  size_t at = text.find("applied = [\"second_moment\"");
  text.replace(at, text.find(">)", at) - at,
               "applied = [\"rounded_weights\"], bias_offset = [0.0, 0.0], "
               "kernel_scale = [1.0], kernel = dense<[[[[0.5, -0.125]]], "
               "[[[2.0, 0.25]]]]> : tensor<2x1x1x2xf32>");
  parse(text);
  Report report = describe();
  const Point &weight = point(report, "conv/kernel_attr");
  // -0.25 stands there, of -0.125; 0 is made of 0.1, of 0.25.
  EXPECT_EQ(weight.channels[0].error, 0.125 * 0.125 / 2);
  EXPECT_EQ(weight.channels[1].error, (0.25 * 0.25 + 0.25 * 0.25) / 2);
  EXPECT_EQ(weight.channels[0].min, -0.125);
  EXPECT_EQ(weight.decisions[0].pass, "mct-round-weights");
}

TEST_F(DescribeTest, ShiftedActivationsSayWhatThatGained) {
  parse(R"mlir(
func.func @main(%x: tensor<1x4xf32> loc("x")) -> tensor<1x4xf32> {
  %shift = "tosa.const"() <{values = dense<0.5> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %moved = tosa.add %x, %shift : (tensor<1x4xf32>, tensor<1x1xf32>) -> tensor<1x4xf32> loc("x_shifted")
  %0 = tpc.quantize %moved as "x_shifted" activation group(["x", "x_shifted"]) parameters(#tpc.power_of_two<threshold = [4.0], bits = 8, is_signed = false>) : tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}
)mlir");
  std::vector<float> values;
  for (int number = 0; number != 1000; ++number)
    values.push_back(0.1f + 0.0037f * float(number));
  observe("x_shifted", values);
  Report report = describe();
  const Point &moved = point(report, "x_shifted");
  ASSERT_TRUE(moved.shift);
  EXPECT_EQ(moved.shift->by, 0.5);
  // Without it one bit is spent on the sign: steps are twice as wide, and
  // their error four times as large, up to the few values that are there.
  EXPECT_NEAR(moved.shift->errorBefore / moved.shift->error, 4, 0.4);
  ASSERT_EQ(moved.decisions.size(), 1u);
  EXPECT_EQ(moved.decisions[0].pass, "mct-correct-shift-negative");
  EXPECT_EQ(moved.decisions[0].reason, "shifted");
}

// Entries -96, 0 and 64 of 8 bits are -0.75, 0 and 0.5 of the threshold.
TEST_F(DescribeTest, TablesSayTheirLevels) {
  std::string text = kModule;
  size_t at = text.find("#tpc.symmetric<");
  text.replace(at, text.find(">)", at) + 1 - at,
               "#tpc.lookup_table<method = lut_sym_quantizer, threshold = "
               "[1.0, 2.0], table = [-96, 0, 64], bits = 2>");
  parse(text);
  Report report = describe();
  const Point &weight = point(report, "conv/kernel_attr");
  EXPECT_EQ(weight.parameters->levels, (std::vector<double>{-0.75, 0, 0.5}));
  EXPECT_EQ(weight.parameters->lowest, (std::vector<double>{-0.75, -1.5}));
  EXPECT_EQ(weight.parameters->highest, (std::vector<double>{0.5, 1}));
  EXPECT_TRUE(weight.parameters->step.empty());
  EXPECT_EQ(weight.selection->curve.size(), 31u);
  // Halfway to the next level and as far beyond: 0.75 and 1.5.
  EXPECT_EQ(weight.clipped, 0.25);
  EXPECT_FALSE(op(report, "conv").sums);
}

TEST_F(DescribeTest, AnyNumberOfThreadsSaysTheSame) {
  parse(kModule);
  observe("x", {0, 1, 2, 3, 4, 5, 6, 7});
  observe("relu", {0, 1, 2, 3.3f});
  EXPECT_EQ(toText(describe(1)), toText(describe(3)));
}

TEST_F(DescribeTest, AFunctionOfSeveralBlocksIsRefused) {
  parse(R"mlir(
func.func @main(%x: tensor<1xf32>) -> tensor<1xf32> {
  cf.br ^end
^end:
  return %x : tensor<1xf32>
}
)mlir");
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    message = diagnostic.str();
    return success();
  });
  Report report;
  EXPECT_TRUE(
      failed(report::describe(function, KernelOps(*module), 1, report)));
  EXPECT_EQ(message, "'func.func' op has 2 blocks; a report needs a network "
                     "without control flow");
}
