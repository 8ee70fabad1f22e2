// SPDX-License-Identifier: Apache-2.0
//
// The longer rules of RangeTable.cpp.
#include "RangePropagation.h"
#include <cmath>

using namespace mlir;
using namespace mct;

std::optional<Knowledge> RangePropagation::visitRescale(tosa::RescaleOp op) {
  Value input = op.getInput();
  std::optional<std::vector<int64_t>> multipliers =
      readIntegers(op.getMultiplier());
  std::optional<std::vector<int64_t>> shifts = readIntegers(op.getShift());
  std::optional<int64_t> inputZero = readScalar(op.getInputZp()),
                         outputZero = readScalar(op.getOutputZp());
  Interval type = *Interval::ofType(op.getInput().getType()),
           resultType = *Interval::ofType(op.getType());
  if (!multipliers || !shifts || !inputZero || !outputZero ||
      multipliers->empty() || multipliers->size() != shifts->size())
    return std::nullopt;
  auto isLegal = [](int64_t shift) { return shift >= 2 && shift <= 62; };
  if (!llvm::all_of(*shifts, isLegal) ||
      llvm::any_of(*multipliers, [](int64_t value) { return value < 0; }))
    return std::nullopt;

  // Unsigned values are stored in types that interpret them as signed.
  int64_t modulus = type.high - type.low + 1,
          resultModulus = resultType.high - resultType.low + 1;
  auto read = [&](Interval stored) -> Interval {
    if (!op.getInputUnsigned() || stored.low >= 0)
      return stored;
    if (stored.high < 0)
      return {stored.low + modulus, stored.high + modulus};
    return {0, modulus - 1};
  };
  auto store = [&](Interval value) -> Interval {
    if (!op.getOutputUnsigned())
      return clamp(value, resultType);
    value = clamp(value, {0, resultModulus - 1});
    if (value.high <= resultType.high)
      return value;
    if (value.low > resultType.high)
      return {value.low - resultModulus, value.high - resultModulus};
    return resultType;
  };
  int64_t zero = op.getInputUnsigned() && *inputZero < 0 ? *inputZero + modulus
                                                         : *inputZero;
  int64_t resultZero = op.getOutputUnsigned() && *outputZero < 0
                           ? *outputZero + resultModulus
                           : *outputZero;
  bool doubleRound = op.getRoundingMode() == tosa::RoundingMode::DOUBLE_ROUND;
  const Interval word =
      *Interval::ofType(IntegerType::get(op.getContext(), 32));
  bool isDefined = true;
  auto scale = [&](Interval stored, int64_t channel,
                   bool judge = false) -> Interval {
    RescaleFactor factor{(*multipliers)[channel], (*shifts)[channel],
                         doubleRound};
    Interval value = subtract(read(stored), Interval::point(zero));
    std::optional<int64_t> where;
    if (op.getPerChannel() && multipliers->size() > 1)
      where = channel;
    if (judge && op.getScale32() && !factor.getDomain().contains(value)) {
      report(RangeViolation::Kind::RescaleInput, op, value, factor.getDomain(),
             where);
      isDefined = false;
    }
    Interval scaled = factor(value);
    if (judge && !op.getScale32() && !word.contains(scaled)) {
      report(RangeViolation::Kind::Result, op, scaled, word, where);
      isDefined = false;
    }
    return store(mct::add(scaled, Interval::point(resultZero)));
  };

  const Knowledge &from = *know(input);
  bool perChannel = op.getPerChannel() && multipliers->size() > 1;
  if (!perChannel) {
    for (Interval channel : from.channels)
      scale(channel, 0, /*judge=*/true);
    if (!isDefined)
      return std::nullopt;
    return map(input, [&](Interval values) { return scale(values, 0); });
  }
  if (from.channels.size() != 1 && from.channels.size() != multipliers->size())
    return std::nullopt;
  Knowledge to;
  for (size_t i = 0; i != multipliers->size(); ++i)
    to.channels.push_back(scale(channelOf(from, i), i, /*judge=*/true));
  if (!isDefined)
    return std::nullopt;
  return to;
}

std::optional<Knowledge> RangePropagation::visitSub(tosa::SubOp op) {
  Knowledge raw = combine(op.getInput1(), op.getInput2(), subtract);
  if (std::optional<int64_t> axis =
          axisOfMaximum(op.getInput1(), op.getInput2())) {
    for (Interval &channel : raw.channels)
      channel = {std::min<int64_t>(channel.low, 0),
                 std::min<int64_t>(channel.high, 0)};
    raw.root = nullptr;
    raw.pieces.clear();
    raw.source = op.getResult();
    raw.axis = *axis;
    raw.witness = Interval::point(0);
  }
  return limit(op, std::move(raw), *Interval::ofType(op.getType()),
               RangeViolation::Kind::Result);
}

