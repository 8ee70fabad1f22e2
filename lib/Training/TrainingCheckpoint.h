// SPDX-License-Identifier: Apache-2.0
//
// State of a training run between two steps, in a file.
#ifndef MCT_LIB_TRAINING_TRAININGCHECKPOINT_H
#define MCT_LIB_TRAINING_TRAININGCHECKPOINT_H

#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mct {

struct TrainingCheckpoint {
  /// Digests of everything on which the run depends.
  std::string network, settings, samples;
  /// Number of completed steps.
  int64_t step = 0;
  /// Learned values, and states of the optimizers.
  std::vector<std::vector<float>> values, states;

  /// Writes the file completely, or leaves the previous one. Errors name it.
  llvm::Error write(llvm::StringRef path) const;
  /// Reads a file. Errors name it and say what is wrong with it.
  static llvm::Expected<TrainingCheckpoint> read(llvm::StringRef path);
};

} // namespace mct

#endif // MCT_LIB_TRAINING_TRAININGCHECKPOINT_H
