// SPDX-License-Identifier: Apache-2.0
#include "DenseAlgebra.h"

#include "mct/Quantization/MatrixProduct.h"
#include "mct/Quantization/Parallel.h"
#include "mct/Quantizers/Simd.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace mct::quantization {

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Number of products that are summed in registers, before the sum is added to
/// the result. The bits of the result depend on it, unless sums are in order.
static constexpr int64_t kInnerBlock = 256;
/// Rows of the left and columns of the right operand that are packed at once,
/// so that they stay in the cache. The bits do not depend on them.
static constexpr int64_t kRowBlock = 192;
static constexpr int64_t kColumnBlock = 512;

namespace {
template <typename T> struct VectorOf;
template <> struct VectorOf<float> {
  using Type = Float16;
};
template <> struct VectorOf<double> {
  using Type = Double8;
};

/// The use of registers by a kernel: it computes tiles of `Rows` rows and
/// `Vectors` vectors, and rounds a product and its addition together if
/// `IsFused`. If `IsInOrder`, a sum continues from the value of the result,
/// instead of being added to it.
template <int Rows, int Vectors, bool IsFused, bool IsInOrder = false>
struct TileShape {
  static constexpr int kRows = Rows, kVectors = Vectors;
  static constexpr bool kIsFused = IsFused, kIsInOrder = IsInOrder;
};
} // namespace

/// Packs `height` rows and `depth` columns of `from` into blocks of `Rows`
/// rows, [blocks, depth, Rows]. Rows that are missing from the last block are
/// 0.
template <int Rows, typename T, typename From>
static MCT_VECTOR_BODY void packRows(T factor, Operand<From> from,
                                     int64_t height, int64_t depth,
                                     T *__restrict to) {
  for (; height > 0; height -= Rows, from.data += Rows * from.rowStride) {
    for (int64_t k = 0; k != depth; ++k, to += Rows) {
      const From *column = from.data + k * from.columnStride;
      if (height < Rows) {
        for (int i = 0; i != Rows; ++i)
          to[i] = i < height ? factor * T(column[i * from.rowStride]) : T(0);
      } else if (from.rowStride == 1) {
        for (int i = 0; i != Rows; ++i)
          to[i] = factor * T(column[i]);
      } else {
        for (int i = 0; i != Rows; ++i)
          to[i] = factor * T(column[i * from.rowStride]);
      }
    }
  }
}

/// Adds the product of packed operands, [depth, rows of a tile] and [depth,
/// columns of a tile], to the first `height` rows and `width` columns of a tile
/// of the result.
template <typename Shape, typename T>
static MCT_VECTOR_BODY void addTile(const T *left, const T *right,
                                    int64_t depth, T *result, int64_t stride,
                                    int64_t height, int64_t width) {
  using Vector = typename VectorOf<T>::Type;
  constexpr int kRows = Shape::kRows, kVectors = Shape::kVectors;
  constexpr int kLanes = sizeof(Vector) / sizeof(T);
  constexpr int kColumns = kVectors * kLanes;
  bool isWhole = height == kRows && width == kColumns;
  T tile[kRows][kColumns];
  Vector sums[kRows][kVectors] = {};
  if constexpr (Shape::kIsInOrder) {
    if (!isWhole)
      for (int64_t i = 0; i != kRows; ++i)
        for (int64_t j = 0; j != kColumns; ++j)
          tile[i][j] = i < height && j < width ? result[i * stride + j] : T(0);
#pragma clang loop unroll(full)
    for (int i = 0; i != kRows; ++i)
#pragma clang loop unroll(full)
      for (int j = 0; j != kVectors; ++j)
        sums[i][j] = loadVector<Vector>(
            isWhole ? result + i * stride + j * kLanes : &tile[i][j * kLanes]);
  }
  for (int64_t k = 0; k != depth; ++k, left += kRows, right += kColumns) {
    Vector columns[kVectors];
#pragma clang loop unroll(full)
    for (int j = 0; j != kVectors; ++j)
      columns[j] = loadVector<Vector>(right + j * kLanes);
#pragma clang loop unroll(full)
    for (int i = 0; i != kRows; ++i) {
      Vector row;
#pragma clang loop unroll(full)
      for (int lane = 0; lane != kLanes; ++lane)
        row[lane] = left[i];
#pragma clang loop unroll(full)
      for (int j = 0; j != kVectors; ++j)
        if constexpr (Shape::kIsFused)
          sums[i][j] = __builtin_elementwise_fma(row, columns[j], sums[i][j]);
        else
          sums[i][j] += row * columns[j];
    }
  }
  if (isWhole) {
#pragma clang loop unroll(full)
    for (int i = 0; i != kRows; ++i)
#pragma clang loop unroll(full)
      for (int j = 0; j != kVectors; ++j) {
        T *to = result + i * stride + j * kLanes;
        if constexpr (Shape::kIsInOrder)
          storeVector(to, sums[i][j]);
        else
          storeVector(to, loadVector<Vector>(to) + sums[i][j]);
      }
    return;
  }
#pragma clang loop unroll(full)
  for (int i = 0; i != kRows; ++i)
#pragma clang loop unroll(full)
    for (int j = 0; j != kVectors; ++j)
      storeVector(&tile[i][j * kLanes], sums[i][j]);
  for (int64_t i = 0; i != height; ++i)
    for (int64_t j = 0; j != width; ++j)
      result[i * stride + j] =
          Shape::kIsInOrder ? tile[i][j] : result[i * stride + j] + tile[i][j];
}

