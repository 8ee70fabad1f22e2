// SPDX-License-Identifier: Apache-2.0
//
// A step: the teacher makes its values of a batch; the shards of the batch run
// up to the results, where the loss puts its gradients in place of them, and on
// to the gradients of what is learned; these are summed in the order of the
// shards, and move the values. Everything that is rounded is computed in an
// order that no number of threads changes.
#include "mct/Training/TrainingRun.h"

#include "TrainingCheckpoint.h"
#include "mct/Execution/HostCalls.h"
#include "mct/IR/HostQuantizers.h"
#include "mct/IR/Names.h"
#include "mct/Quantization/Parallel.h"
#include "mct/Support/AlignedBuffer.h"
#include "mct/Transforms/SetBatch.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/xxhash.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <numeric>

using namespace mlir;
using namespace mct;
using execution::Executor;
using execution::SampleSource;
using execution::TensorSpec;
using execution::Worker;
using support::AlignedBuffer;

//===----------------------------------------------------------------------===//
// The order of samples
//===----------------------------------------------------------------------===//

namespace {
/// Source: Steele, Lea and Flood, Fast splittable pseudorandom number
/// generators (OOPSLA 2014), as in java.util.SplittableRandom.
struct SplitMix64 {
  uint64_t state;

  static uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  uint64_t next() { return mix(state += 0x9e3779b97f4a7c15); }
  /// Below `bound`, each as likely: what would make some likelier is dropped.
  uint64_t below(uint64_t bound) {
    uint64_t reject = (0 - bound) % bound, number;
    do
      number = next();
    while (number < reject);
    return number % bound;
  }
};
} // namespace

std::vector<int64_t> mct::shuffleSamples(int64_t count, uint64_t seed,
                                         int64_t epoch) {
  std::vector<int64_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  SplitMix64 random{SplitMix64::mix(SplitMix64::mix(seed) + uint64_t(epoch))};
  for (int64_t last = count; last > 1; --last)
    std::swap(order[last - 1], order[random.below(uint64_t(last))]);
  return order;
}

//===----------------------------------------------------------------------===//
// State
//===----------------------------------------------------------------------===//

static double now() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

static int64_t byteSize(RankedTensorType type) {
  return type.getNumElements() *
         execution::getElementBytes(type.getElementType());
}

static std::string hashText(StringRef bytes) {
  llvm::XXH128_hash_t hash = llvm::xxh3_128bits(
      {reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()});
  return llvm::formatv("{0:x-16}{1:x-16}", hash.high64, hash.low64).str();
}

namespace {

/// Buffers for the tensors of one call.
struct CallBuffers {
  std::vector<AlignedBuffer> buffers;
  SmallVector<const void *> inputs;
  SmallVector<void *> outputs;
  bool hasMemory = true;

  void *add(int64_t bytes) {
    void *data = buffers.emplace_back(bytes).get();
    hasMemory &= data != nullptr;
    return data;
  }
  /// Empty where there is no memory.
  MutableArrayRef<float> addFloats(size_t count) {
    auto *data = static_cast<float *>(add(int64_t(count * sizeof(float))));
    return {data, data ? count : 0};
  }
};

/// What a thread needs to run the network and its gradients.
struct Lane {
  Lane(const Executor &executor, size_t number)
      : worker(executor), number(number) {}
  Worker worker;
  size_t number;
  CallBuffers call;
  /// Of the inputs of the network; what is learned is shared.
  SmallVector<void *> inputs;
  /// Of each result what the network has made of it, and where the gradient
  /// belongs.
  std::vector<MutableArrayRef<float>> values, seeds;
  /// Gradients of results that nothing learned depends on.
  std::vector<MutableArrayRef<float>> unread;
};

/// Copies what the teacher makes of the samples of a unit.
class TeacherObserver : public execution::TensorObserver {
public:
  void observe(const execution::TensorView &values) override {
    ArrayRef<float> seen = values.floats();
    size_t count = std::min(seen.size(), to.size());
    std::copy_n(seen.begin(), count, to.begin());
  }
  MutableArrayRef<float> to;
};

struct TeacherLane {
  explicit TeacherLane(const Executor &executor) : worker(executor) {}
  Worker worker;
  CallBuffers call;
  SmallVector<void *> inputs;
  std::vector<TeacherObserver> observers;
};

/// Some of the elements of a learned tensor.
struct Chunk {
  /// Of the tensors that have gradients.
  size_t tensor;
  size_t begin, count;
};

/// A learned value that has an optimizer.
struct Trained {
  /// Of all learned values.
  size_t value;
  const OptimizerSettings *optimizer;
  /// In the gradients of a shard.
  size_t offset, size;
  /// Of the optimizer: none, one or two numbers for each element.
  std::vector<float> first, second;
  /// Of the regularizer.
  double factor = 0;
  /// Of the rate.
  double unit = 1;
};

/// The point that learned values belong to.
struct ValidPoint {
  TrainableQuantizerAttrInterface quantizer;
  SmallVector<size_t> values;
};

} // namespace

struct TrainingRun::State {
  State(const TrainingProblem &problem, const TrainingSettings &settings,
        const execution::RunSettings &run)
      : loc(func::FuncOp(problem.network).getLoc()), settings(settings),
        run(run), loss(problem.loss), source(problem.samples),
        chosen(problem.chosen) {}

  InFlightDiagnostic fail() { return emitError(loc) << "training: "; }
  LogicalResult report(llvm::Error error) {
    return fail() << llvm::toString(std::move(error));
  }
  /// An error that is passed on.
  template <typename T> FailureOr<T> take(llvm::Expected<T> value) {
    if (!value)
      return report(value.takeError());
    return std::move(*value);
  }

  //===--- Making it ------------------------------------------------------===//

  LogicalResult checkSettings();
  LogicalResult compileStep(const TrainingProblem &problem);
  LogicalResult compileTeacher(const TrainingProblem &problem);
  LogicalResult openSamples();
  LogicalResult chooseTrained();
  LogicalResult makeLanes();
  const OptimizerSettings *optimizerOf(LearnedKind kind) const;
  std::string describeSettings() const;
  llvm::Expected<std::string> digestSamples() const;

  //===--- Running it -----------------------------------------------------===//

