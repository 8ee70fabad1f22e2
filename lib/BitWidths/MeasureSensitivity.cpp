// SPDX-License-Identifier: Apache-2.0
#include "CandidateRun.h"
#include "MeasureTogether.h"
#include "SelectionOptions.h"
#include "Sensitivities.h"
#include "ShardedOperators.h"
#include "mct/IR/EntryFunction.h"
#include "mct/Training/Gradients.h"

namespace mct {
#define GEN_PASS_DEF_MEASURESENSITIVITYPASS
#include "mct/BitWidths/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;
using namespace mct::bit_widths;

namespace {
struct MeasureSensitivityPass
    : public WithGradientModels<SelectingPass<EntryFunctionPass<
          mct::impl::MeasureSensitivityPassBase<MeasureSensitivityPass>>>> {
  using WithGradientModels::WithGradientModels;

  LogicalResult runOn(func::FuncOp entry) override {
    ComparedPoints points{comparePoints, distance, weighting};
    if (failed(checkCompared(points)))
      return failure();
    if (failed(checkMeasurable(entry)))
      return failure();
    std::vector<OperatorPoints> choices = findChoices(entry);
    if (choices.empty())
      return success();
    FailureOr<std::optional<Sensitivities>> present =
        Sensitivities::readFrom(entry, choices);
    if (failed(present))
      return failure();
    if (*present) {
      if (failed(checkPresent(entry, **present, points)))
        return failure();
      return success();
    }
    Sensitivities found;
    found.points = points;
    if (failed(isSharded() ? readShards(entry, choices, found)
                           : measure(entry, std::vector<bool>(), found)))
      return failure();
    found.writeTo(entry, choices);
    return success();
  }

private:
  /// Measures the operators selected by `measured`, or all if it is empty.
  LogicalResult measure(func::FuncOp entry, std::vector<bool> measured,
                        Sensitivities &found);
  /// Takes the measurements of the shards, each of some operators. If they are
  /// not complete, measures those of the current shard and fails.
  LogicalResult readShards(func::FuncOp entry, ArrayRef<OperatorPoints> choices,
                           Sensitivities &found);
  /// Returns the options that affect the sensitivities, in one line.
  std::string describeOptions() const;

  LogicalResult checkCompared(ComparedPoints points) {
    if (!(points.fraction >= 0 && points.fraction <= 1))
      return emitError(getOperation().getLoc())
             << "compare-points is " << points.fraction
             << ", which is not a fraction; give a number from 0 to 1";
    if (points.fraction != 0 ||
        (points.distance == SensitivityDistance::Auto &&
         points.weighting == SensitivityWeighting::Average))
      return success();
    points.fraction = 1;
    return emitError(getOperation().getLoc())
           << "distance and weighting are of points inside of the network, and "
              "compare-points=0 compares none; give, for example, "
           << points.describe() << " (mct-ptq: sensitivity-compare-points=1)";
  }
  /// Fails if the module has sensitivities that were measured with other
  /// options. Tables without a number of samples were written by a user and are
  /// accepted.
  LogicalResult checkPresent(func::FuncOp entry, const Sensitivities &present,
                             const ComparedPoints &points) {
    if (present.samples == 0)
      return success();
    if (metric != SensitivityMetric::Auto && metric != present.metric)
      return entry.emitOpError()
             << "has '" << tpc::TpcDialect::kSensitivitiesAttrName
             << "' of the metric " << stringifyMetric(present.metric)
             << ", and not " << stringifyMetric(metric)
             << "; remove it, and run mct-measure-sensitivity again";
    if (!(present.points == points))
      return entry.emitOpError()
             << "has '" << tpc::TpcDialect::kSensitivitiesAttrName
             << "' that was measured with " << present.points.describe()
             << ", and not with " << points.describe()
             << "; ask for the same, or remove it, and run "
                "mct-measure-sensitivity again";
    return success();
  }
};
} // namespace

LogicalResult MeasureSensitivityPass::measure(func::FuncOp entry,
                                              std::vector<bool> measured,
                                              Sensitivities &found) {
  FailureOr<execution::RunSettings> settings =
      parseRunSettings("measuring", batchSize, threads,
                       {int64_t(uint64_t(maxSamples)), /*halves=*/false});
  if (failed(settings))
    return failure();
  const auto &kernels = getAnalysis<KernelOps>();
  auto candidates = selectCandidates(
      entry, kernels, [&](ModuleOp copy) { return selectMissing(copy); });
  if (failed(candidates))
    return failure();
  CandidateRunOptions options{metric,       int64_t(uint64_t(maxSamples)),
                              roundMaxBits, comparePoints,
                              distance,     weighting};
  options.measured = std::move(measured);
  auto run =
      CandidateRun::create(entry, kernels, *candidates, *settings, options);
  if (failed(run))
    return failure();
  auto distances = (*run)->measureEach();
  if (failed(distances))
    return failure();
  found.metric = (*run)->usedMetric();
  found.samples = (*run)->numSamples();
  found.distances = std::move(*distances);
  return success();
}

//===----------------------------------------------------------------------===//
// Shards
//===----------------------------------------------------------------------===//

static constexpr StringLiteral kSensitivities = "sensitivities";

std::string MeasureSensitivityPass::describeOptions() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (unsigned number :
       {unsigned(metric.getValue()), unsigned(distance.getValue()),
        unsigned(weighting.getValue()), unsigned(roundMaxBits),
        unsigned(weightsErrorMethod.getValue()),
        unsigned(activationErrorMethod.getValue())})
    stream << ' ' << number;
  stream << ' ' << uint64_t(maxSamples);
  for (double number :
       {double(comparePoints), double(percentile), double(zThreshold),
        double(minThreshold), double(lpNorm), double(weightsErrorTolerance)})
    stream << ' ' << llvm::format("%a", number);
  return text;
}

