// SPDX-License-Identifier: Apache-2.0
//
// Losses of training runs.
//
// A batch is computed in shards of a few samples, possibly by several threads
// at once; a loss is therefore a sum over the shards of a batch.
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

/// Shape of a compared result for one sample.
struct ComparedShape {
  std::string name;
  /// Number of elements of a sample, and of the last axis.
  int64_t elements = 1, channels = 1;
  /// Shape without the axis of the samples.
  std::vector<int64_t> sizes = {};
};

/// The samples of one step.
struct TrainingBatch {
  /// Their indices in the source, in the order of the batch.
  llvm::ArrayRef<int64_t> samples;
  /// Values of each result of the teacher, for all samples; empty for a loss
  /// without a teacher.
  llvm::ArrayRef<llvm::ArrayRef<float>> teacher;
};

/// Some samples of a batch, and the network's results for them.
struct TrainingShard {
  /// Index of the first sample in the batch.
  int64_t first = 0;
  llvm::ArrayRef<int64_t> samples;
  struct Result {
    /// Values of the network and the teacher for all samples of the shard;
    /// those of the teacher are empty without one.
    llvm::ArrayRef<float> values, teacher;
    /// Buffer for as many gradients; its contents are undefined.
    llvm::MutableArrayRef<float> gradients;
  };
  llvm::ArrayRef<Result> results;
};

/// The loss of one batch, called by several threads at once: returns the part
/// of a shard (the parts add up to the loss), and writes the gradients of the
/// loss by all results of the shard.
using BatchLoss = std::function<llvm::Expected<double>(const TrainingShard &)>;

class TrainingLoss {
public:
  virtual ~TrainingLoss();
  /// Returns whether the loss compares with the results of another network, the
  /// teacher.
  virtual bool needsTeacher() const = 0;
  /// Checks whether the loss can be computed from those results of a network,
  /// for a source of `numSamples` out of `numAvailable` samples. Called once,
  /// before anything else.
  virtual llvm::Error check(llvm::ArrayRef<ComparedShape> results,
                            int64_t numSamples, int64_t numAvailable) = 0;
  /// Returns the loss of a batch, which must outlive it.
  virtual BatchLoss begin(const TrainingBatch &batch) const = 0;
  /// Returns a text of everything that the loss depends on, by which a resumed
  /// run checks that it is the same.
  virtual std::string describe() const = 0;
};

/// Returns the mean over the samples of -log p(label). `labels` has one entry
/// for each sample of the source, or for each available one. Takes one result,
/// the scores of classes.
std::unique_ptr<TrainingLoss>
createCrossEntropyLoss(quantization::Scores scores,
                       std::vector<int64_t> labels);

/// Returns the mean over the samples of the Kullback-Leibler divergence from
/// the teacher. Takes one result, the scores of classes.
std::unique_ptr<TrainingLoss> createDivergenceLoss(quantization::Scores scores);

enum class ErrorUnit {
  Plain,     // mean((y - x)^2)
  Normalized // mean((y - x)^2) / mean(x^2) over the batch
};

/// Returns the mean over the results of weight * squared error, compared with
/// the teacher's result x. `weights` has one entry for each result; if empty,
/// all are 1.
std::unique_ptr<TrainingLoss>
createSquaredErrorLoss(ErrorUnit unit, std::vector<double> weights = {});

/// Returns the sum over the layers of `quantization::attendedError`.
/// `attention` is [samples of the source, results].
std::unique_ptr<TrainingLoss>
createAttentionLoss(std::vector<double> attention);

} // namespace mct

#endif // MCT_TRAINING_TRAININGLOSS_H