  LogicalResult train();
  LogicalResult resume();
  LogicalResult save();
  FailureOr<TrainingStepInfo> runStep();
  void setFraction(double fraction);
  /// The next step's samples, by their places among the chosen.
  std::vector<int64_t> nextBatch();
  /// What the teacher makes of samples, into one block for each result.
  llvm::Error runTeacher(ArrayRef<int64_t> samples,
                         std::vector<std::vector<float>> &blocks);
  /// The same for a batch; `places` among the chosen, empty: not known.
  llvm::Expected<TrainingBatch> beginBatch(ArrayRef<int64_t> samples,
                                           ArrayRef<int64_t> places);
  llvm::Error load(ArrayRef<int64_t> samples, int64_t unit,
                   ArrayRef<void *> buffers) const;
  /// One shard of a batch up to the loss; returns its part of that. `gradients`
  /// is where those go.
  llvm::Expected<double> runForward(Lane &lane, const TrainingBatch &batch,
                                    const BatchLoss &loss, int64_t shard,
                                    float *gradients);
  /// And on from there.
  llvm::Error runBackward(Lane &lane);
  int64_t numShards(ArrayRef<int64_t> samples) const {
    return int64_t(llvm::divideCeil(samples.size(), uint64_t(shard)));
  }
  llvm::Error
  forEachShard(int64_t begin, int64_t end,
               llvm::function_ref<llvm::Error(Lane &, int64_t)> run);
  bool isCancelled() const {
    return run.run.progress && run.run.progress->isCancelled();
  }
  /// Adds the gradients of some shards, and, of the last ones, takes the step.
  /// Returns the loss of the regularizer.
  double addGradients(int64_t shards, bool isFirst, bool isLast);
  double update(const Chunk &chunk, float *gradients);
  double power() const;

  Location loc;
  TrainingSettings settings;
  execution::RunSettings run;
  std::shared_ptr<TrainingLoss> loss;
  std::shared_ptr<const SampleSource> source;
  std::vector<int64_t> chosen;

  TrainingFunction function;
  std::vector<ComparedShape> results;
  std::vector<ValidPoint> points;
  std::unique_ptr<Executor> executor, teacher;
  /// Of what is compared with the teacher's: observed, or the outputs of it.
  bool observesTeacher = false;
  std::vector<bool> isSeedRead;
  int64_t shard = 1, stepsPerEpoch = 0, steps = 0;
  /// Texts, and of a run with a checkpoint their digests.
  std::string networkDigest, settingsDigest, samplesDigest, startDigest;

  std::vector<std::vector<float>> values;
  std::vector<Trained> trained;
  std::vector<Chunk> chunks;
  std::vector<std::vector<float>> newStates;
  SmallVector<size_t> stateValues;
  std::optional<size_t> fractionValue;
  size_t numGradients = 0;
  quantization::LinearAnnealing fraction, powers;

  std::vector<std::unique_ptr<Lane>> lanes;
  std::vector<std::unique_ptr<TeacherLane>> teacherLanes;
  /// Gradients of the shards that are computed at once.
  std::vector<AlignedBuffer> slots;
  float *slot(size_t number) const {
    return reinterpret_cast<float *>(slots[number].get());
  }
  std::vector<float> gradients;
  /// For those who look at a step.
  std::vector<TrainedTensor> moved;
  /// What the teacher makes of the samples of a batch, and of all chosen ones
  /// where that is kept, by their place among the chosen.
  std::vector<std::vector<float>> batchTeacher, keptTeacher;
  bool keepsTeacher = false;
  std::vector<ArrayRef<float>> batchViews;
  std::vector<int64_t> order;
  int64_t orderedEpoch = -1;

  int64_t step = 0;
  Seconds seconds;
};

//===----------------------------------------------------------------------===//
// Making a run
//===----------------------------------------------------------------------===//

LogicalResult TrainingRun::State::checkSettings() {
  auto atLeast = [&](StringRef what, int64_t value,
                     int64_t least) -> LogicalResult {
    if (value >= least)
      return success();
    return fail() << what << " must be at least " << least << ", but "
                  << (what == "epochs" ? "are " : "is ") << value;
  };
  if (failed(atLeast("epochs", settings.epochs, 1)) ||
      failed(atLeast("the batch", settings.batch, 1)) ||
      failed(atLeast("a shard", settings.shard, 1)) ||
      failed(atLeast("the number of steps between checkpoints",
                     settings.checkpointEvery, 0)))
    return failure();
  for (auto [name, optimizer] : {std::pair("weights", &settings.weights),
                                 std::pair("biases", &settings.biases),
                                 std::pair("quantizers", &settings.quantizers),
                                 std::pair("rounding", &settings.rounding)}) {
    if (!*optimizer)
      continue;
    auto isFactor = [](double value) { return value >= 0 && value < 1; };
    double rate;
    bool isValid;
    if (auto *adam = std::get_if<quantization::Adam>(&(*optimizer)->method)) {
      rate = adam->rate;
      isValid = isFactor(adam->beta1) && isFactor(adam->beta2) &&
                adam->epsilon > 0 && std::isfinite(adam->epsilon);
    } else {
      const auto &descent =
          std::get<quantization::GradientDescent>((*optimizer)->method);
      rate = descent.rate;
      isValid = isFactor(descent.momentum);
    }
    if (!isValid || !(rate >= 0) || std::isinf(rate))
      return fail() << "the optimizer of " << name
                    << " needs a finite rate from 0 on, betas or a momentum "
                       "from 0 to below 1, and a positive epsilon";
  }
  return success();
}

const OptimizerSettings *
TrainingRun::State::optimizerOf(LearnedKind kind) const {
  const std::optional<OptimizerSettings> *found = nullptr;
  switch (kind) {
  case LearnedKind::Weight:
    found = &settings.weights;
    break;
  case LearnedKind::Bias:
    found = &settings.biases;
    break;
  case LearnedKind::Quantizer:
    found = &settings.quantizers;
    break;
  case LearnedKind::Rounding:
    found = &settings.rounding;
    break;
  case LearnedKind::State:
  case LearnedKind::Schedule:
    return nullptr;
  }
  return *found ? &**found : nullptr;
}

