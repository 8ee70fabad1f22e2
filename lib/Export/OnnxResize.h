// SPDX-License-Identifier: Apache-2.0
//
// Finds a form of resize in a file that reads the same positions as
// `tosa.resize`.
#ifndef MCT_LIB_EXPORT_ONNXRESIZE_H
#define MCT_LIB_EXPORT_ONNXRESIZE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace mct::onnx {

/// How a file determines the position to read, in ONNX terms; `nearest` is its
/// rounding, for nearest neighbours only.
struct ResizeForm {
  llvm::StringRef coordinates, nearest;
};

/// Returns the first form that reads the same positions as `tosa.resize`, at
/// every output position along both axes, or null if there is none.
///
/// `scale`: numerator and denominator along y, then along x; `offset`: along
/// both axes; `from` and `to`: height and width.
const ResizeForm *findResize(bool isBilinear, llvm::ArrayRef<int64_t> scale,
                             llvm::ArrayRef<int64_t> offset,
                             llvm::ArrayRef<int64_t> from,
                             llvm::ArrayRef<int64_t> to,
                             llvm::ArrayRef<ResizeForm> forms);

} // namespace mct::onnx

#endif // MCT_LIB_EXPORT_ONNXRESIZE_H
