// SPDX-License-Identifier: Apache-2.0
//
// Reductions, pools, resizing and softmax of integers.
#include "IntegerLowering.h"
#include "mct/IR/ResizeOffsets.h"
#include "mlir/Dialect/Tosa/Utils/ConversionUtils.h"
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace mct;

//===----------------------------------------------------------------------===//
// Reductions and pools
//===----------------------------------------------------------------------===//

std::optional<IntegerLowering::Accumulator>
IntegerLowering::accumulateReduction(tosa::ReduceSumOp op) {
  // Sums along neighbouring axes are one.
  SmallVector<int64_t> axes;
  Value input = op.getResult();
  while (auto sum = input.getDefiningOp<tosa::ReduceSumOp>()) {
    if (!axes.empty() && !sum->hasOneUse())
      break;
    axes.push_back(int64_t(sum.getAxis()));
    input = sum.getInput();
  }
  std::optional<Stored> stored = getStored(input);
  llvm::sort(axes);
  SmallVector<int64_t> shape(
      cast<RankedTensorType>(input.getType()).getShape());
  Accumulator result;
  Value summands;
  if (stored) {
    result.bound = stored->encoding.getReach();
    result.scales = {stored->encoding.scale};
    result.summands = {stored->encoding.scale, stored->encoding.hasNegative()};
  } else {
    std::optional<Accumulator> term = getTerm(op, input);
    if (!term)
      return std::nullopt;
    if (term->scales.size() > 1)
      return failed(op, "reads sums that have scales along another axis");
    summands = term->value;
    result.bound = term->bound;
    result.scales = term->scales;
  }
  double count = 1;
  for (int64_t axis : axes)
    count *= double(shape[axis]);
  result.bound *= count;
  if (!(result.bound < 0x1p31))
    return failed(op, "has sums that do not fit into 32 bits");
  // Axes that follow each other become one, the first of them; from the end on,
  // so that the numbers of the others stay.
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
  Value value = stored
                    ? widen({reshape(stored->value, shape), stored->encoding})
                    : reshape(summands, shape);
  for (int64_t axis : merged) {
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> reduced(type.getShape());
    reduced[axis] = 1;
    value = tosa::ReduceSumOp::create(builder, loc, type.clone(reduced), value,
                                      builder.getI32IntegerAttr(int32_t(axis)));
  }
  result.value = value;
  result.shape =
      SmallVector<int64_t>(cast<RankedTensorType>(op.getType()).getShape());
  return result;
}

Value IntegerLowering::lowerPool(tosa::AvgPool2dOp op,
                                 const Encoding &encoding) {
  std::optional<Stored> stored = getStored(op.getInput());
  // TOSA's mean rounds half away from zero: half up where nothing is negative.
  if (!stored || stored->encoding != encoding || encoding.hasNegative() ||
      encoding.storageBits != 8 ||
      options.rounding == IntegerRounding::HalfEven)
    return nullptr;
  Value zero = createConstant(1, 8, encoding.zeroPoint);
  return tosa::AvgPool2dOp::create(
      builder, loc, getType(op.getResult(), 8), stored->value, zero, zero,
      op.getKernel(), op.getStride(), op.getPad(), builder.getI32Type());
}

