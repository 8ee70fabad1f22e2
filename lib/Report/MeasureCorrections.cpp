// SPDX-License-Identifier: Apache-2.0
#include "MeasureCorrections.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace mlir;
using namespace mct;
using namespace mct::report;
using execution::ResultDistance;

// Half a dB: neither a user nor a test can notice a smaller loss.
static constexpr double kWorseBy = 1.122;

std::string mct::report::namePart(const ResultDistance::Part &part,
                                  const Report &report) {
  for (const Result &result : report.results) {
    if (result.number != int64_t(part.output))
      continue;
    if (part.group && *part.group < result.groups.size())
      return result.groups[*part.group].name + " in " + result.name;
    return result.name;
  }
  return std::to_string(part.output);
}

namespace {
/// Corrections that are switched off together.
struct Together {
  CorrectionEffect effect;
  Switches switches;
};
} // namespace

static std::vector<Together> listTogether(const EffectRun &run) {
  std::vector<Together> all;
  llvm::MapVector<size_t, Together> layers;
  llvm::MapVector<StringRef, Together> kinds;
  for (auto [number, correction] : llvm::enumerate(run.corrections())) {
    const std::string &point = run.points()[correction.point];
    Together &layer = layers[correction.point];
    layer.effect.layers = {point};
    layer.switches.corrections.push_back(number);
    for (const std::string &applied : correction.applied) {
      std::string &words = layer.effect.correction;
      if (!StringRef(words).contains(applied))
        words += (words.empty() ? "" : ", ") + applied;
      Together &kind = kinds[applied];
      kind.effect.correction = applied;
      kind.effect.isWhole = true;
      if (!llvm::is_contained(kind.effect.layers, point))
        kind.effect.layers.push_back(point);
    }
  }
  for (auto &[applied, kind] : kinds) {
    kind.switches.corrections = findCorrections(run, kind.effect);
    all.push_back(std::move(kind));
  }
  for (auto &[point, layer] : layers)
    all.push_back(std::move(layer));
  return all;
}

SmallVector<size_t>
mct::report::findCorrections(const EffectRun &run,
                             const CorrectionEffect &found) {
  SmallVector<size_t> numbers;
  for (auto [number, correction] : llvm::enumerate(run.corrections())) {
    if (!llvm::is_contained(found.layers, run.points()[correction.point]))
      continue;
    // The bias of a layer was measured together with its rounded weights.
    bool isMeant = !found.isWhole || found.correction == tpc::kRoundedWeights ||
                   llvm::is_contained(correction.applied, found.correction);
    if (isMeant)
      numbers.push_back(number);
  }
  return numbers;
}

/// Returns whether the loss is larger than chance explains.
static bool isLoss(const ResultDistance::Gain &gain, double with,
                   double without) {
  return gain.mean > kStandardErrors * gain.standardError &&
         with > kWorseBy * without;
}

static void describeEffect(const EffectRun &run, const RunDistance &with,
                           const RunDistance &without, const Report &report,
                           CorrectionEffect &effect) {
  const ResultDistance &results = run.results();
  ResultDistance::Gain whole =
      results.compareRuns(with.samples, without.samples);
  effect.without = without.distance;
  effect.loss = whole.mean;
  effect.standardError = whole.standardError;
  effect.isHarmful = isLoss(whole, with.distance, without.distance);
  double worst = 0;
  for (auto [number, part] : llvm::enumerate(results.getParts())) {
    double before = with.parts[number], after = without.parts[number];
    bool isLost =
        isLoss(results.compareRuns(with.samples, without.samples, number),
               before, after);
    effect.isHarmful |= isLost;
    double ratio = after > 0 ? before / after : before > 0 ? HUGE_VAL : 1;
    if (!(ratio > worst))
      continue;
    worst = ratio;
    effect.worst = namePart(part, report);
    effect.worstWith = before;
    effect.worstWithout = after;
  }
}

LogicalResult mct::report::measureCorrections(EffectRun &run, Report &report) {
  std::vector<Together> all = listTogether(run);
  if (all.empty())
    return success();
  std::vector<Switches> switches;
  for (const Together &each : all)
    switches.push_back(each.switches);
  std::vector<RunDistance> found(all.size());
  FailureOr<RunDistance> whole =
      run.measure({}, switches, found, /*keepsSamples=*/true);
  if (failed(whole))
    return failure();
  for (auto [each, without] : llvm::zip_equal(all, found)) {
    describeEffect(run, *whole, without, report, each.effect);
    report.corrections.push_back(std::move(each.effect));
  }
  return success();
}
