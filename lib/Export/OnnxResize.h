// SPDX-License-Identifier: Apache-2.0
//
// Finds the form of a resize in a file that samples the same positions as
// `tosa.resize`.
#ifndef MCT_LIB_EXPORT_ONNXRESIZE_H
#define MCT_LIB_EXPORT_ONNXRESIZE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace mct::onnx {

/// Mapping of positions, in the terms of ONNX; `nearest` is the rounding of
/// positions, for nearest neighbours only.
struct ResizeForm {
  llvm::StringRef coordinates, nearest;
};

/// Returns the first of the forms that samples, at every position along both
/// axes, the same positions as `tosa.resize`; null if none does.
///
/// `scale` has numerator and denominator along y, then along x; `offset` is
/// along both; `from` and `to` are height and width.
const ResizeForm *findResize(bool isBilinear, llvm::ArrayRef<int64_t> scale,
                             llvm::ArrayRef<int64_t> offset,
                             llvm::ArrayRef<int64_t> from,
                             llvm::ArrayRef<int64_t> to,
                             llvm::ArrayRef<ResizeForm> forms);

} // namespace mct::onnx

#endif // MCT_LIB_EXPORT_ONNXRESIZE_H
