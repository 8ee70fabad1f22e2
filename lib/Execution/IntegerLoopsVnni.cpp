// SPDX-License-Identifier: Apache-2.0
#include "IntegerLoopSets.h"

#if defined(__x86_64__)
using namespace mct::quantization;

#pragma clang attribute push(                                                  \
    __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni"))),  \
    apply_to = function)
namespace mct::execution {
namespace {
namespace vnni {
#define MCT_DOT_VNNI
#include "IntegerLoops.inc"
} // namespace vnni
} // namespace
using namespace vnni;
const IntegerLoops kVnniLoops = MCT_INTEGER_LOOPS("avx512_vnni");
} // namespace mct::execution
#pragma clang attribute pop
#endif
