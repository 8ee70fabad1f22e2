// SPDX-License-Identifier: Apache-2.0
#include "mct/Report/Effects.h"

#include "EffectRun.h"
#include "mct/Analysis/EntryFunction.h"
#include "mct/Analysis/QuantizedValues.h"
#include "mct/Execution/Evaluation.h"
#include "mct/Execution/RunCache.h"
#include "llvm/ADT/StringMap.h"
#include <map>
#include <mutex>

using namespace mlir;
using namespace mct;
using namespace mct::report;
using execution::ErrorSums;
using execution::Evaluation;
using execution::SeenResults;
using execution::TensorSpec;

static Distance toDistance(const ErrorSums &sums) {
  return {sums.sqnr(), sums.cosine(), sums.largest};
}

//===----------------------------------------------------------------------===//
// Accuracy
//===----------------------------------------------------------------------===//

namespace {
/// What the results of one unit say.
struct UnitResults {
  /// All outputs together.
  ErrorSums output;
  int64_t correct = 0;
  std::vector<ChangedPrediction> changed;
  /// Float and simulated class of each sample.
  std::vector<std::pair<int64_t, int64_t>> answers;
};

/// What the results of a module say beside those of its reference. Sums are in
/// the order of the units.
class SeeResults {
public:
  static constexpr int64_t kMaxClasses = 64;
  static constexpr size_t kMaxChanged = 64;

  /// `stored`: of the results of the module, what integers stand for.
  explicit SeeResults(const QuantizedValues &stored) : stored(stored) {}

  llvm::Error add(const SeenResults &seen);
  /// Of the module; of the reference, the share of right answers.
  void fill(Accuracy &accuracy) const;
  std::optional<double> referenceTop1() const;
  void fillChanges(Report &report) const;
  bool hasOutput = false;

private:
  /// The valid elements of an output as real numbers; none where they are none.
  std::optional<std::vector<float>> getValues(const TensorSpec &spec,
                                              const void *data, int64_t unit,
                                              int64_t valid,
                                              size_t number) const;

  const QuantizedValues &stored;
  std::mutex mutex;
  std::map<int64_t, UnitResults> units;
  bool hasLabels = false, hasScores = false;
  int64_t classes = 0;
};
} // namespace

std::optional<std::vector<float>>
SeeResults::getValues(const TensorSpec &spec, const void *data, int64_t unit,
                      int64_t valid, size_t number) const {
  Type type = spec.type.getElementType();
  int64_t count = spec.type.getNumElements() / unit * valid;
  if (spec.type.getNumElements() % unit != 0)
    return std::nullopt;
  if (type.isF32()) {
    auto *floats = static_cast<const float *>(data);
    return std::vector<float>(floats, floats + count);
  }
  if (number >= stored.size() || !stored[number])
    return std::nullopt;
  quantization::Grid grid =
      stored[number]->getGrid(spec.type.getElementTypeBitWidth());
  std::vector<float> values;
  auto decode = [&](auto *codes) {
    for (int64_t index = 0; index != count; ++index)
      values.push_back(
          float(grid.step * double(int64_t(codes[index]) - grid.zeroPoint)));
  };
  if (type.isInteger(8))
    decode(static_cast<const int8_t *>(data));
  else if (type.isInteger(16))
    decode(static_cast<const int16_t *>(data));
  else if (type.isInteger(32))
    decode(static_cast<const int32_t *>(data));
  else
    return std::nullopt;
  return values;
}

