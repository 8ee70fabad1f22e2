// SPDX-License-Identifier: Apache-2.0
#include "mct/Report/Effects.h"

#include "ChangedAnswers.h"
#include "EffectRun.h"
#include "MeasureCorrections.h"
#include "mct/Evaluation/Evaluation.h"
#include "mct/Execution/RunCache.h"
#include "mct/IR/EntryFunction.h"
#include "mct/IR/Names.h"
#include "mct/IR/QuantizedValues.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace mct;
using namespace mct::report;
using execution::ErrorSums;
using execution::Evaluation;
using execution::UnitResults;

static Distance toDistance(const ErrorSums &sums) {
  return {sums.sqnr(), sums.cosine(), sums.largest};
}

//===----------------------------------------------------------------------===//
// Accuracy
//===----------------------------------------------------------------------===//

namespace {
/// Fills the measurements of a report.
class Measurement {
public:
  Measurement(ModuleOp quantized, const KernelOps &kernels, ModuleOp floating,
              ModuleOp integer, execution::RunSettings settings,
              const EffectOptions &options, Report &report)
      : kernels(kernels), quantized(quantized), floating(floating),
        integer(integer), settings(std::move(settings)), options(options),
        report(report) {
    if (!this->settings.cache)
      this->settings.cache = std::make_shared<execution::RunCache>();
    for (Point &point : report.points)
      points[point.name] = &point;
  }

  LogicalResult run() {
    if (failed(measureSimulation()) || (integer && failed(measureInteger())) ||
        failed(takeShards()) || failed(measureEffects()))
      return failure();
    return success();
  }

  /// Passes the effect run to the caller; null if no effects were measured.
  std::unique_ptr<EffectRun> takeRun() { return std::move(effectRun); }

private:
  /// Works on copies of the modules, since their values get names.
  FailureOr<std::optional<Evaluation>>
  evaluate(ModuleOp module, StringRef name, ModuleOp reference,
           StringRef referenceName, execution::EvaluationOptions request);
  LogicalResult takeShards();
  bool hasLabels() const {
    return options.hasLabels || !options.labelsFile.empty();
  }
  LogicalResult measureSimulation();
  LogicalResult measureInteger();
  LogicalResult measureEffects();
  LogicalResult createRun();
  LogicalResult measurePoints(EffectRun &effects);
  void addWorstPoints(const EffectRun &effects, const RunDistance &whole,
                      ArrayRef<RunDistance> without);

  const KernelOps &kernels;
  ModuleOp quantized, floating, integer;
  execution::RunSettings settings;
  const EffectOptions &options;
  Report &report;
  llvm::StringMap<Point *> points;
  std::unique_ptr<EffectRun> effectRun;
};
} // namespace

/// Returns the distance of all results together.
static std::optional<Distance>
addResults(ArrayRef<execution::ComparedResult> results) {
  ErrorSums sums;
  for (const execution::ComparedResult &result : results)
    sums.merge(result.sums);
  return results.empty() ? std::nullopt
                         : std::optional<Distance>(toDistance(sums));
}

static std::vector<Result>
toResults(ArrayRef<execution::ComparedResult> results) {
  std::vector<Result> all;
  for (const execution::ComparedResult &compared : results) {
    Result &result = all.emplace_back();
    result.number = compared.number;
    result.name = compared.name;
    result.isScores = compared.isScores;
    result.simulated = toDistance(compared.sums);
    if (compared.logits)
      result.logits = toDistance(*compared.logits);
    result.axis = compared.axis;
    for (const execution::ComparedGroup &group : compared.groups) {
      ResultGroup &added = result.groups.emplace_back();
      added.name = group.name;
      added.channels = group.channels;
      added.simulated = toDistance(group.sums);
    }
  }
  return all;
}

/// Adds the distances of the integer network's results.
static void addIntegers(ArrayRef<execution::ComparedResult> compared,
                        std::vector<Result> &results) {
  for (const execution::ComparedResult &other : compared)
    for (Result &result : results) {
      if (result.number != other.number)
        continue;
      result.integer = toDistance(other.sums);
      if (other.groups.size() != result.groups.size())
        continue;
      for (auto [group, same] : llvm::zip(result.groups, other.groups))
        group.integer = toDistance(same.sums);
    }
}

/// Returns none if other shards have to answer first.
FailureOr<std::optional<Evaluation>>
Measurement::evaluate(ModuleOp module, StringRef name, ModuleOp reference,
                      StringRef referenceName,
                      execution::EvaluationOptions request) {
  OwningOpRef<ModuleOp> own = module.clone(), other = reference.clone();
  request.function = options.function;
  request.name = name.str();
  request.referenceName = referenceName.str();
  request.hasLabels = hasLabels();
  if (options.shards)
    return execution::evaluateShards(*options.shards, *own, *other, settings,
                                     request);
  FailureOr<Evaluation> found =
      execution::evaluate(*own, *other, settings, request);
  if (failed(found))
    return failure();
  return std::optional(std::move(*found));
}

