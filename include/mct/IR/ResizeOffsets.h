// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_IR_RESIZEOFFSETS_H
#define MCT_IR_RESIZEOFFSETS_H

#include "mlir/IR/Builders.h"
#include "llvm/ADT/SmallVector.h"

namespace mct {

/// An image for `tosa.resize`, and the offset at which it is sampled.
struct ResizeSource {
  mlir::Value image;
  /// Offsets along y and x.
  llvm::SmallVector<int64_t, 2> offset;
};

/// Returns the same source without negative offsets: an interpolation that
/// begins before the first row, or column, reads it twice, as if the image had
/// it twice. Some lowerings divide negative coordinates of integers wrongly.
///
/// `image` is [N, H, W, C], static; `scale` has numerator and denominator along
/// y, then along x; -numerator <= offset, as TOSA requires.
ResizeSource avoidNegativeOffsets(mlir::OpBuilder &builder, mlir::Location loc,
                                  const ResizeSource &source,
                                  llvm::ArrayRef<int64_t> scale);

} // namespace mct

#endif // MCT_IR_RESIZEOFFSETS_H
