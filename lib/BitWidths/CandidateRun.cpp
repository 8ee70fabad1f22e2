// SPDX-License-Identifier: Apache-2.0
#include "CandidateRun.h"

#include "../Corrections/ChannelRun.h"
#include "../Corrections/WeightRounding.h"
#include "ComparePoints.h"
#include "mct/Analysis/KernelOp.h"
#include "mct/Analysis/OperatorPoints.h"
#include "mct/Execution/Executor.h"
#include "mct/Execution/Frontier.h"
#include "mct/Execution/ResultDistance.h"
#include "mct/Execution/RunCache.h"
#include "mct/Execution/StagedRun.h"
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
    point.emitOpError("has no parameters, with which alternatives of others "
                      "could be measured; run mct-calibrate, "
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
  /// In the base network.
  Attribute quantizer;
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
  /// Of each sample, now, and in the base network.
  std::vector<double> distances, base;
};

/// Keeps what the float network makes at a point, or compares with it while
/// `isOn`.
class SeePoint : public execution::TensorObserver {
public:
  SeePoint(SeenPoint &seen, int64_t unit, bool keeps, const bool &isOn)
      : seen(seen), unit(unit), keeps(keeps), isOn(isOn) {}
  ~SeePoint() override { llvm::consumeError(std::move(failure)); }
  void observe(const TensorView &values) override {
    if (failure || !isOn)
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
      seen.distances[values.samples().first + sample] = distanceOf(
          seen.point.distance,
          ArrayRef<float>(expected).slice(sample * elements, elements),
          actual.slice(sample * elements, elements), seen.rowLength,
          /*isDistribution=*/seen.isSoftmax);
  }
  llvm::Error takeFailure() { return std::move(failure); }

private:
  SeenPoint &seen;
  int64_t unit;
  bool keeps;
  const bool &isOn;
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

  /// What a run of stages does with what it makes.
  struct Pass {
    StagedRun::Pass stages;
    /// Compare results, and points.
    bool measure = false;
    /// The points are those of the base network.
    bool isBase = false;
  };
  LogicalResult run(const Pass &pass);
  double distance() const;

  LogicalResult preparePoints(const Executor &floating);
  LogicalResult findScores(const execution::RunSettings &settings);

  /// Gives the kernel of a layer other values.
  LogicalResult setKernel(size_t layer, ArrayRef<float> values);
  /// Rounds the kernel of a point to the nearest levels.
  LogicalResult roundToNearest(const CandidatePoint &point,
                               const PointQuantizer &quantizer);
  /// Rounds the weights of the layer of a point together, where they may be,
  /// and it is known what they read; its bias then.
  FailureOr<std::optional<std::vector<float>>>
  roundTogether(const CandidatePoint &point, const PointQuantizer &quantizer);
  /// Quantizes all points but kernels.
  LogicalResult apply(const Quantizers &quantizers);
  LogicalResult restore(const Quantizers &quantizers);
  /// Runs a stage and observes layers. `rows`: also finds what they read, if
  /// their weights may be rounded together.
  FailureOr<std::vector<ChannelSummary>>
  observe(const Pass &pass, ArrayRef<size_t> layers, bool rows = false);
  LogicalResult
  findProducts(ArrayRef<size_t> layers,
               MutableArrayRef<std::unique_ptr<ProductRows>> rows);
  SmallVector<size_t> layersOfStage(unsigned stage) const;
  /// Of what a layer reads, among the observed values.
  size_t inputNumber(size_t layer) const {
    return layers.size() + seenPoints.size() + layer;
  }
  void edit(ArrayRef<size_t> layers, ArrayRef<ChannelSummary> seen);
  void edit(size_t layer, std::vector<float> offsets);
  void stopEditing();
  unsigned firstStageOf(const OperatorCandidates &of) const;
  FailureOr<double> measureOne(const Quantizers &quantizers, unsigned stage,
                               const Frontier *before, Frontier &own);
  /// In memory, of each of three frontiers and of the float results.
  static constexpr int64_t kFrontierBytes = int64_t(16) << 20;

