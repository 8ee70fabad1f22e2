// SPDX-License-Identifier: Apache-2.0
//
// Tries the remedies of diagnoses, and others, on the quantized network.
#ifndef MCT_LIB_REPORT_REMEDIES_H
#define MCT_LIB_REPORT_REMEDIES_H

#include "EffectRun.h"
#include "mct/Report/Report.h"
#include "mlir/IR/BuiltinOps.h"

namespace mct::report {

/// Tries remedies and fills `trials`: lines of overrides of the diagnoses, in
/// their order, then tensors in float that make the largest distances by
/// themselves; at most eight of one line, and at most two of two lines. A
/// remedy that gains nothing beyond chance is taken out of its diagnosis, and
/// so is one of overrides that there was no room for. Options of mct-ptq, but
/// for those that switch corrections off, need another run of it and stay as
/// they are; so do other bits of weights that were rounded together, and
/// remedies that are about integers, whose gain no simulation shows. Remedies
/// that gain without a diagnosis that proposes them become diagnoses, by
/// severity.
///
/// New bits are chosen as mct-select-parameters and
/// mct-select-weight-parameters do by default. Corrections of biases were
/// fitted to the errors that a remedy takes away: they all stay or all go,
/// whichever is better, since mct-ptq would measure them anew.
mlir::LogicalResult tryRemedies(mlir::ModuleOp quantized,
                                const KernelOps &kernels,
                                llvm::StringRef function, EffectRun &run,
                                Report &report);

} // namespace mct::report

#endif // MCT_LIB_REPORT_REMEDIES_H
