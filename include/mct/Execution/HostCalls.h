// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_EXECUTION_HOSTCALLS_H
#define MCT_EXECUTION_HOSTCALLS_H

#include "mct/Execution/Executor.h"

namespace mct::execution {

/// Returns whether the program around the compiler quantizes some points
/// (`mct::HostQuantizers`). Its quantizers may keep what they have seen, so
/// that samples go through one worker, in their order.
bool callsHost(const Executor &executor);

} // namespace mct::execution

#endif // MCT_EXECUTION_HOSTCALLS_H
