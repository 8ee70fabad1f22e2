// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_SUPPORT_CONTEXTTHREADS_H
#define MCT_SUPPORT_CONTEXTTHREADS_H

#include "mct/Support/ContextScope.h"
#include "mct/Support/Progress.h"
#include "mct/Support/Threads.h"

namespace mct::support {

/// Makes runs over samples of modules of a context report to the object while
/// it lives.
using ProgressScope = ContextScope<Progress>;

/// Returns the object that runs of the context report to, or null.
inline Progress *findProgress(mlir::MLIRContext *context) {
  return ProgressScope::find(context);
}

/// Returns `count` threads of the context's pool, or all of them for 0; only
/// the calling thread if the context has no threads
/// (`--mlir-disable-threading`). They observe the progress of the context.
inline Threads getThreads(mlir::MLIRContext *context, unsigned count) {
  Threads threads = context->isMultithreadingEnabled()
                        ? Threads(count, context->getThreadPool())
                        : Threads(1);
  return threads.watchedBy(findProgress(context));
}

} // namespace mct::support

#endif // MCT_SUPPORT_CONTEXTTHREADS_H
