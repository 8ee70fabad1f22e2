// SPDX-License-Identifier: Apache-2.0
#include "mct/Training/GradientPtq.h"

#include "mct/Execution/RunCache.h"
#include "mct/Execution/SampleParts.h"
#include "mct/IR/Names.h"
#include "mct/Planning/KernelOp.h"
#include "mct/Training/HessianScores.h"
#include "mct/Training/MakeTrainable.h"
#include "mct/Training/TrainingHost.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mct;
using execution::ResultMetric;
using execution::SampleSource;
using mct::tpc::QuantizeOp;

/// One of this many samples is held out from training.
static constexpr int64_t kJudgedPart = 5;
/// Memory for results of the float network that are kept for judging, in bytes.
static constexpr int64_t kJudgeBytes = int64_t(64) << 20;

llvm::cl::ValuesClass mct::gptqRoundingValues() {
  return llvm::cl::values(
      clEnumValN(GptqRounding::Soft, "soft",
                 "which of the two levels around it each weight takes"),
      clEnumValN(GptqRounding::Perturbed, "perturbed",
                 "by how much each weight is moved from its level"));
}

llvm::cl::ValuesClass mct::gptqLossValues() {
  return llvm::cl::values(
      clEnumValN(GptqLoss::Divergence, "divergence",
                 "of results of the network: of distributions, or squared "
                 "errors"),
      clEnumValN(GptqLoss::SquaredError, "mse",
                 "squared errors of the results of all layers, divided by the "
                 "mean squares"),
      clEnumValN(GptqLoss::Attention, "attention",
                 "squared errors of layers, each sample by its Hessian score"),
      clEnumValN(GptqLoss::Program, "program",
                 "a loss of the caller, of the results of all layers"));
}

//===----------------------------------------------------------------------===//
// Samples
//===----------------------------------------------------------------------===//

namespace {
struct Split {
  std::shared_ptr<const SampleSource> trained, judged;
};
} // namespace

/// Splits samples by their values, so that neither the choice nor the order
/// depends on the order in the files. Equal samples are on the same side. If
/// one part would be empty, both are all samples.
static llvm::Expected<Split>
splitSamples(const std::shared_ptr<const SampleSource> &samples) {
  auto parts = execution::holdOut(
      samples, std::max<int64_t>(samples->numSamples() / kJudgedPart, 1));
  if (!parts)
    return parts.takeError();
  auto order = [](const std::shared_ptr<const SampleSource> &part) {
    return execution::thinSamples(part, part->numSamples(),
                                  execution::SampleOrder::ByValue);
  };
  auto trained = order(*parts ? (*parts)->fitted : samples),
       judged = order(*parts ? (*parts)->judging : samples);
  if (!trained || !judged)
    return llvm::joinErrors(trained.takeError(), judged.takeError());
  return Split{std::move(*trained), std::move(*judged)};
}

//===----------------------------------------------------------------------===//
// The loss of results
//===----------------------------------------------------------------------===//

namespace {
/// Loss of a network's results, summed over the results: the mean over samples
/// of the divergence of distributions at a temperature, times its square, which
/// keeps the gradients of logits as large as without a temperature; of mean((y
/// - x)^2) / mean(x^2) for other results.
class ResultsLoss : public TrainingLoss {
public:
  ResultsLoss(std::vector<bool> isDistribution, double temperature)
      : isDistribution(std::move(isDistribution)), temperature(temperature) {}

  bool needsTeacher() const override { return true; }
  llvm::Error check(llvm::ArrayRef<ComparedShape> results, int64_t,
                    int64_t) override {
    shapes.assign(results.begin(), results.end());
    return llvm::Error::success();
  }
  BatchLoss begin(const TrainingBatch &batch) const override {
    return [this, samples = double(batch.samples.size())](
               const TrainingShard &shard) { return compute(shard, samples); };
  }
  std::string describe() const override {
    std::string text = "results at temperature " + std::to_string(temperature);
    for (bool distribution : isDistribution)
      text += distribution ? ", distribution" : ", values";
    return text;
  }

private:
  llvm::Expected<double> compute(const TrainingShard &shard,
                                 double samples) const;

  std::vector<bool> isDistribution;
  double temperature;
  std::vector<ComparedShape> shapes;
};
} // namespace

