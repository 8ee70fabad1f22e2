// SPDX-License-Identifier: Apache-2.0
#include "CandidateRun.h"

#include "../Corrections/ChannelRun.h"
#include "../Corrections/WeightRounding.h"
#include "ComparePoints.h"
#include "mct/Execution/Executor.h"
#include "mct/Execution/Frontier.h"
#include "mct/Execution/ResultDistance.h"
#include "mct/Execution/RunCache.h"
#include "mct/Execution/StagedRun.h"
#include "mct/Planning/KernelOp.h"
#include "mct/Planning/OperatorPoints.h"
#include "mct/Quantization/Parallel.h"
#include "mct/Training/HessianScores.h"
#include "mct/Transforms/Candidates.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace mct;
using namespace mct::bit_widths;
using corrections::ChannelSummary;
using corrections::ChannelValue;
using corrections::LayerValue;
using corrections::ProductRows;
using corrections::ProductSamples;
using corrections::RoundedLayer;
using execution::Executor;
using execution::Frontier;
using execution::ResultDistance;
using execution::ResultMetric;
using execution::StagedRun;
using execution::TensorView;

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

FailureOr<std::vector<OperatorCandidates>> mct::bit_widths::selectCandidates(
    func::FuncOp function, llvm::function_ref<LogicalResult(ModuleOp)> select) {
  auto module = function->getParentOfType<ModuleOp>();
  std::vector<OperatorCandidates> found;
  int64_t most = 1;
  for (const OperatorPoints &of : findOperatorPoints(function))
    if (int64_t number = of.numAlternatives(); number > 1) {
      found.push_back({of.name.str(), std::vector<Quantizers>(number)});
      most = std::max(most, number);
    }
  for (int64_t index = 0; index != most; ++index) {
    OwningOpRef<ModuleOp> copy = module.clone();
    KernelOps kernels = KernelOps::forModule(*copy);
    auto copied = cast<func::FuncOp>(
        SymbolTable::lookupSymbolIn(*copy, function.getSymName()));
    for (const OperatorPoints &of : findOperatorPoints(copied))
      if (index < of.numAlternatives() &&
          failed(chooseCandidate(of, index, kernels)))
        return failure();
    if (failed(select(*copy)))
      return failure();
    size_t number = 0;
    for (const OperatorPoints &of : findOperatorPoints(copied)) {
      if (of.numAlternatives() == 1)
        continue;
      OperatorCandidates &candidates = found[number++];
      if (index >= of.numAlternatives())
        continue;
      for (tpc::QuantizeOp point : of.points)
        candidates.alternatives[index][point.getUniqueName()] = {
            point.getParametersAttr(), llvm::to_vector(point.getChannelAxes())};
    }
  }
  return found;
}

