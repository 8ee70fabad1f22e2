// SPDX-License-Identifier: Apache-2.0
#include "RandomNetworks.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "tpc_dialect/IR/TpcDialect.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

using namespace mlir;
using namespace mct::testing;
namespace tpc = mct::tpc;

using Shape = SmallVector<int64_t, 5>;

namespace {

constexpr float kMax = std::numeric_limits<float>::max();
/// Values that an activation may reach.
constexpr double kWide = 64;
constexpr int64_t kLargestTensor = 6000;

/// Random choices, the same with every standard library.
class Random {
public:
  explicit Random(unsigned seed) : engine(seed) {}
  size_t below(size_t bound) { return engine() % bound; }
  bool chance(size_t percent) { return below(100) < percent; }
  int64_t between(int64_t first, int64_t last) {
    return first + int64_t(below(size_t(last - first + 1)));
  }
  float uniform(float low, float high) {
    return low + (high - low) * (float(engine() >> 8) * 0x1p-24f);
  }

private:
  std::mt19937 engine;
};

struct Range {
  double low, high;
  double magnitude() const { return std::max(std::abs(low), std::abs(high)); }
};

class Network {
public:
  Network(OpBuilder &builder, unsigned seed) : builder(builder), random(seed) {}

  func::FuncOp make();
  func::FuncOp makeLayers();

private:
  //===--- Types and constants --------------------------------------------===//

  Type f32() { return builder.getF32Type(); }
  Type i32() { return builder.getI32Type(); }
  Type i8() { return builder.getI8Type(); }
  Type i1() { return builder.getI1Type(); }
  static ArrayRef<int64_t> shapeOf(Value value) {
    return cast<RankedTensorType>(value.getType()).getShape();
  }
  static Type elementOf(Value value) {
    return cast<RankedTensorType>(value.getType()).getElementType();
  }
  static int64_t rankOf(Value value) { return int64_t(shapeOf(value).size()); }
  static int64_t countOf(ArrayRef<int64_t> shape) {
    return ShapedType::getNumElements(shape);
  }
  RankedTensorType type(ArrayRef<int64_t> shape, Type element) {
    return RankedTensorType::get(shape, element);
  }
  RankedTensorType floats(ArrayRef<int64_t> shape) {
    return type(shape, f32());
  }

  Location name(const std::string &text) {
    return NameLoc::get(builder.getStringAttr(text));
  }
  /// An op with the next name.
  Value op(StringRef opName, Type result, ValueRange operands,
           ArrayRef<NamedAttribute> attributes = {}) {
    OperationState state(name("v" + std::to_string(numValues++)), opName);
    state.addTypes(result);
    state.addOperands(operands);
    state.addAttributes(attributes);
    return builder.create(state)->getResult(0);
  }
  NamedAttribute attr(StringRef name, Attribute value) {
    return builder.getNamedAttr(name, value);
  }
  NamedAttribute array(StringRef name, ArrayRef<int64_t> values) {
    return attr(name, builder.getDenseI64ArrayAttr(values));
  }
  NamedAttribute axisAttr(int64_t axis) {
    return attr("axis", builder.getI32IntegerAttr(int32_t(axis)));
  }

  Value constant(RankedTensorType tensor, ArrayRef<double> values) {
    Location loc = builder.getUnknownLoc();
    DenseElementsAttr elements;
    if (tensor.getElementType().isF32()) {
      std::vector<float> narrow(values.begin(), values.end());
      elements = DenseElementsAttr::get(tensor, ArrayRef<float>(narrow));
    } else {
      SmallVector<APInt> integers;
      for (double value : values)
        integers.push_back(APInt(tensor.getElementTypeBitWidth(),
                                 uint64_t(int64_t(value)), true, true));
      elements = DenseElementsAttr::get(tensor, integers);
    }
    return tosa::ConstOp::create(builder, loc, tensor, elements);
  }
  Value constant(RankedTensorType tensor, double low, double high) {
    std::vector<double> values(size_t(tensor.getNumElements()));
    bool isFloat = tensor.getElementType().isF32();
    for (double &value : values)
      value = isFloat ? double(random.uniform(float(low), float(high)))
                      : double(random.between(int64_t(low), int64_t(high)));
    // Splats are stored, and treated, in another way.
    if (random.chance(10))
      std::fill(values.begin(), values.end(), values.front());
    Value made = constant(tensor, values);
    ranges[made] = {low, high};
    return made;
  }
  Value scalar(Type element, double value) {
    Value made = constant(type({1}, element), ArrayRef<double>(value));
    ranges[made] = {value, value};
    return made;
  }
  Value zero(Type element) { return scalar(element, 0); }
  Value number(int64_t rank, Type element, double value) {
    Value made =
        constant(type(Shape(size_t(rank), 1), element), ArrayRef(value));
    ranges[made] = {value, value};
    return made;
  }
  Value shapeConstant(ArrayRef<int64_t> values) {
    auto list =
        RankedTensorType::get(int64_t(values.size()), builder.getIndexType());
    return tosa::ConstShapeOp::create(
        builder, builder.getUnknownLoc(),
        tosa::shapeType::get(builder.getContext(), int(values.size())),
        DenseIntElementsAttr::get(list, values));
  }

  //===--- Values ---------------------------------------------------------===//