template <typename Shape, typename T, typename From>
static MCT_VECTOR_BODY void addBlocks(T factor, const Operand<From> &left,
                                      const Operand<From> &right, int64_t inner,
                                      const Result<T> &result, T *packedLeft,
                                      T *packedRight) {
  constexpr int64_t kRows = Shape::kRows;
  constexpr int64_t kColumns = Shape::kVectors *
                               int64_t(sizeof(typename VectorOf<T>::Type)) /
                               int64_t(sizeof(T));
  for (int64_t k = 0; k < inner; k += kInnerBlock) {
    int64_t depth = std::min(kInnerBlock, inner - k);
    for (int64_t column = 0; column < result.columns; column += kColumnBlock) {
      int64_t width = std::min(kColumnBlock, result.columns - column);
      packRows<kColumns>(T(1),
                         Operand<From>{right.data + k * right.rowStride +
                                           column * right.columnStride,
                                       right.columnStride, right.rowStride},
                         width, depth, packedRight);
      for (int64_t row = 0; row < result.rows; row += kRowBlock) {
        int64_t height = std::min(kRowBlock, result.rows - row);
        packRows<kRows>(factor,
                        Operand<From>{left.data + row * left.rowStride +
                                          k * left.columnStride,
                                      left.rowStride, left.columnStride},
                        height, depth, packedLeft);
        for (int64_t j = 0; j < width; j += kColumns)
          for (int64_t i = 0; i < height; i += kRows)
            addTile<Shape>(packedLeft + i * depth, packedRight + j * depth,
                           depth,
                           result.data + (row + i) * result.stride + column + j,
                           result.stride, std::min(kRows, height - i),
                           std::min(kColumns, width - j));
      }
    }
  }
}

// AVX-512 has 32 registers that hold a vector each. AVX2 has 16, and a vector
// takes two of them; of those of SSE2 it takes four.
#if defined(__x86_64__)
template <bool IsInOrder, typename... Arguments>
static MCT_TARGET_AVX512 void addAvx512(Arguments... arguments) {
  addBlocks<TileShape<12, 2, true, IsInOrder>>(arguments...);
}
template <bool IsInOrder, typename... Arguments>
static MCT_TARGET_AVX512 void addNarrowAvx512(Arguments... arguments) {
  addBlocks<TileShape<12, 1, true, IsInOrder>>(arguments...);
}
template <bool IsInOrder, typename... Arguments>
static __attribute__((target("avx2,fma"))) void
addAvx2(Arguments... arguments) {
  addBlocks<TileShape<6, 1, true, IsInOrder>>(arguments...);
}
#endif
template <bool IsInOrder, typename... Arguments>
static void addPortable(Arguments... arguments) {
  addBlocks<TileShape<2, 1, false, IsInOrder>>(arguments...);
}

char *ProductAdder::reserve(size_t bytes) {
  if (size < bytes) {
    packed = support::AlignedBuffer(bytes);
    size = bytes;
  }
  return packed.get();
}

