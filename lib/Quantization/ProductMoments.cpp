// SPDX-License-Identifier: Apache-2.0
#include "ProductMoments.h"

#include "DenseAlgebra.h"
#include "mct/Quantization/Parallel.h"
#include "mct/Quantizers/Simd.h"

#include <algorithm>

namespace mct::quantization {

/// Number of rows whose products are added in float.
static constexpr int64_t kRowsInFloat = 256;
/// Number of columns of a tile of the moments. Their bits do not depend on it.
static constexpr int64_t kTile = 256;
/// Number of rows of a diagonal tile that are multiplied with the part left of
/// them and below the diagonal. The bits do not depend on it.
static constexpr int64_t kStrip = 48;
/// Number of rows and columns that are copied across the diagonal at a time.
static constexpr int64_t kMirrored = 32;
/// Limit in bytes on the centred rows that are kept at a time.
static constexpr int64_t kCentredBytes = int64_t(1) << 20;

static MCT_VECTOR_BODY void addRow(const float *from, int64_t count,
                                   double *to) {
  for (int64_t i = 0; i != count; ++i)
    to[i] += double(from[i]);
}

std::vector<double> columnMeans(const MatrixView &matrix) {
  std::vector<double> means(matrix.columns, 0.0);
  for (int64_t row = 0; row != matrix.rows; ++row)
    runVectorLoop<addRow>(matrix.data + row * matrix.stride, matrix.columns,
                          means.data());
  for (double &mean : means)
    mean /= double(std::max<int64_t>(matrix.rows, 1));
  return means;
}

static MCT_VECTOR_BODY void subtract(const float *from, const double *means,
                                     int64_t count, float *to) {
  for (int64_t i = 0; i != count; ++i)
    to[i] = float(double(from[i]) - means[i]);
}

static MCT_VECTOR_BODY void addSquares(const float *from, const double *means,
                                       int64_t count, double *to) {
  for (int64_t i = 0; i != count; ++i) {
    double centred = double(from[i]) - means[i];
    to[i] += centred * centred;
  }
}

static MCT_VECTOR_BODY void divideEach(double *values, int64_t count,
                                       double divisor) {
  for (int64_t i = 0; i != count; ++i)
    values[i] /= divisor;
}

namespace {
/// A tile of the lower triangle of the covariance, or of the cross moments.
struct Tile {
  bool isCross;
  int64_t left, right;
};

/// Adds up the second moments, some rows at a time.
class SecondMoments {
public:
  SecondMoments(const MatrixView &inputs, const MatrixView &targets,
                ProductMoments &moments, const support::Threads &threads)
      : inputs(inputs), targets(targets), moments(moments), threads(threads) {}
  void run();

private:
  /// Sets `inputRows` and `targetRows` to the centred rows [first, first +
  /// count).
  void centre(int64_t first, int64_t count);
  /// Adds the products of these rows.
  void addTile(const Tile &tile, int64_t count);
  void addProducts(const Tile &tile, int64_t height, int64_t width,
                   int64_t count);
  void divide(int64_t rows);

