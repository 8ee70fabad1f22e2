// SPDX-License-Identifier: Apache-2.0
//
// What the tools of the camera IMX500 take from an ONNX file without a word and
// get wrong, or refuse without saying where.
#ifndef MCT_LIB_EXPORT_ONNXCHECKS_H
#define MCT_LIB_EXPORT_ONNXCHECKS_H

#include "OnnxModel.h"

namespace mct::onnx {

/// Fails with a diagnostic at the op that the chip cannot run, or that nothing
/// quantizes. Points are checked where they are written.
mlir::LogicalResult checkForImx500(const Model &model);

} // namespace mct::onnx

#endif // MCT_LIB_EXPORT_ONNXCHECKS_H
