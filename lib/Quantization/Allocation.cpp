// SPDX-License-Identifier: Apache-2.0
#include "mct/Quantization/Allocation.h"

#include "IntegerProgram.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <set>
#include <tuple>

namespace mct::quantization {

int64_t
AllocatedResource::computeAmount(llvm::ArrayRef<unsigned> choices) const {
  int64_t amount = fixed;
  for (auto [group, ofChoices] : llvm::enumerate(amounts))
    if (!ofChoices.empty())
      amount += ofChoices[choices[group]];
  for (const Pair &pair : pairs)
    amount += pair.amounts[choices[pair.first] * pair.numSecond +
                           choices[pair.second]];
  return amount;
}

double AllocationProblem::computeCost(llvm::ArrayRef<unsigned> choices) const {
  double cost = 0;
  for (auto [ofGroup, choice] : llvm::zip(costs, choices))
    cost += ofGroup[choice];
  return cost;
}

//===----------------------------------------------------------------------===//
// Dynamic programming
//===----------------------------------------------------------------------===//

namespace {
/// Sums over the choices of the first groups.
struct State {
  int64_t amount = 0;
  double cost = 0;
  /// Index of the state of the previous groups, and the choice of the last one.
  uint32_t before = 0;
  unsigned choice = 0;
};

/// Returns, for each number of groups from 0 on, the table of the states that
/// may become one of the `count` best: those for which fewer than `count`
/// others are at least as good in cost and amount. Sums of floating-point
/// numbers do not fall when a term rises, so that a worse state stays worse.
/// Amounts are at most `limit`, where `least` is the least amount of the
/// remaining groups.
class Table {
public:
  static std::optional<Table> compute(const AllocationProblem &problem,
                                      const AllocatedResource &resource,
                                      std::optional<int64_t> limit,
                                      size_t count, size_t maxStates);