LogicalResult mct::bit_widths::checkMeasurable(func::FuncOp function) {
  if (!llvm::hasSingleElement(function.getBody()))
    return function.emitOpError(
        "cannot be measured: its body has several blocks");
  WalkResult result = function.walk([](Operation *op) {
    if (auto call = dyn_cast<func::CallOp>(op)) {
      call.emitOpError("calls another function, and alternatives are measured "
                       "within one; run --inline before");
      return WalkResult::interrupt();
    }
    auto point = dyn_cast<tpc::QuantizeOp>(op);
    if (!point || point.getParametersAttr())
      return WalkResult::advance();
    point.emitOpError("has no parameters; run mct-calibrate, "
                      "mct-select-parameters and mct-select-weight-parameters "
                      "before");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// The compiled network
//===----------------------------------------------------------------------===//

namespace {
/// A layer whose kernel has candidates.
struct CandidateLayer {
  /// In the copy that was compiled, without a quantizer of the kernel.
  corrections::Layer layer;
  /// Its bias may become another one.
  bool hasBias = false;
  /// What the channels of its result see in the base network.
  std::optional<ChannelSummary> base, empty;
  ChannelValue result;
  /// As a product, where its weights may be rounded together, and what
  /// it reads while candidates are measured.
  std::optional<corrections::ProductLayout> layout;
  ProductSamples products;
};

/// A point that has candidates.
struct CandidatePoint {
  std::vector<float> kernel;
  SmallVector<int64_t> shape;
  /// Of a kernel: the layers that read it, by number, which is that of the
  /// replaceable constant, too; of others: the number of the replaceable point.
  SmallVector<size_t> layers;
  std::optional<size_t> number;
};

/// A point inside of the network that is compared.
struct SeenPoint {
  ComparePoint point;
  /// Its rows are distributions.
  bool isSoftmax = false;
  /// Of the last axis.
  int64_t rowLength = 1;
  /// What the float network makes, for each unit.
  std::unique_ptr<Frontier> reference;
  /// Of each sample, in the base network.
  std::vector<double> base;
};

/// Keeps what the float network makes at a point, or compares with it.
class SeePoint : public execution::TensorObserver {
public:
  SeePoint(const SeenPoint &seen, int64_t unit, bool keeps)
      : seen(seen), unit(unit), keeps(keeps) {}
  ~SeePoint() override { llvm::consumeError(std::move(failure)); }
  /// Where distances of samples go from now on; null: nothing is compared.
  void compareTo(std::vector<double> *distances) { to = distances; }
  void observe(const TensorView &values) override {
    if (failure || (!keeps && !to))
      return;
    int64_t number = values.samples().first / unit;
    ArrayRef<float> actual = values.floats();
    if (keeps) {
      failure = seen.reference->write(
          number, {reinterpret_cast<const char *>(actual.data()),
                   actual.size() * sizeof(float)});
      return;
    }
    expected.resize(actual.size());
    failure =
        seen.reference->read(number, {reinterpret_cast<char *>(expected.data()),
                                      expected.size() * sizeof(float)});
    if (failure)
      return;
    int64_t count = values.samples().count;
    size_t elements = actual.size() / count;
    for (int64_t sample = 0; sample != count; ++sample)
      (*to)[values.samples().first + sample] = distanceOf(
          seen.point.distance,
          ArrayRef<float>(expected).slice(sample * elements, elements),
          actual.slice(sample * elements, elements), seen.rowLength,
          /*isDistribution=*/seen.isSoftmax);
  }
  llvm::Error takeFailure() { return std::move(failure); }

private:
  const SeenPoint &seen;
  int64_t unit;
  bool keeps;
  std::vector<double> *to = nullptr;
  std::vector<float> expected;
  llvm::Error failure = llvm::Error::success();
};

/// Summarizes the result of a layer, or keeps rows of its product, or both.
class SeeLayer : public execution::TensorObserver {
public:
  SeeLayer(std::optional<ChannelSummary> summary, ProductRows *rows,
           LayerValue what)
      : summary(std::move(summary)), rows(rows), what(what) {}
  void observe(const TensorView &values) override {
    if (summary)
      summary->add(values);
    if (rows)
      rows->add(what, values);
  }
  std::optional<ChannelSummary> summary;

private:
  ProductRows *rows;
  LayerValue what;
};

/// An alternative of an operator, while it is measured.
struct Trial {
  explicit Trial(const Executor &executor) : replaced(executor) {}
  /// Of the operator, and among its alternatives.
  size_t number = 0, alternative = 0;
  execution::Replacements replaced;
  /// By layer: what changes its channels like a bias.
  std::map<size_t, execution::TensorEditor> editors;
  /// Layers whose means are still to be seen, in program order.
  std::vector<size_t> unseen;
  /// While some of them are: for each worker.
  std::vector<std::vector<std::unique_ptr<SeeLayer>>> observers;
  ResultDistance::Found found;
  /// Of each point that is compared.
  std::vector<std::vector<double>> distances;
};

/// Weights of a trial that are rounded together.
struct TrialRounding {
  Trial *trial = nullptr;
  size_t layer = 0;
  tpc::QuantizerAttrInterface quantizer;
  SmallVector<int64_t> axes;
  RoundedLayer rounded;
  std::vector<float> weights;
  quantization::RoundedWeights result = {};
};

/// What one thread has.
struct Lane {
  std::vector<float> reference;
  std::vector<std::unique_ptr<SeeLayer>> observers;
  std::vector<std::unique_ptr<SeePoint>> points;
};
} // namespace

namespace mct::bit_widths {
class CandidateRunImpl {
public:
  CandidateRunImpl(Location loc, ArrayRef<OperatorCandidates> candidates)
      : loc(loc), candidates(candidates) {}

  LogicalResult prepare(func::FuncOp function,
                        const execution::RunSettings &settings,
                        const CandidateRunOptions &options);
  FailureOr<std::vector<std::vector<double>>> measureEach();

  SensitivityMetric usedMetric() const {
    return results->usedMetric() == ResultMetric::KL ? SensitivityMetric::KL
                                                     : SensitivityMetric::MSE;
  }
  double baseDistance = 0;
  const execution::SampleSource &samples() const { return *source; }

private:
  using Executors = std::vector<std::unique_ptr<Executor>>;
  FailureOr<Executors> compile(func::FuncOp function,
                               const execution::RunSettings &settings);
  LogicalResult runFloat(std::unique_ptr<Executor> floating,
                         const execution::RunSettings &settings);
  LogicalResult createLanes();
  LogicalResult check(llvm::Error error) const {
    if (error)
      return emitError(loc) << llvm::toString(std::move(error));
    return success();
  }

  /// Runs passes, and tells what went wrong with points.
  LogicalResult run(ArrayRef<StagedRun::Pass> passes);
  double distance(const ResultDistance::Found &found,
                  ArrayRef<std::vector<double>> ofPoints) const;

  LogicalResult preparePoints(const Executor &floating);
  LogicalResult findScores(const execution::RunSettings &settings);

  /// Runs a stage of the base network, keeps what it makes, and finds the means
  /// of its layers, and what they read where their weights may be rounded
  /// together.
  LogicalResult observeBase(unsigned stage, const Frontier *before,
                            Frontier *behind);
  LogicalResult
  findProducts(ArrayRef<size_t> layers,
               MutableArrayRef<std::unique_ptr<ProductRows>> rows);
  SmallVector<size_t> layersOfStage(unsigned stage) const;
  /// Of what a layer reads, among the observed values.
  size_t inputNumber(size_t layer) const {
    return layers.size() + seenPoints.size() + layer;
  }
  unsigned firstStageOf(const OperatorCandidates &of) const;
  /// Bytes of the kernels that an operator's alternatives change.
  int64_t kernelBytesOf(const OperatorCandidates &of) const;

  /// Makes a worker one of the base network (null), or of a trial.
  void enter(size_t worker, Trial *trial, bool comparesPoints);
  /// Gives trials the quantizers and kernels of their alternatives.
  LogicalResult prepare(MutableArrayRef<Trial> trials);
  /// How the weights of the only layer of a point are rounded together; none
  /// where they are not, or it is not known what they read.
  std::optional<TrialRounding> describe(Trial &trial,
                                        const CandidatePoint &point,
                                        const PointQuantizer &quantizer);
  LogicalResult roundTogether(MutableArrayRef<TrialRounding> roundings);
  LogicalResult setKernel(Trial &trial, size_t layer, ArrayRef<float> values);
  /// Brings the means of layers to those of the base network, for one layer
  /// after the other.
  LogicalResult correctMeans(MutableArrayRef<Trial> trials, unsigned stage,
                             const Frontier *before);
  LogicalResult measure(MutableArrayRef<Trial> trials, unsigned stage,
                        const Frontier *before);
  /// In memory, of each of two frontiers and of the float results.
  static constexpr int64_t kFrontierBytes = int64_t(16) << 20;

  /// Of rows that are kept of all layers of a stage.
  static constexpr int64_t kRowBytes = int64_t(16) << 20;
  /// Of kernels of alternatives that are measured at the same time.
  static constexpr int64_t kKernelBytes = int64_t(32) << 20;
  /// Of covariances and their factors, of weights that are rounded at the same
  /// time.
  static constexpr int64_t kRoundingBytes = int64_t(64) << 20;
  /// Of the thresholds that are tried: what is between them hardly changes what
  /// an alternative costs.
  static constexpr int kThresholdStride = 4;

  Location loc;
  ArrayRef<OperatorCandidates> candidates;
  CandidateRunOptions options;
  llvm::StringMap<CandidatePoint> points;
  std::vector<CandidateLayer> layers;
  OwningOpRef<ModuleOp> module;
  std::unique_ptr<Executor> executor;
  std::shared_ptr<const execution::SampleSource> source;
  execution::RunOptions runOptions;
  std::unique_ptr<StagedRun> staged;
  std::vector<Lane> lanes;
  std::unique_ptr<ResultDistance> results;
  /// Inside of the network, in program order; observed in the float network
  /// from 0 on, in the other behind the layers.
  std::vector<SeenPoint> seenPoints;
  /// The same in the float network; how much its results change with them,
  /// where that is asked for.
  SmallVector<ComparePoint> floatPoints;
  std::vector<double> scores;
};
} // namespace mct::bit_widths

static void setAxes(tpc::QuantizeOp point, ArrayRef<int64_t> axes) {
  if (axes.empty())
    point.removeAxesAttr();
  else
    point.setAxes(axes);
}

/// Points whose values leave the function at once.
static bool isResult(tpc::QuantizeOp point) {
  return llvm::any_of(point->getUsers(), [](Operation *user) {
    return user->hasTrait<OpTrait::IsTerminator>();
  });
}

FailureOr<CandidateRunImpl::Executors>
CandidateRunImpl::compile(func::FuncOp function,
                          const execution::RunSettings &settings) {
  module = ModuleOp::create(loc);
  auto parent = function->getParentOfType<ModuleOp>();
  KernelOps kernels = KernelOps::forModule(parent);
  func::FuncOp floating = function.clone(), quantized = function.clone();
  for (func::FuncOp copy : {floating, quantized}) {
    module->push_back(copy);
    if (copy != quantized || !options.keepsCorrections)
      takeBackCorrectionsBelow(copy, kernels);
  }
  quantized.setName((function.getSymName() + "_quantized").str());

  SmallVector<execution::CompileOptions, 2> all(2);
  all[0].function = floating.getSymName().str();
  all[0].simulateQuantization = false;
  execution::CompileOptions &own = all[1];
  own.function = quantized.getSymName().str();
  llvm::StringSet<> chosen;
  for (const OperatorCandidates &of : candidates)
    for (const auto &[name, quantizer] : of.alternatives.front())
      chosen.insert(name);
  SmallVector<ComparePoint> compared =
      findComparePoints(quantized, kernels, options.comparePoints);
  floatPoints = findComparePoints(floating, kernels, options.comparePoints);
  for (const ComparePoint &point : floatPoints)
    all[0].observedValues.push_back(point.value);
  quantized.walk([&](tpc::QuantizeOp point) {
    if (!chosen.contains(point.getUniqueName())) {
      if (isResult(point))
        point.removeQuantizer();
      return;
    }
    CandidatePoint &candidate = points[point.getUniqueName()];
    candidate.shape.assign(
        cast<RankedTensorType>(point.getType()).getShape().begin(),
        cast<RankedTensorType>(point.getType()).getShape().end());
    if (point.isWeight()) {
      bool isKernel = !point->use_empty();
      SmallVector<KernelOp> readers;
      for (Operation *user : point->getUsers()) {
        std::optional<KernelOp> layer = kernels.get(user);
        isKernel &= layer && layer->getKernelPoint() == point;
        if (isKernel)
          readers.push_back(*layer);
      }
      point.removeQuantizer();
      if (isKernel) {
        candidate.kernel = readers.front().getKernel().values().vec();
        for (const KernelOp &layer : readers) {
          candidate.layers.push_back(layers.size());
          std::optional<std::vector<float>> bias = layer.getBias();
          CandidateLayer &added = layers.emplace_back(CandidateLayer{
              {layer, point, bias.value_or(std::vector<float>())},
              bias.has_value(),
              std::nullopt,
              std::nullopt,
              {layer.getResult(), layer.resultAxis()},
              std::nullopt,
              {}});
          if (bias && readers.size() == 1 && options.roundMaxBits != 0)
            added.layout = corrections::ProductLayout::create(layer);
          own.replaceable.push_back(&layer.getKernelOperand());
          own.observedValues.push_back(layer.getResult());
          own.observedBefore.push_back(
              {layer.getInput().get(), layer.getOperation()});
        }
        return;
      }
    }
    candidate.number = own.replaceablePoints.size();
    own.replaceablePoints.push_back(point);
  });
  own.numEdited = layers.size();
  for (const ComparePoint &point : compared) {
    own.observedValues.push_back(point.value);
    SeenPoint &seen = seenPoints.emplace_back();
    seen.point = point;
    seen.isSoftmax = point.distance == SensitivityDistance::KL;
    if (options.distance != SensitivityDistance::Auto)
      seen.point.distance = options.distance;
  }
  for (execution::CompileOptions &each : all)
    each.maxMemory = settings.maxMemory;
  // What runs slowly has been remarked when it was calibrated.
  ScopedDiagnosticHandler quiet(
      module->getContext(), [](Diagnostic &diagnostic) {
        return success(diagnostic.getSeverity() == DiagnosticSeverity::Remark);
      });
  FailureOr<Executors> executors =
      Executor::compileAll(*module, all, settings.cache);
  return executors;
}

LogicalResult
CandidateRunImpl::runFloat(std::unique_ptr<Executor> floating,
                           const execution::RunSettings &settings) {
  auto run = execution::NetworkRun::prepare(loc, std::move(floating), settings);
  if (failed(run) || failed(run->thin(options.maxSamples)))
    return failure();
  source = run->sharedSamples();
  runOptions = settings.run;
  int64_t unit = run->executor().unit();
  results = std::make_unique<ResultDistance>(
      run->executor().outputs(), unit, source->numSamples(), kFrontierBytes);
  if (results->isEmpty())
    return emitError(loc) << "no result of the function is a tensor of f32 "
                             "with a batch, whose change could be measured";
  if (failed(preparePoints(run->executor())) || failed(findScores(settings)))
    return failure();
  std::vector<std::unique_ptr<SeePoint>> keep;
  if (failed(run->run(
          [&](size_t, execution::Worker &worker) {
            for (auto [number, seen] : llvm::enumerate(seenPoints)) {
              keep.push_back(
                  std::make_unique<SeePoint>(seen, unit, /*keeps=*/true));
              worker.setObserver(number, keep.back().get());
            }
          },
          [&](const execution::Unit &done) {
            return results->keep(done.index, done.validSamples, done.outputs);
          })))
    return failure();
  for (std::unique_ptr<SeePoint> &point : keep)
    if (failed(check(point->takeFailure())))
      return failure();
  switch (options.metric) {
  case SensitivityMetric::Auto:
    return check(results->decide(ResultMetric::Auto));
  case SensitivityMetric::KL:
    return check(results->decide(ResultMetric::KL));
  case SensitivityMetric::MSE:
    return check(results->decide(ResultMetric::MSE));
  }
  llvm_unreachable("all metrics are covered");
}

LogicalResult CandidateRunImpl::preparePoints(const Executor &floating) {
  auto units = int64_t(llvm::divideCeil(source->numSamples(), floating.unit()));
  for (auto [number, seen] : llvm::enumerate(seenPoints)) {
    RankedTensorType type = floating.observed()[number].type;
    if (!type.getElementType().isF32() || type.getRank() == 0 ||
        type.getDimSize(0) % floating.unit() != 0)
      return emitError(seen.point.value.getLoc())
             << "is not a tensor of f32 with the batch first and cannot be "
                "compared; measure with compare-points=0";
    seen.rowLength = type.getRank() > 1 ? type.getShape().back() : 1;
    seen.base.resize(source->numSamples());
    seen.reference = std::make_unique<Frontier>(
        units, type.getNumElements() * int64_t(sizeof(float)),
        kFrontierBytes / int64_t(seenPoints.size()));
  }
  return success();
}

LogicalResult
CandidateRunImpl::findScores(const execution::RunSettings &settings) {
  // As many as MCT takes: of each so many gradients are computed.
  constexpr int64_t kSamples = 32;
  if (options.weighting != SensitivityWeighting::Hessian || floatPoints.empty())
    return success();
  SmallVector<Value> values;
  for (const ComparePoint &point : floatPoints)
    values.push_back(point.value);
  HessianOptions hessian;
  hessian.maxSamples = kSamples;
  hessian.run = settings.run;
  hessian.maxMemory = settings.maxMemory;
  hessian.cache = settings.cache;
  auto function =
      values.front().getParentRegion()->getParentOfType<func::FuncOp>();
  auto found = computeHessianScores(function, values, source, hessian);
  if (failed(found))
    return failure();
  scores = found->means();
  if (llvm::any_of(scores, [](double score) { return score > 0; }))
    return success();
  return emitError(loc) << "has no Hessian scores, and no points to compare "
                           "that change its results; take another weighting, "
                           "or other compare-points";
}

LogicalResult CandidateRunImpl::createLanes() {
  size_t most = 1;
  for (const OperatorCandidates &of : candidates)
    most = std::max(most, of.alternatives.size());
  auto created =
      StagedRun::create(*executor, source, runOptions, int64_t(most));
  if (!created)
    return check(created.takeError());
  staged = std::move(*created);
  for (size_t number = 0; number != staged->numWorkers(); ++number) {
    Lane &lane = lanes.emplace_back();
    for (auto [index, seen] : llvm::enumerate(seenPoints)) {
      lane.points.push_back(std::make_unique<SeePoint>(seen, executor->unit(),
                                                       /*keeps=*/false));
      staged->worker(number).setObserver(layers.size() + index,
                                         lane.points.back().get());
    }
  }
  return success();
}

LogicalResult CandidateRunImpl::prepare(func::FuncOp function,
                                        const execution::RunSettings &settings,
                                        const CandidateRunOptions &runAs) {
  options = runAs;
  FailureOr<Executors> executors = compile(function, settings);
  if (failed(executors) ||
      failed(runFloat(std::move((*executors)[0]), settings)))
    return failure();
  executor = std::move((*executors)[1]);
  for (CandidateLayer &layer : layers)
    layer.empty.emplace(layer.result, /*samples=*/0, /*moments=*/false);
  return createLanes();
}

//===----------------------------------------------------------------------===//
// Distances
//===----------------------------------------------------------------------===//

double
CandidateRunImpl::distance(const ResultDistance::Found &found,
                           ArrayRef<std::vector<double>> distances) const {
  std::vector<double> ofPoints;
  for (const std::vector<double> &each : distances)
    ofPoints.push_back(std::accumulate(each.begin(), each.end(), 0.0) /
                       double(each.size()));
  return results->distance(found) + weigh(options.weighting, ofPoints, scores);
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

LogicalResult CandidateRunImpl::run(ArrayRef<StagedRun::Pass> passes) {
  if (failed(check(staged->run(passes))))
    return failure();
  for (Lane &lane : lanes)
    for (std::unique_ptr<SeePoint> &point : lane.points)
      if (failed(check(point->takeFailure())))
        return failure();
  return success();
}

void CandidateRunImpl::enter(size_t number, Trial *trial, bool comparesPoints) {
  execution::Worker &worker = staged->worker(number);
  worker.setReplacements(trial ? &trial->replaced : nullptr);
  for (size_t layer = 0; layer != layers.size(); ++layer)
    worker.setEditor(layer, nullptr);
  if (trial)
    for (const auto &[layer, editor] : trial->editors)
      worker.setEditor(layer, editor);
  for (auto [index, point] : llvm::enumerate(lanes[number].points))
    point->compareTo(!comparesPoints ? nullptr
                     : trial         ? &trial->distances[index]
                                     : &seenPoints[index].base);
}

SmallVector<size_t> CandidateRunImpl::layersOfStage(unsigned stage) const {
  SmallVector<size_t> found;
  for (size_t layer = 0; layer != layers.size(); ++layer)
    if (executor->stageOf(layer) == stage)
      found.push_back(layer);
  return found;
}

LogicalResult CandidateRunImpl::findProducts(
    ArrayRef<size_t> seen, MutableArrayRef<std::unique_ptr<ProductRows>> rows) {
  for (auto [number, kept] : llvm::zip(seen, rows)) {
    if (!kept)
      continue;
    if (int64_t count = kept->countNonFinite())
      return emitError(layers[number].result.value.getLoc())
             << "saw " << count
             << " values that are NaN or infinite; check the input scale and "
                "the weights";
    layers[number].products =
        ProductSamples::take(std::move(kept), runOptions.threads);
  }
  return success();
}

LogicalResult CandidateRunImpl::observeBase(unsigned stage,
                                            const Frontier *before,
                                            Frontier *behind) {
  SmallVector<size_t> here = layersOfStage(stage);
  std::vector<std::unique_ptr<ProductRows>> rows(here.size());
  auto products = llvm::count_if(
      here, [&](size_t layer) { return layers[layer].layout.has_value(); });
  for (auto [kept, layer] : llvm::zip(rows, here))
    if (layers[layer].layout)
      kept = std::make_unique<ProductRows>(
          *layers[layer].layout, executor->unit(),
          layers[layer].layout->rowsOf(
              executor->observed()[layer].type.getShape()),
          source->numSamples(), kRowBytes / products, /*hasSummand=*/false);
  auto add = [&](size_t worker, size_t observed, SeeLayer observer) {
    auto &observers = lanes[worker].observers;
    observers.push_back(std::make_unique<SeeLayer>(std::move(observer)));
    staged->worker(worker).setObserver(observed, observers.back().get());
  };
  for (size_t worker = 0; worker != lanes.size(); ++worker)
    for (auto [kept, layer] : llvm::zip(rows, here)) {
      add(worker, layer,
          SeeLayer(layers[layer].empty->fresh(), kept.get(),
                   LayerValue::FloatOutput));
      if (kept)
        add(worker, inputNumber(layer),
            SeeLayer(std::nullopt, kept.get(), LayerValue::Input));
    }
  ResultDistance::Found found = results->createFound();
  bool isLast = stage + 1 == executor->numStages();
  StagedRun::Pass pass{stage, stage, before, isLast ? nullptr : behind, {}, {}};
  pass.enter = [&](size_t worker) {
    enter(worker, /*trial=*/nullptr, /*comparesPoints=*/true);
  };
  if (isLast)
    pass.done = [&](const execution::Unit &done) {
      return results->compare(done.index, done.validSamples, done.outputs,
                              lanes[done.worker].reference, found);
    };
  LogicalResult result = run(pass);
  SmallVector<std::optional<ChannelSummary> *> summaries;
  for (auto [number, observer] : llvm::enumerate(lanes.front().observers)) {
    if (!observer->summary)
      continue;
    for (Lane &lane : llvm::drop_begin(lanes))
      observer->summary->merge(*lane.observers[number]->summary);
    if (succeeded(result))
      result = observer->summary->checkFinite();
    summaries.push_back(&observer->summary);
  }
  for (auto [layer, summary] : llvm::zip(here, summaries))
    layers[layer].base = std::move(*summary);
  for (auto [index, lane] : llvm::enumerate(lanes)) {
    for (size_t layer : here) {
      staged->worker(index).setObserver(layer, nullptr);
      staged->worker(index).setObserver(inputNumber(layer), nullptr);
    }
    lane.observers.clear();
  }
  if (failed(result) || failed(findProducts(here, rows)))
    return failure();
  if (isLast) {
    std::vector<std::vector<double>> ofPoints;
    for (const SeenPoint &seen : seenPoints)
      ofPoints.push_back(seen.base);
    baseDistance = distance(found, ofPoints);
  }
  return success();
}

unsigned CandidateRunImpl::firstStageOf(const OperatorCandidates &of) const {
  unsigned first = executor->numStages() - 1;
  for (const auto &[name, quantizer] : of.alternatives.front()) {
    const CandidatePoint &point = points.at(name);
    if (point.number)
      first = std::min(first, executor->stageOfPoint(*point.number));
    for (size_t layer : point.layers)
      first = std::min(first, executor->stageOf(layer));
  }
  return first;
}

int64_t CandidateRunImpl::kernelBytesOf(const OperatorCandidates &of) const {
  size_t bytes = 0;
  for (const auto &[name, quantizer] : of.alternatives.front()) {
    const CandidatePoint &point = points.at(name);
    bytes += point.kernel.size() * point.layers.size() * sizeof(float);
  }
  return int64_t(bytes);
}

//===----------------------------------------------------------------------===//
// Trials
//===----------------------------------------------------------------------===//

LogicalResult CandidateRunImpl::setKernel(Trial &trial, size_t layer,
                                          ArrayRef<float> values) {
  return check(trial.replaced.replaceConstant(layer, values));
}

std::optional<TrialRounding>
CandidateRunImpl::describe(Trial &trial, const CandidatePoint &point,
                           const PointQuantizer &quantizer) {
  if (point.layers.size() != 1 || layers[point.layers.front()].products.empty())
    return std::nullopt;
  size_t number = point.layers.front();
  corrections::Layer &layer = layers[number].layer;
  // The channels of the alternative.
  setAxes(layer.point, quantizer.axes);
  auto how = corrections::describeRounding(
      layer, quantizer.quantizer, options.roundMaxBits, kThresholdStride);
  auto *rounded = std::get_if<RoundedLayer>(&how);
  if (!rounded)
    return std::nullopt;
  std::vector<float> weights = rounded->layout.fromKernel(point.kernel);
  return TrialRounding{&trial,
                       number,
                       quantizer.quantizer,
                       quantizer.axes,
                       std::move(*rounded),
                       std::move(weights)};
}

LogicalResult
CandidateRunImpl::roundTogether(MutableArrayRef<TrialRounding> roundings) {
  double bytes = 0;
  for (const TrialRounding &each : roundings) {
    const CandidateLayer &layer = layers[each.layer];
    if (failed(corrections::checkSquares(layer.layer, layer.products)))
      return failure();
    auto columns = double(each.rounded.layout.columns());
    bytes += 20 * columns * columns;
  }
  const support::Threads &threads = runOptions.threads;
  auto round = [&](TrialRounding &each, const support::Threads &own) {
    each.result = corrections::roundWeights(layers[each.layer].products,
                                            each.weights, each.rounded, own);
  };
  // Side by side where that keeps all threads busy.
  if (bytes <= double(kRoundingBytes) && roundings.size() >= threads.count())
    quantization::parallelFor(roundings.size(), threads, [&](size_t number) {
      round(roundings[number], threads.atMost(1));
    });
  else
    for (TrialRounding &each : roundings)
      round(each, threads);
  for (TrialRounding &each : roundings) {
    CandidateLayer &layer = layers[each.layer];
    if (threads.isCancelled())
      return emitError(layer.layer.op.getLoc()) << "is not measured: cancelled";
    setAxes(layer.layer.point, each.axes);
    corrections::takeRounded(layer.layer, each.quantizer, each.result,
                             each.rounded);
    if (failed(setKernel(*each.trial, each.layer, each.rounded.kernel)))
      return failure();
    std::vector<float> offsets = std::move(each.rounded.bias);
    for (auto [now, then] : llvm::zip(offsets, layer.layer.bias))
      now -= then;
    each.trial->editors[each.layer] =
        execution::addToChannels(std::move(offsets), layer.result.axis);
  }
  return success();
}

LogicalResult CandidateRunImpl::prepare(MutableArrayRef<Trial> trials) {
  std::vector<TrialRounding> roundings;
  for (Trial &trial : trials)
    for (const auto &[name, quantizer] :
         candidates[trial.number].alternatives[trial.alternative]) {
      const CandidatePoint &point = points.at(name);
      if (point.number) {
        if (failed(check(trial.replaced.replaceQuantizer(*point.number,
                                                         quantizer.quantizer))))
          return failure();
        continue;
      }
      if (std::optional<TrialRounding> rounding =
              describe(trial, point, quantizer)) {
        roundings.push_back(std::move(*rounding));
        continue;
      }
      std::vector<float> values(point.kernel.size());
      quantizer.quantizer.fakeQuantize(point.shape, quantizer.axes,
                                       point.kernel.data(), values.data());
      for (size_t layer : point.layers) {
        if (failed(setKernel(trial, layer, values)))
          return failure();
        if (layers[layer].hasBias)
          trial.unseen.push_back(layer);
      }
    }
  for (Trial &trial : trials)
    llvm::sort(trial.unseen);
  return roundTogether(roundings);
}

LogicalResult CandidateRunImpl::correctMeans(MutableArrayRef<Trial> trials,
                                             unsigned first,
                                             const Frontier *before) {
  for (;;) {
    std::vector<StagedRun::Pass> passes;
    std::vector<Trial *> seeing;
    // The layers of the first stage that has some; those of later ones see what
    // their means become.
    auto here = [&](const Trial &trial) {
      unsigned stage = executor->numStages();
      for (size_t layer : trial.unseen)
        stage = std::min(stage, executor->stageOf(layer));
      SmallVector<size_t> found;
      for (size_t layer : trial.unseen)
        if (executor->stageOf(layer) == stage)
          found.push_back(layer);
      return std::pair(stage, found);
    };
    for (Trial &trial : trials) {
      if (trial.unseen.empty())
        continue;
      auto [stage, seen] = here(trial);
      trial.observers.resize(lanes.size());
      for (auto &ofWorker : trial.observers)
        for (size_t layer : seen)
          ofWorker.push_back(std::make_unique<SeeLayer>(
              layers[layer].empty->fresh(), nullptr, LayerValue::Output));
      StagedRun::Pass &pass = passes.emplace_back(
          StagedRun::Pass{first, stage, before, nullptr, {}, {}});
      pass.enter = [&, seen = seen](size_t worker) {
        enter(worker, &trial, /*comparesPoints=*/false);
        for (size_t layer = 0; layer != layers.size(); ++layer)
          staged->worker(worker).setObserver(layer, nullptr);
        for (auto [layer, observer] : llvm::zip(seen, trial.observers[worker]))
          staged->worker(worker).setObserver(layer, observer.get());
      };
      seeing.push_back(&trial);
    }
    if (passes.empty())
      return success();
    LogicalResult result = run(passes);
    for (size_t worker = 0; worker != lanes.size(); ++worker)
      for (size_t layer = 0; layer != layers.size(); ++layer)
        staged->worker(worker).setObserver(layer, nullptr);
    if (failed(result))
      return failure();
    for (Trial *trial : seeing) {
      auto [stage, seen] = here(*trial);
      for (auto [number, layer] : llvm::enumerate(seen)) {
        ChannelSummary &summary = *trial->observers.front()[number]->summary;
        for (auto &ofWorker : llvm::drop_begin(trial->observers))
          summary.merge(*ofWorker[number]->summary);
        if (failed(summary.checkFinite()))
          return failure();
        std::vector<float> offsets;
        for (int64_t channel = 0; channel != summary.numChannels(); ++channel)
          offsets.push_back(
              float(layers[layer].base->mean(channel) - summary.mean(channel)));
        trial->editors[layer] = execution::addToChannels(
            std::move(offsets), layers[layer].result.axis);
        llvm::erase(trial->unseen, layer);
      }
      trial->observers.clear();
    }
  }
}

LogicalResult CandidateRunImpl::measure(MutableArrayRef<Trial> trials,
                                        unsigned stage,
                                        const Frontier *before) {
  if (failed(prepare(trials)) || failed(correctMeans(trials, stage, before)))
    return failure();
  std::vector<StagedRun::Pass> passes;
  for (Trial &trial : trials) {
    trial.found = results->createFound();
    // What lies before the stage stays as it is in the base network.
    for (const SeenPoint &seen : seenPoints)
      trial.distances.push_back(seen.base);
    StagedRun::Pass &pass = passes.emplace_back(StagedRun::Pass{
        stage, executor->numStages() - 1, before, nullptr, {}, {}});
    pass.enter = [&](size_t worker) {
      enter(worker, &trial, /*comparesPoints=*/true);
    };
    pass.done = [&](const execution::Unit &done) {
      return results->compare(done.index, done.validSamples, done.outputs,
                              lanes[done.worker].reference, trial.found);
    };
  }
  return run(passes);
}

FailureOr<std::vector<std::vector<double>>> CandidateRunImpl::measureEach() {
  std::vector<std::vector<double>> distances;
  for (const OperatorCandidates &of : candidates)
    distances.emplace_back(of.alternatives.size());
  auto before = staged->createFrontier(kFrontierBytes),
       behind = staged->createFrontier(kFrontierBytes);
  for (unsigned stage = 0; stage != executor->numStages(); ++stage) {
    if (failed(observeBase(stage, before.get(), behind.get())))
      return failure();
    std::vector<Trial> trials;
    int64_t bytes = 0;
    auto measureThem = [&] {
      if (failed(measure(trials, stage, before.get())))
        return failure();
      for (const Trial &trial : trials)
        distances[trial.number][trial.alternative] =
            distance(trial.found, trial.distances);
      trials.clear();
      bytes = 0;
      return success();
    };
    for (auto [number, of] : llvm::enumerate(candidates)) {
      if (firstStageOf(of) != stage)
        continue;
      int64_t own = kernelBytesOf(of);
      for (size_t index = 0; index != of.alternatives.size(); ++index) {
        if (!trials.empty() && bytes + own > kKernelBytes &&
            failed(measureThem()))
          return failure();
        bytes += own;
        Trial &trial = trials.emplace_back(*executor);
        trial.number = number;
        trial.alternative = index;
      }
    }
    if (!trials.empty() && failed(measureThem()))
      return failure();
    for (size_t layer : layersOfStage(stage))
      layers[layer].products = ProductSamples();
    std::swap(before, behind);
  }
  return distances;
}

//===----------------------------------------------------------------------===//
// The interface
//===----------------------------------------------------------------------===//

CandidateRun::CandidateRun() = default;
CandidateRun::~CandidateRun() = default;

FailureOr<std::unique_ptr<CandidateRun>>
CandidateRun::create(func::FuncOp function,
                     ArrayRef<OperatorCandidates> candidates,
                     const execution::RunSettings &settings,
                     const CandidateRunOptions &options) {
  std::unique_ptr<CandidateRun> run(new CandidateRun());
  run->impl = std::make_unique<CandidateRunImpl>(function.getLoc(), candidates);
  if (failed(run->impl->prepare(function, settings, options)))
    return failure();
  return run;
}

SensitivityMetric CandidateRun::usedMetric() const {
  return impl->usedMetric();
}
int64_t CandidateRun::numSamples() const {
  return impl->samples().numSamples();
}
double CandidateRun::baseDistance() const { return impl->baseDistance; }
FailureOr<std::vector<std::vector<double>>> CandidateRun::measureEach() {
  return impl->measureEach();
}
