// SPDX-License-Identifier: Apache-2.0
//
// Samples that something is fitted to, and others that judge it.
#ifndef MCT_EXECUTION_SAMPLEPARTS_H
#define MCT_EXECUTION_SAMPLEPARTS_H

#include "mct/Execution/SampleSource.h"

namespace mct::execution {

/// Two disjoint parts of some samples.
struct SampleParts {
  std::shared_ptr<const SampleSource> fitted, judging;
  /// Their positions among all samples, ascending.
  std::vector<int64_t> fittedPositions, judgingPositions;
};

/// Divides samples into about `count` that judge and the others, which are
/// fitted to, by their values and not by their order; equal ones are in one
/// part. What `thinSamples` keeps of the fitted ones is what it keeps of all,
/// as long as that is no more than the fitted ones are. Returns none where a
/// part would be empty.
llvm::Expected<std::optional<SampleParts>>
holdOut(const std::shared_ptr<const SampleSource> &samples, int64_t count);

/// Returns both halves, as takeHalf; none where one would be empty.
llvm::Expected<std::optional<SampleParts>>
halve(const std::shared_ptr<const SampleSource> &samples);

/// Returns a number that depends on the values of a sample alone, which has one
/// or several inputs. What chooses samples goes by it.
uint64_t hashSample(llvm::ArrayRef<llvm::ArrayRef<uint8_t>> inputs);
/// Returns that number of each sample.
llvm::Expected<std::vector<uint64_t>> hashSamples(const SampleSource &samples);

/// Returns how many of the samples are among the others, by their values.
llvm::Expected<int64_t> countShared(const SampleSource &samples,
                                    const SampleSource &others);

} // namespace mct::execution

#endif // MCT_EXECUTION_SAMPLEPARTS_H
