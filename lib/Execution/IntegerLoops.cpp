// SPDX-License-Identifier: Apache-2.0
#include "IntegerLoops.h"

#include "../Quantization/Simd.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

using namespace mct::quantization;

namespace mct::execution {

// Lambdas and templates take their instructions from where they are defined,
// not from who calls them, so every set has its own.
#define MCT_INTEGER_LOOPS(name)                                                \
  {name,  &convolve,   &convolveDepthwise, &compute,                           \
   &flip, &flipPixels, &packColumns}

#if defined(__x86_64__)
#pragma clang attribute push(                                                  \
    __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni"))),  \
    apply_to = function)
namespace {
namespace vnni {
#define MCT_DOT_VNNI
#include "IntegerLoops.inc"
#undef MCT_DOT_VNNI
const IntegerLoops kLoops = MCT_INTEGER_LOOPS("avx512_vnni");
} // namespace vnni
} // namespace
#pragma clang attribute pop

#pragma clang attribute push(                                                  \
    __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq"))),             \
    apply_to = function)
namespace {
namespace avx512 {
#define MCT_DOT_AVX512
#include "IntegerLoops.inc"
#undef MCT_DOT_AVX512
const IntegerLoops kLoops = MCT_INTEGER_LOOPS("avx512");
} // namespace avx512
} // namespace
#pragma clang attribute pop

#pragma clang attribute push(__attribute__((target("avx2"))),                  \
                             apply_to = function)
namespace {
namespace avx2 {
#define MCT_DOT_AVX2
#include "IntegerLoops.inc"
#undef MCT_DOT_AVX2
const IntegerLoops kLoops = MCT_INTEGER_LOOPS("avx2");
} // namespace avx2
} // namespace
#pragma clang attribute pop
#endif

namespace {
namespace portable {
#include "IntegerLoops.inc"
const IntegerLoops kLoops = MCT_INTEGER_LOOPS("portable");
} // namespace portable
} // namespace

const IntegerLoops &integerLoops() {
#if defined(__x86_64__)
  switch (instructionSet()) {
  case InstructionSet::AVX512VNNI:
    return vnni::kLoops;
  case InstructionSet::AVX512:
    return avx512::kLoops;
  case InstructionSet::AVX2:
    return avx2::kLoops;
  case InstructionSet::Portable:
    break;
  }
#endif
  return portable::kLoops;
}

} // namespace mct::execution
