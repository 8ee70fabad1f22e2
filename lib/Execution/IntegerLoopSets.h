// SPDX-License-Identifier: Apache-2.0
//
// The loops of integer kernels, one source for each instruction set. Each
// includes this header, then IntegerLoops.inc between the pragmas that enable
// its instructions: lambdas and templates use the instructions enabled at their
// definition, not those of their callers.
#ifndef MCT_LIB_EXECUTION_INTEGERLOOPSETS_H
#define MCT_LIB_EXECUTION_INTEGERLOOPSETS_H

#include "IntegerLoops.h"
#include "mct/Quantizers/Simd.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace mct::execution {

extern const IntegerLoops kPortableLoops;
#if defined(__x86_64__)
extern const IntegerLoops kAvx2Loops, kAvx512Loops, kVnniLoops;
#endif

} // namespace mct::execution

/// Defines the table of a set, after its loops.
#define MCT_INTEGER_LOOPS(name)                                                \
  {name,  &convolve,   &convolveDepthwise, &compute,                           \
   &flip, &flipPixels, &packColumns}

#endif // MCT_LIB_EXECUTION_INTEGERLOOPSETS_H
