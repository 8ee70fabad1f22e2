// SPDX-License-Identifier: Apache-2.0

#ifndef MCT_LIB_QUANTIZATION_ROUNDINGCANDIDATES_H
#define MCT_LIB_QUANTIZATION_ROUNDINGCANDIDATES_H

#include "mct/Quantization/LeastSquaresRounding.h"

namespace mct::quantization {

/// Returns the objective of each channel under each of the candidates:
/// [channels, candidates].
std::vector<float> scoreCandidates(const RoundingProblem &problem,
                                   const support::Threads &threads);

/// Returns for each channel the candidate of the least score; unless
/// `perChannel`, one for all channels, that of the least sum.
std::vector<size_t> chooseCandidates(llvm::ArrayRef<float> scores,
                                     size_t candidates, bool perChannel);

} // namespace mct::quantization

#endif // MCT_LIB_QUANTIZATION_ROUNDINGCANDIDATES_H
