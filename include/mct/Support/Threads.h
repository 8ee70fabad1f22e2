// SPDX-License-Identifier: Apache-2.0
//
// Threads that may be refused: a limit on processes or memory makes work slower
// and does not end it.
#ifndef MCT_SUPPORT_THREADS_H
#define MCT_SUPPORT_THREADS_H

#include "llvm/ADT/STLFunctionalExtras.h"

#include <cstddef>

namespace mct::support {

/// Calls `work(0)` on the calling thread and `work(1)` ... `work(count - 1)` on
/// one thread each, and returns when all have returned. Calls for which the
/// system has no thread are left out, so that each must take what it does from
/// something that all of them share.
void runOnThreads(size_t count, llvm::function_ref<void(size_t)> work);

/// Whether the system gives so many threads beside the calling one at once.
bool canRunThreads(size_t count);

} // namespace mct::support

#endif // MCT_SUPPORT_THREADS_H
