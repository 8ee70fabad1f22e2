// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_INSPECTION_EXPLAIN_H
#define MCT_INSPECTION_EXPLAIN_H

#include "mct/Inspection/Passes.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

namespace mct {

/// Writes the target's requirements for every op, with reasons, as the pass
/// `tpc-explain` prints them. `overrides` is a file with rules, or empty. The
/// module is not changed.
mlir::LogicalResult explain(mlir::ModuleOp module, ExplainFormat format,
                            llvm::StringRef overrides,
                            llvm::raw_ostream &stream);

} // namespace mct

#endif // MCT_INSPECTION_EXPLAIN_H
