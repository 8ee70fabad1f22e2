// SPDX-License-Identifier: Apache-2.0
#ifndef TPC_DIALECT_IR_TPCROUNDING_H
#define TPC_DIALECT_IR_TPCROUNDING_H

#include "llvm/ADT/StringRef.h"

namespace mct::tpc {

/// Name of the attribute of a function that holds the rounding of the integer
/// network that the function simulates, one of `kIntegerRoundings`.
/// `mct-simulate-integers` sets it, and `mct-lower-to-integer` rounds like it.
///
///     tpc.integer_rounding = "half-even"
inline constexpr llvm::StringLiteral kIntegerRoundingAttrName =
    "tpc.integer_rounding";
inline constexpr llvm::StringLiteral kIntegerRoundings[] = {
    "half-up", "half-even", "double", "double-convolutions"};

} // namespace mct::tpc

#endif // TPC_DIALECT_IR_TPCROUNDING_H
