// SPDX-License-Identifier: Apache-2.0
//
// Values as rows, the form in which runtimes multiply them with kernels.
#ifndef MCT_LIB_EXPORT_ONNXROWS_H
#define MCT_LIB_EXPORT_ONNXROWS_H

#include "OnnxGraph.h"

namespace mct::onnx {

/// Removes reshapes around layers of matrices: values of more axes that
/// element-wise operators, slices and concatenations compute from one another
/// become matrices [rows, channels] if that leaves fewer reshapes than before.
/// Also removes all but the last of consecutive reshapes.
void keepRows(GraphBuilder &graph);

} // namespace mct::onnx

#endif // MCT_LIB_EXPORT_ONNXROWS_H
