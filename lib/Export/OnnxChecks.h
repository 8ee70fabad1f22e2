// SPDX-License-Identifier: Apache-2.0
//
// Checks for a device: its tools silently miscompile some ONNX files, or reject
// them without a location.
#ifndef MCT_LIB_EXPORT_ONNXCHECKS_H
#define MCT_LIB_EXPORT_ONNXCHECKS_H

#include "OnnxModel.h"
#include "mct/Planning/KernelOp.h"
#include "tpc_dialect/IR/TpcDevices.h"

namespace mct::onnx {

/// Fails with a diagnostic at an op that the device cannot run, or that nothing
/// quantizes. Points are checked when they are written. `kernels` are those of
/// the module that the model was made from.
mlir::LogicalResult checkForDevice(const Model &model, tpc::DeviceOp device,
                                   const KernelOps &kernels);

} // namespace mct::onnx

#endif // MCT_LIB_EXPORT_ONNXCHECKS_H
