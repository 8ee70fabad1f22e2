// SPDX-License-Identifier: Apache-2.0
//
// Tries the remedies of diagnoses, and others, on the quantized network.
#ifndef MCT_LIB_REPORT_REMEDIES_H
#define MCT_LIB_REPORT_REMEDIES_H

#include "EffectRun.h"
#include "mct/Report/Report.h"
#include "mlir/IR/BuiltinOps.h"

namespace mct::report {

/// Tries remedies and fills in `trials`: lines of overrides of the diagnoses,
/// in their order, then float tensors that cause the largest distances by
/// themselves; at most eight of one line, and at most two of two lines. A
/// remedy that gains nothing beyond chance is removed from its diagnosis, as is
/// one of overrides that was not tried for lack of room. Options of mct-ptq,
/// except for those that switch corrections off, need another run and stay; so
/// do other bits of weights that were rounded jointly, and remedies for
/// integers, whose gain no simulation shows. Remedies that gain without a
/// diagnosis that proposes them become diagnoses, by severity.
///
/// New parameters are selected as mct-select-parameters and
/// mct-select-weight-parameters do by default. Corrections of biases were
/// fitted to the errors that a remedy removes: they all stay or are all undone,
/// whichever is better, since mct-ptq would measure them again.
mlir::LogicalResult tryRemedies(mlir::ModuleOp quantized,
                                const KernelOps &kernels,
                                llvm::StringRef function, EffectRun &run,
                                Report &report);

} // namespace mct::report

#endif // MCT_LIB_REPORT_REMEDIES_H
