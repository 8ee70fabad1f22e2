// SPDX-License-Identifier: Apache-2.0
#include "RandomGraphs.h"
#include "mct/Execution/Executor.h"
#include "mct/Pipelines/Pipelines.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <random>

using namespace mlir;
using Shape = SmallVector<int64_t, 4>;

static constexpr float kMax = std::numeric_limits<float>::max();

//===----------------------------------------------------------------------===//
// The generator
//===----------------------------------------------------------------------===//

namespace {
/// Makes one graph after `value`, an NHWC tensor of batch 1.
class Graph {
public:
  Graph(OpBuilder &builder, unsigned seed, Value input)
      : builder(builder), loc(builder.getUnknownLoc()), random(seed),
        value(input) {}

  /// The results: the last value, and perhaps one in between.
  SmallVector<Value> make();

private:
  //===--- Random choices, the same with every standard library -----------===//

  size_t below(size_t bound) { return random() % bound; }
  bool chance(size_t percent) { return below(100) < percent; }
  int64_t between(int64_t first, int64_t last) {
    return first + int64_t(below(last - first + 1));
  }
  float uniform(float low, float high) {
    return low + (high - low) * (float(random() >> 8) * 0x1p-24f);
  }

  //===--- Ops ------------------------------------------------------------===//

  static ArrayRef<int64_t> shapeOf(Value value) {
    return cast<RankedTensorType>(value.getType()).getShape();
  }
  RankedTensorType type(ArrayRef<int64_t> shape) {
    return RankedTensorType::get(shape, builder.getF32Type());
  }
  Value constant(ArrayRef<int64_t> shape, ArrayRef<float> values) {
    auto tensor = type(shape);
    return tosa::ConstOp::create(builder, loc, tensor,
                                 DenseElementsAttr::get(tensor, values));
  }
  /// Random values; now and then a constant of this shape that is there
  /// already.
  Value constant(ArrayRef<int64_t> shape, float low, float high);
  Value number(Value like, float number) {
    return constant(Shape(shapeOf(like).size(), 1), number, number);
  }
  Value zero() {
    if (!zeroPoint)
      zeroPoint = constant({1}, {0.0f});
    return zeroPoint;
  }
  Value shapeConstant(ArrayRef<int64_t> shape) {
    auto values =
        RankedTensorType::get(int64_t(shape.size()), builder.getIndexType());
    return tosa::ConstShapeOp::create(
        builder, loc, tosa::shapeType::get(builder.getContext(), shape.size()),
        DenseIntElementsAttr::get(values, shape));
  }
  Value add(Value lhs, Value rhs) { return binary<tosa::AddOp>(lhs, rhs); }
  Value sub(Value lhs, Value rhs) { return binary<tosa::SubOp>(lhs, rhs); }
  Value mul(Value lhs, Value rhs) {
    if (!shift) {
      auto tensor = RankedTensorType::get(1, builder.getI8Type());
      shift = tosa::ConstOp::create(builder, loc, tensor,
                                    DenseElementsAttr::get(tensor, int8_t(0)));
    }
    return tosa::MulOp::create(builder, loc, broadcast(lhs, rhs), lhs, rhs,
                               shift);
  }
  /// Either order of the operands.
  Value addAnyOrder(Value lhs, Value rhs) {
    return chance(50) ? add(lhs, rhs) : add(rhs, lhs);
  }
  Value mulAnyOrder(Value lhs, Value rhs) {
    return chance(50) ? mul(lhs, rhs) : mul(rhs, lhs);
  }
  RankedTensorType broadcast(Value lhs, Value rhs) {
    Shape shape(shapeOf(lhs));
    for (auto [size, other] : llvm::zip_equal(shape, shapeOf(rhs)))
      size = std::max(size, other);
    return type(shape);
  }
  template <typename Op> Value binary(Value lhs, Value rhs) {
    return Op::create(builder, loc, broadcast(lhs, rhs), lhs, rhs);
  }
  template <typename Op> Value unary(Value operand) {
    return Op::create(builder, loc, operand.getType(), operand);
  }
  Value clamp(Value operand, float low, float high) {
    return tosa::ClampOp::create(
        builder, loc, operand.getType(), operand, builder.getF32FloatAttr(low),
        builder.getF32FloatAttr(high),
        tosa::NanPropagationModeAttr::get(builder.getContext(),
                                          tosa::NanPropagationMode::PROPAGATE));
  }
  Value select(Value condition, Value yes, Value no) {
    return tosa::SelectOp::create(builder, loc, broadcast(yes, no), condition,
                                  yes, no);
  }
  template <typename Op> Value compare(Value lhs, Value rhs) {
    auto result = RankedTensorType::get(broadcast(lhs, rhs).getShape(),
                                        builder.getI1Type());
    return Op::create(builder, loc, result, lhs, rhs);
  }
  Value transpose(Value operand, ArrayRef<int32_t> perms) {
    Shape shape;
    for (int32_t axis : perms)
      shape.push_back(shapeOf(operand)[axis]);
    return tosa::TransposeOp::create(builder, loc, type(shape), operand,
                                     builder.getDenseI32ArrayAttr(perms));
  }
  Value reshape(Value operand, ArrayRef<int64_t> shape) {
    return tosa::ReshapeOp::create(builder, loc, type(shape), operand,
                                   shapeConstant(shape));
  }
  Value concat(ValueRange operands, int64_t axis) {
    Shape shape(shapeOf(operands.front()));
    shape[axis] = 0;
    for (Value operand : operands)
      shape[axis] += shapeOf(operand)[axis];
    return tosa::ConcatOp::create(builder, loc, type(shape), operands,
                                  builder.getI32IntegerAttr(axis));
  }

