// SPDX-License-Identifier: Apache-2.0
//
// Distances between the same values in two modules.
#ifndef MCT_EXECUTION_COMPARISON_H
#define MCT_EXECUTION_COMPARISON_H

#include "mct/Analysis/Names.h"
#include "mct/Execution/Executor.h"
#include "mct/Execution/Run.h"
#include "llvm/ADT/StringMap.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mct::execution {

/// Sums over the elements of one value, from which the distances follow.
struct ErrorSums {
  double reference = 0; // sum of squares of the reference
  double value = 0;     // sum of squares of the compared value
  double product = 0;
  double error = 0; // sum of squares of the difference
  double largest = 0;

  void add(llvm::ArrayRef<float> values, llvm::ArrayRef<float> references);
  void merge(const ErrorSums &other);

  /// Signal-to-quantization-noise ratio in dB; infinite for equal values, NaN
  /// where values that differ are not finite.
  double sqnr() const;
  double cosine() const;
};

/// By the name of a value: the value of a reference that it is with its axes in
/// another order.
using TransposedNames = llvm::StringMap<TransposedName>;

/// Runs a reference beside an executor and compares what both observe, value by
/// value, by name. One for all workers.
class Comparison {
public:
  /// Values are partners when both observe them under one name, and they are
  /// tensors of f32 with the same number of elements, or when `transposed` says
  /// so and the sizes agree; `units` units will be compared.
  Comparison(const Executor &executor, const Executor &reference,
             const TransposedNames &transposed, size_t workers, int64_t units);
  ~Comparison();

  /// Attaches the observers of one worker of the executor.
  void setUp(size_t index, Worker &worker);
  /// Runs the reference on a unit that the executor has just computed.
  llvm::Error compare(const Unit &unit);
  /// The reference's outputs of the unit that `compare` ran last on this
  /// worker.
  llvm::ArrayRef<void *> referenceOutputs(size_t worker) const;

  /// Name and sums of each compared value, in the executor's order. Sums are
  /// added in the order of the units, whichever worker computed them.
  std::vector<std::pair<std::string, ErrorSums>> results() const;
  /// Names of the executor's values that have no partner.
  std::vector<std::string> withoutPartner() const;

private:
  class Capture;
  class Compare;
  struct WorkerState;

  const Executor &executor;
  struct Partner {
    size_t index;
    /// Brings the axes of the reference's value into order; empty: they are.
    llvm::SmallVector<int32_t> permutation;
  };
  /// Reference value for each observed value of the executor, or none.
  std::vector<std::optional<Partner>> partners;
  std::vector<std::unique_ptr<WorkerState>> workers;
  /// One entry per unit and observed value of the executor.
  std::vector<std::vector<ErrorSums>> sums;
};

} // namespace mct::execution

#endif // MCT_EXECUTION_COMPARISON_H
