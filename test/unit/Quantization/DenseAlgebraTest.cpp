// SPDX-License-Identifier: Apache-2.0
//
// Products and Cholesky factors, against sums in long double.
#include "lib/Quantization/DenseAlgebra.h"

#include "mct/Quantization/MatrixProduct.h"
#include "mct/Quantizers/InstructionSet.h"
#include "gtest/gtest.h"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

using namespace mct::quantization;

namespace {

template <typename T>
std::vector<T> randomValues(std::mt19937 &random, int64_t count) {
  std::normal_distribution<double> normal;
  std::vector<T> values(count);
  for (T &value : values)
    value = T(normal(random));
  return values;
}

/// A product of random operands whose rows or columns are contiguous.
template <typename T> struct Product {
  int64_t rows, columns, inner, stride;
  std::vector<T> leftValues, rightValues, start;
  Operand<T> left, right;

  Product(std::mt19937 &random, int64_t rows, int64_t columns, int64_t inner,
          bool leftByColumns, bool rightByColumns)
      : rows(rows), columns(columns), inner(inner), stride(columns + 3),
        leftValues(randomValues<T>(random, (rows + 1) * (inner + 1))),
        rightValues(randomValues<T>(random, (columns + 1) * (inner + 1))),
        start(randomValues<T>(random, rows * stride)) {
    left = leftByColumns ? Operand<T>{leftValues.data(), 1, rows + 1}
                         : Operand<T>{leftValues.data(), inner + 1, 1};
    right = rightByColumns ? Operand<T>{rightValues.data(), 1, inner + 1}
                           : Operand<T>{rightValues.data(), columns + 1, 1};
  }

  std::vector<T> run(T factor) const {
    std::vector<T> result = start;
    ProductAdder().add(factor, left, right, inner,
                       {result.data(), rows, columns, stride});
    return result;
  }

  void expectExact(T factor) const {
    std::vector<T> result = run(factor);
    for (int64_t i = 0; i != rows; ++i)
      for (int64_t j = 0; j != stride; ++j) {
        long double sum = start[i * stride + j], size = std::abs(sum);
        for (int64_t k = 0; j < columns && k != inner; ++k) {
          long double term =
              (long double)(factor)*left
                  .data[i * left.rowStride + k * left.columnStride] *
              right.data[k * right.rowStride + j * right.columnStride];
          sum += term;
          size += std::abs(term);
        }
        // Each of the additions rounds a sum that is no larger than `size`.
        long double tolerance =
            size * (long double)(inner + 2) * std::numeric_limits<T>::epsilon();
        if (j >= columns)
          EXPECT_EQ(result[i * stride + j], start[i * stride + j]);
        else
          ASSERT_NEAR(double(result[i * stride + j]), double(sum),
                      double(tolerance))
              << i << " " << j;
      }
  }
};

/// Sizes around those of tiles and blocks.
template <typename Body> void forProducts(Body body) {
  std::mt19937 random(1);
  for (auto [rows, columns, inner] :
       {std::tuple<int64_t, int64_t, int64_t>{1, 1, 1},
        {9, 9, 40},
        {12, 32, 256},
        {13, 33, 257},
        {5, 16, 7},
        {6, 17, 600},
        {121, 100, 30},
        {120, 513, 20},
        {250, 8, 300}})
    for (bool leftByColumns : {false, true})
      for (bool rightByColumns : {false, true}) {
        body(Product<float>(random, rows, columns, inner, leftByColumns,
                            rightByColumns));
        body(Product<double>(random, rows, columns, inner, leftByColumns,
                             rightByColumns));
      }
}

class DenseAlgebra : public testing::TestWithParam<InstructionSet> {
protected:
  void SetUp() override {
    if (!forceInstructionSetForTesting(GetParam()))
      GTEST_SKIP() << "the processor has not these instructions";
  }
  void TearDown() override { forceInstructionSetForTesting(std::nullopt); }
};

TEST_P(DenseAlgebra, ProductsAreThoseOfLongDouble) {
  forProducts([](const auto &product) {
    product.expectExact(1);
    product.expectExact(-1);
  });
}

TEST_P(DenseAlgebra, ProductsInOrderAreThoseOfThePlainLoop) {
  forProducts([](const auto &product) {
    if constexpr (std::is_same_v<decltype(product.start[0]), const float &>) {
      auto [rows, columns, inner] =
          std::tuple(product.rows, product.columns, product.inner);
      const auto &left = product.left, &right = product.right;
      std::vector<float> expected(rows * columns), found(rows * columns);
      for (int64_t i = 0; i != rows; ++i)
        for (int64_t j = 0; j != columns; ++j) {
          double sum = 0;
          for (int64_t k = 0; k != inner; ++k)
            sum +=
                double(left.data[i * left.rowStride + k * left.columnStride]) *
                right.data[k * right.rowStride + j * right.columnStride];
          expected[i * columns + j] = float(sum);
        }
      for (unsigned threads : {1, 3}) {
        multiplyMatrices({left.data, left.rowStride, left.columnStride},
                         {right.data, right.rowStride, right.columnStride},
                         inner, {found.data(), rows, columns}, threads);
        EXPECT_EQ(found, expected);
      }
    }
  });
}

TEST_P(DenseAlgebra, NothingIsAddedForNoColumns) {
  std::vector<float> result = {1, 2};
  ProductAdder().add(1.0f, {nullptr, 1, 1}, {nullptr, 1, 1}, 0,
                     {result.data(), 1, 2, 2});
  EXPECT_EQ(result, (std::vector<float>{1, 2}));
}

TEST_P(DenseAlgebra, CholeskyFactorsMakeTheMatrixAndSolveIt) {
  for (int64_t size : {1, 2, 31, 32, 33, 64, 97, 300}) {
    std::mt19937 random(size);
    // B^T B + 1: its eigenvalues lie between 1 and some 4 size.
    auto source = randomValues<double>(random, size * size);
    std::vector<double> matrix(size * size, 0.0);
    for (int64_t i = 0; i != size; ++i)
      for (int64_t j = 0; j != size; ++j) {
        for (int64_t k = 0; k != size; ++k)
          matrix[i * size + j] += source[k * size + i] * source[k * size + j];
        matrix[i * size + j] += i == j ? 1 : 0;
      }
    std::vector<double> factor = matrix;
    ASSERT_TRUE(factorizeCholesky(factor.data(), size));
    // Rounding of sums of `size` terms, which are at most some 4 size.
    double tolerance = double(8 * size * size) * 0x1p-52;
    for (int64_t i = 0; i != size; ++i)
      for (int64_t j = i; j != size; ++j) {
        double sum = 0;
        for (int64_t k = 0; k <= i; ++k)
          sum += factor[k * size + i] * factor[k * size + j];
        ASSERT_NEAR(sum, matrix[i * size + j], tolerance) << i << " " << j;
      }
    constexpr int64_t kColumns = 5;
    auto values = randomValues<double>(random, size * kColumns);
    std::vector<double> solution = values;
    solveCholesky(factor.data(), size, solution.data(), kColumns);
    for (int64_t i = 0; i != size; ++i)
      for (int64_t j = 0; j != kColumns; ++j) {
        double sum = 0;
        for (int64_t k = 0; k != size; ++k)
          sum += matrix[i * size + k] * solution[k * kColumns + j];
        ASSERT_NEAR(sum, values[i * kColumns + j], 10 * tolerance);
      }
  }
}

TEST_P(DenseAlgebra, RefusesMatricesThatAreNotPositiveDefinite) {
  for (int64_t size : {1, 2, 40, 100})
    for (double last : {-1.0, 0.0, std::nan("")}) {
      std::vector<double> matrix(size * size, 0.0);
      for (int64_t i = 0; i != size; ++i)
        matrix[i * size + i] = i == size - 1 ? last : 2;
      EXPECT_FALSE(factorizeCholesky(matrix.data(), size));
    }
}

// The lower triangle need not be there.
TEST_P(DenseAlgebra, CholeskyReadsTheUpperTriangle) {
  constexpr int64_t kSize = 70;
  std::vector<double> matrix(kSize * kSize, 0.25);
  for (int64_t i = 0; i != kSize; ++i)
    matrix[i * kSize + i] = 3;
  std::vector<double> other = matrix;
  for (int64_t i = 0; i != kSize; ++i)
    for (int64_t j = 0; j != i; ++j)
      other[i * kSize + j] = std::nan("");
  ASSERT_TRUE(factorizeCholesky(matrix.data(), kSize));
  ASSERT_TRUE(factorizeCholesky(other.data(), kSize));
  for (int64_t i = 0; i != kSize; ++i)
    for (int64_t j = i; j != kSize; ++j)
      ASSERT_EQ(matrix[i * kSize + j], other[i * kSize + j]);
}

INSTANTIATE_TEST_SUITE_P(Sets, DenseAlgebra,
                         testing::Values(InstructionSet::Portable,
                                         InstructionSet::AVX2,
                                         InstructionSet::AVX512));

TEST(DenseAlgebraSets, VectorSetsGiveTheSameBits) {
  if (!forceInstructionSetForTesting(InstructionSet::AVX512))
    GTEST_SKIP() << "the processor has no AVX-512";
  forProducts([](const auto &product) {
    forceInstructionSetForTesting(InstructionSet::AVX512);
    auto wide = product.run(1);
    forceInstructionSetForTesting(InstructionSet::AVX2);
    EXPECT_EQ(product.run(1), wide);
  });
  forceInstructionSetForTesting(std::nullopt);
}

} // namespace