std::optional<Knowledge> RangePropagation::visitMul(tosa::MulOp op) {
  std::optional<int64_t> shift = readScalar(op.getShift());
  if (!shift || *shift < 0 || *shift > 62)
    return std::nullopt;
  Knowledge raw =
      combine(op.getInput1(), op.getInput2(), [&](Interval a, Interval b) {
        return multiply(a, b, unsigned(*shift));
      });
  return limit(op, std::move(raw), *Interval::ofType(op.getType()),
               RangeViolation::Kind::Result);
}

std::optional<Knowledge> RangePropagation::visitShift(Operation *op, bool left,
                                                      bool round) {
  Value value = op->getOperand(0), amount = op->getOperand(1);
  Interval type = *Interval::ofType(value.getType()), by = know(amount)->all(),
           allowed = {0,
                      getElementTypeOrSelf(value).getIntOrFloatBitWidth() - 1};
  if (!allowed.contains(by)) {
    report(RangeViolation::Kind::ShiftAmount, op, by, allowed);
    return std::nullopt;
  }
  // Pieces of the shift amount may be wider than their union.
  Knowledge raw = combine(value, amount, [&](Interval a, Interval b) {
    b = clamp(b, allowed);
    return left ? shiftLeft(a, b) : shiftRight(a, b, round);
  });
  tighten(raw);
  // Bits that are shifted out are lost, so that any value may result.
  for (Interval channel : raw.channels)
    if (!type.contains(channel))
      return std::nullopt;
  return raw;
}

std::optional<Knowledge> RangePropagation::visitTable(tosa::TableOp op) {
  Value input = op.getInput1();
  std::optional<std::vector<int64_t>> table = readIntegers(op.getTable());
  bool isWide = getElementTypeOrSelf(input).isInteger(16);
  if (!table || table->size() != (isWide ? 513u : 256u) ||
      (!isWide && !getElementTypeOrSelf(input).isInteger(8)))
    return std::nullopt;
  makeRoot(input);
  Knowledge to =
      map(input, [&](Interval index) { return lookUp(*table, index); });
  tighten(to);
  return to;
}

std::optional<Knowledge>
RangePropagation::visitReduceSum(tosa::ReduceSumOp op) {
  const Knowledge &from = *know(op.getInput());
  auto type = cast<RankedTensorType>(op.getInput().getType());
  int64_t axis = op.getAxis();
  if (axis < 0 || axis >= type.getRank() || type.isDynamicDim(axis))
    return std::nullopt;
  int64_t size = type.getDimSize(axis);
  Knowledge to;
  if (axis + 1 == type.getRank() && int64_t(from.channels.size()) == size) {
    Interval sum;
    for (Interval channel : from.channels)
      sum = mct::add(sum, channel);
    to.channels = {sum};
  } else {
    to = reduced(from, op.getInput(), axis);
    for (Interval &channel : to.channels)
      channel = multiply(channel, Interval::point(size));
  }
  if (from.source && from.axis == axis && size > 0)
    for (Interval &channel : to.channels) {
      Interval others = multiply(from.all(), Interval::point(size - 1));
      channel = intersect(channel, mct::add(others, from.witness));
    }
  std::vector<int64_t> magnitudes;
  for (Interval channel : reduced(from, op.getInput(), axis).channels)
    magnitudes.push_back(multiplySaturating(absolute(channel).high, size));
  result.accumulators.push_back({op, std::move(magnitudes)});
  return limit(op, std::move(to), *Interval::ofType(op.getType()),
               RangeViolation::Kind::Result);
}

