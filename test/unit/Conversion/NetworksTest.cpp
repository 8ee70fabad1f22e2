// SPDX-License-Identifier: Apache-2.0
//
// Integer networks of real models, at every point, against an evaluation of
// their simulation in double, where steps are no powers of two. Most need the
// shared folder.
//
// MCT_NETWORK_SAMPLES: how many samples of each, instead of one to three.
#include "../Execution/Fixture.h"
#include "../Execution/ReferenceEvaluator.h"
#include "TestPaths.h"
#include "mct/Execution/SampleSource.h"
#include "mct/IR/QuantizedValues.h"
#include "mct/Pipelines/Pipelines.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "tpc_dialect/IR/TpcDialect.h"

#include <cstdlib>

using namespace mct::execution;
using namespace mct::testing;

namespace {
/// The simulation holds levels of weights, biases and scales as f32, each off
/// by up to 2^-25 of itself, and the integer network multiplies by numbers of
/// 31 bits: what is that near to the middle of two levels may go either way.
constexpr double kNearTie = 0x1p-22;
/// Largest bias, in steps of the result.
constexpr double kLargestBias = 16;

struct Model {
  const char *name;
  /// True for a file below the shared folder, false below test/data.
  bool isShared;
  const char *file, *data;
  const char *options;
  double scale;
  int64_t samples;
};

class NetworksTest : public ExecutionTest,
                     public ::testing::WithParamInterface<Model> {
protected:
  bool run(const std::string &pipeline) {
    mlir::PassManager passes(&context, mlir::ModuleOp::getOperationName());
    return succeeded(mlir::parsePassPipeline(pipeline, passes)) &&
           succeeded(passes.run(*module));
  }
  mlir::func::FuncOp function() {
    return *module->getOps<mlir::func::FuncOp>().begin();
  }
};
} // namespace

TEST_P(NetworksTest, EqualTheirEvaluationAtEveryPoint) {
  const Model &model = GetParam();
  std::string folder = mct::testing::getSourcePath("test/data/");
  if (model.isShared) {
    folder = sharedFolder();
    if (folder.empty())
      GTEST_SKIP() << "no shared folder";
  }
  mct::registerAllMctPasses();
  module = mlir::parseSourceFile<mlir::ModuleOp>(
      folder + model.file + ".mlirbc", &context);
  ASSERT_TRUE(module);
  std::string data = folder + model.data + ".npy";
  ASSERT_TRUE(run("mct-ptq{calibration-data=" + data + " " + model.options +
                  "},mct-simulate-integers"))
      << llvm::join(diagnostics, "\n");

  auto type =
      llvm::cast<mlir::RankedTensorType>(function().getArgument(0).getType());
  SampleOptions sampleOptions;
  sampleOptions.files = {data};
  sampleOptions.scale = {model.scale};
  auto samples = SampleSource::open(sampleOptions, {{"x", type}}, 1);
  ASSERT_TRUE(static_cast<bool>(samples));
  ReferenceTensor argument = ReferenceEvaluator::zeros(type);
  // Results of every point for each sample.
  std::vector<Floats> inputs;
  std::vector<llvm::StringMap<std::vector<Number>>> expected, unrounded;
  int64_t count = model.samples;
  if (const char *limit = std::getenv("MCT_NETWORK_SAMPLES"))
    count = std::min<int64_t>(std::strtoll(limit, nullptr, 10),
                              (*samples)->numSamples());
  for (int64_t sample = 0; sample != count; ++sample) {
    Floats &input = inputs.emplace_back(argument.numbers.size());
    llvm::cantFail((*samples)->load(0, sample, 1, input.data()));
    for (auto [number, value] : llvm::zip_equal(argument.numbers, input))
      number.value = value;
    ReferenceEvaluator evaluator(function(), /*simulate=*/true);
    ASSERT_TRUE(evaluator.run(argument)) << evaluator.error;
    auto &points = expected.emplace_back();
    auto &before = unrounded.emplace_back();
    function().walk([&](mct::tpc::QuantizeOp point) {
      points[point.getUniqueName()] = evaluator[point.getResult()].numbers;
      before[point.getUniqueName()] = evaluator[point.getInput()].numbers;
    });
  }

  ASSERT_TRUE(run("mct-lower-to-integer{softmax=cut},mct-return-points"))
      << llvm::join(diagnostics, "\n");
  auto records = mct::readQuantizedResults(function());
  ASSERT_TRUE(succeeded(records));
  CompileOptions options;
  options.keepTypes = true;
  auto executor = Executor::compile(*module, options);
  ASSERT_TRUE(succeeded(executor)) << llvm::join(diagnostics, "\n");
  size_t numValues = 0, numDiffering = 0, numPoints = 0;
  for (auto [input, points, before] :
       llvm::zip_equal(inputs, expected, unrounded)) {
    std::vector<std::vector<int8_t>> outputs;
    llvm::SmallVector<void *> pointers;
    for (const TensorSpec &spec : (*executor)->outputs())
      pointers.push_back(
          outputs
              .emplace_back(spec.type.getNumElements() *
                            getElementBytes(spec.type.getElementType()))
              .data());
    Worker worker(**executor);
    const void *pointer = input.data();
    llvm::cantFail(worker.run(pointer, pointers, 1));
    for (auto [record, output, spec] :
         llvm::zip_equal(*records, outputs, (*executor)->outputs())) {
      if (!record || !spec.type.getElementType().isInteger(8))
        continue;
      auto point = points.find(record->name);
      ASSERT_NE(point, points.end()) << record->name;
      ++numPoints;
      bool isSame = true;
      for (auto [code, number, exact] :
           llvm::zip_equal(output, point->second, before[record->name])) {
        ++numValues;
        double value = record->scale * double(code - record->zeroPoint);
        if (std::abs(value - number.value) <= record->scale / 2)
          continue;
        isSame = false;
        ++numDiffering;
        double steps = exact.value / record->scale;
        EXPECT_LE(std::abs(steps - std::floor(steps) - 0.5),
                  kNearTie * (std::abs(steps) + kLargestBias))
            << record->name << ": " << steps << " steps became " << int(code);
      }
      // Later ops have other inputs.
      if (!isSame)
        break;
    }
  }
  RecordProperty("values", std::to_string(numValues));
  RecordProperty("differing", std::to_string(numDiffering));
  EXPECT_LE(numDiffering, numValues / 1000000 + 1) << "of " << numValues;
  EXPECT_GE(numPoints, 5U);
}

INSTANTIATE_TEST_SUITE_P(
    Models, NetworksTest,
    ::testing::Values(
        Model{"digits", false, "digits", "digits_calib",
              "target=imx500 input-scale=0.0625", 0.0625, 3},
        Model{"digitsUniform", false, "digits", "digits_calib",
              "target=tflite input-scale=0.0625", 0.0625, 3},
        Model{"resnet8", true, "models/resnet8_cifar10", "cifar10/calib_images",
              "target=imx500", 1, 1},
        Model{"wakeWord", true, "models/wakeword_ds_cnn", "ww/features",
              "target=imx500", 1, 2},
        Model{"vww", true, "models/mobilenet_vww", "vww/calib_images",
              "target=imx500 input-scale=0.00392156862745098", 1. / 255, 1},
        Model{"resnet8Uniform", true, "models/resnet8_cifar10",
              "cifar10/calib_images", "target=tflite", 1, 1},
        Model{"autoencoder", true, "models/autoencoder_ad",
              "ad/synthetic_calib_windows", "target=tflite", 1, 2}),
    [](const auto &info) { return std::string(info.param.name); });
