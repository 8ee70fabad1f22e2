// SPDX-License-Identifier: Apache-2.0
//
// Points after ops that move or select values, which targets request with
// `insert_preserving_quantizers`.
#ifndef MCT_TRANSFORMS_PRESERVEDPARAMETERS_H
#define MCT_TRANSFORMS_PRESERVEDPARAMETERS_H

#include "tpc_dialect/IR/TpcDialect.h"

namespace mct {

/// Returns the activation point whose parameters this one shares: its config
/// preserves, and all float values that its input consists of come from there.
/// Null for any other point.
tpc::QuantizeOp getPreservedPoint(tpc::QuantizeOp point);

/// Gives every such point below `root` the present parameters of the other
/// point, in program order.
void sharePreservedParameters(mlir::Operation *root);

} // namespace mct

#endif // MCT_TRANSFORMS_PRESERVEDPARAMETERS_H
