// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_LIB_EXECUTION_MACHINEMEMORY_H
#define MCT_LIB_EXECUTION_MACHINEMEMORY_H

#include <cstdint>

namespace mct::execution {

/// Returns the number of bytes of memory that this process may use: those of
/// the machine, or of its control group or its resource limits if these are
/// lower.
int64_t machineMemory();

/// Returns the number of bytes that this process has in memory; 0 if the system
/// does not report it.
int64_t residentMemory();

/// Makes the allocator return large blocks to the system at once, and returns
/// those that it has kept: slower, with less memory.
void returnFreedMemory();

} // namespace mct::execution

#endif // MCT_LIB_EXECUTION_MACHINEMEMORY_H
