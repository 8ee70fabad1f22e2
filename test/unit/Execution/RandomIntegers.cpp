// SPDX-License-Identifier: Apache-2.0
//
// Integers and booleans.
#include "NetworkGenerator.h"

using namespace mlir;
using namespace mct::testing::generator;

Value Network::integers() {
  Value a = choose(i32());
  if (!a || random.chance(30)) {
    Value source = choose(f32());
    if (!source)
      return a;
    a = castTo(mul(source, number(rankOf(source), f32(), 7)), i32());
    offer(a);
  }
  // Far from where a sum or product would overflow.
  if (rangeOf(a).magnitude() > 1e4)
    a = clamp(a, -1000, 1000);
  Value b = operandFor(a);
  if (rangeOf(b).magnitude() > 1e4)
    b = clamp(b, -1000, 1000);
  RankedTensorType result = broadcastType(a, b, i32());
  Range all{-2147483648.0, 2147483647.0};
  auto plain = [&](StringRef opName, Value x, Value y) {
    return known(op(opName, result, {x, y}), all.low, all.high);
  };
  Value made;
  switch (random.below(18)) {
  case 0:
    made = add(a, b);
    break;
  case 1:
    made = sub(a, b);
    break;
  case 2:
    made = mul(a, b);
    break;
  case 3:
    made = extremum(true, a, b);
    break;
  case 4:
    made = extremum(false, a, b);
    break;
  case 5:
    made = unary("tosa.abs", a, 0, rangeOf(a).magnitude());
    break;
  case 6:
    made = clamp(a, -5, 9);
    break;
  case 7:
    made = plain("tosa.bitwise_and", a, b);
    break;
  case 8:
    made = plain("tosa.bitwise_or", a, b);
    break;
  case 9:
    made = plain("tosa.bitwise_xor", a, b);
    break;
  case 10:
    made =
        unary("tosa.bitwise_not", a, -rangeOf(a).high - 1, -rangeOf(a).low - 1);
    break;
  case 11:
    made = unary("tosa.clz", a, 0, 32);
    break;
  case 12:
    made = known(shiftIntegers("tosa.logical_left_shift", a, 12), all.low,
                 all.high);
    break;
  case 13:
    made = known(shiftIntegers("tosa.logical_right_shift", a, 31), all.low,
                 all.high);
    break;
  case 14:
    made = like(shiftIntegers("tosa.arithmetic_right_shift", a, 8), a);
    break;
  case 15: {
    Value divisor =
        number(rankOf(a), i32(),
               double(random.between(1, 9)) * (random.chance(30) ? -1 : 1));
    double bound = rangeOf(a).magnitude();
    made = known(op("tosa.intdiv", a.getType(), {a, divisor}), -bound, bound);
    break;
  }
  case 16: {
    Value z = zero(i32());
    made = known(op("tosa.negate", a.getType(), {a, z, z}), -rangeOf(a).high,
                 -rangeOf(a).low);
    break;
  }
  default:
    made = reduceIntegers(a);
    if (!made)
      return {};
  }
  offer(made);
  if (random.chance(50)) {
    offer(compare(made, number(rankOf(made), i32(), 3)));
    if (random.chance(40))
      return made;
  }
  return castTo(made, f32());
}

Value Network::shiftIntegers(StringRef opName, Value value, int64_t most) {
  Value amount = number(rankOf(value), i32(), double(random.between(0, most)));
  SmallVector<NamedAttribute> attributes;
  if (opName == tosa::ArithmeticRightShiftOp::getOperationName())
    attributes.push_back(attr("round", builder.getBoolAttr(random.chance(50))));
  return op(opName, value.getType(), {value, amount}, attributes);
}

Value Network::reduceIntegers(Value value) {
  int64_t axis = chooseAxis(value);
  if (!mayTouch(value, axis))
    return {};
  if (!random.chance(60))
    return like(extremes(true, value, axis), value);
  Shape shape(shapeOf(value));
  double count = double(shape[size_t(axis)]);
  shape[size_t(axis)] = 1;
  Range range = rangeOf(value);
  return known(op("tosa.reduce_sum", type(shape, i32()), value, axisAttr(axis)),
               std::min(0.0, count * range.low), count * range.high);
}

Value Network::truths() {
  Value a = choose(i1());
  if (!a) {
    Value x = choose(f32());
    return x ? compare(x, operandFor(x)) : Value();
  }
  Value b = chooseShaped(i1(), shapeOf(a));
  auto combined = [&](StringRef opName) {
    return known(op(opName, a.getType(), {a, b}), 0, 1);
  };
  switch (random.below(7)) {
  case 0:
    return combined("tosa.logical_and");
  case 1:
    return combined("tosa.logical_or");
  case 2:
    return combined("tosa.logical_xor");
  case 3:
    return unary("tosa.logical_not", a, 0, 1);
  case 4:
    return castTo(a, random.chance(50) ? f32() : i32());
  case 5: {
    Value yes = operandFor(a);
    return fits(yes, a) && shapeOf(yes) == shapeOf(a)
               ? known(op("tosa.select", a.getType(), {a, yes, b}), 0, 1)
               : Value();
  }
  default: {
    int64_t axis = chooseAxis(a);
    if (!mayTouch(a, axis))
      return {};
    Shape shape(shapeOf(a));
    shape[axis] = 1;
    return known(op(random.chance(50) ? "tosa.reduce_any" : "tosa.reduce_all",
                    type(shape, i1()), a, axisAttr(axis)),
                 0, 1);
  }
  }
}

