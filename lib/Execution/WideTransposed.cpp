// SPDX-License-Identifier: Apache-2.0
#include "Pipeline.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Dialect/Tosa/Utils/ConversionUtils.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;

/// Returns a constant list of sizes.
static Value createSizes(ImplicitLocOpBuilder &b, ArrayRef<int64_t> sizes) {
  return tosa::getTosaConstShape(b, sizes);
}

static Value createReshape(ImplicitLocOpBuilder &b, Value value,
                           ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(value.getType());
  return tosa::ReshapeOp::create(b, type.clone(shape), value,
                                 createSizes(b, shape));
}

/// Inserts `strides` - 1 zeros between the positions of an image.
static Value spread(ImplicitLocOpBuilder &b, Value image, Value zero,
                    ArrayRef<int64_t> strides) {
  auto type = cast<RankedTensorType>(image.getType());
  ArrayRef<int64_t> from = type.getShape();
  SmallVector<int64_t> padded{from[0], from[1],    strides[0],
                              from[2], strides[1], from[3]};
  Value columns =
      createReshape(b, image, {from[0], from[1], 1, from[2], 1, from[3]});
  SmallVector<int64_t> pads(12, 0);
  pads[5] = strides[0] - 1;
  pads[9] = strides[1] - 1;
  Value wide = tosa::PadOp::create(b, type.clone(padded), columns,
                                   createSizes(b, pads), zero);
  Value whole = createReshape(
      b, wide, {from[0], from[1] * strides[0], from[2] * strides[1], from[3]});
  SmallVector<int64_t> sizes{from[0], (from[1] - 1) * strides[0] + 1,
                             (from[2] - 1) * strides[1] + 1, from[3]};
  return tosa::SliceOp::create(b, type.clone(sizes), whole,
                               createSizes(b, {0, 0, 0, 0}),
                               createSizes(b, sizes));
}

bool mct::execution::decomposeWideTransposed(tosa::TransposeConv2DOp op) {
  auto image = cast<RankedTensorType>(op.getInput().getType());
  auto kernel = cast<RankedTensorType>(op.getWeight().getType());
  if (!image.getElementType().isInteger(16) || !image.hasStaticShape())
    return false;
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Value turned = op.getWeight();
  for (int32_t axis : {1, 2})
    turned = tosa::ReverseOp::create(b, kernel, turned, axis);
  SmallVector<int64_t> pads;
  for (auto [index, out] : llvm::enumerate(op.getOutPad()))
    pads.push_back(kernel.getDimSize(index < 2 ? 1 : 2) - 1 + out);
  Value spaced = spread(b, op.getInput(), op.getInputZp(), op.getStride());
  auto convolution = tosa::Conv2DOp::create(
      b, op.getType(), spaced, turned, op.getBias(), op.getInputZp(),
      op.getWeightZp(), b.getDenseI64ArrayAttr(pads),
      b.getDenseI64ArrayAttr({1, 1}), b.getDenseI64ArrayAttr({1, 1}),
      op.getAccTypeAttr(), op.getLocalBoundAttr());
  op.getResult().replaceAllUsesWith(convolution.getResult());
  op.erase();
  return true;
}
