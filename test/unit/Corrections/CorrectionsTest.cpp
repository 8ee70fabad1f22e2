// SPDX-License-Identifier: Apache-2.0
//
// Corrections on a network that has every kind of layer, branches that join,
// borders and ops between layers. The oracle is the executor: what the float
// and the corrected network make of the samples.
#include "lib/Corrections/ChannelRun.h"
#include "lib/Corrections/CorrectLayers.h"
#include "lib/Corrections/Layers.h"
#include "lib/Corrections/ProductLayout.h"
#include "mct/Corrections/Passes.h"
#include "mct/Execution/RunCache.h"
#include "mct/Support/Npy.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Pass/PassManager.h"
#include "test/unit/Execution/Fixture.h"
#include "tpc_dialect/IR/TpcRejections.h"

#include "mlir/IR/AsmState.h"
#include "llvm/Support/FileSystem.h"
#include <cmath>
#include <map>
#include <regex>

using namespace mct;
using namespace mct::support;
using namespace mct::execution;
using quantization::Affine;
using quantization::ChannelStatistics;

namespace {

constexpr int64_t kSamples = 37;
const std::vector<std::string> kLayers = {"first",      "depthwise", "main",
                                          "shortcut",   "upsampled", "product",
                                          "normalized", "last"};

std::string weight(const std::string &name, llvm::ArrayRef<int64_t> shape,
                   llvm::ArrayRef<int64_t> axes, unsigned seed) {
  int64_t channels = 1;
  std::string axisList, thresholds;
  for (int64_t axis : axes) {
    channels *= shape[axis];
    axisList += (axisList.empty() ? "" : ", ") + std::to_string(axis);
  }
  for (int64_t channel = 0; channel != channels; ++channel)
    thresholds += (channel ? ", " : "") + std::to_string(0.7 + 0.05 * channel);
  std::string type = tensorType(shape);
  return constant("k_" + name, shape, seed) + "%w_" + name +
         " = tpc.quantize %k_" + name + " as \"" + name +
         "\" weight \"kernel_attr\" axes [" + axisList +
         "] parameters(#tpc.symmetric<threshold = [" + thresholds +
         "], bits = 3>) : " + type + "\n";
}

std::string point(const std::string &result, const std::string &input,
                  const std::string &type) {
  return "%" + result + " = tpc.quantize %" + input + " as \"point_" + result +
         "\" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = "
         "5>) : " +
         type + "\n";
}

/// 8x8x3 -> first, relu -> depthwise -> main (stride 2) + shortcut -> upsampled
/// -> pool -> product, and two layers that nothing else joins.
std::string network() {
  std::string text = "func.func @main(%x: tensor<1x8x8x3xf32> loc(\"x\")) -> "
                     "(tensor<1x1x5xf32>, tensor<1x8x8x4xf32>, "
                     "tensor<1x4x4x4xf32>) {\n";
  text += kZero;
  for (int64_t size : {3, 4, 5, 6})
    text += constant("b" + std::to_string(size), {size}, 40 + size);
  auto conv = [&](const std::string &op, const std::string &name,
                  const std::string &input, const std::string &inputType,
                  const std::string &kernelType, const std::string &bias,
                  int64_t channels, const std::string &attributes,
                  const std::string &resultType) {
    text += "%" + name + " = tosa." + op + " %" + input + ", %w_" + name +
            ", %" + bias + ", %zero, %zero {acc_type = f32, " + attributes +
            "} : (" + inputType + ", " + kernelType + ", tensor<" +
            std::to_string(channels) +
            "xf32>, tensor<1xf32>, tensor<1xf32>) -> " + resultType +
            " loc(\"" + name + "\")\n";
  };
  const std::string same =
      "dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, "
      "1, 1>, stride = array<i64: 1, 1>";
  const std::string big = "tensor<1x8x8x4xf32>", small = "tensor<1x4x4x4xf32>";
  text += point("in", "x", "tensor<1x8x8x3xf32>");
  text += weight("first", {4, 3, 3, 3}, {0}, 1);
  conv("conv2d", "first", "in", "tensor<1x8x8x3xf32>", "tensor<4x3x3x3xf32>",
       "b4", 4, same, big);
  text +=
      "%relu = tosa.clamp %first {max_val = 3.40282347E+38 : f32, min_val = "
      "0.0 : f32} : (" +
      big + ") -> " + big + "\n";
  text += point("a", "relu", big);
  text += weight("depthwise", {3, 3, 4, 1}, {2, 3}, 2);
  conv("depthwise_conv2d", "depthwise", "a", big, "tensor<3x3x4x1xf32>", "b4",
       4, same, big);
  text += point("b", "depthwise", big);
  text += weight("main", {4, 3, 3, 4}, {0}, 3);
  conv("conv2d", "main", "b", big, "tensor<4x3x3x4xf32>", "b4", 4,
       "dilation = array<i64: 1, 1>, pad = array<i64: 0, 1, 0, 1>, stride = "
       "array<i64: 2, 2>",
       small);
  text += weight("shortcut", {4, 2, 2, 4}, {0}, 4);
  conv("conv2d", "shortcut", "a", big, "tensor<4x2x2x4xf32>", "b4", 4,
       "dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = "
       "array<i64: 2, 2>",
       small);
  text += "%sum = tosa.add %main, %shortcut : (" + small + ", " + small +
          ") -> " + small + "\n";
  text += point("c", "sum", small);
  text += weight("upsampled", {4, 2, 2, 4}, {0}, 5);
  conv("transpose_conv2d", "upsampled", "c", small, "tensor<4x2x2x4xf32>", "b4",
       4, "out_pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>", big);
  text += point("d", "upsampled", big);
  text +=
      "%pooled = tosa.avg_pool2d %d, %zero, %zero {acc_type = f32, kernel = "
      "array<i64: 8, 8>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: "
      "1, 1>} : (" +
      big +
      ", tensor<1xf32>, tensor<1xf32>) -> "
      "tensor<1x1x1x4xf32>\n"
      "%shape = tosa.const_shape {values = dense<[1, 1, 4]> : "
      "tensor<3xindex>} : () -> !tosa.shape<3>\n"
      "%row = tosa.reshape %pooled, %shape : (tensor<1x1x1x4xf32>, "
      "!tosa.shape<3>) -> tensor<1x1x4xf32>\n";
  text += weight("product", {1, 4, 5}, {2}, 6);
  text += "%product = tosa.matmul %row, %w_product, %zero, %zero : "
          "(tensor<1x1x4xf32>, tensor<1x4x5xf32>, tensor<1xf32>, "
          "tensor<1xf32>) -> tensor<1x1x5xf32> loc(\"product\")\n";
  text += weight("normalized", {4, 1, 1, 4}, {0}, 7);
  conv("conv2d", "normalized", "a", big, "tensor<4x1x1x4xf32>", "b4", 4,
       "dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = "
       "array<i64: 1, 1>",
       big);
  text += weight("last", {4, 1, 1, 4}, {0}, 8);
  conv("conv2d", "last", "c", small, "tensor<4x1x1x4xf32>", "b4", 4,
       "dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = "
       "array<i64: 1, 1>",
       small);
  return text + "return %product, %normalized, %last : tensor<1x1x5xf32>, " +
         big + ", " + small + "\n}\n";
}

const std::vector<std::string> kChannelsFirst = {"nchw", "depthwise", "between",
                                                 "hwcf", "matmul",    "batch"};

/// The same samples, transposed to 3x8x8 -> linalg NCHW convolution ->
/// depthwise -> TOSA convolution between transposes -> linalg NHWC convolution
/// (strided, dilated) -> two products.
std::string channelsFirstNetwork() {
  std::string text = "func.func @main(%x: tensor<1x8x8x3xf32> loc(\"x\")) -> "
                     "(tensor<1x3xf32>, tensor<1x3x2xf32>) {\n"
                     "%nothing = arith.constant 0.0 : f32\n";
  text += kZero;
  auto transpose = [&](const std::string &result, const std::string &input,
                       const std::string &order, const std::string &from,
                       const std::string &to) {
    text += "%" + result + " = tosa.transpose %" + input +
            " {perms = array<i32: " + order + ">} : (" + from + ") -> " + to +
            "\n";
  };
  // What a linalg op adds to: zeros, or a bias along `others`.
  auto start = [&](const std::string &name, const std::string &type) {
    text += "%empty_" + name + " = tensor.empty() : " + type + "\n%init_" +
            name + " = linalg.fill ins(%nothing : f32) outs(%empty_" + name +
            " : " + type + ") -> " + type + "\n";
  };
  auto biased = [&](const std::string &name, const std::string &type,
                    int64_t channels, const std::string &others,
                    unsigned seed) {
    text += constant("b_" + name, {channels}, seed) + "%empty_" + name +
            " = tensor.empty() : " + type + "\n%init_" + name +
            " = linalg.broadcast ins(%b_" + name + " : " +
            tensorType({channels}) + ") outs(%empty_" + name + " : " + type +
            ") dimensions = [" + others + "]\n";
  };
  auto layer = [&](const std::string &op, const std::string &name,
                   const std::string &input, const std::string &inputType,
                   const std::string &kernelType, const std::string &resultType,
                   const std::string &attributes = "") {
    text += "%" + name + " = linalg." + op + attributes + " ins(%" + input +
            ", %w_" + name + " : " + inputType + ", " + kernelType +
            ") outs(%init_" + name + " : " + resultType + ") -> " + resultType +
            " loc(\"" + name + "\")\n";
  };
  transpose("first", "x", "0, 3, 1, 2", "tensor<1x8x8x3xf32>",
            "tensor<1x3x8x8xf32>");
  text += point("in", "first", "tensor<1x3x8x8xf32>");
  text += weight("nchw", {4, 3, 3, 3}, {0}, 1);
  biased("nchw", "tensor<1x4x6x6xf32>", 4, "0, 2, 3", 50);
  layer("conv_2d_nchw_fchw", "nchw", "in", "tensor<1x3x8x8xf32>",
        "tensor<4x3x3x3xf32>", "tensor<1x4x6x6xf32>");
  text += point("a", "nchw", "tensor<1x4x6x6xf32>");
  text += weight("depthwise", {4, 3, 3}, {0}, 2);
  start("depthwise", "tensor<1x4x4x4xf32>");
  layer("depthwise_conv_2d_nchw_chw", "depthwise", "a", "tensor<1x4x6x6xf32>",
        "tensor<4x3x3xf32>", "tensor<1x4x4x4xf32>");
  text += point("b", "depthwise", "tensor<1x4x4x4xf32>");
  transpose("there", "b", "0, 2, 3, 1", "tensor<1x4x4x4xf32>",
            "tensor<1x4x4x4xf32>");
  text += weight("between", {5, 3, 3, 4}, {0}, 3) + constant("b5", {5}, 51) +
          "%between = tosa.conv2d %there, %w_between, %b5, %zero, %zero "
          "{acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, "
          "1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x4x4x4xf32>, "
          "tensor<5x3x3x4xf32>, tensor<5xf32>, tensor<1xf32>, tensor<1xf32>) "
          "-> tensor<1x4x4x5xf32> loc(\"between\")\n";
  transpose("back", "between", "0, 3, 1, 2", "tensor<1x4x4x5xf32>",
            "tensor<1x5x4x4xf32>");
  text += point("c", "back", "tensor<1x5x4x4xf32>");
  transpose("last", "c", "0, 2, 3, 1", "tensor<1x5x4x4xf32>",
            "tensor<1x4x4x5xf32>");
  text += weight("hwcf", {2, 2, 5, 6}, {3}, 4);
  biased("hwcf", "tensor<1x1x1x6xf32>", 6, "0, 1, 2", 52);
  layer("conv_2d_nhwc_hwcf", "hwcf", "last", "tensor<1x4x4x5xf32>",
        "tensor<2x2x5x6xf32>", "tensor<1x1x1x6xf32>",
        " {dilations = dense<2> : tensor<2xi64>, strides = dense<2> : "
        "tensor<2xi64>}");
  text += point("d", "hwcf", "tensor<1x1x1x6xf32>");
  text += "%row_shape = tosa.const_shape {values = dense<[1, 6]> : "
          "tensor<2xindex>} : () -> !tosa.shape<2>\n"
          "%row = tosa.reshape %d, %row_shape : (tensor<1x1x1x6xf32>, "
          "!tosa.shape<2>) -> tensor<1x6xf32>\n"
          "%rows_shape = tosa.const_shape {values = dense<[1, 3, 2]> : "
          "tensor<3xindex>} : () -> !tosa.shape<3>\n"
          "%rows = tosa.reshape %d, %rows_shape : (tensor<1x1x1x6xf32>, "
          "!tosa.shape<3>) -> tensor<1x3x2xf32>\n";
  text += weight("matmul", {6, 3}, {1}, 5);
  start("matmul", "tensor<1x3xf32>");
  layer("matmul", "matmul", "row", "tensor<1x6xf32>", "tensor<6x3xf32>",
        "tensor<1x3xf32>");
  text += weight("batch", {1, 2, 2}, {2}, 6);
  start("batch", "tensor<1x3x2xf32>");
  layer("batch_matmul", "batch", "rows", "tensor<1x3x2xf32>",
        "tensor<1x2x2xf32>", "tensor<1x3x2xf32>");
  return text + "return %matmul, %batch : tensor<1x3xf32>, "
                "tensor<1x3x2xf32>\n}\n";
}

/// A product of so many columns that their covariance exceeds the budget: what
/// `op` makes of multiples of the inputs.
std::string wideNetwork(const std::string &op) {
  constexpr int64_t kColumns = 192 * 28, kOutputs = 3;
  const std::string wide = tensorType({1, 1, kColumns});
  const std::string type = "tensor<1x1x3xf32>";
  std::string text = "func.func @main(%x: tensor<1x8x8x3xf32> loc(\"x\")) -> " +
                     type + " {\n" + kZero;
  text += "%flat = tosa.const_shape {values = dense<[1, 1, 192]> : "
          "tensor<3xindex>} : () -> !tosa.shape<3>\n"
          "%row = tosa.reshape %x, %flat : (tensor<1x8x8x3xf32>, "
          "!tosa.shape<3>) -> tensor<1x1x192xf32>\n"
          "%times = tosa.const_shape {values = dense<[1, 1, 28]> : "
          "tensor<3xindex>} : () -> !tosa.shape<3>\n"
          "%tiled = tosa.tile %row, %times : (tensor<1x1x192xf32>, "
          "!tosa.shape<3>) -> " +
          wide + "\n" + constant("factors", {1, 1, kColumns}, 60) +
          "%shift = \"tosa.const\"() <{values = dense<0> : tensor<1xi8>}> : () "
          "-> tensor<1xi8>\n"
          "%scaled = tosa.mul %tiled, %factors, %shift : (" +
          wide + ", " + wide + ", tensor<1xi8>) -> " + wide +
          "\n"
          "%many = tosa." +
          op + " %scaled : (" + wide + ") -> " + wide + "\n";
  text += weight("product", {1, kColumns, kOutputs}, {2}, 6);
  text += "%product = tosa.matmul %many, %w_product, %zero, %zero : (" + wide +
          ", " + tensorType({1, kColumns, kOutputs}) +
          ", tensor<1xf32>, tensor<1xf32>) -> " + type +
          " loc(\"product\")\nreturn %product : " + type + "\n}\n";
  return text;
}

struct Keep : TensorObserver {
  void observe(const TensorView &values) override {
    int64_t channels = values.shape().back();
    statistics.observe(values.floats().data(),
                       int64_t(values.numElements()) / channels, channels);
  }
  ChannelStatistics statistics;
};

class CorrectionsTest : public ExecutionTest {
protected:
  CorrectionsTest() {
    llvm::SmallString<128> path;
    llvm::sys::fs::createTemporaryFile("corrections", "npy", path);
    file = path.str().str();
    Floats values = randomFloats(kSamples * 8 * 8 * 3, 99);
    auto writer = llvm::cantFail(
        NpyWriter::create(file, ElementType::F32, {kSamples, 8, 8, 3}));
    writer->write(values.data(), values.size() * sizeof(float));
    llvm::cantFail(writer->commit());
  }
  ~CorrectionsTest() override { llvm::sys::fs::remove(file); }

