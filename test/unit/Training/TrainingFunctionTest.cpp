// SPDX-License-Identifier: Apache-2.0
//
// Functions that training runs execute, against the networks that they are made
// of, and what comes back from them.
#include "Differences.h"
#include "Expectation.h"
#include "RandomNetworks.h"

#include "mct/Interfaces/SetBatch.h"
#include "mct/Training/MakeTrainable.h"
#include "mct/Training/Training.h"

#include <map>

using namespace mct;
using namespace mct::testing;
using namespace mlir;
using Floats = std::vector<float>;

namespace {
class TrainingFunctions : public GradientTest {
protected:
  /// Returns the results of a function, all of f32.
  std::vector<Floats> execute(func::FuncOp function,
                              ArrayRef<const void *> arguments) {
    execution::CompileOptions options;
    options.function = function.getName().str();
    options.keepTypes = true;
    auto executor = execution::Executor::compile(
        function->getParentOfType<ModuleOp>(), options);
    EXPECT_TRUE(succeeded(executor)) << diagnostics;
    if (failed(executor))
      return {};
    std::vector<Floats> outputs;
    SmallVector<void *> outputData;
    for (const execution::TensorSpec &spec : (*executor)->outputs())
      outputs.emplace_back(size_t(spec.type.getNumElements()));
    for (Floats &output : outputs)
      outputData.push_back(output.data());
    execution::Worker worker(**executor);
    llvm::cantFail(worker.run(arguments, outputData, (*executor)->unit()));
    return outputs;
  }

  /// Arguments of a network, and the values that are learned from.
  static std::vector<const void *>
  argumentsOf(const std::vector<std::vector<char>> &inputs,
              const TrainingFunction &training) {
    std::vector<const void *> arguments;
    for (const std::vector<char> &input : inputs)
      arguments.push_back(input.data());
    for (const LearnedValue &value : training.learned)
      arguments.push_back(value.initial.values.data());
    return arguments;
  }

  static std::vector<std::vector<char>> randomInputs(func::FuncOp network,
                                                     unsigned seed) {
    std::vector<std::vector<char>> inputs;
    for (auto [number, type] : llvm::enumerate(network.getArgumentTypes()))
      inputs.push_back(randomInput(cast<RankedTensorType>(type), 1,
                                   seed * 16 + unsigned(number)));
    return inputs;
  }

  static std::vector<Floats> initialValues(const TrainingFunction &training) {
    std::vector<Floats> values;
    for (const LearnedValue &value : training.learned)
      values.push_back(value.initial.values);
    return values;
  }

  static FailureOr<TrainingFunction> makeFunction(func::FuncOp network) {
    TrainingRequest request;
    request.name = "training";
    return makeTrainingFunction(network, request);
  }
};

/// The largest difference of a result, of its largest number.
double distance(const std::vector<Floats> &found,
                const std::vector<Floats> &expected) {
  double worst = 0;
  for (auto [a, b] : llvm::zip_equal(found, expected)) {
    double difference = 0, largest = 1e-6;
    for (auto [x, y] : llvm::zip_equal(a, b)) {
      difference = std::max(difference, std::abs(double(x) - double(y)));
      largest = std::max(largest, std::abs(double(y)));
    }
    worst = std::max(worst, difference / largest);
  }
  return worst;
}
} // namespace

