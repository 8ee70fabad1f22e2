// SPDX-License-Identifier: Apache-2.0
//
// Single ops with the range of what they make, points, and whole networks.
#include "NetworkGenerator.h"

#include "mlir/AsmParser/AsmParser.h"
#include "tpc_dialect/IR/TpcDialect.h"

using namespace mlir;
using namespace mct::testing::generator;

//===----------------------------------------------------------------------===//
// Single ops
//===----------------------------------------------------------------------===//

/// Keeps floats within kWide, so that no chain of products overflows.
Value Network::tame(Value value) {
  Range range = rangeOf(value);
  if (range.magnitude() <= kWide)
    return value;
  if (random.chance(30))
    return unary("tosa.tanh", value, -1, 1);
  if (random.chance(50))
    return clamp(value, -4, 4);
  return mul(value, number(rankOf(value), f32(), 2 / range.magnitude()));
}

RankedTensorType Network::broadcastType(Value a, Value b, Type element) {
  Shape shape(shapeOf(a));
  for (auto [size, other] : llvm::zip_equal(shape, shapeOf(b)))
    size = std::max(size, other);
  return type(shape, element);
}
bool Network::fits(Value a, Value b) {
  if (rankOf(a) != rankOf(b))
    return false;
  for (auto [x, y] : llvm::zip_equal(shapeOf(a), shapeOf(b)))
    if (x != y && x != 1 && y != 1)
      return false;
  // The batch of one side may not be spread over that of the other.
  return !keepsBatch || rankOf(a) == 0 || shapeOf(a)[0] == shapeOf(b)[0];
}

Value Network::add(Value a, Value b) {
  Range x = rangeOf(a), y = rangeOf(b);
  return known(op("tosa.add", broadcastType(a, b, elementOf(a)), {a, b}),
               x.low + y.low, x.high + y.high);
}
Value Network::sub(Value a, Value b) {
  Range x = rangeOf(a), y = rangeOf(b);
  return known(op("tosa.sub", broadcastType(a, b, elementOf(a)), {a, b}),
               x.low - y.high, x.high - y.low);
}
Value Network::mul(Value a, Value b) {
  Range x = rangeOf(a), y = rangeOf(b);
  double corners[] = {x.low * y.low, x.low * y.high, x.high * y.low,
                      x.high * y.high};
  Value shift = zero(i8());
  return known(op("tosa.mul", broadcastType(a, b, elementOf(a)), {a, b, shift}),
               *std::min_element(corners, corners + 4),
               *std::max_element(corners, corners + 4));
}
Value Network::extremum(bool largest, Value a, Value b) {
  Range x = rangeOf(a), y = rangeOf(b);
  auto mode = attr("nan_mode", tosa::NanPropagationModeAttr::get(
                                   builder.getContext(),
                                   tosa::NanPropagationMode::PROPAGATE));
  return known(op(largest ? "tosa.maximum" : "tosa.minimum",
                  broadcastType(a, b, elementOf(a)), {a, b}, mode),
               largest ? std::max(x.low, y.low) : std::min(x.low, y.low),
               largest ? std::max(x.high, y.high) : std::min(x.high, y.high));
}
Value Network::clamp(Value value, double low, double high) {
  Type element = elementOf(value);
  auto bound = [&](double number) -> Attribute {
    if (element.isF32())
      return builder.getF32FloatAttr(float(number));
    return builder.getIntegerAttr(element, int64_t(number));
  };
  Range range = rangeOf(value);
  return known(op("tosa.clamp", value.getType(), value,
                  {attr("min_val", bound(low)), attr("max_val", bound(high)),
                   attr("nan_mode", tosa::NanPropagationModeAttr::get(
                                        builder.getContext(),
                                        tosa::NanPropagationMode::PROPAGATE))}),
               std::clamp(range.low, low, high),
               std::clamp(range.high, low, high));
}
Value Network::reshape(Value value, ArrayRef<int64_t> shape) {
  Value size = shapeConstant(shape);
  return like(op("tosa.reshape", type(shape, elementOf(value)), {value, size}),
              value);
}
Value Network::transpose(Value value, ArrayRef<int32_t> perms) {
  Shape shape;
  for (int32_t axis : perms)
    shape.push_back(shapeOf(value)[axis]);
  return like(op("tosa.transpose", type(shape, elementOf(value)), value,
                 attr("perms", builder.getDenseI32ArrayAttr(perms))),
              value);
}
Value Network::concat(ArrayRef<Value> values, int64_t axis) {
  Shape shape(shapeOf(values.front()));
  shape[axis] = 0;
  Range range = rangeOf(values.front());
  for (Value value : values) {
    shape[axis] += shapeOf(value)[axis];
    range.low = std::min(range.low, rangeOf(value).low);
    range.high = std::max(range.high, rangeOf(value).high);
  }
  return known(op("tosa.concat", type(shape, elementOf(values.front())), values,
                  axisAttr(axis)),
               range.low, range.high);
}
Value Network::slice(Value value, ArrayRef<int64_t> start,
                     ArrayRef<int64_t> size) {
  Value first = shapeConstant(start), extent = shapeConstant(size);
  return like(
      op("tosa.slice", type(size, elementOf(value)), {value, first, extent}),
      value);
}
Value Network::castTo(Value value, Type element) {
  Range range = rangeOf(value);
  // The result for a value that does not fit would be a choice of the machine.
  if (element.isInteger(8) && !elementOf(value).isInteger(1))
    value = clamp(value, -100, 100);
  if (element.isInteger(16) && range.magnitude() > 30000)
    value = clamp(value, -30000, 30000);
  range = rangeOf(value);
  if (element.isInteger(1))
    range = {0, 1};
  if (!element.isF32() && elementOf(value).isF32())
    range = {std::floor(range.low), std::ceil(range.high)};
  return known(op("tosa.cast", type(shapeOf(value), element), value), range.low,
               range.high);
}
Value Network::compare(Value a, Value b) {
  static const char *const names[] = {"tosa.greater", "tosa.greater_equal",
                                      "tosa.equal"};
  // Equality of computed floats is often a question of rounding.
  size_t which = random.below(elementOf(a).isF32() ? 2 : 3);
  return known(op(names[which], broadcastType(a, b, i1()), {a, b}), 0, 1);
}