  mlir::OwningOpRef<mlir::ModuleOp> parse() { return parse(network()); }
  mlir::OwningOpRef<mlir::ModuleOp> parse(const std::string &text) {
    auto parsed = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    EXPECT_TRUE(parsed) << llvm::join(diagnostics, "\n");
    return parsed;
  }

  template <typename Options> Options onSamples() {
    Options options;
    options.calibrationData = {file};
    // What a correction does, whatever it is worth.
    if constexpr (std::is_same_v<Options, CorrectBiasPassOptions> ||
                  std::is_same_v<Options, RoundWeightsPassOptions>)
      options.judge = false;
    return options;
  }

  void run(mlir::ModuleOp target, std::unique_ptr<mlir::Pass> pass) {
    mlir::PassManager manager(&context);
    manager.addPass(std::move(pass));
    ASSERT_TRUE(mlir::succeeded(manager.run(target)))
        << llvm::join(diagnostics, "\n");
  }

  llvm::SmallVector<corrections::ChannelValue> channels;

  static std::string print(mlir::ModuleOp target) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    target.print(stream);
    return text;
  }

  /// What the layers of `kLayers` make of the samples.
  std::vector<ChannelStatistics> observe(mlir::ModuleOp target, bool simulate) {
    CompileOptions options;
    options.simulateQuantization = simulate;
    llvm::append_range(options.observed, kLayers);
    auto executor = Executor::compile(target, options);
    EXPECT_TRUE(mlir::succeeded(executor)) << llvm::join(diagnostics, "\n");
    SampleOptions sampleOptions;
    sampleOptions.files = {file};
    auto samples = llvm::cantFail(SampleSource::open(
        sampleOptions, (*executor)->inputs(), (*executor)->unit()));
    std::vector<Keep> observers(kLayers.size());
    RunOptions oneThread;
    oneThread.threads = 1;
    llvm::cantFail(forEachUnit(
        **executor, *samples, oneThread,
        [&](size_t, Worker &worker) {
          for (size_t i = 0; i != observers.size(); ++i)
            worker.setObserver(i, &observers[i]);
        },
        [](const Unit &) { return llvm::Error::success(); }));
    std::vector<ChannelStatistics> result;
    for (Keep &observer : observers)
      result.push_back(std::move(observer.statistics));
    return result;
  }

