// SPDX-License-Identifier: Apache-2.0
//
// Reductions, and ops that only move elements.
#include "NetworkGenerator.h"

using namespace mlir;
using namespace mct::testing::generator;

Value Network::extremes(bool largest, Value value, int64_t axis) {
  Shape shape(shapeOf(value));
  shape[size_t(axis)] = 1;
  auto mode = attr("nan_mode", tosa::NanPropagationModeAttr::get(
                                   builder.getContext(),
                                   tosa::NanPropagationMode::PROPAGATE));
  return op(largest ? "tosa.reduce_max" : "tosa.reduce_min",
            type(shape, elementOf(value)), value, {axisAttr(axis), mode});
}

Value Network::reduction() {
  Value value = choose(f32());
  if (!value || rankOf(value) == 0)
    return {};
  int64_t axis = chooseAxis(value);
  if (!mayTouch(value, axis))
    return {};
  Shape shape(shapeOf(value));
  double count = double(shape[axis]);
  shape[axis] = 1;
  Range range = rangeOf(value);
  switch (random.below(4)) {
  case 0:
    return like(extremes(true, value, axis), value);
  case 1:
    return like(extremes(false, value, axis), value);
  case 2: {
    if (std::pow(std::max(1.0, range.magnitude()), count) > 1e4)
      value = unary("tosa.tanh", value, -1, 1);
    double bound = std::pow(std::max(1.0, rangeOf(value).magnitude()), count);
    return known(
        op("tosa.reduce_product", floats(shape), value, axisAttr(axis)), -bound,
        bound);
  }
  default:
    return known(op("tosa.reduce_sum", floats(shape), value, axisAttr(axis)),
                 std::min(0.0, range.low * count), range.high * count);
  }
}

Value Network::argmax() {
  Value value = choose(f32());
  if (!value || rankOf(value) < 2)
    return {};
  int64_t axis = chooseAxis(value);
  if (!mayTouch(value, axis))
    return {};
  Shape shape(shapeOf(value));
  double last = double(shape[axis] - 1);
  shape.erase(shape.begin() + axis);
  Value index =
      known(op("tosa.argmax", type(shape, i32()), value,
               {axisAttr(axis),
                attr("nan_mode", tosa::NanPropagationModeAttr::get(
                                     builder.getContext(),
                                     tosa::NanPropagationMode::PROPAGATE))}),
            0, last);
  offer(index);
  return random.chance(50) ? castTo(index, f32()) : index;
}

Value Network::concatWithOthers(Value value) {
  Type element = elementOf(value);
  Shape shape(shapeOf(value));
  int64_t axis = chooseAxis(value);
  SmallVector<Value> parts{value};
  for (Value candidate : pool) {
    if (elementOf(candidate) != element || rankOf(candidate) != rankOf(value) ||
        parts.size() == 4)
      continue;
    Shape other(shapeOf(candidate));
    other[axis] = shape[axis];
    if (other == shape && random.chance(40))
      parts.push_back(candidate);
  }
  if (random.chance(20) && firstAxis(value) == 0) {
    Shape constantShape(shape);
    constantShape[axis] = random.between(1, 3);
    parts.push_back(constant(type(constantShape, element), -2, 2));
  }
  if (parts.size() == 1)
    parts.push_back(value);
  if (countOf(shape) * int64_t(parts.size()) > kLargestTensor)
    return {};
  return concat(parts, axis);
}

/// Splits or joins dimensions after the batch.
Value Network::regroup(Value value) {
  ArrayRef<int64_t> shape = shapeOf(value);
  bool hasBatch = firstAxis(value) != 0;
  int64_t rest = countOf(shape) / (hasBatch ? shape[0] : 1);
  Shape target;
  if (hasBatch)
    target.push_back(shape[0]);
  while (target.size() < 3 && rest > 1) {
    int64_t factor = 1;
    for (int64_t candidate = 2; candidate <= 8; ++candidate)
      if (rest % candidate == 0 && random.chance(50))
        factor = candidate;
    target.push_back(factor);
    rest /= factor;
  }
  target.push_back(rest);
  if (random.chance(20))
    target.push_back(1);
  return reshape(value, target);
}

