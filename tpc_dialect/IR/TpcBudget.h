// SPDX-License-Identifier: Apache-2.0
#ifndef TPC_DIALECT_IR_TPCBUDGET_H
#define TPC_DIALECT_IR_TPCBUDGET_H

#include "llvm/ADT/StringRef.h"

namespace mct::tpc {

/// Attribute of a function: the limits that the alternatives of its operators
/// keep to, a dictionary of positive i64, at least one of the keys below. It
/// goes when an operator takes another alternative.
///
///     tpc.budget = {weights_bytes = 38680 : i64}
inline constexpr llvm::StringLiteral kBudgetAttrName = "tpc.budget";
/// Bytes of all quantized weights, of the largest cut of activations, of both;
/// operations on bits; bytes of the weights as Ethos-U reads them; cycles of
/// the device.
inline constexpr llvm::StringLiteral kBudgetKeys[] = {
    "weights_bytes", "activations_bytes", "total_bytes",
    "bops",          "compressed_bytes",  "cycles"};

} // namespace mct::tpc

#endif // TPC_DIALECT_IR_TPCBUDGET_H
