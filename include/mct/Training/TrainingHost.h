// SPDX-License-Identifier: Apache-2.0
//
// Hooks of training for the calling program: it may observe each step, and
// compute the loss.
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
  /// Called after each step, on the thread that trains. `compared` has the
  /// names of the values that the loss compares. An error ends the training.
  virtual llvm::Error afterStep(const TrainingStepInfo &step,
                                llvm::ArrayRef<std::string> compared) = 0;

  virtual bool hasLoss() const = 0;
  /// Returns the loss of a shard of a batch, and writes its gradients by the
  /// values. The loss of a batch is the mean over its shards, weighted by their
  /// samples. `weights` has one entry for each result; if empty, all have equal
  /// weights. Called by several threads if batches have several shards.
  virtual llvm::Expected<double>
  computeLoss(llvm::ArrayRef<ComparedShape> shapes,
              llvm::ArrayRef<TrainingShard::Result> results,
              llvm::ArrayRef<double> weights) = 0;
  /// Returns a text that identifies the loss, by which a resumed run checks
  /// that it is the same.
  virtual std::string describeLoss() const = 0;
};

/// Connects the training of networks of a context to a host while it lives.
using TrainingHostScope = support::ContextScope<TrainingHost>;

/// Returns a loss that is the mean of the losses of `host`, which must outlive
/// it.
std::unique_ptr<TrainingLoss> createHostLoss(TrainingHost &host,
                                             std::vector<double> weights);

} // namespace mct

#endif // MCT_TRAINING_TRAININGHOST_H
