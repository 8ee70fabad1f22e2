// SPDX-License-Identifier: Apache-2.0
//
// Passes of modules whose progress is watched, and cancelled.
#include "mct/Pipelines/Pipelines.h"
#include "mct/Quantization/LeastSquaresRounding.h"
#include "mct/Quantization/Parallel.h"
#include "mct/Support/ContextThreads.h"
#include "mct/Support/Threads.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include <gtest/gtest.h>

using namespace mlir;
using mct::support::Progress;
using mct::support::ProgressScope;
using mct::support::Threads;

namespace {

constexpr const char *kModule = R"mlir(
  #kernel2 = #tpc.attr_quant_config<method = symmetric, bits = 2, per_channel = true, enabled = true>
  #act8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #kernel2>
  func.func @main(%x: tensor<1x2xf32>) -> (tensor<2x1x1x2xf32>, tensor<1x2xf32>) {
    %k = "tosa.const"() <{values = dense<0.25> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
    %w = tpc.quantize %k as "conv2d" weight "kernel_attr" axes [0] config(#kernel2) : tensor<2x1x1x2xf32>
    %0 = tpc.quantize %x as "x" activation config(#act8)
           statistics(#tpc.statistics<count = 2, zeros = 0, min = 0.5, max = 1.0>) : tensor<1x2xf32>
    return %w, %0 : tensor<2x1x1x2xf32>, tensor<1x2xf32>
  }
)mlir";

class CancelledPass : public testing::TestWithParam<const char *> {
protected:
  CancelledPass() {
    [[maybe_unused]] static const bool isRegistered =
        (mct::registerAllMctPasses(), true);
    DialectRegistry registry;
    registry
        .insert<func::FuncDialect, tosa::TosaDialect, mct::tpc::TpcDialect>();
    context.appendDialectRegistry(registry);
    module = parseSourceString<ModuleOp>(kModule, &context);
  }

  /// Runs the pass, and collects its diagnostics.
  LogicalResult run() {
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      reported += diagnostic.str();
    });
    PassManager manager(&context);
    if (failed(parsePassPipeline(GetParam(), manager)))
      return failure();
    return manager.run(*module);
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::string reported;
};

TEST_P(CancelledPass, FailsAndGivesNoParameters) {
  ASSERT_TRUE(module);
  Progress progress;
  progress.cancel();
  ProgressScope scope(&context, progress);
  EXPECT_TRUE(failed(run()));
  EXPECT_NE(reported.find("got no parameters: cancelled"), std::string::npos)
      << reported;
}

TEST_P(CancelledPass, RunsWhenNobodyCancels) {
  ASSERT_TRUE(module);
  Progress progress;
  ProgressScope scope(&context, progress);
  EXPECT_TRUE(succeeded(run())) << reported;
}

INSTANTIATE_TEST_SUITE_P(
    Selections, CancelledPass,
    testing::Values("mct-select-weight-parameters",
                    "mct-select-parameters{error-method=no-clipping}"));

TEST(CancelledThreads, AreThoseThatAreWatched) {
  Progress progress;
  Threads watched = Threads(4).watchedBy(&progress);
  EXPECT_FALSE(watched.isCancelled());
  progress.cancel();
  EXPECT_TRUE(watched.isCancelled());
  EXPECT_TRUE(watched.atMost(2).isCancelled());
  EXPECT_FALSE(Threads(4).isCancelled());
}

TEST(CancelledRounding, ReturnsResultsOfTheRightSize) {
  mct::quantization::ProductMoments moments;
  moments.columns = 2;
  moments.outputs = 1;
  moments.covariance = {1, 0, 0, 1};
  moments.cross = {1, 1};
  moments.targetVariance = {2};
  moments.inputMean = {0, 0};
  moments.targetMean = {0};
  mct::quantization::WeightLevels levels;
  levels.grid = mct::quantization::symmetricGrid(1.0, 4, true);
  std::vector<std::vector<mct::quantization::WeightLevels>> candidates{
      {levels}};
  std::vector<float> weights{0.3f, 0.6f};
  mct::quantization::RoundingProblem problem;
  problem.groups = moments;
  problem.weights = weights;
  problem.candidates = candidates;
  Progress progress;
  progress.cancel();
  mct::quantization::RoundedWeights result =
      mct::quantization::roundLeastSquares(problem,
                                           Threads(2).watchedBy(&progress));
  EXPECT_EQ(result.weights.size(), weights.size());
  EXPECT_EQ(result.bias.size(), 1u);
}

} // namespace
