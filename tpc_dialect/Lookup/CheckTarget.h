// SPDX-License-Identifier: Apache-2.0
#ifndef TPC_DIALECT_LOOKUP_CHECKTARGET_H
#define TPC_DIALECT_LOOKUP_CHECKTARGET_H

#include "tpc_dialect/IR/TpcDialect.h"

namespace mct::tpc {

/// Whether a platform and its bindings make sense together: what the verifier
/// of one attribute or op cannot see (B5, B6, B7, B9, errors), and what is
/// legal but can hardly be meant (A5, O3, Q5, P5, P6, B4, warnings).
/// `frameworks` supply the weights that a binding does not map by itself.
mlir::LogicalResult checkTarget(PlatformOp platform,
                                llvm::ArrayRef<BindingOp> bindings,
                                llvm::ArrayRef<FrameworkOp> frameworks);

} // namespace mct::tpc

#endif // TPC_DIALECT_LOOKUP_CHECKTARGET_H
