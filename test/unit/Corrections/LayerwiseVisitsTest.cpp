// SPDX-License-Identifier: Apache-2.0
//
// Layer by layer costs one pass over the network, however many layers it has.
#include "lib/Corrections/Layerwise.h"
#include "mct/Support/Npy.h"
#include "test/unit/Execution/Fixture.h"

using namespace mct;
using namespace mct::support;
using namespace mct::execution;

namespace {

constexpr int64_t kFewSamples = 3;

/// Changes every layer a little, and its quantizer not at all.
struct HalveOutputs : corrections::LayerVisitor {
  HalveOutputs(bool runsAgain, bool looks)
      : runsAgain(runsAgain), looks(looks) {}
  bool observes(size_t, corrections::LayerValue) const override {
    return looks;
  }
  void begin(llvm::ArrayRef<size_t>, size_t) override {}
  void observe(size_t, size_t, corrections::LayerValue,
               const TensorView &) override {
    ++numObserved;
  }
  mlir::FailureOr<corrections::LayerChange> finish(size_t) override {
    corrections::LayerChange change;
    change.output.assign(8, {0.5, 0.0});
    return change;
  }
  bool changesConstants() const override { return runsAgain; }
  bool runsAgain, looks;
  size_t numObserved = 0;
};

class LayerwiseVisitsTest : public ExecutionTest {
protected:
  LayerwiseVisitsTest() {
    llvm::SmallString<128> path;
    llvm::sys::fs::createTemporaryFile("layerwise", "npy", path);
    file = path.str().str();
    Floats values = randomFloats(kFewSamples * 8, 5);
    auto writer = llvm::cantFail(
        NpyWriter::create(file, ElementType::F32, {kFewSamples, 8}));
    writer->write(values.data(), values.size() * sizeof(float));
    llvm::cantFail(writer->commit());
  }
  ~LayerwiseVisitsTest() override { llvm::sys::fs::remove(file); }

  /// Visits of a run of so many layers, all of which are changed.
  size_t count(int layers, bool runsAgain, bool looks = true) {
    const std::string type = "tensor<1x8xf32>";
    std::string text = "func.func @main(%x: " + type + ") -> " + type + " {\n",
                last = "x";
    for (int number = 0; number != layers; ++number) {
      std::string own = std::to_string(number);
      text += "%" + own + " = tosa.tanh %" + last + " : (" + type + ") -> " +
              type + "\n";
      last = own;
    }
    module = mlir::parseSourceString<mlir::ModuleOp>(
        text + "return %" + last + " : " + type + "\n}", &context);
    EXPECT_TRUE(module);
    auto function = module->lookupSymbol<mlir::func::FuncOp>("main");
    llvm::SmallVector<corrections::ChannelValue> values;
    for (mlir::Operation &op : function.getBody().front().without_terminator())
      values.push_back({op.getResult(0), 1});
    auto executor = Executor::compile(
        *module, corrections::compileLayerwise(function, values));
    EXPECT_TRUE(mlir::succeeded(executor)) << llvm::join(diagnostics, "\n");
    SampleOptions sampleOptions;
    sampleOptions.files = {file};
    auto samples = llvm::cantFail(SampleSource::open(
        sampleOptions, (*executor)->inputs(), (*executor)->unit()));
    size_t visits = 0;
    corrections::LayerwiseOptions options;
    options.run.threads = 1;
    options.numVisits = &visits;
    HalveOutputs halve(runsAgain, looks);
    EXPECT_TRUE(mlir::succeeded(
        corrections::runLayerwise(module->getLoc(), **executor, nullptr, values,
                                  *samples, options, halve)));
    EXPECT_EQ(halve.numObserved > 0, looks);
    return visits;
  }

  std::string file;
};

TEST_F(LayerwiseVisitsTest, VisitsAreInProportionToTheLayers) {
  constexpr int kLayers = 50;
  for (bool runsAgain : {false, true}) {
    size_t few = count(kLayers, runsAgain),
           more = count(2 * kLayers, runsAgain),
           many = count(4 * kLayers, runsAgain);
    EXPECT_GT(few, size_t(2 * kLayers));
    // The last layer keeps nothing, so that there is a part that does not grow.
    EXPECT_EQ(many - more, 2 * (more - few));
  }
}

TEST_F(LayerwiseVisitsTest, ComputesNothingThatNobodyLooksAt) {
  constexpr int kLayers = 50;
  // A layer that is run twice computes its output the second time.
  size_t recorded = count(kLayers, /*runsAgain=*/true, /*looks=*/true),
         unobserved = count(kLayers, /*runsAgain=*/true, /*looks=*/false);
  EXPECT_LE(unobserved, recorded - size_t(kLayers));
}

} // namespace
