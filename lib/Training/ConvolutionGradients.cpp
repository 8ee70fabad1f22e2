// SPDX-License-Identifier: Apache-2.0
//
// Gradients of the convolutions of TOSA, which are convolutions, too. TOSA
// requires exact divisions when it computes the size of an output, so no
// positions are left over and the sizes below match without cutting.
#include "GradientModels.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"

using namespace mlir;
using namespace mct;

template <typename Op>
static Value biasGradient(Op op, GradientBuilder &b, Value g) {
  ArrayRef<int64_t> bias = GradientBuilder::shapeOf(op.getBias());
  SmallVector<int64_t> ones(GradientBuilder::shapeOf(g).size(), 1);
  // A single number may be used for all channels.
  if (bias.front() != 1)
    ones.back() = bias.front();
  return b.reshape(b.sumTo(g, ones), bias);
}

/// Inserts zeros between the elements of an output's gradient `g` for strides
/// larger than one, and cuts elements of windows that lie completely in the
/// padding. Returns the padding that is needed around it so that windows reach
/// over the borders of the input. `window`: spatial sizes of the kernel.
static SmallVector<int64_t> spread(GradientBuilder &b, Value &g,
                                   ArrayRef<int64_t> window,
                                   ArrayRef<int64_t> pad,
                                   ArrayRef<int64_t> stride,
                                   ArrayRef<int64_t> dilation) {
  SmallVector<int64_t> rest;
  for (size_t d = 0; d != window.size(); ++d) {
    int64_t axis = static_cast<int64_t>(d) + 1;
    g = b.stuff(g, axis, stride[d]);
    int64_t reach = (window[d] - 1) * dilation[d];
    int64_t before = reach - pad[2 * d], after = reach - pad[2 * d + 1];
    // Windows that lie completely in the padding read nothing.
    int64_t first = std::max<int64_t>(-before, 0);
    int64_t cut = first + std::max<int64_t>(-after, 0);
    g = b.sliceAxis(g, axis, first, GradientBuilder::shapeOf(g)[axis] - cut);
    rest.append({std::max<int64_t>(before, 0), std::max<int64_t>(after, 0)});
  }
  return rest;
}

/// Returns the permutation that swaps the first and the last axis: [a, space…,
/// b] becomes [b, space…, a].
static SmallVector<int32_t> endsSwapped(size_t space) {
  SmallVector<int32_t> permutation{static_cast<int32_t>(space) + 1};
  for (size_t d = 0; d != space; ++d)
    permutation.push_back(static_cast<int32_t>(d) + 1);
  permutation.push_back(0);
  return permutation;
}

/// Gradient of tosa.conv2d and tosa.conv3d.
template <typename Op>
static LogicalResult convolutionRule(Op op, GradientBuilder &b, Value g,
                                     OperandGradients &gradients) {
  if (failed(requireZero(op, {op.getInputZp(), op.getWeightZp()})))
    return failure();
  Value input = op.getInput(), kernel = op.getWeight();
  ArrayRef<int64_t> stride = op.getStride(), dilation = op.getDilation(),
                    pad = op.getPad();
  size_t space = stride.size();
  SmallVector<int64_t> window(GradientBuilder::shapeOf(kernel).slice(1, space));
  SmallVector<int32_t> swap = endsSwapped(space);
  SmallVector<int64_t> ones(space, 1);
  Type accumulator = op.getAccType();
  StringRef name = Op::getOperationName();
  if (gradients.isRequested(2))
    gradients.set(2, biasGradient(op, b, g));
  // The sums may have a wider type than the factors.
  g = b.cast(g, GradientBuilder::typeOf(input).getElementType());
  if (gradients.isRequested(0)) {
    bool isStrided =
        llvm::any_of(stride, [](int64_t step) { return step != 1; });
    bool reachesOut = true;
    for (size_t i = 0; i != pad.size(); ++i)
      reachesOut &= pad[i] <= (window[i / 2] - 1) * dilation[i / 2];
    if (space == 2 && isStrided && reachesOut) {
      // Avoid multiplying by zeros.
      Value spreadKernel = kernel;
      for (size_t d = 0; d != space; ++d)
        spreadKernel =
            b.stuff(spreadKernel, static_cast<int64_t>(d) + 1, dilation[d]);
      SmallVector<int64_t> outPad;
      for (int64_t size : pad)
        outPad.push_back(-size);
      gradients.set(0,
                    b.transposeConvolution(g, b.transpose(spreadKernel, swap),
                                           outPad, stride, accumulator));
    } else {
      Value apart = g, turned = b.transpose(kernel, swap);
      SmallVector<int64_t> rest =
          spread(b, apart, window, pad, stride, dilation);
      for (size_t d = 0; d != space; ++d)
        turned = b.reverse(turned, static_cast<int64_t>(d) + 1);
      gradients.set(0, b.convolution(name, apart, turned, rest, ones, dilation,
                                     accumulator));
    }
  }
  if (gradients.isRequested(1)) {
    // The gradient of the kernel is a convolution over the samples, with the
    // gradient as the kernel and with stride and dilation swapped.
    Value product =
        b.convolution(name, b.transpose(input, swap), b.transpose(g, swap), pad,
                      dilation, stride, accumulator);
    gradients.set(1, b.transpose(product, swap));
  }
  return success();
}