/// What a function computes, without the names in it: its text, with hashes of
/// its constants.
static std::string describe(func::FuncOp function) {
  OwningOpRef<func::FuncOp> copy(function.clone());
  std::string text;
  copy->walk([&](Operation *op) {
    if (auto point = dyn_cast<tpc::QuantizeOp>(op)) {
      // How parameters were found changes nothing.
      point.removeStatisticsAttr();
      point.removeSelectionAttr();
      point.removeCandidatesAttr();
      point.removeConfigAttr();
    }
    SmallVector<StringAttr> hashed;
    for (NamedAttribute attribute : op->getAttrs()) {
      if (auto elements =
              dyn_cast<DenseResourceElementsAttr>(attribute.getValue())) {
        if (AsmResourceBlob *blob = elements.getRawHandle().getBlob())
          text += hashText({blob->getData().data(), blob->getData().size()});
        hashed.push_back(attribute.getName());
      } else if (auto dense = dyn_cast<DenseElementsAttr>(attribute.getValue());
                 dense && !dense.isSplat()) {
        text +=
            hashText({dense.getRawData().data(), dense.getRawData().size()});
        hashed.push_back(attribute.getName());
      }
    }
    for (StringAttr name : hashed)
      op->removeAttr(name);
  });
  llvm::raw_string_ostream stream(text);
  copy->print(stream, OpPrintingFlags().printGenericOpForm().useLocalScope());
  return text;
}

/// Takes results out of what a function returns.
static void eraseResults(func::FuncOp function, const llvm::BitVector &erased) {
  Operation *terminator = function.getBody().front().getTerminator();
  terminator->eraseOperands(erased);
  function.setFunctionType(FunctionType::get(function.getContext(),
                                             function.getArgumentTypes(),
                                             terminator->getOperandTypes()));
  function.setResAttrsAttr({});
}

LogicalResult TrainingRun::State::compileStep(const TrainingProblem &problem) {
  shard = std::min(settings.shard, settings.batch);
  func::FuncOp network = problem.network;
  FailureOr<int64_t> ownBatch = getBatch(network, /*emitErrors=*/false);
  OwningOpRef<ModuleOp> module;
  while (true) {
    // The caller's module stays as it is.
    module =
        OwningOpRef<ModuleOp>(network->getParentOfType<ModuleOp>().clone());
    auto copy = module->lookupSymbol<func::FuncOp>(network.getName());
    TrainingRequest request = problem.request;
    request.name = (network.getName() + "_training").str();
    request.samples = succeeded(ownBatch) && *ownBatch == shard ? 0 : shard;
    FailureOr<TrainingFunction> made = makeTrainingFunction(copy, request);
    if (failed(made))
      return failure();
    function = std::move(*made);
    bool observes = llvm::any_of(function.learned, [](const auto &value) {
      return value.kind == LearnedKind::State;
    });
    // So may quantizers of the program around us.
    for (auto point : function.function.getOps<tpc::QuantizeOp>())
      if (std::optional<HostPoint> host = getHostPoint(point)) {
        observes = true;
        if (!settings.checkpoint.empty())
          return network.emitOpError()
                 << "cannot be trained with a checkpoint, which does not hold "
                    "what "
                 << host->quantizer.getName() << " of '" << host->name
                 << "' keeps; train it without";
      }
    if (!observes || shard == settings.batch)
      break;
    // A range is that of a batch.
    shard = settings.batch;
  }

  for (auto point : function.function.getOps<tpc::QuantizeOp>())
    if (auto quantizer = dyn_cast_if_present<TrainableQuantizerAttrInterface>(
            point.getTrainableAttr())) {
      ValidPoint valid{quantizer, {}};
      for (auto [number, value] : llvm::enumerate(function.learned))
        if (value.role && value.point == point.getUniqueName())
          valid.values.push_back(number);
      points.push_back(std::move(valid));
    }
  for (Value value : function.function.getBody()
                         .front()
                         .getTerminator()
                         ->getOperands()
                         .take_front(function.numResults)) {
    auto type = cast<RankedTensorType>(value.getType());
    ComparedShape &shape = results.emplace_back();
    StringAttr name = mct::getName(value);
    shape.name = name ? name.str() : "#" + std::to_string(results.size() - 1);
    if (type.getRank() == 0 || type.getDimSize(0) % shard != 0)
      return fail() << "'" << shape.name << "', which is compared, is " << type
                    << " for " << shard
                    << " samples, and does not begin with them";
    llvm::append_range(shape.sizes, type.getShape().drop_front());
    shape.elements = type.getNumElements() / shard;
    shape.channels =
        type.getRank() == 1 ? shape.elements : type.getShape().back();
  }
  networkDigest = describe(function.function);
  for (const LearnedValue &value : function.learned)
    networkDigest +=
        hashText({reinterpret_cast<const char *>(value.initial.values.data()),
                  value.initial.values.size() * sizeof(float)});

  FailureOr<TrainingStep> step = makeTrainingStep(function, problem.rules);
  if (failed(step))
    return failure();
  // Results are read where they are compared, and gradients that move nothing
  // are not computed.
  llvm::BitVector erased(step->function.getNumResults());
  erased.set(0, function.numResults);
  unsigned number = function.numResults;
  for (const LearnedValue &value : function.learned)
    number += value.kind == LearnedKind::State;
  for (const LearnedValue &value : function.learned)
    if (value.isTrained()) {
      if (!optimizerOf(value.kind))
        erased.set(number);
      ++number;
    }
  eraseResults(step->function, erased);
  SmallVector<Operation *> ops;
  for (Operation &op : step->function.getBody().front().without_terminator())
    ops.push_back(&op);
  for (Operation *op : llvm::reverse(ops))
    if (op->use_empty() && isPure(op) &&
        !llvm::is_contained(step->seeds, op->getResult(0)))
      op->erase();

  execution::CompileOptions options;
  options.function = step->function.getName().str();
  options.keepTypes = true;
  options.observedValues = step->seeds;
  options.numEdited = step->seeds.size();
  options.maxMemory = run.maxMemory;
  for (Value seed : step->seeds)
    isSeedRead.push_back(!seed.use_empty());
  FailureOr<std::unique_ptr<Executor>> compiled =
      Executor::compile(*module, options, run.cache);
  if (failed(compiled))
    return failure();
  executor = std::move(*compiled);
  // They live in a module that goes.
  function.function = nullptr;
  for (const LearnedValue &value : function.learned)
    values.push_back(value.initial.values);
  return success();
}

