// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_LIB_EXECUTION_MACHINEMEMORY_H
#define MCT_LIB_EXECUTION_MACHINEMEMORY_H

#include <cstdint>

namespace mct::execution {

/// Returns the number of bytes of memory that this process may have: those of
/// the machine, or of its control group or its resource limits where these
/// allow less.
int64_t machineMemory();

/// Returns the number of bytes that this process has in memory; 0 where the
/// system does not tell.
int64_t residentMemory();

/// Makes the allocator give large blocks back to the system at once, and
/// returns what it has kept: slower, with less memory.
void returnFreedMemory();

} // namespace mct::execution

#endif // MCT_LIB_EXECUTION_MACHINEMEMORY_H