template <bool IsInOrder, typename T, typename From>
void ProductAdder::addProduct(T factor, const Operand<From> &left,
                              const Operand<From> &right, int64_t inner,
                              const Result<T> &result) {
  if (result.rows <= 0 || result.columns <= 0 || inner <= 0)
    return;
  // Whole tiles of any shape.
  constexpr int64_t kVector = 64 / sizeof(T), kMostRows = 12;
  bool isNarrow = result.columns <= kVector;
  int64_t depth = std::min(inner, kInnerBlock);
  int64_t width = llvm::alignTo(std::min(result.columns, kColumnBlock),
                                isNarrow ? kVector : 2 * kVector);
  int64_t height = llvm::alignTo(std::min(result.rows, kRowBlock), kMostRows);
  auto *packedRight =
      reinterpret_cast<T *>(reserve((width + height) * depth * sizeof(T)));
  T *packedLeft = packedRight + width * depth;
  switch (instructionSet()) {
#if defined(__x86_64__)
  case InstructionSet::AVX512VNNI:
  case InstructionSet::AVX512:
    if (isNarrow)
      return addNarrowAvx512<IsInOrder>(factor, left, right, inner, result,
                                        packedLeft, packedRight);
    return addAvx512<IsInOrder>(factor, left, right, inner, result, packedLeft,
                                packedRight);
  case InstructionSet::AVX2:
    return addAvx2<IsInOrder>(factor, left, right, inner, result, packedLeft,
                              packedRight);
#endif
  default:
    return addPortable<IsInOrder>(factor, left, right, inner, result,
                                  packedLeft, packedRight);
  }
}

void ProductAdder::add(float factor, const Operand<float> &left,
                       const Operand<float> &right, int64_t inner,
                       const Result<float> &result) {
  addProduct<false>(factor, left, right, inner, result);
}

void ProductAdder::add(double factor, const Operand<double> &left,
                       const Operand<double> &right, int64_t inner,
                       const Result<double> &result) {
  addProduct<false>(factor, left, right, inner, result);
}

void ProductAdder::addInOrder(const Operand<float> &left,
                              const Operand<float> &right, int64_t inner,
                              const Result<double> &result) {
  addProduct<true>(1.0, left, right, inner, result);
}

void multiplyMatrices(const FloatMatrix &left, const FloatMatrix &right,
                      int64_t inner, const FloatProduct &product,
                      const support::Threads &threads) {
  int64_t rowBlocks = llvm::divideCeil(product.rows, kRowBlock);
  int64_t columnBlocks = llvm::divideCeil(product.columns, kColumnBlock);
  parallelFor(size_t(rowBlocks * columnBlocks), threads, [&](size_t number) {
    int64_t row = int64_t(number) / columnBlocks * kRowBlock;
    int64_t column = int64_t(number) % columnBlocks * kColumnBlock;
    int64_t height = std::min(kRowBlock, product.rows - row);
    int64_t width = std::min(kColumnBlock, product.columns - column);
    std::vector<double> sums(size_t(height * width));
    ProductAdder().addInOrder(
        {left.data + row * left.rowStride, left.rowStride, left.columnStride},
        {right.data + column * right.columnStride, right.rowStride,
         right.columnStride},
        inner, {sums.data(), height, width, width});
    for (int64_t i = 0; i != height; ++i)
      std::copy_n(&sums[size_t(i * width)], width,
                  product.data + (row + i) * product.columns + column);
  });
}

//===----------------------------------------------------------------------===//
// Cholesky factors
//===----------------------------------------------------------------------===//

/// Largest number of rows of a factor that is not divided into blocks.
static constexpr int64_t kSmallFactor = 32;

static MCT_VECTOR_BODY void subtractMultiple(double multiple,
                                             const double *from, int64_t count,
                                             double *to) {
  for (int64_t i = 0; i != count; ++i)
    to[i] -= multiple * from[i];
}

/// Returns the size of the first half of a factor that is divided in two.
static int64_t getFirstHalf(int64_t size) {
  return (size / 2 + kSmallFactor - 1) / kSmallFactor * kSmallFactor;
}

/// Replaces `values` by the solution x of R^T x = values.
static void solveTransposed(ProductAdder &products,
                            const Operand<double> &factor, int64_t size,
                            const Result<double> &values) {
  auto at = [&](int64_t row, int64_t column) {
    return factor.data + row * factor.rowStride + column;
  };
  auto row = [&](int64_t i) { return values.data + i * values.stride; };
  if (size <= kSmallFactor) {
    for (int64_t i = 0; i != size; ++i) {
      for (int64_t j = 0; j != values.columns; ++j)
        row(i)[j] /= *at(i, i);
      for (int64_t k = i + 1; k != size; ++k)
        runVectorLoop<subtractMultiple>(*at(i, k), row(i), values.columns,
                                        row(k));
    }
    return;
  }
  int64_t half = getFirstHalf(size), rest = size - half;
  Result<double> second{row(half), rest, values.columns, values.stride};
  solveTransposed(products, factor, half, values);
  products.add(-1.0, {at(0, half), 1, factor.rowStride},
               {values.data, values.stride, 1}, half, second);
  solveTransposed(products, {at(half, half), factor.rowStride, 1}, rest,
                  second);
}

