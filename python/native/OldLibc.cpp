// SPDX-License-Identifier: Apache-2.0
//
// Functions that LLVM takes from glibc 2.36, for wheels, which run with glibc
// 2.34.
#include <cstdint>
#include <cstdlib>
#include <sys/random.h>

/// Returns a random number, from which LLVM makes names of temporary files.
extern "C" __attribute__((visibility("hidden"))) uint32_t arc4random() {
  uint32_t value = 0;
  if (getrandom(&value, sizeof(value), 0) != sizeof(value))
    abort();
  return value;
}