  //===--- Pieces ---------------------------------------------------------===//

  struct Window {
    int64_t size[2] = {1, 1}, stride[2] = {1, 1}, dilation[2] = {1, 1};
    int64_t pad[4] = {0, 0, 0, 0};
  };
  /// Any window that fits on the input; with `keepsSize` one of odd size,
  /// stride 1 and the padding that keeps height and width.
  Window window(Value input, bool keepsSize = false);
  Value kernel(ArrayRef<int64_t> shape, int64_t fanIn);
  Value bias(int64_t channels);
  Value conv(Value input, int64_t channels, const Window &window);
  Value depthwise(Value input, int64_t multiplier, const Window &window);
  Value transposedConv(Value input, int64_t channels);
  Value groups(Value input);
  Value product(Value input, int64_t channels);
  Value anyKernelOp(Value input);
  Value perChannel(Value like, int64_t axis, float low, float high);
  Value batchNorm(Value input, int64_t axis = 3);
  Value relu(Value input);
  Value activation(Value input);
  Value pool(Value input);
  Value explicitPad(Value input);
  Value piece(Value input);

  OpBuilder &builder;
  Location loc;
  std::mt19937 random;
  Value value, zeroPoint, shift;
  std::map<std::vector<int64_t>, SmallVector<Value>> constants;
};
} // namespace

Value Graph::constant(ArrayRef<int64_t> shape, float low, float high) {
  SmallVector<Value> &present = constants[shape.vec()];
  if (low < 0 && low != high && !present.empty() && chance(10))
    return present[below(present.size())];
  std::vector<float> values(ShapedType::getNumElements(shape));
  for (float &element : values)
    element = uniform(low, high);
  Value made = constant(shape, values);
  // Positive ones may be variances, whose place no other one can take.
  if (low < 0)
    present.push_back(made);
  return made;
}

