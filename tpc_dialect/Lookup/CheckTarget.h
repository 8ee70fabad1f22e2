// SPDX-License-Identifier: Apache-2.0
#ifndef TPC_DIALECT_LOOKUP_CHECKTARGET_H
#define TPC_DIALECT_LOOKUP_CHECKTARGET_H

#include "tpc_dialect/IR/TpcDevices.h"

namespace mct::tpc {

/// Checks a platform with its bindings. Properties that the verifier of one
/// attribute or op cannot see are errors (B5, B6, B7, B9); legal but probably
/// unintended ones are warnings (A5, O3, Q5, P5, P6, B4). `frameworks` supply
/// the weights that a binding does not map itself.
mlir::LogicalResult checkTarget(PlatformOp platform,
                                llvm::ArrayRef<BindingOp> bindings,
                                llvm::ArrayRef<FrameworkOp> frameworks);

/// Fails, with a diagnostic, if a device names ops, attributes or derived names
/// that do not exist (V3).
mlir::LogicalResult checkDevice(DeviceOp device);

/// Returns the first refusal of the device that applies to an op, or null.
RefuseOp findRefusal(DeviceOp device, mlir::Operation *op);

} // namespace mct::tpc

#endif // TPC_DIALECT_LOOKUP_CHECKTARGET_H
