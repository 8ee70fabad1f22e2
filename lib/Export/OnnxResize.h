// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_LIB_EXPORT_ONNXRESIZE_H
#define MCT_LIB_EXPORT_ONNXRESIZE_H

#include "llvm/ADT/ArrayRef.h"

#include <optional>
#include <string>

namespace mct::onnx {

/// Attributes of a `Resize`; `nearestMode` only for nearest neighbours.
struct ResizeAttributes {
  std::string mode, coordinates, nearestMode;
};

/// Returns the attributes with which a `Resize` reads, at every position along
/// both axes, what `tosa.resize` reads there; none when there are no such.
///
/// `scale`: numerator and denominator along y, then along x; `offset` along
/// both; `from` and `to`: height and width.
std::optional<ResizeAttributes> findResize(bool isBilinear,
                                           llvm::ArrayRef<int64_t> scale,
                                           llvm::ArrayRef<int64_t> offset,
                                           llvm::ArrayRef<int64_t> from,
                                           llvm::ArrayRef<int64_t> to);

} // namespace mct::onnx

#endif // MCT_LIB_EXPORT_ONNXRESIZE_H