//===----------------------------------------------------------------------===//
// Points
//===----------------------------------------------------------------------===//

std::string Network::parameters(Range range, int64_t channels, bool isWeight) {
  double magnitude = std::clamp(range.magnitude(), 0.01, 16.0);
  static const int64_t widths[] = {8, 8, 4, 3, 2, 5};
  int64_t bits = widths[random.below(6)];
  bool isSigned = isWeight || range.low < 0 || random.chance(30);
  auto list = [&](auto element) {
    std::string text = "[";
    for (int64_t channel = 0; channel != channels; ++channel)
      text += (channel ? ", " : "") + element();
    return text + "]";
  };
  auto real = [](double value) {
    char text[40];
    std::snprintf(text, sizeof(text), "%.9e", value);
    return std::string(text);
  };
  std::string sign =
      std::string(", is_signed = ") + (isSigned ? "true" : "false");
  std::string rounding = random.chance(30) ? ", rounding = half_up>" : ">";
  size_t kind = random.below(onlyQuantizedKernels ? 2 : 8);
  if (isWeight && scalableKernels)
    kind = 2 + random.below(5);
  if (kind < 2)
    return "#tpc.power_of_two<threshold = " + list([&] {
             return real(std::exp2(std::ceil(std::log2(magnitude)) -
                                   double(random.below(3))));
           }) +
           ", bits = " + std::to_string(bits) + sign + rounding;
  if (kind < 5)
    return "#tpc.symmetric<threshold = " + list([&] {
             return real(magnitude * double(random.uniform(0.4f, 1.1f)));
           }) +
           ", bits = " + std::to_string(bits) + sign + rounding;
  if (kind < 7) {
    int64_t levels = (int64_t(1) << bits) - 1;
    return "#tpc.uniform<scale = " + list([&] {
             return real(2 * magnitude * double(random.uniform(0.4f, 1.1f)) /
                         double(levels));
           }) +
           ", zero_point = " +
           list([&] { return std::to_string(random.between(0, levels)); }) +
           ", bits = " + std::to_string(bits) + rounding;
  }
  bits = std::min<int64_t>(bits, 4);
  int64_t entry = isSigned ? -128 : 0;
  std::string table;
  for (int64_t i = 0; i != int64_t(1) << bits; ++i) {
    entry += random.between(i == 0 ? 0 : 1, 250 >> bits);
    if (entry > (isSigned ? 127 : 255))
      break;
    table += (table.empty() ? "" : ", ") + std::to_string(entry);
  }
  return "#tpc.lookup_table<method = lut_sym_quantizer, threshold = " +
         list([&] {
           return real(magnitude * double(random.uniform(0.4f, 1.1f)));
         }) +
         ", table = [" + table + "], bits = " + std::to_string(bits) + sign +
         ">";
}

