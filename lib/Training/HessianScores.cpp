// SPDX-License-Identifier: Apache-2.0
#include "mct/Training/HessianScores.h"

#include "mct/IR/Shapes.h"
#include "mct/Interfaces/SetBatch.h"
#include "mct/Quantization/ExactSum.h"
#include "mct/Training/Gradients.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/IRMapping.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "tpc_dialect/Lookup/Algebra.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/xxhash.h"

#include <cmath>

using namespace mlir;
using namespace mct;
using execution::Executor;
using execution::SampleSource;

//===----------------------------------------------------------------------===//
// Random vectors
//===----------------------------------------------------------------------===//

/// Mixes the bits of a counter (the output function of SplitMix64).
static uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

RandomSigns::RandomSigns(uint64_t seed, ArrayRef<ArrayRef<char>> sample,
                         int64_t elements)
    : key(seed), words(int64_t(llvm::divideCeil(elements, 64))) {
  for (ArrayRef<char> input : sample) {
    uint64_t both[] = {key, llvm::xxh3_64bits(ArrayRef(
                                reinterpret_cast<const uint8_t *>(input.data()),
                                input.size()))};
    key = llvm::xxh3_64bits(
        ArrayRef(reinterpret_cast<const uint8_t *>(both), sizeof(both)));
  }
}

void RandomSigns::fill(int64_t vector, int64_t first,
                       MutableArrayRef<float> signs) const {
  constexpr uint64_t kGolden = 0x9e3779b97f4a7c15;
  uint64_t word = 0;
  for (auto [i, sign] : llvm::enumerate(signs)) {
    int64_t element = first + int64_t(i);
    if (i == 0 || element % 64 == 0)
      word = mix(key + kGolden * uint64_t(vector * words + element / 64 + 1));
    sign = (word >> (element % 64)) & 1 ? 1.0F : -1.0F;
  }
}

//===----------------------------------------------------------------------===//
// The network
//===----------------------------------------------------------------------===//

/// Returns the input of a softmax that the function returns, or the input of an
/// argmax.
static Value skipAnswers(Value result, const DenseMap<Value, Value> &softmax) {
  // Moving the elements of a result changes none of their sums.
  Value value = result;
  while (Operation *op = value.getDefiningOp()) {
    if (Value input = softmax.lookup(value))
      return input;
    if (auto argmax = dyn_cast<tosa::ArgMaxOp>(op)) {
      value = argmax.getInput();
      result = value;
    } else if (isa<tpc::QuantizeOp, tosa::ReshapeOp, tosa::TransposeOp,
                   tosa::IdentityOp>(op)) {
      value = op->getOperand(0);
    } else {
      break;
    }
  }
  return result;
}

static void returnWhatIsDifferentiable(func::FuncOp function) {
  Block &body = function.getBody().front();
  DenseMap<Value, Value> softmax;
  for (const tpc::FormulaMatch &match : tpc::findFormulas(body))
    if (match.name == "softmax")
      softmax[match.ops.back()->getResult(0)] = match.input;
  for (auto op : body.getOps<linalg::SoftmaxOp>())
    if (op->getNumResults() == 1)
      softmax[op->getResult(0)] = op.getInput();
  Operation *terminator = body.getTerminator();
  for (OpOperand &operand : terminator->getOpOperands())
    operand.set(skipAnswers(operand.get(), softmax));
  function.setType(FunctionType::get(function.getContext(),
                                     function.getArgumentTypes(),
                                     terminator->getOperandTypes()));
}

static LogicalResult refuse(Value value) {
  return emitError(value.getLoc())
         << "has no Hessian score: it is of " << value.getType()
         << ", and no tensor of f32 with the batch first";
}