/// Replaces `values` by the solution x of R x = values.
static void solveUpper(ProductAdder &products, const Operand<double> &factor,
                       int64_t size, const Result<double> &values) {
  auto at = [&](int64_t row, int64_t column) {
    return factor.data + row * factor.rowStride + column;
  };
  auto row = [&](int64_t i) { return values.data + i * values.stride; };
  if (size <= kSmallFactor) {
    for (int64_t i = size - 1; i >= 0; --i) {
      for (int64_t j = 0; j != values.columns; ++j)
        row(i)[j] /= *at(i, i);
      for (int64_t k = 0; k != i; ++k)
        runVectorLoop<subtractMultiple>(*at(k, i), row(i), values.columns,
                                        row(k));
    }
    return;
  }
  int64_t half = getFirstHalf(size), rest = size - half;
  Result<double> second{row(half), rest, values.columns, values.stride};
  solveUpper(products, {at(half, half), factor.rowStride, 1}, rest, second);
  products.add(-1.0, {at(0, half), factor.rowStride, 1},
               {second.data, values.stride, 1}, rest,
               {values.data, half, values.columns, values.stride});
  solveUpper(products, factor, half, values);
}

/// Calls `work` for [begin, end) of blocks of `size` out of `count`, each with
/// memory of its own.
static void
forBlocks(int64_t count, int64_t size, const support::Threads &threads,
          llvm::function_ref<void(ProductAdder &, int64_t, int64_t)> work) {
  parallelFor(size_t((count + size - 1) / size), threads, [&](size_t number) {
    ProductAdder products;
    int64_t begin = int64_t(number) * size;
    work(products, begin, std::min(count, begin + size));
  });
}

/// Columns of right-hand sides that a thread solves at a time.
static constexpr int64_t kSolvedColumns = 128;

static bool factorizeRows(double *matrix, int64_t size, int64_t stride,
                          const support::Threads &threads) {
  if (size <= kSmallFactor) {
    for (int64_t i = 0; i != size; ++i) {
      double *row = matrix + i * stride;
      // NaN is not positive either.
      if (!(row[i] > 0))
        return false;
      row[i] = std::sqrt(row[i]);
      for (int64_t j = i + 1; j != size; ++j)
        row[j] /= row[i];
      for (int64_t k = i + 1; k != size; ++k)
        runVectorLoop<subtractMultiple>(row[k], row + k, size - k,
                                        matrix + k * stride + k);
    }
    return true;
  }
  int64_t half = getFirstHalf(size), rest = size - half;
  double *right = matrix + half, *below = right + half * stride;
  if (!factorizeRows(matrix, half, stride, threads))
    return false;
  forBlocks(rest, kSolvedColumns, threads,
            [&](ProductAdder &products, int64_t begin, int64_t end) {
              solveTransposed(products, {matrix, stride, 1}, half,
                              {right + begin, half, end - begin, stride});
            });
  // Tiles of the upper triangle; the diagonal cuts some.
  constexpr int64_t kTile = 120;
  forBlocks(rest, kTile, threads,
            [&](ProductAdder &products, int64_t begin, int64_t end) {
              products.add(-1.0, {right + begin, 1, stride},
                           {right + begin, stride, 1}, half,
                           {below + begin * stride + begin, end - begin,
                            rest - begin, stride});
            });
  return factorizeRows(below, rest, stride, threads);
}

bool factorizeCholesky(double *matrix, int64_t size,
                       const support::Threads &threads) {
  return factorizeRows(matrix, size, size, threads);
}

void solveCholesky(const double *factor, int64_t size, double *values,
                   int64_t columns, const support::Threads &threads) {
  Operand<double> upper{factor, size, 1};
  forBlocks(columns, kSolvedColumns, threads,
            [&](ProductAdder &products, int64_t begin, int64_t end) {
              Result<double> solution{values + begin, size, end - begin,
                                      columns};
              solveTransposed(products, upper, size, solution);
              solveUpper(products, upper, size, solution);
            });
}

void solveTransposedFactor(const double *factor, int64_t size, double *values,
                           int64_t columns) {
  ProductAdder products;
  solveTransposed(products, {factor, size, 1}, size,
                  {values, size, columns, columns});
}

} // namespace mct::quantization
