// SPDX-License-Identifier: Apache-2.0
//
// A network of two layers, samples for it, and a fixture that trains it.
#ifndef MCT_TEST_UNIT_TRAINING_TRAININGRUNFIXTURE_H
#define MCT_TEST_UNIT_TRAINING_TRAININGRUNFIXTURE_H

#include "mct/Execution/Executor.h"
#include "mct/Execution/RunCache.h"
#include "mct/Support/StoredTensor.h"
#include "mct/Training/TrainingRun.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

#include <map>
#include <random>
#include <string>
#include <vector>

namespace mct::testing::training {

using quantization::Adam;
using quantization::Scores;

/// Two layers with a ReLU between: x [3] -> 4 -> 2. The weights and the
/// activation between have learned thresholds.
constexpr unsigned kInputs = 3, kHidden = 4, kClasses = 2;

using Tensor = std::vector<double>;
using Tensors = std::map<std::string, Tensor>;

/// An elements attribute of f32 with every bit of the values.
inline std::string dense(const Tensor &values, const std::string &type) {
  std::string text = "dense<\"0x";
  for (double value : values) {
    auto bits = float(value);
    text += llvm::toHex(
        llvm::StringRef(reinterpret_cast<const char *>(&bits), sizeof(bits)));
  }
  return text + "\"> : tensor<" + type + "xf32>";
}

struct Network {
  Tensor hidden, hiddenBias, classes, classesBias;

  explicit Network(unsigned seed) {
    std::mt19937 random(seed);
    auto draw = [&](size_t count, double width) {
      Tensor values(count);
      for (double &value : values)
        value = float((double(random() >> 8) * 0x1p-24 * 2 - 1) * width);
      return values;
    };
    hidden = draw(size_t(kHidden) * kInputs, 0.9);
    hiddenBias = draw(kHidden, 0.3);
    classes = draw(size_t(kClasses) * kHidden, 0.9);
    classesBias = draw(kClasses, 0.3);
  }

