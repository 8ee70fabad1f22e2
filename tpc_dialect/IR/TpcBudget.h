// SPDX-License-Identifier: Apache-2.0
#ifndef TPC_DIALECT_IR_TPCBUDGET_H
#define TPC_DIALECT_IR_TPCBUDGET_H

#include "llvm/ADT/StringRef.h"

namespace mct::tpc {

/// Name of the attribute of a function that holds the limits that the
/// alternatives of its operators keep to: a dictionary of positive i64, with at
/// least one of the keys below. It is removed when an operator takes another
/// alternative.
///
///     tpc.budget = {weights_bytes = 38680 : i64}
inline constexpr llvm::StringLiteral kBudgetAttrName = "tpc.budget";
/// Keys: bytes of all quantized weights, of the largest cut of activations, of
/// both; bit operations; bytes of the weights in the compressed form of
/// Ethos-U; cycles of the device.
inline constexpr llvm::StringLiteral kBudgetKeys[] = {
    "weights_bytes", "activations_bytes", "total_bytes",
    "bops",          "compressed_bytes",  "cycles"};

} // namespace mct::tpc

#endif // TPC_DIALECT_IR_TPCBUDGET_H
