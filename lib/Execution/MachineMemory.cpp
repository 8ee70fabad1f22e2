// SPDX-License-Identifier: Apache-2.0
#include "MachineMemory.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"

#include <algorithm>
#include <limits>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

int64_t mct::execution::machineMemory() {
  int64_t bytes = std::numeric_limits<int64_t>::max();
  int64_t pages = sysconf(_SC_PHYS_PAGES), pageSize = sysconf(_SC_PAGESIZE);
  if (pages > 0 && pageSize > 0)
    bytes = pages * pageSize;
  // Control groups of versions 2 and 1; "max" is not a number.
  for (const char *path : {"/sys/fs/cgroup/memory.max",
                           "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    auto file = llvm::MemoryBuffer::getFileAsStream(path);
    int64_t limit;
    if (file && !(*file)->getBuffer().trim().getAsInteger(10, limit) &&
        limit > 0)
      bytes = std::min(bytes, limit);
  }
  for (auto resource : {RLIMIT_AS, RLIMIT_DATA}) {
    rlimit limit;
    if (getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
      bytes = static_cast<int64_t>(std::min<uint64_t>(bytes, limit.rlim_cur));
  }
  return bytes;
}

int64_t mct::execution::residentMemory() {
  // The file holds the sizes of the address space and of the resident set, in
  // pages.
  auto file = llvm::MemoryBuffer::getFileAsStream("/proc/self/statm");
  int64_t pages;
  if (!file ||
      (*file)->getBuffer().split(' ').second.split(' ').first.getAsInteger(
          10, pages))
    return 0;
  return pages * sysconf(_SC_PAGESIZE);
}

void mct::execution::returnFreedMemory() {
#ifdef __GLIBC__
  // Left to itself, glibc keeps ever larger blocks.
  constexpr int kLargeBlock = 128 * 1024;
  mallopt(M_MMAP_THRESHOLD, kLargeBlock);
  mallopt(M_TRIM_THRESHOLD, kLargeBlock);
  malloc_trim(0);
#endif
}