std::optional<Knowledge> RangePropagation::visitAvgPool(tosa::AvgPool2dOp op) {
  std::optional<int64_t> inputZero = readScalar(op.getInputZp()),
                         outputZero = readScalar(op.getOutputZp());
  if (!inputZero || !outputZero || !Interval::ofType(op.getAccType()))
    return std::nullopt;
  int64_t count = multiplySaturating(op.getKernel()[0], op.getKernel()[1]);
  Knowledge to = moved(*know(op.getInput()), /*keepsLast=*/true);
  Interval type = *Interval::ofType(op.getType()),
           allowed = *Interval::ofType(op.getAccType());
  for (auto [i, channel] : llvm::enumerate(to.channels)) {
    Interval value = subtract(channel, Interval::point(*inputZero));
    Interval sum = multiply(value, Interval::point(count));
    if (!allowed.contains(sum)) {
      report(RangeViolation::Kind::Result, op, sum, allowed,
             to.channels.size() == 1 ? std::nullopt
                                     : std::optional<int64_t>(i));
      return std::nullopt;
    }
    channel = clamp(mct::add(value, Interval::point(*outputZero)), type);
  }
  return to;
}

std::optional<Knowledge> RangePropagation::visitConcat(tosa::ConcatOp op) {
  Knowledge to;
  auto type = cast<RankedTensorType>(op.getType());
  bool isLast = int64_t(op.getAxis()) + 1 == type.getRank() &&
                type.getShape().back() <= kMaxChannels;
  for (Value operand : op.getInput1()) {
    const Knowledge &from = *know(operand);
    int64_t size = lastSize(operand);
    if (isLast && !ShapedType::isDynamic(size)) {
      for (int64_t i = 0; i != size; ++i)
        to.channels.push_back(channelOf(from, i));
    } else if (to.channels.empty()) {
      to.channels = from.channels;
    } else if (to.channels.size() == from.channels.size()) {
      for (auto [i, channel] : llvm::enumerate(to.channels))
        channel = unite(channel, from.channels[i]);
    } else {
      to.channels = {unite(to.all(), from.all())};
    }
  }
  if (to.channels.empty())
    return std::nullopt;
  if (llvm::all_equal(to.channels))
    to.channels.resize(1);
  return to;
}

std::optional<Knowledge> RangePropagation::visitResize(tosa::ResizeOp op) {
  Knowledge to = moved(*know(op.getInput()), /*keepsLast=*/true);
  if (op.getMode() != tosa::ResizeMode::BILINEAR)
    return to;
  DenseIntElementsAttr scale;
  if (!matchPattern(op.getScale(), m_Constant(&scale)) ||
      scale.getNumElements() != 4)
    return std::nullopt;
  SmallVector<APInt> values(scale.getValues<APInt>());
  Interval factor = Interval::point(
      multiplySaturating(values[0].getSExtValue(), values[2].getSExtValue()));
  for (Interval &channel : to.channels)
    channel = multiply(channel, factor);
  return limit(op, std::move(to), *Interval::ofType(op.getType()),
               RangeViolation::Kind::Result);
}

std::optional<Knowledge> RangePropagation::visitNegate(tosa::NegateOp op) {
  std::optional<int64_t> inputZero = readScalar(op.getInput1Zp()),
                         outputZero = readScalar(op.getOutputZp());
  if (!inputZero || !outputZero)
    return std::nullopt;
  Interval type = *Interval::ofType(op.getType());
  bool isWide = getElementTypeOrSelf(op.getType()).isInteger(32);
  Knowledge raw = map(op.getInput1(), [&](Interval values) {
    Interval negated =
        subtract(Interval::point(*inputZero + *outputZero), values);
    return isWide ? negated : clamp(negated, type);
  });
  return limit(op, std::move(raw), type, RangeViolation::Kind::Result);
}

Knowledge RangePropagation::finish(Operation *op, Sums sums, bool mayLeaveOut) {
  result.accumulators.push_back({op, std::move(sums.magnitudes)});

  Interval type = *Interval::ofType(op->getResult(0).getType());
  Knowledge partial, to;
  to.channels = mayLeaveOut ? sums.partial : std::move(sums.values);
  partial.channels = std::move(sums.partial);
  size_t before = result.violations.size();
  limit(op, std::move(partial), type, RangeViolation::Kind::Result);
  return before == result.violations.size() ? std::move(to)
                                            : fromType(op->getResult(0));
}

