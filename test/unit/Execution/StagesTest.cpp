// SPDX-License-Identifier: Apache-2.0
//
// Runs that are cut into stages: what is saved and loaded between them changes
// nothing, and what is edited is seen by everything later.
#include "Fixture.h"
#include "mct/Execution/Frontier.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "tpc_dialect/IR/TpcDialect.h"

#include <cmath>

using namespace mct::execution;

namespace {

Floats runWorker(Worker &worker, const Executor &executor,
                 llvm::ArrayRef<Floats> inputs) {
  Floats all;
  for (const Floats &output : runOutputs(worker, executor, inputs))
    all.insert(all.end(), output.begin(), output.end());
  return all;
}

class StagesTest : public ExecutionTest {
protected:
  /// Compiles with the values of these names, in this order, to be edited.
  std::unique_ptr<Executor> compileStages(const std::string &text,
                                          llvm::ArrayRef<std::string> edited) {
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    if (!module) {
      ADD_FAILURE() << llvm::join(diagnostics, "\n");
      return nullptr;
    }
    CompileOptions options;
    options.observed.assign(edited.begin(), edited.end());
    options.numEdited = edited.size();
    auto executor = Executor::compile(*module, options);
    return mlir::failed(executor) ? nullptr : std::move(*executor);
  }

  /// Runs stage by stage, each in a worker of its own that only has what the
  /// one before saved. Returns what `last`, an observed value, was, and the
  /// outputs after the last stage.
  std::pair<Floats, Floats>
  runApart(const Executor &executor, const std::vector<Floats> &inputs,
           llvm::ArrayRef<std::pair<size_t, TensorEditor>> editors = {}) {
    llvm::SmallVector<const void *> inputPointers;
    for (const Floats &input : inputs)
      inputPointers.push_back(input.data());
    std::vector<Floats> outputs;
    Recorder recorder;
    std::vector<char> saved;
    for (unsigned stage = 0; stage != executor.numStages(); ++stage) {
      outputs.clear();
      for (const TensorSpec &spec : executor.outputs())
        outputs.emplace_back(spec.type.getNumElements(), -77.0f);
      llvm::SmallVector<void *> outputPointers;
      for (Floats &output : outputs)
        outputPointers.push_back(output.data());
      Worker worker(executor);
      worker.setObserver(executor.observed().size() - 1, &recorder);
      for (const auto &[observed, editor] : editors)
        if (executor.stageOf(observed) < stage)
          worker.setEditor(observed, editor);
      llvm::Error error =
          worker.runStages(stage, stage, stage == 0 ? nullptr : saved.data(),
                           inputPointers, outputPointers, {0, executor.unit()});
      EXPECT_FALSE(error) << llvm::toString(std::move(error));
      saved.assign(executor.savedBytes(stage), 0x55);
      worker.save(stage, saved.data());
    }
    Floats all;
    for (const Floats &output : outputs)
      all.insert(all.end(), output.begin(), output.end());
    return {recorder.values, all};
  }
};

/// Two layers one after the other, a shortcut, and a quantizer on what crosses
/// both of them.
std::string shortcut() {
  return R"(
    func.func @main(%x: tensor<1x64xf32>) -> tensor<1x64xf32> {
      %q = tpc.quantize %x as "in" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, is_signed = true>) : tensor<1x64xf32>
      %0 = tosa.exp %q : (tensor<1x64xf32>) -> tensor<1x64xf32> loc("first")
      %1 = tosa.tanh %0 : (tensor<1x64xf32>) -> tensor<1x64xf32>
      %2 = tosa.add %1, %q : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32> loc("second")
      %3 = tosa.sub %2, %q : (tensor<1x64xf32>, tensor<1x64xf32>) -> tensor<1x64xf32>
      return %3 : tensor<1x64xf32>
    })";
}

