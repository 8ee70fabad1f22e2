// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_QUANTIZATION_MATRIXPRODUCT_H
#define MCT_QUANTIZATION_MATRIXPRODUCT_H

#include "mct/Support/Threads.h"

#include <cstdint>

namespace mct::quantization {

/// A matrix whose element (row, column) is
/// `data[row * rowStride + column * columnStride]`.
struct FloatMatrix {
  const float *data;
  int64_t rowStride, columnStride;
};

/// A row-major matrix that is written.
struct FloatProduct {
  float *data;
  int64_t rows, columns;
};

/// Writes the product of `left`, with `inner` columns, and `right`, with
/// `inner` rows. Each element is the sum of its products in double, added one
/// after the other and rounded once: it depends neither on `threads` nor on the
/// machine.
void multiplyMatrices(const FloatMatrix &left, const FloatMatrix &right,
                      int64_t inner, const FloatProduct &product,
                      const support::Threads &threads = 1);

} // namespace mct::quantization

#endif // MCT_QUANTIZATION_MATRIXPRODUCT_H
