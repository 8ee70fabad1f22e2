// SPDX-License-Identifier: Apache-2.0
#include "AccuracyContract.h"

#include "llvm/ADT/STLExtras.h"
#include <cmath>

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
  const Look &last = looks.back();
  return last.part == MetricDrop::Part::HeldOut && !last.holds ? &last
                                                               : nullptr;
}

/// Returns how much a metric drops, and the upper limit of the drop.
static std::string describeDrop(const LossLimit &drop,
                                execution::Metric::Unit unit) {
  std::string text = "by " + execution::describeDifference(drop.loss, unit) +
                     " on " + std::to_string(drop.samples) +
                     " held-out samples, ";
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
                     describeDrop(kept.drop, unit) + "; " +
                     stringifyResource(minimized).str() + ": " +
                     describeUse(minimized, kept.use);
  const Look *refused = getRefused();
  if (!refused)
    return text + ", and no assignment is cheaper";
  text += "; the next cheaper assignment, " +
          describeUse(minimized, refused->use) + ", drops " +
          describeDrop(refused->drop, unit);
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
                     describeDrop(refused.drop, unit) + "; ";
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
                               Resource minimized, Complete complete)
    : entry(entry), model(model), drop(drop), complete(std::move(complete)) {
  contract.metric = drop.getName().str();
  contract.unit = drop.getUnit();
  contract.maxDrop = maxDrop;
  contract.minimized = minimized;
}

int64_t ContractSearch::getLimit(size_t step) const {
  auto most = double(getResourceUse(present));
  if (contract.minimized != Resource::Cycles)
    return int64_t(most * std::exp2(-double(step) / double(kStepsToHalf)));
  auto least = double(model.getLeastCycles());
  return int64_t(most - (most - least) * double(step) / double(kSteps));
}

FailureOr<std::optional<ContractSearch::Alternatives>>
ContractSearch::solve(size_t step) {
  if (step == 0)
    return std::optional(present);
  auto [known, isNew] = solved.try_emplace(step);
  if (!isNew)
    return known->second;
  Budget budget;
  budget.limits[size_t(contract.minimized)] = getLimit(step);
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

/// There are more held-out samples than search samples, and a drop observed on
/// few samples is mostly chance. The drop therefore counts by the part of its
/// variance that is not chance, under the assumption that drops as large as the
/// limit are as likely as none.
bool ContractSearch::isExpected(const LossLimit &found) const {
  // One-sided 95 % quantile of the normal distribution.
  constexpr double kQuantile = 1.645;
  if (!found.atMost)
    return false;
  double error = (*found.atMost - found.loss) / kQuantile;
  double limit = contract.maxDrop,
         share = limit * limit / (limit * limit + error * error);
  double samples = double(drop.getNumSamples(Part::Search)) /
                   double(drop.getNumSamples(Part::HeldOut));
  return share * found.loss + kQuantile * error * std::sqrt(samples) <= limit;
}

FailureOr<bool> ContractSearch::look(const Alternatives &alternatives,
                                     Part part) {
  if (part == Part::Search)
    if (auto known = expected.find(alternatives); known != expected.end())
      return known->second;
  auto network = complete(alternatives);
  if (failed(network))
    return failure();
  FailureOr<LossLimit> found = drop.measure(**network, part);
  if (failed(found))
    return failure();
  bool holds = part == Part::Search
                   ? isExpected(*found)
                   : found->atMost && *found->atMost <= contract.maxDrop;
  contract.looks.push_back(
      {part, alternatives, getResourceUse(alternatives), *found, holds});
  if (part == Part::Search)
    expected[alternatives] = holds;
  return holds;
}

FailureOr<size_t> ContractSearch::bisect() {
  size_t holding = 0, failing = kSteps + 1;
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
/// and in increasing steps beyond it.
FailureOr<std::vector<ContractSearch::Alternatives>> ContractSearch::arrange() {
  FailureOr<size_t> edge = bisect();
  if (failed(edge))
    return failure();
  FailureOr<Alternatives> repaired = repair(*edge);
  if (failed(repaired))
    return failure();
  std::vector<Alternatives> sequence{present};
  auto add = [&](const Alternatives &alternatives) {
    if (getResourceUse(alternatives) < getResourceUse(sequence.back()))
      sequence.push_back(alternatives);
  };
  auto addSteps = [&](ArrayRef<size_t> steps) {
    for (size_t step : steps) {
      auto alternatives = solve(step);
      if (failed(alternatives))
        return failure();
      if (*alternatives)
        add(**alternatives);
    }
    return success();
  };
  if (failed(addSteps({*edge / 4, *edge / 2, *edge * 3 / 4,
                       *edge - std::min<size_t>(*edge, 1), *edge})))
    return failure();
  add(*repaired);
  for (size_t more = 1; *edge + more <= kSteps; more *= 2)
    if (failed(addSteps({*edge + more})))
      return failure();
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
