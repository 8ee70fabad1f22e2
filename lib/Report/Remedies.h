// SPDX-License-Identifier: Apache-2.0
//
// Tries the remedies of diagnoses, and others, on the quantized network.
#ifndef MCT_LIB_REPORT_REMEDIES_H
#define MCT_LIB_REPORT_REMEDIES_H

#include "EffectRun.h"
#include "mct/Report/Report.h"
#include "mlir/IR/BuiltinOps.h"

namespace mct::report {

/// Tries remedies and sets `trials`: lines of overrides from the diagnoses, in
/// their order, followed by leaving tensors float that have the largest
/// distances of their own; at most eight single lines, and at most two pairs of
/// lines. Removes a remedy from its diagnosis if its gain is not larger than
/// chance, or if it consists of overrides and there was no room to try it. Some
/// remedies cannot be tried and are not changed: options of mct-ptq, which
/// require another run of it (except for those that switch corrections off),
/// other bits for weights that were rounded together, and remedies about
/// integers, whose gain a simulation does not show. Remedies that gain but are
/// not proposed by a diagnosis become diagnoses, ordered by severity.
///
/// New bits get the parameters that mct-select-parameters and
/// mct-select-weight-parameters select by default. Corrections of biases were
/// fitted to the errors that a remedy removes, so either all of them are kept
/// or all are dropped, whichever is better, since mct-ptq would fit them again.
mlir::LogicalResult tryRemedies(mlir::ModuleOp quantized,
                                const KernelOps &kernels,
                                llvm::StringRef function, EffectRun &run,
                                Report &report);

} // namespace mct::report

#endif // MCT_LIB_REPORT_REMEDIES_H