/// Adds the measurements of one shard.
static llvm::Error readSensitivities(const llvm::json::Object &content,
                                     ArrayRef<MeasuredOperator> operators,
                                     Sensitivities &found) {
  auto metric = content.getString("metric");
  auto samples = content.getInteger("samples");
  const llvm::json::Object *of = content.getObject("of");
  if (!metric || !samples || !of)
    return llvm::createStringError("expected 'metric', 'samples' and 'of'");
  if (!of->empty()) {
    found.samples = *samples;
    found.metric = readMetric(*metric);
  }
  return readDistances(*of, operators, found.distances);
}

/// Returns the operators of a function that have several alternatives.
static std::vector<MeasuredOperator>
describeOperators(ArrayRef<OperatorPoints> choices) {
  std::vector<MeasuredOperator> operators;
  for (const OperatorPoints &choice : choices)
    operators.push_back({choice.name.str(), size_t(choice.numAlternatives())});
  return operators;
}

LogicalResult
MeasureSensitivityPass::readShards(func::FuncOp entry,
                                   ArrayRef<OperatorPoints> choices,
                                   Sensitivities &found) {
  FailureOr<execution::Shards> shards = openShards();
  if (failed(shards))
    return failure();
  std::string key = execution::nameContent(getOperation()) + " " +
                    entry.getSymName().str() + describeOptions();
  auto parts = shards->find(kSensitivities, key);
  if (failed(parts))
    return failure();
  std::vector<MeasuredOperator> operators = describeOperators(choices);
  if (!parts->empty()) {
    found.distances.resize(choices.size());
    for (const execution::ShardPart *part : *parts)
      if (failed(shards->read(*part, [&](const llvm::json::Object &content) {
            return readSensitivities(content, operators, found);
          })))
        return failure();
    for (auto [choice, distances] : llvm::zip_equal(choices, found.distances))
      if (distances.empty())
        return entry.emitOpError()
               << "has '" << choice.name.getValue()
               << "', which no file of shards-in has sensitivities of; let all "
                  "shards measure again";
    return success();
  }
  if (!shards->canMeasure())
    return shards->reportMissing(kSensitivities);
  std::vector<bool> own = selectForShard(operators, shards->getShard());
  if (failed(measure(entry, own, found)))
    return failure();
  shards->record(kSensitivities, key,
                 llvm::json::Object{
                     {"metric", stringifyMetric(found.metric)},
                     {"samples", found.samples},
                     {"of", writeDistances(operators, own, found.distances)}});
  return shards->stop(kSensitivities);
}