TEST_F(StagesTest, WhatIsSavedAndLoadedChangesNothing) {
  auto whole = compile(shortcut());
  auto stages = compileStages(shortcut(), {"first", "second"});
  ASSERT_TRUE(whole && stages);
  EXPECT_EQ(whole->numStages(), 1u);
  ASSERT_EQ(stages->numStages(), 3u);
  EXPECT_EQ(stages->stageOf(0), 0u);
  EXPECT_EQ(stages->stageOf(1), 1u);
  auto inputs = randomInputs(*whole);
  EXPECT_EQ(runApart(*stages, inputs).second, runUnit(*whole, inputs));
  // Codes of a byte for the quantized input, floats for the other value.
  auto unit = size_t(stages->unit());
  EXPECT_EQ(size_t(stages->savedBytes(0)), unit * 64 * (1 + 4));
  EXPECT_EQ(size_t(stages->savedBytes(1)), unit * 64 * (1 + 4));
}

// A result is made in the memory of the caller, in an early stage: who starts
// after that stage has it, too.
TEST_F(StagesTest, ResultsOfEarlierStagesAreThere) {
  const std::string type = "tensor<1x8xf32>",
                    unary = " : (" + type + ") -> " + type;
  std::string network = "func.func @main(%x: " + type + ") -> (" + type + ", " +
                        type + ") {\n" + kZero + "%0 = tosa.exp %x" + unary +
                        "\n%1 = tosa.tanh %0" + unary +
                        " loc(\"first\")\n%2 = tosa.abs %1" + unary +
                        " loc(\"second\")\n%3 = tosa.ceil %2" + unary +
                        "\nreturn %0, %3 : " + type + ", " + type + "\n}";
  auto stages = compileStages(network, {"first", "second"});
  ASSERT_TRUE(stages) << llvm::join(diagnostics, "\n");
  auto inputs = randomInputs(*stages);
  EXPECT_EQ(runApart(*stages, inputs).second, runUnit(*stages, inputs));
}

TEST_F(StagesTest, EditedValuesAreSeenDownstream) {
  auto stages = compileStages(shortcut(), {"first", "second"});
  ASSERT_TRUE(stages);
  auto inputs = randomInputs(*stages);
  TensorEditor negate = [](llvm::MutableArrayRef<float> values,
                           llvm::ArrayRef<int64_t>) {
    for (float &value : values)
      value = -value;
  };
  auto [second, output] = runApart(*stages, inputs, {{0, negate}});
  auto [plain, plainOutput] = runApart(*stages, inputs);
  for (size_t i = 0; i != second.size(); ++i) {
    float q = std::nearbyint(inputs[0][i] * 64) / 64;
    q = std::min(std::max(q, -2.0f), 2.0f - 1.0f / 64);
    EXPECT_NEAR(second[i], std::tanh(-std::exp(q)) + q, 1e-5f);
    EXPECT_NEAR(plain[i], std::tanh(std::exp(q)) + q, 1e-5f);
    EXPECT_NEAR(output[i], std::tanh(-std::exp(q)), 1e-5f);
  }
}

TEST_F(StagesTest, EditorsInsideOfARunActAtOnce) {
  auto stages = compileStages(shortcut(), {"first", "second"});
  ASSERT_TRUE(stages);
  auto inputs = randomInputs(*stages);
  Worker worker(*stages);
  worker.setEditor(1, [](llvm::MutableArrayRef<float> values,
                         llvm::ArrayRef<int64_t> shape) {
    EXPECT_EQ(int64_t(values.size()), shape[0] * shape[1]);
    std::fill(values.begin(), values.end(), 3.0f);
  });
  Floats output(stages->outputs()[0].type.getNumElements());
  void *outputPointer = output.data();
  const void *input = inputs[0].data();
  llvm::cantFail(worker.run(input, outputPointer, stages->unit()));
  for (size_t i = 0; i != output.size(); ++i) {
    float q = std::nearbyint(inputs[0][i] * 64) / 64;
    q = std::min(std::max(q, -2.0f), 2.0f - 1.0f / 64);
    EXPECT_EQ(output[i], 3 - q);
  }
}