  Range rangeOf(Value value) { return ranges.lookup(value); }
  Value known(Value value, double low, double high) {
    ranges[value] = {low, high};
    return value;
  }
  Value like(Value value, Value original) {
    ranges[value] = ranges.lookup(original);
    return value;
  }
  /// Offers a value to the ops behind.
  Value offer(Value value) {
    if (value)
      pool.push_back(value);
    return value;
  }
  /// A value of the element type, recent ones more often; null if none.
  Value choose(Type element, int64_t rank = -1) {
    SmallVector<Value> fitting;
    for (Value value : pool)
      if (elementOf(value) == element && (rank < 0 || rankOf(value) == rank))
        fitting.push_back(value);
    if (fitting.empty())
      return {};
    if (random.chance(45))
      return fitting[fitting.size() - 1 -
                     random.below(std::min<size_t>(3, fitting.size()))];
    return fitting[random.below(fitting.size())];
  }
  Value chooseShaped(Type element, ArrayRef<int64_t> shape) {
    SmallVector<Value> fitting;
    for (Value value : pool)
      if (elementOf(value) == element && shapeOf(value) == shape)
        fitting.push_back(value);
    return fitting.empty() ? Value() : fitting[random.below(fitting.size())];
  }
  Value chooseImage();
  /// The first axis that ops may touch.
  int64_t firstAxis(Value value) {
    return keepsBatch && rankOf(value) > 1 ? 1 : 0;
  }
  int64_t chooseAxis(Value value) {
    return random.between(std::min(firstAxis(value), rankOf(value) - 1),
                          rankOf(value) - 1);
  }
  bool mayTouch(Value value, int64_t axis) {
    return axis >= firstAxis(value) && axis < rankOf(value);
  }

  //===--- Single ops, with the range of what they make
  //--------------------===//

  Value tame(Value value);
  Value add(Value a, Value b);
  Value sub(Value a, Value b);
  Value mul(Value a, Value b);
  Value extremum(bool largest, Value a, Value b);
  Value clamp(Value value, double low, double high);
  Value relu(Value value) {
    return clamp(value, 0, random.chance(70) ? kMax : 6);
  }
  Value reshape(Value value, ArrayRef<int64_t> shape);
  Value transpose(Value value, ArrayRef<int32_t> perms);
  Value concat(ArrayRef<Value> values, int64_t axis);
  Value slice(Value value, ArrayRef<int64_t> start, ArrayRef<int64_t> size);
  Value unary(StringRef opName, Value value, double low, double high) {
    return known(op(opName, value.getType(), value), low, high);
  }
  Value castTo(Value value, Type element);
  Value compare(Value a, Value b);
  RankedTensorType broadcastType(Value a, Value b, Type element);
  bool fits(Value a, Value b);
  Value operandFor(Value value);

  //===--- Pieces: null when they find nothing to work on
  //------------------===//

  struct Window {
    int64_t size[2] = {1, 1}, stride[2] = {1, 1}, dilation[2] = {1, 1};
    int64_t pad[4] = {0, 0, 0, 0};
    int64_t output(int64_t input, int axis) const {
      return (input - 1 + pad[2 * axis] + pad[2 * axis + 1] -
              (size[axis] - 1) * dilation[axis]) /
                 stride[axis] +
             1;
    }
  };
  Window window(Value image, bool keepsSize);
  Value kernel(ArrayRef<int64_t> shape, int64_t fanIn, ArrayRef<int64_t> axes);
  Value bias(int64_t channels);
  Value conv(Value image, int64_t channels, const Window &window);
  Value depthwise(Value image, const Window &window);
  Value transposeConv(Value image);
  Value conv3d();
  Value matmul();
  Value anyKernel();
  Value pool2d(Value image);
  Value elementwise();
  Value binary();
  Value selection();
  Value reduction();
  Value argmax();
  Value movement();
  Value gather();
  Value scatter();
  Value resize();
  Value integers();
  Value truths();
  Value bytes();
  Value quantizedIntegers();
  Value branch();
  Value loop();
  Value residual();
  Value fusedChain();
  Value softmax();
  Value prelu();
  Value sharedReads();
  Value piece();
  std::string parameters(Range range, int64_t channels, bool isWeight);
  Value point(Value value, bool withParameters);
  Value maybePoint(Value value, size_t percent) {
    return random.chance(percent) ? point(value, random.chance(60)) : value;
  }

  void addArguments(func::FuncOp function);
  SmallVector<Value> results();

