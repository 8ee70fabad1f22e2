// SPDX-License-Identifier: Apache-2.0
//
// Distances of the results of a network from those of a reference: of each
// result, and of each group of channels with the same meaning.
#ifndef MCT_EVALUATION_RESULTCOMPARISON_H
#define MCT_EVALUATION_RESULTCOMPARISON_H

#include "mct/Evaluation/Comparison.h"
#include "mct/IR/QuantizedValues.h"
#include "mct/Planning/ResultGroups.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mct::execution {

/// Kinds of results that are probabilities: those of a sigmoid or a softmax
/// that are at most moved afterwards.
enum class Probabilities { None, Sigmoid, Softmax };
std::vector<Probabilities> findProbabilities(mlir::func::FuncOp function);

/// Channels of a result that have the same meaning.
struct ComparedGroup {
  /// Names of the values that they come from, or a list of the channels.
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
  /// Errors of the logits of probabilities: of log(p / (1 - p)) after a
  /// sigmoid, of log(p) after a softmax, where a probability counts as at least
  /// 1e-6, and with a sigmoid as at most 1 - 1e-6. None for other results.
  std::optional<ErrorSums> logits;
  /// True if there is one row of scores of classes for each sample.
  bool isScores = false;
  int64_t axis = 0;
  /// Groups; none, or at least two.
  std::vector<ComparedGroup> groups;
};

/// Totals of the results over some samples, to which others can be added. Sums
/// do not depend on the order.
struct ResultTotals {
  struct Result {
    int64_t number = 0;
    std::string name;
    int64_t axis = 0;
    /// Groups of channels from the structure of the network; empty if it has
    /// none.
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
    /// Sum of the standardized values (mean 0 and variance 1 of each row) of
    /// each class, in units of 2^-16.
    std::vector<int64_t> standardized;

    void merge(const Rows &other);
    /// Returns the share of the variance of the values in the rows that is that
    /// of the means of the classes.
    double computeShareBetweenClasses() const;
  };
  std::vector<Result> results;
  Rows rows;
  /// Length of a row that may consist of scores; 0 if no row may.
  int64_t classes = 0;
  bool isReconstruction = false, hasLabels = false;

  /// Adds the totals of other samples. Fails if other results are compared.
  llvm::Error merge(const ResultTotals &other);
  /// Returns the results; the totals must include all samples.
  std::vector<ComparedResult> compareAll() const;
  /// Returns the share of the samples whose largest score is that of the
  /// reference; none if the first result is not a row of scores.
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
/// Channels are grouped by `findResultGroups`, or, if the structure of the
/// network has no groups, where the sorted largest magnitudes of channels in
/// the reference differ by a factor of more than 8.
///
/// A result is one row of scores of classes if it has at least two values for
/// each sample, all along one axis, and
/// * there are labels, and it is the first one; or it is the only one, and in
///   the reference
/// * every row is a distribution: no value is negative, and their sum is 1; or
/// * rows behave like logits: most of their softmaxes are above one half in one
///   class, most of their means are less than half a standard deviation away
///   from 0, as training with a softmax leaves them, most of the variance of
///   the values is between samples rather than between classes, and no argument
///   has as many elements. The scores of two classes are compared with each
///   other and have one scale, while each number of an embedding has an offset
///   of its own, by which the same ones are always large. Everything else
///   counts as numbers without an order: a result of one value, boxes,
///   coordinates, pictures, embeddings.
class ResultComparison {
public:
  struct Inputs {
    /// Results of the module, the records of its integers (may be null), and
    /// the results and arguments of the reference.
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

  /// Returns the totals over all units of the results that are real numbers in
  /// both networks.
  ResultTotals totals() const;

private:
  struct Part {
    /// One entry for each result; those that are not compared stay empty.
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
  /// Index of the part of each position along the axis of a result's channels,
  /// for each result; empty if the result is not compared.
  std::vector<std::vector<int64_t>> comparedAs;
  /// The same as in ResultTotals.
  int64_t classes = 0;
  bool isReconstruction = false;
  /// One for each worker.
  std::vector<Part> workerParts;
};

/// Returns the elements of the valid samples of a unit as real numbers, or none
/// if they do not represent real numbers. `stored` has the records of integers,
/// by index of the result.
std::optional<std::vector<float>>
readResult(const TensorSpec &spec, const void *data, int64_t unit,
           int64_t valid, const QuantizedValues &stored, size_t number);

} // namespace mct::execution

#endif // MCT_EVALUATION_RESULTCOMPARISON_H
