// SPDX-License-Identifier: Apache-2.0
#include "mct/Training/Gradients.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"

#include <numeric>

using namespace mlir;
using namespace mct;

/// Returns the products of the sizes before an axis, of the axis, and after it.
static std::array<int64_t, 3> splitAt(ArrayRef<int64_t> shape, int64_t axis) {
  return {ShapedType::getNumElements(shape.take_front(axis)), shape[axis],
          ShapedType::getNumElements(shape.drop_front(axis + 1))};
}

static SmallVector<int64_t> withSize(ArrayRef<int64_t> shape, int64_t axis,
                                     int64_t size) {
  SmallVector<int64_t> changed(shape);
  changed[axis] = size;
  return changed;
}

Value GradientBuilder::make(StringRef op, Type type, ValueRange operands,
                            ArrayRef<NamedAttribute> attributes) {
  OperationState state(getLoc(), op, operands, type, attributes);
  return OpBuilder::create(state)->getResult(0);
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

static APFloat convert(double number, FloatType type) {
  APFloat converted(number);
  bool losesInfo;
  converted.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                    &losesInfo);
  return converted;
}

Value GradientBuilder::splat(double number, RankedTensorType type) {
  auto element = mlir::cast<FloatType>(type.getElementType());
  return tosa::ConstOp::create(
      *this, type, DenseElementsAttr::get(type, convert(number, element)));
}

Value GradientBuilder::number(double value, Value like) {
  RankedTensorType type = typeOf(like);
  return splat(value, type.clone(SmallVector<int64_t>(type.getRank(), 1)));
}

Value GradientBuilder::constant(ArrayRef<double> numbers,
                                ArrayRef<int64_t> shape, Value like) {
  auto element = mlir::cast<FloatType>(typeOf(like).getElementType());
  auto type = RankedTensorType::get(shape, element);
  SmallVector<APFloat> values;
  for (double number : numbers)
    values.push_back(convert(number, element));
  return tosa::ConstOp::create(*this, type,
                               DenseElementsAttr::get(type, values));
}

Value GradientBuilder::iota(int64_t count) {
  auto type = RankedTensorType::get({1, 1, count}, getI32Type());
  SmallVector<int32_t> values(count);
  std::iota(values.begin(), values.end(), 0);
  return tosa::ConstOp::create(
      *this, type, DenseElementsAttr::get(type, ArrayRef<int32_t>(values)));
}

Value GradientBuilder::scalar(double value, Type element) {
  return splat(value, RankedTensorType::get({1}, element));
}

Value GradientBuilder::shapeConstant(ArrayRef<int64_t> sizes) {
  auto type =
      tosa::shapeType::get(getContext(), static_cast<int>(sizes.size()));
  return tosa::ConstShapeOp::create(*this, type, getIndexTensorAttr(sizes));
}

//===----------------------------------------------------------------------===//
// Element by element
//===----------------------------------------------------------------------===//

Value GradientBuilder::unary(StringRef op, Value a) {
  return make(op, a.getType(), a);
}

static RankedTensorType repeated(Value a, Value b, Type element) {
  SmallVector<int64_t> shape(GradientBuilder::shapeOf(a));
  for (auto [size, other] : llvm::zip(shape, GradientBuilder::shapeOf(b)))
    size = size == 1 ? other : size;
  return RankedTensorType::get(shape, element);
}

Value GradientBuilder::binary(StringRef op, Value a, Value b) {
  return make(op, repeated(a, b, typeOf(a).getElementType()), {a, b});
}

Value GradientBuilder::mul(Value a, Value b) {
  auto type = RankedTensorType::get({1}, getI8Type());
  Value shift = tosa::ConstOp::create(
      *this, type, DenseElementsAttr::get(type, static_cast<int8_t>(0)));
  return make("tosa.mul", repeated(a, b, typeOf(a).getElementType()),
              {a, b, shift});
}

Value GradientBuilder::negate(Value a) {
  Value zero = scalar(0, typeOf(a).getElementType());
  return make("tosa.negate", a.getType(), {a, zero, zero});
}

