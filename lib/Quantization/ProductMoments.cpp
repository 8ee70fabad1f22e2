// SPDX-License-Identifier: Apache-2.0
#include "ProductMoments.h"

#include "DenseAlgebra.h"
#include "mct/Quantization/Parallel.h"
#include "mct/Quantizers/Simd.h"

#include <algorithm>

namespace mct::quantization {

/// Number of rows whose products are added in float.
static constexpr int64_t kRowsInFloat = 256;
/// Number of columns of a tile of the covariance.
static constexpr int64_t kTile = 128;
/// The same for a wide layer, for which rows are packed once.
static constexpr int64_t kWideTile = 512;

std::vector<double> columnMeans(const MatrixView &matrix) {
  std::vector<double> means(matrix.columns, 0.0);
  for (int64_t row = 0; row != matrix.rows; ++row)
    for (int64_t column = 0; column != matrix.columns; ++column)
      means[column] += double(matrix.data[row * matrix.stride + column]);
  for (double &mean : means)
    mean /= double(std::max<int64_t>(matrix.rows, 1));
  return means;
}

static MCT_VECTOR_BODY void subtract(const float *from, const double *means,
                                     int64_t count, float *to) {
  for (int64_t i = 0; i != count; ++i)
    to[i] = float(double(from[i]) - means[i]);
}

/// Packs columns [first, first + count) of some rows, without their means.
static void centre(const MatrixView &matrix, llvm::ArrayRef<double> means,
                   int64_t firstRow, int64_t rows, int64_t first, int64_t count,
                   float *to) {
  for (int64_t row = 0; row != rows; ++row, to += count)
    runVectorLoop<subtract>(matrix.data + (firstRow + row) * matrix.stride +
                                first,
                            means.data() + first, count, to);
}

namespace {
/// A tile of the lower triangle of the covariance, or of the cross moments.
struct Tile {
  bool isCross;
  int64_t left, right;
};
} // namespace

/// Computes one tile of the second moments.
static void computeTile(const Tile &tile, int64_t tileSize,
                        const MatrixView &inputs, const MatrixView &targets,
                        ProductMoments &moments) {
  int64_t rows = inputs.rows, columns = inputs.columns;
  const MatrixView &source = tile.isCross ? targets : inputs;
  llvm::ArrayRef<double> means =
      tile.isCross ? moments.targetMean : moments.inputMean;
  int64_t height = std::min(tileSize, source.columns - tile.left);
  int64_t width = std::min(tileSize, columns - tile.right);
  bool isDiagonal = !tile.isCross && tile.left == tile.right;
  std::vector<float> left(kRowsInFloat * height),
      right(isDiagonal ? 0 : kRowsInFloat * width), product(height * width);
  std::vector<double> sum(height * width, 0.0);
  ProductAdder products;
  for (int64_t first = 0; first < rows; first += kRowsInFloat) {
    int64_t count = std::min(kRowsInFloat, rows - first);
    centre(source, means, first, count, tile.left, height, left.data());
    if (!isDiagonal)
      centre(inputs, moments.inputMean, first, count, tile.right, width,
             right.data());
    std::fill(product.begin(), product.end(), 0.0f);
    products.add(1.0f, {left.data(), 1, height},
                 {isDiagonal ? left.data() : right.data(), width, 1}, count,
                 {product.data(), height, width, width});
    for (size_t i = 0; i != sum.size(); ++i)
      sum[i] += double(product[i]);
  }
  for (int64_t i = 0; i != height; ++i)
    for (int64_t j = 0; j != width; ++j) {
      double mean = sum[i * width + j] / double(rows);
      int64_t row = tile.left + i, column = tile.right + j;
      if (tile.isCross) {
        moments.cross[row * columns + column] = mean;
      } else if (column <= row) {
        moments.covariance[row * columns + column] = mean;
        moments.covariance[column * columns + row] = mean;
      }
    }
}

ProductMoments productMoments(const MatrixView &inputs,
                              const MatrixView &targets,
                              const support::Threads &threads) {
  ProductMoments moments;
  int64_t columns = moments.columns = inputs.columns;
  int64_t outputs = moments.outputs = targets.columns;
  moments.inputMean = columnMeans(inputs);
  moments.targetMean = columnMeans(targets);
  moments.covariance.assign(columns * columns, 0.0);
  moments.cross.assign(outputs * columns, 0.0);
  moments.targetVariance.assign(outputs, 0.0);
  int64_t rows = inputs.rows;
  if (rows == 0)
    return moments;

  int64_t tileSize = columns > kWideColumns ? kWideTile : kTile;
  std::vector<Tile> tiles;
  for (int64_t left = 0; left < columns; left += tileSize)
    for (int64_t right = 0; right <= left; right += tileSize)
      tiles.push_back({false, left, right});
  for (int64_t left = 0; left < outputs; left += tileSize)
    for (int64_t right = 0; right < columns; right += tileSize)
      tiles.push_back({true, left, right});
  parallelFor(tiles.size(), threads, [&](size_t number) {
    if (!threads.isCancelled())
      computeTile(tiles[number], tileSize, inputs, targets, moments);
  });
  for (int64_t row = 0; row != rows; ++row)
    for (int64_t output = 0; output != outputs; ++output) {
      double centred = double(targets.data[row * targets.stride + output]) -
                       moments.targetMean[output];
      moments.targetVariance[output] += centred * centred;
    }
  for (double &variance : moments.targetVariance)
    variance /= double(rows);
  return moments;
}

} // namespace mct::quantization
