// SPDX-License-Identifier: Apache-2.0
//
// Convolutions, matrix products and pools, and what networks put around them.
#include "NetworkGenerator.h"

#include "mlir/AsmParser/AsmParser.h"
#include "tpc_dialect/IR/TpcDialect.h"

using namespace mlir;
using namespace mct::testing::generator;

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
  if (!keepsBatch && !onlyQuantizedKernels && random.chance(8))
    return kernelArgument(shape);
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
  if (random.chance(50) && !scalableKernels)
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

/// A kernel that comes from outside.
Value Network::kernelArgument(ArrayRef<int64_t> shape) {
  Block &body = *builder.getInsertionBlock();
  Value argument = body.addArgument(
      floats(shape), name("a" + std::to_string(body.getNumArguments())));
  return known(argument, -2, 2);
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

/// x + conv(relu(conv(relu(x)))), with x read before and after.
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

/// Makes a chain that the executor fuses into one kernel, or one that looks
/// like it.
Value Network::fusedChain() {
  Value image = chooseImage();
  if (!image || countOf(shapeOf(image)) > kLargestTensor / 2)
    return {};
  size_t form = random.below(10);
  Value value = form < 6
                    ? conv(image, random.between(1, 6), window(image, false))
                : form < 8 ? depthwise(image, window(image, false))
                           : transposeConv(image);
  if (random.chance(20))
    offer(value);
  if (random.chance(30))
    value = maybePoint(value, 100);
  if (random.chance(50)) {
    Value other = chooseShaped(f32(), shapeOf(value));
    if (!other && random.chance(40))
      other = constant(floats(shapeOf(value)), -1, 1);
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
