// SPDX-License-Identifier: Apache-2.0
#include "AccuracyContract.h"

#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace mct;
using namespace mct::bit_widths;
using execution::LossLimit;
using execution::MetricDrop;

/// The budgets of the search are 1, 2^(-1/16), 2^(-2/16), … times the present
/// use. Budgets of cycles, most of which may be the same in all alternatives,
/// are evenly spaced from the present number down to the smallest.
static constexpr size_t kSteps = 64, kStepsToHalf = 16;

/// Confidences of the tests if the assignment that the search found is tested
/// first. Each of the two sequences errs with the rest of its probability, 5 %
/// together.
static constexpr double kFirstConfidence = 0.955, kFallbackConfidence = 0.995;

//===----------------------------------------------------------------------===//
// The promise
//===----------------------------------------------------------------------===//

const AccuracyContract::Look *AccuracyContract::getKept() const {
  const Look *kept = nullptr;
  for (const Look &look : looks)
    if (look.part == MetricDrop::Part::HeldOut && look.holds)
      kept = &look;
  return kept;
}

const AccuracyContract::Look *AccuracyContract::getRefused() const {
  const Look *kept = getKept();
  if (!kept)
    return &looks.back();
  for (auto part : {MetricDrop::Part::HeldOut, MetricDrop::Part::Search}) {
    const Look *next = nullptr;
    for (const Look &look : looks) {
      bool isRefused =
          part == MetricDrop::Part::HeldOut ? !look.holds : look.isRefuted;
      if (look.part == part && isRefused && look.use < kept->use &&
          (!next || look.use > next->use))
        next = &look;
    }
    if (next)
      return next;
  }
  return nullptr;
}

/// Returns how much a metric drops, and the upper limit of the drop.
static std::string describeDrop(const AccuracyContract::Look &look,
                                execution::Metric::Unit unit) {
  const LossLimit &drop = look.drop;
  bool isHeldOut = look.part == MetricDrop::Part::HeldOut;
  std::string text = "by " + execution::describeDifference(drop.loss, unit) +
                     " on " + std::to_string(drop.samples) +
                     (isHeldOut ? " held-out samples, " : " search samples, ");
  if (!drop.atMost)
    return text + "which are too few for a limit";
  return text + "by at most " +
         execution::describeDifference(*drop.atMost, unit) +
         " with 95 % confidence";
}

/// Returns the total number of samples of which `heldOut` are held out.
static int64_t toAllSamples(int64_t heldOut) {
  return int64_t(std::ceil(double(heldOut) * 10 / 9));
}

std::string AccuracyContract::describe() const {
  const Look &kept = *getKept();
  std::string text = "'" + metric + "' drops by no more than " +
                     execution::describeDifference(maxDrop, unit) + ": " +
                     describeDrop(kept, unit) + "; " +
                     stringifyResource(minimized).str() + ": " +
                     describeUse(minimized, kept.use);
  const Look *refused = getRefused();
  if (!refused)
    return text + ", and no assignment is cheaper";
  text += "; the next cheaper assignment, " +
          describeUse(minimized, refused->use) + ", drops " +
          describeDrop(*refused, unit);
  if (refused->drop.samplesNeeded)
    text += "; about " +
            std::to_string(toAllSamples(*refused->drop.samplesNeeded)) +
            " samples would show it, were it no worse on those";
  return text;
}

Record AccuracyContract::toRecord() const {
  const Look &kept = *getKept();
  Record record(Decision::Applied, Reason::AssignedBits);
  record << describe();
  record.add(named("max_drop", maxDrop))
      .add(named("drop", kept.drop.loss))
      .add(named("drop_at_most", *kept.drop.atMost))
      .add(named("held_out_samples", kept.drop.samples));
  return record;
}

std::string AccuracyContract::describeRefusal() const {
  const Look &refused = *getRefused();
  std::string text = "cannot promise that '" + metric +
                     "' drops by no more than " +
                     execution::describeDifference(maxDrop, unit) +
                     ": with its present alternatives the network drops " +
                     describeDrop(refused, unit) + "; ";
  if (refused.drop.samplesNeeded)
    return text + "give about " +
           std::to_string(toAllSamples(*refused.drop.samplesNeeded)) +
           " samples as validation-data, or a larger max-drop";
  return text + "no number of samples is expected to show less; give a larger "
                "max-drop, or a target with more bits";
}

//===----------------------------------------------------------------------===//
// Search
//===----------------------------------------------------------------------===//