Value Network::bytes() {
  Value a = choose(i8());
  if (!a) {
    Value x = choose(f32());
    if (!x)
      return {};
    a = offer(castTo(mul(x, number(rankOf(x), f32(), 9)), i8()));
  }
  switch (random.below(7)) {
  case 0: {
    std::vector<double> entries;
    for (int i = 0; i != 256; ++i)
      entries.push_back(double(random.between(-128, 127)));
    Value table = constant(type({256}, i8()), entries);
    return known(op("tosa.table", a.getType(), {a, table}), -128, 127);
  }
  case 1:
    return castTo(a, f32());
  case 2:
    return castTo(a, i32());
  case 3:
    return clamp(a, -20, 50);
  case 4: {
    Value b = chooseShaped(i8(), shapeOf(a));
    return known(op("tosa.bitwise_xor", a.getType(), {a, b}), -128, 127);
  }
  case 5:
    return extremum(true, a, operandFor(a));
  default: {
    Value in = zero(i8()), out = zero(i8());
    return rangeOf(a).low > -128
               ? known(op("tosa.negate", a.getType(), {a, in, out}),
                       -rangeOf(a).high, -rangeOf(a).low)
               : Value();
  }
  }
}

Value Network::chooseHalves() {
  Value a = choose(i16());
  if (a && !random.chance(20))
    return a;
  Value x = choose(random.chance(70) ? f32() : i32());
  if (!x)
    return {};
  if (elementOf(x).isF32())
    x = mul(x, number(rankOf(x), f32(), random.chance(50) ? 9 : 900));
  return offer(castTo(x, i16()));
}

Value Network::lookUpHalves(Value value) {
  // Between the entries lie 127 others.
  std::vector<double> entries;
  for (int i = 0; i != 513; ++i)
    entries.push_back(double(random.between(-32768, 32767)));
  Value table = constant(type({513}, i16()), entries);
  return known(op("tosa.table", type(shapeOf(value), i32()), {value, table}),
               -32768 * 128.0, 32767 * 128.0);
}

/// Integers of 16 bits, between others.
Value Network::halves() {
  Value a = chooseHalves();
  if (!a)
    return {};
  Range all{-32768, 32767};
  Value b = operandFor(a);
  auto plain = [&](StringRef opName) {
    return known(op(opName, broadcastType(a, b, i16()), {a, b}), all.low,
                 all.high);
  };
  auto shifted = [&](StringRef opName, ArrayRef<NamedAttribute> attributes) {
    Value amount = number(rankOf(a), i16(), double(random.between(0, 12)));
    return known(op(opName, a.getType(), {a, amount}, attributes), all.low,
                 all.high);
  };
  Value made;
  switch (random.below(20)) {
  case 0:
    made = lookUpHalves(a);
    break;
  case 1:
    made = castTo(a, i8());
    break;
  case 2:
    made = castTo(a, i32());
    break;
  case 3:
    made = clamp(a, -20, 5000);
    break;
  case 4:
    made = plain("tosa.bitwise_and");
    break;
  case 5:
    made = plain("tosa.bitwise_or");
    break;
  case 6:
    made = plain("tosa.bitwise_xor");
    break;
  case 7:
    made = known(op("tosa.bitwise_not", a.getType(), a), all.low, all.high);
    break;
  case 8:
    made = shifted("tosa.logical_left_shift", {});
    break;
  case 9:
    made = shifted("tosa.logical_right_shift", {});
    break;
  case 10:
    made = shifted("tosa.arithmetic_right_shift",
                   attr("round", builder.getBoolAttr(random.chance(50))));
    break;
  case 11:
    made = extremum(random.chance(50), a, b);
    break;
  case 12:
    made = plain(random.chance(50) ? "tosa.add" : "tosa.sub");
    break;
  case 13: {
    Value shift = zero(i8());
    made = known(op("tosa.mul", broadcastType(a, b, i32()), {a, b, shift}),
                 -0x1p30, 0x1p30);
    break;
  }
  case 14:
    made = compare(a, b);
    break;
  case 15: {
    Value condition = compare(a, b);
    made =
        known(op("tosa.select", broadcastType(a, b, i16()), {condition, a, b}),
              all.low, all.high);
    break;
  }
  case 16:
    if (rangeOf(a).low > -32768)
      made = unary("tosa.abs", a, 0, rangeOf(a).magnitude());
    break;
  case 17: {
    Value in = zero(i16()), out = zero(i16());
    made =
        known(op("tosa.negate", a.getType(), {a, in, out}), all.low, all.high);
    break;
  }
  case 18: {
    int64_t axis = chooseAxis(a);
    if (!mayTouch(a, axis))
      return {};
    made = known(extremes(random.chance(50), a, axis), all.low, all.high);
    break;
  }
  default:
    made = rescaleOfHalves(a);
  }
  if (!made)
    return {};
  if (random.chance(40))
    return made;
  offer(made);
  return castTo(made, f32());
}

