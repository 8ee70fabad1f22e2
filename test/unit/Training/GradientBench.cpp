// SPDX-License-Identifier: Apache-2.0
//
// Time of gradient functions in one thread: of single ops, of what a trained
// quantizer expands to, and of the kernels of real networks.
#include "TestPaths.h"
#include "mct/Execution/Executor.h"
#include "mct/Interfaces/SetBatch.h"
#include "mct/Training/Gradients.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/Support/FileSystem.h"

#include <benchmark/benchmark.h>
#include <cstdlib>
#include <random>

using namespace mlir;
using namespace mct;
using namespace mct::execution;

namespace {

/// A context that has all it needs.
struct Context {
  Context() : context(registry(), MLIRContext::Threading::DISABLED) {
    context.loadAllAvailableDialects();
  }
  static DialectRegistry registry() {
    DialectRegistry registry;
    registry.insert<func::FuncDialect, tosa::TosaDialect, tpc::TpcDialect>();
    registerGradientModels(registry);
    Executor::registerDependencies(registry);
    return registry;
  }
  MLIRContext context;
};

/// Runs a function of f32 on random numbers.
void runFunction(benchmark::State &state, ModuleOp module, StringRef name) {
  CompileOptions options;
  options.function = name.str();
  options.keepTypes = true;
  auto executor = Executor::compile(module, options);
  if (failed(executor))
    return state.SkipWithError("cannot compile");
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  auto allocate = [&](const TensorSpec &spec) {
    std::vector<float> values(spec.type.getNumElements());
    // Thresholds are positive.
    for (float &value : values)
      value = spec.type.getNumElements() == 1 ? 1.0f : 0.1f * normal(random);
    return values;
  };
  std::vector<std::vector<float>> inputs, outputs;
  for (const TensorSpec &spec : (*executor)->inputs())
    inputs.push_back(allocate(spec));
  for (const TensorSpec &spec : (*executor)->outputs())
    outputs.push_back(allocate(spec));
  std::vector<const void *> from;
  std::vector<void *> to;
  for (std::vector<float> &values : inputs)
    from.push_back(values.data());
  for (std::vector<float> &values : outputs)
    to.push_back(values.data());
  Worker worker(**executor);
  worker.measurePrimitives();
  for (auto _ : state)
    if (llvm::Error error = worker.run(from, to, 1))
      return state.SkipWithError(llvm::toString(std::move(error)).c_str());
  state.counters["onednn_share"] =
      worker.primitiveSeconds() / worker.totalSeconds();
}

/// Runs the gradient of a function by the arguments from number `first` on.
void runGradient(benchmark::State &state, ModuleOp module,
                 func::FuncOp function, unsigned first) {
  GradientRequest request;
  request.withResults = true;
  request.results = {0};
  request.name = "gradient";
  llvm::append_range(request.inputs, function.getArguments().drop_front(first));
  FailureOr<func::FuncOp> gradient = addGradient(function, request);
  if (failed(gradient))
    return state.SkipWithError("has no gradient");
  runFunction(state, module, gradient->getName());
}

struct Op {
  const char *name;
  /// The arguments from this number on have gradients.
  unsigned first;
  /// A function `main`; `$z` stands for a zero.
  const char *text;
};

const Op kOps[] = {
    {"conv2d", 0,
     R"(func.func @main(%x: tensor<8x32x32x16xf32>, %w: tensor<16x3x3x16xf32>, %b: tensor<16xf32>) -> tensor<8x32x32x16xf32> { $z
  %y = tosa.conv2d %x, %w, %b, %z, %z {acc_type = f32, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>} : (tensor<8x32x32x16xf32>, tensor<16x3x3x16xf32>, tensor<16xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<8x32x32x16xf32>
  return %y : tensor<8x32x32x16xf32>
})"},
    {"depthwise_conv2d", 0,
     R"(func.func @main(%x: tensor<8x24x24x64xf32>, %w: tensor<3x3x64x1xf32>, %b: tensor<64xf32>) -> tensor<8x24x24x64xf32> { $z
  %y = tosa.depthwise_conv2d %x, %w, %b, %z, %z {acc_type = f32, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>} : (tensor<8x24x24x64xf32>, tensor<3x3x64x1xf32>, tensor<64xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<8x24x24x64xf32>
  return %y : tensor<8x24x24x64xf32>
})"},
    {"depthwise_conv2d_stride2", 0,
     R"(func.func @main(%x: tensor<8x25x25x64xf32>, %w: tensor<3x3x64x1xf32>, %b: tensor<64xf32>) -> tensor<8x13x13x64xf32> { $z
  %y = tosa.depthwise_conv2d %x, %w, %b, %z, %z {acc_type = f32, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>, dilation = array<i64: 1, 1>} : (tensor<8x25x25x64xf32>, tensor<3x3x64x1xf32>, tensor<64xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<8x13x13x64xf32>
  return %y : tensor<8x13x13x64xf32>
})"},
    {"transpose_conv2d", 0,
     R"(func.func @main(%x: tensor<8x12x12x32xf32>, %w: tensor<16x4x4x32xf32>, %b: tensor<16xf32>) -> tensor<8x24x24x16xf32> { $z
  %y = tosa.transpose_conv2d %x, %w, %b, %z, %z {acc_type = f32, out_pad = array<i64: -1, -1, -1, -1>, stride = array<i64: 2, 2>} : (tensor<8x12x12x32xf32>, tensor<16x4x4x32xf32>, tensor<16xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<8x24x24x16xf32>
  return %y : tensor<8x24x24x16xf32>
})"},
    {"conv3d", 0,
     R"(func.func @main(%x: tensor<2x8x16x16x8xf32>, %w: tensor<16x3x3x3x8xf32>, %b: tensor<16xf32>) -> tensor<2x8x16x16x16xf32> { $z
  %y = tosa.conv3d %x, %w, %b, %z, %z {acc_type = f32, pad = array<i64: 1, 1, 1, 1, 1, 1>, stride = array<i64: 1, 1, 1>, dilation = array<i64: 1, 1, 1>} : (tensor<2x8x16x16x8xf32>, tensor<16x3x3x3x8xf32>, tensor<16xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x8x16x16x16xf32>
  return %y : tensor<2x8x16x16x16xf32>
})"},
    {"fully_connected", 0,
     R"(func.func @main(%x: tensor<32x1x1x640xf32>, %w: tensor<128x1x1x640xf32>, %b: tensor<128xf32>) -> tensor<32x1x1x128xf32> { $z
  %y = tosa.conv2d %x, %w, %b, %z, %z {acc_type = f32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>} : (tensor<32x1x1x640xf32>, tensor<128x1x1x640xf32>, tensor<128xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<32x1x1x128xf32>
  return %y : tensor<32x1x1x128xf32>
})"},
    {"matmul", 0,
     R"(func.func @main(%x: tensor<8x64x128xf32>, %w: tensor<8x128x64xf32>) -> tensor<8x64x64xf32> { $z
  %y = tosa.matmul %x, %w, %z, %z : (tensor<8x64x128xf32>, tensor<8x128x64xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<8x64x64xf32>
  return %y : tensor<8x64x64xf32>
})"},
    {"avg_pool2d_8x8", 0,
     R"(func.func @main(%x: tensor<32x8x8x64xf32>) -> tensor<32x1x1x64xf32> { $z
  %y = tosa.avg_pool2d %x, %z, %z {acc_type = f32, kernel = array<i64: 8, 8>, stride = array<i64: 8, 8>, pad = array<i64: 0, 0, 0, 0>} : (tensor<32x8x8x64xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<32x1x1x64xf32>
  return %y : tensor<32x1x1x64xf32>
})"},
    {"avg_pool2d_3x3", 0,
     R"(func.func @main(%x: tensor<8x25x25x64xf32>) -> tensor<8x13x13x64xf32> { $z
  %y = tosa.avg_pool2d %x, %z, %z {acc_type = f32, kernel = array<i64: 3, 3>, stride = array<i64: 2, 2>, pad = array<i64: 1, 1, 1, 1>} : (tensor<8x25x25x64xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<8x13x13x64xf32>
  return %y : tensor<8x13x13x64xf32>
})"},
    {"max_pool2d_2x2", 0,
     R"(func.func @main(%x: tensor<8x24x24x64xf32>) -> tensor<8x12x12x64xf32> { $z
  %y = tosa.max_pool2d %x {kernel = array<i64: 2, 2>, stride = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>} : (tensor<8x24x24x64xf32>) -> tensor<8x12x12x64xf32>
  return %y : tensor<8x12x12x64xf32>
})"},
    {"max_pool2d_3x3", 0,
     R"(func.func @main(%x: tensor<8x25x25x64xf32>) -> tensor<8x13x13x64xf32> { $z
  %y = tosa.max_pool2d %x {kernel = array<i64: 3, 3>, stride = array<i64: 2, 2>, pad = array<i64: 1, 1, 1, 1>} : (tensor<8x25x25x64xf32>) -> tensor<8x13x13x64xf32>
  return %y : tensor<8x13x13x64xf32>
})"},
    {"softmax", 0,
     R"(func.func @main(%x: tensor<32x10xf32>) -> tensor<32x10xf32> { $z
  %m = tosa.reduce_max %x {axis = 1 : i32} : (tensor<32x10xf32>) -> tensor<32x1xf32>
  %d = tosa.sub %x, %m : (tensor<32x10xf32>, tensor<32x1xf32>) -> tensor<32x10xf32>
  %e = tosa.exp %d : (tensor<32x10xf32>) -> tensor<32x10xf32>
  %s = tosa.reduce_sum %e {axis = 1 : i32} : (tensor<32x10xf32>) -> tensor<32x1xf32>
  %r = tosa.reciprocal %s : (tensor<32x1xf32>) -> tensor<32x1xf32>
  %shift = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %y = tosa.mul %e, %r, %shift : (tensor<32x10xf32>, tensor<32x1xf32>, tensor<1xi8>) -> tensor<32x10xf32>
  return %y : tensor<32x10xf32>
})"},
};

