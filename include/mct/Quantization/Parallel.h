// SPDX-License-Identifier: Apache-2.0

#ifndef MCT_QUANTIZATION_PARALLEL_H
#define MCT_QUANTIZATION_PARALLEL_H

#include "mct/Support/Threads.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <cstddef>

namespace mct::quantization {

/// Calls `work` once for each of 0 ... count - 1 on `threads`, which include
/// the calling one; on fewer if the system refuses to create them. The
/// assignment of indices to threads is not determined: calls must not depend on
/// each other.
void parallelFor(size_t count, const support::Threads &threads,
                 llvm::function_ref<void(size_t)> work);

} // namespace mct::quantization

#endif // MCT_QUANTIZATION_PARALLEL_H