  std::string file;
};

/// Puts something else into the place of a file.
struct ReplaceFile
    : mlir::PassWrapper<ReplaceFile, mlir::OperationPass<mlir::ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ReplaceFile)
  explicit ReplaceFile(std::string path) : path(std::move(path)) {}
  void runOnOperation() override {
    llvm::sys::fs::remove(path);
    std::error_code error;
    llvm::raw_fd_ostream(path, error) << "no samples";
  }
  std::string path;
};

double deviation(const ChannelStatistics::Channel &channel) {
  double mean = channel.mean();
  return std::sqrt(channel.sumOfSquares.round() / double(channel.count) -
                   mean * mean);
}

// The passes of a pipeline read the file that the first one has opened; the
// next run of the pipeline opens it again.
TEST_F(CorrectionsTest, PassesThatShareACacheOpenTheirSamplesOnce) {
  auto moments = onSamples<CorrectSecondMomentPassOptions>();
  auto bias = onSamples<CorrectBiasPassOptions>();
  auto expected = parse(), found = parse(), later = parse();
  run(*expected, createCorrectSecondMomentPass(moments));
  std::string half = print(*expected);
  run(*expected, createCorrectBiasPass(bias));
  EXPECT_NE(print(*expected), half);

  mlir::PassManager manager(&context);
  manager.addPass(createCorrectSecondMomentPass(moments));
  manager.addPass(std::make_unique<ReplaceFile>(file));
  manager.addPass(createCorrectBiasPass(bias));
  {
    execution::RunCache cache;
    execution::RunCacheScope scope(&context, cache);
    ASSERT_TRUE(mlir::succeeded(manager.run(*found)))
        << llvm::join(diagnostics, "\n");
  }
  // The context numbers resources of one name.
  auto withoutNumbers = [](const std::string &text) {
    return std::regex_replace(text, std::regex("kernel_[0-9]+"), "kernel");
  };
  EXPECT_EQ(withoutNumbers(print(*found)), withoutNumbers(print(*expected)));

  EXPECT_TRUE(mlir::failed(manager.run(*later)));
  ASSERT_EQ(diagnostics.size(), 1u);
  EXPECT_NE(diagnostics[0].find("expected a .npy file"), std::string::npos)
      << diagnostics[0];
}

// What makes the correction one of the whole network: every layer has its float
// mean although all of them, and the activations, are quantized coarsely. The
// tolerance covers the rounding of biases to f32 and the few values that it
// moves to another level of a 5-bit grid.
TEST_F(CorrectionsTest, AllLayersHaveTheirFloatMeans) {
  auto floating = parse(), corrected = parse();
  std::vector<ChannelStatistics> expected = observe(*floating, false);
  std::vector<ChannelStatistics> before = observe(*corrected, true);
  auto options = onSamples<CorrectBiasPassOptions>();
  options.shrink = false;
  run(*corrected, createCorrectBiasPass(options));
  std::vector<ChannelStatistics> found = observe(*corrected, true);
  for (size_t layer = 0; layer != kLayers.size(); ++layer) {
    double largestBefore = 0;
    for (size_t i = 0; i != expected[layer].channels().size(); ++i) {
      double mean = expected[layer].channels()[i].mean();
      EXPECT_NEAR(found[layer].channels()[i].mean(), mean, 1e-3)
          << kLayers[layer] << " channel " << i;
      largestBefore = std::max(
          largestBefore, std::abs(before[layer].channels()[i].mean() - mean));
    }
    // Several times what is allowed behind.
    EXPECT_GT(largestBefore, 3e-3) << kLayers[layer];
  }
}

// Weights alone are quantized: mean and deviation of every layer are those of
// the float network. The tolerance is that of the thresholds, which become
// steps in f32.
TEST_F(CorrectionsTest, AllLayersHaveTheirFloatMoments) {
  auto floating = parse(), corrected = parse();
  std::vector<ChannelStatistics> expected = observe(*floating, false);
  run(*corrected, createCorrectSecondMomentPass(
                      onSamples<CorrectSecondMomentPassOptions>()));
  // The pass has taken the parameters of all activations but the input's.
  corrected->walk([&](tpc::QuantizeOp op) {
    if (op.isActivation())
      EXPECT_EQ(bool(op.getParametersAttr()), op.getPointName() == "point_in");
    if (op.isActivation())
      op.removeQuantizer();
  });
  std::vector<ChannelStatistics> found = observe(*corrected, true);
  for (size_t layer = 0; layer != kLayers.size(); ++layer)
    for (size_t i = 0; i != expected[layer].channels().size(); ++i) {
      const auto &wanted = expected[layer].channels()[i];
      EXPECT_NEAR(found[layer].channels()[i].mean(), wanted.mean(), 1e-4)
          << kLayers[layer] << " channel " << i;
      EXPECT_NEAR(deviation(found[layer].channels()[i]), deviation(wanted),
                  1e-3 * deviation(wanted) + 1e-5)
          << kLayers[layer] << " channel " << i;
    }
}

// The codes of the kernels are those of before.
TEST_F(CorrectionsTest, SecondMomentKeepsTheCodes) {
  auto plain = parse(), corrected = parse();
  run(*corrected, createCorrectSecondMomentPass(
                      onSamples<CorrectSecondMomentPassOptions>()));
  auto codes = [](mlir::ModuleOp target) {
    auto found = *corrections::Layers::find(
        target, KernelOps::forModule(target), "main", "test", false);
    std::vector<long> all;
    for (const corrections::Layer &layer : found.layers) {
      tpc::QuantizeOp op = layer.point;
      auto grids = op.getParametersAttr().getGrids();
      std::vector<float> values = corrections::quantizedKernel(layer);
      for (size_t i = 0; i != values.size(); ++i)
        all.push_back(
            std::lround(values[i] / grids[layer.op.outChannelOf(i)].step));
    }
    return all;
  };
  EXPECT_EQ(codes(*plain), codes(*corrected));
}