static LogicalResult depthwiseRule(tosa::DepthwiseConv2DOp op,
                                   GradientBuilder &b, Value g,
                                   OperandGradients &gradients) {
  if (failed(requireZero(op, {op.getInputZp(), op.getWeightZp()})))
    return failure();
  Value input = op.getInput(), kernel = op.getWeight();
  ArrayRef<int64_t> stride = op.getStride(), dilation = op.getDilation(),
                    pad = op.getPad();
  ArrayRef<int64_t> from = GradientBuilder::shapeOf(input);
  SmallVector<int64_t> sizes(GradientBuilder::shapeOf(kernel));
  int64_t samples = from[0], channels = sizes[2], multiplier = sizes[3];
  StringRef name = tosa::DepthwiseConv2DOp::getOperationName();
  Type accumulator = op.getAccType();
  if (gradients.isRequested(2))
    gradients.set(2, biasGradient(op, b, g));
  g = b.cast(g, GradientBuilder::typeOf(input).getElementType());
  if (gradients.isRequested(0)) {
    Value apart = g;
    SmallVector<int64_t> rest =
        spread(b, apart, {sizes[0], sizes[1]}, pad, stride, dilation);
    Value turned =
        b.reshape(kernel, {sizes[0], sizes[1], channels * multiplier, 1});
    turned = b.reverse(b.reverse(turned, 0), 1);
    Value gradient =
        b.convolution(name, apart, turned, rest, {1, 1}, dilation, accumulator);
    if (multiplier != 1)
      gradient = b.sum(b.reshape(gradient, {samples * from[1] * from[2],
                                            channels, multiplier}),
                       2);
    gradients.set(0, b.reshape(gradient, from));
  }
  if (gradients.isRequested(1)) {
    // Treat every channel of every sample as a separate channel.
    ArrayRef<int64_t> out = GradientBuilder::shapeOf(g);
    Value inputs = b.reshape(b.transpose(input, {1, 2, 0, 3}),
                             {1, from[1], from[2], samples * channels});
    Value kernels = b.reshape(b.transpose(g, {1, 2, 0, 3}),
                              {out[1], out[2], samples * channels, multiplier});
    Value product = b.convolution(name, inputs, kernels, pad, dilation, stride,
                                  accumulator);
    Value summed = b.sum(b.reshape(product, {sizes[0] * sizes[1], samples,
                                             channels * multiplier}),
                         1);
    gradients.set(1, b.reshape(summed, sizes));
  }
  return success();
}

static LogicalResult transposeConvolutionRule(tosa::TransposeConv2DOp op,
                                              GradientBuilder &b, Value g,
                                              OperandGradients &gradients) {
  if (failed(requireZero(op, {op.getInputZp(), op.getWeightZp()})))
    return failure();
  Value input = op.getInput(), kernel = op.getWeight();
  ArrayRef<int64_t> stride = op.getStride(), outPad = op.getOutPad();
  SmallVector<int32_t> swap = endsSwapped(2);
  Type accumulator = op.getAccType();
  StringRef name = tosa::Conv2DOp::getOperationName();
  if (gradients.isRequested(2))
    gradients.set(2, biasGradient(op, b, g));
  g = b.cast(g, GradientBuilder::typeOf(input).getElementType());
  // Elements that were added around the output depend only on the bias;
  // elements that were cut off have no gradient.
  SmallVector<int64_t> pad;
  for (int64_t d = 0; d != 2; ++d) {
    int64_t before = outPad[2 * d], after = outPad[2 * d + 1];
    int64_t first = std::max<int64_t>(before, 0);
    int64_t cut = first + std::max<int64_t>(after, 0);
    g = b.sliceAxis(g, d + 1, first, GradientBuilder::shapeOf(g)[d + 1] - cut);
    pad.append({std::max<int64_t>(-before, 0), std::max<int64_t>(-after, 0)});
  }
  if (gradients.isRequested(0))
    gradients.set(0, b.convolution(name, g, b.transpose(kernel, swap), pad,
                                   stride, {1, 1}, accumulator));
  if (gradients.isRequested(1))
    gradients.set(1, b.convolution(name, b.transpose(g, swap),
                                   b.transpose(input, swap), pad, {1, 1},
                                   stride, accumulator));
  return success();
}

void mct::attachConvolutionGradients(MLIRContext *context) {
  attachRules<convolutionRule<tosa::Conv2DOp>, convolutionRule<tosa::Conv3DOp>,
              depthwiseRule, transposeConvolutionRule>(context);
}