Value Network::movement() {
  Type element = random.chance(80)   ? f32()
                 : random.chance(50) ? i32()
                 : random.chance(50) ? i8()
                                     : i16();
  Value value = choose(element);
  if (!value || rankOf(value) == 0)
    return {};
  Shape shape(shapeOf(value));
  int64_t rank = rankOf(value), first = firstAxis(value);
  if (first >= rank)
    return {};
  switch (random.below(8)) {
  case 0:
    return concatWithOthers(value);
  case 1:
  case 2: {
    Shape start(size_t(rank), 0), size(shape);
    for (int64_t axis = first; axis != rank; ++axis)
      if (random.chance(50)) {
        start[axis] = random.between(0, shape[axis] - 1);
        size[axis] = random.between(1, shape[axis] - start[axis]);
      }
    return slice(value, start, size);
  }
  case 3: {
    Shape padding(size_t(2 * rank), 0);
    for (int64_t axis = first; axis != rank; ++axis)
      for (int side : {0, 1})
        if (random.chance(40)) {
          padding[2 * axis + side] = random.between(1, 2);
          shape[axis] += padding[2 * axis + side];
        }
    if (countOf(shape) > kLargestTensor)
      return {};
    double fill = element.isF32() && random.chance(50)
                      ? double(random.uniform(-1, 1))
                      : 0;
    Value sizes = shapeConstant(padding), content = scalar(element, fill);
    Range range = rangeOf(value);
    return known(op("tosa.pad", type(shape, element), {value, sizes, content}),
                 std::min(range.low, fill), std::max(range.high, fill));
  }
  case 4: {
    Shape multiples(size_t(rank), 1);
    int64_t axis = chooseAxis(value);
    multiples[axis] = random.between(1, 3);
    shape[axis] *= multiples[axis];
    if (countOf(shape) > kLargestTensor)
      return {};
    Value times = shapeConstant(multiples);
    return like(op("tosa.tile", type(shape, element), {value, times}), value);
  }
  case 5: {
    SmallVector<int32_t> perms;
    for (int64_t axis = 0; axis != rank; ++axis)
      perms.push_back(int32_t(axis));
    for (int64_t axis = rank - 1; axis > first; --axis)
      std::swap(perms[size_t(axis)],
                perms[size_t(random.between(first, axis))]);
    return transpose(value, perms);
  }
  case 6:
    return regroup(value);
  default: {
    int64_t axis = chooseAxis(value);
    return like(op("tosa.reverse", value.getType(), value, axisAttr(axis)),
                value);
  }
  }
}

Value Network::gather() {
  Value value = choose(f32(), 3);
  if (!value)
    return {};
  ArrayRef<int64_t> shape = shapeOf(value);
  Value indices;
  if (random.chance(50)) {
    indices = constant(type({shape[0], random.between(1, 5)}, i32()), 0,
                       double(shape[1] - 1));
  } else {
    // Indices that the network computes.
    for (Value candidate : pool)
      if (elementOf(candidate).isInteger(32) && rankOf(candidate) == 2 &&
          shapeOf(candidate)[0] == shape[0] && random.chance(60))
        indices = candidate;
    if (!indices)
      return {};
    indices = clamp(indices, 0, double(shape[1] - 1));
  }
  return like(op("tosa.gather",
                 floats({shape[0], shapeOf(indices)[1], shape[2]}),
                 {value, indices}),
              value);
}

Value Network::scatter() {
  Value value = choose(f32(), 3);
  if (!value)
    return {};
  Shape shape(shapeOf(value));
  // No row twice: which one stays would be a choice of the machine.
  int64_t rows = random.between(1, std::min<int64_t>(shape[1], 4));
  std::vector<double> indices;
  for (int64_t n = 0; n != shape[0]; ++n) {
    std::vector<double> all;
    for (int64_t k = 0; k != shape[1]; ++k)
      all.push_back(double(k));
    for (size_t i = all.size() - 1; i > 0; --i)
      std::swap(all[i], all[random.below(i + 1)]);
    indices.insert(indices.end(), all.begin(), all.begin() + rows);
  }
  Value where = constant(type({shape[0], rows}, i32()), indices);
  Value updates;
  Shape size{shape[0], rows, shape[2]};
  if (random.chance(50))
    updates = constant(floats(size), -2, 2);
  else if (random.chance(50))
    updates = slice(value, {0, shape[1] - rows, 0}, size);
  else
    updates = chooseShaped(f32(), size);
  if (!updates)
    return {};
  Range a = rangeOf(value), b = rangeOf(updates);
  return known(op("tosa.scatter", value.getType(), {value, where, updates}),
               std::min(a.low, b.low), std::max(a.high, b.high));
}

Value Network::resize() {
  Value image = chooseImage();
  if (!image)
    return {};
  Shape shape(shapeOf(image));
  Shape scale, offset, border;
  for (int axis : {0, 1}) {
    int64_t n = random.between(1, 4), d = random.between(1, 2);
    int64_t shift = random.between(-1, 1), size = shape[1 + axis];
    shift = std::clamp<int64_t>(shift, -n + 1, 1);
    int64_t end = 0;
    auto extent = [&] { return (size - 1) * n - shift + end; };
    while (extent() < 0 || extent() % d != 0)
      ++end;
    // The specification has these limits.
    if (shift < -n || shift >= 16 * n || end >= n)
      return {};
    scale.append({n, d});
    offset.push_back(shift);
    border.push_back(end);
    shape[1 + axis] = extent() / d + 1;
  }
  if (countOf(shape) > kLargestTensor)
    return {};
  auto mode =
      attr("mode", tosa::ResizeModeAttr::get(
                       builder.getContext(),
                       random.chance(50) ? tosa::ResizeMode::NEAREST_NEIGHBOR
                                         : tosa::ResizeMode::BILINEAR));
  Value s = shapeConstant(scale), o = shapeConstant(offset),
        b = shapeConstant(border);
  return like(op("tosa.resize", floats(shape), {image, s, o, b}, mode), image);
}
