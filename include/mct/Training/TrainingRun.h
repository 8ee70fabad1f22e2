// SPDX-License-Identifier: Apache-2.0
//
// Trains a network: batch by batch, gradients of a loss move what is learned.
//
// The result depends on the network, the samples and the settings, and neither
// on threads nor on interruptions: it is the same bytes on machines of one
// instruction set.
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

/// How a group of learned values follows its gradients.
struct OptimizerSettings {
  std::variant<quantization::Adam, quantization::GradientDescent> method =
      quantization::Adam();
  /// Its `steps` become those of the run.
  quantization::RateSchedule schedule = {};
  /// The rate is in units of the root mean square of what a tensor starts from,
  /// if that is not zero.
  bool isRelative = false;
};

/// The regularizer that pulls rounded weights to a level: factor * sum over the
/// layers of importance / largest importance *
/// quantization::roundingRegularizer
struct RegularizerSettings {
  double factor = 0.01;
  /// One for each learned value of the role Rounding, in their order; empty: 1.
  std::vector<double> importances;
  /// The power: from `initial` to `target`, in equal steps from that part of
  /// the run on.
  double initial = 20, target = 2, start = 0.2;
};

/// A tensor that a step has moved.
struct TrainedTensor {
  const LearnedValue *learned;
  /// State after the step; gradients of loss and regularizer that it was moved
  /// by.
  llvm::ArrayRef<float> values, gradients;
};

/// The state after a step of a training run.
struct TrainingStepInfo {
  /// Index of this step, from 0 on; number of all steps, and of those of an
  /// epoch.
  int64_t step = 0, steps = 0, stepsPerEpoch = 0;
  /// Loss of the batch, before the step, and the part of the regularizer.
  double loss = 0, regularizer = 0;
  /// Valid until the next step.
  llvm::ArrayRef<TrainedTensor> trained;
};

/// Settings of a run beside network, samples and loss.
struct TrainingSettings {
  int64_t epochs = 1;
  /// Samples of a step. The last batch of an epoch has what is left.
  int64_t batch = 32;
  /// Samples that are computed at once; the gradients of the shards of a batch
  /// are summed in their order. Networks that observe ranges see a batch as a
  /// whole, and have one shard.
  int64_t shard = 8;
  /// Each epoch has its own order of samples; without: that of the source.
  bool isShuffled = true;
  uint64_t seed = 0;

  /// Settings by kind of what is learned; none: values of that kind stay.
  std::optional<OptimizerSettings> weights, biases, quantizers, rounding;
  std::optional<RegularizerSettings> regularizer;
  /// Fraction of gradual points, by step. None: from 0 to 1 over the whole run.
  std::optional<quantization::LinearAnnealing> fraction;

  /// Most bytes of the teacher's results that are kept; where there are more,
  /// none.
  int64_t teacherBytes = int64_t(128) << 20;

  /// A file in which the run is kept, so that it can go on when it was ended;
  /// empty: none. A run whose file is there goes on from it.
  std::string checkpoint;
  /// Steps from one time to the next; 0: it is written when the run is
  /// cancelled, is stopped, or has come to its end.
  int64_t checkpointEvery = 0;

  /// Called behind each step; false ends the run as if it were at its end.
  std::function<bool(const TrainingStepInfo &)> afterStep;
};

/// A network, and what it is trained with.
struct TrainingProblem {
  /// Network with trainable points. It stays as it is.
  mlir::func::FuncOp network;
  /// Values of it that are compared and learned; `name` and `samples` are the
  /// run's.
  TrainingRequest request;
  GradientRules rules;
  /// Function with the values that a loss compares with (null: `network`). Its
  /// points do not quantize, and it has the same arguments.
  mlir::func::FuncOp teacher;
  /// Names of its values to compare, one for each result; empty: those of
  /// `request`, or its results.
  llvm::SmallVector<std::string> teacherValues;
  std::shared_ptr<TrainingLoss> loss;
  /// Samples for the network's arguments; null: those of RunSettings.
  std::shared_ptr<const execution::SampleSource> samples;
  /// Numbers of the samples to train on, in the order of the source; empty: all
  /// of them.
  std::vector<int64_t> chosen;
};

/// Returns the order of `count` samples in an epoch: a permutation of 0 ...
/// count - 1 by Fisher and Yates, from the last place to the first, with
/// numbers of SplitMix64 that begins at a mix of seed and epoch.
std::vector<int64_t> shuffleSamples(int64_t count, uint64_t seed,
                                    int64_t epoch);

class TrainingRun {
public:
  /// Compiles what the run needs. Failures are diagnostics at the network.
  /// `run`: threads, progress (which is told of samples) and memory; its
  /// samples where the problem has none.
  static mlir::FailureOr<std::unique_ptr<TrainingRun>>
  create(const TrainingProblem &problem, const TrainingSettings &settings,
         const execution::RunSettings &run);
  ~TrainingRun();

  /// Trains, from the checkpoint on if there is one. Fails with a diagnostic at
  /// the network, also when it is cancelled.
  mlir::LogicalResult train();

  /// Returns the steps that have been done, and that the whole run has.
  int64_t numStepsDone() const;
  int64_t numSteps() const;

  /// Returns what is learned, and its values now: one tensor for each. The
  /// functions that `TrainingFunction` names are gone.
  const TrainingFunction &function() const;
  llvm::ArrayRef<std::vector<float>> values() const;
  /// Takes other values, of the same sizes.
  void setValues(llvm::ArrayRef<std::vector<float>> values);

  /// Returns the loss, without a regularizer, of samples of the source by their
  /// numbers, with the values that there are: the mean of their batches,
  /// weighted by their samples. `fraction`: of gradual points.
  mlir::FailureOr<double> evaluate(llvm::ArrayRef<int64_t> samples,
                                   float fraction = 1);

  /// Puts what was learned into the network (see writeLearned).
  mlir::LogicalResult write(mlir::func::FuncOp network) const;

private:
  struct State;
  explicit TrainingRun(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

} // namespace mct

#endif // MCT_TRAINING_TRAININGRUN_H
