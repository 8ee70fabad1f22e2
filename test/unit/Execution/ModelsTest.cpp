// SPDX-License-Identifier: Apache-2.0
//
// Real models against recorded results, and against themselves with other
// numbers of workers. They need the shared folder.
#include "Fixture.h"

#include "mct/Execution/Run.h"
#include "mct/IR/Names.h"
#include "mct/Quantization/Histogram.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <algorithm>
#include <cmath>

using namespace mct::execution;
using namespace mct::support;

namespace {

struct Model {
  const char *name, *data;
  double scale;
  int64_t samples;
};

class ModelsTest : public ExecutionTest,
                   public ::testing::WithParamInterface<Model> {
protected:
  void SetUp() override {
    folder = sharedFolder();
    if (folder.empty())
      GTEST_SKIP() << "no shared folder";
  }
  std::unique_ptr<Executor> load(const std::string &name,
                                 const CompileOptions &options = {}) {
    std::string path = folder + "models/" + name + ".mlirbc";
    module = mlir::parseSourceFile<mlir::ModuleOp>(path, &context);
    if (!module)
      return nullptr;
    auto executor = Executor::compile(*module, options);
    return mlir::failed(executor) ? nullptr : std::move(*executor);
  }
  std::unique_ptr<SampleSource> open(const Executor &executor,
                                     const std::string &file, double scale,
                                     int64_t limit) {
    SampleOptions options;
    options.files = {file};
    options.scale = {scale};
    options.limit = limit;
    auto source =
        SampleSource::open(options, executor.inputs(), executor.unit());
    if (!source) {
      ADD_FAILURE() << llvm::toString(source.takeError());
      return nullptr;
    }
    return std::move(*source);
  }
  /// All of output 0, and the histograms of everything observed.
  Floats run(const Executor &executor, const SampleSource &samples,
             const RunOptions &options,
             std::vector<mct::quantization::Histogram> *merged = nullptr) {
    struct Collector : TensorObserver {
      mct::quantization::Histogram histogram;
      mct::quantization::HistogramScratch scratch;
      void observe(const TensorView &values) override {
        histogram.observe(values.floats().data(), values.numElements(),
                          scratch);
      }
    };
    std::vector<std::vector<Collector>> collectors(
        numWorkers(executor, samples, options));
    for (auto &worker : collectors)
      worker = std::vector<Collector>(executor.observed().size());
    int64_t size =
        executor.outputs()[0].type.getNumElements() / executor.unit();
    Floats results(samples.numSamples() * size);
    llvm::Error error = forEachUnit(
        executor, samples, options,
        [&](size_t number, Worker &worker) {
          for (size_t i = 0; i < executor.observed().size(); ++i)
            worker.setObserver(i, &collectors[number][i]);
        },
        [&](const Unit &unit) {
          std::memcpy(&results[unit.firstSample * size], unit.outputs[0],
                      unit.validSamples * size * sizeof(float));
          return llvm::Error::success();
        });
    EXPECT_FALSE(error) << llvm::toString(std::move(error));
    if (merged) {
      *merged =
          std::vector<mct::quantization::Histogram>(executor.observed().size());
      for (auto &worker : collectors)
        for (size_t i = 0; i < worker.size(); ++i)
          (*merged)[i].merge(worker[i].histogram);
    }
    return results;
  }
  std::string folder;
};

TEST_P(ModelsTest, EqualsRecordedOutputs) {
  const Model &model = GetParam();
  auto executor = load(model.name);
  ASSERT_TRUE(executor) << llvm::join(diagnostics, "\n");
  EXPECT_TRUE(diagnostics.empty()) << llvm::join(diagnostics, "\n");
  auto samples =
      open(*executor, folder + model.data, model.scale, model.samples);
  ASSERT_TRUE(samples);
  Floats results = run(*executor, *samples, {});
  auto expected = NpyFile::open(folder + "expected/" + model.name + ".npy");
  ASSERT_TRUE(static_cast<bool>(expected));
  ASSERT_EQ((*expected)->numElements(), static_cast<int64_t>(results.size()));
  Floats values = llvm::cantFail((*expected)->readAll<float>());
  for (size_t i = 0; i < results.size(); ++i) {
    float value = values[i];
    ASSERT_NEAR(results[i], value, 1e-4 + 1e-5 * std::abs(value)) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Float, ModelsTest,
    ::testing::Values(
        Model{"resnet8_cifar10", "cifar10/test_images.npy", 1, 64},
        Model{"mobilenet_vww", "vww/test_images.npy", 1.0 / 255, 64},
        Model{"autoencoder_ad", "ad/synthetic_test_windows.npy", 1, 64},
        Model{"wakeword_ds_cnn", "ww/features.npy", 1, 45},
        Model{"tiny_darknet_imagenet", "imagenet/test_images.npy", 1.0 / 255,
              16}),
    [](const auto &info) { return std::string(info.param.name); });

using IntegerModelTest = ModelsTest;

TEST_F(IntegerModelTest, EqualsReferenceKernelsExactly) {
  auto executor = load("wakeword_ds_cnn_int8_tflite");
  ASSERT_TRUE(executor) << llvm::join(diagnostics, "\n");
  EXPECT_TRUE(executor->inputs()[0].type.getElementType().isInteger(8));
  auto features = NpyFile::open(folder + "ww/features.npy");
  auto expected =
      NpyFile::open(folder + "expected/wakeword_ds_cnn_int8_tflite.npy");
  ASSERT_TRUE(features && expected);
  int64_t unit = executor->unit();
  int64_t inputSize = executor->inputs()[0].type.getNumElements() / unit;
  int64_t outputSize = executor->outputs()[0].type.getNumElements() / unit;
  int64_t samples = (*features)->shape()[0];
  Floats values = llvm::cantFail((*features)->readAll<float>());
  auto reference = llvm::cantFail((*expected)->readAll<int8_t>());
  Worker worker(*executor);
  std::vector<int8_t> input(unit * inputSize), output(unit * outputSize);
  for (int64_t first = 0; first < samples; first += unit) {
    int64_t valid = std::min(unit, samples - first);
    for (int64_t i = 0; i < valid * inputSize; ++i) {
      float value = values[first * inputSize + i];
      // The input quantizer of the model, from the table in its README.
      input[i] = static_cast<int8_t>(std::clamp(
          std::nearbyint(value / 0.0037010426f) - 128, -128.0f, 127.0f));
    }
    llvm::cantFail(worker.run(static_cast<const void *>(input.data()),
                              static_cast<void *>(output.data()), valid));
    EXPECT_EQ(std::memcmp(output.data(), reference.data() + first * outputSize,
                          valid * outputSize),
              0);
  }
}

using DeterminismTest = ModelsTest;

TEST_F(DeterminismTest, WorkersAndBatchesDoNotChangeABit) {
  module = mlir::parseSourceFile<mlir::ModuleOp>(
      folder + "models/resnet8_cifar10.mlirbc", &context);
  ASSERT_TRUE(module);
  auto function = *module->getOps<mlir::func::FuncOp>().begin();
  mct::assignNames(function);
  CompileOptions options;
  function.walk([&](mlir::Operation *op) {
    if (op->getName().getStringRef() == "tosa.clamp")
      options.observed.push_back(mct::getName(op->getResult(0)).str());
  });
  auto executor = Executor::compile(*module, options);
  ASSERT_TRUE(mlir::succeeded(executor));
  ASSERT_EQ((*executor)->observed().size(), 7u);
  // 45 samples: the last unit is not full.
  auto samples = open(**executor, folder + "cifar10/calib_images.npy", 1, 45);
  ASSERT_TRUE(samples);
  std::vector<mct::quantization::Histogram> reference;
  Floats expected = run(**executor, *samples, {1, 1}, &reference);
  EXPECT_EQ(reference[0].count(), 45u * 32 * 32 * 16);
  for (unsigned threads : {1, 2, 3})
    for (int64_t batch : {1, 7, 32}) {
      std::vector<mct::quantization::Histogram> histograms;
      EXPECT_EQ(run(**executor, *samples, {threads, batch}, &histograms),
                expected);
      EXPECT_TRUE(histograms == reference) << threads << " " << batch;
    }
}

} // namespace