// The same bytes for any number of threads and any batch.
TEST_F(CorrectionsTest, ThreadsAndBatchesChangeNothing) {
  std::string expected;
  for (auto [threads, batch] :
       {std::pair<unsigned, uint64_t>{1, 0}, {2, 0}, {3, 1}, {2, 100}}) {
    auto target = parse();
    auto options = onSamples<CorrectBiasPassOptions>();
    options.threads = threads;
    options.batchSize = batch;
    run(*target, createCorrectBiasPass(options));
    if (expected.empty())
      expected = print(*target);
    EXPECT_EQ(print(*target), expected) << threads << " threads, " << batch;
  }
}

// Both halves of the samples judge what is fitted to the other one. What is
// applied is fitted to all of them, and is judged, too: here the halves correct
// nothing, which loses nothing, and all samples together the last layer by far
// too much.
TEST_F(CorrectionsTest, WhatIsFittedToAllSamplesIsJudgedToo) {
  auto target = parse();
  auto found = corrections::Layers::find(*target, KernelOps::forModule(*target),
                                         "main", "test", false);
  ASSERT_TRUE(mlir::succeeded(found));
  llvm::SmallVector<corrections::Layer *> layers;
  for (corrections::Layer &layer : found->layers)
    layers.push_back(&layer);
  std::vector<ChannelStatistics> before = observe(*target, true);

  execution::RunSettings settings;
  settings.samples.files = {file};
  corrections::LayerCorrectionOptions options;
  options.how = tpc::kQuantizedNetworkCorrection;
  options.judges = true;
  std::set<int64_t> fittedTo;
  ASSERT_TRUE(mlir::succeeded(corrections::correctLayers(
      *found, layers, settings, options,
      [&](size_t layer, const corrections::ChannelSummary &exact,
          const corrections::ChannelSummary &seen, int64_t samples) {
        fittedTo.insert(samples);
        llvm::SmallVector<quantization::Affine> correction;
        if (samples != kSamples)
          return correction;
        bool isLast = layer + 1 == layers.size();
        for (int64_t i = 0; i != exact.numChannels(); ++i)
          correction.push_back(
              {1, isLast ? 100 : exact.mean(i) - seen.mean(i)});
        return correction;
      })))
      << llvm::join(diagnostics, "\n");
  // Two halves, which the values of the samples choose, and all.
  ASSERT_EQ(fittedTo.size(), 3u);
  EXPECT_EQ(*fittedTo.rbegin(), kSamples);

  // The last layer is as before, and the others are corrected.
  std::vector<ChannelStatistics> after = observe(*target, true);
  auto mean = [](const ChannelStatistics &layer) {
    return layer.channels().front().mean();
  };
  EXPECT_NE(mean(after.front()), mean(before.front()));
  EXPECT_LT(std::abs(mean(after.back())), 50);
  auto rejected = tpc::readRejectedCorrections(found->function);
  ASSERT_EQ(rejected.size(), 1u);
  EXPECT_EQ(rejected[0].layers,
            (std::vector<std::string>{layers.back()->point.getUniqueName()}));
  EXPECT_EQ(rejected[0].samples, kSamples);
}

/// Remembers the means of all channels, and halves what layers make.
struct Halve : corrections::LayerVisitor {
  explicit Halve(llvm::ArrayRef<corrections::ChannelValue> layers) {
    for (const corrections::ChannelValue &layer : layers)
      seen.emplace_back(layer, /*samples=*/0, /*moments=*/false);
  }
  void begin(llvm::ArrayRef<size_t> layers, size_t workers) override {
    for (size_t layer : layers) {
      order.push_back(layer);
      of[layer].assign(workers, seen[layer]);
    }
  }
  void observe(size_t layer, size_t worker, corrections::LayerValue /*what*/,
               const TensorView &output) override {
    of[layer][worker].add(output);
  }
  mlir::FailureOr<corrections::LayerChange> finish(size_t layer) override {
    for (const corrections::ChannelSummary &other : of[layer])
      seen[layer].merge(other);
    corrections::LayerChange change;
    change.output.assign(seen[layer].numChannels(), {0.5, 0.25});
    return change;
  }
  std::vector<std::vector<double>> means() const {
    std::vector<std::vector<double>> result;
    for (const corrections::ChannelSummary &summary : seen) {
      result.emplace_back();
      for (int64_t i = 0; i != summary.numChannels(); ++i)
        result.back().push_back(summary.mean(i));
    }
    return result;
  }
  std::vector<corrections::ChannelSummary> seen;
  std::map<size_t, std::vector<corrections::ChannelSummary>> of;
  std::vector<size_t> order;
};

class LayerwiseTest : public CorrectionsTest {
protected:
  /// Shows all layers of the network whose points quantize to `visitor`.
  void show(int64_t budget,
            llvm::function_ref<std::unique_ptr<corrections::LayerVisitor>(
                llvm::ArrayRef<corrections::ChannelValue>)>
                make) {
    auto target = parse();
    auto found = corrections::Layers::find(
        *target, KernelOps::forModule(*target), "main", "test", false);
    ASSERT_TRUE(mlir::succeeded(found));
    ASSERT_EQ(found->layers.size(), kLayers.size());
    std::vector<corrections::Layer *> layers;
    for (corrections::Layer &layer : found->layers)
      layers.push_back(&layer);
    mlir::IRMapping mapping;
    auto quantized = found->clone(mapping);
    llvm::SmallVector<corrections::ChannelValue> values;
    for (mlir::Value value : corrections::mapResults(layers, mapping))
      values.push_back(
          {value,
           mlir::cast<mlir::RankedTensorType>(value.getType()).getRank() - 1});
    auto executor = Executor::compile(
        *quantized,
        corrections::compileLayerwise(
            quantized->lookupSymbol<mlir::func::FuncOp>("main"), values));
    ASSERT_TRUE(mlir::succeeded(executor)) << llvm::join(diagnostics, "\n");
    SampleOptions sampleOptions;
    sampleOptions.files = {file};
    auto samples = llvm::cantFail(SampleSource::open(
        sampleOptions, (*executor)->inputs(), (*executor)->unit()));
    corrections::LayerwiseOptions options;
    options.memoryBudget = budget;
    visitor = make(values);
    EXPECT_TRUE(mlir::succeeded(
        corrections::runLayerwise(target->getLoc(), **executor, nullptr, values,
                                  *samples, options, *visitor)))
        << llvm::join(diagnostics, "\n");
  }
  std::unique_ptr<corrections::LayerVisitor> visitor;
};

/// Sees inputs and outputs of both networks, and gives every layer its float
/// kernel again.
struct Restore : corrections::LayerVisitor {
  using Tensors = std::map<std::pair<size_t, corrections::LayerValue>, Floats>;
  explicit Restore(std::vector<Floats> kernels) : kernels(std::move(kernels)) {}
  void begin(llvm::ArrayRef<size_t>, size_t workers) override {
    EXPECT_EQ(workers, 1u);
  }
  void observe(size_t layer, size_t, corrections::LayerValue what,
               const TensorView &values) override {
    llvm::append_range(seen[{layer, what}], values.floats());
  }
  mlir::FailureOr<corrections::LayerChange> finish(size_t layer) override {
    corrections::LayerChange change;
    change.constants.emplace_back(layer, kernels[layer]);
    return change;
  }
  bool changesConstants() const override { return true; }
  Tensors seen;
  std::vector<Floats> kernels;
};

