// SPDX-License-Identifier: Apache-2.0
//
// Measures distances between the same values in two modules.
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

/// A compared value, under its name in the reference.
struct ComparedValue {
  std::string name;
  /// Record of the real numbers that stored integers represent; none for a
  /// tensor of f32.
  std::optional<QuantizedValue> stored;
  /// Quantizer of a tensor of f32 that is observed before it; the comparison
  /// applies the quantizer. May be null.
  tpc::QuantizerAttrInterface quantizer = {};
  llvm::SmallVector<int64_t> axes = {};
  /// True if its samples follow one another, because the batch is the first
  /// axis.
  bool isBatchFirst = false;
};

/// Comparison of one value.
template <typename Sums> struct PointComparison {
  std::string name;
  /// Distances of real numbers.
  Sums sums;
  /// Differences of a value that is stored as integers.
  std::optional<StepCounts> steps;
  /// Set if it has a quantizer: the error that the quantizer adds to the values
  /// of the reference, and the error before it.
  std::optional<Sums> own, inherited;
};
using ComparedPoint = PointComparison<ErrorSums>;
/// Sums over some samples, to which those over others can be added.
using PointTotals = PointComparison<ExactErrorSums>;

/// Values of a reference whose axes are in another order, by the names of the
/// values that are compared with them.
using TransposedNames = llvm::StringMap<TransposedName>;

/// Runs a reference beside an executor and compares the values that both
/// observe, by name. One object serves all workers.
class Comparison {
public:
  /// `values` has one entry for each value that the executor observes. Its
  /// partner is the value that the reference observes under its name, if both
  /// have the same number of elements and the reference's value is of f32, or
  /// if `transposed` has it and the sizes agree.
  ///
  /// `samples` are those of the reference if they are not the executor's;
  /// otherwise null. With `isLocal` the reference continues to compute with the
  /// executor's values that are stored as integers, in place of its own, as far
  /// as it can change them (`CompileOptions::numEdited`, which is `numEdited`),
  /// so that a difference is visible only where it arises.
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
  /// Returns the reference's outputs for the last unit that `compare` ran on
  /// this worker.
  llvm::ArrayRef<void *> referenceOutputs(size_t worker) const;

  /// Returns the totals of each compared value, in the executor's order. Sums
  /// depend neither on the workers that computed units nor on the order of the
  /// samples.
  std::vector<PointTotals> totals() const;
  /// Returns the names of the executor's values that have no partner.
  std::vector<std::string> withoutPartner() const;

private:
  class Capture;
  class Compare;
  struct WorkerState;

  const Executor &reference;
  std::shared_ptr<const SampleSource> samples;
  std::vector<ComparedValue> values;
  /// Grids of the values that are stored as integers.
  std::vector<std::optional<quantization::Grid>> grids;
  /// Quantizers that the comparison applies; null for the other values.
  std::vector<std::unique_ptr<quantization::TensorQuantizer>> quantizers;
  struct Partner {
    size_t index;
    /// Permutation that brings the axes of the reference's value into order;
    /// empty if they are.
    llvm::SmallVector<int32_t> permutation;
  };
  /// Reference value for each observed value of the executor, or none.
  std::vector<std::optional<Partner>> partners;
  std::vector<std::unique_ptr<WorkerState>> workers;
  /// Sums over one value on one worker.
  struct Difference {
    ExactErrorSums sums, own, inherited;
    StepCounts steps;
  };
};

} // namespace mct::execution

#endif // MCT_EVALUATION_COMPARISON_H