Value GradientBuilder::greater(Value a, Value b) {
  return make("tosa.greater", repeated(a, b, getI1Type()), {a, b});
}
Value GradientBuilder::greaterEqual(Value a, Value b) {
  return make("tosa.greater_equal", repeated(a, b, getI1Type()), {a, b});
}
Value GradientBuilder::equal(Value a, Value b) {
  return make("tosa.equal", repeated(a, b, getI1Type()), {a, b});
}

Value GradientBuilder::select(Value truth, Value a, Value b) {
  RankedTensorType type = repeated(a, b, typeOf(a).getElementType());
  SmallVector<int64_t> shape(type.getShape());
  for (auto [size, other] : llvm::zip(shape, shapeOf(truth)))
    size = size == 1 ? other : size;
  return make("tosa.select", type.clone(shape), {truth, a, b});
}

Value GradientBuilder::indicator(Value truth, Value like) {
  return cast(truth, typeOf(like).getElementType());
}

Value GradientBuilder::cast(Value a, Type element) {
  if (typeOf(a).getElementType() == element)
    return a;
  return make("tosa.cast", typeOf(a).clone(element), a);
}

//===----------------------------------------------------------------------===//
// Sums and movements
//===----------------------------------------------------------------------===//

Value GradientBuilder::reduce(StringRef op, Value a, int64_t axis) {
  return make(op, typeOf(a).clone(withSize(shapeOf(a), axis, 1)), a,
              getNamedAttr("axis", getI32IntegerAttr(axis)));
}

Value GradientBuilder::sumTo(Value a, ArrayRef<int64_t> shape) {
  for (auto [axis, size] : llvm::enumerate(shape))
    if (size == 1 && shapeOf(a)[axis] != 1)
      a = sum(a, axis);
  return a;
}

Value GradientBuilder::repeatTo(Value a, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> multiples(shape.size(), 1);
  for (auto [axis, size] : llvm::enumerate(shape))
    if (shapeOf(a)[axis] != size)
      multiples[axis] = size;
  if (shapeOf(a) == shape)
    return a;
  return make("tosa.tile", typeOf(a).clone(shape),
              {a, shapeConstant(multiples)});
}

Value GradientBuilder::reshape(Value a, ArrayRef<int64_t> shape) {
  if (shapeOf(a) == shape)
    return a;
  return make("tosa.reshape", typeOf(a).clone(shape),
              {a, shapeConstant(shape)});
}

Value GradientBuilder::transpose(Value a, ArrayRef<int32_t> permutation) {
  SmallVector<int64_t> shape;
  for (int32_t axis : permutation)
    shape.push_back(shapeOf(a)[axis]);
  return make("tosa.transpose", typeOf(a).clone(shape), a,
              getNamedAttr("perms", getDenseI32ArrayAttr(permutation)));
}

Value GradientBuilder::reverse(Value a, int64_t axis) {
  // Reversing an axis of one element changes nothing.
  if (shapeOf(a)[axis] == 1)
    return a;
  return make("tosa.reverse", a.getType(), a,
              getNamedAttr("axis", getI32IntegerAttr(axis)));
}

Value GradientBuilder::slice(Value a, ArrayRef<int64_t> start,
                             ArrayRef<int64_t> size) {
  if (shapeOf(a) == size)
    return a;
  return make("tosa.slice", typeOf(a).clone(size),
              {a, shapeConstant(start), shapeConstant(size)});
}

Value GradientBuilder::sliceAxis(Value a, int64_t axis, int64_t start,
                                 int64_t size) {
  SmallVector<int64_t> starts(shapeOf(a).size(), 0);
  starts[axis] = start;
  return slice(a, starts, withSize(shapeOf(a), axis, size));
}