// With its float kernel in every layer, and activations that nothing quantizes,
// the network is the float one: each layer reads what the float layer reads,
// because those before it got their kernels back in time.
TEST_F(CorrectionsTest, LayersBehindSeeReplacedKernels) {
  auto target = parse();
  auto found = corrections::Layers::find(*target, KernelOps::forModule(*target),
                                         "main", "test", false);
  ASSERT_TRUE(mlir::succeeded(found));
  std::vector<corrections::Layer *> layers;
  std::vector<Floats> kernels;
  for (corrections::Layer &layer : found->layers) {
    layers.push_back(&layer);
    auto kernel = layer.op.getKernel();
    kernels.push_back(kernel.values().vec());
  }
  mlir::IRMapping floatMapping, mapping;
  auto floating = found->cloneFloat(floatMapping);
  auto quantized = found->clone(mapping);
  quantized->walk([](tpc::QuantizeOp point) {
    if (point.isActivation())
      point.removeQuantizer();
  });
  auto compileAs = [&](mlir::ModuleOp network, const mlir::IRMapping &copies,
                       bool simulate) {
    llvm::SmallVector<corrections::ChannelValue> values;
    llvm::SmallVector<mlir::OpOperand *> inputs, constants;
    for (corrections::Layer *layer : layers) {
      mlir::Operation *copy = copies.lookup(layer->op.getOperation());
      values.push_back({copy->getResult(0), layer->op.resultAxis()});
      inputs.push_back(
          &copy->getOpOperand(layer->op.getInput().getOperandNumber()));
      for (mlir::OpOperand &operand : copy->getOpOperands())
        if (operand.get() == copies.lookup(layer->point.getResult()))
          constants.push_back(&operand);
    }
    EXPECT_EQ(constants.size(), layers.size());
    auto options = corrections::compileLayerwise(
        network.lookupSymbol<mlir::func::FuncOp>("main"), values, inputs);
    options.simulateQuantization = simulate;
    if (simulate)
      options.replaceable.assign(constants.begin(), constants.end());
    channels = values;
    return Executor::compile(network, options);
  };
  auto exact = compileAs(*floating, floatMapping, false);
  auto executor = compileAs(*quantized, mapping, true);
  ASSERT_TRUE(mlir::succeeded(exact) && mlir::succeeded(executor))
      << llvm::join(diagnostics, "\n");
  SampleOptions sampleOptions;
  sampleOptions.files = {file};
  auto samples = llvm::cantFail(SampleSource::open(
      sampleOptions, (*executor)->inputs(), (*executor)->unit()));
  corrections::LayerwiseOptions options;
  options.run.threads = 1;
  Restore restore(kernels);
  ASSERT_TRUE(mlir::succeeded(
      corrections::runLayerwise(target->getLoc(), **executor, exact->get(),
                                channels, *samples, options, restore)))
      << llvm::join(diagnostics, "\n");
  using corrections::LayerValue;
  for (size_t layer = 0; layer != layers.size(); ++layer) {
    const Floats &input = restore.seen[{layer, LayerValue::Input}];
    EXPECT_EQ(input.size() % kSamples, 0u);
    EXPECT_FALSE(input.empty());
    EXPECT_EQ(input, (restore.seen[{layer, LayerValue::FloatInput}]))
        << kLayers[layer];
    // What it makes itself was seen with its quantized kernel.
    EXPECT_NE((restore.seen[{layer, LayerValue::Output}]),
              (restore.seen[{layer, LayerValue::FloatOutput}]))
        << kLayers[layer];
  }
}

// Whether what crosses between layers is kept in memory, all, some or none of
// it, changes nothing.
TEST_F(LayerwiseTest, MemoryBudgetChangesNothing) {
  std::vector<std::vector<double>> expected;
  for (int64_t budget : {int64_t(1) << 30, int64_t(0), int64_t(150000)}) {
    show(budget, [](auto values) { return std::make_unique<Halve>(values); });
    auto means = static_cast<Halve &>(*visitor).means();
    if (expected.empty())
      expected = means;
    EXPECT_EQ(means, expected) << budget;
  }
}

// The layers behind see what a layer was changed to: a whole run of a network
// in which the biases and kernels say the same makes the same means.
TEST_F(LayerwiseTest, LayersSeeWhatWasChangedBefore) {
  show(1 << 20, [](auto values) { return std::make_unique<Halve>(values); });
  auto &halve = static_cast<Halve &>(*visitor);
  std::vector<size_t> all = halve.order;
  llvm::sort(all);
  for (size_t layer = 0; layer != kLayers.size(); ++layer)
    EXPECT_EQ(all[layer], layer);

  auto target = parse();
  auto found = corrections::Layers::find(*target, KernelOps::forModule(*target),
                                         "main", "test", false);
  ASSERT_TRUE(mlir::succeeded(found));
  for (corrections::Layer &layer : found->layers) {
    llvm::SmallVector<Affine> half(layer.op.numOutputChannels(), {0.5, 0.25});
    ASSERT_TRUE(mlir::succeeded(corrections::applyCorrection(
        layer, half, tpc::kSecondMomentCorrection)));
  }
  std::vector<ChannelStatistics> changed = observe(*target, true);
  for (size_t layer = 0; layer != kLayers.size(); ++layer)
    for (int64_t i = 0; i != halve.seen[layer].numChannels(); ++i)
      // Of the layer itself the mean before its change was seen.
      EXPECT_NEAR(changed[layer].channels()[i].mean(),
                  0.5 * halve.seen[layer].mean(i) + 0.25, 1e-4)
          << kLayers[layer] << " channel " << i;
}

/// Remembers what layers read and make; behind the first of the layers in
/// `when` the points get other quantizers.
struct ChangePoints : corrections::LayerVisitor {
  void begin(llvm::ArrayRef<size_t>, size_t workers) override {
    EXPECT_EQ(workers, 1u);
  }
  void observe(size_t layer, size_t, corrections::LayerValue what,
               const TensorView &values) override {
    llvm::append_range(seen[{layer, what}], values.floats());
  }
  mlir::FailureOr<corrections::LayerChange> finish(size_t layer) override {
    corrections::LayerChange change;
    if (layer == when)
      change.quantizers = quantizers;
    return change;
  }
  bool changesConstants() const override { return !quantizers.empty(); }
  std::map<std::pair<size_t, corrections::LayerValue>, Floats> seen;
  size_t when = 0;
  std::vector<std::pair<size_t, mlir::Attribute>> quantizers;
};

class ChangePointsTest : public CorrectionsTest {
protected:
  /// Runs a network beside the float one.
  mlir::LogicalResult show(mlir::ModuleOp target, bool replaceable,
                           ChangePoints &visitor) {
    auto found = corrections::Layers::find(target, KernelOps::forModule(target),
                                           "main", "test", false);
    EXPECT_TRUE(mlir::succeeded(found));
    std::vector<corrections::Layer *> layers;
    for (corrections::Layer &layer : found->layers)
      layers.push_back(&layer);
    mlir::IRMapping floatMapping, mapping;
    auto floating = found->cloneFloat(floatMapping);
    auto quantized = found->clone(mapping);
    auto compileAs = [&](mlir::ModuleOp network, const mlir::IRMapping &copies,
                         bool simulate) {
      llvm::SmallVector<corrections::ChannelValue> values;
      llvm::SmallVector<mlir::OpOperand *> inputs;
      for (corrections::Layer *layer : layers) {
        mlir::Operation *copy = copies.lookup(layer->op.getOperation());
        values.push_back({copy->getResult(0), layer->op.resultAxis()});
        inputs.push_back(
            &copy->getOpOperand(layer->op.getInput().getOperandNumber()));
      }
      auto options = corrections::compileLayerwise(
          network.lookupSymbol<mlir::func::FuncOp>("main"), values, inputs);
      options.simulateQuantization = simulate;
      if (replaceable && simulate)
        network.walk([&](tpc::QuantizeOp point) {
          options.replaceablePoints.push_back(point);
        });
      channels = values;
      return Executor::compile(network, options);
    };
    auto exact = compileAs(*floating, floatMapping, false);
    auto executor = compileAs(*quantized, mapping, true);
    EXPECT_TRUE(mlir::succeeded(exact) && mlir::succeeded(executor))
        << llvm::join(diagnostics, "\n");
    SampleOptions sampleOptions;
    sampleOptions.files = {file};
    auto samples = llvm::cantFail(SampleSource::open(
        sampleOptions, (*executor)->inputs(), (*executor)->unit()));
    corrections::LayerwiseOptions options;
    options.run.threads = 1;
    return corrections::runLayerwise(target->getLoc(), **executor, exact->get(),
                                     channels, *samples, options, visitor);
  }
  /// Numbers of all points and other quantizers for them.
  std::vector<std::pair<size_t, mlir::Attribute>>
  choose(mlir::ModuleOp target) {
    std::vector<std::pair<size_t, mlir::Attribute>> chosen;
    target.walk([&](tpc::QuantizeOp point) {
      size_t number = chosen.size();
      if (point.isActivation())
        chosen.emplace_back(
            number,
            number % 3 == 1
                ? mlir::Attribute()
                : mlir::parseAttribute("#tpc.power_of_two<threshold = [1.0], "
                                       "bits = 4, is_signed = true>",
                                       &context));
      else
        chosen.emplace_back(
            number,
            mlir::parseAttribute("#tpc.symmetric<threshold = [0.5], bits = 4>",
                                 &context));
    });
    return chosen;
  }
};