LogicalResult
TrainingRun::State::compileTeacher(const TrainingProblem &problem) {
  if (!loss->needsTeacher())
    return success();
  func::FuncOp network = problem.teacher ? problem.teacher : problem.network;
  execution::CompileOptions options;
  options.function = network.getName().str();
  options.simulateQuantization = false;
  options.observeAfterQuantization = false;
  options.observed = problem.teacherValues.empty() ? problem.request.compared
                                                   : problem.teacherValues;
  options.maxMemory = run.maxMemory;
  observesTeacher = !options.observed.empty();
  FailureOr<std::unique_ptr<Executor>> compiled = Executor::compile(
      network->getParentOfType<ModuleOp>(), options, run.cache);
  if (failed(compiled))
    return failure();
  teacher = std::move(*compiled);
  networkDigest += describe(network);
  networkDigest += llvm::join(options.observed, ";");

  ArrayRef<TensorSpec> made =
      observesTeacher ? teacher->observed() : teacher->outputs();
  if (made.size() != results.size())
    return fail() << "the teacher has " << made.size()
                  << " values to compare with " << results.size();
  for (auto [spec, result] : llvm::zip_equal(made, results)) {
    int64_t elements = spec.type.getNumElements() / teacher->unit();
    if (!spec.type.getElementType().isF32() || elements != result.elements)
      return fail() << "'" << spec.name << "' of the teacher is " << spec.type
                    << " for " << teacher->unit() << " samples, and '"
                    << result.name << "' of the network has " << result.elements
                    << " values of f32 for each";
  }
  return success();
}

LogicalResult TrainingRun::State::openSamples() {
  ArrayRef<TensorSpec> inputs =
      executor->inputs().take_front(function.numInputs);
  if (!source) {
    auto opened =
        take(SampleSource::open(run.samples, inputs, shard, run.cache));
    if (failed(opened))
      return failure();
    auto half = take(execution::takeHalf(std::move(*opened), run.half));
    if (failed(half))
      return failure();
    source = std::move(*half);
  }
  auto check = [&](ArrayRef<TensorSpec> inputs, int64_t unit,
                   StringRef whose) -> LogicalResult {
    if (source->numInputs() != inputs.size())
      return fail() << "samples have " << source->numInputs()
                    << " tensors, and " << whose << " has " << inputs.size()
                    << " inputs";
    for (auto [number, spec] : llvm::enumerate(inputs))
      if (int64_t bytes = int64_t(source->sampleBytes(number)) * unit;
          bytes != byteSize(spec.type))
        return fail() << "a sample has " << source->sampleBytes(number)
                      << " bytes, and input '" << spec.name << "' of " << whose
                      << ", " << spec.type << ", is not " << unit << " of them";
    return success();
  };
  if (failed(check(inputs, shard, "the network")) ||
      (teacher &&
       failed(check(teacher->inputs(), teacher->unit(), "the teacher"))))
    return failure();
  if (source->numSamples() == 0)
    return fail() << "there are no samples";
  for (int64_t number : chosen)
    if (number < 0 || number >= source->numSamples())
      return fail() << "sample " << number << " is none of "
                    << source->numSamples();
  if (chosen.empty()) {
    chosen.resize(source->numSamples());
    std::iota(chosen.begin(), chosen.end(), 0);
  }
  if (llvm::Error error =
          loss->check(results, source->numSamples(), source->numAvailable()))
    return report(std::move(error));
  stepsPerEpoch =
      int64_t(llvm::divideCeil(chosen.size(), uint64_t(settings.batch)));
  steps = settings.epochs * stepsPerEpoch;
  return success();
}

LogicalResult TrainingRun::State::chooseTrained() {
  for (OptimizerSettings *optimizer :
       {settings.weights ? &*settings.weights : nullptr,
        settings.biases ? &*settings.biases : nullptr,
        settings.quantizers ? &*settings.quantizers : nullptr,
        settings.rounding ? &*settings.rounding : nullptr})
    if (optimizer)
      optimizer->schedule.steps = steps;

  constexpr size_t kChunk = 16384;
  size_t numRounding = 0;
  for (auto [number, value] : llvm::enumerate(function.learned)) {
    if (value.kind == LearnedKind::State)
      stateValues.push_back(number);
    if (value.kind == LearnedKind::Schedule)
      fractionValue = number;
    numRounding += value.role == tpc::LearnedRole::Rounding;
    const OptimizerSettings *optimizer = optimizerOf(value.kind);
    if (!optimizer)
      continue;
    Trained &next = trained.emplace_back();
    next.value = number;
    next.optimizer = optimizer;
    next.size = values[number].size();
    next.offset = numGradients;
    // Tensors begin where lines of memory do.
    numGradients += llvm::alignTo(next.size, 16);
    if (std::holds_alternative<quantization::Adam>(optimizer->method)) {
      next.first.resize(next.size);
      next.second.resize(next.size);
    } else if (std::get<quantization::GradientDescent>(optimizer->method)
                   .momentum != 0) {
      next.first.resize(next.size);
    }
    for (size_t begin = 0; begin < next.size; begin += kChunk)
      chunks.push_back(
          {trained.size() - 1, begin, std::min(kChunk, next.size - begin)});
  }
  if (trained.empty())
    return fail() << "nothing would be learned: no kind of what the network "
                     "learns has an optimizer";
  gradients.resize(numGradients);
  for (const Trained &each : trained)
    moved.push_back({&function.learned[each.value], values[each.value],
                     ArrayRef(gradients).slice(each.offset, each.size)});

  fraction =
      settings.fraction.value_or(quantization::LinearAnnealing{0, steps, 0, 1});
  if (!settings.regularizer || numRounding == 0)
    return success();
  const RegularizerSettings &regularizer = *settings.regularizer;
  std::vector<double> importances = regularizer.importances;
  if (importances.empty())
    importances.assign(numRounding, 1.0);
  auto factors = take(quantization::regularizerFactors(importances, numRounding,
                                                       regularizer.factor));
  if (failed(factors))
    return failure();
  auto annealing = take(quantization::LinearAnnealing::create(
      int64_t(regularizer.start * double(steps)), steps, regularizer.initial,
      regularizer.target));
  if (failed(annealing))
    return failure();
  powers = *annealing;
  size_t layer = 0;
  for (auto [number, value] : llvm::enumerate(function.learned))
    if (value.role == tpc::LearnedRole::Rounding) {
      for (Trained &each : trained)
        if (each.value == number)
          each.factor = (*factors)[layer];
      ++layer;
    }
  return success();
}