template <typename ConvOp>
std::optional<Knowledge> RangePropagation::visitConv(ConvOp op, bool isPadded) {
  auto weightType = dyn_cast<RankedTensorType>(op.getWeight().getType());
  std::optional<int64_t> inputZero = readScalar(op.getInputZp()),
                         weightZero = readScalar(op.getWeightZp());
  if (!weightType || !weightType.hasStaticShape() || !inputZero ||
      !weightZero || weightType.getNumElements() == 0 ||
      weightType.getNumElements() > kMaxTerms)
    return std::nullopt;
  constexpr bool isDepthwise = std::is_same_v<ConvOp, tosa::DepthwiseConv2DOp>;
  ArrayRef<int64_t> shape = weightType.getShape();
  int64_t inputs = isDepthwise ? shape[2] : shape.back();
  int64_t outputs = isDepthwise ? shape[2] * shape[3] : shape.front();

  const Knowledge &input = *know(op.getInput()), &bias = *know(op.getBias());
  if ((input.channels.size() != 1 &&
       int64_t(input.channels.size()) != inputs) ||
      (bias.channels.size() != 1 && int64_t(bias.channels.size()) != outputs))
    return std::nullopt;
  std::vector<Interval> values;
  for (Interval channel : input.channels)
    values.push_back(subtract(channel, Interval::point(*inputZero)));
  auto getInputRange = [&](int64_t channel) {
    return values.size() == 1 ? values.front() : values[channel];
  };

  Sums sums(outputs);
  int64_t kernelSize = weightType.getNumElements() / outputs;
  auto addTerm = [&](int64_t index, Interval weight) {
    int64_t in = index % inputs, out = index / kernelSize;
    if (isDepthwise) {
      out = index % outputs;
      in = out / shape[3];
    }
    sums.add(out, multiply(getInputRange(in),
                           subtract(weight, Interval::point(*weightZero))));
  };
  bool isSplat = false;
  Interval all = know(op.getWeight())->all();
  if (!visitElements(
          op.getWeight(),
          [&](int64_t index, int64_t weight) {
            addTerm(index, Interval::point(weight));
          },
          isSplat))
    for (int64_t i = 0, end = weightType.getNumElements(); i != end; ++i)
      addTerm(i, all);
  else if (isSplat)
    for (int64_t i = 1, end = weightType.getNumElements(); i != end; ++i)
      addTerm(i, all);
  for (int64_t i = 0; i != outputs; ++i) {
    Interval offset = channelOf(bias, i);
    sums.values[i] = mct::add(sums.values[i], offset);
    sums.partial[i] = mct::add(sums.partial[i], offset);
    sums.magnitudes[i] =
        addSaturating(sums.magnitudes[i], absolute(offset).high);
  }
  return finish(op, std::move(sums), isPadded);
}

std::optional<Knowledge> RangePropagation::visitMatMul(tosa::MatMulOp op) {
  std::optional<int64_t> aZero = readScalar(op.getAZp()),
                         bZero = readScalar(op.getBZp());
  int64_t depth = lastSize(op.getA());
  if (!aZero || !bZero || ShapedType::isDynamic(depth))
    return std::nullopt;
  const Knowledge &a = *know(op.getA()), &b = *know(op.getB());
  if ((a.channels.size() != 1 && int64_t(a.channels.size()) != depth) ||
      depth > kMaxTerms / int64_t(b.channels.size()))
    return std::nullopt;
  // Range of all terms of a column of b; the rows have a single range.
  Sums sums(b.channels.size());
  for (auto [i, column] : llvm::enumerate(b.channels)) {
    Interval factor = subtract(column, Interval::point(*bZero));
    for (int64_t row = 0; row != depth; ++row)
      sums.add(i, multiply(subtract(channelOf(a, row), Interval::point(*aZero)),
                           factor));
  }
  return finish(op, std::move(sums), /*mayLeaveOut=*/false);
}

/// Returns the limits of a clamp before a conversion from floating point.
std::optional<Knowledge> RangePropagation::visitFloatCast(tosa::CastOp op) {
  auto limits = op.getInput().getDefiningOp<tosa::ClampOp>();
  if (!limits)
    return std::nullopt;
  auto low = dyn_cast<FloatAttr>(limits.getMinVal()),
       high = dyn_cast<FloatAttr>(limits.getMaxVal());
  if (!low || !high)
    return std::nullopt;
  Interval type = *Interval::ofType(op.getType());
  auto round = [&](const FloatAttr &limit) {
    // Values that the type cannot hold saturate.
    return int64_t(std::clamp(std::nearbyint(limit.getValueAsDouble()),
                              double(type.low), double(type.high)));
  };
  if (!(low.getValueAsDouble() <= high.getValueAsDouble()))
    return std::nullopt;
  Knowledge to;
  to.channels = {{round(low), round(high)}};
  // NaN becomes zero.
  if (limits.getNanMode() != tosa::NanPropagationMode::IGNORE)
    to.channels.front() = unite(to.channels.front(), Interval::point(0));
  return to;
}
