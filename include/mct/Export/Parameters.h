// SPDX-License-Identifier: Apache-2.0
//
// Export of the parameters of a quantized network for programs that do not read
// MLIR.
#ifndef MCT_EXPORT_PARAMETERS_H
#define MCT_EXPORT_PARAMETERS_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

namespace mct {

/// Writes a JSON object about a function (an empty name: `main`, or the only
/// public one):
///
/// * `function`: its name.
/// * `inputs`, `outputs`: as printed by mct-run --signature: in order, with
///   `name`, `type` and recorded `preprocessing`; those of an integer network
///   also with `scale`, `zero_point`, `bits`, `is_signed`: a stored q
///   represents scale * (q - zero_point).
/// * `points`: for a simulation, every point with parameters, in program order:
///   unique `name`, `method`, `bits`, `is_signed`, `rounding` ("half_even",
///   "half_up" or null), for a weight also `weight` and the `axes` of its
///   channels; then for each channel, or once for all, `threshold`, if it has
///   one, and either `scale`, `zero_point`, `lowest` and `highest` code, or
///   `levels`, the list of its values. For an integer network, the contents of
///   `tpc.points`: `name`, `scale`, `zero_point`, `bits`, `is_signed`.
///
/// Numbers have as many digits as a double needs. Fails with a diagnostic
/// before anything is written.
mlir::LogicalResult exportParameters(mlir::ModuleOp module,
                                     llvm::StringRef function,
                                     llvm::raw_ostream &os);

} // namespace mct

#endif // MCT_EXPORT_PARAMETERS_H
