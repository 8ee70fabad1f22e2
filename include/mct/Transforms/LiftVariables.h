// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_TRANSFORMS_LIFTVARIABLES_H
#define MCT_TRANSFORMS_LIFTVARIABLES_H

#include "llvm/ADT/StringRef.h"

namespace mct {

/// Attribute of an argument that was a variable: its elements before the first
/// run, of the type of the argument. Absent where the variable had none.
inline constexpr llvm::StringLiteral kInitialValueAttrName =
    "tpc.initial_value";

/// Ends the name of the result that is the value of a variable after a run.
inline constexpr llvm::StringLiteral kNextSuffix = "_next";

} // namespace mct

#endif // MCT_TRANSFORMS_LIFTVARIABLES_H