ContractSearch::ContractSearch(func::FuncOp entry, const BitWidthModel &model,
                               MetricDrop &drop, double maxDrop,
                               Resource minimized, Complete complete,
                               FindClosest findClosest)
    : entry(entry), model(model), drop(drop), complete(std::move(complete)),
      findClosest(std::move(findClosest)) {
  contract.metric = drop.getName().str();
  contract.unit = drop.getUnit();
  contract.maxDrop = maxDrop;
  contract.minimized = minimized;
}

/// Returns the budget of a step.
Budget ContractSearch::getBudget(size_t step) const {
  Budget budget;
  std::optional<int64_t> &limit = budget.limits[size_t(contract.minimized)];
  auto most = double(getResourceUse(present));
  if (contract.minimized != Resource::Cycles) {
    limit = int64_t(most * std::exp2(-double(step) / double(kStepsToHalf)));
    return budget;
  }
  auto least = double(model.getLeastCycles());
  limit = int64_t(most - (most - least) * double(step) / double(kSteps));
  return budget;
}

FailureOr<std::optional<ContractSearch::Alternatives>>
ContractSearch::solve(size_t step) {
  if (step == 0)
    return std::optional(present);
  auto [known, isNew] = solved.try_emplace(step);
  if (!isNew)
    return known->second;
  Budget budget = getBudget(step);
  auto result = quantization::allocate(model.createProblem(budget));
  if (!result)
    return entry.emitError() << llvm::toString(result.takeError());
  if (result->best.empty())
    return known->second;
  Alternatives found = model.toAlternatives(result->best.front().choices);
  // Check the use of the function itself, since the problem approximates it.
  if (budget.findExceeded(model.getUse(found)).empty())
    known->second = std::move(found);
  return known->second;
}

/// Predicts what the held-out samples show from a look on search samples. There
/// are more held-out samples than search samples, and a drop observed on few
/// samples is mostly chance. The drop therefore counts by the part of its
/// variance that is not chance, under the assumption that drops as large as the
/// allowed one are as likely as none.
ContractSearch::Prediction
ContractSearch::predict(const LossLimit &found) const {
  // One-sided 95 % quantile of the normal distribution.
  constexpr double kQuantile = 1.645;
  constexpr double kUnknown = std::numeric_limits<double>::infinity();
  if (!found.atMost)
    return {kUnknown, kUnknown};
  double error = (*found.atMost - found.loss) / kQuantile;
  double allowed = contract.maxDrop,
         share = allowed * allowed / (allowed * allowed + error * error);
  double samples = double(drop.getNumSamples(Part::Search)) /
                   double(drop.getNumSamples(Part::HeldOut));
  return {share * found.loss + kQuantile * error * std::sqrt(samples), error};
}

FailureOr<bool> ContractSearch::look(const Alternatives &alternatives,
                                     Part part, double confidence) {
  if (part == Part::Search)
    if (auto known = predictions.find(alternatives); known != predictions.end())
      return known->second.limit <= contract.maxDrop;
  Completed &own = completed[alternatives];
  if (!own.network) {
    auto made = complete(alternatives, own.constants);
    if (failed(made))
      return failure();
    own.network = std::move(*made);
  }
  FailureOr<LossLimit> found = drop.measure(*own.network, part, confidence);
  if (failed(found))
    return failure();
  bool holds = found->atMost && *found->atMost <= contract.maxDrop;
  // The lower limit is as far from the drop as the upper one.
  bool isRefuted =
      found->atMost && 2 * found->loss - *found->atMost > contract.maxDrop;
  if (part == Part::Search) {
    Prediction prediction = predict(*found);
    holds = prediction.limit <= contract.maxDrop;
    prediction.isRefuted = isRefuted;
    predictions[alternatives] = prediction;
  }
  contract.looks.push_back({part, alternatives, getResourceUse(alternatives),
                            *found, holds, isRefuted});
  if (part == Part::HeldOut || !holds)
    completed.erase(alternatives);
  return holds;
}

bool ContractSearch::isLikely(const Alternatives &alternatives) const {
  constexpr double kLikely = 0.75;
  constexpr int64_t kManySamples = 10000;
  auto known = predictions.find(alternatives);
  return drop.getNumSamples(Part::HeldOut) >= kManySamples &&
         known != predictions.end() &&
         known->second.limit <= kLikely * contract.maxDrop &&
         known->second.error <= contract.maxDrop;
}