// A layer that reads only constants is made anew for each unit, or an editor
// would change what it has changed before.
TEST_F(StagesTest, EditedConstantsStartAnew) {
  auto stages = compileStages(R"(
    func.func @main(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
      %c = "tosa.const"() <{values = dense<[[1.0, 2.0]]> : tensor<1x2xf32>}> : () -> tensor<1x2xf32>
      %0 = tosa.abs %c : (tensor<1x2xf32>) -> tensor<1x2xf32> loc("layer")
      %1 = tosa.add %0, %0 : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
      %2 = tosa.add %x, %1 : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
      return %2 : tensor<1x2xf32>
    })",
                              {"layer"});
  ASSERT_TRUE(stages) << llvm::join(diagnostics, "\n");
  Worker worker(*stages);
  worker.setEditor(
      0, [](llvm::MutableArrayRef<float> values, llvm::ArrayRef<int64_t>) {
        for (float &value : values)
          value += 10;
      });
  Floats input(size_t(stages->unit()) * 2, 0.5f), output(input.size());
  const void *inputPointer = input.data();
  void *outputPointer = output.data();
  for (int round = 0; round != 2; ++round) {
    llvm::cantFail(worker.run(inputPointer, outputPointer, stages->unit()));
    EXPECT_EQ(output[0], 22.5f) << round;
    EXPECT_EQ(output[1], 24.5f) << round;
  }
}

// An edited argument is a copy: nothing is written to what the caller gave.
TEST_F(StagesTest, EditedArgumentsAreCopied) {
  auto stages = compileStages(R"(
    func.func @main(%x: tensor<1x2xf32> loc("x")) -> tensor<1x2xf32> {
      %0 = tosa.abs %x : (tensor<1x2xf32>) -> tensor<1x2xf32>
      return %0 : tensor<1x2xf32>
    })",
                              {"x"});
  ASSERT_TRUE(stages) << llvm::join(diagnostics, "\n");
  Worker worker(*stages);
  worker.setEditor(
      0, [](llvm::MutableArrayRef<float> values, llvm::ArrayRef<int64_t>) {
        for (float &value : values)
          value -= 8;
      });
  Floats input(size_t(stages->unit()) * 2, 1.0f), output(input.size());
  const Floats before = input;
  const void *inputPointer = input.data();
  void *outputPointer = output.data();
  llvm::cantFail(worker.run(inputPointer, outputPointer, stages->unit()));
  EXPECT_EQ(input, before);
  EXPECT_EQ(output[0], 7.0f);
}

