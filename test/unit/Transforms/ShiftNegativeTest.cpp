// SPDX-License-Identifier: Apache-2.0
//
// mct-correct-shift-negative keeps what the network computes, with points as
// the identity.
#include "RandomGraphs.h"
#include "TestPaths.h"
#include "mct/Execution/Executor.h"
#include "mct/Pipelines/Pipelines.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "gtest/gtest.h"

#include <random>

using namespace mlir;

static void runPipeline(ModuleOp module, StringRef pipeline) {
  static const bool registered = [] {
    mct::registerAllMctPasses();
    return true;
  }();
  (void)registered;
  PassManager passManager(module.getContext());
  ASSERT_TRUE(succeeded(parsePassPipeline(pipeline, passManager)));
  ASSERT_TRUE(succeeded(passManager.run(module)));
}

/// Runs a function on a fixed random first input in [-4, 4), and on
/// indices 0, 1, 0, 1, ... in those after it; empty after an error.
static std::vector<float> run(ModuleOp module, StringRef function) {
  mct::execution::CompileOptions options;
  options.function = function.str();
  options.simulateQuantization = false;
  auto executor = mct::execution::Executor::compile(module, options);
  if (failed(executor))
    return {};
  std::mt19937 random(7);
  std::vector<float> input((*executor)->inputs().front().type.getNumElements());
  for (float &value : input)
    value = float(random() >> 8) * 0x1p-21f - 4;
  std::vector<float> output(
      (*executor)->outputs().front().type.getNumElements());
  std::vector<std::vector<int32_t>> indices;
  SmallVector<const void *> inputs{input.data()};
  for (const auto &spec : llvm::drop_begin((*executor)->inputs())) {
    EXPECT_TRUE(spec.type.getElementType().isInteger(32));
    auto &own = indices.emplace_back(spec.type.getNumElements());
    for (size_t i = 0; i != own.size(); ++i)
      own[i] = int32_t(i % 2);
    inputs.push_back(own.data());
  }
  mct::execution::Worker worker(**executor);
  llvm::cantFail(worker.run(inputs, {output.data()}, (*executor)->unit()));
  return output;
}

/// All functions of a lit test compute the same after the pass, and all but
/// `unchanged` of them are shifted.
static void expectSameFunctions(StringRef file, size_t unchanged) {
  DialectRegistry registry;
  mct::execution::Executor::registerDependencies(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  std::string path = mct::testing::getSourcePath(
      ("test/Transforms/mct-correct-shift-negative/" + file).str());
  auto module = parseSourceFile<ModuleOp>(path, &context);
  ASSERT_TRUE(module) << path;
  runPipeline(*module, "tpc-attach-target{target=imx500}");
  OwningOpRef<ModuleOp> before = module->clone();
  runPipeline(*module, "mct-correct-shift-negative{ratio=inf}");
  size_t functions = 0, shifted = 0;
  for (auto function : module->getOps<func::FuncOp>()) {
    ++functions;
    WalkResult found = function.walk([](mct::tpc::QuantizeOp point) {
      return WalkResult(point.getPointName().ends_with("_shifted") ? failure()
                                                                   : success());
    });
    shifted += found.wasInterrupted();
    std::vector<float> wanted = run(*before, function.getSymName());
    std::vector<float> result = run(*module, function.getSymName());
    ASSERT_FALSE(wanted.empty()) << function.getSymName().str();
    ASSERT_EQ(wanted.size(), result.size());
    float largest = 0;
    for (float value : wanted)
      largest = std::max(largest, std::abs(value));
    // The shift rounds once per value, and its sum over the kernel once more: a
    // few float steps of the largest value.
    for (size_t i = 0; i != wanted.size(); ++i)
      ASSERT_NEAR(wanted[i], result[i], 1e-5f * largest)
          << function.getSymName().str() << ", element " << i;
  }
  EXPECT_GT(functions, unchanged);
  EXPECT_EQ(functions - shifted, unchanged);
}

TEST(ShiftNegative, EveryNonLinearityKeepsTheFunction) {
  expectSameFunctions("non-linearities.mlir", /*unchanged=*/1);
}

// Convolutions and paddings with uneven borders, pools, sums, moves.
TEST(ShiftNegative, EveryWayKeepsTheFunction) {
  expectSameFunctions("path.mlir", /*unchanged=*/0);
}

TEST(ShiftNegative, OpsOfLinalgKeepTheFunction) {
  expectSameFunctions("linalg.mlir", /*unchanged=*/0);
}

TEST(ShiftNegative, RandomGraphsKeepTheFunction) {
  mct::testing::RandomGraphsOptions options;
  options.prepare = [](ModuleOp module) {
    // Few of the graphs have a swish, so tag every op with one operand as one.
    // Its values do not matter, since points do not quantize.
    auto tag = StringAttr::get(module.getContext(), "Swish");
    module.walk([&](Operation *op) {
      if (isa<tosa::ClampOp, tosa::SigmoidOp, tosa::TanhOp, tosa::ExpOp>(op))
        op->setAttr(mct::tpc::TpcDialect::kSetAttrName, tag);
    });
    runPipeline(module,
                "tpc-attach-target{target=imx500},mct-insert-quantizers");
    Attribute statistics = parseAttribute(
        "#tpc.statistics<count = 3905, zeros = 0, min = -0.25, max = 15.0, "
        "histogram = #tpc.histogram<step_exponent = -8, first = -64, counts = "
        "dense<1> : tensor<3905xi64>>>",
        module.getContext());
    Attribute parameters = parseAttribute(
        "#tpc.power_of_two<threshold = [16.0], bits = 8>", module.getContext());
    module.walk([&](mct::tpc::QuantizeOp point) {
      if (!point.isActivation())
        return;
      point.setStatisticsAttr(cast<mct::tpc::StatisticsAttr>(statistics));
      point.setQuantizer(cast<mct::tpc::QuantizerAttrInterface>(parameters));
    });
  };
  mct::testing::expectSameFunction("mct-correct-shift-negative{ratio=inf}",
                                   /*leastChanged=*/15, options);
}
