// SPDX-License-Identifier: Apache-2.0
#include "Pooling.h"

#include <algorithm>

using namespace mct::execution;

namespace {

struct Range {
  int64_t begin, end;
};

/// Part of a window that is inside the input.
Range clip(int64_t position, int64_t stride, int64_t pad, int64_t kernel,
           int64_t size) {
  int64_t begin = position * stride - pad;
  return {std::max<int64_t>(begin, 0), std::min(begin + kernel, size)};
}

/// The channels are the innermost dimension, so the loop over them is the one
/// that becomes vector code; the window runs outside of it.
template <typename Element, typename Combine, typename Finish>
void pool(const PoolingShape &shape, const Element *input, Element *output,
          Combine combine, Finish finish) {
  const int64_t channels = shape.channels;
  for (int64_t n = 0; n < shape.batch; ++n) {
    const Element *image =
        input + n * shape.inputHeight * shape.inputWidth * channels;
    for (int64_t y = 0; y < shape.outputHeight; ++y) {
      Range rows = clip(y, shape.strideHeight, shape.padTop, shape.kernelHeight,
                        shape.inputHeight);
      for (int64_t x = 0; x < shape.outputWidth; ++x, output += channels) {
        Range columns = clip(x, shape.strideWidth, shape.padLeft,
                             shape.kernelWidth, shape.inputWidth);
        bool first = true;
        for (int64_t row = rows.begin; row < rows.end; ++row)
          for (int64_t column = columns.begin; column < columns.end; ++column) {
            const Element *pixel =
                image + (row * shape.inputWidth + column) * channels;
            if (first)
              std::copy(pixel, pixel + channels, output);
            else
              for (int64_t c = 0; c < channels; ++c)
                output[c] = combine(output[c], pixel[c]);
            first = false;
          }
        finish(output, (rows.end - rows.begin) * (columns.end - columns.begin));
      }
    }
  }
}

} // namespace

void mct::execution::averagePool(const PoolingShape &shape, const float *input,
                                 float *output) {
  pool(
      shape, input, output, [](float sum, float value) { return sum + value; },
      [&](float *pixel, int64_t count) {
        for (int64_t c = 0; c < shape.channels; ++c)
          pixel[c] /= static_cast<float>(count);
      });
}

void mct::execution::maximumPool(const PoolingShape &shape, const float *input,
                                 float *output) {
  pool(
      shape, input, output,
      [](float best, float value) {
        // True for a NaN in `best` too, false for one in `value`.
        return !(best < value) && value == value ? best : value;
      },
      [](float *, int64_t) {});
}

void mct::execution::maximumPool(const PoolingShape &shape, const int8_t *input,
                                 int8_t *output) {
  pool(
      shape, input, output,
      [](int8_t best, int8_t value) { return std::max(best, value); },
      [](int8_t *, int64_t) {});
}
