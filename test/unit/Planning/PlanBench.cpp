// SPDX-License-Identifier: Apache-2.0
//
// Attaching a target and inserting points: 20000 ops in less than 2 s, and in
// proportion to their number.
#include "mct/Transforms/Passes.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "tpc_dialect/Transforms/Passes.h"
#include "llvm/Support/FormatVariadic.h"
#include <benchmark/benchmark.h>

using namespace mlir;

/// Convolution, ReLU, addition of a constant, reshape, and again.
static std::string getChain(int64_t numOps) {
  std::string text = R"mlir(
func.func @main(%v0: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %k = "tosa.const"() <{values = dense<1.0> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %b = "tosa.const"() <{values = dense<1.0> : tensor<2xf32>}> : () -> tensor<2xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %c = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %s = tosa.const_shape {values = dense<[1, 4, 4, 2]> : tensor<4xindex>} : () -> !tosa.shape<4>
)mlir";
  for (int64_t i = 0; i != numOps; ++i) {
    // Parentheses: one element of several lines.
    constexpr const char *kOps[] = {
        ("tosa.conv2d %v{0}, %k, %b, %z, %z {{acc_type = f32, dilation = "
         "array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: "
         "1, 1>} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, "
         "tensor<1xf32>, tensor<1xf32>)"),
        ("tosa.clamp %v{0} {{min_val = 0.0 : f32, max_val = 3.40282347E+38 : "
         "f32} : (tensor<1x4x4x2xf32>)"),
        "tosa.add %v{0}, %c : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>)",
        "tosa.reshape %v{0}, %s : (tensor<1x4x4x2xf32>, !tosa.shape<4>)"};
    text += llvm::formatv("  %v{0} = ", i + 1).str();
    text += llvm::formatv(/*Validate=*/false, kOps[i % 4], i).str();
    text += " -> tensor<1x4x4x2xf32>\n";
  }
  text += llvm::formatv("  return %v{0} : tensor<1x4x4x2xf32>\n}\n", numOps);
  return text;
}

static void attachAndInsert(benchmark::State &state) {
  MLIRContext context;
  context.disableMultithreading();
  context.loadDialect<mct::tpc::TpcDialect, func::FuncDialect,
                      tosa::TosaDialect>();
  auto module = parseSourceString<ModuleOp>(getChain(state.range(0)), &context);
  if (!module)
    return state.SkipWithError("the chain does not parse");
  for (auto _ : state) {
    state.PauseTiming();
    OwningOpRef<ModuleOp> copy = module->clone();
    PassManager passes(&context);
    passes.enableVerifier(false);
    passes.addPass(mct::tpc::createAttachTargetPass({"imx500"}));
    passes.addPass(mct::createInsertQuantizersPass());
    state.ResumeTiming();
    if (failed(passes.run(*copy)))
      return state.SkipWithError("the passes fail");
    state.PauseTiming();
    copy = nullptr;
    state.ResumeTiming();
  }
  state.SetComplexityN(state.range(0));
}
BENCHMARK(attachAndInsert)
    ->Arg(1000)
    ->Arg(5000)
    ->Arg(20000)
    ->Unit(benchmark::kMillisecond)
    ->Complexity(benchmark::oN);
