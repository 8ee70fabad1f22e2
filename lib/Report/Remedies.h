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
/// in their order, then more bits for the tensors that cause the largest
/// distances; at most eight of one line, and at most two of two lines. A
/// remedy that gains nothing beyond chance is removed from its diagnosis, as is
/// one of overrides that was not tried for lack of room. Options of mct-ptq,
/// except for those that switch corrections off, need another run and stay; so
/// do remedies for integers, whose gain no simulation shows. Remedies that gain
/// without a diagnosis that proposes them become diagnoses, by severity.
///
/// New parameters are selected as mct-select-parameters and
/// mct-select-weight-parameters do by default, and weights are rounded one by
/// one with them. Biases that were corrected for an error that a remedy removes
/// are fitted again (`EffectRun::measure`), as mct-ptq would do.
mlir::LogicalResult tryRemedies(mlir::ModuleOp quantized,
                                const KernelOps &kernels,
                                llvm::StringRef function, EffectRun &run,
                                Report &report);

} // namespace mct::report

#endif // MCT_LIB_REPORT_REMEDIES_H