// Kernels and biases that are replaced make what a network with these makes,
// to the last bit, whether oneDNN or compiled code has them; what other ops
// read stays.
TEST_F(StagesTest, ReplacedConstantsAreThoseOfANewNetwork) {
  auto network = [](float kernel, float bias) {
    std::string k = std::to_string(kernel), b = std::to_string(bias);
    std::string conv =
        "{acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, "
        "0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x3xf32>, "
        "tensor<2x2x2x3xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> "
        "tensor<1x3x3x2xf32>";
    return "func.func @main(%x: tensor<1x4x4x3xf32>) -> (tensor<1x3x3x2xf32>, "
           "tensor<1x3x3x2xf32>) {\n"
           "%k = \"tosa.const\"() <{values = dense<0.25> : "
           "tensor<2x2x2x3xf32>}> : () -> tensor<2x2x2x3xf32>\n"
           "%b = \"tosa.const\"() <{values = dense<0.5> : tensor<2xf32>}> : () "
           "-> tensor<2xf32>\n"
           "%k2 = \"tosa.const\"() <{values = dense<" +
           k +
           "> : tensor<2x2x2x3xf32>}> : () -> tensor<2x2x2x3xf32>\n"
           "%b2 = \"tosa.const\"() <{values = dense<" +
           b +
           "> : tensor<2xf32>}> : () -> tensor<2xf32>\n"
           "%z = \"tosa.const\"() <{values = dense<0.0> : tensor<1xf32>}> : () "
           "-> tensor<1xf32>\n"
           "%0 = tosa.conv2d %x, %k, %b, %z, %z " +
           conv + "\n%1 = tosa.conv2d %x, " +
           (kernel == 0.25f ? "%k, %b" : "%k2, %b2") + ", %z, %z " + conv +
           "\nreturn %0, %1 : tensor<1x3x3x2xf32>, tensor<1x3x3x2xf32>\n}";
  };
  for (bool usePrimitives : {true, false}) {
    CompileOptions options;
    options.usePrimitives = usePrimitives;
    auto wanted = compile(network(-0.75f, 2), options);
    ASSERT_TRUE(wanted);
    auto inputs = randomInputs(*wanted);
    Floats expected = runUnit(*wanted, inputs);

    module =
        mlir::parseSourceString<mlir::ModuleOp>(network(0.25f, 0.5f), &context);
    mlir::Operation *second = nullptr;
    module->walk([&](mlir::tosa::Conv2DOp op) { second = op; });
    options.replaceable = {&second->getOpOperand(1), &second->getOpOperand(2)};
    auto compiled = Executor::compile(*module, options);
    ASSERT_TRUE(mlir::succeeded(compiled)) << llvm::join(diagnostics, "\n");
    Executor &executor = **compiled;
    Floats before = runUnit(executor, inputs);
    EXPECT_NE(before, expected);
    Replacements replaced(executor);
    llvm::cantFail(replaced.replaceConstant(0, Floats(24, -0.75f)));
    llvm::cantFail(replaced.replaceConstant(1, Floats(2, 2)));
    EXPECT_EQ(llvm::toString(replaced.replaceConstant(1, Floats(3, 2))),
              "expected 2 values of a constant, found 3");
    Worker own(executor), other(executor);
    other.setReplacements(&replaced);
    EXPECT_EQ(runWorker(other, executor, inputs), expected) << usePrimitives;
    EXPECT_EQ(runWorker(own, executor, inputs), before);
    other.setReplacements(nullptr);
    EXPECT_EQ(runWorker(other, executor, inputs), before);
    llvm::cantFail(executor.replaceConstant(0, Floats(24, -0.75f)));
    llvm::cantFail(executor.replaceConstant(1, Floats(2, 2)));
    EXPECT_EQ(runUnit(executor, inputs), expected) << usePrimitives;
    EXPECT_EQ(llvm::toString(executor.replaceConstant(1, Floats(3, 2))),
              "expected 2 values of a constant, found 3");
  }
}

/// A convolution and a sum; points on the input, the kernel (per channel),
/// after the convolution and on the sum. `quantizers`: theirs; empty: none.
/// The convolution is returned, too, or oneDNN would add the sum where there is
/// no point, in another order.
std::string points(llvm::ArrayRef<std::string> quantizers) {
  auto point = [&](size_t number, const std::string &result,
                   const std::string &input, const std::string &what,
                   const std::string &type) {
    return "%" + result + " = tpc.quantize %" + input + " as \"p" +
           std::to_string(number) + "\" " + what +
           (quantizers[number].empty()
                ? ""
                : " parameters(" + quantizers[number] + ")") +
           " : " + type + "\n";
  };
  const std::string image = "tensor<1x4x4x2xf32>",
                    kernel = "tensor<2x1x1x2xf32>";
  return "func.func @main(%x: " + image + ") -> (" + image + ", " + image +
         ") {\n" + kZero +
         constant("k", {2, 1, 1, 2}, Floats{0.9f, -0.35f, 0.55f, 0.15f}) +
         constant("b", {2}, Floats{0.1f, -0.2f}) +
         point(0, "q", "x", "activation", image) +
         point(1, "w", "k", "weight \"kernel\" axes [0]", kernel) +
         "%0 = tosa.conv2d %q, %w, %b, %zero, %zero {acc_type = f32, dilation "
         "= array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = "
         "array<i64: 1, 1>} : (" +
         image + ", " + kernel +
         ", tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> " + image + "\n" +
         point(2, "y", "0", "activation", image) + "%1 = tosa.add %y, %q : (" +
         image + ", " + image + ") -> " + image + "\n" +
         point(3, "s", "1", "activation", image) + "return %s, %0 : " + image +
         ", " + image + "\n}";
}

