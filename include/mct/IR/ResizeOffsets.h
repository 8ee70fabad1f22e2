// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_IR_RESIZEOFFSETS_H
#define MCT_IR_RESIZEOFFSETS_H

#include "mlir/IR/Builders.h"
#include "llvm/ADT/SmallVector.h"

namespace mct {

/// An image for `tosa.resize`, and the offsets that it is read from.
struct ResizeSource {
  mlir::Value image;
  /// Offsets along y and x.
  llvm::SmallVector<int64_t, 2> offset;
};

/// The same source without negative offsets: an interpolation that begins
/// before the first row, or column, reads it twice, as from an image that has
/// it twice. Some lowerings divide negative coordinates of integers wrongly.
///
/// `image`: [N, H, W, C], static; `scale`: numerator and denominator along y,
/// then along x; -numerator <= offset, as TOSA has it.
ResizeSource avoidNegativeOffsets(mlir::OpBuilder &builder, mlir::Location loc,
                                  const ResizeSource &source,
                                  llvm::ArrayRef<int64_t> scale);

} // namespace mct

#endif // MCT_IR_RESIZEOFFSETS_H
