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

/// Something that every choice uses an amount of, in a unit of its own (bits,
/// for example), and of which there may be no more than a limit.
struct AllocatedResource {
  /// A cost that depends on the choices of two different groups together, of
  /// which the second has `numSecond`: `amounts[c1 * numSecond + c2]`.
  struct Pair {
    size_t first = 0, second = 0, numSecond = 0;
    std::vector<int64_t> amounts;
  };

  std::string name;
  /// Used whatever is chosen.
  int64_t fixed = 0;
  /// One amount for each choice, not negative, of each group; empty: 0.
  std::vector<std::vector<int64_t>> amounts;
  std::vector<Pair> pairs;
  std::optional<int64_t> limit;

  int64_t amountOf(llvm::ArrayRef<unsigned> choices) const;
};

struct AllocationProblem {
  /// One cost for each choice of each group; at least one, all finite.
  std::vector<std::vector<double>> costs;
  std::vector<AllocatedResource> resources;

  /// Returns the costs of the choices, added in the order of the groups.
  double costOf(llvm::ArrayRef<unsigned> choices) const;
};

/// One choice for each group.
struct Allocation {
  std::vector<unsigned> choices;
  double cost = 0;
};

/// A point of a Pareto front: nothing costs less with that amount.
struct FrontPoint {
  int64_t amount = 0;
  Allocation allocation;
};

struct AllocationResult {
  /// Allocations within all limits, the cheapest first, as many as were asked
  /// for or as there are; empty: nothing does.
  std::vector<Allocation> best;
  /// Set if there is none: what exceeds the limits least, by the largest ratio
  /// of an amount to its limit, and of several such the cheapest; and which
  /// resources it exceeds.
  Allocation closest;
  llvm::SmallVector<size_t> exceeded;
};

/// Returns all points at which less of the only resource would cost more, by
/// rising amount; limits do not count. The costs are sums in the order of the
/// groups, and exact optima of those. None where there are more than
/// `maxStates` partial sums at once. The resource has no pairs.
std::optional<std::vector<FrontPoint>>
computeAllocationFront(const AllocationProblem &problem,
                       size_t maxStates = size_t(1) << 20);

/// Returns the `count` cheapest allocations that keep to the limits; among
/// equally cheap ones what uses less of the resource comes first, then what has
/// the lower choices. With one resource and no pairs by dynamic programming:
/// exact, as above. Otherwise, or where that would have more than `maxStates`
/// partial sums, as integer programs for COIN-OR CBC: limits hold exactly,
/// costs are least up to 1e-9 of the largest. Fails where CBC does.
llvm::Expected<AllocationResult> allocate(const AllocationProblem &problem,
                                          size_t count = 1,
                                          size_t maxStates = size_t(1) << 20);

} // namespace mct::quantization

#endif // MCT_QUANTIZATION_ALLOCATION_H
