// SPDX-License-Identifier: Apache-2.0
//
// Integer forms of sums along axes, pooling and resizing.
#include "IntegerModels.h"
#include "mct/IR/ResizeOffsets.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Dialect/Tosa/Utils/ConversionUtils.h"
#include <numeric>

using namespace mlir;
using namespace mct;

static ArrayRef<int64_t> getShape(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// Merges successive axes into the first of them. Returns the remaining axes
/// from the last to the first, so that reducing one does not renumber the
/// others.
static SmallVector<int64_t> mergeAxes(SmallVector<int64_t> &shape,
                                      ArrayRef<int64_t> axes) {
  SmallVector<int64_t> merged;
  for (size_t i = axes.size(); i-- != 0;) {
    if (i != 0 && axes[i - 1] == axes[i] - 1) {
      shape[axes[i - 1]] *= shape[axes[i]];
      shape.erase(shape.begin() + axes[i]);
      for (int64_t &axis : merged)
        --axis;
      continue;
    }
    merged.push_back(axes[i]);
  }
  return merged;
}

/// Returns sums along axes, which are given from the last to the first.
static Value sumAlong(IntegerBuilder &b, Value values, ArrayRef<int64_t> axes) {
  for (int64_t axis : axes) {
    auto type = cast<RankedTensorType>(values.getType());
    SmallVector<int64_t> reduced(type.getShape());
    reduced[axis] = 1;
    values = tosa::ReduceSumOp::create(b, type.clone(reduced), values,
                                       b.getI32IntegerAttr(int32_t(axis)));
  }
  return values;
}

Value mct::sumCodes(IntegerBuilder &b, const StoredIntegers &codes,
                    ArrayRef<int64_t> axes) {
  return sumAlong(b, b.widen(codes), axes);
}

static IntegerOr<IntegerAccumulator>
accumulateReduction(IntegerContext &context, tosa::ReduceSumOp op) {
  // Merge sums along several axes.
  SmallVector<int64_t> axes;
  Value input = op.getResult();
  while (auto sum = input.getDefiningOp<tosa::ReduceSumOp>()) {
    if (!axes.empty() && !sum->hasOneUse())
      break;
    axes.push_back(int64_t(sum.getAxis()));
    input = sum.getInput();
  }
  IntegerOr<StoredIntegers> stored = context.getStored(input);
  llvm::sort(axes);
  SmallVector<int64_t> shape(getShape(input));
  IntegerAccumulator result;
  Value summands;
  if (stored) {
    const Encoding &encoding = stored->encoding;
    result.bound = encoding.getReach();
    result.scales = {encoding.scale};
    result.summands = {encoding.scale, encoding.hasNegative()};
  } else {
    IntegerOr<IntegerAccumulator> term = getTerm(context, op, input);
    if (!term)
      return term;
    if (term->scales.size() > 1)
      return {IntegerReason::OtherScaleAxis, op};
    summands = term->value;
    result.bound = term->bound;
    result.scales = term->scales;
  }
  double count = 1;
  for (int64_t axis : axes)
    count *= double(shape[axis]);
  result.bound *= count;
  if (!(result.bound < 0x1p31))
    return {IntegerReason::SumsDoNotFit, op};
  SmallVector<int64_t> merged = mergeAxes(shape, axes);
  IntegerBuilder &b = context.getBuilder();
  if (!stored) {
    result.value = sumAlong(b, b.reshape(summands, shape), merged);
    return result;
  }
  StoredIntegers codes{b.reshape(stored->value, shape), stored->encoding};
  result.value = sumCodes(b, codes, merged);
  result.summands->origin = {codes, merged, result.value};
  return result;
}

//===----------------------------------------------------------------------===//
// Average pools
//===----------------------------------------------------------------------===//

/// Returns the number of values in each window along a spatial axis.
static SmallVector<int64_t> getCounts(tosa::AvgPool2dOp op, unsigned axis) {
  int64_t size = getShape(op.getInput())[1 + axis];
  SmallVector<int64_t> counts;
  for (int64_t i = 0; i < getShape(op.getOutput())[1 + axis]; ++i) {
    int64_t first = i * op.getStride()[axis] - op.getPad()[2 * axis];
    int64_t last = std::min(first + op.getKernel()[axis], size);
    counts.push_back(last - std::max<int64_t>(first, 0));
  }
  return counts;
}

/// Returns the sums of the windows by a depthwise convolution with ones, whose
/// padding adds nothing.
static Value sumWindows(IntegerBuilder &b, tosa::AvgPool2dOp op,
                        const StoredIntegers &stored) {
  ArrayRef<int64_t> kernel = op.getKernel();
  int64_t channels = getShape(op.getInput())[3];
  std::vector<int64_t> ones(size_t(kernel[0] * kernel[1] * channels), 1);
  std::vector<int64_t> biases(size_t(channels), 0);
  return tosa::DepthwiseConv2DOp::create(
      b, b.getType(op.getResult(), 32), stored.value,
      b.createConstant({kernel[0], kernel[1], channels, 1}, 8, ones),
      b.createConstant(channels, 32, biases),
      b.createConstant(1, 8, stored.encoding.zeroPoint),
      b.createConstant(1, 8, 0), op.getPad(), op.getStride(),
      ArrayRef<int64_t>{1, 1}, b.getI32Type());
}

namespace {
struct AvgPool2dModel
    : IntegerOpInterface::ExternalModel<AvgPool2dModel, tosa::AvgPool2dOp> {
  IntegerOr<IntegerAccumulator> getAccumulator(Operation *op,
                                               IntegerContext &context) const;

  IntegerOr<Value> getCodes(Operation *op, IntegerContext &context,
                            const Encoding &encoding) const {
    auto pool = cast<tosa::AvgPool2dOp>(op);
    IntegerOr<StoredIntegers> stored = context.getStored(pool.getInput());
    // TOSA rounds the mean half away from zero, which is half up if nothing is
    // negative. Kernels that round twice take the mean of the stored codes.
    IntegerRounding rounding = context.getOptions().rounding;
    bool isOfStored = roundsTwice(rounding);
    if (!stored || stored->encoding != encoding || encoding.storageBits != 8 ||
        (encoding.hasNegative() && !isOfStored) ||
        rounding == IntegerRounding::HalfEven)
      return context.roundAccumulator(pool.getResult(), encoding);
    IntegerBuilder &b = context.getBuilder();
    Value zero = b.createConstant(1, 8, isOfStored ? 0 : encoding.zeroPoint);
    return tosa::AvgPool2dOp::create(
        b, b.getType(pool.getResult(), 8), stored->value, zero, zero,
        pool.getKernel(), pool.getStride(), pool.getPad(), b.getI32Type());
  }
};
} // namespace

IntegerOr<IntegerAccumulator>
AvgPool2dModel::getAccumulator(Operation *op, IntegerContext &context) const {
  auto pool = cast<tosa::AvgPool2dOp>(op);
  IntegerOr<StoredIntegers> stored = context.getStored(pool.getInput());
  if (!stored)
    return {IntegerReason::InputNotQuantized, op};
  const Encoding &encoding = stored->encoding;
  if (encoding.storageBits != 8)
    return {IntegerReason::WidePool, op};
  ArrayRef<int64_t> from = getShape(pool.getInput()),
                    to = getShape(pool.getOutput()), kernel = pool.getKernel();
  double count = double(kernel[0]) * double(kernel[1]);
  // The constants have one number for each position of the kernel and of the
  // result.
  constexpr double kMostNumbers = 1 << 24;
  if (count * double(from[3]) > kMostNumbers ||
      double(to[1]) * double(to[2]) > kMostNumbers)
    return {IntegerReason::TooManyPositions, op};
  IntegerAccumulator result;
  result.bound = encoding.getReach() * count;
  if (!(result.bound < 0x1p31))
    return {IntegerReason::SumsDoNotFit, op};
  result.scales = {encoding.scale / count};
  result.isPool = true;
  bool isPadded =
      llvm::any_of(pool.getPad(), [](int64_t pad) { return pad != 0; });
  if (!quantization::isPowerOfTwo(count) || isPadded) {
    result.mean = {encoding.scale, encoding.hasNegative()};
    if (!(kNudge * result.bound + 1 < 0x1p31))
      return {IntegerReason::SumsDoNotFit, op};
  }
  IntegerBuilder &b = context.getBuilder();
  if (!isPadded && kernel[0] == from[1] && kernel[1] == from[2]) {
    // A pool over the whole image is a single sum.
    StoredIntegers codes{
        b.reshape(stored->value, {from[0], kernel[0] * kernel[1], from[3]}),
        encoding};
    result.value = sumCodes(b, codes, {1});
    if (result.mean)
      result.mean->origin = {codes, {1}, result.value};
    return result;
  }
  result.value = sumWindows(b, pool, *stored);
  if (!isPadded)
    return result;
  // Windows at the borders have fewer values. Use a common multiple of all
  // counts.
  SmallVector<int64_t> rows = getCounts(pool, 0), columns = getCounts(pool, 1);
  int64_t common = 1;
  for (int64_t row : rows)
    for (int64_t column : columns) {
      common = std::lcm(common, row * column);
      if (!(kNudge * (double(common) * result.bound) + 1 < 0x1p31))
        return {IntegerReason::WindowSizes, op};
    }
  std::vector<int64_t> factors;
  for (int64_t row : rows)
    for (int64_t column : columns)
      factors.push_back(common / (row * column));
  result.scales = {encoding.scale / double(common)};
  result.bound *= double(common);
  result.value = b.multiply(
      result.value,
      b.createConstant({1, int64_t(rows.size()), int64_t(columns.size()), 1},
                       32, factors));
  return result;
}

//===----------------------------------------------------------------------===//
// Resizing
//===----------------------------------------------------------------------===//

namespace {
struct ResizeModel
    : IntegerOpInterface::ExternalModel<ResizeModel, tosa::ResizeOp> {
  /// Interpolates between values.
  IntegerOr<IntegerAccumulator> getAccumulator(Operation *op,
                                               IntegerContext &context) const {
    auto resize = cast<tosa::ResizeOp>(op);
    if (resize.getMode() != tosa::ResizeMode::BILINEAR)
      return {IntegerReason::NoForm, op};
    IntegerOr<StoredIntegers> stored = context.getStored(resize.getInput());
    SmallVector<int64_t> scale, offset, border;
    if (!stored)
      return {IntegerReason::InputNotQuantized, op};
    const Encoding &encoding = stored->encoding;
    if (encoding.storageBits != 8)
      return {IntegerReason::WideResize, op};
    if (!tosa::getConstShapeValues(resize.getScale().getDefiningOp(), scale) ||
        !tosa::getConstShapeValues(resize.getOffset().getDefiningOp(),
                                   offset) ||
        !tosa::getConstShapeValues(resize.getBorder().getDefiningOp(), border))
      return {IntegerReason::ResizeNotConstant, op};
    IntegerBuilder &b = context.getBuilder();
    ResizeSource source = avoidNegativeOffsets(
        b, b.getLoc(), {stored->value, {offset[0], offset[1]}}, scale);
    IntegerAccumulator result;
    auto weight = double(scale[0]) * double(scale[2]);
    result.value = tosa::ResizeOp::create(
        b, b.getType(resize.getResult(), 32), source.image, resize.getScale(),
        b.createShape(source.offset), resize.getBorder(),
        tosa::ResizeMode::BILINEAR);
    result.bound = 128 * weight;
    // The weights of a result have this sum, by which the zero point is
    // multiplied as well.
    if (encoding.zeroPoint != 0) {
      auto zero = int64_t(weight) * encoding.zeroPoint;
      result.value =
          b.subtract(result.value, b.createNumber(result.value, zero));
      result.bound *= 2;
    }
    result.scales = {encoding.scale / weight};
    // A result is the mean of this many values, some of which are equal.
    constexpr double kMaxCount = 1 << 16;
    if (!quantization::isPowerOfTwo(weight) && weight < kMaxCount)
      result.mean = {encoding.scale, encoding.hasNegative()};
    return result;
  }

  IntegerOr<Value> getCodes(Operation *op, IntegerContext &context,
                            const Encoding &encoding) const {
    auto resize = cast<tosa::ResizeOp>(op);
    if (resize.getMode() != tosa::ResizeMode::NEAREST_NEIGHBOR)
      return context.roundAccumulator(resize.getResult(), encoding);
    IntegerOr<Value> before = context.getCodes(resize.getInput(), encoding);
    if (!before)
      return before;
    IntegerBuilder &b = context.getBuilder();
    Operation *copy = b.clone(*op);
    copy->setLoc(b.getLoc());
    copy->setOperand(0, *before);
    copy->getResult(0).setType(
        b.getType(resize.getResult(), encoding.storageBits));
    return copy->getResult(0);
  }
};
} // namespace

void mct::attachIntegerReductionModels(MLIRContext *context) {
  attachAccumulators<accumulateReduction>(context);
  tosa::AvgPool2dOp::attachInterface<AvgPool2dModel>(*context);
  tosa::ResizeOp::attachInterface<ResizeModel>(*context);
}