// With other quantizers, fewer or more of them, a network computes what it
// would if it were compiled with these.
TEST_F(StagesTest, ReplacedQuantizersAreThoseOfANetworkThatHasThem) {
  auto threshold = [](const char *bits) {
    return std::string("#tpc.power_of_two<threshold = [1.0], bits = ") + bits +
           ", is_signed = true>";
  };
  const std::vector<std::vector<std::string>> all{
      {threshold("5"), "#tpc.symmetric<threshold = [0.9, 0.6], bits = 3>",
       threshold("4"), threshold("6")},
      {"", "", "", ""},
      {threshold("3"), "#tpc.symmetric<threshold = [0.8], bits = 2>", "",
       "#tpc.uniform<scale = [0.25], zero_point = [3], bits = 3>"},
      {"", "#tpc.symmetric<threshold = [0.7, 0.3], bits = 8>", threshold("2"),
       ""}};
  std::vector<Floats> expected, inputs;
  for (bool usePrimitives : {true, false}) {
    expected.clear();
    CompileOptions options;
    options.usePrimitives = usePrimitives;
    for (const auto &quantizers : all) {
      auto executor = compile(points(quantizers), options);
      ASSERT_TRUE(executor) << llvm::join(diagnostics, "\n");
      inputs = randomInputs(*executor);
      expected.push_back(runUnit(*executor, inputs));
      for (size_t other = 0; other + 1 != expected.size(); ++other)
        EXPECT_NE(expected[other], expected.back());
    }
    for (size_t start = 0; start != all.size(); ++start) {
      module =
          mlir::parseSourceString<mlir::ModuleOp>(points(all[start]), &context);
      ASSERT_TRUE(module);
      options.replaceablePoints.clear();
      module->walk([&](mct::tpc::QuantizeOp point) {
        options.replaceablePoints.push_back(point);
      });
      for (bool simulate : {true, false}) {
        options.simulateQuantization = simulate;
        auto executor = Executor::compile(*module, options);
        ASSERT_TRUE(mlir::succeeded(executor)) << llvm::join(diagnostics, "\n");
        EXPECT_EQ(runUnit(**executor, inputs), expected[simulate ? start : 1]);
        // One worker of another network after the other.
        Worker worker(**executor);
        for (size_t next : {2, 0, 3, 1}) {
          Replacements replaced(**executor);
          for (auto [number, quantizer] : llvm::enumerate(all[next]))
            llvm::cantFail(replaced.replaceQuantizer(
                number, quantizer.empty()
                            ? mlir::Attribute()
                            : mlir::parseAttribute(quantizer, &context)));
          worker.setReplacements(&replaced);
          EXPECT_EQ(runWorker(worker, **executor, inputs), expected[next]);
        }
        EXPECT_EQ(runUnit(**executor, inputs), expected[simulate ? start : 1]);
        for (size_t next : {2, 0, 3, 1}) {
          for (auto [number, quantizer] : llvm::enumerate(all[next]))
            llvm::cantFail((*executor)->replaceQuantizer(
                number, quantizer.empty()
                            ? mlir::Attribute()
                            : mlir::parseAttribute(quantizer, &context)));
          EXPECT_EQ(runUnit(**executor, inputs), expected[next])
              << usePrimitives << " from " << start << " to " << next;
        }
      }
    }
  }
}

TEST_F(StagesTest, QuantizersThatDoNotFitAreRefused) {
  module = mlir::parseSourceString<mlir::ModuleOp>(points({"", "", "", ""}),
                                                   &context);
  ASSERT_TRUE(module);
  CompileOptions options;
  module->walk([&](mct::tpc::QuantizeOp point) {
    options.replaceablePoints.push_back(point);
  });
  auto executor = Executor::compile(*module, options);
  ASSERT_TRUE(mlir::succeeded(executor)) << llvm::join(diagnostics, "\n");
  Replacements replaced(**executor);
  auto refuse = [&](size_t point, const char *text) {
    mlir::Attribute quantizer = mlir::parseAttribute(text, &context);
    std::string message =
        llvm::toString((*executor)->replaceQuantizer(point, quantizer));
    EXPECT_EQ(llvm::toString(replaced.replaceQuantizer(point, quantizer)),
              message);
    return message;
  };
  EXPECT_EQ(refuse(0, "42 : i64"),
            "'p0' cannot quantize by 42 : i64, which is not a quantizer");
  const char *three = "#tpc.symmetric<threshold = [1.0, 2.0, 3.0], bits = 4>";
  EXPECT_EQ(refuse(0, three),
            "'p0' cannot quantize by 3 parameters: it has 1 channels");
  EXPECT_EQ(refuse(1, three),
            "'p1/kernel' cannot quantize by 3 parameters: it has 2 channels");
}

