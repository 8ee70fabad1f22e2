// SPDX-License-Identifier: Apache-2.0
#include "mct/Transforms/Candidates.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mct;

namespace {
/// Two layers. The first has a kernel of 8 bits per channel or of 4 per tensor,
/// and with the latter a result of 8 or 16 bits; the second has no choice.
constexpr const char *kModule = R"mlir(
#w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
#k8 = #tpc.attr_quant_config<method = symmetric, bits = 8, per_channel = true, enabled = true>
#k4 = #tpc.attr_quant_config<method = symmetric, bits = 4, enabled = true>
#a8w8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8, 16], weights = {kernel_attr = #k8}, default_weight = #w>
#a8w4 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8, 16], weights = {kernel_attr = #k4}, default_weight = #w>
#a16w4 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 16, input_bits = [8, 16], weights = {kernel_attr = #k4}, default_weight = #w>
func.func @main(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %kernel = "tosa.const"() <{values = dense<[[[[0.5, -0.25]]], [[[1.0, 0.75]]]]> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<[0.5, -1.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w1 = tpc.quantize %kernel as "first" weight "kernel_attr" axes [0] config(#k8)
    candidates(#tpc.alternatives<of = "first", configs = [#k8, #k4, #k4], chosen = 0>)
    parameters(#tpc.symmetric<threshold = [0.5, 1.0], bits = 8>) : tensor<2x1x1x2xf32>
  %0 = tosa.conv2d %x, %w1, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  %1 = tpc.quantize %0 as "first_renamed" activation config(#a8w8)
    candidates(#tpc.alternatives<of = "first", configs = [#a8w8, #a8w4, #a16w4], chosen = 0>)
    statistics(#tpc.statistics<count = 4, zeros = 4, min = 0.0, max = 0.0>)
    parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>) : tensor<1x4x4x2xf32>
  %w2 = tpc.quantize %kernel as "second" weight "kernel_attr" axes [0] config(#k8)
    parameters(#tpc.symmetric<threshold = [0.5, 1.0], bits = 8>) : tensor<2x1x1x2xf32>
  %2 = tosa.conv2d %1, %w2, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  return %2 : tensor<1x4x4x2xf32>
}
)mlir";

class CandidatesTest : public testing::Test {
protected:
  CandidatesTest() {
    context.loadDialect<func::FuncDialect, tosa::TosaDialect,
                        linalg::LinalgDialect, tensor::TensorDialect,
                        tpc::TpcDialect>();
    module = parseSourceString<ModuleOp>(kModule, &context);
    kernels = KernelOps::forModule(*module);
    function = *module->getOps<func::FuncOp>().begin();
    operators = findOperatorPoints(function);
  }

  void choose(int64_t index) {
    ASSERT_TRUE(succeeded(chooseCandidate(operators.front(), index, kernels)));
    ASSERT_TRUE(succeeded(verify(*module)));
  }
  std::string print() {
    std::string text;
    llvm::raw_string_ostream(text) << *module;
    return text;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  KernelOps kernels;
  func::FuncOp function;
  std::vector<OperatorPoints> operators;
};
} // namespace

TEST_F(CandidatesTest, OperatorsAreFoundWhateverTheirPointsAreCalled) {
  ASSERT_EQ(operators.size(), 2u);
  EXPECT_EQ(operators[0].name.getValue(), "first");
  EXPECT_EQ(operators[0].points.size(), 2u);
  EXPECT_EQ(operators[0].numAlternatives(), 3);
  EXPECT_EQ(operators[0].getChosen(), 0);
  EXPECT_EQ(operators[1].name.getValue(), "second");
  EXPECT_EQ(operators[1].numAlternatives(), 1);
  EXPECT_FALSE(operators[1].getResultPoint());
}

TEST_F(CandidatesTest, TheSameAlternativeChangesNothing) {
  std::string before = print();
  choose(0);
  EXPECT_EQ(print(), before);
}

TEST_F(CandidatesTest, OnlyWhatIsQuantizedInAnotherWayLosesItsParameters) {
  tpc::QuantizeOp weight = operators[0].points[0],
                  result = operators[0].points[1],
                  other = operators[1].points[0];
  choose(1);
  EXPECT_FALSE(weight.getParametersAttr());
  EXPECT_FALSE(weight.getAxesAttr());
  EXPECT_EQ(weight.getWeightConfig().getBits(), 4);
  EXPECT_TRUE(result.getParametersAttr());
  EXPECT_EQ(result.getActivationConfig().getActBits(), 8);
  choose(2);
  EXPECT_FALSE(result.getParametersAttr());
  EXPECT_TRUE(result.getStatisticsAttr());
  EXPECT_EQ(result.getActivationConfig().getActBits(), 16);
  EXPECT_TRUE(other.getParametersAttr());
}

// All that is lost on the way is the parameters; the axes come back.
TEST_F(CandidatesTest, ThereAndBackEndsWhereItStarted) {
  std::string before;
  for (tpc::QuantizeOp point : operators[0].points)
    point.removeQuantizer();
  before = print();
  for (int64_t index : {2, 1, 0})
    choose(index);
  EXPECT_EQ(print(), before);
}