Graph::Window Graph::window(Value input, bool keepsSize) {
  Window window;
  for (int axis : {0, 1}) {
    int64_t size = shapeOf(input)[1 + axis];
    if (keepsSize) {
      window.size[axis] = chance(50) ? 3 : 1;
      window.dilation[axis] = between(1, 2);
      int64_t side = window.size[axis] / 2 * window.dilation[axis];
      window.pad[2 * axis] = window.pad[2 * axis + 1] = side;
      continue;
    }
    window.size[axis] = between(1, 3);
    window.stride[axis] = chance(70) ? 1 : 2;
    window.dilation[axis] = chance(80) ? 1 : 2;
    int64_t reach = (window.size[axis] - 1) * window.dilation[axis];
    int64_t &before = window.pad[2 * axis], &after = window.pad[2 * axis + 1];
    before = chance(50) ? 0 : between(0, reach);
    after = chance(50) ? before : between(0, reach);
    after += std::max<int64_t>(0, reach + 1 - size - before - after);
    while ((size - 1 + before + after - reach) % window.stride[axis] != 0)
      ++after;
  }
  return window;
}

Value Graph::kernel(ArrayRef<int64_t> shape, int64_t fanIn) {
  // Values keep their size from piece to piece.
  float bound = std::sqrt(3.0f / float(fanIn));
  if (chance(10)) {
    // Integers with a scale per tensor, as converters store them.
    auto integers = RankedTensorType::get(shape, builder.getI8Type());
    std::vector<int8_t> values(integers.getNumElements());
    for (int8_t &element : values)
      element = int8_t(between(-127, 127));
    Value stored = tosa::ConstOp::create(
        builder, loc, integers,
        DenseElementsAttr::get(integers, ArrayRef<int8_t>(values)));
    Value floats = tosa::CastOp::create(builder, loc, type(shape), stored);
    return mul(floats, number(floats, bound / 127));
  }
  return constant(shape, -bound, bound);
}

Value Graph::bias(int64_t channels) {
  if (chance(20))
    return constant({1}, {uniform(-1, 1)});
  return constant({channels}, -1, 1);
}

static TypeAttr accumulator(OpBuilder &builder) {
  return TypeAttr::get(builder.getF32Type());
}

Value Graph::conv(Value input, int64_t channels, const Window &window) {
  ArrayRef<int64_t> shape = shapeOf(input);
  int64_t size[2];
  for (int axis : {0, 1})
    size[axis] =
        (shape[1 + axis] - 1 + window.pad[2 * axis] + window.pad[2 * axis + 1] -
         (window.size[axis] - 1) * window.dilation[axis]) /
            window.stride[axis] +
        1;
  int64_t inputs = shape[3];
  Value weights = kernel({channels, window.size[0], window.size[1], inputs},
                         inputs * window.size[0] * window.size[1]);
  Value biases = bias(channels);
  return tosa::Conv2DOp::create(
      builder, loc, type({1, size[0], size[1], channels}), input, weights,
      biases, zero(), zero(), builder.getDenseI64ArrayAttr(window.pad),
      builder.getDenseI64ArrayAttr(window.stride),
      builder.getDenseI64ArrayAttr(window.dilation), accumulator(builder));
}

Value Graph::depthwise(Value input, int64_t multiplier, const Window &window) {
  ArrayRef<int64_t> shape = shapeOf(input);
  int64_t size[2];
  for (int axis : {0, 1})
    size[axis] =
        (shape[1 + axis] - 1 + window.pad[2 * axis] + window.pad[2 * axis + 1] -
         (window.size[axis] - 1) * window.dilation[axis]) /
            window.stride[axis] +
        1;
  int64_t inputs = shape[3];
  Value weights = kernel({window.size[0], window.size[1], inputs, multiplier},
                         window.size[0] * window.size[1]);
  Value biases = bias(inputs * multiplier);
  return tosa::DepthwiseConv2DOp::create(
      builder, loc, type({1, size[0], size[1], inputs * multiplier}), input,
      weights, biases, zero(), zero(), builder.getDenseI64ArrayAttr(window.pad),
      builder.getDenseI64ArrayAttr(window.stride),
      builder.getDenseI64ArrayAttr(window.dilation), accumulator(builder));
}