  /// Returns the states of all groups, in ascending order of amount and then
  /// cost.
  llvm::ArrayRef<State> last() const { return layers.back(); }
  Allocation getAllocation(const State &state) const {
    Allocation allocation;
    allocation.cost = state.cost;
    allocation.choices.resize(layers.size() - 1);
    const State *at = &state;
    for (size_t group = layers.size() - 1; group != 0; --group) {
      allocation.choices[group - 1] = at->choice;
      at = &layers[group - 1][at->before];
    }
    return allocation;
  }

private:
  std::vector<std::vector<State>> layers;
};
} // namespace

/// Returns the amount of a choice; a group without amounts uses nothing.
static int64_t getAmount(const AllocatedResource &resource, size_t group,
                         unsigned choice) {
  return resource.amounts.empty() || resource.amounts[group].empty()
             ? 0
             : resource.amounts[group][choice];
}

std::optional<Table> Table::compute(const AllocationProblem &problem,
                                    const AllocatedResource &resource,
                                    std::optional<int64_t> limit, size_t count,
                                    size_t maxStates) {
  size_t groups = problem.costs.size();
  std::vector<int64_t> least(groups + 1, 0);
  for (size_t group = groups; group-- != 0;) {
    int64_t smallest = std::numeric_limits<int64_t>::max();
    for (unsigned choice = 0; choice != problem.costs[group].size(); ++choice)
      smallest = std::min(smallest, getAmount(resource, group, choice));
    least[group] = least[group + 1] + smallest;
  }
  Table table;
  table.layers.push_back({State{resource.fixed, 0, 0, 0}});
  for (size_t group = 0; group != groups; ++group) {
    std::vector<State> states;
    for (auto [number, before] : llvm::enumerate(table.layers.back()))
      for (auto [choice, cost] : llvm::enumerate(problem.costs[group])) {
        int64_t amount =
            before.amount + getAmount(resource, group, unsigned(choice));
        if (!limit || amount + least[group + 1] <= *limit)
          states.push_back(
              {amount, before.cost + cost, uint32_t(number), unsigned(choice)});
      }
    // Equal ones with the lower choices come first.
    llvm::sort(states, [](const State &lhs, const State &rhs) {
      return std::tie(lhs.amount, lhs.cost, lhs.before, lhs.choice) <
             std::tie(rhs.amount, rhs.cost, rhs.before, rhs.choice);
    });
    std::vector<State> kept;
    std::multiset<double> cheapest;
    for (const State &state : states) {
      if (cheapest.size() == count) {
        if (*cheapest.rbegin() <= state.cost)
          continue;
        cheapest.erase(std::prev(cheapest.end()));
      }
      cheapest.insert(state.cost);
      kept.push_back(state);
    }
    if (kept.size() > maxStates)
      return std::nullopt;
    table.layers.push_back(std::move(kept));
  }
  return table;
}

std::optional<std::vector<FrontPoint>>
computeAllocationFront(const AllocationProblem &problem, size_t maxStates) {
  assert(problem.resources.size() == 1 &&
         problem.resources.front().pairs.empty() && "not separable");
  std::optional<Table> table =
      Table::compute(problem, problem.resources.front(), std::nullopt,
                     /*count=*/1, maxStates);
  if (!table)
    return std::nullopt;
  std::vector<FrontPoint> front;
  for (const State &state : table->last())
    front.push_back({state.amount, table->getAllocation(state)});
  return front;
}

static AllocationResult allocateWith(const Table &table, size_t count) {
  // Choices that cost the same stay in the order of their amounts.
  std::vector<std::pair<double, size_t>> byCost;
  for (auto [number, state] : llvm::enumerate(table.last()))
    byCost.push_back({state.cost, number});
  llvm::sort(byCost);
  if (byCost.size() > count)
    byCost.resize(count);
  AllocationResult result;
  for (auto [cost, number] : byCost)
    result.best.push_back(table.getAllocation(table.last()[number]));
  return result;
}

//===----------------------------------------------------------------------===//
// Integer programs
//===----------------------------------------------------------------------===//

namespace {
/// The problem as an integer program, in variables that are 1 for the selected
/// choices.
class ProgramOfChoices {
public:
  explicit ProgramOfChoices(const AllocationProblem &problem);

  /// Returns the cheapest allocation other than `without` whose resources keep
  /// to `limits`, or with `excess` the one that exceeds them by the least
  /// ratio.
  llvm::Expected<std::optional<Allocation>>
  solve(llvm::ArrayRef<std::optional<int64_t>> limits, bool excess,
        llvm::ArrayRef<Allocation> without) const;

private:
  size_t getVariable(size_t group, unsigned choice) const {
    return firstVariable[group] + choice;
  }
  void addPair(IntegerProgram &program, const AllocatedResource::Pair &pair,
               IntegerProgram::Terms &terms) const;

