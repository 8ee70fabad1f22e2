// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_INSPECTION_REPORTCOSTS_H
#define MCT_INSPECTION_REPORTCOSTS_H

#include "mct/Inspection/Passes.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

namespace mct {

class CostTable;
class KernelOps;

/// Writes the costs of the layers of each function, as the pass
/// `mct-report-costs` prints them. `table` may be null, for layers without
/// costs. The module is not changed.
mlir::LogicalResult reportCosts(mlir::ModuleOp module, const KernelOps &kernels,
                                const CostTable *table, ExplainFormat format,
                                llvm::raw_ostream &stream);

} // namespace mct

#endif // MCT_INSPECTION_REPORTCOSTS_H
