// SPDX-License-Identifier: Apache-2.0
//
// Distances of the results of a network from those of a reference: of each
// result, and of each group of channels with a meaning of its own.
#ifndef MCT_EVALUATION_RESULTCOMPARISON_H
#define MCT_EVALUATION_RESULTCOMPARISON_H

#include "mct/Evaluation/Comparison.h"
#include "mct/IR/QuantizedValues.h"
#include "mct/Planning/ResultGroups.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mct::execution {

/// Returns how the results of a function are probabilities: made by a sigmoid
/// or a softmax, behind which values are moved at most.
enum class Probabilities { None, Sigmoid, Softmax };
std::vector<Probabilities> findProbabilities(mlir::func::FuncOp function);

/// Channels of a result that have one meaning.
struct ComparedGroup {
  /// Names of the values that they are made of, or a list of the channels.
  std::string name;
  /// Positions along `ComparedResult::axis`, ascending.
  std::vector<int64_t> channels;
  ErrorSums sums;
};

struct ComparedResult {
  /// Index among the results of the function.
  int64_t number = 0;
  /// Name of the value in the reference.
  std::string name;
  ErrorSums sums;
  /// Errors of the logits of probabilities: of log(p / (1 - p)) behind a
  /// sigmoid, of log(p) behind a softmax, where a probability counts as at
  /// least 1e-6, and with a sigmoid as at most 1 - 1e-6. None for other
  /// results.
  std::optional<ErrorSums> logits;
  /// True for one row of scores of classes for each sample.
  bool isScores = false;
  int64_t axis = 0;
  /// Either none, or two and more.
  std::vector<ComparedGroup> groups;
};

/// Holds what some samples say of the results, to which others can be added.
/// Sums are the same in any order.
struct ResultTotals {
  struct Result {
    int64_t number = 0;
    std::string name;
    int64_t axis = 0;
    /// Groups of channels that the network tells of; empty: none.
    ResultGroups groups;
    bool hasLogits = false;
    ExactErrorSums whole, logits;
    /// Errors of each group, or of each channel.
    std::vector<ExactErrorSums> parts;
    /// Largest magnitudes in the reference, by part.
    std::vector<float> magnitudes;
  };
  /// Counts of rows of the reference that look like class scores.
  struct Rows {
    int64_t samples = 0, distributions = 0, decided = 0, centred = 0,
            agreeing = 0;
    /// Smallest and largest answer; -1: none.
    int64_t firstAnswer = -1, lastAnswer = -1;

    void merge(const Rows &other);
  };
  std::vector<Result> results;
  Rows rows;
  /// Length of a row that may be one of scores; 0 if no row may.
  int64_t classes = 0;
  bool isReconstruction = false, hasLabels = false;

  /// Adds what other samples say. Fails where other results are compared.
  llvm::Error merge(const ResultTotals &other);
  /// Returns the results, when all samples were compared.
  std::vector<ComparedResult> compareAll() const;
  /// Returns the share of the samples whose largest score is that of the
  /// reference; none where the first result is no row of scores.
  std::optional<double> agreement() const;

  llvm::json::Object toJson() const;
  static llvm::Expected<ResultTotals>
  fromJson(const llvm::json::Object &object);

private:
  bool isScores() const;
  void addGroups(const Result &totals, ComparedResult &result) const;
};

/// Compares results with those of a reference, unit by unit; several workers
/// may do so at the same time.
///
/// Channels are in groups as `findResultGroups` tells, or, where the network
/// tells nothing, where the largest magnitudes of channels in the reference,
/// sorted, are more than 8 times apart.
///
/// A result is one row of scores of classes when it has two values and more for
/// each sample, all along one axis, and
/// * there are labels, and it is the first one; or it is the only one, and in
///   the reference
/// * every row is a distribution: no value is negative, and their sum is 1; or
/// * rows behave as logits: most of their softmaxes are above one half in one
///   class, which is not the same for all samples, most of their means are less
///   than half a standard deviation away from 0, as the gradients of a softmax
///   leave them, and no argument has as many elements.
/// Everything else counts as numbers without an order: a result of one value,
/// boxes, coordinates, pictures, embeddings.
class ResultComparison {
public:
  struct Inputs {
    /// Results of the module, the reals that its integers stand for (may be
    /// null), and the results and arguments of the reference.
    llvm::ArrayRef<TensorSpec> specs;
    const QuantizedValues *stored = nullptr;
    llvm::ArrayRef<TensorSpec> referenceSpecs, arguments;
    /// Names and groups of the results of the reference.
    std::vector<std::string> names;
    std::vector<ResultGroups> groups;
    std::vector<Probabilities> probabilities;
    int64_t unit = 1;
    size_t workers = 1;
    bool hasLabels = false;
  };
  explicit ResultComparison(Inputs inputs);

  void compare(const Unit &unit, llvm::ArrayRef<void *> reference);

  /// Returns what all units say of the results that are real numbers in both.
  ResultTotals totals() const;

private:
  struct Part {
    /// One for each result; those that are not compared stay empty.
    std::vector<ResultTotals::Result> results;
    ResultTotals::Rows rows;
  };

  bool isCompared(size_t number) const { return !comparedAs[number].empty(); }
  void addResult(size_t number, llvm::ArrayRef<float> values,
                 llvm::ArrayRef<float> references,
                 ResultTotals::Result &to) const;
  void addRows(const Unit &unit, llvm::ArrayRef<float> references,
               const void *reference, ResultTotals::Rows &to) const;

  Inputs inputs;
  /// Index, for each result, of the part that each position along the axis of
  /// its channels belongs to; empty where the result is not compared.
  std::vector<std::vector<int64_t>> comparedAs;
  /// The same as in ResultTotals.
  int64_t classes = 0;
  bool isReconstruction = false;
  /// One for each worker.
  std::vector<Part> seen;
};

/// Returns the elements of the valid samples of a unit as real numbers, or none
/// where they are not real. `stored` has the reals that integers stand for, by
/// index of the result.
std::optional<std::vector<float>>
readResult(const TensorSpec &spec, const void *data, int64_t unit,
           int64_t valid, const QuantizedValues &stored, size_t number);

} // namespace mct::execution

#endif // MCT_EVALUATION_RESULTCOMPARISON_H
