// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_TRANSFORMS_LIFTVARIABLES_H
#define MCT_TRANSFORMS_LIFTVARIABLES_H

#include "llvm/ADT/StringRef.h"

namespace mct {

/// Name of the attribute of an argument that was a variable: its elements
/// before the first run, of the type of the argument. Absent if the variable
/// had none.
inline constexpr llvm::StringLiteral kInitialValueAttrName =
    "tpc.initial_value";

/// Suffix of the name of the result that is the value of a variable after a
/// run.
inline constexpr llvm::StringLiteral kNextSuffix = "_next";

} // namespace mct

#endif // MCT_TRANSFORMS_LIFTVARIABLES_H