Value Graph::transposedConv(Value input, int64_t channels) {
  ArrayRef<int64_t> shape = shapeOf(input);
  int64_t window[2], stride[2], pad[4], size[2];
  for (int axis : {0, 1}) {
    window[axis] = between(1, 3);
    stride[axis] = between(1, 2);
    pad[2 * axis] = between(0, 1);
    pad[2 * axis + 1] = between(0, 1);
    size[axis] = (shape[1 + axis] - 1) * stride[axis] + pad[2 * axis] +
                 pad[2 * axis + 1] + window[axis];
  }
  Value weights = kernel({channels, window[0], window[1], shape[3]},
                         shape[3] * window[0] * window[1]);
  Value biases = bias(channels);
  return tosa::TransposeConv2DOp::create(
      builder, loc, type({1, size[0], size[1], channels}), input, weights,
      biases, zero(), zero(), builder.getDenseI64ArrayAttr(pad),
      builder.getDenseI64ArrayAttr(stride), accumulator(builder));
}

/// A convolution in two groups: slices, convolutions and a concatenation.
Value Graph::groups(Value input) {
  Shape shape(shapeOf(input));
  int64_t first = std::max<int64_t>(1, shape[3] / 2);
  Window window = this->window(input);
  SmallVector<Value> results;
  for (auto [begin, end] :
       {std::pair(int64_t(0), first), std::pair(shape[3] - first, shape[3])}) {
    Shape size = shape;
    size[3] = end - begin;
    Value part = tosa::SliceOp::create(builder, loc, type(size), input,
                                       shapeConstant({0, 0, 0, begin}),
                                       shapeConstant(size));
    results.push_back(conv(part, between(1, 3), window));
  }
  return concat(results, 3);
}

/// Fully connected at every position; the bias before or after the reshape.
Value Graph::product(Value input, int64_t channels) {
  Shape shape(shapeOf(input));
  int64_t positions = shape[1] * shape[2];
  Value rows = reshape(input, {1, positions, shape[3]});
  Value weights = kernel({1, shape[3], channels}, shape[3]);
  Value result =
      tosa::MatMulOp::create(builder, loc, type({1, positions, channels}), rows,
                             weights, zero(), zero());
  size_t form = below(4);
  if (form == 0)
    result = addAnyOrder(result, constant({1, 1, channels}, -1, 1));
  if (form == 1)
    result = addAnyOrder(reshape(result, {positions, channels}),
                         constant({1, channels}, -1, 1));
  if (form == 2)
    result = batchNorm(result, 2);
  shape[3] = channels;
  return reshape(result, shape);
}

Value Graph::anyKernelOp(Value input) {
  int64_t channels = between(1, 6);
  switch (below(8)) {
  case 0:
    return depthwise(input, between(1, 2), window(input));
  case 1:
    return transposedConv(input, channels);
  case 2:
    return product(input, channels);
  case 3:
  case 4:
    return conv(input, channels, {});
  default:
    return conv(input, channels, window(input));
  }
}

Value Graph::perChannel(Value like, int64_t axis, float low, float high) {
  Shape shape(shapeOf(like).size(), 1);
  shape[axis] = shapeOf(like)[axis];
  return constant(shape, low, high);
}

/// Makes a batch norm as importers write it; now and then without a step.
Value Graph::batchNorm(Value input, int64_t axis) {
  Value mean = perChannel(input, axis, -1, 1);
  Value gamma = perChannel(input, axis, -1.5f, 1.5f);
  Value beta = perChannel(input, axis, -1, 1);
  Value variance = perChannel(input, axis, 0.25f, 4);
  auto epsilon = [&] { return number(input, 1e-3f); };
  Value normal;
  switch (below(6)) {
  case 0:
    normal = mulAnyOrder(sub(input, mean),
                         unary<tosa::RsqrtOp>(add(variance, epsilon())));
    return addAnyOrder(mulAnyOrder(normal, gamma), beta);
  case 1: {
    Value root =
        tosa::PowOp::create(builder, loc, variance.getType(),
                            add(variance, epsilon()), number(input, 0.5f));
    normal = mulAnyOrder(sub(input, mean), unary<tosa::ReciprocalOp>(root));
    return addAnyOrder(mulAnyOrder(normal, gamma), beta);
  }
  case 2:
    return addAnyOrder(mulAnyOrder(sub(input, mean), gamma), beta);
  case 3:
    return sub(mulAnyOrder(input, gamma), mean);
  case 4:
    return mulAnyOrder(input, gamma);
  default:
    return addAnyOrder(mulAnyOrder(input, gamma), beta);
  }
}

