// SPDX-License-Identifier: Apache-2.0
//
// Ops that work on each element, and small groups of them.
#include "NetworkGenerator.h"

using namespace mlir;
using namespace mct::testing::generator;

Value Network::elementwise() {
  Value value = choose(f32());
  if (!value)
    return {};
  Range range = rangeOf(value);
  // Functions of a part of the line get a value that lies there.
  auto positive = [&] {
    if (range.low >= 0.05)
      return value;
    Value magnitude =
        range.low >= 0 ? value : unary("tosa.abs", value, 0, range.magnitude());
    return add(magnitude,
               number(rankOf(value), f32(), random.uniform(0.05f, 1)));
  };
  switch (random.below(16)) {
  case 0:
    return unary("tosa.abs", value, 0, range.magnitude());
  case 1:
    return unary("tosa.ceil", value, std::ceil(range.low),
                 std::ceil(range.high));
  case 2:
    return unary("tosa.floor", value, std::floor(range.low),
                 std::floor(range.high));
  case 3:
    return relu(value);
  case 4:
    return clamp(value, -1, random.uniform(0, 2));
  case 5:
    return unary("tosa.erf", value, -1, 1);
  case 6:
    return unary("tosa.sigmoid", value, 0, 1);
  case 7:
    return unary("tosa.tanh", value, -1, 1);
  case 8: {
    Value small = range.high > 4 ? clamp(value, -8, 4) : value;
    return unary("tosa.exp", small, 0, std::exp(rangeOf(small).high));
  }
  case 9: {
    Value x = positive();
    return unary("tosa.log", x, std::log(rangeOf(x).low),
                 std::log(std::max(rangeOf(x).high, 1.0)));
  }
  case 10: {
    Value x = positive();
    return unary("tosa.reciprocal", x, 0, 1 / rangeOf(x).low);
  }
  case 11: {
    Value x = positive();
    return unary("tosa.rsqrt", x, 0, 1 / std::sqrt(rangeOf(x).low));
  }
  case 12:
    return unary("tosa.sin", value, -1, 1);
  case 13:
    return unary("tosa.cos", value, -1, 1);
  case 14: {
    Value z = zero(f32());
    return known(op("tosa.negate", value.getType(), {value, z, z}), -range.high,
                 -range.low);
  }
  default:
    return like(op("tosa.identity", value.getType(), value), value);
  }
}

/// A second operand: the value itself, another one, or a constant of a shape
/// that is spread over the first.
Value Network::operandFor(Value value) {
  if (random.chance(10))
    return value;
  if (random.chance(60)) {
    SmallVector<Value> fitting;
    for (Value candidate : pool)
      if (elementOf(candidate) == elementOf(value) && candidate != value &&
          fits(candidate, value) &&
          countOf(broadcastType(candidate, value, f32()).getShape()) <=
              kLargestTensor)
        fitting.push_back(candidate);
    if (!fitting.empty())
      return fitting[random.below(fitting.size())];
  }
  Shape shape(shapeOf(value));
  for (auto [axis, size] : llvm::enumerate(shape))
    if (random.chance(40) || (axis == 0 && keepsBatch))
      size = 1;
  if (elementOf(value).isF32())
    return constant(floats(shape), -2, 2);
  if (elementOf(value).isInteger(1))
    return constant(type(shape, i1()), 0, 1);
  return constant(type(shape, elementOf(value)), -7, 7);
}

Value Network::binary() {
  Value a = choose(f32());
  if (!a)
    return {};
  Value b = operandFor(a);
  if (random.chance(50))
    std::swap(a, b);
  switch (random.below(7)) {
  case 0:
  case 1:
    return add(a, b);
  case 2:
    return sub(a, b);
  case 3:
    return mul(a, b);
  case 4:
    return extremum(true, a, b);
  case 5:
    return extremum(false, a, b);
  default: {
    Value base =
        add(unary("tosa.sigmoid", a, 0, 1), number(rankOf(a), f32(), 0.5));
    Value exponent = clamp(b, -2, 2);
    return known(
        op("tosa.pow", broadcastType(base, exponent, f32()), {base, exponent}),
        0, 4);
  }
  }
}

Value Network::selection() {
  Value a = choose(f32());
  if (!a)
    return {};
  Value b = operandFor(a), condition;
  Value full = chooseShaped(i1(), shapeOf(a));
  if (full && random.chance(50))
    condition = full;
  else
    condition = offer(compare(a, operandFor(a)));
  RankedTensorType result = broadcastType(a, b, f32());
  for (auto [size, other] :
       llvm::zip_equal(result.getShape(), shapeOf(condition)))
    if (other != size && other != 1)
      return {};
  Range x = rangeOf(a), y = rangeOf(b);
  return known(op("tosa.select", result, {condition, a, b}),
               std::min(x.low, y.low), std::max(x.high, y.high));
}

Value Network::softmax() {
  Value x = choose(f32());
  if (!x || rankOf(x) < 2)
    return {};
  x = tame(x);
  int64_t axis = rankOf(x) - 1;
  Shape shape(shapeOf(x));
  shape[size_t(axis)] = 1;
  auto mode = attr("nan_mode", tosa::NanPropagationModeAttr::get(
                                   builder.getContext(),
                                   tosa::NanPropagationMode::PROPAGATE));
  Value top =
      like(op("tosa.reduce_max", floats(shape), x, {axisAttr(axis), mode}), x);
  Value shifted = sub(x, top);
  Value raised = unary("tosa.exp", shifted, 0, 1);
  Value total = known(
      op("tosa.reduce_sum", floats(shape), raised, axisAttr(axis)), 1, 1e4);
  Value inverse = unary("tosa.reciprocal", total, 0, 1);
  Value result = mul(raised, inverse);
  return known(result, 0, 1);
}

Value Network::prelu() {
  Value x = choose(f32());
  if (!x)
    return {};
  Shape slopes(shapeOf(x).size(), 1);
  if (!slopes.empty() && (!keepsBatch || slopes.size() > 1))
    slopes.back() = shapeOf(x).back();
  Value scaled = mul(x, constant(floats(slopes), 0.05, 0.5));
  Value positive = known(op("tosa.greater_equal", type(shapeOf(x), i1()),
                            {x, number(rankOf(x), f32(), 0)}),
                         0, 1);
  return like(op("tosa.select", x.getType(), {positive, x, scaled}), x);
}
