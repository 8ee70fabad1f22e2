// SPDX-License-Identifier: Apache-2.0
//
// Makes one random network; what it makes is in a file for each kind of op.
#ifndef MCT_TEST_UNIT_EXECUTION_NETWORKGENERATOR_H
#define MCT_TEST_UNIT_EXECUTION_NETWORKGENERATOR_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace mct::testing::generator {

namespace func = mlir::func;
namespace tosa = mlir::tosa;
using llvm::APInt;
using mlir::ArrayRef;
using mlir::Attribute;
using mlir::cast;
using mlir::DenseElementsAttr;
using mlir::DenseIntElementsAttr;
using mlir::Location;
using mlir::NamedAttribute;
using mlir::NameLoc;
using mlir::OpBuilder;
using mlir::OperationState;
using mlir::RankedTensorType;
using mlir::ShapedType;
using mlir::SmallVector;
using mlir::StringRef;
using mlir::Type;
using mlir::Value;
using mlir::ValueRange;

using Shape = SmallVector<int64_t, 5>;

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
  func::FuncOp makeLayers(bool scalable);

private:
  //===--- Types and constants --------------------------------------------===//

  Type f32() { return builder.getF32Type(); }
  Type i32() { return builder.getI32Type(); }
  Type i16() { return builder.getI16Type(); }
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
  /// Offers a value to later ops.
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
  Value kernelArgument(ArrayRef<int64_t> shape);
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
  /// The largest or smallest elements along an axis, without their range.
  Value extremes(bool largest, Value value, int64_t axis);
  Value argmax();
  Value movement();
  Value concatWithOthers(Value value);
  Value regroup(Value value);
  Value gather();
  Value scatter();
  Value resize();
  Value integers();
  /// Shifts by at most so many bits, without the range of the result.
  Value shiftIntegers(StringRef opName, Value value, int64_t most);
  Value reduceIntegers(Value value);
  Value truths();
  Value bytes();
  Value halves();
  Value chooseHalves();
  Value lookUpHalves(Value value);
  Value rescaleOfHalves(Value value);
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
  /// They have a threshold or a scale for each output channel that any factor
  /// may be applied to.
  bool scalableKernels = false;
  int64_t batch = 1;
  int64_t numValues = 0, numPoints = 0, numKernels = 0;
};

} // namespace mct::testing::generator

#endif // MCT_TEST_UNIT_EXECUTION_NETWORKGENERATOR_H