llvm::Error SeeResults::add(const SeenResults &seen) {
  UnitResults own;
  int64_t unit = seen.unitSize, valid = seen.unit.validSamples;
  bool isCompared = false;
  std::optional<std::vector<float>> first, firstReference;
  for (size_t number = 0;
       number != std::min(seen.specs.size(), seen.referenceSpecs.size());
       ++number) {
    auto values = getValues(seen.specs[number], seen.unit.outputs[number], unit,
                            valid, number);
    auto references =
        seen.referenceSpecs[number].type.getElementType().isF32()
            ? getValues(seen.referenceSpecs[number], seen.reference[number],
                        unit, valid, number)
            : std::nullopt;
    if (!values || !references || values->size() != references->size())
      continue;
    own.output.add(*values, *references);
    isCompared = true;
    if (number == 0) {
      first = std::move(values);
      firstReference = std::move(references);
    }
  }
  bool scores = first && execution::hasScores(seen.specs.front(), unit) &&
                execution::hasScores(seen.referenceSpecs.front(), unit);
  int64_t count = scores ? int64_t(first->size()) / valid : 0;
  for (int64_t sample = 0; scores && sample != valid; ++sample) {
    auto answerOf = [&](ArrayRef<float> row) {
      bool hasNone =
          llvm::any_of(row, [](float value) { return std::isnan(value); });
      return hasNone ? int64_t(-1) : llvm::max_element(row) - row.begin();
    };
    ArrayRef<float> row = ArrayRef<float>(*first).slice(sample * count, count),
                    reference = ArrayRef<float>(*firstReference)
                                    .slice(sample * count, count);
    // Of floats, as the evaluation finds it; of integers those decide.
    int64_t answer = execution::findAnswer(
                seen.specs.front(), seen.unit.outputs.front(), sample, count),
            wanted = answerOf(reference);
    own.answers.push_back({wanted, answer});
    int64_t number = seen.unit.firstSample + sample;
    std::optional<int64_t> label;
    if (!seen.labels.empty()) {
      label = seen.labels[number];
      own.correct += wanted == *label;
    }
    if (answer == wanted || answer < 0 || wanted < 0)
      continue;
    own.changed.push_back(
        {number, wanted, answer, label,
         double(reference[wanted]) - double(reference[answer]),
         double(row[answer]) - double(row[wanted])});
  }
  std::lock_guard<std::mutex> lock(mutex);
  hasOutput |= isCompared;
  hasLabels |= !seen.labels.empty();
  hasScores |= scores;
  classes = count;
  units[seen.unit.index] = std::move(own);
  return llvm::Error::success();
}

void SeeResults::fill(Accuracy &accuracy) const {
  if (!hasOutput)
    return;
  ErrorSums sums;
  for (const auto &[number, unit] : units)
    sums.merge(unit.output);
  accuracy.output = toDistance(sums);
}

std::optional<double> SeeResults::referenceTop1() const {
  if (!hasLabels || !hasScores)
    return std::nullopt;
  int64_t correct = 0, samples = 0;
  for (const auto &[number, unit] : units) {
    correct += unit.correct;
    samples += int64_t(unit.answers.size());
  }
  return samples ? std::optional<double>(double(correct) / double(samples))
                 : std::nullopt;
}

void SeeResults::fillChanges(Report &report) const {
  report.numChanged = 0;
  report.changed.clear();
  report.confusion.clear();
  if (hasScores && classes <= kMaxClasses)
    report.confusion.assign(classes, std::vector<int64_t>(classes));
  for (const auto &[number, unit] : units) {
    report.numChanged += int64_t(unit.changed.size());
    for (const ChangedPrediction &changed : unit.changed)
      if (report.changed.size() < kMaxChanged)
        report.changed.push_back(changed);
    if (!report.confusion.empty())
      for (auto [wanted, answer] : unit.answers)
        if (wanted >= 0 && answer >= 0)
          ++report.confusion[wanted][answer];
  }
}

namespace {
/// One report being filled.
class Measurement {
public:
  Measurement(ModuleOp quantized, ModuleOp floating, ModuleOp integer,
              execution::RunSettings settings, const EffectOptions &options,
              Report &report)
      : quantized(quantized), floating(floating), integer(integer),
        settings(std::move(settings)), options(options), report(report) {
    if (!this->settings.cache)
      this->settings.cache = &cache;
    for (Point &point : report.points)
      points[point.name] = &point;
  }

  LogicalResult run() {
    if (failed(measureSimulation()) || (integer && failed(measureInteger())) ||
        failed(measureEffects()))
      return failure();
    return success();
  }

private:
  /// Copies of the modules: their values get names.
  FailureOr<Evaluation> evaluate(ModuleOp module, StringRef name,
                                 ModuleOp reference, StringRef referenceName,
                                 execution::EvaluationOptions asked);
  LogicalResult measureSimulation();
  LogicalResult measureInteger();
  LogicalResult measureEffects();

  ModuleOp quantized, floating, integer;
  execution::RunSettings settings;
  const EffectOptions &options;
  Report &report;
  execution::RunCache cache;
  llvm::StringMap<Point *> points;
};
} // namespace

FailureOr<Evaluation>
Measurement::evaluate(ModuleOp module, StringRef name, ModuleOp reference,
                      StringRef referenceName,
                      execution::EvaluationOptions asked) {
  OwningOpRef<ModuleOp> own = module.clone(), other = reference.clone();
  asked.function = options.function;
  asked.name = name.str();
  asked.referenceName = referenceName.str();
  asked.fail = options.fail;
  return execution::evaluate(*own, *other, settings, asked);
}

