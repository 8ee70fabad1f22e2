// SPDX-License-Identifier: Apache-2.0
//
// The device that runs a network.
#ifndef MCT_PLANNING_DEVICE_H
#define MCT_PLANNING_DEVICE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "tpc_dialect/IR/TpcDevices.h"

namespace mct {

/// A `tpc.device`, or no device, which can run everything.
class Device {
public:
  /// Returns the device called `name`, or with a configuration of that name: a
  /// device of `module`, a stock device, or the only one of a file. "none" is
  /// no device; an empty name is the device of the platform that the module is
  /// compiled for, if there is one. Fails with a diagnostic at the module.
  static mlir::FailureOr<Device> find(llvm::StringRef name,
                                      mlir::ModuleOp module);

  /// Returns whether the device cannot compute floating-point numbers.
  bool isIntegerOnly() { return device && device.getIntegerOnly(); }
  /// Returns the fact of kind `FactOp`, or null.
  template <typename FactOp> FactOp getFact() {
    return device ? device.getFact<FactOp>() : FactOp();
  }
  /// Returns the description, or null if there is no device.
  tpc::DeviceOp get() const { return device; }
  llvm::StringRef getDisplayName() { return device.getDisplayName(); }

  /// Fails, with an error at the op, if the device is known to be unable to run
  /// it. `remedyForFloat` replaces the suggested remedy for floating-point
  /// numbers.
  mlir::LogicalResult verify(mlir::Operation *op,
                             llvm::StringRef remedyForFloat = {});

private:
  /// Owner of the device, unless it belongs to the module of the network.
  mlir::OwningOpRef<mlir::ModuleOp> source;
  tpc::DeviceOp device;
};

/// Returns whether an op that is not a constant reads or produces
/// floating-point numbers.
bool computesFloat(mlir::Operation *op);

} // namespace mct

#endif // MCT_PLANNING_DEVICE_H
