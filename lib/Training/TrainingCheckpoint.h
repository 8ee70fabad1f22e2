// SPDX-License-Identifier: Apache-2.0
//
// A training run between two steps, in a file.
#ifndef MCT_LIB_TRAINING_TRAININGCHECKPOINT_H
#define MCT_LIB_TRAINING_TRAININGCHECKPOINT_H

#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mct {

struct TrainingCheckpoint {
  /// Digests of what the run depends on.
  std::string network, settings, samples;
  /// Steps that have been done.
  int64_t step = 0;
  /// Learned values, and states of the optimizers.
  std::vector<std::vector<float>> values, states;

  /// The file is there as a whole, or as it was before. Errors name it.
  llvm::Error write(llvm::StringRef path) const;
  /// Returns the errors name the file, and what is wrong with it.
  static llvm::Expected<TrainingCheckpoint> read(llvm::StringRef path);
};

} // namespace mct

#endif // MCT_LIB_TRAINING_TRAININGCHECKPOINT_H
