// SPDX-License-Identifier: Apache-2.0
#include "IntegerLowering.h"
#include "mct/IR/ConstantTensor.h"
#include "mlir/Dialect/Tosa/Utils/ConversionUtils.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mct;

/// Returns the image from which the input of a convolution is sliced, if the
/// slice begins at the first row and column; null otherwise.
static Value findWholeImage(tosa::Conv2DOp layer) {
  auto slice = layer.getInput().getDefiningOp<tosa::SliceOp>();
  SmallVector<int64_t> start;
  if (!slice ||
      !tosa::getConstShapeValues(slice.getStart().getDefiningOp(), start) ||
      llvm::any_of(start, [](int64_t place) { return place != 0; }))
    return nullptr;
  return slice.getInput1();
}

static void readWholeImage(tosa::Conv2DOp layer, tpc::StridedLayersOp fact) {
  Value image = findWholeImage(layer);
  auto kernel = layer.getWeight().getDefiningOp<tosa::ConstOp>();
  if (!image || !kernel ||
      llvm::any_of(layer.getPad(), [](int64_t pad) { return pad != 0; }))
    return;
  ArrayRef<int64_t> whole = cast<RankedTensorType>(image.getType()).getShape();
  ArrayRef<int64_t> part =
      cast<RankedTensorType>(layer.getInput().getType()).getShape();
  SmallVector<int64_t> shape(
      cast<RankedTensorType>(kernel.getType()).getShape());
  int64_t bits = getElementTypeOrSelf(image.getType()).getIntOrFloatBitWidth();
  if (shape[1] != 1 || shape[2] != 1 || whole[0] != part[0] ||
      whole[3] != part[3] || whole[3] < int64_t(fact.getFewest()) ||
      whole[3] > int64_t(fact.getChannels()) ||
      whole[1] * whole[2] * whole[3] * bits / 8 < int64_t(fact.getSmallest()))
    return;
  for (unsigned axis : {1, 2}) {
    shape[axis] += whole[axis] - part[axis];
    if (shape[axis] > layer.getStride()[axis - 1])
      return;
  }
  std::optional<ConstantTensor> weights =
      ConstantTensor::get(kernel.getValues());
  if (!weights)
    return;
  std::vector<int64_t> codes = weights->decode<int64_t>();
  if (weights->isSplat())
    codes.resize(size_t(shape[0] * shape[3]), codes.front());
  // Put the weights at the first position of each kernel.
  std::vector<int64_t> padded;
  for (int64_t output = 0; output != shape[0]; ++output) {
    padded.insert(padded.end(), codes.begin() + output * shape[3],
                  codes.begin() + (output + 1) * shape[3]);
    padded.resize(padded.size() + (shape[1] * shape[2] - 1) * shape[3], 0);
  }
  IntegerBuilder builder(kernel.getLoc(), layer);
  layer.getInputMutable().set(image);
  layer.getWeightMutable().set(builder.createConstant(
      shape, getElementTypeOrSelf(kernel.getType()).getIntOrFloatBitWidth(),
      padded));
}

void mct::readWholeImages(func::FuncOp function, tpc::StridedLayersOp fact) {
  SmallVector<tosa::Conv2DOp> layers;
  function.walk([&](tosa::Conv2DOp layer) {
    if (getElementTypeOrSelf(layer.getInput().getType()).isInteger())
      layers.push_back(layer);
  });
  for (tosa::Conv2DOp layer : layers) {
    Operation *slice = layer.getInput().getDefiningOp();
    Operation *kernel = layer.getWeight().getDefiningOp();
    readWholeImage(layer, fact);
    for (Operation *op : {slice, kernel})
      if (op && isOpTriviallyDead(op))
        op->erase();
  }
}
