// SPDX-License-Identifier: Apache-2.0
#include "IntegerLoopSets.h"

#if defined(__x86_64__)
using namespace mct::quantization;

#pragma clang attribute push(__attribute__((target("avx2"))),                  \
                             apply_to = function)
namespace mct::execution {
namespace {
namespace avx2 {
#define MCT_DOT_AVX2
#include "IntegerLoops.inc"
} // namespace avx2
} // namespace
using namespace avx2;
const IntegerLoops kAvx2Loops = MCT_INTEGER_LOOPS("avx2");
} // namespace mct::execution
#pragma clang attribute pop
#endif
