// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_LIB_REPORT_OBSERVE_H
#define MCT_LIB_REPORT_OBSERVE_H

#include "mct/Execution/Run.h"
#include "mct/Execution/Shards.h"
#include "mct/Planning/KernelOp.h"
#include "mct/Report/Report.h"
#include "mlir/IR/BuiltinOps.h"

namespace mct::report {

/// Observes the values that calibration with the report's samples would
/// observe. Runs `quantized`, which is not changed, on all samples, with all
/// points switched off and without corrections, and sets `observed` of the
/// report's activations, by name. `function`: as for findEntryFunction.
/// `kernels`: those of the module. The result does not depend on the number of
/// threads, the batch size or the order of samples. `shards` (may be null):
/// `settings` has the samples of one shard; loads what all shards have
/// observed, or records what this one does. Fails with a diagnostic if the
/// network cannot be run.
mlir::LogicalResult observe(mlir::ModuleOp quantized, const KernelOps &kernels,
                            llvm::StringRef function,
                            const execution::RunSettings &settings,
                            execution::Shards *shards, Report &report);

} // namespace mct::report

#endif // MCT_LIB_REPORT_OBSERVE_H
