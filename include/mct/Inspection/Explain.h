// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_INSPECTION_EXPLAIN_H
#define MCT_INSPECTION_EXPLAIN_H

#include "mct/Inspection/Passes.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

namespace mct {

/// Writes what the target asks of every op, and why, as the pass `tpc-explain`
/// prints it. `overrides`: file with rules, or empty. The module is not
/// changed.
mlir::LogicalResult explain(mlir::ModuleOp module, ExplainFormat format,
                            llvm::StringRef overrides,
                            llvm::raw_ostream &stream);

} // namespace mct

#endif // MCT_INSPECTION_EXPLAIN_H
