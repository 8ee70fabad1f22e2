// SPDX-License-Identifier: Apache-2.0
//
// Chooses for each operator one of its choices so that the sum of their costs
// is least and limits on sums of integers hold: the multiple-choice knapsack.
#ifndef MCT_QUANTIZATION_ALLOCATION_H
#define MCT_QUANTIZATION_ALLOCATION_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mct::quantization {

/// A resource of which every choice uses an amount, in a unit of its own (bits,
/// for example), possibly up to a limit.
struct AllocatedResource {
  /// Amounts that depend on the choices of two different groups together.
  /// `amounts[c1 * numSecond + c2]` is the amount of choice `c1` of the first
  /// and choice `c2` of the second group, which has `numSecond` choices.
  struct Pair {
    size_t first = 0, second = 0, numSecond = 0;
    std::vector<int64_t> amounts;
  };

  std::string name;
  /// Amount that is used whatever is chosen.
  int64_t fixed = 0;
  /// Amount of each choice of each group, not negative; 0 if empty.
  std::vector<std::vector<int64_t>> amounts;
  std::vector<Pair> pairs;
  std::optional<int64_t> limit;

  int64_t computeAmount(llvm::ArrayRef<unsigned> choices) const;
};

struct AllocationProblem {
  /// Cost of each choice of each group. Each group has at least one choice; all
  /// costs are finite.
  std::vector<std::vector<double>> costs;
  std::vector<AllocatedResource> resources;

  /// Returns the sum of the costs of `choices`, added in the order of the
  /// groups.
  double computeCost(llvm::ArrayRef<unsigned> choices) const;
};

/// One choice for each group.
struct Allocation {
  std::vector<unsigned> choices;
  double cost = 0;
};

/// A point of a Pareto front: no allocation of at most this amount costs less.
struct FrontPoint {
  int64_t amount = 0;
  Allocation allocation;
};

struct AllocationResult {
  /// The cheapest allocations within all limits, in ascending order of cost: as
  /// many as were requested, or all if there are fewer. Empty if no allocation
  /// is within all limits.
  std::vector<Allocation> best;
  /// Set if `best` is empty: the allocation that exceeds the limits least, by
  /// the largest ratio of an amount to its limit (the cheapest of several
  /// such), and the resources that it exceeds.
  Allocation closest;
  llvm::SmallVector<size_t> exceeded;
};

/// Returns all points of the Pareto front of cost and amount of the only
/// resource, in ascending order of amount; limits are ignored. The costs are
/// sums in the order of the groups, and exact optima of those. Returns none if
/// there are more than `maxStates` partial sums at once. The resource must not
/// have pairs.
std::optional<std::vector<FrontPoint>>
computeAllocationFront(const AllocationProblem &problem,
                       size_t maxStates = size_t(1) << 20);

/// Returns the `count` cheapest allocations that keep to the limits. Of equally
/// cheap ones, the one that uses less of the resource comes first, then the one
/// with the lower choices. One resource without pairs is solved by dynamic
/// programming: exact, as above. Otherwise, or if that needed more than
/// `maxStates` partial sums, the problem is solved as integer programs by
/// COIN-OR CBC: limits hold exactly, costs are least up to 1e-9 of the largest.
/// Fails if CBC does.
llvm::Expected<AllocationResult> allocate(const AllocationProblem &problem,
                                          size_t count = 1,
                                          size_t maxStates = size_t(1) << 20);

} // namespace mct::quantization

#endif // MCT_QUANTIZATION_ALLOCATION_H