// A value that is read twice, shared between layers, added after a product, or
// that has points on its bias: with the values that are there it is the
// network.
TEST_F(TrainingFunctions, BeginAsTheNetworksThatTheyAreMadeOf) {
  size_t judged = 0, other = 0;
  std::map<LearnedKind, size_t> kinds;
  std::string others;
  for (unsigned seed = 1; judged != numRandomNetworks(30); ++seed) {
    ASSERT_LT(seed, 40 * numRandomNetworks(30))
        << "only " << judged << " judged";
    diagnostics.clear();
    OwningOpRef<ModuleOp> module =
        seed % 2 ? makeRandomNetwork(context, seed)
                 : makeRandomLayers(context, seed, seed % 4 == 0);
    auto network = module->lookupSymbol<func::FuncOp>("main");
    (void)setBatch(network, 2);
    diagnostics.clear();
    TrainableOptions options;
    const TrainingMethod methods[] = {TrainingMethod::LSQ, TrainingMethod::STE,
                                      TrainingMethod::Fixed,
                                      TrainingMethod::PerturbedRounding};
    options.weights = methods[seed / 2 % 4];
    options.activations = methods[seed / 8 % 3];
    options.isGradual = seed / 2 % 3 == 0;
    // Training rounds halves to even, of which there are many where steps are
    // powers of two.
    network.walk([](tpc::QuantizeOp point) {
      if (tpc::QuantizerAttrInterface parameters = point.getParametersAttr())
        if (auto even =
                parameters.withRoundingMode(quantization::Rounding::HalfToEven))
          point.setParametersAttr(even);
    });
    if (makeTrainable(network, options) == 0)
      continue;
    FailureOr<TrainingFunction> training = makeFunction(network);
    if (failed(training)) {
      // Some return integers.
      EXPECT_NE(diagnostics.find("cannot be trained: what is compared"),
                std::string::npos)
          << diagnostics << "seed " << seed;
      continue;
    }
    ASSERT_TRUE(succeeded(verify(*module))) << diagnostics << seed;
    ASSERT_TRUE(succeeded(expandTrainablePoints(training->function)))
        << diagnostics;
    ASSERT_TRUE(succeeded(verify(*module))) << diagnostics << seed;
    for (const LearnedValue &value : training->learned)
      ++kinds[value.kind];
    std::vector<std::vector<char>> inputs = randomInputs(network, seed);
    std::vector<Floats> found =
        execute(training->function, argumentsOf(inputs, *training));
    std::vector<const void *> arguments;
    for (const std::vector<char> &input : inputs)
      arguments.push_back(input.data());
    std::vector<Floats> expected = execute(network, arguments);
    ++judged;
    if (double far = distance(found, expected); far > 1e-4) {
      ++other;
      others += " " + std::to_string(seed) + " (" + std::to_string(far) + ")";
    }
    // Nothing was learned: the network stays what it is.
    ASSERT_TRUE(
        succeeded(writeLearned(network, *training, initialValues(*training))))
        << diagnostics;
    ASSERT_TRUE(succeeded(verify(*module))) << diagnostics << seed;
    if (double far = distance(execute(network, arguments), expected);
        far > 1e-4) {
      ++other;
      others += " " + std::to_string(seed) + "w (" + std::to_string(far) + ")";
    }
  }
  // A value half of the way between two levels may go to the other one, where
  // oneDNN adds in another order.
  EXPECT_LE(other, judged / 30) << "seeds" << others;
  EXPECT_GT(kinds[LearnedKind::Weight], judged / 4);
  EXPECT_GT(kinds[LearnedKind::Bias], judged / 4);
  EXPECT_GT(kinds[LearnedKind::Quantizer], judged / 4);
  EXPECT_GT(kinds[LearnedKind::Rounding], judged / 10);
}