  std::string text(const std::string &results = "%7 : tensor<1x2xf32>") const {
    std::string type = results.substr(results.find(':') + 2);
    return R"(
func.func @main(%x: tensor<1x1x1x3xf32>) -> )" +
           type + R"( {
  %zero = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %0 = "tosa.const"() {values = )" +
           dense(hidden, "4x1x1x3") + R"(} : () -> tensor<4x1x1x3xf32>
  %1 = tpc.quantize %0 as "hidden" weight "kernel" axes [0] parameters(#tpc.symmetric<threshold = [1.0, 0.9, 1.0, 0.8], bits = 6>)
         trainable(#tpc.learned_threshold<bits = 6>) : tensor<4x1x1x3xf32>
  %b0 = "tosa.const"() {values = )" +
           dense(hiddenBias, "4") + R"(} : () -> tensor<4xf32>
  %2 = tosa.conv2d %x, %1, %b0, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>,
         stride = array<i64: 1, 1>}
       : (tensor<1x1x1x3xf32>, tensor<4x1x1x3xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x4xf32>
         loc("hidden")
  %3 = tosa.clamp %2 {min_val = 0.0 : f32, max_val = 3.40282347E+38 : f32} : (tensor<1x1x1x4xf32>) -> tensor<1x1x1x4xf32>
         loc("relu")
  %4 = tpc.quantize %3 as "relu" activation parameters(#tpc.symmetric<threshold = [1.25], bits = 8, is_signed = false>)
         trainable(#tpc.learned_threshold<bits = 8, is_signed = false>) : tensor<1x1x1x4xf32>
  %k1 = "tosa.const"() {values = )" +
           dense(classes, "2x1x1x4") + R"(} : () -> tensor<2x1x1x4xf32>
  %5 = tpc.quantize %k1 as "classes" weight "kernel" axes [0] parameters(#tpc.symmetric<threshold = [1.0, 1.0], bits = 6>)
         trainable(#tpc.learned_threshold<bits = 6>) : tensor<2x1x1x4xf32>
  %b1 = "tosa.const"() {values = )" +
           dense(classesBias, "2") + R"(} : () -> tensor<2xf32>
  %6 = tosa.conv2d %4, %5, %b1, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>,
         stride = array<i64: 1, 1>}
       : (tensor<1x1x1x4xf32>, tensor<2x1x1x4xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x2xf32>
         loc("classes")
  %shape = tosa.const_shape {values = dense<[1, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %7 = tosa.reshape %6, %shape : (tensor<1x1x1x2xf32>, !tosa.shape<2>) -> tensor<1x2xf32> loc("scores")
  return )" +
           results + R"(
}
)";
  }
};

/// The network with something else that is trained.
inline std::string replaceAll(std::string text, llvm::StringRef from,
                              llvm::StringRef to) {
  for (size_t place = 0;
       (place = text.find(from.str(), place)) != std::string::npos;
       place += to.size())
    text.replace(place, from.size(), to.str());
  return text;
}
inline constexpr llvm::StringLiteral kWeight =
    "trainable(#tpc.learned_threshold<bits = 6>)";
inline constexpr llvm::StringLiteral kActivation =
    "trainable(#tpc.learned_threshold<bits = 8, is_signed = false>)";

struct Data {
  std::vector<float> images;
  std::vector<int64_t> labels;

  explicit Data(int64_t count, unsigned seed = 3) {
    std::mt19937 random(seed);
    for (int64_t sample = 0; sample != count; ++sample) {
      float sum = 0;
      for (unsigned i = 0; i != kInputs; ++i) {
        images.push_back(float(double(random() >> 8) * 0x1p-24 * 2 - 1));
        sum += images.back() * (i == 1 ? -1 : 1);
      }
      labels.push_back(sum > 0);
    }
  }
};

class TrainingRunTest : public ::testing::Test {
protected:
  TrainingRunTest()
      : context(registry(), mlir::MLIRContext::Threading::DISABLED) {
    context.loadAllAvailableDialects();
    context.getDiagEngine().registerHandler([&](mlir::Diagnostic &diagnostic) {
      llvm::raw_string_ostream stream(diagnostics);
      stream << diagnostic << "\n";
      for (mlir::Diagnostic &note : diagnostic.getNotes())
        stream << note << "\n";
    });
    llvm::SmallString<128> path;
    EXPECT_FALSE(llvm::sys::fs::createUniqueDirectory("training", path));
    folder = std::string(path);
    // Parts that most of these networks have in common are compiled once.
    run.cache = std::make_shared<execution::RunCache>();
    settings.epochs = 4;
    settings.batch = 4;
    settings.shard = 3;
    settings.seed = 7;
    settings.weights = settings.biases = settings.quantizers =
        OptimizerSettings{Adam{/*rate=*/0.02}};
    take(Data(10));
  }
  ~TrainingRunTest() override { llvm::sys::fs::remove_directories(folder); }

  static mlir::DialectRegistry registry() {
    mlir::DialectRegistry registry;
    registry.insert<mlir::func::FuncDialect, mlir::tosa::TosaDialect,
                    tpc::TpcDialect>();
    registerGradientModels(registry);
    execution::Executor::registerDependencies(registry);
    return registry;
  }

  void take(Data other) {
    data = std::move(other);
    run.samples = {};
    int64_t count = int64_t(data.labels.size());
    run.samples.tensors.push_back(
        {"", support::viewArray("images", support::ElementType::F32,
                                {count, 1, 1, kInputs}, data.images.data())});
  }

  mlir::func::FuncOp parse(const std::string &text) {
    modules.push_back(mlir::parseSourceString<mlir::ModuleOp>(text, &context));
    EXPECT_TRUE(modules.back()) << diagnostics << text;
    return *modules.back()->getOps<mlir::func::FuncOp>().begin();
  }

  /// Cross entropy of the scores, without a teacher.
  TrainingProblem classify(unsigned seed = 1) {
    TrainingProblem problem;
    problem.network = parse(Network(seed).text());
    problem.loss = createCrossEntropyLoss(Scores::Logits, data.labels);
    return problem;
  }

  /// Squared errors of two values.
  TrainingProblem distil(unsigned seed = 1) {
    TrainingProblem problem;
    problem.network = parse(Network(seed).text());
    problem.request.compared = {"hidden", "scores"};
    problem.teacher = parse(Network(seed + 1).text());
    problem.loss = createSquaredErrorLoss(ErrorUnit::Normalized, {0.5, 2});
    return problem;
  }

  std::unique_ptr<TrainingRun> create(const TrainingProblem &problem) {
    auto made = TrainingRun::create(problem, settings, run);
    return failed(made) ? nullptr : std::move(*made);
  }

  /// Returns the learned values, or nothing where training fails.
  std::vector<std::vector<float>> train(const TrainingProblem &problem) {
    losses.clear();
    auto after = settings.afterStep;
    settings.afterStep = [&, after](const TrainingStepInfo &info) {
      losses.push_back(info.loss);
      return !after || after(info);
    };
    auto made = create(problem);
    settings.afterStep = after;
    if (!made || failed(made->train()))
      return {};
    return made->values().vec();
  }

  void expectFails(const TrainingProblem &problem, const std::string &message) {
    diagnostics.clear();
    EXPECT_TRUE(train(problem).empty());
    EXPECT_EQ(diagnostics, message + "\n");
  }

  std::string path(llvm::StringRef name) { return folder + "/" + name.str(); }

  std::string diagnostics, folder;
  mlir::MLIRContext context;
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> modules;
  Data data{0};
  TrainingSettings settings;
  execution::RunSettings run;
  std::vector<double> losses;
};

} // namespace mct::testing::training

#endif // MCT_TEST_UNIT_TRAINING_TRAININGRUNFIXTURE_H