  /// Of rows that are kept of all layers of a stage.
  static constexpr int64_t kRowBytes = int64_t(16) << 20;
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
  /// Whether they are compared now.
  bool comparesPoints = false;
  /// The same in the float network; how much its results change with them,
  /// where that is asked for.
  SmallVector<ComparePoint> floatPoints;
  std::vector<double> scores;
};
} // namespace mct::bit_widths

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
  OpBuilder builder(module->getContext());
  func::FuncOp floating = function.clone(), quantized = function.clone();
  for (func::FuncOp copy : {floating, quantized}) {
    module->push_back(copy);
    if (copy == quantized && options.keepsCorrections)
      continue;
    copy.walk([&](Operation *op) {
      std::optional<KernelOp> layer = kernels.get(op);
      if (layer && layer->getCorrections() && layer->canTakeBackCorrections())
        layer->takeBackCorrections(builder);
    });
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
        ArrayRef<float> values = readers.front().getKernel().values();
        candidate.kernel.assign(values.begin(), values.end());
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
    candidate.quantizer = point.getParametersAttr();
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
  comparesPoints = true;
  if (failed(run->run(
          [&](size_t, execution::Worker &worker) {
            for (auto [number, seen] : llvm::enumerate(seenPoints)) {
              keep.push_back(std::make_unique<SeePoint>(
                  seen, unit, /*keeps=*/true, comparesPoints));
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
             << "is no tensor of f32 with the batch first, which could be "
                "compared; measure with compare-points=0";
    seen.rowLength = type.getRank() > 1 ? type.getShape().back() : 1;
    seen.distances.resize(source->numSamples());
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
  return emitError(loc) << "has no points to compare that its results change "
                           "with, and no Hessian scores; take another "
                           "weighting, or other compare-points";
}

LogicalResult CandidateRunImpl::createLanes() {
  auto created = StagedRun::create(*executor, source, runOptions);
  if (!created)
    return check(created.takeError());
  staged = std::move(*created);
  for (size_t number = 0; number != staged->numWorkers(); ++number) {
    Lane &lane = lanes.emplace_back();
    for (auto [index, seen] : llvm::enumerate(seenPoints)) {
      lane.points.push_back(std::make_unique<SeePoint>(
          seen, executor->unit(), /*keeps=*/false, comparesPoints));
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

double CandidateRunImpl::distance() const {
  std::vector<double> ofPoints;
  for (const SeenPoint &seen : seenPoints)
    ofPoints.push_back(
        std::accumulate(seen.distances.begin(), seen.distances.end(), 0.0) /
        double(seen.distances.size()));
  return results->distance() + weigh(options.weighting, ofPoints, scores);
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

LogicalResult CandidateRunImpl::run(const Pass &pass) {
  // What lies before the stages stays as it is in the base network.
  comparesPoints = pass.measure || pass.isBase;
  if (comparesPoints)
    for (SeenPoint &seen : seenPoints)
      seen.distances = seen.base;
  auto compare = [&](const execution::Unit &done) {
    return results->compare(done.index, done.validSamples, done.outputs,
                            lanes[done.worker].reference);
  };
  if (failed(check(staged->run(
          pass.stages, pass.measure ? StagedRun::Done(compare) : nullptr))))
    return failure();
  for (Lane &lane : lanes)
    for (std::unique_ptr<SeePoint> &point : lane.points)
      if (failed(check(point->takeFailure())))
        return failure();
  if (pass.isBase)
    for (SeenPoint &seen : seenPoints)
      seen.base = seen.distances;
  return success();
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

FailureOr<std::vector<ChannelSummary>>
CandidateRunImpl::observe(const Pass &pass, ArrayRef<size_t> seen, bool rows) {
  std::vector<std::unique_ptr<ProductRows>> kept(seen.size());
  auto products = llvm::count_if(
      seen, [&](size_t layer) { return layers[layer].layout.has_value(); });
  for (auto [number, layer] : llvm::enumerate(seen))
    if (rows && layers[layer].layout)
      kept[number] = std::make_unique<ProductRows>(
          *layers[layer].layout, executor->unit(),
          layers[layer].layout->rowsOf(
              executor->observed()[layer].type.getShape()),
          source->numSamples(), kRowBytes / products, /*hasSummand=*/false);
  for (auto [index, lane] : llvm::enumerate(lanes))
    for (auto [number, layer] : llvm::enumerate(seen)) {
      auto add = [&, number = number, index = index, &lane = lane](
                     size_t observed, std::optional<ChannelSummary> summary,
                     LayerValue what) {
        lane.observers.push_back(std::make_unique<SeeLayer>(
            std::move(summary), kept[number].get(), what));
        staged->worker(index).setObserver(observed,
                                          lane.observers.back().get());
      };
      add(layer, layers[layer].empty->fresh(), LayerValue::FloatOutput);
      if (kept[number])
        add(inputNumber(layer), std::nullopt, LayerValue::Input);
    }
  LogicalResult result = run(pass);
  std::vector<ChannelSummary> summaries;
  for (size_t number = 0; number != lanes.front().observers.size(); ++number) {
    std::optional<ChannelSummary> &summary =
        lanes.front().observers[number]->summary;
    if (!summary)
      continue;
    for (Lane &lane : llvm::drop_begin(lanes))
      summary->merge(*lane.observers[number]->summary);
    if (succeeded(result))
      result = summary->checkFinite();
    summaries.push_back(std::move(*summary));
  }
  for (auto [index, lane] : llvm::enumerate(lanes)) {
    for (size_t layer : seen) {
      staged->worker(index).setObserver(layer, nullptr);
      staged->worker(index).setObserver(inputNumber(layer), nullptr);
    }
    lane.observers.clear();
  }
  if (failed(result) || failed(findProducts(seen, kept)))
    return failure();
  return summaries;
}

LogicalResult CandidateRunImpl::setKernel(size_t layer,
                                          ArrayRef<float> values) {
  if (llvm::Error error = executor->replaceConstant(layer, values))
    return emitError(loc) << llvm::toString(std::move(error));
  return success();
}

LogicalResult
CandidateRunImpl::roundToNearest(const CandidatePoint &point,
                                 const PointQuantizer &quantizer) {
  std::vector<float> values(point.kernel.size());
  tpc::QuantizerAttrInterface(quantizer.quantizer)
      .fakeQuantize(point.shape, quantizer.axes, point.kernel.data(),
                    values.data());
  for (size_t layer : point.layers)
    if (failed(setKernel(layer, values)))
      return failure();
  return success();
}

FailureOr<std::optional<std::vector<float>>>
CandidateRunImpl::roundTogether(const CandidatePoint &point,
                                const PointQuantizer &quantizer) {
  if (point.layers.size() != 1 || layers[point.layers.front()].products.empty())
    return std::optional<std::vector<float>>();
  CandidateLayer &candidate = layers[point.layers.front()];
  // The channels of the alternative.
  if (quantizer.axes.empty())
    candidate.layer.point.removeAxesAttr();
  else
    candidate.layer.point.setAxes(quantizer.axes);
  auto how =
      corrections::describeRounding(candidate.layer, quantizer.quantizer,
                                    options.roundMaxBits, kThresholdStride);
  auto *rounded = std::get_if<RoundedLayer>(&how);
  if (!rounded)
    return std::optional<std::vector<float>>();
  if (failed(corrections::roundLayer(candidate.layer, quantizer.quantizer,
                                     candidate.products, *rounded,
                                     runOptions.threads)) ||
      failed(setKernel(point.layers.front(), rounded->kernel)))
    return failure();
  return std::optional<std::vector<float>>(std::move(rounded->bias));
}

LogicalResult CandidateRunImpl::apply(const Quantizers &quantizers) {
  for (const auto &[name, quantizer] : quantizers)
    if (std::optional<size_t> number = points.at(name).number)
      if (llvm::Error error =
              executor->replaceQuantizer(*number, quantizer.quantizer))
        return emitError(loc) << llvm::toString(std::move(error));
  return success();
}

LogicalResult CandidateRunImpl::restore(const Quantizers &quantizers) {
  for (const auto &[name, quantizer] : quantizers) {
    const CandidatePoint &point = points.at(name);
    if (point.number)
      if (llvm::Error error =
              executor->replaceQuantizer(*point.number, point.quantizer))
        return emitError(loc) << llvm::toString(std::move(error));
    for (size_t layer : point.layers)
      if (failed(setKernel(layer, point.kernel)))
        return failure();
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

void CandidateRunImpl::edit(size_t layer, std::vector<float> offsets) {
  execution::TensorEditor editor =
      execution::addToChannels(std::move(offsets), layers[layer].result.axis);
  for (size_t worker = 0; worker != staged->numWorkers(); ++worker)
    staged->worker(worker).setEditor(layer, editor);
}

void CandidateRunImpl::edit(ArrayRef<size_t> changed,
                            ArrayRef<ChannelSummary> seen) {
  for (auto [layer, summary] : llvm::zip(changed, seen)) {
    std::vector<float> offsets;
    for (int64_t channel = 0; channel != summary.numChannels(); ++channel)
      offsets.push_back(
          float(layers[layer].base->mean(channel) - summary.mean(channel)));
    edit(layer, std::move(offsets));
  }
}

void CandidateRunImpl::stopEditing() {
  for (size_t layer = 0; layer != layers.size(); ++layer)
    for (size_t worker = 0; worker != staged->numWorkers(); ++worker)
      staged->worker(worker).setEditor(layer, nullptr);
}

FailureOr<double> CandidateRunImpl::measureOne(const Quantizers &quantizers,
                                               unsigned stage,
                                               const Frontier *before,
                                               Frontier &own) {
  unsigned last = executor->numStages() - 1, first = stage;
  const Frontier *beforeFirst = before;
  if (failed(apply(quantizers)))
    return failure();
  // Layers whose means are to be seen.
  SmallVector<size_t> changed;
  for (const auto &[name, quantizer] : quantizers) {
    const CandidatePoint &point = points.at(name);
    if (point.number)
      continue;
    FailureOr<std::optional<std::vector<float>>> bias =
        roundTogether(point, quantizer);
    if (failed(bias))
      return failure();
    if (*bias) {
      size_t layer = point.layers.front();
      for (auto [now, then] : llvm::zip(**bias, layers[layer].layer.bias))
        now -= then;
      edit(layer, std::move(**bias));
      continue;
    }
    if (failed(roundToNearest(point, quantizer)))
      return failure();
    for (size_t layer : point.layers)
      if (layers[layer].hasBias)
        changed.push_back(layer);
  }
  // Layers of the operator lie in stages that follow each other. What is made
  // in the last one is not kept: that runs again.
  while (!changed.empty()) {
    SmallVector<size_t> here, behind;
    for (size_t layer : changed)
      (executor->stageOf(layer) == stage ? here : behind).push_back(layer);
    auto seen =
        observe({{stage, stage, before, stage == last ? nullptr : &own}}, here);
    if (failed(seen))
      return failure();
    edit(here, *seen);
    if (stage == last)
      break;
    before = &own;
    ++stage;
    changed = behind;
  }
  // Points in the stages of the operator are to be seen with its means, too.
  if (!seenPoints.empty()) {
    stage = first;
    before = beforeFirst;
  }
  LogicalResult measured =
      run({{stage, last, before, nullptr}, /*measure=*/true});
  stopEditing();
  if (failed(measured) || failed(restore(quantizers)))
    return failure();
  return distance();
}

FailureOr<std::vector<std::vector<double>>> CandidateRunImpl::measureEach() {
  std::vector<std::vector<double>> distances;
  for (const OperatorCandidates &of : candidates)
    distances.emplace_back(of.alternatives.size());
  auto before = staged->createFrontier(kFrontierBytes),
       behind = staged->createFrontier(kFrontierBytes),
       own = staged->createFrontier(kFrontierBytes);
  unsigned last = executor->numStages() - 1;
  for (unsigned stage = 0; stage <= last; ++stage) {
    SmallVector<size_t> here = layersOfStage(stage);
    auto seen = observe(
        {{stage, stage, before.get(), stage == last ? nullptr : behind.get()},
         stage == last,
         /*isBase=*/true},
        here, /*rows=*/true);
    if (failed(seen))
      return failure();
    for (auto [layer, summary] : llvm::zip(here, *seen))
      layers[layer].base = std::move(summary);
    if (stage == last)
      baseDistance = distance();
    for (auto [number, of] : llvm::enumerate(candidates)) {
      if (firstStageOf(of) != stage)
        continue;
      for (auto [index, quantizers] : llvm::enumerate(of.alternatives)) {
        FailureOr<double> measured =
            measureOne(quantizers, stage, before.get(), *own);
        if (failed(measured))
          return failure();
        distances[number][index] = *measured;
      }
    }
    for (size_t layer : here)
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