Value Network::point(Value value, bool withParameters) {
  if (!elementOf(value).isF32())
    return value;
  OperationState state(name("v" + std::to_string(numValues++)),
                       tpc::QuantizeOp::getOperationName());
  state.addOperands(value);
  state.addTypes(value.getType());
  state.addAttribute("point_name",
                     builder.getStringAttr("p" + std::to_string(numPoints++)));
  Range range = rangeOf(value);
  if (withParameters && hasParameters)
    state.addAttribute("parameters", parseAttribute(parameters(range, 1, false),
                                                    builder.getContext()));
  // Levels may lie beyond the values.
  double bound = 2.3 * range.magnitude() + 0.1;
  return known(builder.create(state)->getResult(0), -bound, bound);
}

//===----------------------------------------------------------------------===//
// Whole networks
//===----------------------------------------------------------------------===//

Value Network::piece() {
  switch (random.below(31)) {
  case 0:
  case 1:
  case 2:
  case 3:
    return elementwise();
  case 4:
  case 5:
  case 6:
    return binary();
  case 7:
  case 8:
  case 9:
    return anyKernel();
  case 10:
  case 11:
    return pool2d(chooseImage());
  case 12:
  case 13:
    return residual();
  case 14:
  case 15:
    return fusedChain();
  case 16:
  case 17:
    return sharedReads();
  case 18:
  case 19:
  case 20:
    return movement();
  case 21:
    return reduction();
  case 22:
    return random.chance(50) ? argmax() : selection();
  case 23:
    return random.chance(50) ? gather() : scatter();
  case 24:
    return resize();
  case 25:
    return random.chance(60) ? integers() : truths();
  case 26:
    return bytes();
  case 27:
    return random.chance(50) ? quantizedIntegers() : selection();
  case 28:
    return random.chance(50) ? softmax() : prelu();
  case 29:
    return halves();
  default:
    return random.chance(50) ? branch() : loop();
  }
}

void Network::addArguments(func::FuncOp function) {
  Block &body = function.getBody().front();
  size_t count = random.chance(55) ? 1 : 1 + random.below(3);
  for (size_t i = 0; i != count; ++i) {
    Shape shape{batch};
    Type element = f32();
    if (i == 0 || random.chance(60)) {
      bool wide = random.chance(12);
      shape.append({wide ? 12 : random.between(1, 6),
                    wide ? 12 : random.between(1, 6),
                    wide ? 8 : random.between(1, 5)});
    } else {
      for (int64_t rank = random.between(1, 3); rank > 0; --rank)
        shape.push_back(random.between(1, 6));
    }
    if (i != 0 && random.chance(30))
      element = random.chance(40)   ? i32()
                : random.chance(50) ? i8()
                : random.chance(50) ? i16()
                                    : i1();
    // An argument of another leading size, so that there is no batch.
    if (i != 0 && !keepsBatch && random.chance(20))
      shape[0] += 1;
    if (i != 0 && !keepsBatch && random.chance(10))
      shape.clear();
    Value argument =
        body.addArgument(type(shape, element), name("a" + std::to_string(i)));
    if (element.isF32())
      known(argument, -2, 2);
    else if (element.isInteger(32))
      known(argument, -8, 8);
    else if (element.isInteger(8))
      known(argument, -128, 127);
    else if (element.isInteger(16))
      known(argument, -32768, 32767);
    else
      known(argument, 0, 1);
    pool.push_back(argument);
    // Two of one shape.
    if (i == 0 && count > 1 && random.chance(40)) {
      Value twin = body.addArgument(type(shape, element),
                                    name("a" + std::to_string(++i)));
      known(twin, -2, 2);
      pool.push_back(twin);
    }
  }
}

