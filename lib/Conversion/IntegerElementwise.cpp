// SPDX-License-Identifier: Apache-2.0
//
// Sums, products, tables and reductions of integers.
#include "IntegerLowering.h"
#include "mct/Analysis/OpInterfaces.h"
#include "mct/Analysis/ResizeOffsets.h"
#include "mlir/Dialect/Tosa/Utils/ConversionUtils.h"
#include "llvm/ADT/SetVector.h"
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace mct;

/// Ops of an expression that becomes one table.
static constexpr size_t kMaxTableOps = 64;

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

Value IntegerLowering::lowerTable(Value value, const Encoding &encoding,
                                  bool &isRefused) {
  // The expression: element-wise ops of one stored value and of numbers.
  llvm::SetVector<Operation *> ops;
  DenseMap<Value, ConstantTensor> numbers;
  Value source;
  std::optional<Stored> stored;
  SmallVector<Value> open = {value};
  bool isMoreThanClamps = false;
  ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
  while (!open.empty()) {
    Value next = open.pop_back_val();
    if (next == source || numbers.count(next))
      continue;
    if (std::optional<ConstantTensor> number = constants.evaluate(next)) {
      if (number->getNumElements() != 1 && !number->isSplat())
        return nullptr;
      numbers[next] = *number;
      continue;
    }
    auto type = dyn_cast<RankedTensorType>(next.getType());
    if (!type || type.getShape() != shape)
      return nullptr;
    if (std::optional<Stored> leaf = getStored(next)) {
      if (source)
        return nullptr;
      source = next;
      stored = leaf;
      continue;
    }
    Operation *op = next.getDefiningOp();
    auto elementwise = dyn_cast_or_null<ElementwiseOpInterface>(op);
    if (!elementwise || isa<tpc::QuantizeOp>(op) || !constants.knows(op))
      return nullptr;
    if (!ops.insert(op))
      continue;
    if (ops.size() > kMaxTableOps)
      return nullptr;
    isMoreThanClamps |= !isa<tosa::ClampOp, tosa::IdentityOp>(op);
    for (Value operand :
         op->getOperands().take_front(elementwise.getNumDataOperands()))
      open.push_back(operand);
  }
  if (!source || !isMoreThanClamps || shape.empty())
    return nullptr;
  if (stored->encoding.storageBits != 8 || encoding.storageBits != 8) {
    isRefused = true;
    return fail(value.getDefiningOp(),
                "has more than 8 bits: no table is exact");
  }

  // The same for all codes, beside the function.
  Block scratch;
  OpBuilder inner(builder.getContext());
  inner.setInsertionPointToStart(&scratch);
  int64_t rank = int64_t(shape.size());
  SmallVector<int64_t> one(rank, 1), all(rank, 1);
  all[0] = 256;
  std::vector<float> inputs;
  for (int64_t code = -128; code < 128; ++code)
    inputs.push_back(stored->encoding.dequantize(code));
  IRMapping mapping;
  auto addConstant = [&](Value of, const ConstantTensor &tensor) {
    auto constant = tosa::ConstOp::create(inner, loc, tensor.getType(),
                                          tensor.toAttribute("number"));
    mapping.map(of, constant.getResult());
  };
  auto elementType = cast<RankedTensorType>(source.getType()).getElementType();
  addConstant(source,
              ConstantTensor::create<float>(
                  RankedTensorType::get(all, elementType), std::move(inputs)));
  for (auto &[number, tensor] : numbers) {
    auto type = RankedTensorType::get(one, tensor.getType().getElementType());
    addConstant(number, ConstantTensor::create<double>(
                            type, {tensor.decode<double>().front()}));
  }
  // In the order of the function, which is one of the expression.
  SmallVector<Operation *> ordered(ops.begin(), ops.end());
  llvm::sort(ordered,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  for (Operation *op : ordered) {
    Operation *copy = inner.clone(*op, mapping);
    for (OpResult result : copy->getResults())
      result.setType(cast<RankedTensorType>(result.getType()).clone(all));
  }
  ConstantEvaluator evaluator;
  std::optional<ConstantTensor> results =
      evaluator.evaluate(mapping.lookup(value));
  std::vector<int64_t> codes;
  if (results) {
    std::vector<float> values = results->decode<float>();
    if (values.size() == 1)
      values.assign(256, values.front());
    for (float result : values)
      codes.push_back(encoding.quantize(result));
  }
  scratch.dropAllReferences();
  scratch.clear();
  if (codes.size() != 256)
    return nullptr;
  return tosa::TableOp::create(builder, loc, getType(value, 8), stored->value,
                               createConstant(256, 8, codes));
}

//===----------------------------------------------------------------------===//
// Two operands
//===----------------------------------------------------------------------===//

std::optional<IntegerLowering::Accumulator>
IntegerLowering::accumulateSum(Operation *op, bool subtracts) {
  std::array<std::optional<Stored>, 2> stored;
  std::array<std::optional<ConstantTensor>, 2> numbers;
  for (unsigned i = 0; i != 2; ++i) {
    numbers[i] = constants.evaluate(op->getOperand(i));
    if (!numbers[i])
      stored[i] = getStored(op->getOperand(i));
    if (!numbers[i] && !stored[i])
      return failed(op, "reads an input that is not quantized");
  }
  Accumulator result;
  std::array<Value, 2> terms;
  if (stored[0] && stored[1]) {
    std::array<double, 2> scales = {stored[0]->encoding.scale,
                                    stored[1]->encoding.scale};
    double small = std::min(scales[0], scales[1]);
    double large = std::max(scales[0], scales[1]);
    // Onto the finer of two grids of which one contains the other; else 19 bits
    // more for the coarser one, which is then exact.
    double unit = small;
    double ratio = large / small;
    unsigned bits = std::max(stored[0]->encoding.storageBits,
                             stored[1]->encoding.storageBits);
    if (ratio != std::floor(ratio) || ratio > (bits == 8 ? 32767 : 4096))
      unit = std::ldexp(large, bits == 8 ? -19 : -12);
    for (unsigned i = 0; i != 2; ++i) {
      terms[i] = widen(*stored[i], scales[i] / unit);
      result.bound += stored[i]->encoding.getReach() * (scales[i] / unit) + 1;
    }
    result.scales = {unit};
  } else {
    unsigned number = numbers[0] ? 0 : 1;
    const Encoding &encoding = stored[1 - number]->encoding;
    std::vector<double> values = numbers[number]->decode<double>();
    double largest = 0;
    for (double value : values)
      largest = std::max(largest, std::abs(value));
    // The coarsest unit that all numbers are multiples of, within the range.
    int bits = 0;
    auto isExact = [&] {
      return llvm::all_of(values, [&](double value) {
        double code = std::ldexp(value / encoding.scale, bits);
        return code == std::nearbyint(code);
      });
    };
    int maxBits = encoding.storageBits == 8 ? 19 : 12;
    while (bits < maxBits && !isExact() &&
           std::ldexp(largest / encoding.scale, bits + 1) < 0x1p29)
      ++bits;
    double unit = std::ldexp(encoding.scale, -bits);
    if (!(largest / unit < 0x1p30))
      return failed(op, "adds a number that is too large for its scale");
    std::vector<int64_t> codes;
    for (double value : values)
      codes.push_back(std::llround(value / unit));
    terms[number] = createConstant(numbers[number]->getShape(), 32, codes);
    terms[1 - number] = widen(*stored[1 - number], std::ldexp(1, bits));
    result.scales = {unit};
    result.bound = encoding.getReach() * std::ldexp(1, bits) + largest / unit;
  }
  RankedTensorType type = getType(op->getResult(0), 32);
  if (subtracts)
    result.value = tosa::SubOp::create(builder, loc, type, terms[0], terms[1]);
  else
    result.value = tosa::AddOp::create(builder, loc, type, terms[0], terms[1]);
  return result;
}

std::optional<IntegerLowering::Accumulator>
IntegerLowering::accumulate(Value value) {
  std::optional<Stored> stored = getStored(value);
  if (!stored)
    return getAccumulator(value);
  Accumulator result;
  result.value = widen(*stored);
  result.scales = {stored->encoding.scale};
  result.bound = stored->encoding.getReach();
  result.shape = SmallVector<int64_t>(
      cast<RankedTensorType>(result.value.getType()).getShape());
  return result;
}

std::optional<IntegerLowering::Accumulator>
IntegerLowering::scale(Operation *op, std::optional<Accumulator> result,
                       ArrayRef<double> factors) {
  if (!result)
    return std::nullopt;
  auto type = cast<RankedTensorType>(result->value.getType());
  if (!llvm::all_of(factors,
                    [](double factor) { return std::isfinite(factor); }) ||
      !type.getElementType().isInteger(32) ||
      (factors.size() > 1 && type.getShape().back() != result->shape.back()))
    return failed(op, "multiplies by numbers that sums are not scaled with");
  // Factors of a rescale are positive: signs, or 0, are multiplied with before.
  size_t count = std::max(factors.size(), result->scales.size());
  std::vector<double> scales;
  std::vector<int64_t> signs;
  for (size_t i = 0; i != count; ++i) {
    double factor = factors[factors.size() == 1 ? 0 : i];
    signs.push_back((factor > 0) - (factor < 0));
    scales.push_back(result->scales[result->scales.size() == 1 ? 0 : i] *
                     (factor == 0 ? 1 : std::abs(factor)));
  }
  if (llvm::any_of(signs, [](int64_t sign) { return sign != 1; })) {
    SmallVector<int64_t> channels(type.getRank(), 1);
    channels.back() = int64_t(count);
    result->value = tosa::MulOp::create(builder, loc, type, result->value,
                                        createConstant(channels, 32, signs),
                                        createConstant(1, 8, 0));
    result->mean.reset();
  }
  if (result->mean && factors.size() == 1)
    result->mean->step *= factors.front();
  else
    result->mean.reset();
  result->scales = std::move(scales);
  return result;
}

std::optional<IntegerLowering::Accumulator>
IntegerLowering::accumulateProduct(tosa::MulOp op) {
  // Numbers, one or one for each channel, times what is not yet rounded.
  for (unsigned i = 0; i != 2; ++i) {
    std::optional<ConstantTensor> number =
        constants.evaluate(op->getOperand(i));
    Value other = op->getOperand(1 - i);
    if (!number || op.getType() != other.getType())
      continue;
    if (number->isSplat() || number->getNumElements() == 1 ||
        number->getNumElements() == number->getShape().back())
      return scale(op, accumulate(other), number->decode<double>());
  }
  Accumulator result;
  result.bound = 1;
  std::array<Value, 2> factors;
  result.scales = {1};
  for (unsigned i = 0; i != 2; ++i) {
    Value operand = op->getOperand(i);
    if (std::optional<ConstantTensor> number = constants.evaluate(operand)) {
      // A constant with a quantizer of its own.
      auto point = operand.getDefiningOp<tpc::QuantizeOp>();
      std::optional<Encoding> encoding =
          point && point.getParametersAttr()
              ? Encoding::get(point.getParametersAttr())
              : std::nullopt;
      if (!encoding || encoding->storageBits != 8)
        return failed(op, "multiplies by numbers that are not quantized");
      std::vector<int64_t> codes;
      for (float value : number->decode<float>())
        codes.push_back(encoding->quantize(value) - encoding->zeroPoint);
      factors[i] = createConstant(number->getShape(), 32, codes);
      result.scales[0] *= encoding->scale;
      result.bound *= encoding->getReach();
      continue;
    }
    std::optional<Stored> stored = getStored(operand);
    if (!stored)
      return failed(op, "reads an input that is not quantized");
    factors[i] = widen(*stored);
    result.scales[0] *= stored->encoding.scale;
    result.bound *= stored->encoding.getReach();
  }
  result.value =
      tosa::MulOp::create(builder, loc, getType(op.getResult(), 32), factors[0],
                          factors[1], createConstant(1, 8, 0));
  return result;
}

Value IntegerLowering::lowerExtreme(Operation *op, const Encoding &encoding) {
  std::array<Value, 2> operands;
  for (unsigned i = 0; i != 2; ++i) {
    Value operand = lowerTo(op->getOperand(i), encoding);
    if (!operand)
      return nullptr;
    // TOSA compares 32 bits.
    operands[i] = rescale(operand, 0, 1.0, 0, 32);
  }
  RankedTensorType type = getType(op->getResult(0), 32);
  Value wide;
  if (isa<tosa::MaximumOp>(op))
    wide = tosa::MaximumOp::create(builder, loc, type, operands[0], operands[1],
                                   tosa::NanPropagationMode::PROPAGATE);
  else
    wide = tosa::MinimumOp::create(builder, loc, type, operands[0], operands[1],
                                   tosa::NanPropagationMode::PROPAGATE);
  return rescale(wide, 0, 1.0, 0, encoding.storageBits);
}

namespace {
/// x where it is not negative, slope * x elsewhere.
struct ParametricRelu {
  Value input;
  /// One, or one for each position along the last axis.
  std::vector<double> slopes;
};
} // namespace

static std::optional<ParametricRelu>
matchParametricRelu(tosa::SelectOp op, ConstantEvaluator &constants) {
  Operation *comparison = op.getPred().getDefiningOp();
  auto product = op.getOnFalse().getDefiningOp<tosa::MulOp>();
  Value input = op.getOnTrue();
  if (!isa_and_nonnull<tosa::GreaterEqualOp, tosa::GreaterOp>(comparison) ||
      comparison->getOperand(0) != input || !product ||
      input.getType() != op.getType())
    return std::nullopt;
  std::optional<ConstantTensor> zero =
      constants.evaluate(comparison->getOperand(1));
  if (!zero || !zero->isUniformly(0))
    return std::nullopt;
  unsigned slope = product.getInput1() == input ? 1 : 0;
  std::optional<ConstantTensor> slopes =
      product->getOperand(1 - slope) == input
          ? constants.evaluate(product->getOperand(slope))
          : std::nullopt;
  // One number for each position along the last axis at most.
  if (!slopes || slopes->getShape().empty() ||
      slopes->getNumElements() != slopes->getShape().back())
    return std::nullopt;
  return ParametricRelu{input, slopes->decode<double>()};
}

Value IntegerLowering::lowerSelect(tosa::SelectOp op,
                                   const Encoding &encoding) {
  std::optional<ParametricRelu> relu = matchParametricRelu(op, constants);
  if (!relu)
    return fail(op, "has no integer form");
  std::optional<Accumulator> sum = accumulate(relu->input);
  if (!sum)
    return nullptr;
  auto type = cast<RankedTensorType>(sum->value.getType());
  if (!type.getElementType().isInteger(32) || sum->mean)
    return fail(op, "has no integer form");
  Value zero = createConstant(SmallVector<int64_t>(type.getRank(), 1), 32, 0);
  auto getHalf = [&](auto create) {
    Accumulator half = *sum;
    half.value = create(builder, loc, type, sum->value, zero,
                        tosa::NanPropagationMode::PROPAGATE);
    return half;
  };
  Accumulator positive = getHalf([](auto &&...operands) {
    return tosa::MaximumOp::create(operands...).getResult();
  });
  std::optional<Accumulator> negative =
      scale(op, getHalf([](auto &&...operands) {
              return tosa::MinimumOp::create(operands...).getResult();
            }),
            relu->slopes);
  if (!negative)
    return nullptr;
  // Each half is rounded, and the other is 0 there.
  Encoding wide = encoding;
  wide.storageBits = 32;
  wide.zeroPoint = 0;
  wide.low = std::numeric_limits<int32_t>::min();
  wide.high = std::numeric_limits<int32_t>::max();
  Value above = requantize(positive, wide), below = requantize(*negative, wide);
  if (!above || !below)
    return nullptr;
  Value both = tosa::AddOp::create(builder, loc, above.getType(), above, below);
  // Far beyond what is stored, and within what a rescale takes.
  constexpr int64_t kFar = int64_t(1) << 20;
  both = limit(both, -kFar, kFar);
  return clamp(rescale(both, 0, 1.0, encoding.zeroPoint, encoding.storageBits),
               encoding.low, encoding.high, encoding);
}

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
  if (!stored)
    return failed(op, "reads an input that is not quantized");
  llvm::sort(axes);
  SmallVector<int64_t> shape(
      cast<RankedTensorType>(input.getType()).getShape());
  double count = 1;
  for (int64_t axis : axes)
    count *= double(shape[axis]);
  Accumulator result;
  result.bound = stored->encoding.getReach() * count;
  if (!(result.bound < 0x1p31))
    return failed(op, "has sums that do not fit into 32 bits");
  result.scales = {stored->encoding.scale};
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
  Stored flat = {reshape(stored->value, shape), stored->encoding};
  Value value = widen(flat);
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
      encoding.storageBits != 8)
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
    return failed(op, "has no integer form");
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
