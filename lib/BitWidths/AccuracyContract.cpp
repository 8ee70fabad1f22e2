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
  if (!kept || !looks.back().holds)
    return &looks.back();
  const Look *next = nullptr;
  for (const Look &look : looks)
    if (look.isRefuted && look.use < kept->use &&
        (!next || look.use > next->use))
      next = &look;
  return next;
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
    return {kUnknown, kUnknown, false};
  double error = (*found.atMost - found.loss) / kQuantile;
  double allowed = contract.maxDrop,
         share = allowed * allowed / (allowed * allowed + error * error);
  double samples = double(drop.getNumSamples(Part::Search)) /
                   double(drop.getNumSamples(Part::HeldOut));
  // The lower limit is as far from the drop as the upper one.
  return {share * found.loss + kQuantile * error * std::sqrt(samples), error,
          found.loss - kQuantile * error > allowed};
}

FailureOr<bool> ContractSearch::look(const Alternatives &alternatives,
                                     Part part) {
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
  FailureOr<LossLimit> found = drop.measure(*own.network, part);
  if (failed(found))
    return failure();
  Prediction prediction = predict(*found);
  bool holds = part == Part::Search
                   ? prediction.limit <= contract.maxDrop
                   : found->atMost && *found->atMost <= contract.maxDrop;
  contract.looks.push_back({part, alternatives, getResourceUse(alternatives),
                            *found, holds, prediction.isRefuted});
  if (part == Part::Search)
    predictions[alternatives] = prediction;
  if (part == Part::HeldOut || !holds)
    completed.erase(alternatives);
  return holds;
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

/// Returns the sequence of assignments to test, each cheaper than the one
/// before: in decreasing steps towards the one that the search expects to hold,
/// and in increasing steps beyond it, up to one that the search refutes.
FailureOr<std::vector<ContractSearch::Alternatives>> ContractSearch::arrange() {
  // With a predicted limit below this share of the allowed drop, and a standard
  // error below that drop, the test is likely to succeed, so there are fewer
  // assignments to fall back to if tests take long.
  constexpr double kLikely = 0.75;
  constexpr int64_t kManySamples = 10000;
  FailureOr<size_t> edge = bisect();
  if (failed(edge) || failed(refine(*edge)))
    return failure();
  FailureOr<Alternatives> repaired = repair(*edge);
  if (failed(repaired))
    return failure();
  std::vector<Alternatives> sequence{present};
  auto add = [&](const Alternatives &alternatives) {
    if (getResourceUse(alternatives) < getResourceUse(sequence.back()))
      sequence.push_back(alternatives);
  };
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
  std::vector<size_t> steps = {before, *edge};
  auto prediction = predictions.find(*repaired);
  if (drop.getNumSamples(Part::HeldOut) < kManySamples ||
      prediction == predictions.end() ||
      prediction->second.limit > kLikely * contract.maxDrop ||
      prediction->second.error > contract.maxDrop)
    steps.insert(steps.end(), {*edge / 4, *edge / 2, *edge * 3 / 4});
  llvm::sort(steps);
  for (size_t step : steps) {
    auto alternatives = solve(step);
    if (failed(alternatives))
      return failure();
    if (*alternatives)
      add(**alternatives);
  }
  add(*repaired);
  for (size_t step = *edge, more = 1; step < cheapest; more *= 2) {
    step = std::min(*edge + more, cheapest);
    auto alternatives = solve(step);
    if (failed(alternatives))
      return failure();
    if (!*alternatives ||
        getResourceUse(**alternatives) >= getResourceUse(sequence.back()))
      continue;
    auto known = predictions.find(**alternatives);
    if (known != predictions.end() && known->second.isRefuted)
      break;
    add(**alternatives);
  }
  return sequence;
}

FailureOr<AccuracyContract> ContractSearch::run(Alternatives first) {
  present = std::move(first);
  auto sequence = arrange();
  if (failed(sequence))
    return failure();
  for (const Alternatives &alternatives : *sequence) {
    FailureOr<bool> holds = look(alternatives, Part::HeldOut);
    if (failed(holds))
      return failure();
    if (!*holds)
      break;
  }
  return contract;
}