std::optional<IntegerLowering::Accumulator>
IntegerLowering::accumulatePool(tosa::AvgPool2dOp op) {
  std::optional<Stored> stored = getStored(op.getInput());
  if (!stored)
    return failed(op, "reads an input that is not quantized");
  if (stored->encoding.storageBits != 8)
    return failed(op, "adds values of more than 8 bits");
  auto from = cast<RankedTensorType>(op.getInput().getType());
  auto to = cast<RankedTensorType>(op.getType());
  ArrayRef<int64_t> kernel = op.getKernel(), stride = op.getStride(),
                    pads = op.getPad();
  double count = double(kernel[0]) * double(kernel[1]);
  // Constants hold a number for each position of the kernel and of the result.
  constexpr double kMostNumbers = 1 << 24;
  if (count * double(from.getDimSize(3)) > kMostNumbers ||
      double(to.getDimSize(1)) * double(to.getDimSize(2)) > kMostNumbers)
    return failed(op, "has more than 2^24 positions");
  Accumulator result;
  result.bound = stored->encoding.getReach() * count;
  if (!(result.bound < 0x1p31))
    return failed(op, "has sums that do not fit into 32 bits");
  result.scales = {stored->encoding.scale / count};
  int64_t channels = from.getDimSize(3);
  bool isPadded = llvm::any_of(pads, [](int64_t pad) { return pad != 0; });
  bool isExact = quantization::isPowerOfTwo(count) && !isPadded;
  if (!isExact) {
    result.mean = {stored->encoding.scale, stored->encoding.hasNegative()};
    if (!(kNudge * result.bound + 1 < 0x1p31))
      return failed(op, "has sums that do not fit into 32 bits");
  }
  if (!isPadded && kernel[0] == from.getDimSize(1) &&
      kernel[1] == from.getDimSize(2)) {
    // Of a whole image: one sum.
    Stored flat = {reshape(stored->value, {from.getDimSize(0),
                                           kernel[0] * kernel[1], channels}),
                   stored->encoding};
    Value wide = widen(flat);
    result.value =
        tosa::ReduceSumOp::create(builder, loc,
                                  cast<RankedTensorType>(wide.getType())
                                      .clone({from.getDimSize(0), 1, channels}),
                                  wide, builder.getI32IntegerAttr(1));
    result.shape = SmallVector<int64_t>(to.getShape());
    return result;
  }
  // Sums of windows: a depthwise convolution with ones, whose padding adds
  // nothing.
  std::vector<int64_t> ones(size_t(kernel[0] * kernel[1] * channels), 1);
  std::vector<int64_t> biases(size_t(channels), 0);
  RankedTensorType type = getType(op.getResult(), 32);
  result.value = tosa::DepthwiseConv2DOp::create(
      builder, loc, type, stored->value,
      createConstant({kernel[0], kernel[1], channels, 1}, 8, ones),
      createConstant(channels, 32, biases),
      createConstant(1, 8, stored->encoding.zeroPoint), createConstant(1, 8, 0),
      pads, stride, ArrayRef<int64_t>{1, 1}, builder.getI32Type());
  if (!isPadded)
    return result;
  // At the borders the mean is of fewer values. All counts divide one number.
  auto getCounts = [&](unsigned axis) {
    SmallVector<int64_t> counts;
    for (int64_t i = 0; i < to.getDimSize(1 + axis); ++i) {
      int64_t first = i * stride[axis] - pads[2 * axis];
      int64_t last = std::min(first + kernel[axis], from.getDimSize(1 + axis));
      counts.push_back(last - std::max<int64_t>(first, 0));
    }
    return counts;
  };
  SmallVector<int64_t> rows = getCounts(0), columns = getCounts(1);
  int64_t common = 1;
  for (int64_t row : rows)
    for (int64_t column : columns) {
      common = std::lcm(common, row * column);
      if (!(kNudge * (double(common) * result.bound) + 1 < 0x1p31))
        return failed(op, "has windows of too many different sizes");
    }
  std::vector<int64_t> factors;
  for (int64_t row : rows)
    for (int64_t column : columns)
      factors.push_back(common / (row * column));
  result.scales = {stored->encoding.scale / double(common)};
  result.bound *= double(common);
  result.value = tosa::MulOp::create(
      builder, loc, type, result.value,
      createConstant({1, int64_t(rows.size()), int64_t(columns.size()), 1}, 32,
                     factors),
      createConstant(1, 8, 0));
  return result;
}

