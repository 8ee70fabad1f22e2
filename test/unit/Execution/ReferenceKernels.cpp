// SPDX-License-Identifier: Apache-2.0
//
// Convolutions, matrix products and pools.
#include "ReferenceOps.h"

using namespace mlir;
using namespace mct::testing;
using namespace mct::testing::reference;

/// Puts the end of a convolution's sum into the result.
void Evaluation::finish(size_t i, const Sum &sum, const Number &bias) {
  if (!isFloat(element())) {
    result.numbers[i] = {
        double(wrap(int64_t(sum.value + bias.value), widthOf(element()))),
        sum.propagated == 0 && bias.isExact() ? 0 : kInfinity};
    return;
  }
  result.terms = std::max(result.terms, sum.terms + 1);
  if (sum.magnitude == 0) {
    result.numbers[i] = bias;
    return;
  }
  Sum all = sum;
  all.add(bias);
  result.numbers[i] = all.finish();
}

/// Direct convolution over `spatial` dimensions after the batch.
void Evaluation::convolution(int64_t spatial, bool depthwise) {
  const ReferenceTensor &x = input(0), &w = input(1), &b = input(2);
  double xZero = zeroPoint(input(3)), wZero = zeroPoint(input(4));
  auto pad = op.getAttrOfType<DenseI64ArrayAttr>("pad").asArrayRef();
  auto stride = op.getAttrOfType<DenseI64ArrayAttr>("stride").asArrayRef();
  auto dilation = op.getAttrOfType<DenseI64ArrayAttr>("dilation").asArrayRef();
  Index window(depthwise ? ArrayRef<int64_t>(w.shape).take_front(spatial)
                         : ArrayRef<int64_t>(w.shape).slice(1, spatial));
  int64_t inputs = x.shape.back();
  for (size_t i = 0; i != result.numbers.size(); ++i) {
    Index out = unflatten(result.shape, int64_t(i));
    int64_t channel = out.back();
    Sum sum;
    for (int64_t k = 0; k != countOf(window); ++k) {
      Index tap = unflatten(window, k);
      Index place{out[0]};
      bool inside = true;
      for (int64_t d = 0; d != spatial; ++d) {
        place.push_back(out[1 + d] * stride[d] - pad[2 * d] +
                        tap[d] * dilation[d]);
        inside &= place.back() >= 0 && place.back() < x.shape[1 + d];
      }
      if (!inside)
        continue;
      place.push_back(0);
      int64_t multiplier = depthwise ? w.shape.back() : 1;
      int64_t first = depthwise ? channel / multiplier : 0;
      int64_t last = depthwise ? first + 1 : inputs;
      for (int64_t c = first; c != last; ++c) {
        place.back() = c;
        Index weight;
        if (depthwise) {
          weight.assign(tap.begin(), tap.end());
          weight.push_back(c);
          weight.push_back(channel % multiplier);
        } else {
          weight.push_back(channel);
          weight.append(tap.begin(), tap.end());
          weight.push_back(c);
        }
        sum.addProduct(less(x.numbers[flatten(x.shape, place)], xZero),
                       less(w.numbers[flatten(w.shape, weight)], wZero));
      }
    }
    finish(i, sum, b.numbers[b.numbers.size() == 1 ? 0 : channel]);
  }
}

