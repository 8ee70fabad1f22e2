// SPDX-License-Identifier: Apache-2.0
#include "DenseAlgebra.h"

#include "Simd.h"

#include <algorithm>
#include <cmath>
#include <memory>

namespace mct::quantization {

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Products of so many terms are summed in registers, and these sums are added
/// to the result in order. Part of what the bits depend on.
static constexpr int64_t kInnerBlock = 256;
/// Rows of the left and columns of the right operand that are packed at once,
/// for the second level of the cache. The bits do not depend on them.
static constexpr int64_t kRowBlock = 120;
static constexpr int64_t kColumnBlock = 512;

namespace {
template <typename T> struct VectorOf;
template <> struct VectorOf<float> {
  using Type = Float16;
};
template <> struct VectorOf<double> {
  using Type = Double8;
};

/// What decides about the registers of a kernel: it computes tiles of `Rows`
/// rows and of `Vectors` vectors of 64 bytes, and rounds once for a product and
/// its addition if `IsFused`.
template <int Rows, int Vectors, bool IsFused> struct TileShape {
  static constexpr int rows = Rows, vectors = Vectors;
  static constexpr bool isFused = IsFused;
};
} // namespace

/// Packs `height` rows, from `row` on, and `depth` columns, from `inner` on, of
/// `from` into blocks of `Rows` rows, [blocks, depth, Rows]. Missing rows are 0.
template <int Rows, typename T>
static MCT_VECTOR_BODY void packRows(T factor, const Operand<T> &from,
                                     int64_t row, int64_t height, int64_t inner,
                                     int64_t depth, T *to) {
  for (int64_t end = row + height; row < end; row += Rows, to += Rows * depth) {
    const T *source =
        from.data + row * from.rowStride + inner * from.columnStride;
    int64_t count = std::min<int64_t>(Rows, end - row);
    if (count != Rows) {
      for (int64_t k = 0; k != depth; ++k)
        for (int64_t i = 0; i != Rows; ++i)
          to[k * Rows + i] = i < count
                                 ? factor * source[i * from.rowStride +
                                                   k * from.columnStride]
                                 : T(0);
    } else if (from.rowStride == 1) {
      for (int64_t k = 0; k != depth; ++k)
        for (int64_t i = 0; i != Rows; ++i)
          to[k * Rows + i] = factor * source[k * from.columnStride + i];
    } else {
      for (int64_t k = 0; k != depth; ++k)
        for (int64_t i = 0; i != Rows; ++i)
          to[k * Rows + i] =
              factor * source[i * from.rowStride + k * from.columnStride];
    }
  }
}

/// Adds the product of packed operands, [depth, Shape::rows] and [depth,
/// columns of a tile], to the first `height` rows and `width` columns of a tile
/// of the result.
template <typename Shape, typename T>
static MCT_VECTOR_BODY void addTile(const T *left, const T *right,
                                    int64_t depth, T *result, int64_t stride,
                                    int64_t height, int64_t width) {
  using Vector = typename VectorOf<T>::Type;
  constexpr int kLanes = sizeof(Vector) / sizeof(T);
  constexpr int kColumns = Shape::vectors * kLanes;
  Vector sums[Shape::rows][Shape::vectors] = {};
  for (int64_t k = 0; k != depth; ++k) {
    Vector columns[Shape::vectors];
#pragma clang loop unroll(full)
    for (int j = 0; j != Shape::vectors; ++j)
      columns[j] = loadVector<Vector>(right + j * kLanes);
#pragma clang loop unroll(full)
    for (int i = 0; i != Shape::rows; ++i) {
      Vector row;
#pragma clang loop unroll(full)
      for (int lane = 0; lane != kLanes; ++lane)
        row[lane] = left[i];
#pragma clang loop unroll(full)
      for (int j = 0; j != Shape::vectors; ++j)
        if constexpr (Shape::isFused)
          sums[i][j] = __builtin_elementwise_fma(row, columns[j], sums[i][j]);
        else
          sums[i][j] += row * columns[j];
    }
    left += Shape::rows;
    right += kColumns;
  }
  if (height == Shape::rows && width == kColumns) {
#pragma clang loop unroll(full)
    for (int i = 0; i != Shape::rows; ++i)
#pragma clang loop unroll(full)
      for (int j = 0; j != Shape::vectors; ++j) {
        T *to = result + i * stride + j * kLanes;
        storeVector(to, loadVector<Vector>(to) + sums[i][j]);
      }
    return;
  }
  T tile[Shape::rows][kColumns];
#pragma clang loop unroll(full)
  for (int i = 0; i != Shape::rows; ++i)
#pragma clang loop unroll(full)
    for (int j = 0; j != Shape::vectors; ++j)
      storeVector(&tile[i][j * kLanes], sums[i][j]);
  for (int64_t i = 0; i != height; ++i)
    for (int64_t j = 0; j != width; ++j)
      result[i * stride + j] += tile[i][j];
}

template <typename Shape, typename T>
static MCT_VECTOR_BODY void addBlocks(T factor, const Operand<T> &left,
                                      const Operand<T> &right, int64_t inner,
                                      const Result<T> &result) {
  constexpr int64_t kColumns =
      Shape::vectors * int64_t(sizeof(typename VectorOf<T>::Type) / sizeof(T));
  auto roundUp = [](int64_t value, int64_t multiple) {
    return (value + multiple - 1) / multiple * multiple;
  };
  int64_t deepest = std::min(inner, kInnerBlock);
  int64_t highest = roundUp(std::min(result.rows, kRowBlock), Shape::rows);
  int64_t widest = roundUp(std::min(result.columns, kColumnBlock), kColumns);
  std::unique_ptr<T[]> packedLeft(new T[highest * deepest]);
  std::unique_ptr<T[]> packedRight(new T[widest * deepest]);
  const Operand<T> transposed{right.data, right.columnStride, right.rowStride};
  for (int64_t k = 0; k < inner; k += kInnerBlock) {
    int64_t depth = std::min(kInnerBlock, inner - k);
    for (int64_t column = 0; column < result.columns; column += kColumnBlock) {
      int64_t width = std::min(kColumnBlock, result.columns - column);
      packRows<kColumns>(T(1), transposed, column, width, k, depth,
                         packedRight.get());
      for (int64_t row = 0; row < result.rows; row += kRowBlock) {
        int64_t height = std::min(kRowBlock, result.rows - row);
        packRows<Shape::rows>(factor, left, row, height, k, depth,
                              packedLeft.get());
        for (int64_t j = 0; j < width; j += kColumns)
          for (int64_t i = 0; i < height; i += Shape::rows)
            addTile<Shape>(
                packedLeft.get() + i * depth, packedRight.get() + j * depth,
                depth, result.data + (row + i) * result.stride + column + j,
                result.stride, std::min<int64_t>(Shape::rows, height - i),
                std::min(kColumns, width - j));
      }
    }
  }
}

/// Takes tiles of one vector for a result that has no more columns.
template <typename Wide, typename Narrow, typename T>
static MCT_VECTOR_BODY void addOf(T factor, const Operand<T> &left,
                                  const Operand<T> &right, int64_t inner,
                                  const Result<T> &result) {
  if (result.columns * int64_t(sizeof(T)) >
      int64_t(sizeof(typename VectorOf<T>::Type)))
    addBlocks<Wide>(factor, left, right, inner, result);
  else
    addBlocks<Narrow>(factor, left, right, inner, result);
}

// AVX-512 has 32 registers of a vector each; AVX2 has 16 and needs two for a
// vector, SSE2 four.
MCT_DEFINE_PRODUCT_LOOPS