void runOp(benchmark::State &state, const Op &op) {
  Context context;
  std::string text = op.text;
  if (size_t at = text.find("$z"); at != std::string::npos)
    text.replace(
        at, 2,
        R"(%z = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>)");
  auto module = parseSourceString<ModuleOp>(text, &context.context);
  runGradient(state, *module, *module->getOps<func::FuncOp>().begin(),
              op.first);
}

/// A quantizer with a learned threshold and its gradients, for one threshold
/// (`axis` < 0) or one for each element of an axis.
std::string fakeQuantize(ArrayRef<int64_t> shape, int64_t axis) {
  auto typeOf = [](ArrayRef<int64_t> sizes, const char *element) {
    std::string text = "tensor<";
    for (int64_t size : sizes)
      text += std::to_string(size) + "x";
    return text + element + ">";
  };
  SmallVector<int64_t> ones(shape.size(), 1);
  if (axis >= 0)
    ones[axis] = shape[axis];
  std::string x = typeOf(shape, "f32"), t = typeOf(ones, "f32"),
              n = typeOf(SmallVector<int64_t>(shape.size(), 1), "f32"),
              i = typeOf(shape, "i32"), b = typeOf(shape, "i1");
  std::string text = "func.func @main(%x: " + x + ", %t: " + t + ", %g: " + x +
                     ") -> (" + x + ", " + x + ", " + t + ") {\n";
  text +=
      R"(%s = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>)";
  auto constant = [&](const char *name, const char *value) {
    text += std::string("\n%") + name + " = \"tosa.const\"() {values = dense<" +
            value + "> : " + n + "} : () -> " + n;
  };
  constant("scale", "0.125");
  constant("low", "-8.0");
  constant("high", "7.0");
  constant("zero", "0.0");
  auto op = [&](const std::string &line) { text += "\n" + line; };
  op("%step = tosa.mul %t, %scale, %s : (" + t + ", " + n +
     ", tensor<1xi8>) -> " + t);
  op("%inv = tosa.reciprocal %step : (" + t + ") -> " + t);
  op("%u = tosa.mul %x, %inv, %s : (" + x + ", " + t + ", tensor<1xi8>) -> " +
     x);
  op("%i = tosa.cast %u : (" + x + ") -> " + i);
  op("%r = tosa.cast %i : (" + i + ") -> " + x);
  op("%cl = tosa.clamp %r {min_val = -8.0 : f32, max_val = 7.0 : f32} : (" + x +
     ") -> " + x);
  op("%y = tosa.mul %cl, %step, %s : (" + x + ", " + t + ", tensor<1xi8>) -> " +
     x);
  op("%ge = tosa.greater_equal %r, %low : (" + x + ", " + n + ") -> " + b);
  op("%le = tosa.greater_equal %high, %r : (" + n + ", " + x + ") -> " + b);
  op("%k = tosa.logical_and %ge, %le : (" + b + ", " + b + ") -> " + b);
  op("%xb = tosa.select %k, %g, %zero : (" + b + ", " + x + ", " + n + ") -> " +
     x);
  op("%ku = tosa.select %k, %u, %zero : (" + b + ", " + x + ", " + n + ") -> " +
     x);
  op("%d = tosa.sub %cl, %ku : (" + x + ", " + x + ") -> " + x);
  op("%p = tosa.mul %g, %d, %s : (" + x + ", " + x + ", tensor<1xi8>) -> " + x);
  std::string from = "%p";
  SmallVector<int64_t> sizes(shape);
  for (int64_t d = 0; d != int64_t(shape.size()); ++d) {
    if (d == axis)
      continue;
    std::string before = typeOf(sizes, "f32");
    sizes[d] = 1;
    std::string name = "%p" + std::to_string(d);
    op(name + " = tosa.reduce_sum " + from + " {axis = " + std::to_string(d) +
       " : i32} : (" + before + ") -> " + typeOf(sizes, "f32"));
    from = name;
  }
  op("%tb = tosa.mul " + from + ", %scale, %s : (" + t + ", " + n +
     ", tensor<1xi8>) -> " + t);
  op("return %y, %xb, %tb : " + x + ", " + x + ", " + t + "\n}");
  return text;
}

