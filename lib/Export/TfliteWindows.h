// SPDX-License-Identifier: Apache-2.0
//
// Windows of convolutions and pools, and their padding.
#ifndef MCT_LIB_EXPORT_TFLITEWINDOWS_H
#define MCT_LIB_EXPORT_TFLITEWINDOWS_H

#include "TfliteGraph.h"

namespace mct::tflite {

/// {height, width} each, except for pads {top, bottom, left, right}.
struct Windows {
  llvm::ArrayRef<int64_t> sizes, strides, dilations, pads;
};

/// Returns "SAME" or "VALID" if that pads images of these sizes {height, width}
/// in the same way, or none if neither does.
std::optional<llvm::StringRef> findPadding(llvm::ArrayRef<int64_t> from,
                                           llvm::ArrayRef<int64_t> to,
                                           const Windows &windows);

/// Returns the image before a slice that cuts off the part which windows
/// without padding do not reach, as TOSA requires. Keeps slices before windows
/// that are smaller than their strides.
mlir::Value skipCut(mlir::Value image, llvm::ArrayRef<int64_t> to,
                    const Windows &windows);

/// An image that is padded explicitly if necessary, and the padding attribute
/// of windows over it.
struct PaddedImage {
  int64_t tensor;
  llvm::StringRef padding;
};
/// Pads an image with zeros or with `filling`, which for codes is the lowest
/// one. Shapes are [N, H, W, C].
PaddedImage padImage(GraphBuilder &graph, int64_t tensor,
                     llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to,
                     const Windows &windows, const llvm::Twine &name,
                     std::optional<float> filling = std::nullopt);

} // namespace mct::tflite

#endif // MCT_LIB_EXPORT_TFLITEWINDOWS_H
