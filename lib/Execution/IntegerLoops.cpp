// SPDX-License-Identifier: Apache-2.0
//
// The loops for any machine, and which set is the best one for this machine.
#include "IntegerLoopSets.h"

using namespace mct::quantization;

namespace mct::execution {

namespace {
namespace portable {
#include "IntegerLoops.inc"
} // namespace portable
} // namespace
using namespace portable;
const IntegerLoops kPortableLoops = MCT_INTEGER_LOOPS("portable");

const IntegerLoops &integerLoops() {
#if defined(__x86_64__)
  switch (instructionSet()) {
  case InstructionSet::AVX512VNNI:
    return kVnniLoops;
  case InstructionSet::AVX512:
    return kAvx512Loops;
  case InstructionSet::AVX2:
    return kAvx2Loops;
  case InstructionSet::Portable:
    break;
  }
#endif
  return kPortableLoops;
}

} // namespace mct::execution