  const MatrixView &inputs, &targets;
  ProductMoments &moments;
  const support::Threads &threads;
  std::vector<float> inputRows, targetRows;
};
} // namespace

void SecondMoments::centre(int64_t first, int64_t count) {
  parallelFor(
      size_t((count + kRowsInFloat - 1) / kRowsInFloat), threads,
      [&](size_t block) {
        int64_t begin = int64_t(block) * kRowsInFloat;
        int64_t end = std::min(count, begin + kRowsInFloat);
        for (int64_t row = begin; row != end; ++row) {
          runVectorLoop<subtract>(inputs.data + (first + row) * inputs.stride,
                                  moments.inputMean.data(), inputs.columns,
                                  &inputRows[row * inputs.columns]);
          runVectorLoop<subtract>(targets.data + (first + row) * targets.stride,
                                  moments.targetMean.data(), targets.columns,
                                  &targetRows[row * targets.columns]);
        }
      });
}

void SecondMoments::addTile(const Tile &tile, int64_t count) {
  const MatrixView &source = tile.isCross ? targets : inputs;
  int64_t height = std::min(kTile, source.columns - tile.left);
  int64_t width = std::min(kTile, inputs.columns - tile.right);
  if (tile.isCross || tile.left != tile.right)
    return addProducts(tile, height, width, count);
  for (int64_t top = 0; top < height; top += kStrip) {
    int64_t rows = std::min(kStrip, height - top);
    addProducts({false, tile.left + top, tile.right}, rows, top + rows, count);
  }
}

void SecondMoments::addProducts(const Tile &tile, int64_t height, int64_t width,
                                int64_t count) {
  int64_t columns = inputs.columns;
  const MatrixView &source = tile.isCross ? targets : inputs;
  const std::vector<float> &left = tile.isCross ? targetRows : inputRows;
  std::vector<double> &sums = tile.isCross ? moments.cross : moments.covariance;
  std::vector<float> product(height * width);
  ProductAdder products;
  for (int64_t first = 0; first < count; first += kRowsInFloat) {
    std::fill(product.begin(), product.end(), 0.0f);
    products.add(1.0f,
                 {&left[first * source.columns + tile.left], 1, source.columns},
                 {&inputRows[first * columns + tile.right], columns, 1},
                 std::min(kRowsInFloat, count - first),
                 {product.data(), height, width, width});
    for (int64_t i = 0; i != height; ++i)
      runVectorLoop<addRow>(&product[i * width], width,
                            &sums[(tile.left + i) * columns + tile.right]);
  }
}

void SecondMoments::divide(int64_t rows) {
  int64_t columns = inputs.columns;
  auto divisor = double(rows);
  runVectorLoop<divideEach>(moments.cross.data(), int64_t(moments.cross.size()),
                            divisor);
  std::vector<double> &covariance = moments.covariance;
  parallelFor(size_t((columns + kMirrored - 1) / kMirrored), threads,
              [&](size_t block) {
                int64_t begin = int64_t(block) * kMirrored;
                int64_t end = std::min(columns, begin + kMirrored);
                for (int64_t row = begin; row != end; ++row)
                  runVectorLoop<divideEach>(&covariance[row * columns], row + 1,
                                            divisor);
                for (int64_t left = 0; left < end; left += kMirrored)
                  for (int64_t row = begin; row != end; ++row)
                    for (int64_t column = left,
                                 last = std::min(row, left + kMirrored);
                         column < last; ++column)
                      covariance[column * columns + row] =
                          covariance[row * columns + column];
              });
}

void SecondMoments::run() {
  int64_t rows = inputs.rows, columns = inputs.columns,
          outputs = targets.columns;
  std::vector<Tile> tiles;
  for (int64_t left = 0; left < columns; left += kTile)
    for (int64_t right = 0; right <= left; right += kTile)
      tiles.push_back({false, left, right});
  for (int64_t left = 0; left < outputs; left += kTile)
    for (int64_t right = 0; right < columns; right += kTile)
      tiles.push_back({true, left, right});
  bool keepsRows = columns > kFewColumns && rows * kLowRank <= columns;
  // Round to multiples of the rows that are summed in float.
  int64_t most = kCentredBytes / int64_t(sizeof(float)) / (columns + outputs);
  most = std::max<int64_t>(1, most / kRowsInFloat) * kRowsInFloat;
  inputRows.resize(std::min(rows, most) * columns);
  targetRows.resize(std::min(rows, most) * outputs);
  for (int64_t first = 0; first < rows && !threads.isCancelled();
       first += most) {
    int64_t count = std::min(most, rows - first);
    centre(first, count);
    if (keepsRows)
      moments.centred.insert(moments.centred.end(), inputRows.begin(),
                             inputRows.begin() + count * columns);
    parallelFor(tiles.size(), threads,
                [&](size_t number) { addTile(tiles[number], count); });
  }
  divide(rows);
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
  SecondMoments(inputs, targets, moments, threads).run();
  for (int64_t row = 0; row != rows; ++row)
    runVectorLoop<addSquares>(targets.data + row * targets.stride,
                              moments.targetMean.data(), outputs,
                              moments.targetVariance.data());
  for (double &variance : moments.targetVariance)
    variance /= double(rows);
  return moments;
}

} // namespace mct::quantization
