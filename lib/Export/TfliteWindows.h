// SPDX-License-Identifier: Apache-2.0
//
// Windows of convolutions and pools, and their padding.
#ifndef MCT_LIB_EXPORT_TFLITEWINDOWS_H
#define MCT_LIB_EXPORT_TFLITEWINDOWS_H

#include "TfliteGraph.h"

namespace mct::tflite {

/// {height, width} each; pads {top, bottom, left, right}.
struct Windows {
  llvm::ArrayRef<int64_t> sizes, strides, dilations, pads;
};

/// Returns "SAME" or "VALID" where that pads images of these sizes {height,
/// width} alike; none where neither does.
std::optional<llvm::StringRef> findPadding(llvm::ArrayRef<int64_t> from,
                                           llvm::ArrayRef<int64_t> to,
                                           const Windows &windows);

/// Returns the image of which one is what windows without padding reach: TOSA
/// wants the rest cut off by a slice. Slices in front of windows that are
/// smaller than their strides stay.
mlir::Value skipCut(mlir::Value image, llvm::ArrayRef<int64_t> to,
                    const Windows &windows);

/// An image, padded explicitly where it has to be, and what windows over it say
/// of padding.
struct PaddedImage {
  int64_t tensor;
  llvm::StringRef padding;
};
/// Shapes are [N, H, W, C]. Pads with zeros, or with `filling`: in codes with
/// the lowest one.
PaddedImage padImage(GraphBuilder &graph, int64_t tensor,
                     llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to,
                     const Windows &windows, const llvm::Twine &name,
                     std::optional<float> filling = std::nullopt);

} // namespace mct::tflite

#endif // MCT_LIB_EXPORT_TFLITEWINDOWS_H
