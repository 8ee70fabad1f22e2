// SPDX-License-Identifier: Apache-2.0
//
// Gradients of pooling and resizing in TOSA.
#include "GradientModels.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "llvm/Support/MathExtras.h"

#include <array>

using namespace mlir;
using namespace mct;

static LogicalResult averagePoolRule(tosa::AvgPool2dOp op, GradientBuilder &b,
                                     Value g, OperandGradients &gradients) {
  if (failed(requireZero(op, {op.getInputZp(), op.getOutputZp()})))
    return failure();
  ArrayRef<int64_t> from = GradientBuilder::shapeOf(op.getInput()),
                    to = GradientBuilder::shapeOf(g);
  ArrayRef<int64_t> kernel = op.getKernel(), stride = op.getStride(),
                    pad = op.getPad();
  // Means are over the elements of the window that are inside of the input.
  auto elements = [&](int64_t position, size_t d) {
    int64_t first = position * stride[d] - pad[2 * d];
    return std::min(from[d + 1], first + kernel[d]) -
           std::max<int64_t>(first, 0);
  };
  SmallVector<double> weights;
  for (int64_t y = 0; y != to[1]; ++y)
    for (int64_t x = 0; x != to[2]; ++x)
      weights.push_back(1.0 /
                        static_cast<double>(elements(y, 0) * elements(x, 1)));
  Value spread = b.mul(g, llvm::all_equal(weights)
                              ? b.number(weights.front(), g)
                              : b.constant(weights, {1, to[1], to[2], 1}, g));
  SmallVector<int64_t> rest;
  for (int64_t d = 0; d != 2; ++d) {
    spread = b.stuff(spread, d + 1, stride[d]);
    // The verifier ensures that a pad is smaller than the kernel.
    rest.append({kernel[d] - 1 - pad[2 * d], kernel[d] - 1 - pad[2 * d + 1]});
  }
  Value ones = b.splat(
      1, GradientBuilder::typeOf(g).clone({kernel[0], kernel[1], from[3], 1}));
  gradients.set(0, b.convolution("tosa.depthwise_conv2d", spread, ones, rest,
                                 {1, 1}, {1, 1}, op.getAccType()));
  return success();
}

/// Concatenates values of the same shape along an axis.
static Value join(GradientBuilder &b, ArrayRef<Value> values, int64_t axis) {
  if (values.size() == 1)
    return values.front();
  RankedTensorType type = GradientBuilder::typeOf(values.front());
  SmallVector<int64_t> shape(type.getShape());
  shape[axis] *= static_cast<int64_t>(values.size());
  return b.make("tosa.concat", type.clone(shape), values,
                b.getNamedAttr("axis", b.getI32IntegerAttr(axis)));
}

