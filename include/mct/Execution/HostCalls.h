// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_EXECUTION_HOSTCALLS_H
#define MCT_EXECUTION_HOSTCALLS_H

#include "mct/Execution/Executor.h"

namespace mct::execution {

/// Returns whether the calling program quantizes some points
/// (`mct::HostQuantizers`). Its quantizers may be stateful, so that samples
/// must be run by one worker, in their order.
bool callsHost(const Executor &executor);

} // namespace mct::execution

#endif // MCT_EXECUTION_HOSTCALLS_H