void Evaluation::transposeConvolution(tosa::TransposeConv2DOp conv) {
  const ReferenceTensor &x = input(0), &w = input(1), &b = input(2);
  double xZero = zeroPoint(input(3)), wZero = zeroPoint(input(4));
  ArrayRef<int64_t> pad = conv.getOutPad(), stride = conv.getStride();
  std::vector<Sum> sums(result.numbers.size());
  // Follows the specification: every input is added to the outputs that it
  // reaches.
  for (int64_t n = 0; n != x.shape[0]; ++n)
    for (int64_t iy = 0; iy != x.shape[1]; ++iy)
      for (int64_t ix = 0; ix != x.shape[2]; ++ix)
        for (int64_t ky = 0; ky != w.shape[1]; ++ky)
          for (int64_t kx = 0; kx != w.shape[2]; ++kx) {
            int64_t oy = iy * stride[0] + pad[0] + ky,
                    ox = ix * stride[1] + pad[2] + kx;
            if (oy < 0 || ox < 0 || oy >= result.shape[1] ||
                ox >= result.shape[2])
              continue;
            for (int64_t oc = 0; oc != w.shape[0]; ++oc)
              for (int64_t ic = 0; ic != w.shape[3]; ++ic)
                sums[flatten(result.shape, {n, oy, ox, oc})].addProduct(
                    less(x.numbers[flatten(x.shape, {n, iy, ix, ic})], xZero),
                    less(w.numbers[flatten(w.shape, {oc, ky, kx, ic})], wZero));
          }
  for (size_t i = 0; i != sums.size(); ++i)
    finish(i, sums[i],
           b.numbers[b.numbers.size() == 1 ? 0 : i % result.shape.back()]);
}

void Evaluation::matmul() {
  const ReferenceTensor &a = input(0), &b = input(1);
  double aZero = zeroPoint(input(2)), bZero = zeroPoint(input(3));
  for (size_t i = 0; i != result.numbers.size(); ++i) {
    Index out = unflatten(result.shape, int64_t(i));
    Sum sum;
    for (int64_t k = 0; k != a.shape[2]; ++k)
      sum.addProduct(
          less(a.numbers[flatten(a.shape, {out[0], out[1], k})], aZero),
          less(b.numbers[flatten(b.shape, {out[0], k, out[2]})], bZero));
    finish(i, sum, {0, 0});
  }
}

void Evaluation::averagePool(tosa::AvgPool2dOp pool) {
  const ReferenceTensor &x = input(0);
  double inZero = zeroPoint(input(1)), outZero = zeroPoint(input(2));
  for (size_t i = 0; i != result.numbers.size(); ++i) {
    Index out = unflatten(result.shape, int64_t(i));
    Sum sum;
    for (int64_t ky = 0; ky != pool.getKernel()[0]; ++ky)
      for (int64_t kx = 0; kx != pool.getKernel()[1]; ++kx) {
        int64_t y = out[1] * pool.getStride()[0] - pool.getPad()[0] + ky,
                column = out[2] * pool.getStride()[1] - pool.getPad()[2] + kx;
        if (y >= 0 && column >= 0 && y < x.shape[1] && column < x.shape[2])
          sum.add(less(x.numbers[flatten(x.shape, {out[0], y, column, out[3]})],
                       inZero));
      }
    if (isFloat(element())) {
      Number total = sum.finish(2);
      result.numbers[i] = checked(total.value / double(sum.terms),
                                  total.error / double(sum.terms));
      continue;
    }
    auto [multiplier, shift] = reciprocalScale(uint32_t(sum.terms));
    int64_t mean = applyScale(int64_t(sum.value), multiplier, shift, false);
    result.numbers[i] = {double(std::clamp(mean + int64_t(outZero),
                                           smallestOf(widthOf(element())),
                                           largestOf(widthOf(element())))),
                         sum.propagated == 0 ? 0 : kInfinity};
  }
}

void Evaluation::maximumPool(tosa::MaxPool2dOp pool) {
  const ReferenceTensor &x = input(0);
  for (size_t i = 0; i != result.numbers.size(); ++i) {
    Index out = unflatten(result.shape, int64_t(i));
    std::optional<Number> best;
    for (int64_t ky = 0; ky != pool.getKernel()[0]; ++ky)
      for (int64_t kx = 0; kx != pool.getKernel()[1]; ++kx) {
        int64_t y = out[1] * pool.getStride()[0] - pool.getPad()[0] + ky,
                column = out[2] * pool.getStride()[1] - pool.getPad()[2] + kx;
        if (y < 0 || column < 0 || y >= x.shape[1] || column >= x.shape[2])
          continue;
        const Number &number =
            x.numbers[flatten(x.shape, {out[0], y, column, out[3]})];
        best = best ? largest(*best, number) : number;
      }
    result.numbers[i] = *best;
  }
}