llvm::Expected<double> ResultsLoss::compute(const TrainingShard &shard,
                                            double samples) const {
  double sum = 0;
  for (auto [number, result] : llvm::enumerate(shard.results)) {
    const ComparedShape &shape = shapes[number];
    int64_t row = isDistribution[number] ? shape.channels : shape.elements;
    int64_t rows = shape.elements / std::max<int64_t>(row, 1);
    double factor = 1 / (samples * double(std::max<int64_t>(rows, 1)));
    for (size_t begin = 0; begin != result.values.size(); begin += row) {
      llvm::ArrayRef<float> values = result.values.slice(begin, row),
                            teacher = result.teacher.slice(begin, row);
      llvm::MutableArrayRef<float> gradients =
          result.gradients.slice(begin, row);
      sum += isDistribution[number]
                 ? quantization::softenedDivergence(
                       values, teacher, temperature, factor, gradients)
                 : factor * quantization::normalizedSquaredError(
                                values, teacher, factor, gradients);
    }
  }
  return sum;
}

//===----------------------------------------------------------------------===//
// The network
//===----------------------------------------------------------------------===//

namespace {
/// A layer that is trained.
struct TrainedLayer {
  KernelOp op;
  QuantizeOp point;
};
} // namespace

/// Returns the layers with a known bias whose kernel is quantized to evenly
/// spaced levels and not shared, in the order of the points.
static std::vector<TrainedLayer> findLayers(func::FuncOp network,
                                            const KernelOps &kernels) {
  llvm::MapVector<Operation *, KernelOp> byPoint;
  for (Operation &op : network.getBody().front()) {
    std::optional<KernelOp> layer = kernels.get(&op);
    if (!layer)
      continue;
    QuantizeOp point = layer->getKernelPoint();
    if (point && point.getParametersAttr() && point->hasOneUse() &&
        !point.hasImportedParameters() &&
        !point.getParametersAttr().getGrids().empty() && layer->getBias() &&
        (!layer->getCorrections() || layer->canTakeBackCorrections()))
      byPoint.insert({point.getOperation(), *layer});
  }
  std::vector<TrainedLayer> layers;
  for (auto point : network.getOps<QuantizeOp>())
    if (auto *found = byPoint.find(point); found != byPoint.end())
      layers.push_back({found->second, point});
  return layers;
}

/// Sets how the points of the network are trained.
static void makeTrainable(func::FuncOp network,
                          llvm::ArrayRef<TrainedLayer> layers,
                          const GradientPtqOptions &options) {
  TrainableOptions trainable;
  trainable.weights = options.rounding == GptqRounding::Soft
                          ? TrainingMethod::SoftRounding
                          : TrainingMethod::PerturbedRounding;
  trainable.activations =
      options.learnsActivations ? TrainingMethod::STE : TrainingMethod::Fixed;
  trainable.masksClipped = options.masksClipped;
  trainable.isGradual = options.gradual.has_value();
  trainable.learnsScales = options.learnsScales;
  trainable.mostLevels = options.mostLevels;
  for (auto point : network.getOps<QuantizeOp>())
    if (point.isActivation() && !point.hasImportedParameters())
      if (tpc::TrainableAttrInterface chosen =
              chooseTrainable(point, trainable))
        point.setTrainableAttr(chosen);
  for (TrainedLayer layer : layers)
    layer.point.setTrainableAttr(chooseTrainable(layer.point, trainable));
}

/// Returns the point that computes a result of the function, or null.
static QuantizeOp getResultPoint(Value result) {
  auto point = result.getDefiningOp<QuantizeOp>();
  return point && point.isActivation() ? point : QuantizeOp();
}

//===----------------------------------------------------------------------===//
// Judging
//===----------------------------------------------------------------------===//

namespace {
/// Measures the distance of networks' results from those of the float network,
/// on samples that are not used for training. Points of results do not
/// quantize.
class Judge {
public:
  static FailureOr<std::unique_ptr<Judge>>
  create(func::FuncOp teacher, std::shared_ptr<const SampleSource> samples,
         const execution::RunSettings &settings);

  FailureOr<double> measure(func::FuncOp network);
  const execution::ResultDistance &results() const { return *distance; }

private:
  using Done =
      llvm::function_ref<llvm::Error(const execution::Unit &, size_t worker)>;
  LogicalResult
  run(func::FuncOp function, bool quantizes,
      llvm::function_ref<void(const execution::NetworkRun &)> begin, Done done);

  std::shared_ptr<const SampleSource> samples;
  execution::RunSettings settings;
  int64_t unit = 0;
  std::unique_ptr<execution::ResultDistance> distance;
};
} // namespace