/// Stops if other shards have to answer; otherwise uses the samples that the
/// shards choose for the effects.
LogicalResult Measurement::takeShards() {
  execution::Shards *shards = options.shards;
  if (!shards)
    return success();
  if (shards->hasRecorded())
    return shards->stop(execution::kEvaluationPart);
  if (failed(shards->checkOthers(execution::kEvaluationPart)))
    return failure();
  OwningOpRef<ModuleOp> copy = quantized.clone();
  FailureOr<func::FuncOp> entry = findEntryFunction(*copy, options.function);
  if (failed(entry))
    return failure();
  assignNames(*entry);
  FailureOr<execution::RunSettings> chosen = execution::takeShardSamples(
      *shards, *entry, settings, {options.effectSamples});
  if (failed(chosen))
    return failure();
  settings = std::move(*chosen);
  return success();
}

void report::addJudged(const execution::MetricResult &found, Accuracy &accuracy,
                       Report &report) {
  JudgedBy &by = report.judgedBy.emplace();
  by.name = found.name;
  by.unit = execution::getName(found.unit);
  by.isHigherBetter = found.isHigherBetter;
  by.samples = found.samples;
  Judged &judged = accuracy.judged.emplace();
  judged.value = found.value;
  judged.shown = execution::describeValue(found.value, found.unit);
  if (found.interval) {
    judged.low = found.interval->low;
    judged.high = found.interval->high;
  }
  if (!found.loss)
    return;
  judged.loss = found.loss->loss;
  if (found.loss->interval) {
    judged.lossLow = found.loss->interval->low;
    judged.lossHigh = found.loss->interval->high;
  }
  judged.isBeyondChance = found.loss->isBeyondChance();
  judged.text = execution::describeLoss(found);
  Judged &floating = report.floating.judged.emplace();
  floating.value = *found.reference;
  floating.shown = execution::describeValue(*found.reference, found.unit);
}

LogicalResult Measurement::measureSimulation() {
  ChangedAnswers answers;
  execution::EvaluationOptions request;
  request.labelsFile = options.labelsFile;
  request.metric = options.metric;
  request.splitErrors = true;
  request.digest = true;
  request.onUnitDone = [&](const UnitResults &results) {
    return answers.add(results);
  };
  auto evaluated =
      evaluate(quantized, options.name, floating, options.floatName, request);
  if (failed(evaluated))
    return failure();
  const std::optional<Evaluation> &found = *evaluated;
  if (options.shards &&
      failed(answers.exchange(*options.shards, /*isMeasured=*/!found)))
    return failure();
  if (!found)
    return success();
  report.samples = found->samples;
  report.digest = found->digest;
  report.hasLabels = hasLabels();
  report.floating = {found->samples, answers.referenceTop1(), {}, {}, {}};
  report.simulated = {found->samples,
                      found->top1,
                      found->agreement,
                      {},
                      addResults(found->results)};
  if (found->metric)
    addJudged(*found->metric, report.simulated, report);
  report.results = toResults(found->results);
  if (!report.results.empty() && report.results.front().isScores)
    answers.fillChanges(report);
  for (const execution::ComparedPoint &compared : found->points) {
    Point *point = points.lookup(compared.name);
    if (!point)
      continue;
    point->total = toDistance(compared.sums);
    if (compared.own)
      point->own = toDistance(*compared.own);
    if (compared.inherited)
      point->inherited = toDistance(*compared.inherited);
  }
  return success();
}

LogicalResult Measurement::measureInteger() {
  execution::EvaluationOptions request;
  request.labelsFile = options.labelsFile;
  request.metric = options.metric;
  auto evaluated = evaluate(integer, options.integerName, floating,
                            options.floatName, request);
  execution::EvaluationOptions exact;
  exact.exact = true;
  auto steps = failed(evaluated) ? evaluated
                                 : evaluate(integer, options.integerName,
                                            quantized, options.name, exact);
  if (failed(steps))
    return failure();
  const std::optional<Evaluation> &found = *evaluated;
  if (!found || !*steps)
    return success();
  report.integer = {found->samples,
                    found->top1,
                    found->agreement,
                    {},
                    addResults(found->results)};
  if (found->metric)
    addJudged(*found->metric, *report.integer, report);
  addIntegers(found->results, report.results);
  for (const execution::ComparedPoint &compared : (*steps)->points)
    if (Point *point = points.lookup(compared.name); point && compared.steps)
      point->integer = {compared.steps->values, compared.steps->differing,
                        compared.steps->largest};
  return success();
}

//===----------------------------------------------------------------------===//
// Effects
//===----------------------------------------------------------------------===//

