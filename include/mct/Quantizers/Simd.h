// SPDX-License-Identifier: Apache-2.0

#ifndef MCT_QUANTIZERS_SIMD_H
#define MCT_QUANTIZERS_SIMD_H

#include "mct/Quantizers/InstructionSet.h"

#include <cstdint>
#include <cstring>
#include <utility>

#define MCT_VECTOR_BODY inline __attribute__((always_inline))
#if defined(__x86_64__)
#define MCT_TARGET_AVX2 __attribute__((target("avx2")))
#define MCT_TARGET_AVX512                                                      \
  __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq")))
#endif

namespace mct::quantization {

using Double8 = double __attribute__((vector_size(64)));
using Float16 = float __attribute__((vector_size(64)));
using Int16x32 = int32_t __attribute__((vector_size(64)));

/// Adding and then subtracting this number rounds to the nearest integer, ties
/// to even. Exact for magnitudes up to 2^51.
constexpr double kRounder = 0x1.8p52;
/// The same for floats, exact for magnitudes up to 2^22.
constexpr float kFloatRounder = 0x1.8p23f;

template <typename Vector, typename Element>
MCT_VECTOR_BODY Vector loadVector(const Element *from) {
  Vector result;
  std::memcpy(&result, from, sizeof(Vector));
  return result;
}
template <typename Vector, typename Element>
MCT_VECTOR_BODY void storeVector(Element *to, const Vector &value) {
  std::memcpy(to, &value, sizeof(Vector));
}

#if defined(__x86_64__)
template <auto Body, typename... Arguments>
MCT_TARGET_AVX512 void runLoopAvx512(Arguments &&...arguments) {
  Body(std::forward<Arguments>(arguments)...);
}
template <auto Body, typename... Arguments>
MCT_TARGET_AVX2 void runLoopAvx2(Arguments &&...arguments) {
  Body(std::forward<Arguments>(arguments)...);
}
#endif

/// Runs a vector loop: an MCT_VECTOR_BODY in vector extensions of fixed lane
/// count, compiled for each instruction set. The lanes, and thus the order of
/// additions, are the same in each; only the registers differ.
template <auto Body, typename... Arguments>
void runVectorLoop(Arguments &&...arguments) {
#if defined(__x86_64__)
  switch (instructionSet()) {
  case InstructionSet::AVX512VNNI:
  case InstructionSet::AVX512:
    return runLoopAvx512<Body>(std::forward<Arguments>(arguments)...);
  case InstructionSet::AVX2:
    return runLoopAvx2<Body>(std::forward<Arguments>(arguments)...);
  case InstructionSet::Portable:
    break;
  }
#endif
  Body(std::forward<Arguments>(arguments)...);
}

} // namespace mct::quantization

#endif // MCT_QUANTIZERS_SIMD_H