LogicalResult
Judge::run(func::FuncOp function, bool quantizes,
           llvm::function_ref<void(const execution::NetworkRun &)> begin,
           Done done) {
  execution::CompileOptions options;
  options.function = function.getSymName().str();
  options.simulateQuantization = quantizes;
  options.unit = unit;
  for (Value result : function.getBody().front().getTerminator()->getOperands())
    if (QuantizeOp point = getResultPoint(result))
      options.quantizers[point.getUniqueName()] = {};
  // Calibration has reported slow ops.
  ScopedDiagnosticHandler quiet(
      function.getContext(), [](Diagnostic &diagnostic) {
        return success(diagnostic.getSeverity() == DiagnosticSeverity::Remark);
      });
  auto run =
      execution::NetworkRun::prepare(function->getParentOfType<ModuleOp>(),
                                     std::move(options), settings, samples);
  if (failed(run))
    return failure();
  begin(*run);
  return run->run(
      [](size_t, execution::Worker &) {},
      [&](const execution::Unit &unit) { return done(unit, unit.worker); });
}

FailureOr<std::unique_ptr<Judge>>
Judge::create(func::FuncOp teacher, std::shared_ptr<const SampleSource> samples,
              const execution::RunSettings &settings) {
  auto judge = std::make_unique<Judge>();
  judge->samples = std::move(samples);
  judge->settings = settings;
  judge->settings.run.progress = nullptr;
  auto begin = [&](const execution::NetworkRun &run) {
    judge->unit = run.executor().unit();
    judge->distance = std::make_unique<execution::ResultDistance>(
        run.executor().outputs(), judge->unit, run.samples().numSamples(),
        kJudgeBytes);
  };
  auto keep = [&](const execution::Unit &unit, size_t) {
    return judge->distance->keep(unit.index, unit.validSamples, unit.outputs);
  };
  if (failed(judge->run(teacher, /*quantizes=*/false, begin, keep)))
    return failure();
  if (judge->distance->isEmpty())
    return teacher.emitOpError("has no result of f32 with the batch first, by "
                               "which training could be judged");
  if (llvm::Error error = judge->distance->decide(ResultMetric::Auto))
    return teacher.emitOpError() << llvm::toString(std::move(error));
  return judge;
}

FailureOr<double> Judge::measure(func::FuncOp network) {
  std::vector<std::vector<float>> scratch;
  execution::ResultDistance::Comparison found = distance->createComparison();
  auto begin = [&](const execution::NetworkRun &run) {
    scratch.resize(run.numWorkers());
  };
  auto compare = [&](const execution::Unit &unit, size_t worker) {
    return distance->compare(unit.index, unit.validSamples, unit.outputs,
                             scratch[worker], found);
  };
  if (failed(run(network, /*quantizes=*/true, begin, compare)))
    return failure();
  return distance->distance(found);
}

//===----------------------------------------------------------------------===//
// Training
//===----------------------------------------------------------------------===//

/// Moves soft choices close to the hard ones.
static void harden(TrainingRun &training, double softness) {
  std::vector<std::vector<float>> values = training.values();
  for (auto [value, tensor] :
       llvm::zip_equal(training.function().learned, values)) {
    if (value.role != tpc::LearnedRole::Rounding)
      continue;
    for (float &variable : tensor) {
      double share = quantization::soften(variable);
      // At the ends of the sigmoid, the gradient would vanish.
      double most = std::clamp(softness, 0x1p-10, 0.5 - 0x1p-10);
      share = share >= 0.5 ? std::max(share, 1 - most) : std::min(share, most);
      variable = float(quantization::unsoften(share));
    }
  }
  training.setValues(values);
}

namespace {
/// The network, in a separate module, and its teacher.
class GradientPtq {
public:
  GradientPtq(func::FuncOp network, const KernelOps &kernels,
              const GradientPtqOptions &options, execution::RunSettings run)
      : network(network), kernels(kernels), options(options),
        run(std::move(run)), settings(options.settings) {}

  FailureOr<GradientPtqResult> train();

private:
  LogicalResult copyNetworks();
  LogicalResult openSamples();
  FailureOr<std::shared_ptr<TrainingLoss>>
  chooseLoss(llvm::SmallVectorImpl<std::string> &compared);
  FailureOr<std::vector<double>> scoreLayers(const GptqHessianOptions &hessian,
                                             int64_t &samples);
  LogicalResult setSchedule();

