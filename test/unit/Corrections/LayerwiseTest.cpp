// SPDX-License-Identifier: Apache-2.0
//
// Runs layer by layer: what is changed after a layer reaches the layers
// after it, and nothing else does.
#include "lib/Corrections/Layerwise.h"
#include "Fixture.h"
#include "lib/Corrections/Layers.h"
#include "mlir/AsmParser/AsmParser.h"

#include <map>
#include <mutex>

using namespace mct;
using namespace mct::testing;
using quantization::Affine;

namespace {

/// Remembers the means of all channels, and halves what layers make.
struct Halve : corrections::LayerVisitor {
  explicit Halve(llvm::ArrayRef<corrections::ChannelValue> layers) {
    for (const corrections::ChannelValue &layer : layers)
      recorded.emplace_back(layer, /*samples=*/0, /*moments=*/false);
  }
  void begin(llvm::ArrayRef<size_t> layers, size_t workers) override {
    for (size_t layer : layers) {
      order.push_back(layer);
      of[layer].assign(workers, recorded[layer]);
    }
  }
  void observe(size_t layer, size_t worker, corrections::LayerValue /*what*/,
               const TensorView &output) override {
    of[layer][worker].add(output);
  }
  mlir::FailureOr<corrections::LayerChange> finish(size_t layer) override {
    for (const corrections::ChannelSummary &other : of[layer])
      recorded[layer].merge(other);
    corrections::LayerChange change;
    change.output.assign(recorded[layer].numChannels(), {0.5, 0.25});
    return change;
  }
  std::vector<std::vector<double>> means() const {
    std::vector<std::vector<double>> result;
    for (const corrections::ChannelSummary &summary : recorded) {
      result.emplace_back();
      for (int64_t i = 0; i != summary.numChannels(); ++i)
        result.back().push_back(summary.mean(i));
    }
    return result;
  }
  std::vector<corrections::ChannelSummary> recorded;
  std::map<size_t, std::vector<corrections::ChannelSummary>> of;
  std::vector<size_t> order;
};

class LayerwiseTest : public CorrectionsTest {
protected:
  /// Shows all layers of the network whose points quantize to `visitor`.
  void show(int64_t budget,
            llvm::function_ref<std::unique_ptr<corrections::LayerVisitor>(
                llvm::ArrayRef<corrections::ChannelValue>)>
                make,
            bool keepsResults = false) {
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
    auto compiled = Executor::compile(
        *quantized,
        corrections::compileLayerwise(
            quantized->lookupSymbol<mlir::func::FuncOp>("main"), values,
            /*inputs=*/{}, /*summands=*/{}, keepsResults));
    ASSERT_TRUE(mlir::succeeded(compiled)) << llvm::join(diagnostics, "\n");
    executor = std::move(*compiled);
    SampleOptions sampleOptions;
    sampleOptions.files = {file};
    samples = llvm::cantFail(SampleSource::open(
        sampleOptions, executor->inputs(), executor->unit()));
    corrections::LayerwiseOptions options;
    options.memoryBudget = budget;
    visitor = make(values);
    EXPECT_TRUE(mlir::succeeded(
        corrections::runLayerwise(target->getLoc(), *executor, nullptr, values,
                                  *samples, options, *visitor)))
        << llvm::join(diagnostics, "\n");
  }
  std::unique_ptr<corrections::LayerVisitor> visitor;
  std::unique_ptr<Executor> executor;
  std::unique_ptr<SampleSource> samples;
};

/// Returns whether values are those of another network, but for the roundings
/// of sums: oneDNN may add in another order where a kernel may change. Values
/// near the middle of two codes may have the other one: a share of `flipped`.
bool areAlike(llvm::ArrayRef<float> values, llvm::ArrayRef<float> expected,
              double flipped = 0) {
  if (values.size() != expected.size())
    return false;
  size_t different = 0;
  for (auto [value, other] : llvm::zip(values, expected))
    different += !(std::abs(value - other) <= 1e-5f * (1 + std::abs(other)));
  return double(different) <= flipped * double(values.size());
}

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
    llvm::append_range(recorded[{layer, what}], values.floats());
  }
  mlir::FailureOr<corrections::LayerChange> finish(size_t layer) override {
    corrections::LayerChange change;
    change.constants.emplace_back(layer, kernels[layer]);
    return change;
  }
  bool changesConstants() const override { return true; }
  Tensors recorded;
  std::vector<Floats> kernels;
};

// With its float kernel in every layer, and activations that nothing quantizes,
// the network is the float one: each layer reads what the float layer reads,
// because those before it got their kernels back in time.
TEST_F(CorrectionsTest, LaterLayersSeeReplacedKernels) {
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
    const Floats &input = restore.recorded[{layer, LayerValue::Input}];
    EXPECT_EQ(input.size() % kSamples, 0u);
    EXPECT_FALSE(input.empty());
    EXPECT_TRUE(
        areAlike(input, restore.recorded[{layer, LayerValue::FloatInput}]))
        << kLayers[layer];
    // Its own result was seen with its quantized kernel.
    EXPECT_FALSE(areAlike(restore.recorded[{layer, LayerValue::Output}],
                          restore.recorded[{layer, LayerValue::FloatOutput}]))
        << kLayers[layer];
  }
}

