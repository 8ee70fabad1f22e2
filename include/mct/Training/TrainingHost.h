// SPDX-License-Identifier: Apache-2.0
//
// Hooks of training for the caller of the compiler: it may look at each step,
// and compute the loss.
#ifndef MCT_TRAINING_TRAININGHOST_H
#define MCT_TRAINING_TRAININGHOST_H

#include "mct/Support/ContextScope.h"
#include "mct/Training/TrainingLoss.h"
#include "mct/Training/TrainingRun.h"

namespace mct {

class TrainingHost {
public:
  virtual ~TrainingHost();

  virtual bool watchesSteps() const = 0;
  /// Called after each step, on the thread that trains. `compared`: the names
  /// of what the loss compares. An error ends the training.
  virtual llvm::Error afterStep(const TrainingStepInfo &step,
                                llvm::ArrayRef<std::string> compared) = 0;

  virtual bool hasLoss() const = 0;
  /// Returns the loss of a shard of a batch; of several shards of a batch the
  /// mean counts, weighted by their samples. Writes its gradients by the
  /// values. `weights`: one for each result; empty: all count alike. Called by
  /// several threads where batches have several shards.
  virtual llvm::Expected<double>
  computeLoss(llvm::ArrayRef<ComparedShape> shapes,
              llvm::ArrayRef<TrainingShard::Result> results,
              llvm::ArrayRef<double> weights) = 0;
  /// Returns a text by which a run that goes on can tell whether it is the
  /// same.
  virtual std::string describeLoss() const = 0;
};

/// While it lives, the training of networks of a context is told to it.
using TrainingHostScope = support::ContextScope<TrainingHost>;

/// Returns the mean of the losses of `host`. `host` outlives it.
std::unique_ptr<TrainingLoss> createHostLoss(TrainingHost &host,
                                             std::vector<double> weights);

} // namespace mct

#endif // MCT_TRAINING_TRAININGHOST_H
