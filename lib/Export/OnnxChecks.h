// SPDX-License-Identifier: Apache-2.0
//
// Checks for a device, whose tools silently miscompile some ONNX files, or
// refuse them without saying where.
#ifndef MCT_LIB_EXPORT_ONNXCHECKS_H
#define MCT_LIB_EXPORT_ONNXCHECKS_H

#include "OnnxModel.h"
#include "tpc_dialect/IR/TpcDevices.h"

namespace mct::onnx {

/// Fails with a diagnostic at an op that the device cannot run or that is not
/// quantized. Points are checked when they are written.
mlir::LogicalResult checkForDevice(const Model &model, tpc::DeviceOp device);

} // namespace mct::onnx

#endif // MCT_LIB_EXPORT_ONNXCHECKS_H
