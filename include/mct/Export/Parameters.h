// SPDX-License-Identifier: Apache-2.0
//
// Meaning of the numbers of a quantized network, for programs that do not read
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
/// * `inputs`, `outputs`: as mct-run --signature tells: in order, with `name`,
///   `type` and recorded `preprocessing`; those of an integer network also with
///   `scale`, `zero_point`, `bits`, `is_signed`: a stored q stands for scale *
///   (q - zero_point).
/// * `points`: of a simulation, every point with parameters, in program order:
///   `name`, which no other has, `method`, `bits`, `is_signed`, `rounding`
///   ("half_even", "half_up" or null), of a weight `weight` and the `axes` of
///   its channels; then for each channel, or one for all, `threshold`, where it
///   has one, and either `scale`, `zero_point`, `lowest` and `highest` code, or
///   `levels`, the values there are. Of an integer network what `tpc.points`
///   says: `name`, `scale`, `zero_point`, `bits`, `is_signed`.
///
/// Numbers have as many digits as a double needs. Fails with a diagnostic
/// before anything is written.
mlir::LogicalResult exportParameters(mlir::ModuleOp module,
                                     llvm::StringRef function,
                                     llvm::raw_ostream &os);

} // namespace mct

#endif // MCT_EXPORT_PARAMETERS_H
