// SPDX-License-Identifier: Apache-2.0

#ifndef MCT_LIB_QUANTIZATION_SIMD_H
#define MCT_LIB_QUANTIZATION_SIMD_H

#include "mct/Quantization/InstructionSet.h"

#include <cstdint>
#include <cstring>

// A vector loop is one always-inlined body in vector extensions of fixed lane
// count, wrapped in one function per instruction set. The lanes, and with them
// the order of additions, are the same in each; only the registers differ.
#define MCT_VECTOR_BODY inline __attribute__((always_inline))
#if defined(__x86_64__)
#define MCT_TARGET_AVX2 __attribute__((target("avx2")))
#define MCT_TARGET_AVX512                                                      \
  __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq")))
#define MCT_DEFINE_VECTOR_LOOPS(name, parameters, call)                        \
  static MCT_TARGET_AVX512 void name##Avx512 parameters { call; }              \
  static MCT_TARGET_AVX2 void name##Avx2 parameters { call; }                  \
  static void name##Portable parameters { call; }
#define MCT_CALL_VECTOR_LOOP(name, ...)                                        \
  do {                                                                         \
    switch (instructionSet()) {                                                \
    case InstructionSet::AVX512VNNI:                                           \
    case InstructionSet::AVX512:                                               \
      name##Avx512(__VA_ARGS__);                                               \
      break;                                                                   \
    case InstructionSet::AVX2:                                                 \
      name##Avx2(__VA_ARGS__);                                                 \
      break;                                                                   \
    case InstructionSet::Portable:                                             \
      name##Portable(__VA_ARGS__);                                             \
      break;                                                                   \
    }                                                                          \
  } while (false)
#else
#define MCT_DEFINE_VECTOR_LOOPS(name, parameters, call)                        \
  static void name##Portable parameters { call; }
#define MCT_CALL_VECTOR_LOOP(name, ...) name##Portable(__VA_ARGS__)
#endif

namespace mct::quantization {

using Double8 = double __attribute__((vector_size(64)));
using Float16 = float __attribute__((vector_size(64)));
using Int16x32 = int32_t __attribute__((vector_size(64)));

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

} // namespace mct::quantization

#endif // MCT_LIB_QUANTIZATION_SIMD_H
