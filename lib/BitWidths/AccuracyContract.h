// SPDX-License-Identifier: Apache-2.0
//
// Finds the cheapest assignment of alternatives for which held-out samples show
// that a metric drops by no more than allowed.
#ifndef MCT_LIB_BITWIDTHS_ACCURACYCONTRACT_H
#define MCT_LIB_BITWIDTHS_ACCURACYCONTRACT_H

#include "BitWidthModel.h"
#include "mct/Evaluation/MetricDrop.h"
#include "mct/IR/Records.h"
#include "mct/IR/ResourceKeys.h"
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
    /// True if the lower limit of the drop, taken to be as far from it as the
    /// upper one, is larger than allowed.
    bool isRefuted = false;
  };

  std::string metric;
  execution::Metric::Unit unit = execution::Metric::Unit::Share;
  double maxDrop = 0;
  Resource minimized = Resource::Weights;
  /// Looks in chronological order.
  std::vector<Look> looks;

  /// Returns the last held-out look that holds; null if nothing is guaranteed.
  const Look *getKept() const;
  /// Returns the look on the next cheaper assignment: the held-out look that
  /// does not hold, or the search look that refuted it; or null. Without a kept
  /// look: the last one.
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
/// samples predict to hold. Within this budget, the best assignments are
/// measured as complete networks, and then alternatives of single operators are
/// exchanged for those of the next smaller budget. That gives a sequence of
/// assignments from the present one to cheaper ones, which does not depend on
/// the held-out samples. They test it in this order, each with 95 % confidence,
/// up to the first that they do not confirm: a fixed sequence, for which the
/// probability of confirming any wrong assignment is at most 5 % in total. If
/// many samples judge and the search is sure, the sequence begins with the
/// assignment that was found, with 95.5 % confidence, and the more expensive
/// ones are tested only if that fails, with 99.5 %: the fallback procedure of
/// Wiens (2003), which errs in at most 5 % of all cases, too.
class ContractSearch {
public:
  /// Returns the complete network with these alternatives, or emits a
  /// diagnostic. Constants that it creates belong to the
  /// second argument.
  using Complete =
      std::function<mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>(
          llvm::ArrayRef<unsigned>, TrialConstants &)>;
  /// Returns the assignment within a budget that is closest to the float
  /// network as a complete network, given the one with the least sum of
  /// sensitivities; or emits a diagnostic.
  using FindClosest = std::function<mlir::FailureOr<std::vector<unsigned>>(
      const Budget &, std::vector<unsigned>)>;

  ContractSearch(mlir::func::FuncOp entry, const BitWidthModel &model,
                 execution::MetricDrop &drop, double maxDrop,
                 Resource minimized, Complete complete,
                 FindClosest findClosest);

  /// Returns all looks, with or without a kept one. The sequence begins with
  /// the assignment `present`.
  mlir::FailureOr<AccuracyContract> run(std::vector<unsigned> present);

private:
  using Part = execution::MetricDrop::Part;
  using Alternatives = std::vector<unsigned>;

  struct Prediction {
    /// Predicted limit of the drop on held-out samples.
    double limit = 0;
    /// Standard error of the drop on the search samples.
    double error = 0;
    /// Same as `AccuracyContract::Look::isRefuted`.
    bool isRefuted = false;
  };

  /// Assignments to test, each cheaper than the one before, up to the first
  /// that does not hold.
  struct Sequence {
    std::vector<Alternatives> assignments;
    /// Confidence of each test.
    double confidence = quantization::kConfidence;
  };

  /// Returns the exact optimum within the budget of a step (budgets decrease
  /// from step to step); none if no assignment keeps to it.
  mlir::FailureOr<std::optional<Alternatives>> solve(size_t step);
  Budget getBudget(size_t step) const;
  int64_t getResourceUse(llvm::ArrayRef<unsigned> alternatives) const {
    return getUse(model.getUse(alternatives), contract.minimized);
  }
  mlir::FailureOr<bool> look(const Alternatives &alternatives, Part part,
                             double confidence = quantization::kConfidence);
  Prediction predict(const execution::LossLimit &found) const;
  /// Returns the step of the smallest budget that is predicted to hold.
  mlir::FailureOr<size_t> bisect();
  /// Replaces the assignment of a step by the closest one within its budget, if
  /// that is predicted to hold, too.
  mlir::LogicalResult refine(size_t step);
  /// Returns the assignment of a step with those alternatives of the next step
  /// that are predicted to hold, too.
  mlir::FailureOr<Alternatives> repair(size_t step);
  /// Returns true if a test of the assignment, which may take long, is likely
  /// to succeed: its predicted limit is clearly below the allowed drop.
  bool isLikely(const Alternatives &alternatives) const;
  /// Returns two sequences to test, the second one only if no assignment of the
  /// first one holds; it may be empty.
  mlir::FailureOr<std::vector<Sequence>> arrange();

  mlir::func::FuncOp entry;
  const BitWidthModel &model;
  execution::MetricDrop &drop;
  Complete complete;
  FindClosest findClosest;
  AccuracyContract contract;
  Alternatives present;
  /// Step of the smallest budget that an assignment keeps to.
  size_t cheapest = 0;
  std::map<size_t, std::optional<Alternatives>> solved;
  struct Completed {
    TrialConstants constants;
    mlir::OwningOpRef<mlir::ModuleOp> network;
  };
  /// Complete networks that the held-out samples may judge.
  std::map<Alternatives, Completed> completed;
  /// The looks on search samples.
  std::map<Alternatives, Prediction> predictions;
};

} // namespace mct::bit_widths

#endif // MCT_LIB_BITWIDTHS_ACCURACYCONTRACT_H