Value Graph::relu(Value input) {
  switch (below(6)) {
  case 0:
    return clamp(input, 0, 6);
  case 1:
    return binary<tosa::MaximumOp>(input, number(input, 0));
  case 2:
    return binary<tosa::MinimumOp>(clamp(input, 0, kMax),
                                   number(input, uniform(0.5f, 6)));
  case 3:
    return clamp(input, 0, uniform(0.5f, 3));
  default:
    return clamp(input, 0, kMax);
  }
}

Value Graph::activation(Value input) {
  Value zeros = number(input, 0);
  auto negative = [&] { return binary<tosa::MinimumOp>(input, zeros); };
  auto positive = [&] { return binary<tosa::MaximumOp>(input, zeros); };
  Value x = input;
  switch (below(15)) {
  case 0:
    return unary<tosa::SigmoidOp>(x);
  case 1:
    return unary<tosa::TanhOp>(x);
  case 2:
  case 3:
    return mul(x, unary<tosa::SigmoidOp>(x));
  case 4:
    return mul(mul(x, clamp(add(x, number(x, 3)), 0, 6)), number(x, 1.0f / 6));
  case 5:
    return mul(x, mul(clamp(add(x, number(x, 3)), 0, 6), number(x, 1.0f / 6)));
  case 6: {
    Value erf = unary<tosa::ErfOp>(mul(x, number(x, 0.70710678118f)));
    return mul(x, mul(add(erf, number(x, 1)), number(x, 0.5f)));
  }
  case 7: {
    Value cube = mul(mul(x, x), x);
    Value inner = add(x, mul(cube, number(x, 0.044715f)));
    Value tanh = unary<tosa::TanhOp>(mul(inner, number(x, 0.79788456080f)));
    return mul(mul(x, number(x, 0.5f)), add(tanh, number(x, 1)));
  }
  case 8:
    return binary<tosa::MaximumOp>(x, mul(x, number(x, 0.125f)));
  case 9:
    return select(compare<tosa::GreaterEqualOp>(x, zeros), x,
                  mul(x, number(x, 0.1f)));
  case 10:
    return add(positive(), mul(negative(), perChannel(x, 3, -0.5f, 0.5f)));
  case 11: {
    Value exp = sub(unary<tosa::ExpOp>(x), number(x, 1));
    return select(compare<tosa::GreaterEqualOp>(x, zeros), x, exp);
  }
  case 12:
    return add(positive(), sub(unary<tosa::ExpOp>(negative()), number(x, 1)));
  case 13: {
    // The form in which torch writes softplus, whose exponential may overflow.
    Value log = unary<tosa::LogOp>(add(unary<tosa::ExpOp>(x), number(x, 1)));
    return select(compare<tosa::GreaterOp>(x, number(x, 20)), x, log);
  }
  default:
    return binary<tosa::MaximumOp>(
        binary<tosa::MinimumOp>(x, number(x, uniform(0.5f, 2))),
        number(x, uniform(-2, 0)));
  }
}