void runFakeQuantize(benchmark::State &state, ArrayRef<int64_t> shape,
                     int64_t axis) {
  Context context;
  auto module =
      parseSourceString<ModuleOp>(fakeQuantize(shape, axis), &context.context);
  runFunction(state, *module, "main");
}
BENCHMARK_CAPTURE(runFakeQuantize, activation, {8, 32, 32, 16}, -1)
    ->Name("BM_FakeQuantize/activation")
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(runFakeQuantize, kernel, {64, 3, 3, 64}, 0)
    ->Name("BM_FakeQuantize/kernel")
    ->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(runFakeQuantize, depthwise, {3, 3, 256, 1}, 2)
    ->Name("BM_FakeQuantize/depthwise_kernel")
    ->Unit(benchmark::kMicrosecond);

/// Kernels and biases of convolutions become arguments.
void liftParameters(func::FuncOp function) {
  function.walk([&](Operation *op) {
    if (!isa<tosa::Conv2DOp, tosa::DepthwiseConv2DOp>(op))
      return;
    for (OpOperand &operand : op->getOpOperands().slice(1, 2)) {
      unsigned number = function.getNumArguments();
      if (failed(function.insertArgument(number, operand.get().getType(), {},
                                         op->getLoc())))
        continue;
      operand.set(function.getArgument(number));
    }
  });
}

