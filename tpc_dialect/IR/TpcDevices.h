// SPDX-License-Identifier: Apache-2.0
//
// Ops that describe the devices that run quantized networks.
#ifndef TPC_DIALECT_IR_TPCDEVICES_H
#define TPC_DIALECT_IR_TPCDEVICES_H

#include "mlir/IR/RegionKindInterface.h"
#include "tpc_dialect/IR/TpcDialect.h"

#define GET_OP_CLASSES
#include "tpc_dialect/IR/TpcDevices.h.inc"

namespace mct::tpc {

/// Returns whether an op describes what a module is compiled for: a platform,
/// the ops of its operators, or a device.
bool isTargetDescription(mlir::Operation *op);

} // namespace mct::tpc

#endif // TPC_DIALECT_IR_TPCDEVICES_H