Value Graph::pool(Value input) {
  ArrayRef<int64_t> shape = shapeOf(input);
  int64_t window[2], stride[2], pad[4] = {0, 0, 0, 0}, size[2];
  for (int axis : {0, 1}) {
    window[axis] = std::min<int64_t>(shape[1 + axis], between(1, 2));
    stride[axis] = between(1, 2);
    if (window[axis] == 2 && chance(30))
      pad[2 * axis] = 1;
    while (
        (shape[1 + axis] + pad[2 * axis] + pad[2 * axis + 1] - window[axis]) %
            stride[axis] !=
        0)
      --stride[axis];
    size[axis] =
        (shape[1 + axis] + pad[2 * axis] - window[axis]) / stride[axis] + 1;
  }
  RankedTensorType result = type({1, size[0], size[1], shape[3]});
  auto windows = builder.getDenseI64ArrayAttr(window);
  auto strides = builder.getDenseI64ArrayAttr(stride);
  auto pads = builder.getDenseI64ArrayAttr(pad);
  if (chance(50))
    return tosa::MaxPool2dOp::create(
        builder, loc, result, input, windows, strides, pads,
        tosa::NanPropagationModeAttr::get(builder.getContext(),
                                          tosa::NanPropagationMode::PROPAGATE));
  return tosa::AvgPool2dOp::create(builder, loc, result, input, zero(), zero(),
                                   windows, strides, pads,
                                   accumulator(builder));
}

Value Graph::explicitPad(Value input) {
  Shape shape(shapeOf(input));
  Shape pads(8, 0);
  for (int axis : {1, 2})
    for (int side : {0, 1}) {
      pads[2 * axis + side] = between(0, 1);
      shape[axis] += pads[2 * axis + side];
    }
  return tosa::PadOp::create(builder, loc, type(shape), input,
                             shapeConstant(pads), constant({1}, {0.0f}));
}

/// Makes a piece that rewrites look for, or one that only resembles it.
Value Graph::piece(Value x) {
  int64_t channels = between(1, 6);
  switch (below(19)) {
  case 0:
    return batchNorm(anyKernelOp(x));
  case 1:
    return relu(batchNorm(anyKernelOp(x)));
  case 2:
    return activation(batchNorm(anyKernelOp(x)));
  case 3:
    // Forward: the convolution that follows is often of size 1.
    return chance(70) ? conv(batchNorm(x), channels, {})
                      : conv(batchNorm(x), channels, window(x));
  case 4: {
    Window first;
    if (chance(30))
      first = window(x);
    return conv(depthwise(x, chance(80) ? 1 : 2, first), channels, {});
  }
  case 5: {
    Value inner = conv(x, channels, window(x));
    if (chance(20))
      return add(conv(inner, channels, {}), inner);
    return conv(inner, between(1, 6), chance(80) ? Window() : window(inner));
  }
  case 6:
    // A residual, or nearly one.
    return addAnyOrder(conv(x, shapeOf(x)[3], window(x, /*keepsSize=*/true)),
                       x);
  case 7:
    return addAnyOrder(depthwise(x, 1, window(x, /*keepsSize=*/true)), x);
  case 8: {
    // Channels whose sizes differ, on both sides of a ReLU.
    Value inner = relu(batchNorm(conv(x, channels, window(x))));
    if (chance(30))
      inner = pool(inner);
    if (chance(30))
      inner = explicitPad(inner);
    return anyKernelOp(inner);
  }
  case 9: {
    Value inner = activation(x);
    if (chance(30))
      inner = pool(inner);
    if (chance(20))
      inner = explicitPad(inner);
    return anyKernelOp(inner);
  }
  case 10: {
    // torch-mlir: the batch norm works on NCHW.
    Value inner = transpose(anyKernelOp(x), {0, 3, 1, 2});
    inner = batchNorm(inner, 1);
    if (chance(50))
      inner = relu(inner);
    return transpose(inner, {0, 2, 3, 1});
  }
  case 11:
    return concat({relu(conv(x, channels, window(x, true))),
                   chance(50) ? x : activation(x)},
                  3);
  case 12:
    return add(anyKernelOp(x), number(x, uniform(-1, 1)));
  case 13:
    return pool(x);
  case 14: {
    Value inner = anyKernelOp(x);
    return add(inner, perChannel(inner, 3, -1, 1));
  }
  case 15: {
    // Two users of one value.
    Value inner = anyKernelOp(x);
    return add(relu(inner), batchNorm(inner));
  }
  case 16:
    return activation(x);
  case 17:
    return batchNorm(groups(x));
  default:
    return anyKernelOp(x);
  }
}