LogicalResult TrainingRun::State::makeLanes() {
  int64_t most = int64_t(llvm::divideCeil(settings.batch, shard));
  auto numLanes = [&](const Executor &executor, int64_t units) {
    int64_t count = execution::callsHost(executor)
                        ? 1
                        : std::min<int64_t>(run.run.threads.count(), units);
    // Each has memory of its own.
    if (int64_t own = executor.memory().perWorker; own > 0)
      count = std::min(count,
                       (executor.maxMemory() - executor.memory().shared) / own);
    return std::max<int64_t>(1, count);
  };
  bool hasMemory = true;
  for (int64_t count = numLanes(*executor, most); count > 0; --count) {
    Lane &lane =
        *lanes.emplace_back(std::make_unique<Lane>(*executor, lanes.size()));
    for (const TensorSpec &spec :
         executor->inputs().take_front(function.numInputs)) {
      lane.inputs.push_back(lane.call.add(byteSize(spec.type)));
      lane.call.inputs.push_back(lane.inputs.back());
    }
    for (const std::vector<float> &value : values)
      lane.call.inputs.push_back(value.data());
    lane.call.outputs.resize(executor->outputs().size());
    lane.values.resize(results.size());
    lane.seeds.resize(results.size());
    lane.unread.resize(results.size());
    for (size_t number = 0; number != results.size(); ++number) {
      size_t elements = size_t(results[number].elements * shard);
      lane.values[number] = lane.call.addFloats(elements);
      if (!isSeedRead[number])
        lane.unread[number] = lane.call.addFloats(elements);
      lane.worker.setEditor(number, [&lane,
                                     number](MutableArrayRef<float> values,
                                             ArrayRef<int64_t>) {
        std::copy(values.begin(), values.end(), lane.values[number].begin());
        // Its memory is its own as long as something reads it.
        lane.seeds[number] =
            lane.unread[number].empty() ? values : lane.unread[number];
      });
    }
    if (!lane.call.hasMemory)
      return fail() << "there is no memory for a batch";
  }
  newStates.resize(stateValues.size());
  for (auto [number, states] : llvm::zip_equal(stateValues, newStates))
    states.resize(values[number].size());

  // As many shards at once as keep all threads busy, within bounds.
  constexpr size_t kSlotBytes = size_t(64) << 20;
  size_t bytes = std::max<size_t>(1, numGradients) * sizeof(float);
  size_t count = std::clamp<size_t>(kSlotBytes / bytes, lanes.size(),
                                    std::max<size_t>(lanes.size(), most));
  for (size_t slot = 0; slot != count; ++slot)
    hasMemory &= slots.emplace_back(bytes).get() != nullptr;

  if (teacher) {
    int64_t units = int64_t(llvm::divideCeil(settings.batch, teacher->unit()));
    for (int64_t count = numLanes(*teacher, units); count > 0; --count) {
      TeacherLane &lane =
          *teacherLanes.emplace_back(std::make_unique<TeacherLane>(*teacher));
      for (const TensorSpec &spec : teacher->inputs()) {
        lane.inputs.push_back(lane.call.add(byteSize(spec.type)));
        lane.call.inputs.push_back(lane.inputs.back());
      }
      for (const TensorSpec &spec : teacher->outputs())
        lane.call.outputs.push_back(lane.call.add(byteSize(spec.type)));
      lane.observers.resize(results.size());
      if (observesTeacher)
        for (auto [number, observer] : llvm::enumerate(lane.observers))
          lane.worker.setObserver(number, &observer);
      hasMemory &= lane.call.hasMemory;
    }
    int64_t perSample = 0;
    for (const ComparedShape &result : results)
      perSample += result.elements * int64_t(sizeof(float));
    keepsTeacher = perSample <= settings.teacherBytes / int64_t(chosen.size());
  }
  if (!hasMemory)
    return fail() << "there is no memory for a batch";
  return success();
}

//===----------------------------------------------------------------------===//
// What a checkpoint is about
//===----------------------------------------------------------------------===//

std::string TrainingRun::State::describeSettings() const {
  std::string text;
  llvm::raw_string_ostream out(text);
  auto number = [&](double value) { out << llvm::format("%a ", value); };
  out << settings.epochs << " " << settings.batch << " " << shard << " "
      << settings.isShuffled << " " << settings.seed << " " << keepsTeacher
      << " ";
  for (const auto &optimizer : {settings.weights, settings.biases,
                                settings.quantizers, settings.rounding}) {
    out << "; ";
    if (!optimizer)
      continue;
    if (auto *adam = std::get_if<quantization::Adam>(&optimizer->method)) {
      out << "adam ";
      for (double each : {adam->rate, adam->beta1, adam->beta2, adam->epsilon})
        number(each);
    } else {
      const auto &descent =
          std::get<quantization::GradientDescent>(optimizer->method);
      out << "descent ";
      number(descent.rate);
      number(descent.momentum);
    }
    out << int(optimizer->schedule.kind) << " " << optimizer->schedule.warmup
        << " " << optimizer->isRelative;
  }
  out << "; " << fraction.start << " " << fraction.end << " ";
  number(fraction.initial);
  number(fraction.target);
  if (settings.regularizer) {
    out << "; " << powers.start << " ";
    number(powers.initial);
    number(powers.target);
    for (const Trained &each : trained)
      number(each.factor);
  }
  out << "; " << loss->describe();
  return text;
}

/// Unlike execution::digestSamples, of samples in their order.
llvm::Expected<std::string> TrainingRun::State::digestSamples() const {
  std::string hashes;
  std::vector<char> sample;
  for (size_t input = 0; input != source->numInputs(); ++input) {
    sample.resize(source->sampleBytes(input));
    for (int64_t number : chosen) {
      if (llvm::Error error = source->load(input, number, 1, sample.data()))
        return std::move(error);
      uint64_t hash =
          llvm::xxh3_64bits(StringRef(sample.data(), sample.size()));
      hashes.append(reinterpret_cast<const char *>(&hash), sizeof(hash));
    }
  }
  // Labels and scores are by number.
  hashes.append(reinterpret_cast<const char *>(chosen.data()),
                chosen.size() * sizeof(int64_t));
  return hashText(hashes);
}