std::optional<IntegerLowering::Accumulator>
IntegerLowering::accumulateResize(tosa::ResizeOp op) {
  if (op.getMode() != tosa::ResizeMode::BILINEAR)
    return failed(op, kNoForm);
  std::optional<Stored> stored = getStored(op.getInput());
  SmallVector<int64_t> scale, offset, border;
  if (!stored)
    return failed(op, "reads an input that is not quantized");
  if (stored->encoding.storageBits != 8)
    return failed(op, "interpolates values of more than 8 bits");
  if (!tosa::getConstShapeValues(op.getScale().getDefiningOp(), scale) ||
      !tosa::getConstShapeValues(op.getOffset().getDefiningOp(), offset) ||
      !tosa::getConstShapeValues(op.getBorder().getDefiningOp(), border))
    return failed(op, "has scales or offsets that are not constant");
  ResizeSource source = avoidNegativeOffsets(
      builder, loc, {stored->value, {offset[0], offset[1]}}, scale);
  Accumulator result;
  auto weight = double(scale[0]) * double(scale[2]);
  result.value = tosa::ResizeOp::create(
      builder, loc, getType(op.getResult(), 32), source.image, op.getScale(),
      createShape(source.offset), op.getBorder(), tosa::ResizeMode::BILINEAR);
  result.bound = 128 * weight;
  // The weights of a value sum up to this, so the zero point has it, too.
  if (stored->encoding.zeroPoint != 0) {
    auto zero = int64_t(weight) * stored->encoding.zeroPoint;
    result.value =
        tosa::SubOp::create(builder, loc, result.value.getType(), result.value,
                            createConstant({1, 1, 1, 1}, 32, zero));
    result.bound *= 2;
  }
  result.scales = {stored->encoding.scale / weight};
  // A mean of so many values, of which some are the same one.
  constexpr double kMaxCount = 1 << 16;
  if (!quantization::isPowerOfTwo(weight) && weight < kMaxCount)
    result.mean = {stored->encoding.scale, stored->encoding.hasNegative()};
  return result;
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

bool IntegerLowering::isSoftmax(Value value, Value &input, int64_t &axis) {
  auto product = value.getDefiningOp<tosa::MulOp>();
  for (unsigned i = 0; product && i != 2; ++i) {
    auto exp = product->getOperand(i).getDefiningOp<tosa::ExpOp>();
    auto inverse =
        product->getOperand(1 - i).getDefiningOp<tosa::ReciprocalOp>();
    auto sum = inverse ? inverse.getInput1().getDefiningOp<tosa::ReduceSumOp>()
                       : nullptr;
    if (!exp || !sum || sum.getInput() != exp.getResult())
      continue;
    axis = int64_t(sum.getAxis());
    input = exp.getInput1();
    if (auto shifted = input.getDefiningOp<tosa::SubOp>())
      if (auto max = shifted.getInput2().getDefiningOp<tosa::ReduceMaxOp>();
          max && max.getInput() == shifted.getInput1() &&
          int64_t(max.getAxis()) == axis)
        input = shifted.getInput1();
    return true;
  }
  return false;
}

Value IntegerLowering::lowerSoftmax(Value value, const Encoding &encoding) {
  Value input;
  int64_t axis;
  isSoftmax(value, input, axis);
  Operation *op = value.getDefiningOp();
  std::optional<Stored> stored = getStored(input);
  if (!stored)
    return fail(op, "reads an input that is not quantized");
  auto type = cast<RankedTensorType>(input.getType());
  // Exponentials have 22 bits, their sum and 8 bits more fit into 32.
  constexpr int kFraction = 22;
  constexpr int64_t kMaxCount = 511;
  if (stored->encoding.storageBits != 8 || encoding.storageBits != 8 ||
      type.getDimSize(axis) > kMaxCount)
    return fail(op, "has more than 511 values, or values of more than 8 bits");
  SmallVector<int64_t> shape(type.getShape()), reduced(shape),
      one(shape.size(), 1);
  reduced[axis] = 1;
  auto wide = type.clone(builder.getI32Type());
  auto wideSum = wide.clone(reduced);
  auto narrow = type.clone(builder.getIntegerType(8));
  Value largest = tosa::ReduceMaxOp::create(
      builder, loc, narrow.clone(reduced), stored->value, uint32_t(axis),
      tosa::NanPropagationMode::PROPAGATE);
  Value difference = tosa::SubOp::create(builder, loc, wide, widen(*stored),
                                         widen({largest, stored->encoding}));
  // In [-255, 0]: with 127 more a code.
  Value code = rescale(difference, 0, 1.0, 127, 8);
  // Signed bytes of the exponentials, the lowest first.
  std::array<std::vector<int64_t>, 3> bytes;
  for (int64_t i = -128; i < 128; ++i) {
    double exact = std::exp(stored->encoding.scale * double(i - 127));
    int64_t rest = std::llround(std::ldexp(exact, kFraction));
    for (std::vector<int64_t> &table : bytes) {
      auto low = int64_t(int8_t(uint8_t(rest & 255)));
      table.push_back(low);
      rest = (rest - low) >> 8;
    }
  }
  Value exponentials;
  for (auto [number, table] : llvm::enumerate(bytes)) {
    Value entry = tosa::TableOp::create(builder, loc, narrow, code,
                                        createConstant(256, 8, table));
    Value part = tosa::CastOp::create(builder, loc, wide, entry);
    if (number != 0)
      part = tosa::LogicalLeftShiftOp::create(
          builder, loc, wide, part,
          createConstant(one, 32, int64_t(8 * number)));
    exponentials =
        exponentials
            ? Value(tosa::AddOp::create(builder, loc, wide, exponentials, part))
            : part;
  }
  Value sum =
      tosa::ReduceSumOp::create(builder, loc, wideSum, exponentials,
                                builder.getI32IntegerAttr(int32_t(axis)));
  Value half = tosa::ArithmeticRightShiftOp::create(builder, loc, wideSum, sum,
                                                    createConstant(one, 32, 1),
                                                    /*round=*/false);
  // Rounded quotients, in units of 1/256. A divisor is not broadcast.
  Value dividend = tosa::LogicalLeftShiftOp::create(
      builder, loc, wide, exponentials, createConstant(one, 32, 8));
  dividend = tosa::AddOp::create(builder, loc, wide, dividend, half);
  Value zeros = createConstant(shape, 32, 0);
  Value divisor = tosa::AddOp::create(builder, loc, wide, zeros, sum);
  Accumulator quotient;
  quotient.value =
      tosa::IntDivOp::create(builder, loc, wide, dividend, divisor);
  quotient.scales = {0x1p-8};
  quotient.bound = 256;
  quotient.shape = shape;
  return requantize(quotient, encoding);
}
