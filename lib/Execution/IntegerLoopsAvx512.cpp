// SPDX-License-Identifier: Apache-2.0
#include "IntegerLoopSets.h"

#if defined(__x86_64__)
using namespace mct::quantization;

#pragma clang attribute push(                                                  \
    __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq"))),             \
    apply_to = function)
namespace mct::execution {
namespace {
namespace avx512 {
#define MCT_DOT_AVX512
#include "IntegerLoops.inc"
} // namespace avx512
} // namespace
using namespace avx512;
const IntegerLoops kAvx512Loops = MCT_INTEGER_LOOPS("avx512");
} // namespace mct::execution
#pragma clang attribute pop
#endif