/// Returns a module that only has the function that computes the gradients.
static FailureOr<OwningOpRef<ModuleOp>>
buildGradient(func::FuncOp function, ArrayRef<Value> values,
              GradientRequest &request) {
  if (!function.getBody().hasOneBlock())
    return function.emitOpError(
        "has no Hessian scores, which require a single-block function");
  OwningOpRef<ModuleOp> module = ModuleOp::create(function.getLoc());
  IRMapping copies;
  auto copy = cast<func::FuncOp>(function->clone(copies));
  module->push_back(copy);
  copy.walk([](tpc::QuantizeOp point) { point.removeQuantizer(); });
  // One sample at a time; the executor combines as many as possible.
  if (FailureOr<int64_t> batch = getBatch(copy, /*emitErrors=*/false);
      succeeded(batch) && *batch != 1 &&
      (ShapedType::isDynamic(*batch) ||
       succeeded(followBatch(copy, /*emitErrors=*/false))))
    if (failed(setBatch(copy, 1)))
      return failure();
  returnWhatIsDifferentiable(copy);
  Operation *terminator = copy.getBody().front().getTerminator();
  for (auto [number, result] : llvm::enumerate(terminator->getOperands()))
    if (isF32Tensor(result))
      request.results.push_back(unsigned(number));
  if (request.results.empty())
    return function.emitOpError(
        "has no result that is a tensor of f32, and no Hessian scores");
  for (Value value : values) {
    Value copied = copies.lookup(value);
    if (!isF32Tensor(copied) ||
        cast<RankedTensorType>(copied.getType()).getRank() == 0)
      return refuse(value);
    request.inputs.push_back(copied);
  }
  request.name = (copy.getName() + "_gradient").str();
  request.rules.maskPoints = false;
  if (failed(addGradient(copy, request)))
    return failure();
  copy.erase();
  return std::move(module);
}

//===----------------------------------------------------------------------===//
// Samples
//===----------------------------------------------------------------------===//

namespace {
/// Sizes of the results for which there are random vectors.
struct ResultSizes {
  /// Number of elements of a sample, and offset of the result's elements.
  SmallVector<int64_t> counts, firsts;
  int64_t total = 0;
};

/// Samples with the first random vector of each as additional inputs.
class SignedSamples : public SampleSource {
public:
  SignedSamples(std::shared_ptr<const SampleSource> samples,
                const ResultSizes &results, uint64_t seed)
      : samples(std::move(samples)), results(results), seed(seed) {}

  int64_t numSamples() const override { return samples->numSamples(); }
  int64_t numAvailable() const override { return samples->numAvailable(); }
  size_t numInputs() const override {
    return samples->numInputs() + results.counts.size();
  }
  size_t sampleBytes(size_t input) const override {
    return input < samples->numInputs()
               ? samples->sampleBytes(input)
               : sizeof(float) *
                     size_t(results.counts[input - samples->numInputs()]);
  }
  llvm::Error load(size_t input, int64_t first, int64_t count,
                   void *buffer) const override {
    if (input < samples->numInputs())
      return samples->load(input, first, count, buffer);
    size_t number = input - samples->numInputs();
    std::vector<std::vector<char>> sample(samples->numInputs());
    for (int64_t i = 0; i != count; ++i) {
      SmallVector<ArrayRef<char>> bytes;
      for (auto [each, data] : llvm::enumerate(sample)) {
        data.resize(samples->sampleBytes(each));
        if (llvm::Error error = samples->load(each, first + i, 1, data.data()))
          return error;
        bytes.push_back(data);
      }
      RandomSigns(seed, bytes, results.total)
          .fill(0, results.firsts[number],
                {static_cast<float *>(buffer) + i * results.counts[number],
                 size_t(results.counts[number])});
    }
    return llvm::Error::success();
  }

private:
  std::shared_ptr<const SampleSource> samples;
  const ResultSizes &results;
  uint64_t seed;
};

/// Means of the squared gradients for one sample.
struct Means {
  /// One mean for each value, or one for each channel.
  std::vector<std::vector<double>> of;
  int64_t vectors = 0;
  bool isDone = false;
};

/// Runs the gradient function.
class HessianRun {
public:
  HessianRun(const Executor &executor, const SampleSource &samples,
             const ResultSizes &results, const HessianOptions &options)
      : executor(executor), samples(samples), results(results),
        options(options),
        lanes(execution::numWorkers(executor, samples, options.run)) {
    scores.samples = samples.numSamples();
    scores.layers = int64_t(executor.outputs().size());
    scores.scores.resize(size_t(scores.samples * scores.layers));
    scores.vectors.resize(size_t(scores.samples));
  }
  llvm::Error run();
  HessianScores scores;

private:
  struct Lane {
    execution::Worker *worker = nullptr;
    std::vector<std::vector<float>> signs;
  };
  llvm::Error runUnit(const execution::Unit &unit);
  /// Adds the results of another vector for a sample.
  void add(Means &means, ArrayRef<void *> outputs, int64_t sample) const;
  std::vector<double> reduce(RankedTensorType type,
                             ArrayRef<float> gradient) const;