Value GradientBuilder::pad(Value a, ArrayRef<int64_t> before,
                           ArrayRef<int64_t> after, double number) {
  SmallVector<int64_t> shape, padding;
  for (auto [size, low, high] : llvm::zip(shapeOf(a), before, after)) {
    shape.push_back(size + low + high);
    padding.append({low, high});
  }
  if (shapeOf(a) == ArrayRef<int64_t>(shape))
    return a;
  return make(
      "tosa.pad", typeOf(a).clone(shape),
      {a, shapeConstant(padding), scalar(number, typeOf(a).getElementType())});
}

Value GradientBuilder::padAxis(Value a, int64_t axis, int64_t before,
                               int64_t after) {
  SmallVector<int64_t> low(shapeOf(a).size(), 0), high(shapeOf(a).size(), 0);
  low[axis] = before;
  high[axis] = after;
  return pad(a, low, high);
}

Value GradientBuilder::stuff(Value a, int64_t axis, int64_t stride) {
  SmallVector<int64_t> shape(shapeOf(a));
  auto [outer, count, inner] = splitAt(shape, axis);
  if (stride == 1 || count <= 1)
    return a;
  Value apart = padAxis(reshape(a, {outer, count, 1, inner}), 2, 0, stride - 1);
  Value joined = sliceAxis(reshape(apart, {outer, count * stride, inner}), 1, 0,
                           (count - 1) * stride + 1);
  return reshape(joined, withSize(shape, axis, (count - 1) * stride + 1));
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

Value GradientBuilder::matmul(Value a, Value b) {
  Value zero = scalar(0, typeOf(a).getElementType());
  return make("tosa.matmul",
              typeOf(a).clone({shapeOf(a)[0], shapeOf(a)[1], shapeOf(b)[2]}),
              {a, b, zero, zero});
}

Value GradientBuilder::convolution(StringRef op, Value input, Value kernel,
                                   ArrayRef<int64_t> pad,
                                   ArrayRef<int64_t> stride,
                                   ArrayRef<int64_t> dilation,
                                   Type accumulator) {
  bool isDepthwise = op == "tosa.depthwise_conv2d";
  ArrayRef<int64_t> from = shapeOf(input), window = shapeOf(kernel);
  SmallVector<int64_t> shape{from.front()};
  for (size_t d = 0; d != stride.size(); ++d)
    shape.push_back((from[d + 1] - 1 + pad[2 * d] + pad[2 * d + 1] -
                     (window[isDepthwise ? d : d + 1] - 1) * dilation[d]) /
                        stride[d] +
                    1);
  shape.push_back(isDepthwise ? window[2] * window[3] : window.front());
  Value zero = scalar(0, typeOf(input).getElementType());
  return make(op, typeOf(input).clone(shape), {input, kernel, zero, zero, zero},
              {getNamedAttr("pad", getDenseI64ArrayAttr(pad)),
               getNamedAttr("stride", getDenseI64ArrayAttr(stride)),
               getNamedAttr("dilation", getDenseI64ArrayAttr(dilation)),
               getNamedAttr("acc_type", TypeAttr::get(accumulator))});
}

Value GradientBuilder::transposeConvolution(Value input, Value kernel,
                                            ArrayRef<int64_t> outPad,
                                            ArrayRef<int64_t> stride,
                                            Type accumulator) {
  ArrayRef<int64_t> from = shapeOf(input), window = shapeOf(kernel);
  SmallVector<int64_t> shape{from.front()};
  for (size_t d = 0; d != 2; ++d)
    shape.push_back((from[d + 1] - 1) * stride[d] + outPad[2 * d] +
                    outPad[2 * d + 1] + window[d + 1]);
  shape.push_back(window.front());
  Value zero = scalar(0, typeOf(input).getElementType());
  return make("tosa.transpose_conv2d", typeOf(input).clone(shape),
              {input, kernel, zero, zero, zero},
              {getNamedAttr("out_pad", getDenseI64ArrayAttr(outPad)),
               getNamedAttr("stride", getDenseI64ArrayAttr(stride)),
               getNamedAttr("acc_type", TypeAttr::get(accumulator))});
}