FailureOr<size_t> ContractSearch::bisect() {
  // Finding out which budgets can be kept to takes no run of a network.
  size_t end = kSteps + 1;
  while (end - cheapest > 1) {
    size_t middle = (cheapest + end) / 2;
    auto alternatives = solve(middle);
    if (failed(alternatives))
      return failure();
    (*alternatives ? cheapest : end) = middle;
  }
  size_t holding = 0, failing = end;
  while (failing - holding > 1) {
    size_t middle = (holding + failing) / 2;
    auto alternatives = solve(middle);
    if (failed(alternatives))
      return failure();
    FailureOr<bool> holds = false;
    if (*alternatives)
      holds = look(**alternatives, Part::Search);
    if (failed(holds))
      return failure();
    (*holds ? holding : failing) = middle;
  }
  return holding;
}

LogicalResult ContractSearch::refine(size_t step) {
  if (step == 0)
    return success();
  std::optional<Alternatives> &own = solved[step];
  FailureOr<Alternatives> closest = findClosest(getBudget(step), *own);
  if (failed(closest))
    return failure();
  FailureOr<bool> holds = look(*closest, Part::Search);
  if (failed(holds))
    return failure();
  if (*holds)
    own = std::move(*closest);
  return success();
}

FailureOr<ContractSearch::Alternatives> ContractSearch::repair(size_t step) {
  constexpr unsigned kMostTrials = 3;
  auto own = solve(step), next = solve(step + 1);
  if (failed(own) || failed(next))
    return failure();
  Alternatives best = **own;
  if (!*next)
    return best;
  // Operators in descending order of their savings.
  std::vector<std::pair<int64_t, size_t>> changes;
  for (size_t group = 0; group != best.size(); ++group) {
    Alternatives changed = best;
    changed[group] = (**next)[group];
    if (int64_t saved = getResourceUse(best) - getResourceUse(changed);
        saved > 0)
      changes.emplace_back(-saved, group);
  }
  llvm::sort(changes);
  for (auto [saved, group] : llvm::ArrayRef(changes).take_front(kMostTrials)) {
    Alternatives changed = best;
    changed[group] = (**next)[group];
    FailureOr<bool> holds = look(changed, Part::Search);
    if (failed(holds))
      return failure();
    if (*holds)
      best = std::move(changed);
  }
  return best;
}

FailureOr<std::vector<ContractSearch::Sequence>> ContractSearch::arrange() {
  FailureOr<size_t> edge = bisect();
  if (failed(edge) || failed(refine(*edge)))
    return failure();
  FailureOr<Alternatives> repaired = repair(*edge);
  if (failed(repaired))
    return failure();
  // The last step before it whose assignment uses more, since neighbouring
  // budgets may have the same one.
  size_t before = *edge;
  while (before != 0) {
    auto alternatives = solve(--before);
    if (failed(alternatives))
      return failure();
    if (*alternatives &&
        getResourceUse(**alternatives) > getResourceUse(*solved[*edge]))
      break;
  }
  auto add = [&](Sequence &to, const Alternatives &alternatives) {
    if (getResourceUse(alternatives) < getResourceUse(to.assignments.back()))
      to.assignments.push_back(alternatives);
  };
  Sequence first{{present}};
  std::vector<size_t> steps = {*edge / 4, *edge / 2, *edge * 3 / 4, before,
                               *edge};
  llvm::sort(steps);
  for (size_t step : steps) {
    auto alternatives = solve(step);
    if (failed(alternatives))
      return failure();
    if (*alternatives)
      add(first, **alternatives);
  }
  Sequence fallback;
  if (isLikely(*repaired)) {
    fallback = {std::move(first.assignments), kFallbackConfidence};
    first = {{*repaired}, kFirstConfidence};
    // It is not tested again after it has failed.
    llvm::erase(fallback.assignments, *repaired);
  } else {
    add(first, *repaired);
  }
  for (size_t step = *edge, more = 1; step < cheapest; more *= 2) {
    step = std::min(*edge + more, cheapest);
    auto alternatives = solve(step);
    if (failed(alternatives))
      return failure();
    if (!*alternatives || getResourceUse(**alternatives) >=
                              getResourceUse(first.assignments.back()))
      continue;
    auto known = predictions.find(**alternatives);
    if (known != predictions.end() && known->second.isRefuted)
      break;
    add(first, **alternatives);
  }
  return std::vector{std::move(first), std::move(fallback)};
}

FailureOr<AccuracyContract> ContractSearch::run(Alternatives first) {
  present = std::move(first);
  auto sequences = arrange();
  if (failed(sequences))
    return failure();
  for (const Sequence &sequence : *sequences) {
    for (const Alternatives &alternatives : sequence.assignments) {
      FailureOr<bool> holds =
          look(alternatives, Part::HeldOut, sequence.confidence);
      if (failed(holds))
        return failure();
      if (!*holds)
        break;
    }
    if (contract.getKept())
      break;
  }
  return contract;
}
