// SPDX-License-Identifier: Apache-2.0
//
// Products of dense matrices and Cholesky factors. Each element is the sum of
// its products in a fixed order, whatever the sizes of the registers are: AVX2
// and AVX-512 give the same bits. Without either, products are rounded before
// they are added.
#ifndef MCT_LIB_QUANTIZATION_DENSEALGEBRA_H
#define MCT_LIB_QUANTIZATION_DENSEALGEBRA_H

#include "mct/Support/AlignedBuffer.h"
#include "mct/Support/Threads.h"

#include <cstddef>
#include <cstdint>

namespace mct::quantization {

/// An operand of a product. Its element (row, column) is
/// `data[row * rowStride + column * columnStride]`.
template <typename T> struct Operand {
  const T *data;
  int64_t rowStride, columnStride;
};

/// A matrix that is written: rows lie `stride` elements apart.
template <typename T> struct Result {
  T *data;
  int64_t rows, columns, stride;
};

/// Adds products to matrices, and keeps the memory of packed operands for the
/// next one.
class ProductAdder {
public:
  /// Adds `factor * left * right` to `result`, where `left` has `inner` columns
  /// and `right` has `inner` rows. `factor` is 1 or -1. The result overlaps
  /// neither operand.
  void add(float factor, const Operand<float> &left,
           const Operand<float> &right, int64_t inner,
           const Result<float> &result);
  void add(double factor, const Operand<double> &left,
           const Operand<double> &right, int64_t inner,
           const Result<double> &result);
  /// Adds `left * right` to `result`, one exact product after the other: an
  /// element has the bits of the plain loop over `inner`, on every machine.
  void addInOrder(const Operand<float> &left, const Operand<float> &right,
                  int64_t inner, const Result<double> &result);

private:
  /// Returns memory for that many bytes.
  char *reserve(size_t bytes);
  template <bool IsInOrder, typename T, typename From>
  void addProduct(T factor, const Operand<From> &left,
                  const Operand<From> &right, int64_t inner,
                  const Result<T> &result);

  support::AlignedBuffer packed;
  size_t size = 0;
};

/// Replaces the upper triangle of a symmetric matrix, [size, size], row-major,
/// by the factor R for which the matrix is R^T R. The lower triangle is not
/// read, and undefined afterwards. Returns false for a matrix that is not
/// positive definite. The result does not depend on `threads`.
bool factorizeCholesky(double *matrix, int64_t size,
                       const support::Threads &threads = 1);

/// Replaces the columns of `values`, [size, columns], row-major, by the
/// solutions x of R^T R x = values, where `factor` comes from
/// `factorizeCholesky`. The result does not depend on `threads`.
void solveCholesky(const double *factor, int64_t size, double *values,
                   int64_t columns, const support::Threads &threads = 1);

/// The same with the solutions x of R^T x = values.
void solveTransposedFactor(const double *factor, int64_t size, double *values,
                           int64_t columns);

} // namespace mct::quantization

#endif // MCT_LIB_QUANTIZATION_DENSEALGEBRA_H
