// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_LIB_REPORT_OBSERVE_H
#define MCT_LIB_REPORT_OBSERVE_H

#include "mct/Execution/Run.h"
#include "mct/Execution/Shards.h"
#include "mct/Planning/KernelOp.h"
#include "mct/Report/Report.h"
#include "mlir/IR/BuiltinOps.h"

namespace mct::report {

/// Observes what calibration with the report's samples would: runs `quantized`
/// (not changed) on all of them, with all points off and corrections taken
/// back, and fills `observed` of the activations that the report has, by name.
/// `function` as for findEntryFunction. The same for any number of threads, any
/// batch size and order of samples. `kernels`: of the module. `shards` (may be
/// null): `settings` has the samples of one of them; takes what all have
/// observed, or records what this one does. A diagnostic where it cannot run.
mlir::LogicalResult observe(mlir::ModuleOp quantized, const KernelOps &kernels,
                            llvm::StringRef function,
                            const execution::RunSettings &settings,
                            execution::Shards *shards, Report &report);

} // namespace mct::report

#endif // MCT_LIB_REPORT_OBSERVE_H
