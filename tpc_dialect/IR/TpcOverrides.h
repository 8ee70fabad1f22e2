// SPDX-License-Identifier: Apache-2.0
#ifndef TPC_DIALECT_IR_TPCOVERRIDES_H
#define TPC_DIALECT_IR_TPCOVERRIDES_H

#include "llvm/ADT/StringRef.h"

namespace mct::tpc {

/// Name of the attribute of a function that holds the user's rules with which
/// its points were inserted, in order, each as the line of its file.
///
///     tpc.overrides = ["name \22conv*\22 weights=4"]
inline constexpr llvm::StringLiteral kOverridesAttrName = "tpc.overrides";

} // namespace mct::tpc

#endif // TPC_DIALECT_IR_TPCOVERRIDES_H
