// SPDX-License-Identifier: Apache-2.0
//
// Random networks, executed and evaluated by the definitions of their ops. A
// difference is printed with its seed and the smallest network that shows it.
#include "Expectation.h"
#include "Fixture.h"

#include "mct/Execution/Run.h"
#include "mct/IR/Names.h"
#include "mct/Interfaces/SetBatch.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/ADT/SetVector.h"

#include <map>
#include <mutex>
#include <set>

using namespace mct::execution;
using namespace mct::support;
using namespace mct::testing;
using mlir::Value;

namespace {

/// Options of a run; every choice may be combined with every network.
struct Plan {
  explicit Plan(unsigned seed) {
    std::mt19937 random(seed * 2654435761u + 1);
    auto below = [&](unsigned bound) { return int64_t(random() % bound); };
    samples = 1 + below(5);
    static const int64_t units[] = {0, 0, 1, 2, 3, 4};
    unit = units[below(6)];
    run.threads = unsigned(1 + below(3));
    run.batchSize = below(4);
    simulate = below(100) < 75;
    observeAfter = below(2) != 0;
    loops = below(3) == 0;
    observeEvery = 1 + below(4);
  }
  int64_t samples, unit;
  RunOptions run;
  bool simulate, observeAfter, loops;
  /// Besides the points, every so-many-th value is observed.
  int64_t observeEvery;
};

class RandomNetworks : public ExecutionTest {
protected:
  RandomNetworks() {
    llvm::SmallString<128> path;
    llvm::sys::fs::createUniqueDirectory("random-networks", path);
    folder = path.str().str();
  }
  ~RandomNetworks() override { llvm::sys::fs::remove_directories(folder); }

  /// Returns what differs between the executor and the reference; empty if
  /// nothing.
  std::string difference(mlir::ModuleOp network, unsigned seed);
  /// Runs all units; if `apart`, each stage is run by another worker, which has
  /// only the values that the previous one saved.
  std::string runUnits(const Executor &executor, const Expectation &expected,
                       bool apart = false);
  std::string runSamples(const Executor &executor, const Expectation &expected,
                         const Plan &plan,
                         llvm::ArrayRef<Value> observedValues);
  std::string dynamicDifference(mlir::ModuleOp network,
                                const CompileOptions &options,
                                const Expectation &expected);
  Value observedValue(mlir::func::FuncOp function, llvm::StringRef name,
                      bool after);
  /// The smallest network that still differs, and how.
  std::string explain(mlir::ModuleOp network, unsigned seed);
  /// Runs a network in every way, for a few seeds.
  void expectNoDifference(const std::string &text);

