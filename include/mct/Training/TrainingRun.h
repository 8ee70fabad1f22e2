// SPDX-License-Identifier: Apache-2.0
//
// Trains a network: batch by batch, the gradients of a loss update the learned
// values.
//
// The result depends on the network, the samples and the settings, but neither
// on threads nor on interruptions: its bytes are the same on all machines of
// one instruction set.
#ifndef MCT_TRAINING_TRAININGRUN_H
#define MCT_TRAINING_TRAININGRUN_H

#include "mct/Execution/Run.h"
#include "mct/Quantization/Optimizers.h"
#include "mct/Quantization/TrainableQuantizers.h"
#include "mct/Training/Training.h"
#include "mct/Training/TrainingLoss.h"

#include <functional>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

namespace mct {

/// Optimizer of a group of learned values.
struct OptimizerSettings {
  std::variant<quantization::Adam, quantization::GradientDescent> method =
      quantization::Adam();
  /// Rate schedule; its `steps` are replaced by those of the run.
  quantization::RateSchedule schedule = {};
  /// True if the rate is in units of the root mean square of a tensor's initial
  /// values, if that is not zero.
  bool isRelative = false;
};

/// The regularizer that pulls rounded weights to a level: factor * sum over the
/// layers of importance / largest importance *
/// quantization::roundingRegularizer.
struct RegularizerSettings {
  double factor = 0.01;
  /// One for each learned value of the role Rounding, in their order; if empty,
  /// all are 1.
  std::vector<double> importances;
  /// The power changes from `initial` to `target`, in equal steps, beginning at
  /// the fraction `start` of the run.
  double initial = 20, target = 2, start = 0.2;
};

/// A tensor that a step has updated.
struct TrainedTensor {
  const LearnedValue *learned;
  /// Values after the step, and the gradients of loss and regularizer that it
  /// used.
  llvm::ArrayRef<float> values, gradients;
};

/// The state after a step of a training run.
struct TrainingStepInfo {
  /// Index of this step, from 0 on, the number of all steps, and that of the
  /// steps of an epoch.
  int64_t step = 0, steps = 0, stepsPerEpoch = 0;
  /// Loss of the batch before the step, and the part of the regularizer.
  double loss = 0, regularizer = 0;
  /// Valid until the next step.
  llvm::ArrayRef<TrainedTensor> trained;
};

/// Settings of a run, apart from network, samples and loss.
struct TrainingSettings {
  int64_t epochs = 1;
  /// Samples per step. The last batch of an epoch has the remaining samples.
  int64_t batch = 32;
  /// Samples that are computed at once; the gradients of the shards of a batch
  /// are summed in their order. Networks that observe ranges process a batch as
  /// a whole, in one shard.
  int64_t shard = 8;
  /// True if each epoch has its own order of samples; otherwise it is that of
  /// the source.
  bool isShuffled = true;
  uint64_t seed = 0;

  /// Settings by kind of learned value; if none, values of that kind are not
  /// trained.
  std::optional<OptimizerSettings> weights, biases, quantizers, rounding;
  std::optional<RegularizerSettings> regularizer;
  /// Fraction of gradual points, by step. If none: from 0 to 1 over the whole
  /// run.
  std::optional<quantization::LinearAnnealing> fraction;

  /// Limit in bytes on the teacher's results that are kept; if there are more,
  /// none are kept.
  int64_t teacherBytes = int64_t(128) << 20;

  /// File in which the run is saved, so that it can be resumed; empty for none.
  /// If the file exists, the run resumes from it.
  std::string checkpoint;
  /// Number of steps between two checkpoints; if 0, one is written when the run
  /// is cancelled, stopped, or complete.
  int64_t checkpointEvery = 0;

  /// Called after each step; returning false ends the run as if it were
  /// complete.
  std::function<bool(const TrainingStepInfo &)> afterStep;
};

/// A network, and everything to train it with.
struct TrainingProblem {
  /// Network with trainable points. It stays unchanged.
  mlir::func::FuncOp network;
  /// Values of the network that are compared and learned; `name` and `samples`
  /// are set by the run.
  TrainingRequest request;
  GradientRules rules;
  /// Function with the values that a loss compares with; null for `network`.
  /// Its points do not quantize, and it has the same arguments.
  mlir::func::FuncOp teacher;
  /// Names of its values to compare, one for each result; if empty, those of
  /// `request`, or its results.
  llvm::SmallVector<std::string> teacherValues;
  std::shared_ptr<TrainingLoss> loss;
  /// Samples for the network's arguments; null for those of RunSettings.
  std::shared_ptr<const execution::SampleSource> samples;
  /// Indices of the samples to train on, in the order of the source; if empty,
  /// all of them.
  std::vector<int64_t> chosen;
};

/// Returns the order of `count` samples in an epoch: a permutation of 0 ...
/// count - 1 by Fisher and Yates, from the last position to the first, with
/// random numbers of SplitMix64 seeded by a mix of seed and epoch.
std::vector<int64_t> shuffleSamples(int64_t count, uint64_t seed,
                                    int64_t epoch);

class TrainingRun {
public:
  /// Compiles the functions of the run. Failures are diagnostics at the
  /// network. `run` provides threads, progress (in samples) and memory, and
  /// samples if the problem has none.
  static mlir::FailureOr<std::unique_ptr<TrainingRun>>
  create(const TrainingProblem &problem, const TrainingSettings &settings,
         const execution::RunSettings &run);
  ~TrainingRun();

  /// Trains, starting from the checkpoint if there is one. Fails with a
  /// diagnostic at the network, also if it is cancelled.
  mlir::LogicalResult train();

  /// Return the number of completed steps, and that of all steps of the run.
  int64_t numStepsDone() const;
  int64_t numSteps() const;

  /// Return the learned values, and their present contents: one tensor for
  /// each. The functions in the `TrainingFunction` have been erased.
  const TrainingFunction &function() const;
  llvm::ArrayRef<std::vector<float>> values() const;
  /// Sets the contents of the learned values, of the same sizes.
  void setValues(llvm::ArrayRef<std::vector<float>> values);

  /// Returns the loss, without a regularizer, of samples of the source given by
  /// their indices, with the present values: the mean over their batches,
  /// weighted by their samples. `fraction` is that of gradual points.
  mlir::FailureOr<double> evaluate(llvm::ArrayRef<int64_t> samples,
                                   float fraction = 1);

  /// Writes the learned values to the network (see `writeLearned`).
  mlir::LogicalResult write(mlir::func::FuncOp network) const;

private:
  struct State;
  explicit TrainingRun(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

} // namespace mct

#endif // MCT_TRAINING_TRAININGRUN_H