// All points, of activations and kernels, get other quantizers, or none, behind
// the first layer: what the layers behind it read and make is what they would
// in a module that has these quantizers, and the float network beside it stays
// what it is.
TEST_F(ChangePointsTest, LayersBehindSeeReplacedQuantizers) {
  auto plain = parse(), changed = parse();
  ChangePoints before, replaced, expected;
  replaced.quantizers = choose(*plain);
  ASSERT_TRUE(mlir::succeeded(show(*plain, false, before)));
  ASSERT_TRUE(mlir::succeeded(show(*plain, true, replaced)))
      << llvm::join(diagnostics, "\n");
  size_t next = 0;
  changed->walk([&](tpc::QuantizeOp point) {
    point.removeQuantizer();
    if (mlir::Attribute quantizer = replaced.quantizers[next++].second)
      point.setQuantizer(mlir::cast<tpc::QuantizerAttrInterface>(quantizer));
  });
  ASSERT_TRUE(mlir::succeeded(show(*changed, false, expected)));
  using corrections::LayerValue;
  for (size_t layer = 0; layer != kLayers.size(); ++layer) {
    auto same = [&](LayerValue what, ChangePoints &one, ChangePoints &other) {
      Floats values = one.seen[{layer, what}];
      EXPECT_FALSE(values.empty()) << kLayers[layer];
      return values == other.seen[{layer, what}];
    };
    for (LayerValue what : {LayerValue::FloatInput, LayerValue::FloatOutput})
      EXPECT_TRUE(same(what, replaced, before)) << kLayers[layer];
    // The first layer was seen before the change.
    for (LayerValue what : {LayerValue::Input, LayerValue::Output}) {
      EXPECT_TRUE(same(what, replaced, layer == 0 ? before : expected))
          << kLayers[layer];
      EXPECT_FALSE(same(what, before, expected)) << kLayers[layer];
    }
  }
}

TEST_F(ChangePointsTest, PointsThatWereRunAreNotChanged) {
  auto target = parse();
  ChangePoints visitor;
  visitor.quantizers = choose(*target);
  visitor.when = 1;
  EXPECT_TRUE(mlir::failed(show(*target, true, visitor)));
  ASSERT_EQ(diagnostics.size(), 1u);
  EXPECT_NE(diagnostics[0].find("cannot change the quantizer of a point that "
                                "was run before it"),
            std::string::npos)
      << diagnostics[0];
}

//===----------------------------------------------------------------------===//
// Rounding
//===----------------------------------------------------------------------===//

/// Compares what layers make with the products that their layouts say they are.
struct CompareProducts : corrections::LayerVisitor {
  void begin(llvm::ArrayRef<size_t>, size_t) override {}
  void observe(size_t layer, size_t, corrections::LayerValue what,
               const TensorView &values) override {
    llvm::ArrayRef<int64_t> shape = values.shape();
    if (what == corrections::LayerValue::Input) {
      inputs[layer].assign(values.floats().begin(), values.floats().end());
      inputShapes[layer].assign(shape.begin(), shape.end());
      return compare(layer);
    }
    outputs[layer].assign(values.floats().begin(), values.floats().end());
    outputShapes[layer].assign(shape.begin(), shape.end());
    compare(layer);
  }
  void compare(size_t layer) {
    if (inputs[layer].empty() || outputs[layer].empty())
      return;
    const corrections::ProductLayout &layout = layouts[layer];
    Floats row(layout.rowSize()), seen(layout.channels());
    int64_t rows = layout.rowsOf(outputShapes[layer]);
    for (int64_t number = 0; number != rows; ++number) {
      layout.gatherInput(inputs[layer].data(), inputShapes[layer], number,
                         row.data());
      layout.gatherResult(outputs[layer].data(), outputShapes[layer], number,
                          seen.data());
      for (int64_t channel = 0; channel != layout.channels(); ++channel) {
        double sum = double(biases[layer][channel]);
        int64_t group = channel / layout.outputs();
        for (int64_t i = 0; i != layout.columns(); ++i)
          sum += double(row[group * layout.columns() + i]) *
                 double(weights[layer][channel * layout.columns() + i]);
        ASSERT_NEAR(seen[channel], sum, 1e-5) << layer << " row " << number;
      }
      ++compared;
    }
    inputs[layer].clear();
    outputs[layer].clear();
  }
  mlir::FailureOr<corrections::LayerChange> finish(size_t) override {
    return corrections::LayerChange();
  }
  std::vector<corrections::ProductLayout> layouts;
  std::vector<Floats> weights, biases;
  std::map<size_t, Floats> inputs, outputs;
  std::map<size_t, std::vector<int64_t>> inputShapes, outputShapes;
  int64_t compared = 0;
};

class ProductLayoutTest : public CorrectionsTest {
protected:
  /// Compares all layers on all samples; how many products these are.
  void compareProducts(const std::string &network, int64_t &compared);
};

void ProductLayoutTest::compareProducts(const std::string &network,
                                        int64_t &compared) {
  auto target = parse(network);
  auto found = corrections::Layers::find(*target, KernelOps::forModule(*target),
                                         "main", "test", false);
  ASSERT_TRUE(mlir::succeeded(found));
  mlir::IRMapping mapping;
  auto quantized = found->clone(mapping);
  CompareProducts visitor;
  llvm::SmallVector<corrections::ChannelValue> values;
  llvm::SmallVector<mlir::OpOperand *> inputs;
  for (corrections::Layer &layer : found->layers) {
    auto layout = corrections::ProductLayout::create(layer.op);
    ASSERT_TRUE(layout);
    visitor.weights.push_back(
        layout->fromKernel(corrections::quantizedKernel(layer)));
    EXPECT_EQ(layout->toKernel(visitor.weights.back()),
              corrections::quantizedKernel(layer));
    visitor.layouts.push_back(*layout);
    visitor.biases.push_back(layer.bias);
    mlir::Operation *copy = mapping.lookup(layer.op.getOperation());
    values.push_back(
        {mapping.lookup(layer.op.getResult()), layer.op.resultAxis()});
    inputs.push_back(
        &copy->getOpOperand(layer.op.getInput().getOperandNumber()));
  }
  auto executor = Executor::compile(
      *quantized,
      corrections::compileLayerwise(
          quantized->lookupSymbol<mlir::func::FuncOp>("main"), values, inputs));
  ASSERT_TRUE(mlir::succeeded(executor)) << llvm::join(diagnostics, "\n");
  SampleOptions sampleOptions;
  sampleOptions.files = {file};
  auto samples = llvm::cantFail(SampleSource::open(
      sampleOptions, (*executor)->inputs(), (*executor)->unit()));
  corrections::LayerwiseOptions options;
  options.run.threads = 1;
  ASSERT_TRUE(mlir::succeeded(
      corrections::runLayerwise(target->getLoc(), **executor, nullptr, values,
                                *samples, options, visitor)));
  compared = visitor.compared;
}

TEST_F(ProductLayoutTest, LayersAreTheProductsThatTheirLayoutsSay) {
  int64_t compared = 0;
  compareProducts(network(), compared);
  // Four layers of 8x8, three of 4x4 and a product of one row.
  EXPECT_EQ(compared, kSamples * (4 * 64 + 3 * 16 + 1));
}

TEST_F(ProductLayoutTest, ChannelsFirstAndLinalgAreProductsToo) {
  int64_t compared = 0;
  compareProducts(channelsFirstNetwork(), compared);
  // 6x6, 4x4, 4x4 and 1x1 positions, and products of one and of three rows.
  EXPECT_EQ(compared, kSamples * (36 + 16 + 16 + 1 + 1 + 3));
}

