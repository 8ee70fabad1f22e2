// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_INSPECTION_REPORTRESOURCES_H
#define MCT_INSPECTION_REPORTRESOURCES_H

#include "mct/Inspection/Passes.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

namespace mct {

class KernelOps;

/// Writes the resources of the target that each function of a quantized network
/// uses, as the pass `mct-report-resources` prints them. The module is not
/// changed.
mlir::LogicalResult reportResources(mlir::ModuleOp module,
                                    const KernelOps &kernels,
                                    ExplainFormat format,
                                    llvm::raw_ostream &stream);

} // namespace mct

#endif // MCT_INSPECTION_REPORTRESOURCES_H
