// SPDX-License-Identifier: Apache-2.0
//
// The cheapest assignment of alternatives whose drop of a metric is shown, on
// samples that were held out, to be no larger than allowed.
#ifndef MCT_LIB_BITWIDTHS_ACCURACYCONTRACT_H
#define MCT_LIB_BITWIDTHS_ACCURACYCONTRACT_H

#include "BitWidthModel.h"
#include "mct/Evaluation/MetricDrop.h"
#include "mct/IR/Records.h"
#include <map>

namespace mct::bit_widths {

struct AccuracyContract {
  /// One assignment that was measured as a complete network.
  struct Look {
    execution::MetricDrop::Part part = execution::MetricDrop::Part::Search;
    std::vector<unsigned> alternatives;
    /// Use of the resource that is minimized.
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
  /// Looks in the order in which they were made.
  std::vector<Look> looks;

  /// Returns the last held-out look that holds; null: nothing is promised.
  const Look *getKept() const;
  /// Returns the held-out look that does not hold, with which the sequence
  /// ended, or null.
  const Look *getRefused() const;
  /// Returns "top1 drops by at most 0.50 points (95 % confidence): on 1600
  /// held-out samples by 0.10 points, …".
  std::string describe() const;
  /// Returns that text with its numbers.
  Record toRecord() const;
  /// Returns why nothing is promised, and what helps.
  std::string describeRefusal() const;
};

/// Finds the assignment. Assignments for smaller and smaller budgets of the
/// resource are solved exactly. Bisection finds the smallest budget that the
/// search samples let expect to hold, and the alternatives of single operators
/// are then exchanged for those of the next smaller one. That gives a sequence
/// of assignments from the present one to cheaper ones, which does not depend
/// on the held-out samples. They test it in this order, each with 95 %
/// confidence, up to the first that they do not confirm: a fixed sequence, by
/// which the probability that any wrong one is confirmed is 5 % in all.
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

  /// Returns all looks, with or without a kept one. `present`: the assignment
  /// that the sequence begins with.
  mlir::FailureOr<AccuracyContract> run(std::vector<unsigned> present);

private:
  using Part = execution::MetricDrop::Part;
  using Alternatives = std::vector<unsigned>;

  /// Returns the exact optimum within the budget of a step, by which budgets
  /// become smaller; none where no assignment keeps to it.
  mlir::FailureOr<std::optional<Alternatives>> solve(size_t step);
  /// Returns the budget of a step.
  int64_t getLimit(size_t step) const;
  int64_t useOf(llvm::ArrayRef<unsigned> alternatives) const {
    return getUse(model.getUse(alternatives), contract.minimized);
  }
  mlir::FailureOr<bool> look(const Alternatives &alternatives, Part part);
  bool isExpected(const execution::LossLimit &drop) const;
  /// Returns the smallest budget, by its step, that is expected to hold.
  mlir::FailureOr<size_t> bisect();
  /// Returns the assignment of a step with those alternatives of the next one
  /// that are expected to hold, too.
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