  const Executor &executor;
  const SampleSource &samples;
  const ResultSizes &results;
  const HessianOptions &options;
  std::vector<Lane> lanes;
};
} // namespace

std::vector<double> HessianRun::reduce(RankedTensorType type,
                                       ArrayRef<float> gradient) const {
  if (options.reduction == ScoreReduction::Sum) {
    double sum = 0;
    for (float g : gradient)
      sum += double(g) * g;
    return {sum};
  }
  size_t channels = type.getRank() > 1 ? size_t(type.getShape().back()) : 1;
  std::vector<double> sums(channels);
  for (auto [i, g] : llvm::enumerate(gradient))
    sums[i % channels] += double(g) * g;
  for (double &sum : sums)
    sum /= double(gradient.size() / channels);
  return sums;
}

void HessianRun::add(Means &means, ArrayRef<void *> outputs,
                     int64_t sample) const {
  constexpr int64_t kFewestVectors = 10;
  bool isFirst = means.vectors++ == 0, hasChanged = false;
  auto count = double(means.vectors);
  for (auto [number, spec] : llvm::enumerate(executor.outputs())) {
    int64_t elements = spec.type.getNumElements() / executor.unit();
    std::vector<double> squares =
        reduce(spec.type,
               {static_cast<const float *>(outputs[number]) + sample * elements,
                size_t(elements)});
    if (isFirst) {
      means.of.push_back(std::move(squares));
      continue;
    }
    for (auto [mean, square] : llvm::zip(means.of[number], squares)) {
      double change = (square - mean) / count;
      mean += change;
      hasChanged |= std::abs(change) > options.tolerance * mean;
    }
  }
  means.isDone = means.vectors >= options.maxVectors ||
                 (means.vectors > kFewestVectors && !hasChanged);
}

llvm::Error HessianRun::runUnit(const execution::Unit &unit) {
  Lane &lane = lanes[unit.worker];
  size_t inputs = samples.numInputs() - results.counts.size();
  SmallVector<const void *> operands(unit.inputs);
  for (auto [number, count] : llvm::enumerate(results.counts)) {
    lane.signs.resize(results.counts.size());
    lane.signs[number].resize(size_t(count * executor.unit()));
    operands[inputs + number] = lane.signs[number].data();
  }
  std::vector<Means> means(size_t(unit.validSamples));
  std::vector<RandomSigns> vectors;
  for (int64_t sample = 0; sample != unit.validSamples; ++sample) {
    SmallVector<ArrayRef<char>> bytes;
    for (size_t input = 0; input != inputs; ++input) {
      size_t size = samples.sampleBytes(input);
      bytes.emplace_back(static_cast<const char *>(unit.inputs[input]) +
                             size_t(sample) * size,
                         size);
    }
    vectors.emplace_back(options.seed, bytes, results.total);
    add(means[size_t(sample)], unit.outputs, sample);
  }
  auto isDone = [](const Means &each) { return each.isDone; };
  for (int64_t number = 1; !llvm::all_of(means, isDone); ++number) {
    if (options.run.progress && options.run.progress->isCancelled())
      return llvm::createStringError("cancelled");
    for (auto [sample, vector] : llvm::enumerate(vectors))
      for (auto [result, count] : llvm::enumerate(results.counts))
        vector.fill(number, results.firsts[result],
                    MutableArrayRef(lane.signs[result])
                        .slice(sample * size_t(count), size_t(count)));
    if (llvm::Error error = lane.worker->run(
            operands, unit.outputs, unit.validSamples, unit.firstSample))
      return error;
    for (auto [sample, each] : llvm::enumerate(means))
      if (!each.isDone)
        add(each, unit.outputs, int64_t(sample));
  }
  for (auto [sample, each] : llvm::enumerate(means)) {
    size_t row = size_t(unit.firstSample) + sample;
    scores.vectors[row] = each.vectors;
    for (auto [layer, of] : llvm::enumerate(each.of))
      scores.scores[row * size_t(scores.layers) + layer] =
          *llvm::max_element(of);
  }
  return llvm::Error::success();
}

