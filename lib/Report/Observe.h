// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_LIB_REPORT_OBSERVE_H
#define MCT_LIB_REPORT_OBSERVE_H

#include "mct/Execution/Run.h"
#include "mct/Execution/Shards.h"
#include "mct/Planning/KernelOp.h"
#include "mct/Report/Report.h"
#include "mlir/IR/BuiltinOps.h"

namespace mct::report {

/// Observes the statistics that calibration with the report's samples would
/// collect: runs `quantized` (not changed) on all of them, with all points off
/// and corrections undone, and fills in `observed` of the activations of the
/// report, by name. `function` is as for findEntryFunction. The result does not
/// depend on threads, batch size and the order of samples. `kernels` are those
/// of the module. If `shards` is not null, `settings` has the samples of one of
/// them; takes the observations of all, or records those of this one. Emits a
/// diagnostic if it cannot run.
mlir::LogicalResult observe(mlir::ModuleOp quantized, const KernelOps &kernels,
                            llvm::StringRef function,
                            const execution::RunSettings &settings,
                            execution::Shards *shards, Report &report);

} // namespace mct::report

#endif // MCT_LIB_REPORT_OBSERVE_H
