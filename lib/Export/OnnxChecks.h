// SPDX-License-Identifier: Apache-2.0
//
// Checks for a device: its tools take some ONNX files without a word and get
// them wrong, or refuse them without saying where.
#ifndef MCT_LIB_EXPORT_ONNXCHECKS_H
#define MCT_LIB_EXPORT_ONNXCHECKS_H

#include "OnnxModel.h"
#include "mct/Planning/KernelOp.h"
#include "tpc_dialect/IR/TpcDevices.h"

namespace mct::onnx {

/// Fails with a diagnostic at the op that the device cannot run, or that
/// nothing quantizes. Points are checked where they are written. `kernels`: of
/// the module that the model was made from.
mlir::LogicalResult checkForDevice(const Model &model, tpc::DeviceOp device,
                                   const KernelOps &kernels);

} // namespace mct::onnx

#endif // MCT_LIB_EXPORT_ONNXCHECKS_H