  func::FuncOp network;
  const KernelOps &kernels;
  const GradientPtqOptions &options;
  execution::RunSettings run;
  TrainingSettings settings;

  OwningOpRef<ModuleOp> module;
  func::FuncOp student, teacher;
  std::vector<TrainedLayer> layers;
  Split samples;
  std::unique_ptr<Judge> judge;
  TrainingHost *host = nullptr;
};
} // namespace

LogicalResult GradientPtq::copyNetworks() {
  auto original = network->getParentOfType<ModuleOp>();
  module = original.clone();
  student = module->lookupSymbol<func::FuncOp>(network.getSymName());
  assignNames(student);
  teacher = student.clone();
  teacher.setName((network.getSymName() + "_teacher").str());
  SymbolTable(*module).insert(teacher);
  takeBackCorrectionsBelow(teacher, kernels);
  layers = findLayers(student, kernels);
  return success();
}

LogicalResult GradientPtq::openSamples() {
  execution::CompileOptions compile;
  compile.function = teacher.getSymName().str();
  compile.simulateQuantization = false;
  auto all = execution::NetworkRun::prepare(*module, compile, run);
  if (failed(all))
    return failure();
  auto split = splitSamples(all->sharedSamples());
  if (!split)
    return network.emitOpError() << llvm::toString(split.takeError());
  samples = std::move(*split);
  return success();
}

FailureOr<std::vector<double>>
GradientPtq::scoreLayers(const GptqHessianOptions &hessian, int64_t &count) {
  llvm::StringMap<Value> results;
  for (Operation &op : teacher.getBody().front())
    if (StringAttr name = mct::getName(op.getLoc());
        name && op.getNumResults() == 1 && !isa<QuantizeOp>(op))
      results[name.getValue()] = op.getResult(0);
  llvm::SmallVector<Value> values;
  for (const TrainedLayer &layer : layers)
    values.push_back(results.lookup(mct::getName(layer.op.getResult())));
  HessianOptions scoring;
  bool isAttention = options.loss == GptqLoss::Attention;
  scoring.reduction =
      isAttention ? ScoreReduction::LargestChannel : ScoreReduction::Sum;
  scoring.seed = settings.seed;
  scoring.maxSamples =
      isAttention ? 0
                  : std::min(hessian.samples, samples.trained->numSamples());
  scoring.run = run.run;
  scoring.run.batchSize = hessian.batch;
  scoring.maxMemory = run.maxMemory;
  scoring.cache = run.cache;
  FailureOr<HessianScores> scores =
      computeHessianScores(teacher, values, samples.trained, scoring);
  if (failed(scores))
    return failure();
  count = scores->samples;
  return std::move(scores->scores);
}

FailureOr<std::shared_ptr<TrainingLoss>>
GradientPtq::chooseLoss(llvm::SmallVectorImpl<std::string> &compared) {
  if (options.loss == GptqLoss::Divergence) {
    std::vector<bool> distributions;
    auto results = student.getBody().front().getTerminator()->getOperands();
    for (auto [number, result] : llvm::enumerate(results)) {
      std::optional<ResultMetric> metric = judge->results().getMetric(number);
      if (!metric || !result.getDefiningOp())
        continue;
      QuantizeOp point = getResultPoint(result);
      StringAttr name = mct::getName(result);
      compared.push_back(point ? point.getUniqueName() : name.getValue().str());
      distributions.push_back(*metric == ResultMetric::KL);
    }
    if (compared.empty())
      return network.emitOpError("has no result that an op makes, which could "
                                 "be trained; take loss=mse");
    return std::shared_ptr<TrainingLoss>(std::make_shared<ResultsLoss>(
        std::move(distributions), options.temperature));
  }
  for (const TrainedLayer &layer : layers)
    compared.push_back(mct::getName(layer.op.getResult()).getValue().str());
  std::vector<double> weights;
  if (options.hessian) {
    int64_t count = 0;
    auto scores = scoreLayers(*options.hessian, count);
    if (failed(scores))
      return failure();
    if (options.loss == GptqLoss::Attention) {
      if (settings.regularizer) {
        std::vector<double> means(layers.size(), 0.0);
        for (auto [number, score] : llvm::enumerate(*scores))
          means[number % layers.size()] += score / double(count);
        settings.regularizer->importances = std::move(means);
      }
      return std::shared_ptr<TrainingLoss>(
          createAttentionLoss(std::move(*scores)));
    }
    auto normalized = quantization::normalizeScores(
        *scores, int64_t(layers.size()), options.hessian->normalization);
    if (!normalized)
      return network.emitOpError() << llvm::toString(normalized.takeError());
    // The logarithms relative to the smallest one are all 0 for a single layer,
    // or if all are equal.
    if (llvm::any_of(*normalized, [](double weight) { return weight != 0; }))
      weights = std::move(*normalized);
  }
  if (options.loss == GptqLoss::Program)
    return std::shared_ptr<TrainingLoss>(
        createHostLoss(*host, std::move(weights)));
  return std::shared_ptr<TrainingLoss>(
      createSquaredErrorLoss(ErrorUnit::Normalized, std::move(weights)));
}

