// SPDX-License-Identifier: Apache-2.0
//
// Each rewrite of float networks, and the stages that run them or lower them:
// chains of 20000 ops in less than 5 s, and in proportion to their number.
#include "mct/Pipelines/Pipelines.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <benchmark/benchmark.h>

using namespace mlir;

static constexpr const char *kConv =
    "{1} = tosa.conv2d {0}, %k, %b, %z, %z {{acc_type = f32, dilation = "
    "array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, "
    "1>} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, "
    "tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>";
static constexpr const char *kMul =
    "{1} = tosa.mul {0}, %c, %i : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, "
    "tensor<1xi8>) -> tensor<1x4x4x2xf32>";
static constexpr const char *kAdd =
    "{1} = tosa.add {0}, %c : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>) -> "
    "tensor<1x4x4x2xf32>";
static constexpr const char *kRelu =
    "{1} = tosa.clamp {0} {{min_val = 0.0 : f32, max_val = 3.40282347E+38 : "
    "f32} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>";

/// A convolution and `numOps - 1` ops, the lines of `period` over and over; {0}
/// is the last value, {1} the next one, {2} the one before the last, {3} a
/// number.
static std::string getChain(int64_t numOps, ArrayRef<const char *> period) {
  std::string text = R"mlir(
func.func @main(%v0: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %k = "tosa.const"() <{values = dense<[[[[0.5, 0.25]]], [[[0.125, 0.5]]]]> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %b = "tosa.const"() <{values = dense<[1.0, 2.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %i = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %c = "tosa.const"() <{values = dense<[[[[1.0, 0.5]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
)mlir";
  for (int64_t i = 0; i != numOps; ++i)
    text += "  " +
            llvm::formatv(
                /*Validate=*/false, i == 0 ? kConv : period[i % period.size()],
                "%v" + std::to_string(i), "%v" + std::to_string(i + 1),
                "%v" + std::to_string(std::max<int64_t>(i, 1) - 1), i)
                .str() +
            "\n";
  return text +
         llvm::formatv("  return %v{0} : tensor<1x4x4x2xf32>\n}\n", numOps)
             .str();
}

namespace {
/// Four samples for the argument of the chain, as long as this lives.
class Samples {
public:
  Samples() {
    int descriptor;
    if (llvm::sys::fs::createTemporaryFile("bench", "npy", descriptor, path))
      llvm::report_fatal_error("no temporary file");
    std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': "
                         "(4, 4, 4, 2), }";
    header.resize(117, ' ');
    header += '\n';
    llvm::raw_fd_ostream out(descriptor, /*shouldClose=*/true);
    out << StringRef("\x93NUMPY\x01\x00\x76\x00", 10) << header;
    for (int i = 0; i != 4 * 4 * 4 * 2; ++i) {
      float value = float(i % 11) / 8 - 0.5f;
      out.write(reinterpret_cast<const char *>(&value), sizeof(value));
    }
  }
  ~Samples() { llvm::sys::fs::remove(path); }

  SmallString<64> path;
};
} // namespace

/// `pipeline` on the chain of `period`; {0} stands for a file of samples.
static void rewrite(benchmark::State &state, const char *pipeline,
                    const std::vector<const char *> &period) {
  static const Samples samples;
  static const bool registered = [] {
    mct::registerAllMctPasses();
    return true;
  }();
  (void)registered;
  MLIRContext context;
  context.disableMultithreading();
  context.loadDialect<mct::tpc::TpcDialect, func::FuncDialect,
                      tosa::TosaDialect>();
  auto module =
      parseSourceString<ModuleOp>(getChain(state.range(0), period), &context);
  if (!module)
    return state.SkipWithError("the chain does not parse");
  for (auto _ : state) {
    state.PauseTiming();
    OwningOpRef<ModuleOp> copy = module->clone();
    PassManager passes(&context);
    passes.enableVerifier(false);
    std::string text = pipeline;
    if (size_t at = text.find("{0}"); at != std::string::npos)
      text.replace(at, 3, samples.path.str().str());
    if (failed(parsePassPipeline(text, passes)))
      return state.SkipWithError("the pipeline does not parse");
    state.ResumeTiming();
    if (failed(passes.run(*copy)))
      return state.SkipWithError("the pass fails");
    state.PauseTiming();
    copy = nullptr;
    state.ResumeTiming();
  }
  state.SetComplexityN(state.range(0));
}

#define BENCHMARK_REWRITE(name, pipeline, ...)                                 \
  BENCHMARK_CAPTURE(rewrite, name, pipeline,                                   \
                    std::vector<const char *>{__VA_ARGS__})                    \
      ->Arg(1000)                                                              \
      ->Arg(5000)                                                              \
      ->Arg(20000)                                                             \
      ->Unit(benchmark::kMillisecond)                                          \
      ->Complexity(benchmark::oN)

BENCHMARK_REWRITE(fold_batch_norm, "mct-fold-batch-norm", kConv, kMul, kAdd,
                  kRelu);
// One chain of all ops.
BENCHMARK_REWRITE(fold_long_batch_norm, "mct-fold-batch-norm", kMul, kAdd);
BENCHMARK_REWRITE(fold_batch_norm_forward, "mct-fold-batch-norm", kRelu, kMul,
                  kAdd, kConv);
BENCHMARK_REWRITE(collapse_linear, "mct-collapse-linear", kConv);
BENCHMARK_REWRITE(collapse_additions, "mct-collapse-linear", kRelu, kConv, kAdd,
                  kAdd);
BENCHMARK_REWRITE(collapse_residual, "mct-collapse-residual", kConv,
                  "{1} = tosa.add {0}, {2} : (tensor<1x4x4x2xf32>, "
                  "tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>");
BENCHMARK_REWRITE(fold_constants, "func.func(mct-fold-constants)",
                  "%w{3} = tosa.rsqrt %c : (tensor<1x1x1x2xf32>) -> "
                  "tensor<1x1x1x2xf32>\n"
                  "  {1} = tosa.add {0}, %w{3} : (tensor<1x4x4x2xf32>, "
                  "tensor<1x1x1x2xf32>) -> tensor<1x4x4x2xf32>");

// Nothing is constant, and each op reads the one before.
BENCHMARK_REWRITE(fold_nothing, "func.func(mct-fold-constants)", kRelu);

static constexpr const char *kRelu6 =
    "{1} = tosa.clamp {0} {{min_val = 0.0 : f32, max_val = 6.0 : f32} : "
    "(tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>";
static constexpr const char *kCalibrated =
    "{1} = tpc.quantize {0} as \"p{3}\" activation "
    "statistics(#tpc.statistics<count = 32, zeros = 0, min = 0.0, max = 9.0, "
    "channel_mean = dense<1.0> : tensor<2xf64>, channel_mean_square = "
    "dense<[5.0, 1.5]> : tensor<2xf64>, channel_min = dense<0.0> : "
    "tensor<2xf32>, channel_max = dense<9.0> : tensor<2xf32>>) : "
    "tensor<1x4x4x2xf32>";
static constexpr const char *kQuantized =
    "{1} = tpc.quantize {0} as \"p{3}\" activation "
    "statistics(#tpc.statistics<count = 32, zeros = 0, min = -1.0, max = 3.0>) "
    "parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : "
    "tensor<1x4x4x2xf32>";

BENCHMARK_REWRITE(normalize_clamps, "func.func(mct-normalize-activations)",
                  kRelu, kRelu6, kAdd);
BENCHMARK_REWRITE(normalize_hard_swish, "func.func(mct-normalize-activations)",
                  "%g{3} = tosa.clamp {0} {{min_val = 0.0 : f32, max_val = 1.0 "
                  ": f32} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>\n"
                  "  {1} = tosa.mul {0}, %g{3}, %i : (tensor<1x4x4x2xf32>, "
                  "tensor<1x4x4x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>");
BENCHMARK_REWRITE(bound_relu, "mct-bound-relu-to-power-of-two", kConv, kRelu6);
BENCHMARK_REWRITE(equalize_channels,
                  "mct-equalize-channels{only-if-better=false}", kConv, kRelu,
                  kCalibrated);
// Two ops that are one operator, each value read twice.
BENCHMARK_REWRITE(insert_quantizers,
                  "tpc-attach-target{target=imx500},mct-insert-quantizers",
                  "%g{3} = tosa.sigmoid {0} : (tensor<1x4x4x2xf32>) -> "
                  "tensor<1x4x4x2xf32>\n"
                  "  {1} = tosa.mul {0}, %g{3}, %i : (tensor<1x4x4x2xf32>, "
                  "tensor<1x4x4x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>");
// One input, then a path of all ops that ends without a layer.
BENCHMARK_REWRITE(scale_input, "mct-scale-input", kQuantized, kRelu, kRelu);
BENCHMARK_REWRITE(shift_softmax, "mct-shift-softmax", kConv, kCalibrated,
                  "%m{3} = tosa.reduce_max {0} {{axis = 3 : i32} : "
                  "(tensor<1x4x4x2xf32>) -> tensor<1x4x4x1xf32>\n"
                  "  %d{3} = tosa.sub {0}, %m{3} : (tensor<1x4x4x2xf32>, "
                  "tensor<1x4x4x1xf32>) -> tensor<1x4x4x2xf32>\n"
                  "  %e{3} = tosa.exp %d{3} : (tensor<1x4x4x2xf32>) -> "
                  "tensor<1x4x4x2xf32>\n"
                  "  %s{3} = tosa.reduce_sum %e{3} {{axis = 3 : i32} : "
                  "(tensor<1x4x4x2xf32>) -> tensor<1x4x4x1xf32>\n"
                  "  %r{3} = tosa.reciprocal %s{3} : (tensor<1x4x4x1xf32>) -> "
                  "tensor<1x4x4x1xf32>\n"
                  "  {1} = tosa.mul %e{3}, %r{3}, %i : (tensor<1x4x4x2xf32>, "
                  "tensor<1x4x4x1xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>");
BENCHMARK_REWRITE(
    update_concat_thresholds, "func.func(mct-update-concat-thresholds)",
    kQuantized,
    "%s{3} = tosa.concat {0} {{axis = 3 : i32} : (tensor<1x4x4x2xf32>) -> "
    "tensor<1x4x4x2xf32>\n"
    "  {1} = tpc.quantize %s{3} as \"c{3}\" activation "
    "parameters(#tpc.power_of_two<threshold = [8.0], bits = 8>) : "
    "tensor<1x4x4x2xf32>");

// Ops that run the network, and those that make integers of it.
static constexpr const char *kTanh =
    "{1} = tosa.tanh {0} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>";
static constexpr const char *kPoint =
    "{1} = tpc.quantize {0} as \"p{3}\" activation : tensor<1x4x4x2xf32>";
static constexpr const char *kCode =
    "{1} = tpc.quantize {0} as \"p{3}\" activation "
    "parameters(#tpc.power_of_two<threshold = [1.0], bits = 8>) : "
    "tensor<1x4x4x2xf32>";
// A kernel of its own, which a point quantizes; the zero point is everybody's.
static constexpr const char *kQuantizedConv =
    "%w{3} = tpc.quantize %k as \"w{3}\" weight \"kernel_attr\" axes [0] "
    "parameters(#tpc.symmetric<threshold = [0.75, 1.0], bits = 4>) : "
    "tensor<2x1x1x2xf32>\n"
    "  {1} = tosa.conv2d {0}, %w{3}, %b, %z, %z {{acc_type = f32, dilation = "
    "array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, "
    "1>} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, "
    "tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>";

BENCHMARK_REWRITE(calibrate_tables, "mct-calibrate{calibration-data={0}}",
                  kTanh, kPoint);
BENCHMARK_REWRITE(calibrate_convolutions, "mct-calibrate{calibration-data={0}}",
                  kConv, kTanh, kPoint);
BENCHMARK_REWRITE(correct_bias, "mct-correct-bias{calibration-data={0}}",
                  kQuantizedConv, kTanh);
BENCHMARK_REWRITE(lower_tables, "mct-simulate-integers,mct-lower-to-integer",
                  kTanh, kCode);
BENCHMARK_REWRITE(lower_convolutions,
                  "mct-simulate-integers,mct-lower-to-integer", kQuantizedConv,
                  kTanh, kCode);
BENCHMARK_REWRITE(check_integer,
                  "mct-simulate-integers,mct-lower-to-integer{io=integer},"
                  "mct-check-integer",
                  kTanh, kCode);