  const AllocationProblem &problem;
  std::vector<size_t> firstVariable;
};
} // namespace

ProgramOfChoices::ProgramOfChoices(const AllocationProblem &problem)
    : problem(problem) {
  size_t number = 0;
  for (llvm::ArrayRef<double> costs : problem.costs) {
    firstVariable.push_back(number);
    number += costs.size();
  }
}

/// Adds a variable for each two choices; their sums equal those of either
/// group: for integral choices they are products, so that the program stays
/// exact.
void ProgramOfChoices::addPair(IntegerProgram &program,
                               const AllocatedResource::Pair &pair,
                               IntegerProgram::Terms &terms) const {
  size_t numFirst = problem.costs[pair.first].size(),
         numSecond = pair.numSecond;
  std::vector<IntegerProgram::Terms> ofFirst(numFirst), ofSecond(numSecond);
  for (size_t first = 0; first != numFirst; ++first)
    for (size_t second = 0; second != numSecond; ++second) {
      size_t product = program.addVariable(0, /*isBinary=*/false);
      ofFirst[first].push_back({product, 1});
      ofSecond[second].push_back({product, 1});
      terms.push_back(
          {product, double(pair.amounts[first * numSecond + second])});
    }
  for (auto [choice, sum] : llvm::enumerate(ofFirst)) {
    sum.push_back({getVariable(pair.first, unsigned(choice)), -1});
    program.addRow(std::move(sum), 0, 0);
  }
  for (auto [choice, sum] : llvm::enumerate(ofSecond)) {
    sum.push_back({getVariable(pair.second, unsigned(choice)), -1});
    program.addRow(std::move(sum), 0, 0);
  }
}

llvm::Expected<std::optional<Allocation>>
ProgramOfChoices::solve(llvm::ArrayRef<std::optional<int64_t>> limits,
                        bool excess, llvm::ArrayRef<Allocation> without) const {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  IntegerProgram program;
  for (llvm::ArrayRef<double> costs : problem.costs) {
    // Leave out the costs that all choices of a group have in common.
    double least = *llvm::min_element(costs);
    for (double cost : costs)
      program.addVariable(excess ? 0 : cost - least, /*isBinary=*/true);
  }
  for (auto [group, costs] : llvm::enumerate(problem.costs)) {
    IntegerProgram::Terms one;
    for (unsigned choice = 0; choice != costs.size(); ++choice)
      one.push_back({getVariable(group, choice), 1});
    program.addRow(std::move(one), 1, 1);
  }
  std::optional<size_t> ratio;
  if (excess)
    ratio = program.addVariable(1, /*isBinary=*/false);
  for (auto [resource, limit] : llvm::zip(problem.resources, limits)) {
    if (!limit)
      continue;
    IntegerProgram::Terms terms;
    for (auto [group, amounts] : llvm::enumerate(resource.amounts))
      for (auto [choice, amount] : llvm::enumerate(amounts))
        if (amount != 0)
          terms.push_back(
              {getVariable(group, unsigned(choice)), double(amount)});
    for (const AllocatedResource::Pair &pair : resource.pairs)
      addPair(program, pair, terms);
    if (ratio)
      terms.push_back({*ratio, -double(std::max<int64_t>(*limit, 1))});
    program.addRow(std::move(terms), -kInfinity,
                   double(*limit - resource.fixed));
  }
  for (const Allocation &taken : without) {
    IntegerProgram::Terms same;
    for (auto [group, choice] : llvm::enumerate(taken.choices))
      same.push_back({getVariable(group, choice), 1});
    program.addRow(std::move(same), -kInfinity,
                   double(taken.choices.size()) - 1);
  }
  llvm::Expected<std::optional<std::vector<double>>> solution = program.solve();
  if (!solution)
    return solution.takeError();
  if (!*solution)
    return std::nullopt;
  Allocation allocation;
  for (auto [group, costs] : llvm::enumerate(problem.costs)) {
    unsigned chosen = 0;
    for (unsigned choice = 1; choice != costs.size(); ++choice)
      if ((**solution)[getVariable(group, choice)] >
          (**solution)[getVariable(group, chosen)])
        chosen = choice;
    allocation.choices.push_back(chosen);
  }
  allocation.cost = problem.computeCost(allocation.choices);
  return allocation;
}

static bool keepsTo(const AllocationProblem &problem,
                    llvm::ArrayRef<std::optional<int64_t>> limits,
                    llvm::ArrayRef<unsigned> choices) {
  return llvm::all_of(
      llvm::zip(problem.resources, limits), [&](const auto &each) {
        const auto &[resource, limit] = each;
        return !limit || resource.computeAmount(choices) <= *limit;
      });
}

/// Solves a program exactly: solutions that exceed a limit slightly because of
/// CBC's tolerance are excluded, and the program is solved again.
static llvm::Expected<std::optional<Allocation>>
solveExactly(const ProgramOfChoices &program, const AllocationProblem &problem,
             llvm::ArrayRef<std::optional<int64_t>> limits,
             std::vector<Allocation> &without) {
  constexpr size_t kMaxTries = 1000;
  for (size_t tries = 0; tries != kMaxTries; ++tries) {
    llvm::Expected<std::optional<Allocation>> found =
        program.solve(limits, /*excess=*/false, without);
    if (!found || !*found)
      return found;
    without.push_back(**found);
    if (keepsTo(problem, limits, (*found)->choices))
      return found;
  }
  return llvm::createStringError("CBC finds nothing that keeps to the limits "
                                 "exactly");
}

static llvm::Expected<AllocationResult>
allocateByProgram(const AllocationProblem &problem, size_t count) {
  ProgramOfChoices program(problem);
  std::vector<std::optional<int64_t>> limits;
  for (const AllocatedResource &resource : problem.resources)
    limits.push_back(resource.limit);
  AllocationResult result;
  std::vector<Allocation> without;
  while (result.best.size() != count) {
    llvm::Expected<std::optional<Allocation>> found =
        solveExactly(program, problem, limits, without);
    if (!found)
      return found.takeError();
    if (!*found)
      break;
    result.best.push_back(std::move(**found));
  }
  llvm::sort(result.best, [](const Allocation &lhs, const Allocation &rhs) {
    return std::tie(lhs.cost, lhs.choices) < std::tie(rhs.cost, rhs.choices);
  });
  if (!result.best.empty())
    return result;

  llvm::Expected<std::optional<Allocation>> least =
      program.solve(limits, /*excess=*/true, {});
  if (!least)
    return least.takeError();
  assert(*least && "something exceeds the limits least");
  // Find the cheapest choice among those that exceed the limits by as little.
  std::vector<std::optional<int64_t>> relaxed = limits;
  for (auto [limit, resource] : llvm::zip(relaxed, problem.resources))
    if (limit)
      limit = std::max(*limit, resource.computeAmount((*least)->choices));
  std::vector<Allocation> rejected;
  llvm::Expected<std::optional<Allocation>> closest =
      solveExactly(program, problem, relaxed, rejected);
  if (!closest)
    return closest.takeError();
  result.closest = *closest ? std::move(**closest) : std::move(**least);
  return result;
}

llvm::Expected<AllocationResult> allocate(const AllocationProblem &problem,
                                          size_t count, size_t maxStates) {
  llvm::SmallVector<const AllocatedResource *> limited;
  for (const AllocatedResource &resource : problem.resources)
    if (resource.limit)
      limited.push_back(&resource);
  AllocatedResource unlimited;
  if (limited.empty())
    limited.push_back(&unlimited);

  std::optional<AllocationResult> result;
  if (limited.size() == 1 && limited.front()->pairs.empty()) {
    const AllocatedResource &resource = *limited.front();
    if (std::optional<Table> table =
            Table::compute(problem, resource, resource.limit, count, maxStates))
      result = allocateWith(*table, count);
    if (result && result->best.empty()) {
      // Choose the least amount, and the cheapest choice of those that have it.
      result->closest.choices.clear();
      for (auto [group, costs] : llvm::enumerate(problem.costs)) {
        unsigned least = 0;
        auto rank = [&, group = group, &costs = costs](unsigned choice) {
          return std::pair(getAmount(resource, group, choice), costs[choice]);
        };
        for (unsigned choice = 1; choice != costs.size(); ++choice)
          if (rank(choice) < rank(least))
            least = choice;
        result->closest.choices.push_back(least);
      }
      result->closest.cost = problem.computeCost(result->closest.choices);
    }
  }
  if (!result) {
    llvm::Expected<AllocationResult> solved = allocateByProgram(problem, count);
    if (!solved)
      return solved.takeError();
    result = std::move(*solved);
  }
  if (result->best.empty())
    for (auto [number, resource] : llvm::enumerate(problem.resources))
      if (resource.limit &&
          resource.computeAmount(result->closest.choices) > *resource.limit)
        result->exceeded.push_back(number);
  return std::move(*result);
}

} // namespace mct::quantization
