// SPDX-License-Identifier: Apache-2.0
//
// Finds the cheapest assignment of alternatives for which held-out samples show
// that the drop of a metric is not larger than allowed.
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
    /// Use of the resource to be minimized.
    int64_t use = 0;
    execution::LossLimit drop;
    /// True if the held-out samples show that the drop is within the limit or,
    /// for search samples, if the held-out samples are expected to show it.
    bool holds = false;
  };

  std::string metric;
  execution::Metric::Unit unit = execution::Metric::Unit::Share;
  double maxDrop = 0;
  Resource minimized = Resource::Weights;
  /// Looks in chronological order.
  std::vector<Look> looks;

  /// Returns the last look at held-out samples that holds, or null if nothing
  /// can be promised.
  const Look *getKept() const;
  /// Returns the look at held-out samples that did not hold and ended the
  /// sequence, or null.
  const Look *getRefused() const;
  /// Returns "top1 drops by at most 0.50 points (95 % confidence): on 1600
  /// held-out samples by 0.10 points, …".
  std::string describe() const;
  /// Returns that text as a record with its numbers.
  Record toRecord() const;
  /// Returns why nothing can be promised, and what helps.
  std::string describeRefusal() const;
};

/// Finds the assignment. Assignments within decreasing budgets of the resource
/// are optimized exactly. Bisection finds the smallest budget that is expected
/// to hold according to the search samples; then alternatives of single
/// operators are replaced by those of the next smaller budget. The result is a
/// sequence of assignments, from the present one to cheaper ones, that does not
/// depend on the held-out samples. These test the assignments in order, each
/// with 95 % confidence, until one is not confirmed. As the sequence is fixed,
/// the probability that any wrong assignment is confirmed is 5 % in total.
class ContractSearch {
public:
  /// Returns the complete network with these alternatives; emits a diagnostic
  /// on failure.
  using Complete =
      std::function<mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>(
          llvm::ArrayRef<unsigned>)>;

  ContractSearch(mlir::func::FuncOp entry, const BitWidthModel &model,
                 execution::MetricDrop &drop, double maxDrop,
                 Resource minimized, Complete complete);

  /// Returns all looks; there may be none that is kept. `present`: the
  /// assignment with which the sequence begins.
  mlir::FailureOr<AccuracyContract> run(std::vector<unsigned> present);

private:
  using Part = execution::MetricDrop::Part;
  using Alternatives = std::vector<unsigned>;

  /// Returns the exact optimum within the budget of a step (larger steps have
  /// smaller budgets), or none if no assignment is within it.
  mlir::FailureOr<std::optional<Alternatives>> solve(size_t step);
  /// Returns the budget of a step.
  int64_t getLimit(size_t step) const;
  int64_t useOf(llvm::ArrayRef<unsigned> alternatives) const {
    return getUse(model.getUse(alternatives), contract.minimized);
  }
  mlir::FailureOr<bool> look(const Alternatives &alternatives, Part part);
  bool isExpected(const execution::LossLimit &drop) const;
  /// Returns the step of the smallest budget that is expected to hold.
  mlir::FailureOr<size_t> bisect();
  /// Returns the assignment of a step, with alternatives of the next step where
  /// they are still expected to hold.
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