  std::string folder;
  Judged judged;
  size_t numDynamic = 0;
};

std::string RandomNetworks::runUnits(const Executor &executor,
                                     const Expectation &expected, bool apart) {
  Worker worker(executor);
  int64_t unit = executor.unit();
  for (int64_t first = 0; first < expected.samples; first += unit) {
    int64_t valid = std::min(unit, expected.samples - first);
    std::vector<std::vector<char>> inputs, outputs;
    llvm::SmallVector<const void *> inputData;
    llvm::SmallVector<void *> outputData;
    for (size_t i = 0; i != executor.inputs().size(); ++i)
      inputs.push_back(expected.inputUnit(i, first, valid, unit));
    for (const TensorSpec &spec : executor.outputs())
      // A value that is not written must not pass for a result.
      outputs.emplace_back(
          size_t(spec.type.getNumElements() *
                 ((spec.type.getElementTypeBitWidth() + 7) / 8)),
          char(0x7e));
    for (auto &input : inputs)
      inputData.push_back(input.data());
    for (auto &output : outputs)
      outputData.push_back(output.data());
    std::vector<char> saved;
    for (unsigned stage = 0; apart && stage != executor.numStages(); ++stage) {
      Worker own(executor);
      llvm::cantFail(own.runStages(stage, stage,
                                   stage == 0 ? nullptr : saved.data(),
                                   inputData, outputData, {first, valid}));
      saved.assign(size_t(executor.savedBytes(stage)), char(0x7e));
      own.save(stage, saved.data());
    }
    if (!apart)
      llvm::cantFail(worker.run(inputData, outputData, valid));
    for (auto [i, spec] : llvm::enumerate(executor.outputs())) {
      std::string difference =
          expected.compare(expected.outputs[i], outputs[i].data(),
                           spec.type.getShape(), unit, first, valid, judged);
      if (!difference.empty())
        return "result " + std::to_string(i) + " ('" + spec.name +
               "'): " + difference;
    }
  }
  return "";
}

std::string RandomNetworks::runSamples(const Executor &executor,
                                       const Expectation &expected,
                                       const Plan &plan,
                                       llvm::ArrayRef<Value> observedValues) {
  SampleOptions options;
  options.files = writeSamples(expected, folder);
  // An argument's name may be a number too.
  for (auto [file, spec] : llvm::zip(options.files, executor.inputs()))
    file = spec.name + file.substr(file.find(':'));
  auto samples =
      SampleSource::open(options, executor.inputs(), executor.unit());
  if (!samples)
    return "samples: " + llvm::toString(samples.takeError());

  struct Latest : TensorObserver {
    void observe(const TensorView &view) override {
      values = view.floats().vec();
      shape = view.shape().vec();
      ++calls;
    }
    std::vector<float> values;
    std::vector<int64_t> shape;
    int calls = 0;
  };
  std::vector<std::vector<Latest>> latest(
      numWorkers(executor, **samples, plan.run));
  for (auto &one : latest)
    one.resize(observedValues.size());
  std::mutex mutex;
  std::map<std::string, std::string> differences;
  llvm::Error error = forEachUnit(
      executor, **samples, plan.run,
      [&](size_t number, Worker &worker) {
        for (size_t i = 0; i != observedValues.size(); ++i)
          worker.setObserver(i, &latest[number][i]);
      },
      [&](const Unit &unit) {
        std::lock_guard<std::mutex> lock(mutex);
        auto note = [&](const std::string &what, const std::string &text) {
          if (!text.empty())
            differences.try_emplace(what, text);
        };
        for (auto [i, spec] : llvm::enumerate(executor.outputs()))
          note("result " + std::to_string(i) + " ('" + spec.name + "')",
               expected.compare(expected.outputs[i], unit.outputs[i],
                                spec.type.getShape(), executor.unit(),
                                unit.firstSample, unit.validSamples, judged));
        for (auto [i, value] : llvm::enumerate(observedValues)) {
          Latest &latestValue = latest[unit.worker][i];
          const TensorSpec &spec = executor.observed()[i];
          std::string what = "observed '" + spec.name + "'";
          if (latestValue.calls != 1)
            note(what, "seen " + std::to_string(latestValue.calls) + " times");
          else
            note(what,
                 expected.compare(value, latestValue.values.data(),
                                  latestValue.shape, unit.validSamples,
                                  unit.firstSample, unit.validSamples, judged));
          latestValue.calls = 0;
        }
        return llvm::Error::success();
      });
  if (error)
    return "run: " + llvm::toString(std::move(error));
  if (differences.empty())
    return "";
  return differences.begin()->first + ": " + differences.begin()->second;
}

Value RandomNetworks::observedValue(mlir::func::FuncOp function,
                                    llvm::StringRef name, bool after) {
  Value found;
  for (mlir::BlockArgument argument : function.getArguments())
    if (auto given = mct::getName(argument); given && given.getValue() == name)
      found = argument;
  function.walk([&](mlir::Operation *op) {
    if (auto point = mlir::dyn_cast<mct::tpc::QuantizeOp>(op)) {
      if (point.isActivation() && point.getUniqueName() == name)
        found = after ? point.getResult() : point.getInput();
    } else if (op->getNumResults() == 1 && op->getBlock() == &function.front())
      if (auto given = mct::getName(op->getLoc());
          given && given.getValue() == name)
        found = op->getResult(0);
  });
  return found;
}

std::string RandomNetworks::difference(mlir::ModuleOp network, unsigned seed) {
  Plan plan(seed);
  mlir::func::FuncOp function = mainOf(network);
  // Alone, with everything fused that may be; observed; as loops.
  CompileOptions alone;
  alone.unit = plan.unit;
  alone.simulateQuantization = plan.simulate;
  CompileOptions watched = alone;
  watched.observeAllPoints = true;
  watched.observeAfterQuantization = plan.observeAfter;
  int64_t number = 0;
  for (mlir::Operation &op : function.getBody().front()) {
    if (op.getNumResults() != 1 || mlir::isa<mct::tpc::QuantizeOp>(op))
      continue;
    auto type =
        mlir::dyn_cast<mlir::RankedTensorType>(op.getResult(0).getType());
    auto name = mct::getName(op.getLoc());
    if (type && type.getElementType().isF32() && name &&
        ++number % plan.observeEvery == 0)
      watched.observed.push_back(name.str());
  }
  CompileOptions loops = watched;
  loops.usePrimitives = false;
  // Cut into stages where values are observed.
  CompileOptions staged = watched;
  staged.observeAllPoints = false;
  staged.numEdited = staged.observed.size();
  llvm::SmallVector<CompileOptions, 4> options{alone, watched, staged};
  if (plan.loops)
    options.push_back(loops);
  diagnostics.clear();
  auto executors = Executor::compileAll(network, options);
  if (mlir::failed(executors))
    return "does not compile: " + llvm::join(diagnostics, "\n");

  // A fixed batch wants whole units.
  int64_t samples = plan.samples;
  for (auto &executor : *executors)
    if (!executor->allowsPartialUnits())
      samples = executor->unit() * ((samples + 1) / 2);
  const Executor &one = *executors->front();
  bool callIsSample = llvm::any_of(one.inputs(), [&](const TensorSpec &input) {
    return input.type.getRank() != 0 && input.type.getDimSize(0) != one.unit();
  });
  Expectation expected(network, seed, samples, plan.simulate,
                       /*uncertain=*/nullptr, callIsSample);
  if (!expected.error.empty())
    return "reference: " + expected.error;
  for (auto [which, executor] : llvm::enumerate(*executors)) {
    static const char *const names[] = {"alone", "observed", "stages", "loops"};
    std::string text;
    if (which == 2) {
      text = runUnits(*executor, expected, /*apart=*/true);
    } else if (which == 0) {
      text = runUnits(*executor, expected);
    } else {
      llvm::SmallVector<Value> values;
      for (const TensorSpec &spec : executor->observed())
        values.push_back(observedValue(function, spec.name, plan.observeAfter));
      text = runSamples(*executor, expected, plan, values);
    }
    if (!text.empty())
      return std::string(names[which]) + ": " + text;
  }
  return dynamicDifference(network, alone, expected);
}

/// The same network with a batch of unknown size, where it can have that.
std::string RandomNetworks::dynamicDifference(mlir::ModuleOp network,
                                              const CompileOptions &options,
                                              const Expectation &expected) {
  if (!expected.hasBatch)
    return "";
  mlir::OwningOpRef<mlir::ModuleOp> dynamic =
      mlir::cast<mlir::ModuleOp>(network->clone());
  if (mlir::failed(mct::setBatch(mainOf(*dynamic), mlir::ShapedType::kDynamic)))
    return "";
  if (mlir::failed(mlir::verify(*dynamic)))
    return "dynamic: " + llvm::join(diagnostics, "\n");
  diagnostics.clear();
  auto executor = Executor::compile(*dynamic, options);
  if (mlir::failed(executor))
    return "dynamic: does not compile: " + llvm::join(diagnostics, "\n");
  std::string text = runUnits(**executor, expected);
  ++numDynamic;
  return text.empty() ? "" : "dynamic: " + text;
}

std::string RandomNetworks::explain(mlir::ModuleOp network, unsigned seed) {
  mlir::OwningOpRef<mlir::ModuleOp> small =
      shrink(network, [&](mlir::ModuleOp candidate) {
        return !difference(candidate, seed).empty();
      });
  return difference(*small, seed) + "\n" + mct::testing::print(*small);
}

void RandomNetworks::expectNoDifference(const std::string &text) {
  auto network = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  ASSERT_TRUE(network) << llvm::join(diagnostics, "\n");
  for (unsigned seed = 1; seed != 9; ++seed)
    ASSERT_EQ(difference(*network, seed), "") << "seed " << seed;
}

//===----------------------------------------------------------------------===//
// Random networks
//===----------------------------------------------------------------------===//

// MCT_RANDOM_NETWORKS=2000 for more of them, MCT_RANDOM_SEED=7 for others.
TEST_F(RandomNetworks, ComputeWhatTheirOpsAreDefinedToCompute) {
  size_t count = numRandomNetworks(200), failures = 0;
  for (size_t i = 0; i != count; ++i) {
    unsigned seed = firstSeed() + unsigned(i);
    auto network = makeRandomNetwork(context, seed);
    ASSERT_TRUE(mlir::succeeded(mlir::verify(*network)))
        << "seed " << seed << ": " << llvm::join(diagnostics, "\n");
    std::string text = difference(*network, seed);
    if (text.empty())
      continue;
    // The first ones in full.
    ADD_FAILURE() << "seed " << seed << ": "
                  << (++failures <= 5 ? explain(*network, seed) : text);
  }
  RecordProperty("different", int(failures));
  // Most networks have a batch that can be followed.
  EXPECT_GE(numDynamic, count / 2);
  // Bounds so wide that anything fits would judge nothing.
  EXPECT_GT(double(judged.tight), 0.9 * double(judged.elements))
      << judged.tight << " of " << judged.elements;
}

// Kinds that are not made are not judged.
TEST_F(RandomNetworks, ContainEveryKind) {
  std::map<std::string, int> latestValue;
  for (unsigned seed = 1; seed != 1001; ++seed) {
    auto network = makeRandomNetwork(context, seed);
    mlir::func::FuncOp function = mainOf(*network);
    std::set<std::string> kinds;
    for (mlir::Type type : function.getArgumentTypes())
      if (mlir::cast<mlir::RankedTensorType>(type).getRank() == 0)
        kinds.insert("scalar argument");
    function.walk([&](mlir::Operation *op) {
      llvm::StringRef name = op->getName().getStringRef();
      kinds.insert(name.str());
      if (name.contains("conv") || name.contains("matmul"))
        if (mlir::isa<mlir::BlockArgument>(op->getOperand(1)) &&
            op->getOperand(1) != op->getOperand(0))
          kinds.insert("kernel argument");
      for (Value operand : op->getOperands())
        if (auto type =
                mlir::dyn_cast<mlir::RankedTensorType>(operand.getType());
            type && type.getElementType().isInteger(16))
          kinds.insert("i16 " + name.str());
    });
    for (const std::string &kind : kinds)
      ++latestValue[kind];
  }
  for (const char *kind :
       {"scalar argument", "kernel argument", "i16 tosa.add", "i16 tosa.mul",
        "i16 tosa.rescale", "i16 tosa.table", "i16 tosa.cast",
        "i16 tosa.bitwise_and", "i16 tosa.clamp", "i16 tosa.select",
        "i16 tosa.arithmetic_right_shift", "i16 tosa.negate", "tosa.cond_if",
        "tosa.while_loop", "tosa.conv3d", "tosa.scatter",
        "tosa.transpose_conv2d", "tosa.resize"})
    EXPECT_GE(latestValue[kind], 1) << kind;
}

//===----------------------------------------------------------------------===//
// For other executors
//===----------------------------------------------------------------------===//

/// Leaves out what other executors do not know: points, and results that are no
/// op's own.
void leavePlainTosa(mlir::ModuleOp network) {
  mlir::func::FuncOp function = mainOf(network);
  mlir::Block &body = function.getBody().front();
  for (mlir::Operation &op : llvm::make_early_inc_range(body))
    if (auto point = mlir::dyn_cast<mct::tpc::QuantizeOp>(op)) {
      point.getResult().replaceAllUsesWith(point.getInput());
      point.erase();
    }
  llvm::SetVector<Value> results;
  for (Value result : body.getTerminator()->getOperands())
    if (result.getDefiningOp() &&
        !result.getDefiningOp()->hasTrait<mlir::OpTrait::ConstantLike>())
      results.insert(result);
  body.getTerminator()->setOperands(results.getArrayRef());
  function.setFunctionType(mlir::FunctionType::get(
      &*function.getContext(), body.getArgumentTypes(),
      llvm::SmallVector<mlir::Type>(body.getTerminator()->getOperandTypes())));
}

void writeNpy(const std::string &path, ElementType element,
              llvm::ArrayRef<int64_t> shape, const void *data, size_t bytes) {
  auto writer = llvm::cantFail(NpyWriter::create(path, element, shape));
  writer->write(data, bytes);
  llvm::cantFail(writer->commit());
}

// test/python/test_reference_model.py gives what this writes to Arm's reference
// model: MCT_RANDOM_NETWORKS networks to MCT_RANDOM_NETWORKS_FOLDER, each as
// SEED.mlir with SEED_inN.npy, SEED_outN.npy (the result of the executor),
// SEED_valueN.npy and SEED_errorN.npy (the values and errors of the reference).
TEST_F(RandomNetworks, AreWrittenForOtherExecutors) {
  const char *variable = std::getenv("MCT_RANDOM_NETWORKS_FOLDER");
  std::string target = variable ? variable : folder;
  size_t count = variable ? numRandomNetworks(20) : 2;
  for (size_t i = 0; i != count; ++i) {
    unsigned seed = firstSeed() + unsigned(i);
    auto network = makeRandomNetwork(context, seed);
    leavePlainTosa(*network);
    ASSERT_TRUE(mlir::succeeded(mlir::verify(*network)));
    int64_t batch = shapeOf(mainOf(*network).getArgument(0))[0];
    Expectation expected(*network, seed, batch, /*simulate=*/false);
    ASSERT_EQ(expected.error, "") << "seed " << seed;
    if (!expected.hasBatch || expected.outputs.empty())
      continue;
    CompileOptions options;
    options.keepTypes = true;
    auto executor = Executor::compile(*network, options);
    ASSERT_TRUE(mlir::succeeded(executor)) << "seed " << seed;

    std::string prefix = target + "/" + std::to_string(seed);
    std::error_code error;
    llvm::raw_fd_ostream(prefix + ".mlir", error)
        << mct::testing::print(*network);
    ASSERT_FALSE(error);
    llvm::SmallVector<const void *> inputs;
    for (auto [number, type] : llvm::enumerate(expected.argumentTypes)) {
      inputs.push_back(expected.data[number].data());
      writeNpy(prefix + "_in" + std::to_string(number) + ".npy",
               npyElement(type),
               mlir::cast<mlir::RankedTensorType>(type).getShape(),
               inputs.back(), expected.data[number].size());
    }
    std::vector<std::vector<char>> results;
    llvm::SmallVector<void *> outputs;
    for (const TensorSpec &spec : (*executor)->outputs())
      results.emplace_back(
          size_t(spec.type.getNumElements() *
                 ((spec.type.getElementTypeBitWidth() + 7) / 8)));
    for (auto &result : results)
      outputs.push_back(result.data());
    ASSERT_FALSE(Worker(**executor).run(inputs, outputs, 1));
    for (auto [number, value] : llvm::enumerate(expected.outputs)) {
      std::string suffix = std::to_string(number) + ".npy";
      const ReferenceTensor &tensor = expected.evaluators[0][value];
      std::vector<double> values, errors;
      for (const Number &one : tensor.numbers) {
        values.push_back(one.value);
        errors.push_back(one.error);
      }
      writeNpy(prefix + "_out" + suffix, npyElement(value.getType()),
               tensor.shape, outputs[number], results[number].size());
      writeNpy(prefix + "_value" + suffix, ElementType::F64, tensor.shape,
               values.data(), values.size() * sizeof(double));
      writeNpy(prefix + "_error" + suffix, ElementType::F64, tensor.shape,
               errors.data(), errors.size() * sizeof(double));
    }
    // The file that was written is the network.
    auto again =
        mlir::parseSourceFile<mlir::ModuleOp>(prefix + ".mlir", &context);
    ASSERT_TRUE(again);
    EXPECT_EQ(mct::testing::print(*again), mct::testing::print(*network));
  }
}

//===----------------------------------------------------------------------===//
// Values that are read again after an op that may compute in their place
//===----------------------------------------------------------------------===//

// The tensors that a loop hands on are not those that it was given.
TEST_F(RandomNetworks, LoopThatCounts) {
  expectNoDifference(
      R"(func.func @main(%x: tensor<1x4xf32>) -> tensor<1x4xf32> {
    %zero = "tosa.const"() <{values = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %y:2 = tosa.while_loop (%i = %zero, %v = %x) : (tensor<i32>, tensor<1x4xf32>) -> (tensor<i32>, tensor<1x4xf32>) {
      %end = "tosa.const"() <{values = dense<3> : tensor<i32>}> : () -> tensor<i32>
      %more = tosa.greater %end, %i : (tensor<i32>, tensor<i32>) -> tensor<i1>
      tosa.yield %more : tensor<i1>
    } do {
    ^bb0(%i: tensor<i32>, %v: tensor<1x4xf32>):
      %one = "tosa.const"() <{values = dense<1> : tensor<i32>}> : () -> tensor<i32>
      %next = tosa.add %i, %one : (tensor<i32>, tensor<i32>) -> tensor<i32>
      %w = tosa.add %v, %v : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
      tosa.yield %next, %w : tensor<i32>, tensor<1x4xf32>
    }
    return %y#1 : tensor<1x4xf32>
  })");
}

const std::string kImage = "tensor<1x3x3x4xf32>";

/// A pool with windows of one pixel: what it reads.
std::string copyOf(const std::string &result, const std::string &value) {
  return "%" + result + " = tosa.max_pool2d %" + value +
         " {kernel = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = "
         "array<i64: 1, 1>} : (" +
         kImage + ") -> " + kImage + "\n";
}

/// A convolution of 3x3 pixels of 4 channels each into one number.
std::string sumOf(const std::string &result, const std::string &value) {
  return "%" + result + " = tosa.conv2d %" + value +
         ", %w, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, "
         "1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 3, 3>} : (" +
         kImage +
         ", tensor<1x3x3x4xf32>, tensor<1xf32>, tensor<1xf32>, "
         "tensor<1xf32>) -> tensor<1x1x1x1xf32> loc(\"" +
         result + "\")\n";
}

TEST_F(RandomNetworks, PoolAfterAnExponentialOfTheSameConvolution) {
  expectNoDifference(
      "func.func @main(%x: " + kImage + ") -> (" + kImage + ", " + kImage +
      ") {\n" + kZero + constant("w", {4, 1, 1, 4}, 1) + constant("b", {4}, 2) +
      R"(%z = tosa.conv2d %x, %w, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x3x3x4xf32>, tensor<4x1x1x4xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x3x4xf32>
    %e = tosa.exp %z : (tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32>
)" + copyOf("m", "z") +
      "return %e, %m : " + kImage + ", " + kImage + "\n}");
}

TEST_F(RandomNetworks, PoolAfterAnActivationOfTheSamePool) {
  expectNoDifference("func.func @main(%x: " + kImage + ") -> (" + kImage +
                     ", " + kImage + ") {\n" + copyOf("p", "x") +
                     "%t = tosa.tanh %p : (" + kImage + ") -> " + kImage +
                     "\n" + copyOf("d", "p") + "return %t, %d : " + kImage +
                     ", " + kImage + "\n}");
}

TEST_F(RandomNetworks, PoolAfterAnActivationOfASlice) {
  expectNoDifference("func.func @main(%x: " + kImage +
                     ") -> (tensor<1x2x3x4xf32>, " + kImage + ") {\n" +
                     copyOf("p", "x") + R"(
    %start = tosa.const_shape {values = dense<0> : tensor<4xindex>} : () -> !tosa.shape<4>
    %size = tosa.const_shape {values = dense<[1, 2, 3, 4]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %s = tosa.slice %p, %start, %size : (tensor<1x3x3x4xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<1x2x3x4xf32>
    %t = tosa.tanh %s : (tensor<1x2x3x4xf32>) -> tensor<1x2x3x4xf32>
)" + copyOf("d", "p") +
                     "return %t, %d : tensor<1x2x3x4xf32>, " + kImage + "\n}");
}

TEST_F(RandomNetworks, PoolAfterAScatterIntoAReshape) {
  expectNoDifference("func.func @main(%x: " + kImage +
                     ") -> (tensor<1x9x4xf32>, " + kImage + ") {\n" +
                     copyOf("p", "x") + constant("v", {1, 2, 4}, 3) + R"(
    %size = tosa.const_shape {values = dense<[1, 9, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %q = tosa.reshape %p, %size : (tensor<1x3x3x4xf32>, !tosa.shape<3>) -> tensor<1x9x4xf32>
    %i = "tosa.const"() <{values = dense<[[0, 7]]> : tensor<1x2xi32>}> : () -> tensor<1x2xi32>
    %s = tosa.scatter %q, %i, %v : (tensor<1x9x4xf32>, tensor<1x2xi32>, tensor<1x2x4xf32>) -> tensor<1x9x4xf32>
)" + copyOf("d", "p") +
                     "return %s, %d : tensor<1x9x4xf32>, " + kImage + "\n}");
}

TEST_F(RandomNetworks, TwoConvolutionsOfASumAndOneOfADifference) {
  std::string binary =
      " %a, %c : (" + kImage + ", " + kImage + ") -> " + kImage + "\n";
  std::string one = "tensor<1x1x1x1xf32>";
  expectNoDifference(
      "func.func @main(%a: " + kImage + ", %c: " + kImage + ") -> (" + one +
      ", " + one + ", " + one + ") {\n" + kZero +
      constant("w", {1, 3, 3, 4}, 1) + constant("b", {1}, 2) + "%x = tosa.add" +
      binary + sumOf("u", "x") + "%y = tosa.sub" + binary + sumOf("v", "x") +
      sumOf("z", "y") + "return %u, %v, %z : " + one + ", " + one + ", " + one +
      "\n}");
}

TEST_F(RandomNetworks, TwoParametricActivationsInFrontOfObservedConvolutions) {
  std::string text =
      "func.func @main(%a: " + kImage + ", %b0: " + kImage + ", %c: " + kImage +
      ", %d: " + kImage +
      ") -> (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>) {\n" + kZero +
      constant("w", {1, 3, 3, 4}, 1) + constant("b", {1}, 2) +
      constant("p", {1, 1, 1, 4}, 3) +
      constant("null", {1, 1, 1, 1}, Floats{0}) +
      R"(%sh = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %x = tosa.add %a, %b0 : (tensor<1x3x3x4xf32>, tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32> loc("x")
    %y = tosa.add %c, %d : (tensor<1x3x3x4xf32>, tensor<1x3x3x4xf32>) -> tensor<1x3x3x4xf32> loc("y")
)";
  for (std::string v : {"x", "y"})
    text += "%m" + v + " = tosa.mul %" + v + ", %p, %sh : (" + kImage +
            ", tensor<1x1x1x4xf32>, tensor<1xi8>) -> " + kImage + "\n%g" + v +
            " = tosa.greater_equal %" + v + ", %null : (" + kImage +
            ", tensor<1x1x1x1xf32>) -> tensor<1x3x3x4xi1>\n%s" + v +
            " = tosa.select %g" + v + ", %" + v + ", %m" + v +
            " : (tensor<1x3x3x4xi1>, " + kImage + ", " + kImage + ") -> " +
            kImage + " loc(\"s" + v + "\")\n";
  expectNoDifference(text + sumOf("u", "sx") + sumOf("v", "sy") +
                     "return %v, %u : tensor<1x1x1x1xf32>, "
                     "tensor<1x1x1x1xf32>\n}");
}

} // namespace