// Results are the same whether all, some or none of the values between layers
// are kept in memory.
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

// The later layers see what a layer was changed to: a whole run of a network
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
    for (int64_t i = 0; i != halve.recorded[layer].numChannels(); ++i)
      // The mean of the layer itself was seen before its change.
      EXPECT_NEAR(changed[layer].channels()[i].mean(),
                  0.5 * halve.recorded[layer].mean(i) + 0.25, 1e-4)
          << kLayers[layer] << " channel " << i;
}

using Results = std::map<int64_t, std::vector<Floats>>;

std::vector<Floats> copyResults(const Executor &executor, int64_t valid,
                                llvm::ArrayRef<void *> results) {
  std::vector<Floats> copies;
  for (auto [spec, values] : llvm::zip(executor.outputs(), results)) {
    auto *begin = static_cast<const float *>(values);
    copies.emplace_back(begin, begin + spec.type.getNumElements() /
                                           executor.unit() * valid);
  }
  return copies;
}

/// Halves what layers make, and keeps what the network then makes.
struct HalveToTheEnd : Halve {
  HalveToTheEnd(llvm::ArrayRef<corrections::ChannelValue> layers,
                const std::unique_ptr<Executor> &executor)
      : Halve(layers), executor(executor) {}
  bool observesResults() const override { return true; }
  llvm::Error observeResults(size_t /*worker*/, int64_t unit, int64_t valid,
                             llvm::ArrayRef<void *> made) override {
    std::lock_guard<std::mutex> lock(mutex);
    EXPECT_TRUE(
        results.try_emplace(unit, copyResults(*executor, valid, made)).second);
    return llvm::Error::success();
  }
  const std::unique_ptr<Executor> &executor;
  std::mutex mutex;
  Results results;
};

// The results after the last layer, some of which are layers themselves, are
// those of a whole run in which all layers are changed.
TEST_F(LayerwiseTest, ResultsAreThoseOfTheChangedNetwork) {
  show(
      1 << 20,
      [&](auto values) {
        return std::make_unique<HalveToTheEnd>(values, executor);
      },
      /*keepsResults=*/true);
  Results expected;
  std::vector<Affine> half(64, {0.5, 0.25});
  RunOptions oneThread;
  oneThread.threads = 1;
  llvm::cantFail(forEachUnit(
      *executor, *samples, oneThread,
      [&](size_t, Worker &worker) {
        for (auto [layer, spec] : llvm::enumerate(executor->observed()))
          worker.setEditor(layer, corrections::changeChannels(
                                      llvm::ArrayRef(half).take_front(
                                          spec.type.getShape().back()),
                                      spec.type.getRank() - 1));
      },
      [&](const Unit &unit) {
        expected[unit.index] =
            copyResults(*executor, unit.validSamples, unit.outputs);
        return llvm::Error::success();
      }));
  EXPECT_EQ(expected.begin()->second.size(), 3u);
  EXPECT_EQ(static_cast<HalveToTheEnd &>(*visitor).results, expected);
}

/// Remembers what layers read and make; after the first of the layers in
/// `when` the points get other quantizers.
struct ChangePoints : corrections::LayerVisitor {
  void begin(llvm::ArrayRef<size_t>, size_t workers) override {
    EXPECT_EQ(workers, 1u);
  }
  void observe(size_t layer, size_t, corrections::LayerValue what,
               const TensorView &values) override {
    llvm::append_range(recorded[{layer, what}], values.floats());
  }
  mlir::FailureOr<corrections::LayerChange> finish(size_t layer) override {
    corrections::LayerChange change;
    if (layer == when)
      change.quantizers = quantizers;
    return change;
  }
  bool changesConstants() const override { return !quantizers.empty(); }
  std::map<std::pair<size_t, corrections::LayerValue>, Floats> recorded;
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

// All points, of activations and kernels, get other quantizers, or none, after
// the first layer: what the layers after it read and make is what they would
// in a module that has these quantizers, and the float network beside it stays
// what it is.
TEST_F(ChangePointsTest, LaterLayersSeeReplacedQuantizers) {
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
      Floats values = one.recorded[{layer, what}];
      EXPECT_FALSE(values.empty()) << kLayers[layer];
      // The executors of the float network are the same.
      bool isFloat =
          what == LayerValue::FloatInput || what == LayerValue::FloatOutput;
      return isFloat ? values == other.recorded[{layer, what}]
                     : areAlike(values, other.recorded[{layer, what}],
                                /*flipped=*/0.02);
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

} // namespace
