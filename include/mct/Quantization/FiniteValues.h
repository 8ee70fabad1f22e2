// SPDX-License-Identifier: Apache-2.0

#ifndef MCT_QUANTIZATION_FINITEVALUES_H
#define MCT_QUANTIZATION_FINITEVALUES_H

#include "mct/Support/Threads.h"
#include "llvm/ADT/ArrayRef.h"

#include <cstddef>
#include <optional>

namespace mct::quantization {

/// Returns the index of the first value that is NaN or infinite; none if all
/// are finite.
std::optional<size_t> findNonFinite(llvm::ArrayRef<float> values,
                                    const support::Threads &threads);

} // namespace mct::quantization

#endif // MCT_QUANTIZATION_FINITEVALUES_H