  OpBuilder &builder;
  Random random;
  SmallVector<Value> pool;
  llvm::DenseMap<Value, Range> ranges;
  /// Ops do not touch the first dimension.
  bool keepsBatch = true;
  bool hasParameters = true;
  /// Every kernel gets a point with parameters.
  bool onlyQuantizedKernels = false;
  int64_t batch = 1;
  int64_t numValues = 0, numPoints = 0, numKernels = 0;
};

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
  if (element.isInteger(8)) {
    // What does not fit would be a choice of the machine.
    if (!elementOf(value).isInteger(1))
      value = clamp(value, -100, 100);
    range = rangeOf(value);
  }
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
  // Whether computed floats are equal is often a question of rounding.
  size_t which = random.below(elementOf(a).isF32() ? 2 : 3);
  return known(op(names[which], broadcastType(a, b, i1()), {a, b}), 0, 1);
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

Value Network::chooseImage() {
  Value value = choose(f32(), 4);
  if (value && random.chance(90))
    return value;
  value = choose(f32());
  if (!value)
    return {};
  Shape shape(shapeOf(value));
  while (shape.size() > 4) {
    shape[shape.size() - 2] *= shape.back();
    shape.pop_back();
  }
  while (shape.size() < 4)
    shape.insert(shape.begin() + (keepsBatch && !shape.empty() ? 1 : 0), 1);
  return rankOf(value) == 4 ? value : offer(reshape(value, shape));
}

Network::Window Network::window(Value image, bool keepsSize) {
  Window window;
  for (int axis : {0, 1}) {
    int64_t size = shapeOf(image)[1 + axis];
    if (keepsSize) {
      window.size[axis] = random.chance(60) ? 3 : 1;
      window.dilation[axis] = random.chance(75) ? 1 : random.between(2, 4);
      int64_t side = window.size[axis] / 2 * window.dilation[axis];
      window.pad[2 * axis] = window.pad[2 * axis + 1] = side;
      continue;
    }
    window.size[axis] = random.between(1, 3);
    window.stride[axis] = random.chance(70) ? 1 : random.between(2, 3);
    window.dilation[axis] = random.chance(75) ? 1 : random.between(2, 4);
    int64_t reach = (window.size[axis] - 1) * window.dilation[axis];
    int64_t &before = window.pad[2 * axis], &after = window.pad[2 * axis + 1];
    before = random.chance(50) ? 0 : random.between(0, reach);
    after = random.chance(50) ? before : random.between(0, reach);
    after += std::max<int64_t>(0, reach + 1 - size - before - after);
    while ((size - 1 + before + after - reach) % window.stride[axis] != 0)
      ++after;
  }
  return window;
}

Value Network::kernel(ArrayRef<int64_t> shape, int64_t fanIn,
                      ArrayRef<int64_t> axes) {
  double bound = std::sqrt(3.0 / double(fanIn));
  Value value;
  size_t form = onlyQuantizedKernels ? 9 : random.below(10);
  if (form == 0) {
    // Integers with a scale per tensor, as converters store them.
    Value stored = constant(type(shape, i8()), -127, 127);
    value = mul(castTo(stored, f32()),
                number(int64_t(shape.size()), f32(), bound / 127));
  } else if (form == 1 && shape.size() == 4) {
    Shape stored{shape[3], shape[0], shape[1], shape[2]};
    value = transpose(constant(floats(stored), -bound, bound), {1, 2, 3, 0});
  } else {
    value = constant(floats(shape), -bound, bound);
  }
  std::string layer = "k" + std::to_string(numKernels++);
  if (!onlyQuantizedKernels && random.chance(60))
    return value;
  bool withParameters =
      onlyQuantizedKernels || (hasParameters && random.chance(70));
  int64_t channels = 1;
  if (random.chance(50))
    axes = {};
  for (int64_t axis : axes)
    channels *= shape[axis];
  OperationState state(name("v" + std::to_string(numValues++)),
                       tpc::QuantizeOp::getOperationName());
  state.addOperands(value);
  state.addTypes(value.getType());
  state.addAttribute("point_name", builder.getStringAttr(layer));
  state.addAttribute("weight", builder.getStringAttr("kernel_attr"));
  state.addAttribute("axes", builder.getDenseI64ArrayAttr(axes));
  if (withParameters)
    state.addAttribute("parameters", parseAttribute(parameters({-bound, bound},
                                                               channels, true),
                                                    builder.getContext()));
  return known(builder.create(state)->getResult(0), -2 * bound, 2 * bound);
}

Value Network::bias(int64_t channels) {
  if (random.chance(20) && !onlyQuantizedKernels)
    return constant(floats({1}), -1, 1);
  return constant(floats({channels}), -1, 1);
}

Value Network::conv(Value image, int64_t channels, const Window &window) {
  ArrayRef<int64_t> shape = shapeOf(image);
  int64_t fanIn = window.size[0] * window.size[1] * shape[3];
  Value weights =
      kernel({channels, window.size[0], window.size[1], shape[3]}, fanIn, {0});
  Shape result{shape[0], window.output(shape[1], 0), window.output(shape[2], 1),
               channels};
  double reach = rangeOf(image).magnitude() * rangeOf(weights).magnitude() *
                     double(fanIn) +
                 1;
  Value biases = bias(channels), z = zero(f32());
  return known(op("tosa.conv2d", floats(result), {image, weights, biases, z, z},
                  {array("pad", window.pad), array("stride", window.stride),
                   array("dilation", window.dilation),
                   attr("acc_type", TypeAttr::get(f32()))}),
               -reach, reach);
}

Value Network::depthwise(Value image, const Window &window) {
  ArrayRef<int64_t> shape = shapeOf(image);
  int64_t multiplier = random.chance(70) ? 1 : random.between(2, 3);
  int64_t fanIn = window.size[0] * window.size[1];
  Value weights = kernel({window.size[0], window.size[1], shape[3], multiplier},
                         fanIn, {2, 3});
  Shape result{shape[0], window.output(shape[1], 0), window.output(shape[2], 1),
               shape[3] * multiplier};
  double reach = rangeOf(image).magnitude() * rangeOf(weights).magnitude() *
                     double(fanIn) +
                 1;
  Value biases = bias(result[3]), z = zero(f32());
  return known(op("tosa.depthwise_conv2d", floats(result),
                  {image, weights, biases, z, z},
                  {array("pad", window.pad), array("stride", window.stride),
                   array("dilation", window.dilation),
                   attr("acc_type", TypeAttr::get(f32()))}),
               -reach, reach);
}

Value Network::transposeConv(Value image) {
  ArrayRef<int64_t> shape = shapeOf(image);
  int64_t channels = random.between(1, 5);
  int64_t size[2], stride[2], pad[4], result[2];
  for (int axis : {0, 1}) {
    size[axis] = random.between(1, 4);
    stride[axis] = random.between(1, 2);
    do {
      for (int side : {0, 1})
        pad[2 * axis + side] = random.between(1 - size[axis], 1);
      result[axis] = (shape[1 + axis] - 1) * stride[axis] + pad[2 * axis] +
                     pad[2 * axis + 1] + size[axis];
    } while (result[axis] < 1);
  }
  int64_t fanIn = size[0] * size[1] * shape[3];
  Value weights = kernel({channels, size[0], size[1], shape[3]}, fanIn, {0});
  double reach = rangeOf(image).magnitude() * rangeOf(weights).magnitude() *
                     double(fanIn) +
                 1;
  Value biases = bias(channels), z = zero(f32());
  return known(op("tosa.transpose_conv2d",
                  floats({shape[0], result[0], result[1], channels}),
                  {image, weights, biases, z, z},
                  {array("out_pad", pad), array("stride", stride),
                   attr("acc_type", TypeAttr::get(f32()))}),
               -reach, reach);
}

Value Network::conv3d() {
  Value value = chooseImage();
  if (!value)
    return {};
  Shape shape(shapeOf(value));
  int64_t channels = random.between(1, 3), depth = 1;
  if (shape[3] % 2 == 0)
    depth = 2;
  Value volume =
      reshape(value, {shape[0], shape[1], shape[2], depth, shape[3] / depth});
  int64_t inputs = shape[3] / depth;
  Shape size{random.between(1, std::min<int64_t>(2, shape[1])),
             random.between(1, std::min<int64_t>(2, shape[2])),
             random.between(1, depth)};
  int64_t fanIn = size[0] * size[1] * size[2] * inputs;
  double bound = std::sqrt(3.0 / double(fanIn));
  Value weights = constant(
      floats({channels, size[0], size[1], size[2], inputs}), -bound, bound);
  int64_t pad = random.between(0, 1);
  Value biases = bias(channels), z = zero(f32());
  double reach = rangeOf(value).magnitude() * bound * double(fanIn) + 1;
  return known(
      op("tosa.conv3d",
         floats({shape[0], shape[1] - size[0] + 1 + pad, shape[2] - size[1] + 1,
                 depth - size[2] + 1, channels}),
         {volume, weights, biases, z, z},
         {array("pad", {pad, 0, 0, 0, 0, 0}), array("stride", {1, 1, 1}),
          array("dilation", {1, 1, 1}),
          attr("acc_type", TypeAttr::get(f32()))}),
      -reach, reach);
}

Value Network::matmul() {
  Value value = choose(f32(), 3);
  if (!value || random.chance(30)) {
    value = choose(f32());
    if (!value || rankOf(value) < 2)
      return {};
    // [B, ...] -> [B, rows, inner], or the fully connected [1, B, inner].
    ArrayRef<int64_t> shape = shapeOf(value);
    int64_t inner = shape.back();
    int64_t rest = countOf(shape) / shape[0] / inner;
    if (random.chance(30))
      value = reshape(value, {1, shape[0], rest * inner});
    else
      value = reshape(value, {shape[0], rest, inner});
  }
  Shape shape(shapeOf(value));
  if (shape[2] > 300)
    return {};
  Value other;
  if (random.chance(25)) {
    // Two operands that both depend on the arguments, x * x^T perhaps.
    for (Value candidate : pool)
      if (elementOf(candidate).isF32() && rankOf(candidate) == 3 &&
          shapeOf(candidate)[0] == shape[0] &&
          shapeOf(candidate)[1] == shape[2] && random.chance(50))
        other = candidate;
    if (!other)
      other = transpose(value, {0, 2, 1});
  } else {
    int64_t columns =
        shape[2] >= 32 && random.chance(30) ? 40 : random.between(1, 6);
    if (shape[0] == 1 || random.chance(50))
      other = kernel({shape[0], shape[2], columns}, shape[2], {2});
    else
      return {};
  }
  int64_t columns = shapeOf(other)[2];
  if (shape[0] * shape[1] * columns > kLargestTensor)
    return {};
  double reach = rangeOf(value).magnitude() * rangeOf(other).magnitude() *
                 double(shape[2]);
  Value z = zero(f32());
  Value result = known(op("tosa.matmul", floats({shape[0], shape[1], columns}),
                          {value, other, z, z}),
                       -reach, reach);
  if (random.chance(40))
    result = add(result, constant(floats({1, 1, columns}), -1, 1));
  return result;
}

Value Network::anyKernel() {
  size_t kind = random.below(10);
  if (kind == 0)
    return matmul();
  if (kind == 1)
    return conv3d();
  Value image = chooseImage();
  if (!image || countOf(shapeOf(image)) > kLargestTensor)
    return {};
  if (kind == 2)
    return transposeConv(image);
  bool same = random.chance(50);
  if (kind < 5)
    return depthwise(image, window(image, same));
  int64_t channels = same ? shapeOf(image)[3] : random.between(1, 6);
  // Some kernels are large constants.
  if (random.chance(6))
    channels = 32;
  return conv(image, std::min<int64_t>(channels, 32), window(image, same));
}

Value Network::pool2d(Value image) {
  if (!image)
    return {};
  int64_t size[2], stride[2], pad[4], result[2];
  for (int axis : {0, 1}) {
    int64_t extent = shapeOf(image)[1 + axis];
    size[axis] = random.chance(15) ? extent : random.between(1, 3);
    stride[axis] = random.between(1, 2);
    do {
      for (int side : {0, 1})
        pad[2 * axis + side] = random.between(0, size[axis] - 1);
      if (random.chance(20))
        size[axis] = 1;
      if (random.chance(20))
        stride[axis] = 1;
      pad[2 * axis] = std::min(pad[2 * axis], size[axis] - 1);
      pad[2 * axis + 1] = std::min(pad[2 * axis + 1], size[axis] - 1);
      result[axis] = extent + pad[2 * axis] + pad[2 * axis + 1] - size[axis];
    } while (result[axis] < 0 || result[axis] % stride[axis] != 0);
    result[axis] = result[axis] / stride[axis] + 1;
  }
  Shape shape(shapeOf(image));
  shape[1] = result[0];
  shape[2] = result[1];
  SmallVector<NamedAttribute> attributes{
      array("kernel", size), array("stride", stride), array("pad", pad)};
  if (random.chance(50)) {
    attributes.push_back(attr(
        "nan_mode", tosa::NanPropagationModeAttr::get(
                        builder.getContext(),
                        random.chance(80) ? tosa::NanPropagationMode::PROPAGATE
                                          : tosa::NanPropagationMode::IGNORE)));
    return like(op("tosa.max_pool2d", floats(shape), image, attributes), image);
  }
  attributes.push_back(attr("acc_type", TypeAttr::get(f32())));
  Value z = zero(f32());
  return like(op("tosa.avg_pool2d", floats(shape), {image, z, z}, attributes),
              image);
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

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

//===----------------------------------------------------------------------===//
// Reductions and movement
//===----------------------------------------------------------------------===//

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
  auto mode = attr("nan_mode", tosa::NanPropagationModeAttr::get(
                                   builder.getContext(),
                                   tosa::NanPropagationMode::PROPAGATE));
  switch (random.below(4)) {
  case 0:
    return like(
        op("tosa.reduce_max", floats(shape), value, {axisAttr(axis), mode}),
        value);
  case 1:
    return like(
        op("tosa.reduce_min", floats(shape), value, {axisAttr(axis), mode}),
        value);
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

Value Network::movement() {
  Type element = random.chance(80) ? f32() : random.chance(50) ? i32() : i8();
  Value value = choose(element);
  if (!value || rankOf(value) == 0)
    return {};
  Shape shape(shapeOf(value));
  int64_t rank = rankOf(value), first = firstAxis(value);
  if (first >= rank)
    return {};
  switch (random.below(8)) {
  case 0: {
    int64_t axis = chooseAxis(value);
    SmallVector<Value> parts{value};
    for (Value candidate : pool) {
      if (elementOf(candidate) != element || rankOf(candidate) != rank ||
          parts.size() == 4)
        continue;
      Shape other(shapeOf(candidate));
      other[axis] = shape[axis];
      if (other == shape && random.chance(40))
        parts.push_back(candidate);
    }
    if (random.chance(20) && first == 0) {
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
  case 6: {
    // Splits or joins dimensions behind the batch.
    int64_t rest = countOf(shape) / (first ? shape[0] : 1);
    Shape target;
    if (first)
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
    // As the specification wants it.
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

//===----------------------------------------------------------------------===//
// Integers and booleans
//===----------------------------------------------------------------------===//

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
  case 12: {
    Value amount = number(rankOf(a), i32(), double(random.between(0, 12)));
    made = known(op("tosa.logical_left_shift", a.getType(), {a, amount}),
                 all.low, all.high);
    break;
  }
  case 13: {
    Value amount = number(rankOf(a), i32(), double(random.between(0, 31)));
    made = known(op("tosa.logical_right_shift", a.getType(), {a, amount}),
                 all.low, all.high);
    break;
  }
  case 14: {
    Value amount = number(rankOf(a), i32(), double(random.between(0, 8)));
    made = like(op("tosa.arithmetic_right_shift", a.getType(), {a, amount},
                   attr("round", builder.getBoolAttr(random.chance(50)))),
                a);
    break;
  }
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
  default: {
    int64_t axis = chooseAxis(a);
    if (!mayTouch(a, axis))
      return {};
    Shape shape(shapeOf(a));
    double count = double(shape[axis]);
    shape[axis] = 1;
    Range range = rangeOf(a);
    if (random.chance(60))
      made = known(op("tosa.reduce_sum", type(shape, i32()), a, axisAttr(axis)),
                   std::min(0.0, count * range.low), count * range.high);
    else
      made =
          like(op("tosa.reduce_max", type(shape, i32()), a,
                  {axisAttr(axis),
                   attr("nan_mode", tosa::NanPropagationModeAttr::get(
                                        builder.getContext(),
                                        tosa::NanPropagationMode::PROPAGATE))}),
               a);
  }
  }
  offer(made);
  if (random.chance(50)) {
    offer(compare(made, number(rankOf(made), i32(), 3)));
    if (random.chance(40))
      return made;
  }
  return castTo(made, f32());
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

/// A convolution, a matrix product or a pool of i8, and a rescale behind it.
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

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

Value Network::branch() {
  Value value = choose(f32());
  if (!value || keepsBatch)
    return {};
  // Whether the first element is positive.
  Value flat = reshape(value, {countOf(shapeOf(value))});
  Value first = slice(flat, {0}, {1});
  Value positive = compare(first, number(1, f32(), 0.1));
  Value condition = reshape(positive, {});
  // MLIR lets regions read what is outside of them, TOSA does not.
  bool isIsolated = random.chance(50);
  OperationState state(name("v" + std::to_string(numValues++)),
                       tosa::IfOp::getOperationName());
  state.addOperands(condition);
  if (isIsolated)
    state.addOperands(value);
  state.addTypes(value.getType());
  for (bool taken : {true, false}) {
    Block *block = new Block;
    state.addRegion()->push_back(block);
    OpBuilder::InsertionGuard guard(builder);
    Value read = isIsolated ? block->addArgument(value.getType(),
                                                 builder.getUnknownLoc())
                            : value;
    builder.setInsertionPointToStart(block);
    Value result = taken ? op("tosa.add", value.getType(), {read, read})
                         : op("tosa.tanh", value.getType(), read);
    tosa::YieldOp::create(builder, builder.getUnknownLoc(), result);
  }
  Range range = rangeOf(value);
  return known(builder.create(state)->getResult(0),
               std::min(2 * range.low, -1.0), std::max(2 * range.high, 1.0));
}

Value Network::loop() {
  Value value = choose(f32());
  if (!value || keepsBatch)
    return {};
  Value counter = constant(type({}, i32()), ArrayRef<double>(0.0));
  OperationState state(name("v" + std::to_string(numValues++)),
                       tosa::WhileOp::getOperationName());
  // MLIR lets regions read what is outside of them, TOSA does not.
  bool isIsolated = random.chance(50);
  state.addOperands({counter, value});
  state.addTypes({counter.getType(), value.getType()});
  if (isIsolated) {
    state.addOperands(value);
    state.addTypes(value.getType());
  }
  double times = double(random.between(0, 3));
  Location loc = builder.getUnknownLoc();
  {
    Block *test = new Block;
    state.addRegion()->push_back(test);
    OpBuilder::InsertionGuard guard(builder);
    Value i = test->addArgument(counter.getType(), loc);
    test->addArgument(value.getType(), loc);
    if (isIsolated)
      test->addArgument(value.getType(), loc);
    builder.setInsertionPointToStart(test);
    Value end = constant(type({}, i32()), ArrayRef(times));
    Value more = op("tosa.greater", type({}, i1()), {end, i});
    tosa::YieldOp::create(builder, loc, more);
  }
  {
    Block *body = new Block;
    state.addRegion()->push_back(body);
    OpBuilder::InsertionGuard guard(builder);
    Value i = body->addArgument(counter.getType(), loc);
    Value x = body->addArgument(value.getType(), loc);
    Value start = isIsolated ? body->addArgument(value.getType(), loc) : value;
    builder.setInsertionPointToStart(body);
    Value one = constant(type({}, i32()), ArrayRef<double>(1.0));
    Value next = op("tosa.add", i.getType(), {i, one});
    Value half = number(rankOf(x), f32(), 0.5);
    Value shift = zero(i8());
    Value scaled = op("tosa.mul", x.getType(), {x, half, shift});
    Value result = op("tosa.add", x.getType(), {scaled, start});
    SmallVector<Value, 3> handedOn{next, result};
    if (isIsolated)
      handedOn.push_back(start);
    tosa::YieldOp::create(builder, loc, handedOn);
  }
  Range range = rangeOf(value);
  return known(builder.create(state)->getResult(1),
               std::min(2 * range.low, 0.0), std::max(2 * range.high, 0.0));
}

//===----------------------------------------------------------------------===//
// Networks' habits
//===----------------------------------------------------------------------===//

/// x + conv(relu(conv(relu(x)))), with x read before and behind.
Value Network::residual() {
  Value x = chooseImage();
  if (!x || countOf(shapeOf(x)) > kLargestTensor / 2)
    return {};
  x = tame(x);
  Value inner = random.chance(70) ? relu(x) : x;
  inner = maybePoint(inner, 30);
  int64_t channels = random.between(1, 5);
  Value first = conv(inner, channels, window(inner, true));
  if (random.chance(30))
    offer(first);
  first = maybePoint(tame(relu(first)), 30);
  Value second = random.chance(25) && channels == shapeOf(x)[3]
                     ? depthwise(first, window(first, true))
                     : conv(first, shapeOf(x)[3], window(first, true));
  if (shapeOf(second) != shapeOf(x))
    return offer(second), Value();
  Value sum = random.chance(50) ? add(second, x) : add(x, second);
  if (random.chance(50))
    sum = relu(sum);
  return maybePoint(sum, 40);
}

/// What the executor fuses into one kernel, and what looks like it.
Value Network::fusedChain() {
  Value image = chooseImage();
  if (!image || countOf(shapeOf(image)) > kLargestTensor / 2)
    return {};
  Value value = random.chance(70)
                    ? conv(image, random.between(1, 6), window(image, false))
                    : depthwise(image, window(image, false));
  if (random.chance(20))
    offer(value);
  if (random.chance(30))
    value = maybePoint(value, 100);
  if (random.chance(50)) {
    Value other = chooseShaped(f32(), shapeOf(value));
    if (!other)
      other = random.chance(50) ? value : operandFor(value);
    if (shapeOf(other) == shapeOf(value) || fits(other, value))
      value = random.chance(50) ? add(value, other) : add(other, value);
  }
  if (random.chance(40)) {
    Shape shape(shapeOf(value));
    Shape flat{shape[0], shape[1] * shape[2] * shape[3]};
    Value before = value;
    value = reshape(value, flat);
    if (random.chance(25))
      offer(before);
  }
  if (random.chance(60))
    value = clamp(value, random.chance(50) ? 0 : -1, random.chance(50) ? 6 : 2);
  return maybePoint(value, 50);
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

/// One value that a kernel, an elementwise op, a reshape and a pool read.
Value Network::sharedReads() {
  Value image = chooseImage();
  if (!image || countOf(shapeOf(image)) > kLargestTensor / 2)
    return {};
  Value x = random.chance(60) ? conv(image, random.between(1, 5),
                                     window(image, random.chance(50)))
                              : pool2d(image);
  offer(x);
  SmallVector<size_t> readers;
  for (size_t count = 2 + random.below(3); count > 0; --count)
    readers.push_back(random.below(6));
  Value last;
  for (size_t reader : readers) {
    if (reader == 0)
      last = pool2d(x);
    else if (reader == 1)
      last = conv(x, random.between(1, 4), window(x, false));
    else if (reader == 2)
      last = unary("tosa.tanh", x, -1, 1);
    else if (reader == 3)
      last = reshape(x, {shapeOf(x)[0], countOf(shapeOf(x)) / shapeOf(x)[0]});
    else if (reader == 4)
      last = relu(x);
    else
      last = add(x, x);
    offer(last);
  }
  return last;
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
  size_t kind = random.below(onlyQuantizedKernels ? 2 : 8);
  if (kind < 2)
    return "#tpc.power_of_two<threshold = " + list([&] {
             return real(std::exp2(std::ceil(std::log2(magnitude)) -
                                   double(random.below(3))));
           }) +
           ", bits = " + std::to_string(bits) + sign + ">";
  if (kind < 5)
    return "#tpc.symmetric<threshold = " + list([&] {
             return real(magnitude * double(random.uniform(0.4f, 1.1f)));
           }) +
           ", bits = " + std::to_string(bits) + sign + ">";
  if (kind < 7) {
    int64_t levels = (int64_t(1) << bits) - 1;
    return "#tpc.uniform<scale = " + list([&] {
             return real(2 * magnitude * double(random.uniform(0.4f, 1.1f)) /
                         double(levels));
           }) +
           ", zero_point = " +
           list([&] { return std::to_string(random.between(0, levels)); }) +
           ", bits = " + std::to_string(bits) + ">";
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
  switch (random.below(30)) {
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
      element = random.chance(40) ? i32() : random.chance(60) ? i8() : i1();
    // An argument of another leading size, so that there is no batch.
    if (i != 0 && !keepsBatch && random.chance(20))
      shape[0] += 1;
    Value argument =
        body.addArgument(type(shape, element), name("a" + std::to_string(i)));
    if (element.isF32())
      known(argument, -2, 2);
    else if (element.isInteger(32))
      known(argument, -8, 8);
    else if (element.isInteger(8))
      known(argument, -128, 127);
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

/// What nobody reads, and some of what somebody does.
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
        // Readers of both sides of a point.
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

func::FuncOp Network::makeLayers() {
  onlyQuantizedKernels = true;
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

OwningOpRef<ModuleOp> makeModule(MLIRContext &context, unsigned seed,
                                 bool layers) {
  OpBuilder builder(&context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(builder.getUnknownLoc());
  builder.setInsertionPointToEnd(module->getBody());
  Network network(builder, seed);
  func::FuncOp function = layers ? network.makeLayers() : network.make();
  // What leads to no result is as if it were not there.
  Block &body = function.getBody().front();
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (isOpTriviallyDead(&op))
      op.erase();
  return module;
}

} // namespace

OwningOpRef<ModuleOp> mct::testing::makeRandomNetwork(MLIRContext &context,
                                                      unsigned seed) {
  return makeModule(context, seed, false);
}
OwningOpRef<ModuleOp> mct::testing::makeRandomLayers(MLIRContext &context,
                                                     unsigned seed) {
  return makeModule(context, seed, true);
}

std::string mct::testing::print(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  OpPrintingFlags flags;
  flags.enableDebugInfo(true, false);
  flags.useLocalScope();
  module.print(stream, flags);
  return text;
}

std::vector<char> mct::testing::randomInput(RankedTensorType type,
                                            int64_t batches, unsigned seed) {
  Random random(seed);
  int64_t count = type.getNumElements() * batches;
  Type element = type.getElementType();
  std::vector<char> bytes(
      size_t(count * ((type.getElementTypeBitWidth() + 7) / 8)));
  // Now and then numbers with few digits, for ties and zeros.
  bool coarse = random.chance(25);
  for (int64_t i = 0; i != count; ++i) {
    auto store = [&](auto value) {
      std::memcpy(bytes.data() + i * int64_t(sizeof(value)), &value,
                  sizeof(value));
    };
    if (element.isF32())
      store(coarse ? float(random.between(-16, 16)) / 8
                   : random.uniform(-2, 2));
    else if (element.isInteger(32))
      store(int32_t(random.between(-8, 8)));
    else if (element.isInteger(8))
      store(int8_t(random.between(-128, 127)));
    else
      store(char(random.below(2)));
  }
  return bytes;
}

//===----------------------------------------------------------------------===//
// Shrinking
//===----------------------------------------------------------------------===//

namespace {

/// Another index could lie outside of the tensor.
bool isIndex(Value value) {
  return llvm::any_of(value.getUses(), [](OpOperand &use) {
    return isa<tosa::GatherOp, tosa::ScatterOp>(use.getOwner()) &&
           use.getOperandNumber() == 1;
  });
}

void removeDead(func::FuncOp function) {
  Block &body = function.getBody().front();
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

func::FuncOp mainOf(ModuleOp module) {
  return module.lookupSymbol<func::FuncOp>("main");
}

void updateType(func::FuncOp function) {
  Block &body = function.getBody().front();
  function.setFunctionType(FunctionType::get(
      function.getContext(), body.getArgumentTypes(),
      SmallVector<Type>(body.getTerminator()->getOperandTypes())));
}

} // namespace

OwningOpRef<ModuleOp>
mct::testing::shrink(ModuleOp module,
                     llvm::function_ref<bool(ModuleOp)> fails) {
  OwningOpRef<ModuleOp> best = cast<ModuleOp>(module->clone());
  // Applies one change to a copy, and keeps it if the copy still fails.
  auto attempt = [&](llvm::function_ref<bool(func::FuncOp)> change) {
    OwningOpRef<ModuleOp> copy = cast<ModuleOp>((*best)->clone());
    func::FuncOp function = mainOf(*copy);
    if (!change(function))
      return false;
    removeDead(function);
    updateType(function);
    if (failed(verify(*copy)) || !fails(*copy))
      return false;
    best = std::move(copy);
    return true;
  };
  auto numOps = [&] {
    return mainOf(*best).getBody().front().getOperations().size();
  };
  auto nth = [](func::FuncOp function, size_t n) {
    return &*std::next(function.getBody().front().begin(), int64_t(n));
  };

  for (bool changed = true; changed;) {
    changed = false;
    size_t results =
        mainOf(*best).getBody().front().getTerminator()->getNumOperands();
    for (size_t i = results; i-- > 0;)
      changed |= attempt([&](func::FuncOp function) {
        Operation *end = function.getBody().front().getTerminator();
        if (end->getNumOperands() == 1 || i >= end->getNumOperands())
          return false;
        end->eraseOperand(unsigned(i));
        return true;
      });
    for (size_t i = numOps(); i-- > 0;) {
      if (i >= numOps() - 1)
        continue;
      // An operand of the same type takes the place of the result.
      bool gone = false;
      size_t operands = nth(mainOf(*best), i)->getNumOperands();
      for (size_t operand = 0; operand != operands && !gone; ++operand)
        gone = attempt([&](func::FuncOp function) {
          Operation *op = nth(function, i);
          if (op->getNumResults() != 1 || isIndex(op->getResult(0)) ||
              op->getOperand(unsigned(operand)).getType() !=
                  op->getResult(0).getType())
            return false;
          op->getResult(0).replaceAllUsesWith(
              op->getOperand(unsigned(operand)));
          return true;
        });
      // Or a new argument does.
      if (!gone)
        gone = attempt([&](func::FuncOp function) {
          Operation *op = nth(function, i);
          if (op->getNumResults() != 1 ||
              isa<tosa::ConstOp, tosa::ConstShapeOp>(op) ||
              isIndex(op->getResult(0)) ||
              !isa<RankedTensorType>(op->getResult(0).getType()))
            return false;
          Block &body = function.getBody().front();
          Value argument =
              body.addArgument(op->getResult(0).getType(), op->getLoc());
          op->getResult(0).replaceAllUsesWith(argument);
          return true;
        });
      changed |= gone;
    }
    for (size_t i = 0; i < numOps(); ++i)
      changed |= attempt([&](func::FuncOp function) {
        auto point = dyn_cast<tpc::QuantizeOp>(nth(function, i));
        if (!point || !point.getParametersAttr())
          return false;
        point.removeParametersAttr();
        return true;
      });
    size_t arguments = mainOf(*best).getBody().front().getNumArguments();
    for (size_t i = arguments; i-- > 0;)
      changed |= attempt([&](func::FuncOp function) {
        Block &body = function.getBody().front();
        if (body.getNumArguments() == 1 || !body.getArgument(i).use_empty())
          return false;
        body.eraseArgument(unsigned(i));
        return true;
      });
  }
  return best;
}