class RoundWeightsTest : public CorrectionsTest {
protected:
  /// The network with other quantizers of its kernels: `parameters` takes their
  /// number for each.
  mlir::OwningOpRef<mlir::ModuleOp>
  parseWith(llvm::function_ref<std::string(size_t)> parameters,
            const std::string &text = network()) {
    auto target = parse(text);
    target->walk([&](tpc::QuantizeOp point) {
      if (point.isActivation())
        return;
      size_t channels = point.getParametersAttr().getNumChannels();
      auto quantizer = mlir::cast<tpc::QuantizerAttrInterface>(
          mlir::parseAttribute(parameters(channels), &context));
      if (quantizer.getNumChannels() == 1)
        point.removeAxesAttr();
      point.setQuantizer(quantizer, {});
    });
    return target;
  }

  void round(mlir::ModuleOp target, unsigned threads = 0, unsigned batch = 0,
             unsigned maxBits = 7) {
    auto options = onSamples<RoundWeightsPassOptions>();
    options.maxBits = maxBits;
    options.threads = threads;
    options.batchSize = batch;
    run(target, createRoundWeightsPass(options));
  }

  /// The layer `main` has 8 bits.
  mlir::OwningOpRef<mlir::ModuleOp> parseWithFineMain() {
    auto mixed = parse();
    mixed->walk([&](tpc::QuantizeOp point) {
      if (point.getPointName() == "main" && point.isWeight())
        point.setQuantizer(
            mlir::cast<tpc::QuantizerAttrInterface>(mlir::parseAttribute(
                "#tpc.symmetric<threshold = [0.9, 0.9, 0.9, 0.9], bits = 8>",
                &context)),
            {});
    });
    return mixed;
  }

  struct Collect : TensorObserver {
    void observe(const TensorView &values) override {
      llvm::append_range(seen, values.floats());
    }
    Floats seen;
  };
  /// All values of some layers.
  std::vector<Floats> collect(mlir::ModuleOp target, bool simulate,
                              llvm::ArrayRef<std::string> layers = kLayers) {
    CompileOptions options;
    options.simulateQuantization = simulate;
    llvm::append_range(options.observed, layers);
    auto executor = Executor::compile(target, options);
    EXPECT_TRUE(mlir::succeeded(executor)) << llvm::join(diagnostics, "\n");
    SampleOptions sampleOptions;
    sampleOptions.files = {file};
    auto samples = llvm::cantFail(SampleSource::open(
        sampleOptions, (*executor)->inputs(), (*executor)->unit()));
    std::vector<Collect> observers(layers.size());
    RunOptions oneThread;
    oneThread.threads = 1;
    llvm::cantFail(forEachUnit(
        **executor, *samples, oneThread,
        [&](size_t, Worker &worker) {
          for (size_t i = 0; i != observers.size(); ++i)
            worker.setObserver(i, &observers[i]);
        },
        [](const Unit &) { return llvm::Error::success(); }));
    std::vector<Floats> result;
    for (Collect &observer : observers)
      result.push_back(std::move(observer.seen));
    return result;
  }

  static double squaredError(const Floats &left, const Floats &right) {
    EXPECT_EQ(left.size(), right.size());
    double sum = 0;
    for (size_t i = 0; i != left.size(); ++i)
      sum += (double(left[i]) - right[i]) * (double(left[i]) - right[i]);
    return sum;
  }

  /// A list of `count` numbers.
  static std::string list(size_t count,
                          llvm::function_ref<std::string(size_t)> number) {
    std::string text = "[";
    for (size_t i = 0; i != count; ++i)
      text += (i ? ", " : "") + number(i);
    return text + "]";
  }
  /// Quantizers of all kinds.
  std::map<std::string, std::function<std::string(size_t)>> kinds = {
      {"symmetric",
       [](size_t channels) {
         return "#tpc.symmetric<threshold = " +
                list(channels,
                     [](size_t i) { return std::to_string(0.7 + 0.05 * i); }) +
                ", bits = 3>";
       }},
      {"symmetric per tensor",
       [](size_t) -> std::string {
         return "#tpc.symmetric<threshold = [0.9], bits = 3>";
       }},
      {"power of two",
       [](size_t channels) {
         return "#tpc.power_of_two<threshold = " +
                list(channels, [](size_t) -> std::string { return "1.0"; }) +
                ", bits = 3>";
       }},
      {"uniform",
       [](size_t channels) {
         return "#tpc.uniform<scale = " +
                list(channels,
                     [](size_t i) { return std::to_string(0.2 + 0.01 * i); }) +
                ", zero_point = " +
                list(channels,
                     [](size_t i) { return std::to_string(3 + i % 2); }) +
                ", bits = 3>";
       }},
      {"table",
       [](size_t channels) {
         return "#tpc.lookup_table<method = lut_sym_quantizer, threshold = " +
                list(channels,
                     [](size_t i) { return std::to_string(0.7 + 0.05 * i); }) +
                ", table = [-128, -70, -20, 0, 15, 40, 90, 127], bits = 3>";
       }},
      {"table of powers of two",
       [](size_t) -> std::string {
         return "#tpc.lookup_table<method = lut_pot_quantizer, threshold = "
                "[1.0], table = [-100, -30, 0, 25, 90], bits = 3>";
       }},
  };
};

// Every layer, of every kind, is nearer to the float one than with the nearest
// levels and the best biases, under every kind of quantizer. Layers behind
// others may gain less than these: what they have is the sum over all.
TEST_F(RoundWeightsTest, OutputsAreNearerThanWithTheNearestLevels) {
  std::vector<Floats> expected = collect(*parse(), false);
  for (const auto &[kind, parameters] : kinds) {
    SCOPED_TRACE(kind);
    auto nearest = parseWith(parameters), rounded = parseWith(parameters);
    auto bias = onSamples<CorrectBiasPassOptions>();
    bias.shrink = false;
    run(*nearest, createCorrectBiasPass(bias));
    round(*rounded);
    std::vector<Floats> before = collect(*nearest, true),
                        after = collect(*rounded, true);
    for (size_t layer = 0; layer != kLayers.size(); ++layer)
      EXPECT_LT(squaredError(after[layer], expected[layer]),
                squaredError(before[layer], expected[layer]))
          << kLayers[layer];
  }
}

/// 8x8x3 -> coarse (3 bits), and -> before -> after (7 bits); `join` of the
/// two.
std::string twoWays(const std::string &join) {
  const std::string big = "tensor<1x8x8x4xf32>";
  std::string text =
      "func.func @main(%x: tensor<1x8x8x3xf32> loc(\"x\")) -> " + big + " {\n";
  text +=
      kZero + constant("b4", {4}, 44) + point("in", "x", "tensor<1x8x8x3xf32>");
  auto conv = [&](const std::string &name, const std::string &input,
                  int64_t channels, const std::string &bits, unsigned seed) {
    std::string kernel = weight(name, {4, 1, 1, channels}, {0}, seed);
    kernel.replace(kernel.find("bits = 3"), 8, "bits = " + bits);
    text += kernel + "%" + name + " = tosa.conv2d %" + input + ", %w_" + name +
            ", %b4, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, "
            "pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : "
            "(tensor<1x8x8x" +
            std::to_string(channels) + "xf32>, tensor<4x1x1x" +
            std::to_string(channels) +
            "xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) -> " + big +
            " loc(\"" + name + "\")\n";
  };
  conv("coarse", "in", 3, "3", 1);
  conv("before", "in", 3, "7", 2);
  conv("after", "before", 4, "7", 3);
  return text + "%joined = " + join + " %after, %coarse : (" + big + ", " +
         big + ") -> " + big + "\nreturn %joined : " + big + "\n}\n";
}

// A layer that is added to another one makes up for what that one misses. What
// is subtracted is not looked at, which shows what the same layers leave
// otherwise.
TEST_F(RoundWeightsTest, SumsAreNearerThanTheirSummandsAlone) {
  const std::vector<std::string> summands = {"after", "coarse"};
  auto errorOfSum = [&](const std::string &text) {
    auto rounded = parse(text);
    std::vector<Floats> expected = collect(*rounded, false, summands);
    round(*rounded);
    std::vector<Floats> found = collect(*rounded, true, summands);
    auto sumOf = [](const std::vector<Floats> &two) {
      Floats sum = two[0];
      for (auto [left, right] : llvm::zip_equal(sum, two[1]))
        left += right;
      return sum;
    };
    return squaredError(sumOf(found), sumOf(expected));
  };
  EXPECT_LT(errorOfSum(twoWays("tosa.add")),
            0.8 * errorOfSum(twoWays("tosa.sub")));
}