LogicalResult Measurement::createRun() {
  FailureOr<func::FuncOp> function =
      findEntryFunction(quantized, options.function);
  if (failed(function))
    return failure();
  report.noEffectsReason = EffectRun::findObstacle(*function, kernels);
  if (!report.noEffectsReason.empty())
    return success();
  EffectRunOptions request;
  request.function = options.function;
  request.samples = options.effectSamples;
  request.groups.resize(function->getNumResults());
  for (const Result &result : report.results) {
    ResultGroups &groups = request.groups[size_t(result.number)];
    groups.axis = result.axis;
    for (const ResultGroup &group : result.groups) {
      for (int64_t channel : group.channels) {
        groups.groupByChannel.resize(
            std::max(groups.groupByChannel.size(), size_t(channel) + 1));
        groups.groupByChannel[size_t(channel)] = int64_t(groups.names.size());
      }
      groups.names.push_back(group.name);
    }
  }
  auto run = EffectRun::create(quantized, kernels, floating, settings, request);
  if (failed(run))
    return failure();
  report.noEffectsReason = (*run)->getObstacle().str();
  if (report.noEffectsReason.empty())
    effectRun = std::move(*run);
  return success();
}

/// Returns the part of a distance that is `without` without something; 0 if the
/// distance does not shrink.
static double getShare(double distance, double without) {
  return without < distance ? (distance - without) / distance : 0;
}

/// Records, for each part of the results, the point without which its distance
/// is the smallest.
void Measurement::addWorstPoints(const EffectRun &effects,
                                 const RunDistance &whole,
                                 ArrayRef<RunDistance> without) {
  for (auto [number, part] : llvm::enumerate(effects.results().getParts())) {
    double largest = 0;
    StringRef name;
    for (auto [point, run] : llvm::zip(
             effects.points(), without.take_front(effects.points().size()))) {
      double share = run.parts.empty()
                         ? 0
                         : getShare(whole.parts[number], run.parts[number]);
      if (share > largest) {
        largest = share;
        name = point;
      }
    }
    if (name.empty())
      continue;
    for (Result &result : report.results) {
      if (result.number != int64_t(part.output))
        continue;
      if (!part.group) {
        result.worstPoint = name.str();
        result.worstShare = largest;
      } else if (*part.group < result.groups.size()) {
        result.groups[*part.group].worstPoint = name.str();
        result.groups[*part.group].worstShare = largest;
      }
    }
  }
}

LogicalResult Measurement::measurePoints(EffectRun &effects) {
  // One set for each point, followed by one for each operator with several
  // points.
  std::vector<Switches> sets;
  std::vector<SmallVector<std::optional<Effect> *, 2>> targets;
  llvm::StringMap<size_t> numbers;
  for (auto [number, name] : llvm::enumerate(effects.points())) {
    numbers[name] = number;
    sets.push_back({});
    targets.emplace_back();
    if (effects.isSwitched(number))
      sets.back().points.push_back(number);
    if (Point *point = points.lookup(name)) {
      if (effects.isSwitched(number))
        targets.back().push_back(&point->effect);
      if (std::optional<ErrorSums> sums = effects.ofWeight(number);
          sums && point->isWeight())
        point->total = point->own = toDistance(*sums);
    }
  }
  for (Operator &of : report.operators) {
    Switches set;
    std::vector<std::string> names = of.points;
    // The result of a layer is quantized after the ops that are fused with it.
    if (!names.empty() && !of.group.empty() &&
        !llvm::is_contained(names, of.group))
      names.push_back(of.group);
    for (const std::string &name : names)
      if (auto found = numbers.find(name);
          found != numbers.end() && effects.isSwitched(found->second))
        set.points.push_back(found->second);
    if (set.isEmpty())
      continue;
    if (set.points.size() == 1) {
      targets[set.points.front()].push_back(&of.effect);
      continue;
    }
    sets.push_back(std::move(set));
    targets.push_back({&of.effect});
  }

  std::vector<RunDistance> without(sets.size());
  FailureOr<RunDistance> whole = effects.measure({}, sets, without);
  if (failed(whole))
    return failure();
  report.distance = whole->distance;
  report.deviation = effects.results().deviation(whole->samples);
  for (size_t number = 0; number != sets.size(); ++number)
    for (std::optional<Effect> *target : targets[number])
      *target = Effect{without[number].distance,
                       whole->distance - without[number].distance,
                       getShare(whole->distance, without[number].distance)};
  addWorstPoints(effects, *whole, without);
  return success();
}

LogicalResult Measurement::measureEffects() {
  if (failed(createRun()))
    return failure();
  if (!effectRun)
    return success();
  EffectRun &effects = *effectRun;
  report.metric = effects.results().usedMetric() == execution::ResultMetric::KL
                      ? "kl"
                      : "mse";
  report.effectSamples = effects.numSamples();
  if (failed(measurePoints(effects)))
    return failure();
  return measureCorrections(effects, report);
}

LogicalResult mct::report::measureEffects(ModuleOp quantized,
                                          const KernelOps &kernels,
                                          ModuleOp floating, ModuleOp integer,
                                          execution::RunSettings settings,
                                          const EffectOptions &options,
                                          Report &report,
                                          std::unique_ptr<EffectRun> *run) {
  Measurement measurement(quantized, kernels, floating, integer,
                          std::move(settings), options, report);
  if (failed(measurement.run()))
    return failure();
  if (run)
    *run = measurement.takeRun();
  return success();
}
