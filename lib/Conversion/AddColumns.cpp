// SPDX-License-Identifier: Apache-2.0
#include "IntegerLowering.h"
#include "mct/IR/ConstantTensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"

using namespace mlir;
using namespace mct;

/// Returns the value of a constant with one element.
static std::optional<int64_t> readNumber(Value value) {
  std::optional<ConstantTensor> constant = ConstantTensor::get(value);
  if (!constant || constant->getNumStored() != 1)
    return std::nullopt;
  return constant->decode<int64_t>().front();
}

/// Returns whether a rescale widens codes of i8 and does not scale them.
static bool isWidening(tosa::RescaleOp rescale) {
  std::optional<int64_t> multiplier = readNumber(rescale.getMultiplier()),
                         shift = readNumber(rescale.getShift()),
                         zero = readNumber(rescale.getOutputZp());
  return rescale.getScale32() && !rescale.getInputUnsigned() &&
         getElementTypeOrSelf(rescale.getInput().getType()).isInteger(8) &&
         getElementTypeOrSelf(rescale.getType()).isInteger(32) && multiplier &&
         shift && *shift > 0 && *multiplier == int64_t(1) << *shift &&
         zero == 0;
}

/// Fewest columns of the device's native channel count for which a convolution
/// is faster.
static constexpr int64_t kFewestColumns = 3;

/// Returns the number of channels of a column, or 0 if the device is not faster
/// with columns.
static int64_t chooseChannels(ArrayRef<int64_t> shape, tpc::ColumnSumsOp fact) {
  if (shape.size() != 3 || shape[1] > int64_t(fact.getPositions()) ||
      shape[2] < kFewestColumns * int64_t(fact.getChannels()))
    return 0;
  for (int64_t channels :
       {int64_t(fact.getChannels()), int64_t(fact.getChannels()) / 2})
    if (shape[2] % channels == 0)
      return channels;
  return 0;
}

/// Replaces a sum, the rescale that widens its codes, and the rescale after it.
/// The device fuses a rescale with a convolution, but not with a sum.
static void addColumn(tosa::ReduceSumOp sum, tpc::ColumnSumsOp fact) {
  auto wide = sum.getInput().getDefiningOp<tosa::RescaleOp>();
  if (sum.getAxis() != 1 || !wide || !wide->hasOneUse() || !isWidening(wide) ||
      !sum->hasOneUse())
    return;
  auto rescale = dyn_cast<tosa::RescaleOp>(*sum->user_begin());
  SmallVector<int64_t> shape(
      cast<RankedTensorType>(sum.getInput().getType()).getShape());
  int64_t channels = chooseChannels(shape, fact);
  if (channels == 0 || !rescale || rescale.getPerChannel())
    return;
  IntegerBuilder b(sum.getLoc(), rescale);
  int64_t positions = shape[1], columns = shape[2] / channels;
  SmallVector<int64_t> row{shape[0], 1, columns, channels};
  Value image =
      b.reshape(wide.getInput(), {shape[0], positions, columns, channels});
  SmallVector<int64_t> ones(positions * channels, 1), zeros(channels, 0);
  Value added = tosa::DepthwiseConv2DOp::create(
      b, RankedTensorType::get(row, b.getIntegerType(32)), image,
      b.createConstant({positions, 1, channels, 1}, 8, ones),
      b.createConstant({channels}, 32, zeros), wide.getInputZp(),
      b.createConstant({1}, 8, 0), b.getDenseI64ArrayAttr({0, 0, 0, 0}),
      b.getDenseI64ArrayAttr({1, 1}), b.getDenseI64ArrayAttr({1, 1}),
      TypeAttr::get(b.getIntegerType(32)), BoolAttr());
  auto type = cast<RankedTensorType>(rescale.getType());
  Operation *rescaled = b.clone(*rescale);
  rescaled->setOperand(0, added);
  rescaled->getResult(0).setType(type.clone(row));
  rescale.getResult().replaceAllUsesWith(
      b.reshape(rescaled->getResult(0), type.getShape()));
  for (Operation *op :
       {rescale.getOperation(), sum.getOperation(), wide.getOperation()})
    op->erase();
}

void mct::addColumns(func::FuncOp function, tpc::ColumnSumsOp fact) {
  SmallVector<tosa::ReduceSumOp> sums;
  function.walk([&](tosa::ReduceSumOp sum) { sums.push_back(sum); });
  for (tosa::ReduceSumOp sum : sums)
    addColumn(sum, fact);
}