// A value that a step replaces is read as it was by everything in the step.
TEST_F(TrainingFunctions, ReadWhatIsLearnedBeforeTheStep) {
  OwningOpRef<ModuleOp> module = parse(R"mlir(
    func.func @step(%p: tensor<1xf32>, %g: tensor<1xf32>) -> (tensor<1xf32>, tensor<1xf32>) {
      %less = tosa.sub %p, %g : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
      %more = tosa.add %p, %g : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
      return %less, %more : tensor<1xf32>, tensor<1xf32>
    }
    func.func @main(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
      %0 = tpc.quantize %x as "x" activation
             trainable(#tpc.observed_range<observer = moving_average, bits = 8, decay = 0.5>) : tensor<1x2xf32>
      return %0 : tensor<1x2xf32>
    }
  )mlir");
  Floats p = {2}, g = {0.5f};
  EXPECT_EQ(
      execute(module->lookupSymbol<func::FuncOp>("step"), {p.data(), g.data()}),
      (std::vector<Floats>{{1.5f}, {2.5f}}));
  EXPECT_EQ(p, Floats{2});

  auto network = module->lookupSymbol<func::FuncOp>("main");
  FailureOr<TrainingFunction> training = makeFunction(network);
  ASSERT_TRUE(succeeded(training)) << diagnostics;
  ASSERT_TRUE(succeeded(expandTrainablePoints(training->function)));
  Floats x = {-2, 10}, min = {-6}, max = {6};
  // From 6 half of the way to 10; so the 10 that it sees is cut off at 8.
  for (int again = 0; again != 2; ++again) {
    std::vector<Floats> results =
        execute(training->function, {x.data(), min.data(), max.data()});
    ASSERT_EQ(results.size(), 3u);
    EXPECT_NEAR(results[0][1], 8, 12.0 / 255);
    EXPECT_EQ(results[1], Floats{-4});
    EXPECT_EQ(results[2], Floats{8});
    EXPECT_EQ(min, Floats{-6});
    EXPECT_EQ(max, Floats{6});
  }
}

TEST_F(TrainingFunctions, WhatWasLearnedIsWrittenOnce) {
  for (unsigned seed = 2; seed != 12; seed += 2) {
    OwningOpRef<ModuleOp> module = makeRandomLayers(context, seed);
    auto network = module->lookupSymbol<func::FuncOp>("main");
    TrainableOptions options;
    ASSERT_GT(makeTrainable(network, options), 0u);
    FailureOr<TrainingFunction> training = makeFunction(network);
    ASSERT_TRUE(succeeded(training)) << diagnostics;
    std::vector<Floats> values = initialValues(*training);
    for (Floats &tensor : values)
      for (float &value : tensor)
        value *= 1.25f;
    ASSERT_TRUE(succeeded(writeLearned(network, *training, values)));
    training->function.erase();
    std::string once = print(*module);
    EXPECT_EQ(once.find("trainable"), std::string::npos);
    for (Floats &tensor : values)
      for (float &value : tensor)
        value *= 2;
    ASSERT_TRUE(succeeded(writeLearned(network, *training, values)));
    EXPECT_EQ(print(*module), once);
    // A network that is done gets nothing that it was not asked to get.
    options.weights = options.activations = TrainingMethod::None;
    EXPECT_EQ(makeTrainable(network, options), 0u);
    EXPECT_EQ(print(*module), once);
  }
}

TEST_F(TrainingFunctions, DepthwiseKernelsLearnAThresholdForEachChannel) {
  OwningOpRef<ModuleOp> module = parse(R"mlir(
    func.func @main(%x: tensor<1x5x5x8xf32>) -> tensor<1x3x3x8xf32> {
      %k = "tosa.const"() <{values = dense<0.5> : tensor<3x3x8x1xf32>}> : () -> tensor<3x3x8x1xf32>
      %b = "tosa.const"() <{values = dense<0.0> : tensor<8xf32>}> : () -> tensor<8xf32>
      %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
      %w = tpc.quantize %k as "depthwise" weight "kernel_attr" axes [2, 3]
             parameters(#tpc.symmetric<threshold = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], bits = 4>)
             trainable(#tpc.learned_threshold<bits = 4>) : tensor<3x3x8x1xf32>
      %0 = tosa.depthwise_conv2d %x, %w, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x5x5x8xf32>, tensor<3x3x8x1xf32>, tensor<8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x3x8xf32>
      return %0 : tensor<1x3x3x8xf32>
    }
  )mlir");
  FailureOr<TrainingFunction> training =
      makeFunction(module->lookupSymbol<func::FuncOp>("main"));
  ASSERT_TRUE(succeeded(training)) << diagnostics;
  auto threshold =
      llvm::find_if(training->learned, [](const LearnedValue &value) {
        return value.role == tpc::LearnedRole::Threshold;
      });
  ASSERT_NE(threshold, training->learned.end());
  EXPECT_EQ(threshold->name, "depthwise/kernel_attr:threshold");
  EXPECT_EQ(ArrayRef<int64_t>(threshold->initial.shape),
            (ArrayRef<int64_t>{1, 1, 8, 1}));
  EXPECT_EQ(threshold->initial.values, (Floats{1, 2, 3, 4, 5, 6, 7, 8}));
}

namespace {
/// Two convolutions, the first with a bias that has a point, and a product with
/// an addition whose constant stands after it.
const char *const kLayers = R"mlir(
  tpc.framework @tosa_ops [
    #tpc.op_info<"tosa.conv2d", kernel = 1, bias = 2, out_axes = [0], in_axis = 3, result_axis = -1>,
    #tpc.op_info<"tosa.matmul", kernel = 1, out_axes = [2], in_axis = 1, result_axis = -1>
  ]
  func.func @main(%x: tensor<1x3x3x1xf32>) -> (tensor<1x3x3x2xf32>, tensor<1x3x3x2xf32>, tensor<1x9x2xf32>) {
    %k = "tosa.const"() <{values = dense<[[[[0.5]]], [[[-0.75]]]]> : tensor<2x1x1x1xf32>}> : () -> tensor<2x1x1x1xf32>
    %b = "tosa.const"() <{values = dense<[0.3, -0.2]> : tensor<2xf32>}> : () -> tensor<2xf32>
    %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %w = tpc.quantize %k as "conv" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [1.0], bits = 3>)
           corrections(#tpc.corrections<applied = ["rounded_weights"], bias_offset = [0.0, 0.0], kernel_scale = [1.0], kernel = dense<[[[[0.2]]], [[[-0.45]]]]> : tensor<2x1x1x1xf32>>)
           trainable(KERNEL) : tensor<2x1x1x1xf32>
    %c = tpc.quantize %b as "conv" weight "bias_attr" parameters(#tpc.symmetric<threshold = [1.0], bits = 8>)
           trainable(BIAS) : tensor<2xf32>
    %0 = tosa.conv2d %x, %w, %c, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x3x3x1xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x3x2xf32>
    %1 = tosa.conv2d %x, %w, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x3x3x1xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x3x2xf32>
    %s = tosa.const_shape {values = dense<[1, 9, 1]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %2 = tosa.reshape %x, %s : (tensor<1x3x3x1xf32>, !tosa.shape<3>) -> tensor<1x9x1xf32>
    %m = "tosa.const"() <{values = dense<[[[0.25, 0.5]]]> : tensor<1x1x2xf32>}> : () -> tensor<1x1x2xf32>
    %v = tpc.quantize %m as "dense" weight "kernel_attr" axes [2] parameters(#tpc.symmetric<threshold = [1.0], bits = 3>)
           trainable(KERNEL) : tensor<1x1x2xf32>
    %3 = tosa.matmul %2, %v, %z, %z : (tensor<1x9x1xf32>, tensor<1x1x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x9x2xf32>
    %d = "tosa.const"() <{values = dense<[[[0.1, 0.6]]]> : tensor<1x1x2xf32>}> : () -> tensor<1x1x2xf32>
    %4 = tosa.add %3, %d : (tensor<1x9x2xf32>, tensor<1x1x2xf32>) -> tensor<1x9x2xf32>
    return %0, %1, %4 : tensor<1x3x3x2xf32>, tensor<1x3x3x2xf32>, tensor<1x9x2xf32>
  }
)mlir";

std::string layersText(const std::string &kernel, const std::string &bias) {
  std::string text = kLayers;
  for (const auto &[name, value] :
       {std::pair<std::string, std::string>("KERNEL", kernel), {"BIAS", bias}})
    for (size_t at = text.find(name); at != std::string::npos;
         at = text.find(name, at))
      text.replace(at, name.size(), value);
  return text;
}
} // namespace

// Two layers read one kernel and one bias, in one of them through a point.
TEST_F(TrainingFunctions, BiasesOfLayersThatShareAKernelAreLearnedApart) {
  OwningOpRef<ModuleOp> module = parse(layersText(
      "#tpc.learned_threshold<bits = 3>", "#tpc.learned_threshold<bits = 8>"));
  auto network = module->lookupSymbol<func::FuncOp>("main");
  FailureOr<TrainingFunction> training = makeFunction(network);
  ASSERT_TRUE(succeeded(training)) << diagnostics;
  std::vector<std::string> names;
  for (const LearnedValue &value : training->learned)
    names.push_back(value.name);
  EXPECT_EQ(names, (std::vector<std::string>{
                       "conv/bias", "conv/bias_2", "dense/bias",
                       "conv/kernel_attr:threshold", "conv/kernel_attr",
                       "conv/bias_attr:threshold",
                       "dense/kernel_attr:threshold", "dense/kernel_attr"}));
  std::vector<Floats> values = initialValues(*training);
  values[0] = {1, -1};
  values[1] = {2, -2};
  values[2] = {3, -3};
  values[5] = {4};
  ASSERT_TRUE(succeeded(writeLearned(network, *training, values)))
      << diagnostics;
  ASSERT_TRUE(succeeded(verify(*module))) << diagnostics;
  Floats x(9, 0);
  std::vector<Floats> results = execute(network, {x.data()});
  EXPECT_EQ(results[0][0], 1);
  EXPECT_EQ(results[0][1], -1);
  EXPECT_EQ(results[1][0], 2);
  EXPECT_EQ(results[1][1], -2);
  EXPECT_EQ(results[2][0], 3);
  EXPECT_EQ(results[2][1], -3);
}

TEST_F(TrainingFunctions, WeightsThatWereRoundedTogetherStayBesideANewBias) {
  // A bias that is rounded by what is learned stays a constant.
  OwningOpRef<ModuleOp> module =
      parse(layersText("#tpc.soft_rounding<>", "#tpc.soft_rounding<>"));
  auto network = module->lookupSymbol<func::FuncOp>("main");
  FailureOr<TrainingFunction> training = makeFunction(network);
  ASSERT_TRUE(succeeded(training)) << diagnostics;
  std::vector<std::string> names;
  for (const LearnedValue &value : training->learned)
    names.push_back(value.name);
  EXPECT_EQ(names, (std::vector<std::string>{"conv/bias_2", "dense/bias",
                                             "conv/kernel_attr:rounding",
                                             "conv/bias_attr:rounding",
                                             "dense/kernel_attr:rounding"}));
  ASSERT_TRUE(
      succeeded(writeLearned(network, *training, initialValues(*training))))
      << diagnostics;
  // Levels of 1/4: 0.2 was rounded up by two of them, -0.45 down by two.
  Floats x(9, 1);
  std::vector<Floats> results = execute(network, {x.data()});
  EXPECT_FLOAT_EQ(results[1][0], 0.5f + 0.3f);
  EXPECT_FLOAT_EQ(results[1][1], -0.75f - 0.2f);
}
