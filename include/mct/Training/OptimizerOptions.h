// SPDX-License-Identifier: Apache-2.0
//
// Options of passes that train: names of their optimizers.
#ifndef MCT_TRAINING_OPTIMIZEROPTIONS_H
#define MCT_TRAINING_OPTIMIZEROPTIONS_H

#include "mct/Training/TrainingRun.h"
#include "llvm/Support/CommandLine.h"

namespace mct {

enum class OptimizerKind { Adam, GradientDescent };

/// Return the values of the options of passes.
llvm::cl::ValuesClass optimizerKindValues();
llvm::cl::ValuesClass rateScheduleValues();

/// Returns the settings of an optimizer. `momentum` applies to gradient
/// descent; Adam has its own.
OptimizerSettings makeOptimizer(OptimizerKind kind, double rate,
                                double momentum,
                                quantization::RateSchedule::Kind schedule);

} // namespace mct

#endif // MCT_TRAINING_OPTIMIZEROPTIONS_H
