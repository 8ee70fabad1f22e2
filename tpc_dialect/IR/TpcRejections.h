// SPDX-License-Identifier: Apache-2.0
#ifndef TPC_DIALECT_IR_TPCREJECTIONS_H
#define TPC_DIALECT_IR_TPCREJECTIONS_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mct::tpc {

/// Name of the attribute of a function that lists corrections that were undone
/// because samples to which they had not been fitted showed a loss: a list of
/// dictionaries.
///
///     tpc.rejected_corrections = [
///       {correction = "quantized_network", layers = ["dense/kernel_attr"],
///       loss = 5.9,
///        output = 0 : i64, samples = 32 : i64, standard_error = 0.3}]
///
/// * `correction`: the name in `#tpc.corrections`, or that of a correction of
///   the whole network, `shift_negative` for example.
/// * `layers`: unique names of the kernel points of the layers in which it was
///   undone; absent if it was undone as a whole.
/// * `output`: number of the result of the function that lost most; absent if
///   the layers themselves lost.
/// * `loss`: f64, the increase of the errors of that result by the correction
///   in dB; for layers the largest one, by the means of their channels.
///   `standard_error`: f64, of the loss over the samples, in dB, absent if
///   there were too few to estimate it; `samples`: their number.
///
/// The correction is not applied there again.
inline constexpr llvm::StringLiteral kRejectedCorrectionsAttrName =
    "tpc.rejected_corrections";
inline constexpr llvm::StringLiteral kShiftNegativeCorrection =
    "shift_negative";
inline constexpr llvm::StringLiteral kChannelEqualization =
    "channel_equalization";
inline constexpr llvm::StringLiteral kResidualEqualization =
    "residual_equalization";
inline constexpr llvm::StringLiteral kPartsRescaling = "parts_rescaling";
inline constexpr llvm::StringLiteral kThresholdRefinement =
    "threshold_refinement";

/// An entry of that list.
struct RejectedCorrection {
  std::string correction;
  std::vector<std::string> layers;
  std::optional<int64_t> output;
  double loss = 0;
  std::optional<double> standardError;
  int64_t samples = 0;
};

/// Returns the list of a function; empty if there is none.
std::vector<RejectedCorrection>
readRejectedCorrections(mlir::Operation *function);
/// Adds to the list of a function.
void addRejectedCorrection(mlir::Operation *function,
                           const RejectedCorrection &rejected);
/// Returns whether a correction was undone in a layer, by the unique name of
/// the point of its kernel, or as a whole.
bool isRejected(mlir::Operation *function, llvm::StringRef correction,
                llvm::StringRef layer);

/// Returns whether two functions are equal, apart from their locations and from
/// this attribute: the networks compute the same.
bool areEqualButForRejections(mlir::Operation *left, mlir::Operation *right);

/// Verifies the attribute for the verifier of the dialect.
llvm::LogicalResult verifyRejectedCorrections(mlir::Operation *op,
                                              mlir::Attribute attribute);

} // namespace mct::tpc

#endif // TPC_DIALECT_IR_TPCREJECTIONS_H
