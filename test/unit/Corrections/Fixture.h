// SPDX-License-Identifier: Apache-2.0
//
// Networks for corrections, and a fixture that runs passes on one of them: it
// has every kind of layer, branches that join, borders and ops between layers.
#ifndef MCT_TEST_UNIT_CORRECTIONS_FIXTURE_H
#define MCT_TEST_UNIT_CORRECTIONS_FIXTURE_H

#include "lib/Corrections/ChannelRun.h"
#include "mct/Corrections/Passes.h"
#include "mct/Support/Npy.h"
#include "mlir/Pass/PassManager.h"
#include "test/unit/Execution/Fixture.h"
#include "llvm/Support/FileSystem.h"
#include <regex>

namespace mct::testing {

using execution::CompileOptions;
using execution::constant;
using execution::ExecutionTest;
using execution::Executor;
using execution::Floats;
using execution::forEachUnit;
using execution::kZero;
using execution::randomFloats;
using execution::RunOptions;
using execution::SampleOptions;
using execution::SampleSource;
using execution::TensorObserver;
using execution::tensorType;
using execution::TensorView;
using execution::Unit;
using execution::Worker;
using quantization::ChannelStatistics;

constexpr int64_t kSamples = 37;
/// Layers of `network()`, in its order.
inline const std::vector<std::string> kLayers = {
    "first",     "depthwise", "main",       "shortcut",
    "upsampled", "product",   "normalized", "last"};
/// Layers of `channelsFirstNetwork()`.
inline const std::vector<std::string> kChannelsFirst = {
    "nchw", "depthwise", "between", "hwcf", "matmul", "batch"};

/// A kernel `%w_NAME` of 3 bits, with thresholds along the axes.
std::string weight(const std::string &name, llvm::ArrayRef<int64_t> shape,
                   llvm::ArrayRef<int64_t> axes, unsigned seed);
/// An activation of 5 bits.
std::string point(const std::string &result, const std::string &input,
                  const std::string &type);

/// 8x8x3 -> first, relu -> depthwise -> main (stride 2) + shortcut -> upsampled
/// -> pool -> product, and two layers that nothing else joins.
std::string network();
/// The same samples, transposed to 3x8x8 -> linalg NCHW convolution ->
/// depthwise -> TOSA convolution between transposes -> linalg NHWC convolution
/// (strided, dilated) -> two products.
std::string channelsFirstNetwork();
/// A product of so many columns that their covariance exceeds the budget: what
/// `op` makes of multiples of the inputs.
std::string wideNetwork(const std::string &op);

/// Statistics of the channels of what it sees.
struct KeepStatistics : TensorObserver {
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
    auto writer = llvm::cantFail(support::NpyWriter::create(
        file, support::ElementType::F32, {kSamples, 8, 8, 3}));
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
    // The correction is applied, whatever it is worth.
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

  /// Prints a module without the numbers that the context gives to resources of
  /// one name.
  static std::string printed(mlir::ModuleOp target) {
    return std::regex_replace(
        print(target), std::regex("(kernel|bias|histogram[.][a-z_]+)_[0-9]+"),
        "$1");
  }

  /// Returns statistics of the layers of `kLayers` over the samples.
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
    std::vector<KeepStatistics> observers(kLayers.size());
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
    for (KeepStatistics &observer : observers)
      result.push_back(std::move(observer.statistics));
    return result;
  }

  std::string file;
};

} // namespace mct::testing

#endif // MCT_TEST_UNIT_CORRECTIONS_FIXTURE_H
