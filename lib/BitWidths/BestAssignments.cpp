// SPDX-License-Identifier: Apache-2.0
#include "BestAssignments.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mct;
using namespace mct::bit_widths;
using llvm::Expected;
using quantization::AllocationProblem;
using quantization::AllocationResult;

/// Returns true if no operator costs less with `choices` than with `others`.
static bool isNowhereCheaper(const AllocationProblem &problem,
                             ArrayRef<unsigned> choices,
                             ArrayRef<unsigned> others) {
  return llvm::all_of(llvm::zip_equal(problem.costs, choices, others),
                      [](const auto &of) {
                        const auto &[costs, choice, other] = of;
                        return costs[choice] >= costs[other];
                      });
}

Expected<std::vector<Assignment::Measured>>
mct::bit_widths::findBestAssignments(const BitWidthModel &model,
                                     const Budget &within, size_t count) {
  constexpr double kLargestShare = 0.8;
  constexpr size_t kMostSums = 64;
  const AllocationProblem problem = model.createProblem(within);
  std::vector<std::vector<unsigned>> found;
  auto add = [&](const std::vector<unsigned> &chosen) {
    if (found.size() < count && !llvm::is_contained(found, chosen))
      found.push_back(chosen);
  };
  for (size_t number = 0; number != count; ++number) {
    AllocationProblem shared = problem;
    double share =
        double(number) * kLargestShare / double(std::max<size_t>(1, count - 1));
    for (auto [index, costs] : llvm::enumerate(shared.costs)) {
      double remaining =
          double(shared.costs.size() - 1 - index) / double(shared.costs.size());
      for (double &cost : costs)
        cost *= 1 - share * remaining;
    }
    Expected<AllocationResult> result = quantization::allocate(shared);
    if (!result)
      return result.takeError();
    add(result->best.front().choices);
  }
  bool hasMore = true;
  for (size_t sums = count; hasMore && found.size() < count; sums *= 2) {
    Expected<AllocationResult> next = quantization::allocate(problem, sums);
    if (!next)
      return next.takeError();
    for (const quantization::Allocation &each : next->best)
      if (llvm::none_of(found, [&](ArrayRef<unsigned> other) {
            return isNowhereCheaper(problem, each.choices, other);
          }))
        add(each.choices);
    hasMore = next->best.size() == sums && sums < kMostSums;
  }
  std::vector<Assignment::Measured> assignments;
  for (const std::vector<unsigned> &chosen : found)
    assignments.push_back(
        {model.toAlternatives(chosen), problem.computeCost(chosen), 0});
  return assignments;
}
