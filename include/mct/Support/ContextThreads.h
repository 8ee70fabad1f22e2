// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_SUPPORT_CONTEXTTHREADS_H
#define MCT_SUPPORT_CONTEXTTHREADS_H

#include "mct/Support/Threads.h"
#include "mlir/IR/MLIRContext.h"

namespace mct::support {

/// So many threads of the context's pool, 0: all of them; the calling thread
/// alone where the context has no threads (`--mlir-disable-threading`).
inline Threads getThreads(mlir::MLIRContext *context, unsigned count) {
  if (!context->isMultithreadingEnabled())
    return Threads(1);
  return Threads(count, context->getThreadPool());
}

} // namespace mct::support

#endif // MCT_SUPPORT_CONTEXTTHREADS_H
