// SPDX-License-Identifier: Apache-2.0

#ifndef MCT_QUANTIZERS_INSTRUCTIONSET_H
#define MCT_QUANTIZERS_INSTRUCTIONSET_H

#include <optional>

namespace mct::quantization {

/// Vector instructions that a loop of this library may use; AVX2 includes FMA.
/// Every loop gives the same bits with each of them, except the loop of matrix
/// products, whose bits differ with `Portable`.
enum class InstructionSet { Portable, AVX2, AVX512, AVX512VNNI };

/// Returns the widest set of this processor, or the forced one. It is
/// determined once.
InstructionSet instructionSet();

/// Forces a set for tests; `std::nullopt` restores the processor's own. Returns
/// false, and changes nothing, if the processor lacks the set. Must not be
/// called while other threads run such loops.
bool forceInstructionSetForTesting(std::optional<InstructionSet> set);

} // namespace mct::quantization

#endif // MCT_QUANTIZERS_INSTRUCTIONSET_H
