// SPDX-License-Identifier: Apache-2.0
//
// Classes of samples, and answers of a network.
#ifndef MCT_EVALUATION_LABELS_H
#define MCT_EVALUATION_LABELS_H

#include "mct/Execution/Executor.h"
#include "mct/Execution/SampleSource.h"

namespace mct::execution {

/// Reads the classes of samples, integers in an `.npy` file of shape N or Nx1.
/// Errors name the file.
llvm::Expected<std::vector<int64_t>> readLabels(llvm::StringRef path);
/// Reads the classes of the samples of a run, each below `classes`; the file
/// may have one class for each of these, or one for each available sample.
llvm::Expected<std::vector<int64_t>>
readLabels(const SampleSource &samples, llvm::StringRef path, int64_t classes);

/// Returns the index of the largest of the `count` elements of a sample of a
/// unit, the first of equal ones; -1 if one is NaN.
int64_t findAnswer(const TensorSpec &output, const void *data, int64_t sample,
                   int64_t count);
/// Returns whether an output of a network with this unit has all values of a
/// sample along one axis, as scores of classes have.
bool hasScores(const TensorSpec &output, int64_t unit);

} // namespace mct::execution

#endif // MCT_EVALUATION_LABELS_H