TEST_F(StagesTest, PointsOfTheProgramCannotChange) {
  module = mlir::parseSourceString<mlir::ModuleOp>(R"(
    func.func @main(%x: tensor<1xf32>) -> tensor<1xf32> {
      %0 = tpc.quantize %x as "p" activation trainable(#tpc.host_quantizer<name = "some.Where", config = {}>) : tensor<1xf32>
      return %0 : tensor<1xf32>
    })",
                                                   &context);
  ASSERT_TRUE(module) << llvm::join(diagnostics, "\n");
  CompileOptions options;
  module->walk([&](mct::tpc::QuantizeOp point) {
    options.replaceablePoints.push_back(point);
  });
  EXPECT_TRUE(mlir::failed(Executor::compile(*module, options)));
  ASSERT_EQ(diagnostics.size(), 1u);
  EXPECT_NE(diagnostics[0].find(
                "'tpc.quantize' op cannot be executed with another quantizer: "
                "\"some.Where\" of the program quantizes it"),
            std::string::npos)
      << diagnostics[0];
}

TEST_F(StagesTest, PointsOfHugeConstantsCannotChange) {
  module = mlir::parseSourceString<mlir::ModuleOp>(R"(
    func.func @main(%x: tensor<1xf32>) -> tensor<1xf32> {
      %c = "tosa.const"() <{values = dense<1.0> : tensor<67108865xf32>}> : () -> tensor<67108865xf32>
      %w = tpc.quantize %c as "p" weight "kernel" axes [] : tensor<67108865xf32>
      return %x : tensor<1xf32>
    })",
                                                   &context);
  ASSERT_TRUE(module) << llvm::join(diagnostics, "\n");
  CompileOptions options;
  module->walk([&](mct::tpc::QuantizeOp point) {
    options.replaceablePoints.push_back(point);
  });
  EXPECT_TRUE(mlir::failed(Executor::compile(*module, options)));
  ASSERT_EQ(diagnostics.size(), 1u);
  EXPECT_NE(diagnostics[0].find("'tpc.quantize' op cannot be executed with "
                                "another quantizer: its constant is too large"),
            std::string::npos)
      << diagnostics[0];
}

TEST_F(StagesTest, OperandsThatAreNoConstantsCannotBeReplaced) {
  module = mlir::parseSourceString<mlir::ModuleOp>(R"(
    func.func @main(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
      %0 = tosa.abs %x : (tensor<1x2xf32>) -> tensor<1x2xf32>
      %1 = tosa.add %0, %0 : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
      return %1 : tensor<1x2xf32>
    })",
                                                   &context);
  mlir::Operation *add = nullptr;
  module->walk([&](mlir::tosa::AddOp op) { add = op; });
  CompileOptions options;
  options.replaceable = {&add->getOpOperand(1)};
  EXPECT_TRUE(mlir::failed(Executor::compile(*module, options)));
  ASSERT_EQ(diagnostics.size(), 1u);
  EXPECT_NE(diagnostics[0].find("'tosa.add' op cannot be executed with other "
                                "values of operand 1, which is not a constant"),
            std::string::npos)
      << diagnostics[0];
}

