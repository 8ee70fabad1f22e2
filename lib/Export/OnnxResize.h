// SPDX-License-Identifier: Apache-2.0
//
// Finds the form of a resize in a file that reads what `tosa.resize` reads.
#ifndef MCT_LIB_EXPORT_ONNXRESIZE_H
#define MCT_LIB_EXPORT_ONNXRESIZE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace mct::onnx {

/// How a file finds the position that it reads, in the words of ONNX; `nearest`
/// is how it rounds that, of nearest neighbours alone.
struct ResizeForm {
  llvm::StringRef coordinates, nearest;
};

/// Returns the first of the forms that reads, at every position along both
/// axes, what `tosa.resize` reads there; null when none does.
///
/// `scale`: numerator and denominator along y, then along x; `offset` along
/// both; `from` and `to`: height and width.
const ResizeForm *findResize(bool isBilinear, llvm::ArrayRef<int64_t> scale,
                             llvm::ArrayRef<int64_t> offset,
                             llvm::ArrayRef<int64_t> from,
                             llvm::ArrayRef<int64_t> to,
                             llvm::ArrayRef<ResizeForm> forms);

} // namespace mct::onnx

#endif // MCT_LIB_EXPORT_ONNXRESIZE_H