/// Returns the values without a user, and some of those that have one.
SmallVector<Value> Network::results() {
  SmallVector<Value> unread, values;
  for (Value value : pool)
    if (!isa<BlockArgument>(value) && value.use_empty())
      unread.push_back(value);
  while (unread.size() > 4)
    unread.erase(unread.begin() + int64_t(random.below(unread.size() - 1)));
  llvm::append_range(values, unread);
  for (int more = 0; more != 2; ++more)
    if (random.chance(35))
      values.push_back(pool[random.below(pool.size())]);
  if (values.empty())
    values.push_back(pool.back());
  if (random.chance(10))
    values.push_back(values[random.below(values.size())]);
  if (random.chance(6))
    values.push_back(constant(floats({batch, 3}), -1, 1));
  for (size_t i = values.size() - 1; i > 0; --i)
    std::swap(values[i], values[random.below(i + 1)]);
  return values;
}

func::FuncOp Network::make() {
  keepsBatch = random.chance(70);
  hasParameters = random.chance(75);
  batch = random.chance(60) ? 1 : random.between(2, 3);
  auto function = func::FuncOp::create(builder, builder.getUnknownLoc(), "main",
                                       builder.getFunctionType({}, {}));
  Block *body = function.addEntryBlock();
  builder.setInsertionPointToStart(body);
  addArguments(function);
  size_t pieces = 2 + random.below(random.chance(20) ? 16 : 8);
  for (size_t made = 0, attempts = 0; made != pieces && attempts != 60;
       ++attempts) {
    Value value = piece();
    if (!value)
      continue;
    if (elementOf(value).isF32()) {
      value = tame(value);
      if (random.chance(30)) {
        // Users of both sides of a point.
        if (random.chance(50))
          offer(value);
        value = point(value, random.chance(60));
      }
    }
    if (!llvm::is_contained(pool, value))
      offer(value);
    ++made;
  }
  SmallVector<Value> values = results();
  func::ReturnOp::create(builder, builder.getUnknownLoc(), values);
  function.setFunctionType(builder.getFunctionType(
      body->getArgumentTypes(),
      SmallVector<Type>(ValueRange(values).getTypes())));
  return function;
}

func::FuncOp Network::makeLayers(bool scalable) {
  onlyQuantizedKernels = true;
  scalableKernels = scalable;
  auto function = func::FuncOp::create(builder, builder.getUnknownLoc(), "main",
                                       builder.getFunctionType({}, {}));
  Block *body = function.addEntryBlock();
  builder.setInsertionPointToStart(body);
  Value input =
      body->addArgument(floats({1, random.between(1, 6), random.between(1, 6),
                                random.between(1, 4)}),
                        name("a0"));
  known(input, -2, 2);
  offer(point(input, random.chance(70)));
  for (size_t count = 3 + random.below(4); count > 0; --count) {
    Value value;
    switch (random.below(7)) {
    case 0:
      value = residual();
      break;
    case 1:
      value = fusedChain();
      break;
    case 2:
      value = pool2d(chooseImage());
      break;
    case 3:
      value = elementwise();
      break;
    case 4:
      value = matmul();
      break;
    default:
      value = anyKernel();
    }
    if (!value)
      continue;
    offer(maybePoint(tame(value), 60));
  }
  SmallVector<Value> values = results();
  llvm::erase_if(values, [&](Value value) {
    return isa_and_nonnull<tosa::ConstOp>(value.getDefiningOp());
  });
  if (values.empty())
    values.push_back(pool.back());
  func::ReturnOp::create(builder, builder.getUnknownLoc(), values);
  function.setFunctionType(builder.getFunctionType(
      body->getArgumentTypes(),
      SmallVector<Type>(ValueRange(values).getTypes())));
  return function;
}
