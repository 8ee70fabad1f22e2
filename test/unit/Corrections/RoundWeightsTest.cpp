// SPDX-License-Identifier: Apache-2.0
//
// Rounding of kernels together, and the products that it takes layers for.
#include "Fixture.h"
#include "lib/Corrections/Layers.h"
#include "lib/Corrections/Layerwise.h"
#include "lib/Corrections/ProductLayout.h"
#include "mct/Support/Progress.h"
#include "mlir/AsmParser/AsmParser.h"

#include <functional>
#include <map>
#include <regex>

using namespace mct;
using namespace mct::testing;

namespace {

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
    Floats row(layout.rowSize()), recorded(layout.channels());
    int64_t rows = layout.getNumRows(outputShapes[layer]);
    for (int64_t number = 0; number != rows; ++number) {
      layout.gatherInput(inputs[layer].data(), inputShapes[layer], number,
                         row.data());
      layout.gatherResult(outputs[layer].data(), outputShapes[layer], number,
                          recorded.data());
      for (int64_t channel = 0; channel != layout.channels(); ++channel) {
        double sum = double(biases[layer][channel]);
        int64_t group = channel / layout.outputs();
        for (int64_t i = 0; i != layout.columns(); ++i)
          sum += double(row[group * layout.columns() + i]) *
                 double(weights[layer][channel * layout.columns() + i]);
        ASSERT_NEAR(recorded[channel], sum, 1e-5) << layer << " row " << number;
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
      llvm::append_range(recorded, values.floats());
    }
    Floats recorded;
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
      result.push_back(std::move(observer.recorded));
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
// levels and the best biases, under every kind of quantizer. Layers after
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

// A layer that is added to another one compensates the error of that one. A
// summand that is subtracted is ignored, which shows the error of the same
// layers without compensation.
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

// The IR has what runs: the kernel has levels of its point, which
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

// If all samples both round and judge, the runs that round and that correct the
// nearest levels also measure the distances of the results, so no run is added.
TEST_F(RoundWeightsTest, FewSamplesAreJudgedByRunsThatAreMadeAnyway) {
  constexpr int64_t kFew = 9;
  auto countRuns = [&](int64_t samples, bool judge) {
    auto options = onSamples<RoundWeightsPassOptions>();
    options.judge = judge;
    Floats values = randomFloats(samples * 8 * 8 * 3, 99);
    auto writer = llvm::cantFail(support::NpyWriter::create(
        file, support::ElementType::F32, {samples, 8, 8, 3}));
    writer->write(values.data(), values.size() * sizeof(float));
    llvm::cantFail(writer->commit());
    support::Progress progress;
    support::ContextScope<support::Progress> scope(&context, progress);
    auto target = parse();
    run(*target, createRoundWeightsPass(options));
    return progress.counts().runs;
  };
  int64_t few = countRuns(kFew, true) - countRuns(kFew, false),
          many = countRuns(kSamples, true) - countRuns(kSamples, false);
  // Six stages with the nearest levels, and the last one of layers that were
  // rounded. Others are rounded twice, and three runs judge them.
  EXPECT_LE(few, 7);
  EXPECT_GT(many, few + 3);
}

// The biases of layers with more bits are corrected before the layers after
// them are rounded, and are not corrected again.
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
// well: what the layers before it miss is less after it.
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