// In whatever order the axes are, in linalg and between transposes.
TEST_F(RoundWeightsTest, ChannelsFirstAndLinalgAreNearerToo) {
  const std::string network = channelsFirstNetwork();
  std::vector<Floats> expected =
      collect(*parse(network), false, kChannelsFirst);
  for (const auto &[kind, parameters] : kinds) {
    SCOPED_TRACE(kind);
    auto nearest = parseWith(parameters, network),
         rounded = parseWith(parameters, network);
    auto bias = onSamples<CorrectBiasPassOptions>();
    bias.shrink = false;
    run(*nearest, createCorrectBiasPass(bias));
    round(*rounded);
    auto found = corrections::Layers::find(
        *rounded, KernelOps::forModule(*rounded), "main", "test", false);
    ASSERT_TRUE(mlir::succeeded(found));
    EXPECT_EQ(found->layers.size(), kChannelsFirst.size());
    for (corrections::Layer &layer : found->layers)
      EXPECT_TRUE(layer.isCorrected(tpc::kRoundedWeights));
    std::vector<Floats> before = collect(*nearest, true, kChannelsFirst),
                        after = collect(*rounded, true, kChannelsFirst);
    for (size_t layer = 0; layer != kChannelsFirst.size(); ++layer)
      EXPECT_LT(squaredError(after[layer], expected[layer]),
                squaredError(before[layer], expected[layer]))
          << kChannelsFirst[layer];
  }
}

TEST_F(RoundWeightsTest, WideLayersAreNearerToo) {
  const std::string text = wideNetwork("sin");
  auto nearest = parse(text), rounded = parse(text);
  auto bias = onSamples<CorrectBiasPassOptions>();
  bias.shrink = false;
  run(*nearest, createCorrectBiasPass(bias));
  round(*rounded);
  std::vector<Floats> expected = collect(*parse(text), false, {"product"});
  EXPECT_LT(
      squaredError(collect(*rounded, true, {"product"})[0], expected[0]),
      0.1 * squaredError(collect(*nearest, true, {"product"})[0], expected[0]));
}

TEST_F(RoundWeightsTest, WideLayersRefuseWhatHasNoSquares) {
  auto target = parse(wideNetwork("abs"));
  auto options = onSamples<RoundWeightsPassOptions>();
  options.inputScale = "1e18";
  mlir::PassManager manager(&context);
  manager.addPass(createRoundWeightsPass(options));
  EXPECT_TRUE(mlir::failed(manager.run(*target)));
  ASSERT_EQ(diagnostics.size(), 1u);
  EXPECT_NE(diagnostics[0].find("saw values whose squares are beyond the range "
                                "of f32; check the input scale and the "
                                "weights"),
            std::string::npos)
      << diagnostics[0];
}

// What stands in the IR is what runs: the kernel has levels of its point, which
// quantizing once more does not move, and the float network is still there.
TEST_F(RoundWeightsTest, KernelsAreLevelsAndTheFloatOnesAreKept) {
  std::vector<Floats> kernels;
  auto floating = parse();
  auto layers = corrections::Layers::find(
      *floating, KernelOps::forModule(*floating), "main", "test", false);
  for (corrections::Layer &layer : layers->layers)
    kernels.push_back(layer.op.getKernel().values().vec());
  std::vector<Floats> expected = collect(*floating, false);
  for (const auto &[kind, parameters] : kinds) {
    SCOPED_TRACE(kind);
    auto rounded = parseWith(parameters);
    round(*rounded);
    EXPECT_TRUE(mlir::succeeded(rounded->verify()));
    auto found = corrections::Layers::find(
        *rounded, KernelOps::forModule(*rounded), "main", "test", false);
    ASSERT_TRUE(mlir::succeeded(found));
    bool moved = false;
    for (auto [number, layer] : llvm::enumerate(found->layers)) {
      auto kernel = layer.op.getKernel();
      EXPECT_EQ(corrections::quantizedKernel(layer), kernel.values().vec());
      moved |= kernel.values().vec() != kernels[number];
      auto record = layer.point.getCorrectionsAttr();
      ASSERT_TRUE(record && record.isApplied(tpc::kRoundedWeights));
      EXPECT_EQ(layer.point.getSelectionAttr().getErrorMethod(),
                tpc::ErrorMethod::LeastSquares);
    }
    EXPECT_TRUE(moved);
    // A second time nothing happens.
    std::string once = print(*rounded);
    round(*rounded);
    EXPECT_EQ(print(*rounded), once);
    mlir::IRMapping mapping;
    auto again = found->cloneFloat(mapping);
    for (auto [number, layer] : llvm::enumerate(found->layers)) {
      auto copy = KernelOps::forModule(*again).get(
          mapping.lookup(layer.op.getOperation()));
      EXPECT_EQ(copy->getKernel().values().vec(), kernels[number]);
    }
    std::vector<Floats> restored = collect(*again, false);
    // Biases are taken back in double.
    for (size_t layer = 0; layer != kLayers.size(); ++layer)
      EXPECT_LT(squaredError(restored[layer], expected[layer]), 1e-6);
  }
}

// Neither threads nor batches nor the order of the samples are seen.
TEST_F(RoundWeightsTest, WorkersAndBatchesChangeNothing) {
  auto withoutNumbers = [](const std::string &text) {
    return std::regex_replace(text, std::regex("kernel_[0-9]+"), "kernel");
  };
  auto reference = parse();
  round(*reference, 1, 1);
  for (auto [threads, batch] :
       {std::pair(3u, 1u), std::pair(2u, 7u), std::pair(1u, 37u)}) {
    auto other = parse();
    round(*other, threads, batch);
    EXPECT_EQ(withoutNumbers(print(*other)), withoutNumbers(print(*reference)))
        << threads << " " << batch;
  }
}

// Layers of more bits get the biases that make up for what they miss, before
// the layers behind them are rounded; nobody corrects them again.
TEST_F(RoundWeightsTest, FinerLayersGetTheirMeans) {
  auto mixed = parseWithFineMain();
  round(*mixed, 0, 0, /*maxBits=*/4);
  auto found = corrections::Layers::find(*mixed, KernelOps::forModule(*mixed),
                                         "main", "test", false);
  for (corrections::Layer &layer : found->layers) {
    bool isMain = layer.point.getPointName() == "main";
    EXPECT_EQ(layer.isCorrected(tpc::kQuantizedNetworkCorrection), isMain);
    EXPECT_EQ(layer.isCorrected(tpc::kRoundedWeights), !isMain);
  }
  std::string once = print(*mixed);
  run(*mixed, createCorrectBiasPass(onSamples<CorrectBiasPassOptions>()));
  run(*mixed, createCorrectActivationBiasPass());
  EXPECT_EQ(print(*mixed), once);
}

// A fine kernel that reads coarse activations, of 5 bits here, is rounded as
// well: what the layers before it miss is less behind it.
TEST_F(RoundWeightsTest, FineLayersMakeUpForCoarseInputs) {
  auto nearest = parseWithFineMain(), rounded = parseWithFineMain();
  round(*nearest, 0, 0, /*maxBits=*/4);
  round(*rounded, 0, 0, /*maxBits=*/5);
  auto found = corrections::Layers::find(
      *rounded, KernelOps::forModule(*rounded), "main", "test", false);
  for (corrections::Layer &layer : found->layers)
    EXPECT_TRUE(layer.isCorrected(tpc::kRoundedWeights));
  std::vector<Floats> expected = collect(*parse(), false);
  size_t main = llvm::find(kLayers, "main") - kLayers.begin();
  EXPECT_LT(squaredError(collect(*rounded, true)[main], expected[main]),
            0.9 * squaredError(collect(*nearest, true)[main], expected[main]));
}

} // namespace
