// SPDX-License-Identifier: Apache-2.0
//
// Losses of training runs.
//
// A batch is computed in shards of a few samples, which several threads may do
// at once; so a loss is a sum over the shards of a batch.
#ifndef MCT_TRAINING_TRAININGLOSS_H
#define MCT_TRAINING_TRAININGLOSS_H

#include "mct/Quantization/TrainingLosses.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace mct {

/// A result that is compared: what it is for one sample.
struct ComparedShape {
  std::string name;
  /// Elements of a sample, and of the last axis.
  int64_t elements = 1, channels = 1;
  /// Shape without the axis of the samples.
  std::vector<int64_t> sizes = {};
};

/// The samples of one step.
struct TrainingBatch {
  /// Their numbers in the source, in the order in which they come.
  llvm::ArrayRef<int64_t> samples;
  /// Values of each result of the teacher, for all samples; empty for a loss
  /// without a teacher.
  llvm::ArrayRef<llvm::ArrayRef<float>> teacher;
};

/// Some samples of a batch, and what the network makes of them.
struct TrainingShard {
  /// Index in the batch where they begin.
  int64_t first = 0;
  llvm::ArrayRef<int64_t> samples;
  struct Result {
    /// Values of all samples of the shard; of the teacher: empty without one.
    llvm::ArrayRef<float> values, teacher;
    /// Place for as many gradients; its contents are undefined.
    llvm::MutableArrayRef<float> gradients;
  };
  llvm::ArrayRef<Result> results;
};

/// The loss of one batch, called by several threads at once: it returns a
/// shard's part of it, which is the sum over the shards, and writes the
/// gradients of the loss by all the results of the shard.
using BatchLoss = std::function<llvm::Expected<double>(const TrainingShard &)>;

class TrainingLoss {
public:
  virtual ~TrainingLoss();
  /// Returns whether it compares with what another network, the teacher, makes
  /// of the samples.
  virtual bool needsTeacher() const = 0;
  /// Returns whether it can be computed of those results of a network, for a
  /// source of so many samples, of those that there are. Called once, before
  /// anything else.
  virtual llvm::Error check(llvm::ArrayRef<ComparedShape> results,
                            int64_t numSamples, int64_t numAvailable) = 0;
  /// `batch` outlives what is returned.
  virtual BatchLoss begin(const TrainingBatch &batch) const = 0;
  /// Returns a text of all that it depends on, so that a run that goes on can
  /// tell whether it is the same.
  virtual std::string describe() const = 0;
};

/// Returns the mean over the samples of -log p(label). `labels`: one for each
/// sample of the source, or for each that there is. Of one result, the scores
/// of classes.
std::unique_ptr<TrainingLoss>
createCrossEntropyLoss(quantization::Scores scores,
                       std::vector<int64_t> labels);

/// Returns the mean over the samples of the Kullback-Leibler divergence from
/// the teacher. Of one result, the scores of classes.
std::unique_ptr<TrainingLoss> createDivergenceLoss(quantization::Scores scores);

enum class ErrorUnit {
  Plain,     // mean((y - x)^2)
  Normalized // mean((y - x)^2) / mean(x^2) over the batch
};

/// Returns the mean over the results of weight * squared error of the
/// teacher's, x. `weights`: one for each result; empty: 1 for each.
std::unique_ptr<TrainingLoss>
createSquaredErrorLoss(ErrorUnit unit, std::vector<double> weights = {});

/// Returns the sum over the layers of quantization::attendedError. `attention`:
/// [samples of the source, results].
std::unique_ptr<TrainingLoss>
createAttentionLoss(std::vector<double> attention);

} // namespace mct

#endif // MCT_TRAINING_TRAININGLOSS_H
