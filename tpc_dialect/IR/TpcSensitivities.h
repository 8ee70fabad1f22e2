// SPDX-License-Identifier: Apache-2.0
#ifndef TPC_DIALECT_IR_TPCSENSITIVITIES_H
#define TPC_DIALECT_IR_TPCSENSITIVITIES_H

#include "llvm/ADT/StringRef.h"

namespace mct::tpc {

/// Member of `tpc.sensitivities`: which points inside of the network were
/// compared beside its results, and how. Without it: none.
///
///     points = {fraction = 1.0, distance = "auto", weighting = "average"}
inline constexpr llvm::StringLiteral kSensitivityPoints = "points";
/// An f64 above 0, at most 1.
inline constexpr llvm::StringLiteral kSensitivityFraction = "fraction";
inline constexpr llvm::StringLiteral kSensitivityDistance = "distance";
inline constexpr llvm::StringLiteral kSensitivityDistances[] = {"auto", "mse",
                                                                "cosine", "kl"};
inline constexpr llvm::StringLiteral kSensitivityWeighting = "weighting";
inline constexpr llvm::StringLiteral kSensitivityWeightings[] = {
    "average", "last-layer", "exponential", "hessian"};

} // namespace mct::tpc

#endif // TPC_DIALECT_IR_TPCSENSITIVITIES_H