LogicalResult TrainingRun::State::save() {
  if (settings.checkpoint.empty())
    return success();
  TrainingCheckpoint checkpoint;
  checkpoint.network = networkDigest;
  checkpoint.settings = settingsDigest;
  checkpoint.samples = samplesDigest;
  checkpoint.step = step;
  checkpoint.values = values;
  for (const Trained &each : trained) {
    checkpoint.states.push_back(each.first);
    checkpoint.states.push_back(each.second);
  }
  if (llvm::Error error = checkpoint.write(settings.checkpoint))
    return report(std::move(error));
  return success();
}

LogicalResult TrainingRun::State::resume() {
  if (settings.checkpoint.empty())
    return success();
  // Also what it starts from, which is set behind the making of the run.
  if (startDigest.empty())
    for (const std::vector<float> &tensor : values)
      startDigest += hashText({reinterpret_cast<const char *>(tensor.data()),
                               tensor.size() * sizeof(float)});
  std::string described = hashText(describeSettings());
  settingsDigest = described + hashText(startDigest);
  auto digest = take(digestSamples());
  if (failed(digest))
    return failure();
  samplesDigest = *digest;
  if (!llvm::sys::fs::exists(settings.checkpoint))
    return success();
  auto checkpoint = take(TrainingCheckpoint::read(settings.checkpoint));
  if (failed(checkpoint))
    return failure();
  auto other = [&](StringRef what) {
    InFlightDiagnostic error = fail() << "'" << settings.checkpoint
                                      << "' was made with " << what;
    error.attachNote() << "a run continues with the options that it began "
                          "with; remove the file to start again";
    return error;
  };
  if (!StringRef(checkpoint->settings).starts_with(described))
    return other("other settings");
  if (checkpoint->network != networkDigest)
    return other("another network");
  // Behind the network, which decides where it starts, too.
  if (checkpoint->settings != settingsDigest)
    return other("other settings");
  if (checkpoint->samples != samplesDigest)
    return other("other samples");
  // Workers read them where they are.
  for (auto [own, kept] : llvm::zip_equal(values, checkpoint->values))
    llvm::copy(kept, own.begin());
  for (auto [number, each] : llvm::enumerate(trained)) {
    each.first = std::move(checkpoint->states[2 * number]);
    each.second = std::move(checkpoint->states[2 * number + 1]);
  }
  step = checkpoint->step;
  return success();
}

//===----------------------------------------------------------------------===//
// The teacher
//===----------------------------------------------------------------------===//

llvm::Error TrainingRun::State::load(ArrayRef<int64_t> samples, int64_t unit,
                                     ArrayRef<void *> buffers) const {
  for (auto [input, buffer] : llvm::enumerate(buffers)) {
    size_t bytes = source->sampleBytes(input);
    auto *to = static_cast<char *>(buffer);
    for (int64_t sample : samples) {
      if (llvm::Error error = source->load(input, sample, 1, to))
        return error;
      to += bytes;
    }
    // What is computed of copies counts nothing.
    for (int64_t copy = int64_t(samples.size()); copy < unit; ++copy) {
      std::memcpy(to, to - bytes, bytes);
      to += bytes;
    }
  }
  return llvm::Error::success();
}