LogicalResult GradientPtq::setSchedule() {
  if (!options.gradual)
    return success();
  int64_t perEpoch =
      llvm::divideCeil(samples.trained->numSamples(), settings.batch);
  int64_t end = options.gradual->end < 0 ? settings.epochs * perEpoch
                                         : options.gradual->end;
  auto fraction = quantization::createQuantizedFraction(
      options.gradual->initial, options.gradual->target, options.gradual->start,
      end);
  if (!fraction)
    return network.emitOpError() << llvm::toString(fraction.takeError());
  settings.fraction = *fraction;
  return success();
}

FailureOr<GradientPtqResult> GradientPtq::train() {
  GradientPtqResult result;
  if (!run.cache)
    run.cache = std::make_shared<execution::RunCache>();
  if (failed(copyNetworks()))
    return failure();
  if (layers.empty())
    return result;
  host = TrainingHostScope::find(network.getContext());
  if (options.loss == GptqLoss::Program && !(host && host->hasLoss()))
    return network.emitOpError(
        "cannot be trained: loss=program needs a loss of the caller; give "
        "mct.gptq.GradientPTQConfig one, or take another loss");
  if (failed(openSamples()) || failed(setSchedule()))
    return failure();
  result.layers = int64_t(layers.size());
  result.trained = samples.trained->numSamples();
  result.judged = samples.judged->numSamples();
  auto created = Judge::create(teacher, samples.judged, run);
  if (failed(created))
    return failure();
  judge = std::move(*created);
  result.metric = judge->results().usedMetric();
  FailureOr<double> before = judge->measure(student);
  if (failed(before))
    return failure();
  result.before = *before;

  TrainingProblem problem;
  FailureOr<std::shared_ptr<TrainingLoss>> loss =
      chooseLoss(problem.request.compared);
  if (failed(loss))
    return failure();
  makeTrainable(student, layers, options);
  problem.network = student;
  problem.request.weights = false;
  problem.request.biases = settings.biases.has_value();
  problem.request.kernels = &kernels;
  problem.rules.maskPoints = options.masksClipped;
  problem.teacher = teacher;
  problem.loss = std::move(*loss);
  problem.samples = samples.trained;
  // A loss that the caller computes for a batch need not be a sum over its
  // parts.
  if (options.loss == GptqLoss::Program)
    settings.shard = settings.batch;
  std::optional<std::string> stopped;
  if (host && host->watchesSteps())
    settings.afterStep = [&](const TrainingStepInfo &step) {
      if (llvm::Error error = host->afterStep(step, problem.request.compared))
        stopped = llvm::toString(std::move(error));
      return !stopped;
    };
  auto training = TrainingRun::create(problem, settings, run);
  if (failed(training))
    return failure();
  if (options.rounding == GptqRounding::Soft)
    harden(**training, options.softness);
  if (failed((*training)->train()))
    return failure();
  if (stopped)
    return network.emitOpError() << *stopped;

  const TrainingFunction &function = (*training)->function();
  if (failed(writeLearned(student, function, (*training)->values(),
                          /*recordsRounding=*/true)))
    return failure();
  FailureOr<double> after = judge->measure(student);
  if (failed(after))
    return failure();
  result.after = *after;
  if (!result.isBetter())
    return result;
  makeTrainable(network, findLayers(network, kernels), options);
  if (failed(writeLearned(network, function, (*training)->values(),
                          /*recordsRounding=*/true)))
    return failure();
  return result;
}

FailureOr<GradientPtqResult>
mct::trainRounding(func::FuncOp network, const KernelOps &kernels,
                   const GradientPtqOptions &options,
                   const execution::RunSettings &run) {
  return GradientPtq(network, kernels, options, run).train();
}
