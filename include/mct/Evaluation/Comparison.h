// SPDX-License-Identifier: Apache-2.0
//
// Distances between the same values in two modules.
#ifndef MCT_EVALUATION_COMPARISON_H
#define MCT_EVALUATION_COMPARISON_H

#include "mct/Evaluation/ErrorSums.h"
#include "mct/Execution/Executor.h"
#include "mct/Execution/Run.h"
#include "mct/IR/Names.h"
#include "mct/IR/QuantizedValues.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/ADT/StringMap.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mct::execution {

/// A value that is compared, under its name in the reference.
struct ComparedValue {
  std::string name;
  /// The reals that stored integers stand for; none for a tensor of f32.
  std::optional<QuantizedValue> stored;
  /// The quantizer of a tensor of f32 that is observed in front of it, which
  /// then takes part in the comparison; may be null.
  tpc::QuantizerAttrInterface quantizer = {};
  llvm::SmallVector<int64_t> axes = {};
  /// True if its samples follow one another: the batch is the first axis.
  bool isBatchFirst = false;
};

/// Comparison of one value.
template <typename Sums> struct PointComparison {
  std::string name;
  /// Distances of real numbers.
  Sums sums;
  /// Differences of a value that is stored as integers.
  std::optional<StepCounts> steps;
  /// Set if it has a quantizer: the error that this adds to the values of the
  /// reference, and the error in front of it.
  std::optional<Sums> own, inherited;
};
using ComparedPoint = PointComparison<ErrorSums>;
/// The sums of some samples, to which those of others can be added.
using PointTotals = PointComparison<ExactErrorSums>;

/// Values of a reference whose axes are in another order, by the names of those
/// that are compared with them.
using TransposedNames = llvm::StringMap<TransposedName>;

/// Runs a reference beside an executor and compares what both observe, value by
/// value, by name. One for all workers.
class Comparison {
public:
  /// `values`: one for each value that the executor observes. It is the
  /// partner of what the reference observes under its name, when both have the
  /// same number of elements and the reference's are of f32, or when
  /// `transposed` says so and the sizes agree.
  ///
  /// `samples`: what the reference reads, where it is not what the executor
  /// reads; else null. `isLocal`: the reference computes on with the values of
  /// the executor that are stored as integers, in place of its own, where it
  /// may change them (`CompileOptions::numEdited`: `numEdited` of them), so
  /// that a difference is seen where it arises and nowhere else.
  Comparison(const Executor &executor, llvm::ArrayRef<ComparedValue> values,
             const Executor &reference,
             std::shared_ptr<const SampleSource> samples,
             const TransposedNames &transposed, size_t workers,
             bool isLocal = false, size_t numEdited = 0);
  ~Comparison();

  /// Attaches the observers of one worker of the executor.
  void setUp(size_t index, Worker &worker);
  /// Runs the reference on a unit that the executor has just computed.
  llvm::Error compare(const Unit &unit);
  /// Returns the reference's outputs of the unit that `compare` ran last on
  /// this worker.
  llvm::ArrayRef<void *> referenceOutputs(size_t worker) const;

  /// Returns each compared value, in the executor's order. Sums are the same
  /// whichever worker computed a unit, and in any order of the samples.
  std::vector<PointTotals> totals() const;
  /// Names of the executor's values that have no partner.
  std::vector<std::string> withoutPartner() const;

private:
  class Capture;
  class Compare;
  struct WorkerState;

  const Executor &reference;
  std::shared_ptr<const SampleSource> samples;
  std::vector<ComparedValue> values;
  /// The grids of those that are stored as integers.
  std::vector<std::optional<quantization::Grid>> grids;
  /// The quantizers that take part; null for the other values.
  std::vector<std::unique_ptr<quantization::TensorQuantizer>> quantizers;
  struct Partner {
    size_t index;
    /// Brings the axes of the reference's value into order; empty: they are.
    llvm::SmallVector<int32_t> permutation;
  };
  /// Reference value for each observed value of the executor, or none.
  std::vector<std::optional<Partner>> partners;
  std::vector<std::unique_ptr<WorkerState>> workers;
  /// Sums of one value that one worker has seen.
  struct Difference {
    ExactErrorSums sums, own, inherited;
    StepCounts steps;
  };
};

} // namespace mct::execution

#endif // MCT_EVALUATION_COMPARISON_H