SmallVector<Value> Graph::make() {
  SmallVector<Value> results;
  size_t pieces = 2 + below(3);
  for (size_t i = 0; i != pieces; ++i) {
    Value before = value;
    value = piece(value);
    if (i != 0 && results.empty() && chance(15))
      results.push_back(before);
  }
  results.push_back(value);
  return results;
}

size_t mct::testing::numRandomGraphs() {
  const char *variable = std::getenv("MCT_RANDOM_GRAPHS");
  return variable ? std::strtoul(variable, nullptr, 10) : 100;
}

/// Lowering a function takes more time than in proportion to its ops.
static constexpr size_t kGraphsPerFunction = 10;

OwningOpRef<ModuleOp>
mct::testing::makeRandomGraphs(MLIRContext &context, size_t count,
                               unsigned seed, std::vector<size_t> &graphOf) {
  OpBuilder builder(&context);
  Location loc = builder.getUnknownLoc();
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  std::mt19937 random(seed);
  graphOf.clear();
  for (size_t first = 0; first < count; first += kGraphsPerFunction) {
    size_t size = std::min(kGraphsPerFunction, count - first);
    SmallVector<Type> inputs;
    for (size_t i = 0; i != size; ++i) {
      int64_t height = 2 + random() % 5, width = 2 + random() % 5,
              channels = 1 + random() % 4;
      inputs.push_back(RankedTensorType::get({1, height, width, channels},
                                             builder.getF32Type()));
    }
    builder.setInsertionPointToEnd(module->getBody());
    std::string name = first == 0 ? "main" : "main" + std::to_string(first);
    auto function = func::FuncOp::create(builder, loc, name,
                                         builder.getFunctionType(inputs, {}));
    Block *block = function.addEntryBlock();
    builder.setInsertionPointToStart(block);
    SmallVector<Value> results;
    for (BlockArgument argument : block->getArguments())
      for (Value result : Graph(builder, random(), argument).make()) {
        results.push_back(result);
        graphOf.push_back(first + argument.getArgNumber());
      }
    func::ReturnOp::create(builder, loc, results);
    function.setFunctionType(builder.getFunctionType(
        inputs, SmallVector<Type>(ValueRange(results).getTypes())));
  }
  return module;
}

//===----------------------------------------------------------------------===//
// The comparison
//===----------------------------------------------------------------------===//

namespace {
using Tensors = std::vector<std::vector<float>>;

Tensors allocate(ArrayRef<mct::execution::TensorSpec> specs) {
  Tensors tensors;
  for (const mct::execution::TensorSpec &spec : specs)
    tensors.emplace_back(spec.type.getNumElements());
  return tensors;
}

/// The results of all functions, one after the other, on fixed random inputs;
/// empty after an error.
Tensors run(ModuleOp module, unsigned seed) {
  std::mt19937 random(seed);
  Tensors results;
  for (auto function : module.getOps<func::FuncOp>()) {
    mct::execution::CompileOptions options;
    options.function = function.getSymName().str();
    options.simulateQuantization = false;
    options.unit = 1;
    auto executor = mct::execution::Executor::compile(module, options);
    if (failed(executor))
      return {};
    Tensors inputs = allocate((*executor)->inputs());
    Tensors outputs = allocate((*executor)->outputs());
    SmallVector<const void *> inputData;
    SmallVector<void *> outputData;
    for (std::vector<float> &input : inputs) {
      for (float &value : input)
        value = float(random() >> 8) * 0x1p-22f - 2;
      inputData.push_back(input.data());
    }
    for (std::vector<float> &output : outputs)
      outputData.push_back(output.data());
    mct::execution::Worker worker(**executor);
    llvm::cantFail(worker.run(inputData, outputData, (*executor)->unit()));
    llvm::append_range(results, outputs);
  }
  return results;
}

/// A number that is the same for results that are computed by equal ops in
/// equal ways.
llvm::hash_code fingerprint(Value value,
                            llvm::DenseMap<Value, llvm::hash_code> &known) {
  if (auto it = known.find(value); it != known.end())
    return it->second;
  llvm::hash_code hash = llvm::hash_value(0);
  if (Operation *op = value.getDefiningOp()) {
    hash = llvm::hash_combine(op->getName().getAsOpaquePointer(),
                              op->getAttrDictionary().getAsOpaquePointer(),
                              value.getType().getAsOpaquePointer());
    for (Value operand : op->getOperands())
      hash = llvm::hash_combine(hash, fingerprint(operand, known));
  } else {
    hash = llvm::hash_value(cast<BlockArgument>(value).getArgNumber());
  }
  known[value] = hash;
  return hash;
}

std::vector<llvm::hash_code> fingerprints(ModuleOp module) {
  std::vector<llvm::hash_code> hashes;
  llvm::DenseMap<Value, llvm::hash_code> known;
  for (auto function : module.getOps<func::FuncOp>())
    for (Value result :
         function.getBody().front().getTerminator()->getOperands())
      hashes.push_back(fingerprint(result, known));
  return hashes;
}
} // namespace