/// The first of several maxima in a window, in row-major order, gets the whole
/// gradient.
static LogicalResult maxPoolRule(tosa::MaxPool2dOp op, GradientBuilder &b,
                                 Value g, OperandGradients &gradients) {
  Value input = op.getInput();
  ArrayRef<int64_t> from = GradientBuilder::shapeOf(input),
                    to = GradientBuilder::shapeOf(g);
  ArrayRef<int64_t> kernel = op.getKernel(), stride = op.getStride(),
                    pad = op.getPad();
  auto type = cast<FloatType>(GradientBuilder::typeOf(input).getElementType());
  double lowest =
      -APFloat::getLargest(type.getFloatSemantics()).convertToDouble();
  // Divide the image into cells of the size of the stride, with separate
  // dimensions: element [n, y, i, x, j, c] is in row y * stride + i.
  std::array<int64_t, 2> cells, rest;
  for (size_t d = 0; d != 2; ++d) {
    cells[d] = to[d + 1] + (kernel[d] - 1) / stride[d];
    rest[d] = cells[d] * stride[d] - pad[2 * d] - from[d + 1];
  }
  SmallVector<int64_t> before{0, pad[0], pad[2], 0};
  SmallVector<int64_t> apart{from[0],  cells[0],  stride[0],
                             cells[1], stride[1], from[3]};
  Value padded =
      b.reshape(b.pad(input, before, {0, rest[0], rest[1], 0}, lowest), apart);
  SmallVector<int64_t> tapShape{from[0], to[1], 1, to[2], 1, from[3]};
  SmallVector<int64_t> cellShape{from[0], cells[0], 1, cells[1], 1, from[3]};
  // Gradient that each element of a cell gets; null if it gets none.
  SmallVector<SmallVector<Value>> sums(stride[0],
                                       SmallVector<Value>(stride[1], nullptr));
  Value largest = b.reshape(op.getOutput(), tapShape);
  // Gradient that has not been assigned to an element.
  Value left = b.reshape(g, tapShape);
  for (int64_t y = 0; y != kernel[0]; ++y)
    for (int64_t x = 0; x != kernel[1]; ++x) {
      int64_t row = y / stride[0], column = x / stride[1];
      Value tap = b.slice(
          padded, {0, row, y % stride[0], column, x % stride[1], 0}, tapShape);
      Value isLargest = b.equal(tap, largest);
      Value part = b.where(isLargest, left);
      left = b.where(b.isNot(isLargest), left);
      part = b.pad(
          part, {0, row, 0, column, 0, 0},
          {0, cells[0] - to[1] - row, 0, cells[1] - to[2] - column, 0, 0});
      Value &sum = sums[y % stride[0]][x % stride[1]];
      sum = sum ? b.add(sum, part) : part;
    }
  SmallVector<Value> rows;
  for (SmallVector<Value> &columns : sums) {
    for (Value &sum : columns)
      if (!sum)
        sum = b.splat(0, GradientBuilder::typeOf(g).clone(cellShape));
    rows.push_back(join(b, columns, 4));
  }
  Value whole = b.reshape(join(b, rows, 2), {from[0], cells[0] * stride[0],
                                             cells[1] * stride[1], from[3]});
  gradients.set(0, b.slice(whole, before, from));
  return success();
}

/// Returns the weight of each of `inputs` elements in each of `outputs`,
/// transposed: [inputs, outputs].
static SmallVector<double> interpolation(int64_t inputs, int64_t outputs,
                                         int64_t numerator, int64_t denominator,
                                         int64_t offset, bool isNearest) {
  SmallVector<double> weights(inputs * outputs, 0.0);
  for (int64_t to = 0; to != outputs; ++to) {
    int64_t position = to * denominator + offset;
    int64_t whole = llvm::divideFloorSigned(position, numerator);
    double part = static_cast<double>(position - whole * numerator) /
                  static_cast<double>(numerator);
    if (isNearest)
      part = part >= 0.5 ? 1 : 0;
    int64_t first = std::clamp<int64_t>(whole, 0, inputs - 1);
    int64_t second = std::clamp<int64_t>(whole + 1, 0, inputs - 1);
    weights[first * outputs + to] += 1 - part;
    weights[second * outputs + to] += part;
  }
  return weights;
}

static LogicalResult resizeRule(tosa::ResizeOp op, GradientBuilder &b, Value g,
                                OperandGradients &gradients) {
  SmallVector<int64_t> scale = readSizes(op.getScale()),
                       offset = readSizes(op.getOffset());
  ArrayRef<int64_t> from = GradientBuilder::shapeOf(op.getInput());
  SmallVector<int64_t> to(GradientBuilder::shapeOf(g));
  bool isNearest = op.getMode() == tosa::ResizeMode::NEAREST_NEIGHBOR;
  // Rows and columns are interpolated separately, by products with constant
  // matrices along the leading axis.
  auto along = [&](Value value, int64_t d, ArrayRef<int64_t> others) {
    int64_t inputs = from[d + 1], outputs = to[d + 1];
    int64_t rest = ShapedType::getNumElements(others);
    Value weights =
        b.constant(interpolation(inputs, outputs, scale[2 * d],
                                 scale[2 * d + 1], offset[d], isNearest),
                   {1, inputs, outputs}, g);
    SmallVector<int64_t> shape{inputs};
    shape.append(others.begin(), others.end());
    return b.reshape(b.matmul(weights, b.reshape(value, {1, outputs, rest})),
                     shape);
  };
  Value rows = along(b.transpose(g, {1, 0, 2, 3}), 0, {to[0], to[2], to[3]});
  Value columns =
      along(b.transpose(rows, {2, 0, 1, 3}), 1, {from[1], to[0], to[3]});
  gradients.set(0, b.transpose(columns, {2, 1, 0, 3}));
  return success();
}

void mct::attachPoolingGradients(MLIRContext *context) {
  attachRules<averagePoolRule, maxPoolRule, resizeRule>(context);
}
