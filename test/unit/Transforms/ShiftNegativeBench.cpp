// SPDX-License-Identifier: Apache-2.0
//
// mct-correct-shift-negative: 20000 ops in less than 5 s, and in proportion to
// their number. Every fourth op is a point that is shifted, so most of the time
// is spent on searching thresholds.
#include "mct/Transforms/Passes.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "tpc_dialect/Transforms/Passes.h"
#include "llvm/Support/FormatVariadic.h"
#include <benchmark/benchmark.h>

using namespace mlir;

/// Convolution with padding, swish, point, and again. The values of the points
/// fill 3905 bins.
static std::string getChain(int64_t numOps) {
  std::string text = R"mlir(
#stats = #tpc.statistics<count = 3905, zeros = 0, min = -0.25, max = 15.0, histogram = #tpc.histogram<step_exponent = -8, first = -64, counts = dense<1> : tensor<3905xi64>>>
func.func @main(%v0: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %k = "tosa.const"() <{values = dense<1.0> : tensor<2x3x3x2xf32>}> : () -> tensor<2x3x3x2xf32>
  %b = "tosa.const"() <{values = dense<1.0> : tensor<2xf32>}> : () -> tensor<2xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %s = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
)mlir";
  auto convolve = [&](int64_t from, const char *to) {
    text += llvm::formatv(
        /*Validate=*/false,
        "  %{1} = tosa.conv2d %v{0}, %k, %b, %z, %z {{acc_type = f32, dilation "
        "= array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: "
        "1, 1>} : (tensor<1x4x4x2xf32>, tensor<2x3x3x2xf32>, tensor<2xf32>, "
        "tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>\n",
        from, to);
  };
  int64_t last = numOps / 4;
  for (int64_t i = 0; i != last; ++i) {
    convolve(i, llvm::formatv("c{0}", i).str().c_str());
    text += llvm::formatv(
        /*Validate=*/false,
        "  %g{0} = tosa.sigmoid %c{0} : (tensor<1x4x4x2xf32>) -> "
        "tensor<1x4x4x2xf32>\n"
        "  %m{0} = tosa.mul %c{0}, %g{0}, %s : (tensor<1x4x4x2xf32>, "
        "tensor<1x4x4x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>\n"
        "  %v{1} = tpc.quantize %m{0} as \"swish{0}\" activation "
        "statistics(#stats) parameters(#tpc.power_of_two<threshold = [16.0], "
        "bits = 8>) : tensor<1x4x4x2xf32>\n",
        i, i + 1);
  }
  convolve(last, "result");
  text += "  return %result : tensor<1x4x4x2xf32>\n}\n";
  return text;
}

static void correctShiftNegative(benchmark::State &state) {
  MLIRContext context;
  context.disableMultithreading();
  context.loadDialect<mct::tpc::TpcDialect, func::FuncDialect,
                      tosa::TosaDialect>();
  auto module = parseSourceString<ModuleOp>(getChain(state.range(0)), &context);
  if (!module)
    return state.SkipWithError("the chain does not parse");
  PassManager attach(&context);
  attach.addPass(mct::tpc::createAttachTargetPass({"imx500"}));
  if (failed(attach.run(*module)))
    return state.SkipWithError("the target cannot be attached");
  for (auto _ : state) {
    state.PauseTiming();
    OwningOpRef<ModuleOp> copy = module->clone();
    PassManager passes(&context);
    passes.enableVerifier(false);
    passes.addPass(mct::createCorrectShiftNegativePass());
    state.ResumeTiming();
    if (failed(passes.run(*copy)))
      return state.SkipWithError("the pass fails");
    state.PauseTiming();
    copy = nullptr;
    state.ResumeTiming();
  }
  state.SetComplexityN(state.range(0));
}
BENCHMARK(correctShiftNegative)
    ->Arg(1000)
    ->Arg(5000)
    ->Arg(20000)
    ->Unit(benchmark::kMillisecond)
    ->Complexity(benchmark::oN);
