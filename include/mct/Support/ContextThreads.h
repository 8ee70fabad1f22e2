// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_SUPPORT_CONTEXTTHREADS_H
#define MCT_SUPPORT_CONTEXTTHREADS_H

#include "mct/Support/Progress.h"
#include "mct/Support/Threads.h"
#include "mlir/IR/MLIRContext.h"

namespace mct::support {

/// So many threads of the context's pool, 0: all of them; the calling thread
/// alone where the context has no threads (`--mlir-disable-threading`). Watched
/// by what is told of runs of the context.
inline Threads getThreads(mlir::MLIRContext *context, unsigned count) {
  Threads threads = context->isMultithreadingEnabled()
                        ? Threads(count, context->getThreadPool())
                        : Threads(1);
  return threads.watchedBy(findProgress(context));
}

} // namespace mct::support

#endif // MCT_SUPPORT_CONTEXTTHREADS_H