llvm::Error
TrainingRun::State::runTeacher(ArrayRef<int64_t> samples,
                               std::vector<std::vector<float>> &blocks) {
  double begin = now();
  blocks.resize(results.size());
  for (auto [block, result] : llvm::zip_equal(blocks, results))
    block.resize(samples.size() * size_t(result.elements));
  int64_t unit = teacher->unit();
  execution::RunOptions options;
  options.threads = run.run.threads;
  llvm::Error error = execution::shareUnits(
      int64_t(samples.size()), unit, teacherLanes.size(), options,
      [&](size_t number, int64_t index) -> llvm::Error {
        if (isCancelled())
          return llvm::createStringError("cancelled");
        TeacherLane &lane = *teacherLanes[number];
        int64_t first = index * unit;
        ArrayRef<int64_t> own = samples.slice(
            first, std::min<int64_t>(unit, int64_t(samples.size()) - first));
        if (llvm::Error error = load(own, unit, lane.inputs))
          return error;
        auto target = [&](size_t result) {
          size_t elements = size_t(results[result].elements);
          return MutableArrayRef<float>(blocks[result])
              .slice(size_t(first) * elements, own.size() * elements);
        };
        for (auto [result, observer] : llvm::enumerate(lane.observers))
          observer.to = target(result);
        if (llvm::Error error = lane.worker.run(
                lane.call.inputs, lane.call.outputs,
                teacher->allowsPartialUnits() ? int64_t(own.size()) : unit,
                first))
          return error;
        if (!observesTeacher)
          for (size_t result = 0; result != results.size(); ++result) {
            MutableArrayRef<float> to = target(result);
            std::memcpy(to.data(), lane.call.outputs[result],
                        to.size() * sizeof(float));
          }
        return llvm::Error::success();
      });
  seconds.teacher += now() - begin;
  return error;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

std::vector<int64_t> TrainingRun::State::nextBatch() {
  int64_t epoch = step / stepsPerEpoch;
  if (epoch != orderedEpoch) {
    int64_t count = int64_t(chosen.size());
    order =
        shuffleSamples(settings.isShuffled ? count : 0, settings.seed, epoch);
    if (!settings.isShuffled) {
      order.resize(count);
      std::iota(order.begin(), order.end(), 0);
    }
    orderedEpoch = epoch;
  }
  int64_t first = (step % stepsPerEpoch) * settings.batch;
  int64_t last =
      std::min<int64_t>(first + settings.batch, int64_t(order.size()));
  return std::vector<int64_t>(order.begin() + first, order.begin() + last);
}

llvm::Error TrainingRun::State::forEachShard(
    int64_t begin, int64_t end,
    llvm::function_ref<llvm::Error(Lane &, int64_t)> body) {
  double start = now();
  execution::RunOptions options;
  options.threads = run.run.threads;
  llvm::Error error =
      execution::shareUnits(end - begin, 1, lanes.size(), options,
                            [&](size_t lane, int64_t number) -> llvm::Error {
                              if (isCancelled())
                                return llvm::createStringError("cancelled");
                              return body(*lanes[lane], begin + number);
                            });
  seconds.network += now() - start;
  return error;
}

llvm::Expected<double>
TrainingRun::State::runForward(Lane &lane, const TrainingBatch &batch,
                               const BatchLoss &batchLoss, int64_t number,
                               float *gradients) {
  size_t output = 0;
  for (std::vector<float> &states : newStates)
    lane.call.outputs[output++] = states.data();
  for (const Trained &each : trained)
    lane.call.outputs[output++] = gradients + each.offset;
  TrainingShard own;
  own.first = number * shard;
  own.samples = batch.samples.slice(
      own.first,
      std::min<int64_t>(shard, int64_t(batch.samples.size()) - own.first));
  if (llvm::Error error = load(own.samples, shard, lane.inputs))
    return std::move(error);
  if (llvm::Error error = lane.worker.runStages(
          0, 0, /*saved=*/nullptr, lane.call.inputs, lane.call.outputs, {0, 1}))
    return std::move(error);
  std::vector<TrainingShard::Result> seen(results.size());
  for (auto [index, result] : llvm::enumerate(seen)) {
    size_t elements = size_t(results[index].elements),
           count = own.samples.size() * elements;
    result.values = lane.values[index].take_front(count);
    if (!batch.teacher.empty())
      result.teacher =
          batch.teacher[index].slice(size_t(own.first) * elements, count);
    result.gradients = lane.seeds[index].take_front(count);
    // Copies of the last sample count nothing.
    MutableArrayRef<float> rest = lane.seeds[index].drop_front(count);
    std::fill(rest.begin(), rest.end(), 0.0f);
  }
  own.results = seen;
  return batchLoss(own);
}

llvm::Error TrainingRun::State::runBackward(Lane &lane) {
  unsigned stages = executor->numStages();
  // Outputs that nothing of the loss reaches are written in the last stage.
  return lane.worker.runStages(std::min(1u, stages - 1), stages - 1,
                               /*saved=*/nullptr, lane.call.inputs,
                               lane.call.outputs, {0, 1});
}

llvm::Expected<TrainingBatch>
TrainingRun::State::beginBatch(ArrayRef<int64_t> samples,
                               ArrayRef<int64_t> places) {
  TrainingBatch batch;
  batch.samples = samples;
  if (!teacher)
    return batch;
  if (!keepsTeacher || places.empty()) {
    if (llvm::Error error = runTeacher(samples, batchTeacher))
      return std::move(error);
  } else {
    // In the order of the samples, whichever step is the first.
    if (keptTeacher.empty())
      if (llvm::Error error = runTeacher(chosen, keptTeacher)) {
        keptTeacher.clear();
        return std::move(error);
      }
    batchTeacher.resize(results.size());
    for (auto [block, kept, result] :
         llvm::zip_equal(batchTeacher, keptTeacher, results)) {
      block.resize(places.size() * size_t(result.elements));
      for (auto [number, place] : llvm::enumerate(places))
        std::copy_n(kept.begin() + place * result.elements, result.elements,
                    block.begin() + int64_t(number) * result.elements);
    }
  }
  batchViews.assign(batchTeacher.begin(), batchTeacher.end());
  batch.teacher = batchViews;
  return batch;
}

void TrainingRun::State::setFraction(double value) {
  if (fractionValue)
    llvm::fill(values[*fractionValue], float(value));
}

double TrainingRun::State::update(const Chunk &chunk, float *gradients) {
  Trained &own = trained[chunk.tensor];
  MutableArrayRef<float> parameters =
      MutableArrayRef<float>(values[own.value]).slice(chunk.begin, chunk.count);
  MutableArrayRef<float> of(gradients, chunk.count);
  double regularizer = 0;
  if (own.factor != 0) {
    double power = powers.at(step);
    regularizer =
        own.factor * quantization::roundingRegularizer(parameters, power);
    quantization::addRoundingRegularizerGradient(parameters, power, own.factor,
                                                 of);
  }
  auto part = [&](std::vector<float> &state) {
    return state.empty()
               ? MutableArrayRef<float>()
               : MutableArrayRef<float>(state).slice(chunk.begin, chunk.count);
  };
  double rate = own.unit * own.optimizer->schedule.at(step);
  if (auto *adam = std::get_if<quantization::Adam>(&own.optimizer->method))
    quantization::step(*adam, step + 1, part(own.first), part(own.second), of,
                       parameters, rate);
  else
    quantization::step(
        std::get<quantization::GradientDescent>(own.optimizer->method),
        part(own.first), of, parameters, rate);
  return regularizer;
}

double TrainingRun::State::addGradients(int64_t shards, bool isFirst,
                                        bool isLast) {
  double begin = now();
  std::vector<double> parts(chunks.size());
  quantization::parallelFor(chunks.size(), run.run.threads, [&](size_t index) {
    const Chunk &chunk = chunks[index];
    size_t offset = trained[chunk.tensor].offset + chunk.begin;
    float *sum = gradients.data() + offset;
    for (int64_t number = 0; number != shards; ++number) {
      const float *from = slot(size_t(number)) + offset;
      if (isFirst && number == 0)
        std::copy_n(from, chunk.count, sum);
      else
        for (size_t i = 0; i != chunk.count; ++i)
          sum[i] += from[i];
    }
    if (isLast)
      parts[index] = update(chunk, sum);
  });
  seconds.update += now() - begin;
  return std::accumulate(parts.begin(), parts.end(), 0.0);
}

FailureOr<TrainingStepInfo> TrainingRun::State::runStep() {
  std::vector<int64_t> places = nextBatch(), samples;
  for (int64_t place : places)
    samples.push_back(chosen[place]);
  setFraction(fraction.at(step));

  auto batch = beginBatch(samples, places);
  if (!batch)
    return report(batch.takeError());
  BatchLoss batchLoss = loss->begin(*batch);

  TrainingStepInfo info;
  info.step = step;
  info.steps = steps;
  info.stepsPerEpoch = stepsPerEpoch;
  info.trained = moved;
  int64_t shards = numShards(samples), wave = int64_t(slots.size());
  std::vector<double> losses(shards);
  for (int64_t begin = 0; begin < shards; begin += wave) {
    int64_t end = std::min(begin + wave, shards);
    llvm::Error error =
        forEachShard(begin, end, [&](Lane &lane, int64_t number) {
          llvm::Expected<double> part = runForward(
              lane, *batch, batchLoss, number, slot(size_t(number - begin)));
          if (!part)
            return part.takeError();
          losses[number] = *part;
          return runBackward(lane);
        });
    if (error)
      return report(std::move(error));
    if (end == shards) {
      info.loss = std::accumulate(losses.begin(), losses.end(), 0.0);
      if (!std::isfinite(info.loss))
        return fail() << "the loss of step " << step << " of " << steps
                      << " is " << info.loss
                      << "; train with a smaller learning rate";
    }
    info.regularizer += addGradients(end - begin, begin == 0, end == shards);
  }
  for (auto [number, states] : llvm::zip_equal(stateValues, newStates))
    values[number] = states;
  for (const ValidPoint &point : points) {
    SmallVector<MutableArrayRef<float>> learned;
    for (size_t number : point.values)
      learned.push_back(values[number]);
    if (!learned.empty())
      point.quantizer.keepValid(learned);
  }
  ++step;
  if (run.run.progress)
    run.run.progress->add(int64_t(samples.size()));
  return info;
}

/// The unit of the rates of a tensor that starts from these values.
static double measureUnit(ArrayRef<float> values) {
  double sum = 0;
  for (float value : values)
    sum += double(value) * value;
  return sum == 0 ? 1 : std::sqrt(sum / double(values.size()));
}

LogicalResult TrainingRun::State::train() {
  for (Trained &each : trained)
    if (each.optimizer->isRelative)
      each.unit = measureUnit(values[each.value]);
  if (failed(resume()))
    return failure();
  support::Progress *progress = run.run.progress;
  int64_t savedStep = step;
  if (progress) {
    int64_t count = int64_t(chosen.size());
    progress->begin(settings.epochs * count);
    progress->add(step / stepsPerEpoch * count +
                  step % stepsPerEpoch * settings.batch);
  }
  auto trainSteps = [&]() -> LogicalResult {
    while (step != steps) {
      FailureOr<TrainingStepInfo> info = runStep();
      if (failed(info)) {
        // What was learned until then is not lost.
        if (isCancelled() && step != savedStep)
          (void)save();
        return failure();
      }
      if (settings.afterStep && !settings.afterStep(*info))
        break;
      if (settings.checkpointEvery != 0 &&
          step % settings.checkpointEvery == 0 && step != steps) {
        if (failed(save()))
          return failure();
        savedStep = step;
      }
    }
    return step == savedStep ? success() : save();
  };
  LogicalResult done = trainSteps();
  if (progress)
    progress->end();
  return done;
}

//===----------------------------------------------------------------------===//
// TrainingRun
//===----------------------------------------------------------------------===//

TrainingRun::TrainingRun(std::unique_ptr<State> state)
    : state(std::move(state)) {}
TrainingRun::~TrainingRun() = default;

FailureOr<std::unique_ptr<TrainingRun>>
TrainingRun::create(const TrainingProblem &problem,
                    const TrainingSettings &settings,
                    const execution::RunSettings &run) {
  auto state = std::make_unique<State>(problem, settings, run);
  if (failed(state->checkSettings()) || failed(state->compileStep(problem)) ||
      failed(state->compileTeacher(problem)) || failed(state->openSamples()) ||
      failed(state->chooseTrained()) || failed(state->makeLanes()))
    return failure();
  state->networkDigest = hashText(state->networkDigest);
  return std::unique_ptr<TrainingRun>(new TrainingRun(std::move(state)));
}

LogicalResult TrainingRun::train() { return state->train(); }
int64_t TrainingRun::numStepsDone() const { return state->step; }
int64_t TrainingRun::numSteps() const { return state->steps; }
const TrainingFunction &TrainingRun::function() const {
  return state->function;
}
ArrayRef<std::vector<float>> TrainingRun::values() const {
  return state->values;
}
const SampleSource &TrainingRun::samples() const { return *state->source; }
TrainingRun::Seconds TrainingRun::seconds() const { return state->seconds; }

void TrainingRun::setValues(ArrayRef<std::vector<float>> values) {
  // Their memory stays where workers read it.
  for (auto [own, other] : llvm::zip_equal(state->values, values))
    llvm::copy(other, own.begin());
}

FailureOr<double> TrainingRun::evaluate(ArrayRef<int64_t> samples,
                                        float fraction) {
  State &own = *state;
  for (int64_t number : samples)
    if (number < 0 || number >= own.source->numSamples())
      return own.fail() << "sample " << number << " is none of "
                        << own.source->numSamples();
  own.setFraction(fraction);
  double sum = 0;
  for (size_t first = 0; first < samples.size();
       first += size_t(own.settings.batch)) {
    ArrayRef<int64_t> part = samples.slice(
        first, std::min(size_t(own.settings.batch), samples.size() - first));
    auto batch = own.beginBatch(part, /*places=*/{});
    if (!batch)
      return own.report(batch.takeError());
    BatchLoss batchLoss = own.loss->begin(*batch);
    std::vector<double> losses(own.numShards(part));
    llvm::Error error =
        own.forEachShard(0, int64_t(losses.size()),
                         [&](Lane &lane, int64_t number) -> llvm::Error {
                           llvm::Expected<double> loss =
                               own.runForward(lane, *batch, batchLoss, number,
                                              own.slot(lane.number));
                           if (!loss)
                             return loss.takeError();
                           losses[number] = *loss;
                           return llvm::Error::success();
                         });
    if (error)
      return own.report(std::move(error));
    sum += std::accumulate(losses.begin(), losses.end(), 0.0) *
           double(part.size());
  }
  return samples.empty() ? 0 : sum / double(samples.size());
}

LogicalResult TrainingRun::write(func::FuncOp network) const {
  return writeLearned(network, state->function, state->values);
}
