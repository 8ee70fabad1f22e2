// SPDX-License-Identifier: Apache-2.0
//
// Throughput on real models, float and integer. `images_per_second` is wall
// time over all workers; `onednn_share` is the part of the workers' time inside
// of oneDNN.
#include "TestPaths.h"
#include "mct/Execution/Run.h"
#include "mct/IR/Names.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mct/Pipelines/Pipelines.h"
#include "mct/Quantization/Histogram.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/Support/FileSystem.h"

#include <benchmark/benchmark.h>
#include <chrono>
#include <cstdlib>
#include <limits>

using namespace mct::execution;

namespace {

struct Network {
  const char *name, *file, *data;
  double scale;
  /// Number of times that a pass reads the samples: a pass starts its workers
  /// anew, which would be a tenth of the time for the hundred images of VWW.
  size_t repetitions;
  /// Pipeline that lowers it first; then its inputs are of i8 and take the
  /// bytes as they are.
  const char *lowering = nullptr;
  bool hasBytes() const { return lowering || scale == 0; }
};
/// `%` stands for the samples.
const char *const kLowering =
    "builtin.module(mct-ptq{target=imx500_v1_pot calibration-data=%},"
    "mct-lower-to-integer{io=integer softmax=cut})";
const char *const kScaledLowering =
    "builtin.module(mct-ptq{target=imx500_v1_pot calibration-data=% "
    "input-scale=0.00392156862745098},"
    "mct-lower-to-integer{io=integer softmax=cut})";
const Network kNetworks[] = {
    {"resnet8", "resnet8_cifar10", "cifar10/calib_images", 1, 1},
    {"vww", "mobilenet_vww", "vww/calib_images", 1.0 / 255, 5},
    {"autoencoder", "autoencoder_ad", "ad/synthetic_calib_windows", 1, 10},
    {"tiny_darknet", "tiny_darknet_imagenet", "imagenet/calib_images",
     1.0 / 255, 1},
    // Integer networks: ours, and those of the TFLite converter.
    {"resnet8_integer", "resnet8_cifar10", "cifar10/calib_images", 1, 1,
     kLowering},
    {"vww_integer", "mobilenet_vww", "vww/calib_images", 1.0 / 255, 5,
     kScaledLowering},
    {"resnet8_tflite", "resnet8_cifar10_int8_tflite", "cifar10/calib_images", 0,
     1},
    {"vww_tflite", "mobilenet_vww_int8_tflite", "vww/calib_images", 0, 5},
};

struct Collector : TensorObserver {
  mct::quantization::Histogram histogram;
  mct::quantization::HistogramScratch *scratch = nullptr;
  void observe(const TensorView &values) override {
    histogram.observe(values.floats().data(), values.numElements(), *scratch);
  }
};

/// The tensors a target with fused activations quantizes: results of clamps, of
/// what no clamp follows, and the input.
void observePointLikeValues(mlir::ModuleOp module, CompileOptions &options) {
  auto function = *module.getOps<mlir::func::FuncOp>().begin();
  mct::assignNames(function);
  options.observed.push_back(mct::getName(function.getArgument(0)).str());
  auto kind = [](mlir::Operation *op) { return op->getName().getStringRef(); };
  function.walk([&](mlir::Operation *op) {
    bool ends = kind(op) == "tosa.clamp" || kind(op) == "tosa.avg_pool2d" ||
                kind(op) == "tosa.mul";
    bool linear = kind(op) == "tosa.conv2d" || kind(op) == "tosa.add" ||
                  kind(op) == "tosa.depthwise_conv2d";
    bool clamped = op->hasOneUse() && kind(*op->user_begin()) == "tosa.clamp";
    if (ends || (linear && !clamped))
      options.observed.push_back(mct::getName(op->getResult(0)).str());
  });
}

/// The module; null, with an error of the benchmark, where there is none.
mlir::OwningOpRef<mlir::ModuleOp> read(benchmark::State &state,
                                       const Network &network,
                                       mlir::MLIRContext &context) {
  std::string model = mct::testing::getSharedPath(std::string("data/models/") +
                                                  network.file + ".mlirbc");
  if (!llvm::sys::fs::exists(model)) {
    state.SkipWithError("no shared models");
    return nullptr;
  }
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(model, &context);
  if (!module || !network.lowering)
    return module;
  std::string text = network.lowering;
  text.replace(text.find('%'), 1,
               mct::testing::getSharedPath(std::string("data/") + network.data +
                                           ".npy"));
  auto passes = mlir::parsePassPipeline(text);
  if (mlir::failed(passes)) {
    state.SkipWithError("no such pipeline");
    return nullptr;
  }
  mlir::PassManager manager(&context);
  static_cast<mlir::OpPassManager &>(manager) = std::move(*passes);
  if (mlir::failed(manager.run(*module))) {
    state.SkipWithError("cannot quantize");
    return nullptr;
  }
  return module;
}

mlir::DialectRegistry makeRegistry() {
  mlir::DialectRegistry registry;
  Executor::registerDependencies(registry);
  registry.insert<mct::tpc::TpcDialect>();
  mct::registerOpModels(registry);
  return registry;
}

void run(benchmark::State &state, const Network &network, unsigned threads,
         bool observe) {
  mlir::MLIRContext context(makeRegistry(),
                            mlir::MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  auto module = read(state, network, context);
  if (!module)
    return;
  CompileOptions options;
  if (observe)
    observePointLikeValues(*module, options);
  auto executor = Executor::compile(*module, options);
  if (mlir::failed(executor))
    return state.SkipWithError("cannot compile");
  SampleOptions sampleOptions;
  sampleOptions.files.assign(network.repetitions,
                             mct::testing::getSharedPath(
                                 std::string("data/") + network.data + ".npy"));
  if (!network.hasBytes())
    sampleOptions.scale = {network.scale};
  auto samples = SampleSource::open(sampleOptions, (*executor)->inputs(),
                                    (*executor)->unit());
  if (!samples)
    return state.SkipWithError(llvm::toString(samples.takeError()).c_str());

  std::vector<mct::quantization::HistogramScratch> scratch(threads);
  std::vector<std::vector<Collector>> collectors(threads);
  for (unsigned i = 0; i < threads; ++i) {
    collectors[i] = std::vector<Collector>((*executor)->observed().size());
    for (Collector &collector : collectors[i])
      collector.scratch = &scratch[i];
  }
  double primitiveSeconds = 0, totalSeconds = 0;
  double bestSeconds = std::numeric_limits<double>::infinity();
  for (auto _ : state) {
    auto start = std::chrono::steady_clock::now();
    std::vector<Worker *> workers;
    double kernels = 0, total = 0;
    llvm::Error error = forEachUnit(
        **executor, **samples, {threads, 0},
        [&](size_t number, Worker &worker) {
          worker.measurePrimitives();
          workers.push_back(&worker);
          for (size_t i = 0; i < collectors[number].size(); ++i)
            worker.setObserver(i, &collectors[number][i]);
        },
        [&](const Unit &unit) {
          // Only the sums of the first worker are read, in its own thread.
          if (unit.worker == 0) {
            kernels = workers[0]->primitiveSeconds();
            total = workers[0]->totalSeconds();
          }
          return llvm::Error::success();
        });
    if (error)
      return state.SkipWithError(llvm::toString(std::move(error)).c_str());
    primitiveSeconds += kernels;
    totalSeconds += total;
    std::chrono::duration<double> seconds =
        std::chrono::steady_clock::now() - start;
    bestSeconds = std::min(bestSeconds, seconds.count());
  }
  // The fastest pass counts: what a shared machine does to the others is not
  // ours.
  state.counters["images_per_second"] =
      static_cast<double>((*samples)->numSamples()) / bestSeconds;
  state.counters["onednn_share"] =
      totalSeconds > 0 ? primitiveSeconds / totalSeconds : 0;
  state.counters["observed"] = (*executor)->observed().size();
}

void compile(benchmark::State &state, const Network &network) {
  mlir::MLIRContext context(makeRegistry(),
                            mlir::MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  auto module = read(state, network, context);
  if (!module)
    return;
  for (auto _ : state)
    if (mlir::failed(Executor::compile(*module)))
      return state.SkipWithError("cannot compile");
}

/// A chain of ops, with a convolution and an addition of an earlier value among
/// every few, as deep networks have them.
std::string makeChain(int64_t length) {
  const std::string type = "tensor<1x8x8x16xf32>";
  std::string text = "func.func @main(%v0: " + type + ") -> " + type + R"( {
    %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %w = "tosa.const"() <{values = dense<0.05> : tensor<16x1x1x16xf32>}> : () -> tensor<16x1x1x16xf32>
    %b = "tosa.const"() <{values = dense<0.1> : tensor<16xf32>}> : () -> tensor<16xf32>
)";
  for (int64_t i = 0; i != length; ++i) {
    std::string from = "%v" + std::to_string(i);
    text += "%v" + std::to_string(i + 1) + " = ";
    if (i % 5 == 2)
      text += "tosa.conv2d " + from +
              ", %w, %b, %zero, %zero {acc_type = f32, dilation = array<i64: "
              "1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, "
              "1>} : (" +
              type +
              ", tensor<16x1x1x16xf32>, tensor<16xf32>, tensor<1xf32>, "
              "tensor<1xf32>) -> " +
              type + "\n";
    else if (i % 5 == 4)
      text += "tosa.add " + from + ", %v" + std::to_string(i - 3) + " : (" +
              type + ", " + type + ") -> " + type + "\n";
    else
      text += "tosa.tanh " + from + " : (" + type + ") -> " + type + "\n";
  }
  return text + "return %v" + std::to_string(length) + " : " + type + "\n}";
}

/// Compiles a long network; `parts` is what is left of it to compile.
void compileChain(benchmark::State &state) {
  mlir::DialectRegistry registry;
  Executor::registerDependencies(registry);
  mlir::MLIRContext context(registry);
  context.loadAllAvailableDialects();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(
      makeChain(state.range(0)), &context);
  for (auto _ : state) {
    auto executor = Executor::compile(*module);
    if (mlir::failed(executor))
      return state.SkipWithError("cannot compile");
    state.counters["parts"] = double((*executor)->numCompiledParts());
  }
}
BENCHMARK(compileChain)
    ->Name("BM_CompileChain")
    ->Arg(100)
    ->Arg(1000)
    ->Arg(5000)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

/// A row of 16384 elements with 32 channels, convolved with a dilation.
std::string makeDilatedRow(int64_t dilation) {
  const std::string type = "tensor<1x1x16384x32xf32>";
  std::string d = std::to_string(dilation);
  return "func.func @main(%x: " + type + ") -> " + type + R"( {
    %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %w = "tosa.const"() <{values = dense<0.05> : tensor<32x1x3x32xf32>}> : () -> tensor<32x1x3x32xf32>
    %b = "tosa.const"() <{values = dense<0.1> : tensor<32xf32>}> : () -> tensor<32xf32>
    %0 = tosa.conv2d %x, %w, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, )" +
         d + ">, pad = array<i64: 0, 0, " + d + ", " + d +
         ">, stride = array<i64: 1, 1>} : (" + type +
         ", tensor<32x1x3x32xf32>, tensor<32xf32>, tensor<1xf32>, "
         "tensor<1xf32>) -> " +
         type + "\nreturn %0 : " + type + "\n}";
}

void runDilatedRow(benchmark::State &state) {
  mlir::DialectRegistry registry;
  Executor::registerDependencies(registry);
  mlir::MLIRContext context(registry);
  context.loadAllAvailableDialects();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(
      makeDilatedRow(state.range(0)), &context);
  auto executor = Executor::compile(*module);
  if (mlir::failed(executor))
    return state.SkipWithError("cannot compile");
  size_t elements = (*executor)->inputs()[0].type.getNumElements();
  std::vector<float> input(elements, 0.5f), output(elements);
  Worker worker(**executor);
  for (auto _ : state)
    if (llvm::Error error = worker.run({input.data()}, {output.data()}, 1))
      return state.SkipWithError(llvm::toString(std::move(error)).c_str());
  state.counters["samples"] = double((*executor)->unit());
}
BENCHMARK(runDilatedRow)
    ->Name("BM_RunDilatedRow")
    ->Arg(1)
    ->Arg(64)
    ->Arg(4096)
    ->Unit(benchmark::kMillisecond);

[[maybe_unused]] const bool kRegistered = [] {
  mct::registerAllMctPasses();
  for (const Network &network : kNetworks) {
    for (unsigned threads : {1, 2})
      for (bool observe : {false, true}) {
        // Histograms are of f32.
        if (observe && network.hasBytes())
          continue;
        std::string name = std::string("BM_Run/") + network.name +
                           "/threads:" + std::to_string(threads) +
                           "/observers:" + (observe ? "1" : "0");
        benchmark::RegisterBenchmark(name.c_str(),
                                     [=, &network](benchmark::State &state) {
                                       run(state, network, threads, observe);
                                     })
            ->UseRealTime()
            ->Unit(benchmark::kMillisecond);
      }
    benchmark::RegisterBenchmark(
        (std::string("BM_Compile/") + network.name).c_str(),
        [&network](benchmark::State &state) { compile(state, network); })
        ->Unit(benchmark::kMillisecond);
  }
  return true;
}();

} // namespace