llvm::Error HessianRun::run() {
  return execution::forEachUnit(
      executor, samples, options.run,
      [&](size_t number, execution::Worker &worker) {
        lanes[number].worker = &worker;
      },
      [&](const execution::Unit &unit) { return runUnit(unit); });
}

//===----------------------------------------------------------------------===//
// The interface
//===----------------------------------------------------------------------===//

std::vector<double> HessianScores::means() const {
  std::vector<double> found;
  for (int64_t layer = 0; layer != layers; ++layer) {
    // The order of samples must not matter: f32 is precise enough for such an
    // estimate, and sums of f32 values are exact. Scale them into the range of
    // f32.
    double largest = 0;
    for (int64_t sample = 0; sample != samples; ++sample)
      largest = std::max(largest, scores[size_t(sample * layers + layer)]);
    int exponent = largest > 0 ? std::ilogb(largest) : 0;
    quantization::ExactSum sum;
    for (int64_t sample = 0; sample != samples; ++sample)
      sum.add(float(
          std::ldexp(scores[size_t(sample * layers + layer)], -exponent)));
    found.push_back(std::ldexp(sum.round(), exponent) / double(samples));
  }
  return found;
}

FailureOr<HessianScores>
mct::computeHessianScores(func::FuncOp function, ArrayRef<Value> values,
                          std::shared_ptr<const SampleSource> samples,
                          const HessianOptions &options) {
  GradientRequest request;
  auto module = buildGradient(function, values, request);
  if (failed(module))
    return failure();
  execution::CompileOptions compile;
  compile.function = request.name;
  compile.simulateQuantization = false;
  compile.maxMemory = options.maxMemory;
  // Slow ops are reported when the network itself is run.
  ScopedDiagnosticHandler quiet(
      function.getContext(), [](Diagnostic &diagnostic) {
        return success(diagnostic.getSeverity() == DiagnosticSeverity::Remark);
      });
  auto executor = Executor::compile(**module, compile, options.cache.get());
  if (failed(executor))
    return failure();

  int64_t unit = (*executor)->unit();
  if (options.maxSamples > 0 && options.maxSamples < samples->numSamples() &&
      (*executor)->allowsPartialUnits()) {
    auto fewer = execution::thinSamples(std::move(samples), options.maxSamples);
    if (!fewer)
      return emitError(function.getLoc()) << llvm::toString(fewer.takeError());
    samples = std::move(*fewer);
  }
  ArrayRef<execution::TensorSpec> inputs = (*executor)->inputs();
  ResultSizes results;
  for (const auto &spec : inputs.take_back(request.results.size())) {
    results.counts.push_back(spec.type.getNumElements() / unit);
    results.firsts.push_back(results.total);
    results.total += results.counts.back();
  }
  auto signedSamples = std::make_shared<SignedSamples>(std::move(samples),
                                                       results, options.seed);
  bool fits = signedSamples->numInputs() == inputs.size();
  for (auto [number, spec] : llvm::enumerate(inputs))
    fits = fits &&
           spec.type.getNumElements() *
                   execution::getElementBytes(spec.type.getElementType()) ==
               int64_t(signedSamples->sampleBytes(number)) * unit;
  if (!fits)
    return function.emitOpError(
        "has no Hessian scores: its gradients are not those of single samples; "
        "give arguments and results a batch dimension");
  for (auto [value, spec] : llvm::zip(values, (*executor)->outputs()))
    if (spec.type.getDimSize(0) % unit != 0)
      return refuse(value);
  HessianRun run(**executor, *signedSamples, results, options);
  if (llvm::Error error = run.run())
    return emitError(function.getLoc()) << llvm::toString(std::move(error));
  for (auto [i, score] : llvm::enumerate(run.scores.scores))
    if (!std::isfinite(score)) {
      InFlightDiagnostic error =
          function.emitOpError()
          << "has Hessian scores that are NaN or infinite, of sample "
          << int64_t(i) / run.scores.layers
          << "; check the input scale and the weights";
      error.attachNote(values[i % size_t(run.scores.layers)].getLoc())
          << "by this value";
      return error;
    }
  return std::move(run.scores);
}