LogicalResult Measurement::measureSimulation() {
  QuantizedValues none;
  SeeResults results(none);
  execution::EvaluationOptions asked;
  asked.labelsFile = options.labelsFile;
  asked.splitErrors = true;
  asked.digest = true;
  asked.see = [&](const SeenResults &seen) { return results.add(seen); };
  FailureOr<Evaluation> found =
      evaluate(quantized, options.name, floating, options.floatName, asked);
  if (failed(found))
    return failure();
  report.samples = found->samples;
  report.digest = found->digest;
  report.hasLabels = !options.labelsFile.empty();
  report.floating = {found->samples, results.referenceTop1(), {}, {}};
  report.simulated = {found->samples, found->top1, found->agreement, {}};
  results.fill(report.simulated);
  results.fillChanges(report);
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
  FailureOr<func::FuncOp> function =
      findEntryFunction(integer, options.function);
  if (failed(function))
    return failure();
  FailureOr<QuantizedValues> stored = readQuantizedResults(*function);
  if (failed(stored))
    return failure();
  SeeResults results(*stored);
  execution::EvaluationOptions asked;
  asked.labelsFile = options.labelsFile;
  asked.see = [&](const SeenResults &seen) { return results.add(seen); };
  FailureOr<Evaluation> found = evaluate(integer, options.integerName, floating,
                                         options.floatName, asked);
  if (failed(found))
    return failure();
  report.integer = {found->samples, found->top1, found->agreement, {}};
  results.fill(*report.integer);
  execution::EvaluationOptions exact;
  exact.exact = true;
  FailureOr<Evaluation> steps =
      evaluate(integer, options.integerName, quantized, options.name, exact);
  if (failed(steps))
    return failure();
  for (const execution::ComparedPoint &compared : steps->points)
    if (Point *point = points.lookup(compared.name); point && compared.steps)
      point->integer = {compared.steps->values, compared.steps->differing,
                        compared.steps->largest};
  return success();
}

//===----------------------------------------------------------------------===//
// Effects
//===----------------------------------------------------------------------===//

LogicalResult Measurement::measureEffects() {
  FailureOr<func::FuncOp> function =
      findEntryFunction(quantized, options.function);
  if (failed(function))
    return failure();
  report.whyNoEffects = EffectRun::findObstacle(*function);
  if (!report.whyNoEffects.empty())
    return success();
  auto run = EffectRun::create(quantized, floating, options.function, settings,
                               options.effectSamples, report.whyNoEffects);
  if (failed(run))
    return failure();
  if (!*run)
    return success();
  EffectRun &effects = **run;

  // One set for each point, then one for each operator with several.
  std::vector<PointSet> sets;
  std::vector<SmallVector<std::optional<Effect> *, 2>> targets;
  llvm::StringMap<size_t> numbers;
  for (auto [number, name] : llvm::enumerate(effects.points())) {
    numbers[name] = number;
    sets.push_back({});
    targets.emplace_back();
    if (effects.isSwitched(number))
      sets.back().push_back(number);
    if (Point *point = points.lookup(name)) {
      if (effects.isSwitched(number))
        targets.back().push_back(&point->effect);
      if (std::optional<ErrorSums> sums = effects.ofWeight(number);
          sums && point->isWeight())
        point->total = point->own = toDistance(*sums);
    }
  }
  for (Operator &of : report.operators) {
    PointSet set;
    std::vector<std::string> names = of.points;
    // The result of a layer is quantized behind what is fused to it.
    if (!names.empty() && !of.group.empty() &&
        !llvm::is_contained(names, of.group))
      names.push_back(of.group);
    for (const std::string &name : names)
      if (auto found = numbers.find(name);
          found != numbers.end() && effects.isSwitched(found->second))
        set.push_back(found->second);
    if (set.empty())
      continue;
    if (set.size() == 1) {
      targets[set.front()].push_back(&of.effect);
      continue;
    }
    sets.push_back(std::move(set));
    targets.push_back({&of.effect});
  }

  std::vector<RunDistance> own(sets.size()), without(sets.size());
  double deviation = 0;
  if (failed(effects.measure(/*base=*/false, sets, own, deviation)))
    return failure();
  FailureOr<RunDistance> whole =
      effects.measure(/*base=*/true, sets, without, deviation);
  if (failed(whole))
    return failure();
  report.metric =
      effects.usedMetric() == execution::ResultMetric::KL ? "kl" : "mse";
  report.distance = whole->distance;
  report.deviation = deviation;
  report.effectSamples = effects.numSamples();
  for (size_t number = 0; number != sets.size(); ++number)
    for (std::optional<Effect> *target : targets[number])
      *target = Effect{own[number].distance, without[number].distance,
                       whole->distance - without[number].distance,
                       own[number].agreement};
  return success();
}

LogicalResult mct::report::measureEffects(ModuleOp quantized, ModuleOp floating,
                                          ModuleOp integer,
                                          execution::RunSettings settings,
                                          const EffectOptions &options,
                                          Report &report) {
  return Measurement(quantized, floating, integer, std::move(settings), options,
                     report)
      .run();
}
