// SPDX-License-Identifier: Apache-2.0

#ifndef MCT_QUANTIZERS_INSTRUCTIONSET_H
#define MCT_QUANTIZERS_INSTRUCTIONSET_H

#include <optional>

namespace mct::quantization {

/// Vector instructions that a loop of this library may use; AVX2 includes FMA.
/// Every loop gives the same bits with each of them, but that of matrix
/// products, which has others with `Portable`.
enum class InstructionSet { Portable, AVX2, AVX512, AVX512VNNI };

/// Returns the widest set this processor offers, or the forced one. Looked up
/// once.
InstructionSet instructionSet();

/// Forces a set for tests, `std::nullopt` goes back to the processor's own.
/// Returns false, and changes nothing, when the processor lacks the set. Not to
/// be called while other threads run such loops.
bool forceInstructionSetForTesting(std::optional<InstructionSet> set);

} // namespace mct::quantization

#endif // MCT_QUANTIZERS_INSTRUCTIONSET_H
