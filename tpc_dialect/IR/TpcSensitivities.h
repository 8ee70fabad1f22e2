// SPDX-License-Identifier: Apache-2.0
#ifndef TPC_DIALECT_IR_TPCSENSITIVITIES_H
#define TPC_DIALECT_IR_TPCSENSITIVITIES_H

#include "llvm/ADT/StringRef.h"

namespace mct::tpc {

/// Member of `tpc.sensitivities` that describes the points inside the network
/// that were compared in addition to its results, and how. Absent if there were
/// none.
///
///     points = {fraction = 1.0, distance = "auto", weighting = "average"}
inline constexpr llvm::StringLiteral kSensitivityPoints = "points";
/// Key of an f64 above 0 and at most 1.
inline constexpr llvm::StringLiteral kSensitivityFraction = "fraction";
inline constexpr llvm::StringLiteral kSensitivityDistance = "distance";
inline constexpr llvm::StringLiteral kSensitivityDistances[] = {"auto", "mse",
                                                                "cosine", "kl"};
inline constexpr llvm::StringLiteral kSensitivityWeighting = "weighting";
inline constexpr llvm::StringLiteral kSensitivityWeightings[] = {
    "average", "last-layer", "exponential", "hessian"};

} // namespace mct::tpc

#endif // TPC_DIALECT_IR_TPCSENSITIVITIES_H
