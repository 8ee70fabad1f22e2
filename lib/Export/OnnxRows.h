// SPDX-License-Identifier: Apache-2.0
//
// Converts values to rows, the form in which runtimes multiply them by kernels.
#ifndef MCT_LIB_EXPORT_ONNXROWS_H
#define MCT_LIB_EXPORT_ONNXROWS_H

#include "OnnxGraph.h"

namespace mct::onnx {

/// Removes reshapes around layers of matrices: values of more axes between
/// which there are only element-wise operators, slices and concatenations
/// become matrices [rows, channels] if that reduces the number of reshapes.
/// Only the last one of consecutive reshapes is kept.
void keepRows(GraphBuilder &graph);

} // namespace mct::onnx

#endif // MCT_LIB_EXPORT_ONNXROWS_H
