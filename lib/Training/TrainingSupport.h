// SPDX-License-Identifier: Apache-2.0
//
// Parts that training runs share.
#ifndef MCT_LIB_TRAINING_TRAININGSUPPORT_H
#define MCT_LIB_TRAINING_TRAININGSUPPORT_H

#include "mct/Training/TrainingRun.h"

namespace mct::training {

/// Emits an error of a training run.
inline mlir::InFlightDiagnostic fail(mlir::Location loc) {
  return mlir::emitError(loc) << "training: ";
}

/// Returns the value, or emits its error.
template <typename T>
mlir::FailureOr<T> take(mlir::Location loc, llvm::Expected<T> value) {
  if (!value)
    return fail(loc) << llvm::toString(value.takeError());
  return std::move(*value);
}

std::string hashText(llvm::StringRef bytes);
std::string hashValues(llvm::ArrayRef<float> values);

/// Returns the optimizer of a kind of learned values, or null.
const OptimizerSettings *getOptimizer(const TrainingSettings &settings,
                                      LearnedKind kind);

/// Loads samples one after the other, and fills up with copies of the last one
/// to `unit` samples.
llvm::Error loadSamples(const execution::SampleSource &source,
                        llvm::ArrayRef<int64_t> samples, int64_t unit,
                        llvm::ArrayRef<void *> buffers);

/// Returns how many threads can run `units` units simultaneously.
int64_t countThreads(const execution::Executor &executor, int64_t units,
                     const execution::RunSettings &run);

/// Returns whether the caller has requested to stop the run.
inline bool isCancelled(const execution::RunSettings &run) {
  return run.run.progress && run.run.progress->isCancelled();
}

} // namespace mct::training

#endif // MCT_LIB_TRAINING_TRAININGSUPPORT_H
