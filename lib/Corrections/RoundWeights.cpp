// SPDX-License-Identifier: Apache-2.0
#include "ChannelRun.h"
#include "Layers.h"
#include "Rejections.h"
#include "SampleRun.h"
#include "Shortcuts.h"
#include "WeightRounding.h"
#include "mct/Corrections/Passes.h"
#include "mct/Cost/StoredValues.h"
#include "mct/Execution/NetworkPass.h"
#include "mct/Transforms/SelectedParameters.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <limits>

namespace mct {
#define GEN_PASS_DEF_ROUNDWEIGHTSPASS
#include "mct/Corrections/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;
using namespace mct::corrections;
using execution::ResultDistance;
using execution::TensorView;
using quantization::Affine;

/// Limit in bytes on the kept rows of all layers that are measured together.
static constexpr int64_t kRowBytes = int64_t(32) << 20;
/// Largest number of samples for correcting the biases of the nearest levels.
/// More would change a squared error by 0.1 dB at most.
static constexpr int64_t kBiasSamples = 32;

namespace {
/// Rounds layers, and corrects the biases of the others, one after the other.
class RoundingVisitor : public LayerVisitor {
public:
  struct Member {
    Layer *layer = nullptr;
    /// The layer to round; null if only its bias is corrected.
    std::unique_ptr<RoundedLayer> rounded;
    /// Index of its kernel among the replaceable constants.
    size_t kernelNumber = 0;
    /// True if the other summand of its output is observed.
    bool hasSummand = false;
    SmallVector<Affine> biasChange;

    /// Returns the change of its output.
    SmallVector<Affine> change() const {
      if (!rounded)
        return biasChange;
      SmallVector<Affine> change;
      for (auto [now, before] : llvm::zip(rounded->bias, layer->bias))
        change.push_back({1, double(now) - double(before)});
      return change;
    }
  };

  RoundingVisitor(std::vector<Member> &members,
                  std::vector<ChannelSummary> empty,
                  const execution::Executor &executor, int64_t samples,
                  const support::Threads &threads)
      : members(members), empty(std::move(empty)), executor(executor),
        samples(samples), threads(threads), rows(members.size()),
        exact(members.size()), outputs(members.size()) {}

  /// Fills `floatRun` with the results of the float network, and `found` with
  /// the distances of the results from them after all layers were changed.
  void keep(SampleRun::Float &floatRun, ResultDistance::Comparison &found,
            std::unique_ptr<ResultDistance> results) {
    kept = &floatRun;
    kept->layers.assign(empty.begin(), empty.end());
    this->results = std::move(results);
    distances = &found;
  }
  /// Does the same with known results of the float network, which is not run.
  void know(SampleRun::Float &floatRun, ResultDistance::Comparison &found) {
    kept = &floatRun;
    isKnown = true;
    distances = &found;
  }

  bool changesConstants() const override {
    return llvm::any_of(
        members, [](const Member &member) { return bool(member.rounded); });
  }
  bool observes(size_t layer, LayerValue kind) const override {
    if (!members[layer].rounded)
      return kind == LayerValue::FloatOutput || kind == LayerValue::Output;
    return kind != LayerValue::FloatInput && kind != LayerValue::Output;
  }
  void begin(ArrayRef<size_t> layers, size_t workers) override;
  void observe(size_t layer, size_t worker, LayerValue kind,
               const TensorView &values) override;
  FailureOr<LayerChange> finish(size_t layer) override;
  bool observesResults() const override {
    return distances && (isKnown ? bool(kept->results) : bool(results));
  }
  llvm::Error observeFloatResults(int64_t unit, int64_t valid,
                                  ArrayRef<void *> values) override {
    return results->keep(unit, valid, values);
  }
  void beginResults(size_t workers) override;
  llvm::Error observeResults(size_t worker, int64_t unit, int64_t valid,
                             ArrayRef<void *> values) override {
    return kept->results ? kept->results->compare(unit, valid, values,
                                                  scratch[worker], *distances)
                         : llvm::Error::success();
  }

private:
  FailureOr<LayerChange> round(size_t layer);
  FailureOr<LayerChange> correctBias(size_t layer);
  /// Returns the summary of a layer of the float network.
  FailureOr<ChannelSummary> takeExact(size_t layer);