void runNetwork(benchmark::State &state, const char *name) {
  std::string file = mct::testing::getSharedPath(std::string("data/models/") +
                                                 name + ".mlirbc");
  if (!llvm::sys::fs::exists(file))
    return state.SkipWithError("no shared models");
  Context context;
  auto module = parseSourceFile<ModuleOp>(file, &context.context);
  auto function = *module->getOps<func::FuncOp>().begin();
  if (failed(setBatch(function, state.range(0))))
    return state.SkipWithError("cannot set the batch");
  unsigned first = function.getNumArguments();
  liftParameters(function);
  runGradient(state, *module, function, first);
}
BENCHMARK_CAPTURE(runNetwork, resnet8, "resnet8_cifar10")
    ->Name("BM_NetworkGradient/resnet8")
    ->Arg(8)
    ->Arg(32)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(runNetwork, vww, "mobilenet_vww")
    ->Name("BM_NetworkGradient/vww")
    ->Arg(8)
    ->Unit(benchmark::kMillisecond);

[[maybe_unused]] const bool kRegistered = [] {
  for (const Op &op : kOps)
    benchmark::RegisterBenchmark(
        (std::string("BM_OpGradient/") + op.name).c_str(),
        [&op](benchmark::State &state) { runOp(state, op); })
        ->Unit(benchmark::kMicrosecond);
  return true;
}();

} // namespace
