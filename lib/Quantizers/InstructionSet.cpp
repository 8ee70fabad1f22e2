// SPDX-License-Identifier: Apache-2.0

#include "mct/Quantizers/InstructionSet.h"

#include <atomic>

namespace mct::quantization {

static InstructionSet detect() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq"))
    return __builtin_cpu_supports("avx512vnni") ? InstructionSet::AVX512VNNI
                                                : InstructionSet::AVX512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return InstructionSet::AVX2;
#endif
  return InstructionSet::Portable;
}

static InstructionSet processorSet() {
  static const InstructionSet set = detect();
  return set;
}

static std::atomic<int> forcedSet{-1};

InstructionSet instructionSet() {
  int forced = forcedSet.load(std::memory_order_relaxed);
  return forced < 0 ? processorSet() : static_cast<InstructionSet>(forced);
}

bool forceInstructionSetForTesting(std::optional<InstructionSet> set) {
  if (!set) {
    forcedSet = -1;
    return true;
  }
  // Each set includes the smaller ones.
  if (static_cast<int>(*set) > static_cast<int>(processorSet()))
    return false;
  forcedSet = static_cast<int>(*set);
  return true;
}

} // namespace mct::quantization