  std::vector<Member> &members;
  std::vector<ChannelSummary> empty;
  const execution::Executor &executor;
  int64_t samples;
  support::Threads threads;
  std::vector<std::unique_ptr<ProductRows>> rows;
  /// Summaries for each worker, by layer; none for layers that do not need one.
  std::vector<std::vector<ChannelSummary>> exact, outputs;
  /// Results of the float network; null if they are neither kept nor known.
  SampleRun::Float *kept = nullptr;
  bool isKnown = false;
  std::unique_ptr<ResultDistance> results;
  ResultDistance::Comparison *distances = nullptr;
  /// Scratch memory of each worker.
  std::vector<std::vector<float>> scratch;
};
} // namespace

void RoundingVisitor::begin(ArrayRef<size_t> layers, size_t workers) {
  int64_t rounded = llvm::count_if(
      layers, [&](size_t layer) { return bool(members[layer].rounded); });
  for (size_t layer : layers) {
    bool isRounded = bool(members[layer].rounded);
    if (!isKnown && (kept || !isRounded))
      exact[layer].assign(workers, empty[layer].fresh());
    if (!isRounded) {
      outputs[layer].assign(workers, empty[layer].fresh());
      continue;
    }
    const ProductLayout &layout = members[layer].rounded->layout;
    rows[layer] = std::make_unique<ProductRows>(
        layout, executor.unit(),
        layout.getNumRows(executor.observed()[layer].type.getShape()), samples,
        kRowBytes / rounded, members[layer].hasSummand);
  }
}

void RoundingVisitor::observe(size_t layer, size_t worker, LayerValue kind,
                              const TensorView &values) {
  if (rows[layer])
    rows[layer]->add(kind, values);
  if (kind == LayerValue::FloatOutput && !exact[layer].empty())
    exact[layer][worker].add(values);
  else if (kind == LayerValue::Output && !rows[layer])
    outputs[layer][worker].add(values);
}

void RoundingVisitor::beginResults(size_t workers) {
  scratch.resize(workers);
  if (!isKnown)
    kept->results = SampleRun::finishReference(std::move(results));
  if (kept->results)
    *distances = kept->results->createComparison();
}

/// Returns the merged observations of all workers.
static FailureOr<ChannelSummary>
mergeWorkers(std::vector<ChannelSummary> &workers) {
  for (const ChannelSummary &other : llvm::drop_begin(workers))
    workers.front().merge(other);
  if (failed(workers.front().checkFinite()))
    return failure();
  return std::move(workers.front());
}

FailureOr<LayerChange> RoundingVisitor::finish(size_t layer) {
  return members[layer].rounded ? round(layer) : correctBias(layer);
}

FailureOr<LayerChange> RoundingVisitor::correctBias(size_t layer) {
  Member &member = members[layer];
  FailureOr<ChannelSummary> made = takeExact(layer);
  if (failed(made))
    return failure();
  std::vector<ChannelSummary> workers = std::move(outputs[layer]);
  FailureOr<ChannelSummary> now = mergeWorkers(workers);
  if (failed(now))
    return failure();
  member.biasChange = biasCorrection(*made, *now, samples, member.layer->bias,
                                     /*shrink=*/true);
  return LayerChange{member.biasChange, {}, {}};
}

FailureOr<ChannelSummary> RoundingVisitor::takeExact(size_t layer) {
  if (isKnown)
    return kept->layers[layer];
  std::vector<ChannelSummary> workers = std::move(exact[layer]);
  FailureOr<ChannelSummary> merged = mergeWorkers(workers);
  if (succeeded(merged) && kept)
    kept->layers[layer] = *merged;
  return merged;
}

FailureOr<LayerChange> RoundingVisitor::round(size_t layer) {
  Member &member = members[layer];
  RoundedLayer &rounded = *member.rounded;
  const KernelOp &op = member.layer->op;
  if (int64_t count = rows[layer]->countNonFinite())
    return emitError(op.getLoc())
           << "saw " << count
           << " values that are NaN or infinite; check the input scale and the "
              "weights";
  if (kept && failed(takeExact(layer)))
    return failure();
  if (samples >= SampleMeans::kMinSamples)
    rows[layer]->shrinkTargets(
        rounded.layout.fromKernel(op.getKernel().values()), threads);
  ProductSamples measuredRows =
      ProductSamples::take(std::move(rows[layer]), threads);
  tpc::QuantizerAttrInterface quantizer =
      member.layer->point.getParametersAttr();
  // Candidates are created for one layer at a time: those of all layers would
  // take more memory than the weights.
  rounded.makeCandidates(quantizer);
  if (failed(
          roundLayer(*member.layer, quantizer, measuredRows, rounded, threads)))
    return failure();
  rounded.candidates = {};
  LayerChange change;
  change.output = member.change();
  change.constants.emplace_back(member.kernelNumber, rounded.kernel);
  return change;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Returns the elements of the kernel as an attribute, which is that of the
/// constant if it has the same type.
static ElementsAttr getKernelAttr(const Layer &layer) {
  tpc::QuantizeOp point = layer.point;
  auto type = cast<RankedTensorType>(point.getType());
  ElementsAttr elements;
  if (matchPattern(layer.op.getKernelConstant(), m_Constant(&elements)) &&
      elements.getType() == type)
    return elements;
  return createFloats(type, layer.op.getKernel().values(), "float_kernel");
}

/// Writes the results of rounding to the layer.
static void apply(const Layer &layer, const RoundedLayer &rounded,
                  std::optional<int64_t> samples) {
  tpc::QuantizeOp point = layer.point;
  MLIRContext *context = point.getContext();
  SmallVector<double> offsets;
  for (auto [now, before] : llvm::zip_equal(rounded.bias, layer.bias))
    offsets.push_back(double(now) - double(before));
  auto record = tpc::CorrectionsAttr::get(
      context, StringAttr::get(context, tpc::kRoundedWeights), offsets, 1.0,
      samples, getKernelAttr(layer));
  OpBuilder builder(point);
  layer.op.setBias(builder, rounded.bias, record);
  layer.op.setKernel(builder, rounded.kernel, record);
  point.setQuantizer(rounded.parameters,
                     describeRounding(context, rounded.errors));
}

namespace {
struct RoundWeightsPass
    : public execution::ShardedNetworkPass<
          mct::impl::RoundWeightsPassBase<RoundWeightsPass>> {
  using ShardedNetworkPass::ShardedNetworkPass;

  void runOnOperation() override {
    FailureOr<Layers> found =
        Layers::find(getOperation(), getAnalysis<KernelOps>(), function,
                     getArgument(), remarks);
    if (failed(found))
      return signalPassFailure();
    std::vector<RoundingVisitor::Member> members;
    bool rounds = false;
    for (Layer &layer : found->layers) {
      auto leaveAlone = [&](const Record &why) {
        if (remarks)
          emitRecord(layer.op.getOperation(), getArgument(), why,
                     "'" + layer.op.getOperation()->getName().getStringRef() +
                         "' op keeps its weights: ");
      };
      if (layer.point.getCorrectionsAttr()) {
        leaveAlone(Reason::CorrectedBefore);
        continue;
      }
      RoundingVisitor::Member member;
      member.layer = &layer;
      bool isRejected = tpc::isRejected(found->function, tpc::kRoundedWeights,
                                        layer.point.getUniqueName());
      auto how = isRejected
                     ? describeRejectedBefore()
                     : describeRounding(layer, layer.point.getParametersAttr(),
                                        getMostBits(layer),
                                        keepsThresholds(layer) ? 0 : 1);
      if (const auto *why = std::get_if<Record>(&how)) {
        leaveAlone(*why);
      } else {
        member.rounded = std::make_unique<RoundedLayer>(
            std::move(std::get<RoundedLayer>(how)));
        rounds = true;
      }
      if (member.rounded || correctBias)
        members.push_back(std::move(member));
    }
    // If no layer is rounded, biases are left to mct-correct-bias.
    if (!rounds)
      return;
    FailureOr<execution::RunSettings> settings = parseRunSettings(
        "correcting", batchSize, threads,
        {int64_t(uint64_t(maxSamples)), half != execution::SampleHalf::All});
    if (succeeded(settings))
      settings->half = half;
    if (failed(settings) || failed(round(*found, members, *settings)))
      signalPassFailure();
  }

private:
  /// Returns the largest bit width at which the kernel of the layer is rounded.
  /// A layer that reads coarse activations compensates their errors, however
  /// fine its own levels are.
  unsigned getMostBits(const Layer &layer) const {
    if (maxBits != 0 && keepsThresholds(layer))
      return std::numeric_limits<unsigned>::max();
    tpc::QuantizeOp input = findWidthSource(layer.op.getInput().get()).point;
    bool readsCoarse = input && input.getParametersAttr() &&
                       input.getParametersAttr().getBits() <= maxBits;
    return readsCoarse ? std::numeric_limits<unsigned>::max() : maxBits;
  }
  /// Returns whether the thresholds are kept, because an error tolerance has
  /// made them larger than those of the least error.
  static bool keepsThresholds(const Layer &layer) {
    tpc::AttrQuantConfigAttr config =
        tpc::QuantizeOp(layer.point).getWeightConfig();
    return config && config.getErrorTolerance();
  }
  LogicalResult round(const Layers &found,
                      std::vector<RoundingVisitor::Member> &members,
                      const execution::RunSettings &settings);
};
} // namespace

namespace {
/// Runs the networks by which layers are rounded and judged.
class RoundingRun {
public:
  using Member = RoundingVisitor::Member;
  RoundingRun(const Layers &found, std::vector<Member> &members,
              const execution::RunSettings &settings, int64_t maxSamples,
              bool judges)
      : found(found), members(members), settings(settings),
        maxSamples(maxSamples), judges(judges) {}

  LogicalResult prepare();
  /// Rounds the layers of all members, or corrects their biases.
  LogicalResult round();
  /// Rounds on all samples after `judge`, if some were held out.
  LogicalResult roundAgain() {
    return tried ? run(members, *fitted, Keeps::Nothing) : success();
  }
  /// Finds the members that are not to be rounded; an empty result means that
  /// all are. `corrects` is true if biases of other layers are corrected.
  FailureOr<Rejection> judge(bool corrects);

  /// Number of samples, out of more, on which the layers were measured.
  std::optional<int64_t> numSamples() const {
    if (fitted->numSamples() == available)
      return std::nullopt;
    return fitted->numSamples();
  }

private:
  LogicalResult divideSamples();
  /// The results that a run keeps (see `RoundingVisitor`).
  enum class Keeps { Nothing, Float, Distances };
  LogicalResult run(std::vector<Member> &members,
                    const execution::SampleSource &samples, Keeps keeps);
  /// Returns the members with the nearest levels, as in the module; with
  /// `corrects`, their biases are corrected.
  FailureOr<std::vector<Member>> correctNearest(bool corrects);
  LogicalResult check(llvm::Error error) const {
    if (error)
      return emitError(ModuleOp(both.module.get()).getLoc())
             << llvm::toString(std::move(error));
    return success();
  }

  const Layers &found;
  std::vector<Member> &members;
  const execution::RunSettings &settings;
  int64_t maxSamples;
  bool judges;
  Layers::Networks both;
  SmallVector<ChannelValue> floatResults, results;
  LayerwiseOptions layerwise;
  std::unique_ptr<execution::NetworkRun> floating;
  std::unique_ptr<execution::Executor> executor;
  /// Keeps about `most` of the samples (0 for all), in the order of their
  /// values.
  LogicalResult thin(std::shared_ptr<const execution::SampleSource> &samples,
                     int64_t most);
  int64_t available = 0;
  /// Samples on which layers are finally rounded, on which they are rounded in
  /// order to be judged, and which judge them. No sample of `tried` judges; it
  /// is null if there are too few samples.
  std::shared_ptr<const execution::SampleSource> fitted, tried, judging;
  /// Set if layers are rounded by the samples that judge them because there are
  /// few: the results of the float network, and the distances of the results
  /// with rounded layers and with the nearest levels.
  std::optional<SampleRun::Float> floatRun;
  SampleRun::Measurement withRounded, withNearest;
};
} // namespace

LogicalResult RoundingRun::prepare() {
  both = found.cloneBoth();
  auto getResults = [&](const IRMapping &copies) {
    SmallVector<ChannelValue> values;
    for (const Member &member : members)
      values.push_back({copies.lookup(member.layer->op.getResult()),
                        member.layer->op.resultAxis()});
    return values;
  };
  floatResults = getResults(both.floatMapping);
  results = getResults(both.mapping);
  SmallVector<OpOperand *> inputs, kernels;
  for (Member &member : members) {
    const KernelOp &op = member.layer->op;
    Operation *copy = both.mapping.lookup(op.getOperation());
    inputs.push_back(&copy->getOpOperand(op.getInput().getOperandNumber()));
    if (!member.rounded)
      continue;
    member.kernelNumber = kernels.size();
    kernels.push_back(
        &copy->getOpOperand(op.getKernelOperand().getOperandNumber()));
  }
  // The other summand of a rounded layer already contains the changes of
  // earlier layers.
  SmallVector<Value> floatSummands = makeOtherSummands(floatResults),
                     summands = makeOtherSummands(results);
  for (auto [number, member] : llvm::enumerate(members)) {
    member.hasSummand =
        member.rounded && floatSummands[number] && summands[number];
    if (member.hasSummand)
      layerwise.summands.push_back(number);
    else
      floatSummands[number] = summands[number] = {};
  }
  layerwise.run = settings.run;
  // The sampled rows take about as much memory as the kept values.
  layerwise.memoryBudget = settings.limitKept(int64_t(16) << 20);
  SmallVector<execution::CompileOptions, 2> options{
      compileLayerwise(both.floating, floatResults, {}, floatSummands, judges),
      compileLayerwise(both.quantized, results, inputs, summands, judges)};
  options.front().simulateQuantization = false;
  options.back().replaceable = kernels;
  FailureOr<CompiledPair> pair = compilePair(*both.module, options, settings);
  if (failed(pair))
    return failure();
  floating = std::move(pair->floating);
  executor = std::move(pair->quantized);
  return divideSamples();
}

LogicalResult
RoundingRun::thin(std::shared_ptr<const execution::SampleSource> &samples,
                  int64_t most) {
  int64_t count = samples->numSamples();
  if (most > 0 && executor->allowsPartialUnits())
    count = std::min(count, most);
  auto ordered =
      execution::thinSamples(samples, count, execution::SampleOrder::ByValue);
  if (!ordered)
    return check(ordered.takeError());
  samples = std::move(*ordered);
  return success();
}

LogicalResult RoundingRun::divideSamples() {
  fitted = floating->sharedSamples();
  available = fitted->numSamples();
  if (judges && executor->allowsPartialUnits() && available >= kFewSamples) {
    constexpr int64_t kShare = 4;
    auto parts = execution::holdOut(fitted, available >= kManySamples
                                                ? kJudgingSamples
                                                : available / kShare);
    if (!parts)
      return check(parts.takeError());
    if (*parts) {
      judging = (*parts)->judging;
      tried = (*parts)->fitted;
    }
  }
  // More samples add little to the judgement but take time.
  int64_t most =
      maxSamples > 0 ? std::min(maxSamples, kManySamples) : kManySamples;
  if (failed(thin(fitted, maxSamples)) || (tried && failed(thin(tried, most))))
    return failure();
  if (!judging)
    judging = fitted;
  return success();
}

LogicalResult RoundingRun::run(std::vector<Member> &changed,
                               const execution::SampleSource &samples,
                               Keeps keeps) {
  const execution::Executor &exact = floating->executor();
  RoundingVisitor visitor(
      changed,
      createSummaries(exact, samples.numSamples(), both.floating, floatResults,
                      /*moments=*/false),
      *executor, samples.numSamples(), settings.run.threads);
  if (keeps == Keeps::Float)
    visitor.keep(
        *floatRun, withRounded.errors,
        SampleRun::createReference(exact, both.floating, samples.numSamples()));
  else if (keeps == Keeps::Distances)
    visitor.know(*floatRun, withNearest.errors);
  return runLayerwise(both.quantized.getLoc(), *executor,
                      keeps == Keeps::Distances ? nullptr : &exact, results,
                      samples, layerwise, visitor);
}

LogicalResult RoundingRun::round() {
  if (judges && !tried && fitted->numSamples() <= kBiasSamples) {
    floatRun.emplace();
    floatRun->unit = floating->executor().unit();
    return run(members, *fitted, Keeps::Float);
  }
  return run(members, tried ? *tried : *fitted, Keeps::Nothing);
}

FailureOr<std::vector<RoundingVisitor::Member>>
RoundingRun::correctNearest(bool corrects) {
  std::vector<Member> nearest(members.size());
  for (auto [member, same] : llvm::zip(members, nearest)) {
    same.layer = member.layer;
    if (member.rounded &&
        failed(check(executor->replaceConstant(
            member.kernelNumber, quantizedKernel(*member.layer)))))
      return failure();
  }
  if (!corrects)
    return nearest;
  if (floatRun) {
    if (failed(run(nearest, *fitted, Keeps::Distances)))
      return failure();
    return nearest;
  }
  auto measured = tried ? tried : fitted;
  int64_t count = measured->numSamples();
  if (executor->allowsPartialUnits())
    count = std::min(count, kBiasSamples);
  auto samples =
      execution::thinSamples(measured, count, execution::SampleOrder::ByValue);
  if (!samples)
    return LogicalResult(check(samples.takeError()));
  if (failed(run(nearest, **samples, Keeps::Nothing)))
    return failure();
  return nearest;
}

FailureOr<Rejection> RoundingRun::judge(bool corrects) {
  constexpr int kMostTrials = 16;
  Rejection rejection;
  SampleRun::Networks networks{both.module->getLoc(), &floating->executor(),
                               executor.get(),        both.floating,
                               floatResults,          settings.run};
  SampleRun samples(networks, judging);
  auto nearest = correctNearest(corrects);
  if (failed(nearest))
    return failure();
  if (floatRun)
    samples.setFloat(*floatRun);
  else if (failed(samples.runFloat(/*moments=*/false, /*keepsResults=*/true)))
    return failure();
  auto measure = [&](const std::vector<bool> &undone)
      -> FailureOr<SampleRun::Measurement> {
    execution::Replacements kernels(*executor);
    Version version;
    version.replaced = &kernels;
    for (size_t number = 0; number != members.size(); ++number) {
      const Member &member = members[number];
      const Member &taken = undone[number] ? (*nearest)[number] : member;
      if (taken.rounded && failed(check(kernels.replaceConstant(
                               member.kernelNumber, taken.rounded->kernel))))
        return failure();
      if (SmallVector<Affine> change = taken.change(); !change.empty())
        version.editors.emplace_back(
            number, changeChannels(change, results[number].axis));
    }
    return samples.run(version, /*measuresLayers=*/false);
  };
  FailureOr<SampleRun::Measurement> without = std::move(withNearest);
  if (!floatRun || !corrects)
    without = measure(std::vector<bool>(members.size(), true));
  if (failed(without))
    return failure();
  FailureOr<SampleRun::Measurement> with = std::move(withRounded);
  if (!floatRun)
    with = measure(std::vector<bool>(members.size(), false));
  if (failed(with))
    return failure();
  std::optional<JudgedLoss> loss = findWorstLoss(&samples, *with, *without);
  if (!loss)
    return rejection;
  // Layers whose bias alone is corrected cannot be undone.
  std::vector<bool> undone;
  for (const Member &member : members)
    undone.push_back(!member.rounded);
  std::set<size_t> lost{loss->part};
  auto harmful = findHarmfulLayers(
      undone,
      [&](const std::vector<bool> &all) -> FailureOr<bool> {
        std::vector<bool> those = all;
        for (auto [number, member] : llvm::enumerate(members))
          those[number] = those[number] && member.rounded;
        auto with = measure(those);
        if (failed(with))
          return failure();
        return findWorstLoss(&samples, *with, *without, lost).has_value();
      },
      kMostTrials);
  if (failed(harmful))
    return failure();
  llvm::sort(*harmful);
  rejection.loss = *loss;
  for (size_t number : *harmful)
    rejection.layers.push_back(members[number].layer);
  return rejection;
}

LogicalResult
RoundWeightsPass::round(const Layers &found,
                        std::vector<RoundingVisitor::Member> &members,
                        const execution::RunSettings &settings) {
  RoundingRun run(found, members, settings, int64_t(uint64_t(maxSamples)),
                  judge);
  if (failed(run.prepare()) || failed(run.round()))
    return failure();
  FailureOr<Rejection> rejection = Rejection();
  if (judge)
    rejection = run.judge(correctBias);
  if (failed(rejection) || failed(run.roundAgain()))
    return failure();
  for (RoundingVisitor::Member &member : members) {
    const Layer &layer = *member.layer;
    // Its bias is left to mct-correct-bias.
    if (llvm::is_contained(rejection->layers, &layer))
      continue;
    if (!member.rounded) {
      if (failed(applyCorrection(layer, member.biasChange,
                                 tpc::kQuantizedNetworkCorrection,
                                 run.numSamples())))
        return failure();
      continue;
    }
    apply(layer, *member.rounded, run.numSamples());
    if (remarks)
      emitRecord(layer.op.getOperation(), getArgument(),
                 Record(Decision::Applied, Reason::RoundedTogether)
                     << "its weights are rounded together: mean squared error "
                     << named("error", member.rounded->error) << ", to the "
                     << "nearest levels "
                     << named("nearest_error", member.rounded->nearestError),
                 "'" + layer.op.getOperation()->getName().getStringRef() +
                     "' op: ");
  }
  if (!rejection->layers.empty())
    rejection->record(found, tpc::kRoundedWeights,
                      remarks ? getArgument() : StringRef());
  return success();
}