void mct::testing::expectSameFunction(StringRef pipeline, size_t leastChanged,
                                      const RandomGraphsOptions &options) {
  static const bool registered = [] {
    registerAllMctPasses();
    return true;
  }();
  (void)registered;
  DialectRegistry registry;
  execution::Executor::registerDependencies(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  std::vector<size_t> graphOf;
  size_t count = numRandomGraphs();
  OwningOpRef<ModuleOp> module =
      makeRandomGraphs(context, count, options.seed, graphOf);
  ASSERT_TRUE(succeeded(verify(*module)));

  // The results before any pass are those of all tests with one seed.
  static std::map<std::pair<size_t, unsigned>, Tensors> resultsBefore;
  Tensors &before = resultsBefore[{count, options.seed}];
  if (before.empty())
    before = run(*module, options.seed);
  ASSERT_EQ(before.size(), graphOf.size());

  if (options.prepare)
    options.prepare(*module);
  std::vector<llvm::hash_code> hashesBefore = fingerprints(*module);
  PassManager passManager(&context);
  ASSERT_TRUE(succeeded(parsePassPipeline(pipeline, passManager)));
  ASSERT_TRUE(succeeded(passManager.run(*module)));
  ASSERT_TRUE(succeeded(verify(*module)));
  std::vector<llvm::hash_code> hashesAfter = fingerprints(*module);
  Tensors after = run(*module, options.seed);
  ASSERT_EQ(before.size(), after.size());

  std::vector<bool> changed(count);
  for (size_t i = 0; i != before.size(); ++i) {
    if (hashesBefore[i] != hashesAfter[i])
      changed[graphOf[i]] = true;
    ASSERT_EQ(before[i].size(), after[i].size());
    float largest = 0;
    for (float value : before[i]) {
      ASSERT_TRUE(std::isfinite(value)) << "graph " << graphOf[i];
      largest = std::max(largest, std::abs(value));
    }
    size_t worst = 0;
    for (size_t element = 0; element != before[i].size(); ++element)
      if (!(std::abs(after[i][element] - before[i][element]) <=
            std::abs(after[i][worst] - before[i][worst])))
        worst = element;
    EXPECT_NEAR(before[i][worst], after[i][worst], options.tolerance * largest)
        << "seed " << options.seed << ", graph " << graphOf[i] << ", result "
        << i << ", element " << worst;
  }
  size_t numChanged = llvm::count(changed, true);
  ::testing::Test::RecordProperty("changed", int(numChanged));
  EXPECT_GE(100 * numChanged, leastChanged * count)
      << numChanged << " of " << count << " graphs changed";
}
