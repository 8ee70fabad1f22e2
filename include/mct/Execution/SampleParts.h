// SPDX-License-Identifier: Apache-2.0
//
// Divides samples into those that a correction is fitted to and those that
// judge it.
#ifndef MCT_EXECUTION_SAMPLEPARTS_H
#define MCT_EXECUTION_SAMPLEPARTS_H

#include "mct/Execution/SampleSource.h"

namespace mct::execution {

/// Two disjoint parts of some samples.
struct SampleParts {
  std::shared_ptr<const SampleSource> fitted, judging;
  /// Positions of the samples of each part among all samples, ascending.
  std::vector<int64_t> fittedPositions, judgingPositions;
};

/// Divides samples into about `count` that judge and the others, which are
/// fitted to. The division depends on the values and not on their order; equal
/// samples are in one part. `thinSamples` keeps the same samples of the fitted
/// part as of all samples, as long as it keeps no more than the fitted part
/// has. Returns none if a part would be empty.
llvm::Expected<std::optional<SampleParts>>
holdOut(const std::shared_ptr<const SampleSource> &samples, int64_t count);

/// Returns both halves, as `takeHalf` does; none if one would be empty.
llvm::Expected<std::optional<SampleParts>>
halve(const std::shared_ptr<const SampleSource> &samples);

/// Returns a hash of the values of a sample, which has one or several inputs.
/// Samples are chosen by this hash.
uint64_t hashSample(llvm::ArrayRef<llvm::ArrayRef<uint8_t>> inputs);
/// Returns the hash of each sample.
llvm::Expected<std::vector<uint64_t>> hashSamples(const SampleSource &samples);

/// Returns how many of the samples are also among the others, by their values.
llvm::Expected<int64_t> countShared(const SampleSource &samples,
                                    const SampleSource &others);

} // namespace mct::execution

#endif // MCT_EXECUTION_SAMPLEPARTS_H