/// `count` layers one after the other, `l0` and so on. All read one constant.
std::string chain(int count) {
  const std::string type = "tensor<1x16xf32>";
  std::string text = "func.func @main(%x: " + type + ") -> " + type + " {\n" +
                     constant("c", {1, 16}, 7),
              last = "x";
  for (int number = 0; number != count; ++number) {
    std::string own = std::to_string(number);
    text +=
        "%s" + own + " = tosa.add %" + last + ", %c : (" + type + ", " + type +
        ") -> " + type + "\n%l" + own + " = tosa.tanh %s" + own + " : (" +
        type + ") -> " + type + " loc(\"l" + own + "\")\n%q" + own +
        " = tpc.quantize %l" + own + " as \"q" + own +
        "\" activation parameters(#tpc.power_of_two<threshold = [1.0], bits "
        "= 8>) : " +
        type + "\n";
    last = "q" + own;
  }
  return text + "return %" + last + " : " + type + "\n}";
}

// The ops of a network that is four times as long are visited four times as
// often, both by the planning of the steps and by a worker that runs it stage
// by stage.
TEST_F(StagesTest, VisitsAreInProportionToTheFunction) {
  constexpr int kLayers = 50;
  auto count = [&](int layers, bool isCut) {
    std::vector<std::string> edited;
    for (int number = 0; isCut && number != layers; ++number)
      edited.push_back("l" + std::to_string(number));
    auto executor = compileStages(chain(layers), edited);
    EXPECT_TRUE(executor) << llvm::join(diagnostics, "\n");
    EXPECT_EQ(executor->numStages(), isCut ? unsigned(layers) + 1 : 1u);
    Floats input = randomInputs(*executor).front(), output(input.size());
    const void *inputs[] = {input.data()};
    void *outputs[] = {output.data()};
    Worker worker(*executor);
    for (unsigned stage = 0; stage != executor->numStages(); ++stage)
      EXPECT_FALSE(worker.runStages(stage, stage, nullptr, inputs, outputs,
                                    {0, executor->unit()}));
    return std::pair(executor->numVisits(), worker.numVisits());
  };
  for (bool isCut : {false, true}) {
    auto [planned, ran] = count(kLayers, isCut);
    auto [plannedMore, ranMore] = count(4 * kLayers, isCut);
    // Each layer is three ops.
    EXPECT_GT(planned, size_t(3 * kLayers));
    EXPECT_LE(plannedMore, 4 * planned);
    EXPECT_GT(ran, size_t(kLayers));
    EXPECT_LE(ranMore, 4 * ran);
  }
}

TEST(FrontierTest, BlocksComeBackFromMemoryAndFromTheFile) {
  constexpr int64_t kUnits = 10, kLargest = 1000;
  // 3 blocks of the first size fit, or 10 of the second; or all.
  for (int64_t budget : {3500, 10000}) {
    Frontier frontier(kUnits, kLargest, budget);
    for (int64_t size : {int64_t(1000), int64_t(300), int64_t(900)}) {
      for (int64_t unit = 0; unit != kUnits; ++unit) {
        std::vector<char> written(size, char(unit * 7 + size));
        if (unit % 2 == 0) {
          ASSERT_FALSE(frontier.write(unit, written));
          continue;
        }
        std::vector<char> buffer(size);
        ASSERT_FALSE(frontier.write(unit, buffer, [&](char *to) {
          std::copy(written.begin(), written.end(), to);
        }));
      }
      EXPECT_LE(frontier.memoryBytes(), budget);
      EXPECT_GE(frontier.memoryBytes(), budget == 3500 ? 2700 : 10000);
      int64_t inMemory = 0;
      for (int64_t unit = kUnits; unit-- > 0;) {
        std::vector<char> read(size), expected(size, char(unit * 7 + size));
        ASSERT_FALSE(frontier.read(unit, read));
        EXPECT_EQ(read, expected) << unit;
        auto stored = frontier.view(unit, read);
        ASSERT_TRUE(bool(stored));
        EXPECT_EQ(std::vector<char>(*stored, *stored + size), expected) << unit;
        inMemory += *stored != read.data();
      }
      EXPECT_LE(inMemory * size, budget);
      EXPECT_GE(inMemory, 3);
    }
  }
}

} // namespace
