// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_ANALYSIS_NAMES_H
#define MCT_ANALYSIS_NAMES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mct {

/// Name in a location: the outermost `NameLoc` in it, or null.
mlir::StringAttr getName(mlir::Location loc);

/// Name of a value: of the op that makes it, or of the argument. Null before
/// `assignNames`.
mlir::StringAttr getName(mlir::Value value);

/// Gives every argument and every op with a result, constants and quantizer
/// points apart, a unique name in its location. See the pass
/// `mct-assign-names`.
void assignNames(mlir::func::FuncOp function);

} // namespace mct

#endif // MCT_ANALYSIS_NAMES_H
