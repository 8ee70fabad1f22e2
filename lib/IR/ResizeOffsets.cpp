// SPDX-License-Identifier: Apache-2.0
#include "mct/IR/ResizeOffsets.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Dialect/Tosa/Utils/ConversionUtils.h"

using namespace mlir;
using namespace mct;

ResizeSource mct::avoidNegativeOffsets(OpBuilder &builder, Location loc,
                                       const ResizeSource &source,
                                       ArrayRef<int64_t> scale) {
  ResizeSource result = source;
  ImplicitLocOpBuilder here(loc, builder);
  for (unsigned axis = 0; axis != 2; ++axis) {
    if (result.offset[axis] >= 0)
      continue;
    auto type = cast<RankedTensorType>(result.image.getType());
    SmallVector<int64_t> first(type.getShape()), longer(type.getShape());
    first[1 + axis] = 1;
    longer[1 + axis] += 1;
    SmallVector<int64_t> start(4, 0);
    Value row =
        tosa::SliceOp::create(builder, loc, type.clone(first), result.image,
                              tosa::getTosaConstShape(here, start),
                              tosa::getTosaConstShape(here, first));
    result.image =
        tosa::ConcatOp::create(builder, loc, type.clone(longer),
                               ValueRange{row, result.image}, 1 + axis);
    result.offset[axis] += scale[2 * axis];
  }
  return result;
}
