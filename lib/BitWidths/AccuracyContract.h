// SPDX-License-Identifier: Apache-2.0
//
// Finds the cheapest assignment of alternatives for which held-out samples show
// that a metric drops by no more than allowed.
#ifndef MCT_LIB_BITWIDTHS_ACCURACYCONTRACT_H
#define MCT_LIB_BITWIDTHS_ACCURACYCONTRACT_H

#include "BitWidthModel.h"
#include "mct/Evaluation/MetricDrop.h"
#include "mct/IR/Records.h"
#include <map>

namespace mct::bit_widths {

struct AccuracyContract {
  /// An assignment that was measured as a complete network.
  struct Look {
    execution::MetricDrop::Part part = execution::MetricDrop::Part::Search;
    std::vector<unsigned> alternatives;
    /// Use of the minimized resource.
    int64_t use = 0;
    execution::LossLimit drop;
    /// True if the held-out samples show that it keeps to the limit, or, on
    /// search samples, if they are expected to.
    bool holds = false;
  };

  std::string metric;
  execution::Metric::Unit unit = execution::Metric::Unit::Share;
  double maxDrop = 0;
  Resource minimized = Resource::Weights;
  /// Looks in chronological order.
  std::vector<Look> looks;

  /// Returns the last held-out look that holds; null if nothing is guaranteed.
  const Look *getKept() const;
  /// Returns the held-out look that does not hold and ended the sequence, or
  /// null.
  const Look *getRefused() const;
  /// Returns "top1 drops by at most 0.50 points (95 % confidence): on 1600
  /// held-out samples by 0.10 points, …".
  std::string describe() const;
  /// Returns that text as a record, with its numbers.
  Record toRecord() const;
  /// Returns the reason why nothing is guaranteed, and a remedy.
  std::string describeRefusal() const;
};

/// Searches the assignment. Assignments for decreasing budgets of the resource
/// are solved exactly. Bisection finds the smallest budget that the search
/// samples predict to hold, and then alternatives of single operators are
/// exchanged for those of the next smaller one. That gives a sequence of
/// assignments from the present one to cheaper ones, which does not depend on
/// the held-out samples. They test it in this order, each with 95 % confidence,
/// up to the first that they do not confirm: a fixed sequence, for which the
/// probability of confirming any wrong assignment is at most 5 % in total.
class ContractSearch {
public:
  /// Returns the complete network with these alternatives, or emits a
  /// diagnostic.
  using Complete =
      std::function<mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>(
          llvm::ArrayRef<unsigned>)>;

  ContractSearch(mlir::func::FuncOp entry, const BitWidthModel &model,
                 execution::MetricDrop &drop, double maxDrop,
                 Resource minimized, Complete complete);

  /// Returns all looks, with or without a kept one. The sequence begins with
  /// the assignment `present`.
  mlir::FailureOr<AccuracyContract> run(std::vector<unsigned> present);

private:
  using Part = execution::MetricDrop::Part;
  using Alternatives = std::vector<unsigned>;

  /// Returns the exact optimum within the budget of a step (budgets decrease
  /// from step to step); none if no assignment keeps to it.
  mlir::FailureOr<std::optional<Alternatives>> solve(size_t step);
  /// Returns the budget of a step.
  int64_t getLimit(size_t step) const;
  int64_t getResourceUse(llvm::ArrayRef<unsigned> alternatives) const {
    return getUse(model.getUse(alternatives), contract.minimized);
  }
  mlir::FailureOr<bool> look(const Alternatives &alternatives, Part part);
  bool isExpected(const execution::LossLimit &drop) const;
  /// Returns the step of the smallest budget that is predicted to hold.
  mlir::FailureOr<size_t> bisect();
  /// Returns the assignment of a step with those alternatives of the next step
  /// that are predicted to hold, too.
  mlir::FailureOr<Alternatives> repair(size_t step);
  mlir::FailureOr<std::vector<Alternatives>> arrange();

  mlir::func::FuncOp entry;
  const BitWidthModel &model;
  execution::MetricDrop &drop;
  Complete complete;
  AccuracyContract contract;
  Alternatives present;
  std::map<size_t, std::optional<Alternatives>> solved;
  std::map<Alternatives, bool> expected;
};

} // namespace mct::bit_widths

#endif // MCT_LIB_BITWIDTHS_ACCURACYCONTRACT_H