/// Rescales to 8, 16 or 32 bits.
Value Network::rescaleOfHalves(Value value) {
  Type element = random.chance(40) ? i8() : random.chance(50) ? i16() : i32();
  unsigned width = element.getIntOrFloatBitWidth();
  Value multiplier = constant(
      type({1}, i32()), ArrayRef(double(random.between(1 << 30, 0x7fffffff))));
  Value shift =
      constant(type({1}, i8()), ArrayRef(double(random.between(28, 40))));
  Value in = zero(i16());
  Value out = scalar(element, width == 8 ? double(random.between(-9, 9)) : 0);
  double bound = std::exp2(double(width) - 1);
  return known(
      op("tosa.rescale", type(shapeOf(value), element),
         {value, multiplier, shift, in, out},
         {attr("scale32", builder.getBoolAttr(true)),
          attr("rounding_mode",
               tosa::RoundingModeAttr::get(
                   builder.getContext(),
                   random.chance(50) ? tosa::RoundingMode::SINGLE_ROUND
                                     : tosa::RoundingMode::DOUBLE_ROUND)),
          attr("per_channel", builder.getBoolAttr(false)),
          attr("input_unsigned", builder.getBoolAttr(false)),
          attr("output_unsigned", builder.getBoolAttr(false))}),
      -bound, bound - 1);
}

/// A convolution, a matrix product or a pool of i8, and a rescale after it.
Value Network::quantizedIntegers() {
  Value image = chooseImage();
  if (!image || countOf(shapeOf(image)) > kLargestTensor / 4)
    return {};
  Value a = castTo(mul(image, number(4, f32(), 11)), i8());
  offer(a);
  ArrayRef<int64_t> shape = shapeOf(a);
  double inZero = double(random.between(-3, 3));
  if (random.chance(25)) {
    Window pooled;
    for (int axis : {0, 1})
      pooled.size[axis] =
          random.between(1, std::min<int64_t>(3, shape[1 + axis]));
    Shape result{shape[0], shape[1] - pooled.size[0] + 1,
                 shape[2] - pooled.size[1] + 1, shape[3]};
    Value in = scalar(i8(), inZero), out = scalar(i8(), inZero);
    return known(op("tosa.avg_pool2d", type(result, i8()), {a, in, out},
                    {array("kernel", pooled.size), array("stride", {1, 1}),
                     array("pad", {0, 0, 0, 0}),
                     attr("acc_type", TypeAttr::get(i32()))}),
                 -128, 127);
  }
  Window size = window(a, false);
  int64_t channels = random.between(1, 4);
  double fanIn = double(size.size[0] * size.size[1] * shape[3]);
  Value weights = constant(
      type({channels, size.size[0], size.size[1], shape[3]}, i8()), -127, 127);
  Value biases = constant(type({channels}, i32()), -1000, 1000);
  Value in = scalar(i8(), inZero), w = zero(i8());
  Value sum = known(op("tosa.conv2d",
                       type({shape[0], size.output(shape[1], 0),
                             size.output(shape[2], 1), channels},
                            i32()),
                       {a, weights, biases, in, w},
                       {array("pad", size.pad), array("stride", size.stride),
                        array("dilation", size.dilation),
                        attr("acc_type", TypeAttr::get(i32()))}),
                    -fanIn * 131 * 127 - 1000, fanIn * 131 * 127 + 1000);
  offer(sum);
  bool perChannel = random.chance(50);
  auto list = [&](Type element, double low, double high) {
    std::vector<double> values(size_t(perChannel ? channels : 1));
    for (double &value : values)
      value = double(random.between(int64_t(low), int64_t(high)));
    return constant(type({int64_t(values.size())}, element), values);
  };
  Value multiplier = list(i32(), double(1 << 30), 2147483647.0);
  Value shift = list(i8(), 38, 44);
  Value outZero = scalar(i8(), double(random.between(-9, 9))),
        sumZero = zero(i32());
  Value result =
      known(op("tosa.rescale", type(shapeOf(sum), i8()),
               {sum, multiplier, shift, sumZero, outZero},
               {attr("scale32", builder.getBoolAttr(true)),
                attr("rounding_mode",
                     tosa::RoundingModeAttr::get(
                         builder.getContext(),
                         random.chance(50) ? tosa::RoundingMode::SINGLE_ROUND
                                           : tosa::RoundingMode::DOUBLE_ROUND)),
                attr("per_channel", builder.getBoolAttr(perChannel)),
                attr("input_unsigned", builder.getBoolAttr(false)),
                attr("output_unsigned", builder.getBoolAttr(false))}),
            -128, 127);
  offer(result);
  return castTo(result, f32());
}
