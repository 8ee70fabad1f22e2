// SPDX-License-Identifier: Apache-2.0
//
// Distance of the results of a network from those of another one.
#ifndef MCT_EVALUATION_RESULTDISTANCE_H
#define MCT_EVALUATION_RESULTDISTANCE_H

#include "mct/Execution/Executor.h"
#include "mct/Execution/Frontier.h"
#include "mct/Planning/ResultGroups.h"
#include <optional>
#include <vector>

namespace mct::execution {

/// Returns the mean Kullback-Leibler divergence of rows that are distributions,
/// or become distributions by softmax. No probability counts as 0.
double divergence(llvm::ArrayRef<float> expected, llvm::ArrayRef<float> actual,
                  int64_t rowLength, bool isDistribution);

/// Returns the sum of the squared differences.
double squaredError(llvm::ArrayRef<float> expected,
                    llvm::ArrayRef<float> actual);

/// Returns the sum of the squares.
double energy(llvm::ArrayRef<float> values);

enum class ResultMetric {
  /// KL if all rows of the reference are distributions, otherwise MSE.
  Auto,
  KL,
  /// Sum of the squared errors divided by that of the squares.
  MSE,
  /// MSE of the logits if all rows of the reference are distributions,
  /// otherwise MSE.
  Logits
};

/// Measures the distance of the results of a network from those of a reference.
/// Results of f32 with the batch first count, all their parts with equal
/// weight: a result as a whole, or each group of its channels. If some groups
/// of a result are probabilities, the others count at each position as much as
/// the largest of these in the reference: the box of a detector matters where
/// an object is. Sums are in the order of the samples, whatever the workers.
class ResultDistance {
public:
  /// `outputs` are those of networks with units of `unit` samples, of `samples`
  /// in total. `budget` limits the bytes of the reference's results in memory;
  /// the rest is in a temporary file. `groups` are those of the first results
  /// (without `groupOf` the result is one part); a result that is compared by
  /// KL is one part.
  ResultDistance(llvm::ArrayRef<TensorSpec> outputs, int64_t unit,
                 int64_t samples, int64_t budget,
                 llvm::ArrayRef<ResultGroups> groups = {});

  /// Returns whether no result counts.
  bool isEmpty() const;

  /// Stores the reference's results for a unit, by its index. Different units
  /// may be stored at the same time.
  llvm::Error keep(int64_t number, int64_t valid,
                   llvm::ArrayRef<void *> outputs);
  /// Decides how results are compared; all units must be stored. Fails if
  /// results are not finite.
  llvm::Error decide(ResultMetric metric);
  /// Returns KL if some result is compared by it, or else Logits.
  ResultMetric usedMetric() const;
  /// Returns the metric of the result with that index; none if it does not
  /// count.
  std::optional<ResultMetric> getMetric(size_t output) const;

  /// Distances of one network.
  struct Comparison {
    /// Divergence, or squared error, by part and sample.
    std::vector<std::vector<double>> distances;
    std::vector<char> agreeing;
  };
  Comparison createComparison() const;
  /// Compares a unit with the stored results; different units may be compared
  /// at the same time. The caller owns `scratch`, one for each thread.
  llvm::Error compare(int64_t number, int64_t valid,
                      llvm::ArrayRef<void *> outputs,
                      std::vector<float> &scratch, Comparison &found) const;
  /// Returns the distance over all units, which must have been compared.
  double distance(const Comparison &found) const;
  /// Returns the standard deviation of the distance over the samples; 0 for one
  /// sample.
  double deviation(const Comparison &found) const;

  /// A result, or a group of its channels.
  struct Part {
    size_t output = 0;
    /// Index of the group; none for the whole result.
    std::optional<size_t> group;
    /// Energy of the values of the reference, by sample.
    std::vector<double> energies;
    /// Energy of their logits if they are distributions.
    std::vector<double> energiesOfLogits;
  };
  /// Returns the parts that count, after `decide`.
  llvm::ArrayRef<Part> getParts() const { return parts; }
  /// Returns the distance of one part: the mean divergence, or the squared
  /// error over the energy.
  double distanceOf(size_t part, const Comparison &found) const;
  /// Returns the sum of the squares of one part in the reference.
  double computeEnergy(size_t part) const;
  /// Reduction of the distance of a part, or of all of them, from `before` to
  /// `after`, and its standard error over the samples, infinite for one sample.
  struct Gain {
    double mean = 0, standardError = 0;
    /// Number of samples whose distance decreases, and number of those whose
    /// distance increases.
    int64_t better = 0, worse = 0;
  };
  Gain compareRuns(const Comparison &before, const Comparison &after,
                   std::optional<size_t> part = std::nullopt) const;
  /// Returns the share of the samples whose first result has its largest
  /// element at the same position as in the reference; none if the first result
  /// is not one row of scores for each sample.
  std::optional<double> agreement(const Comparison &found) const;

private:
  struct Output {
    ResultMetric metric = ResultMetric::MSE;
    /// True if rows sum up to 1 in the reference.
    bool isDistribution = true;
    /// Number of elements of a sample; 0 if the output does not count.
    int64_t elements = 0;
    int64_t rowLength = 1;
    /// One flag for each unit: true if its rows are distributions.
    std::vector<char> distributions;
    /// Part of each element of a sample, counted from `firstPart`; empty if all
    /// are one part.
    std::vector<int64_t> partByChannel;
    size_t firstPart = 0, numParts = 1;
    /// True for each part that consists of probabilities.
    std::vector<char> areProbabilities;
    /// Number of channels, and of elements of one channel that follow each
    /// other.
    int64_t channels = 1, inner = 1;

    /// Returns the divergence or squared error of one sample as a whole.
    double measure(llvm::ArrayRef<float> expected,
                   llvm::ArrayRef<float> actual) const;
    /// Returns how much each element of a sample of the reference counts.
    std::vector<float> weigh(llvm::ArrayRef<float> expected) const;
  };
  void joinParts();
  void addByPart(const Output &output, llvm::ArrayRef<float> expected,
                 llvm::ArrayRef<float> actual, int64_t sample,
                 Comparison &found) const;
  /// Returns the divisor of the sum over the samples.
  double computeScale(const Part &part) const;

  int64_t unit, samples, blockElements = 0;
  std::vector<Output> outputs;
  std::vector<Part> parts;
  bool hasScores = false;
  /// One flag for each unit: true if its results are finite.
  std::vector<char> finite;
  std::unique_ptr<Frontier> reference;
};

} // namespace mct::execution

#endif // MCT_EVALUATION_RESULTDISTANCE_H
