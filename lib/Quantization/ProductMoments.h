// SPDX-License-Identifier: Apache-2.0

#ifndef MCT_LIB_QUANTIZATION_PRODUCTMOMENTS_H
#define MCT_LIB_QUANTIZATION_PRODUCTMOMENTS_H

#include "mct/Quantization/LeastSquaresRounding.h"

namespace mct::quantization {

/// A layer with more columns is wide: what is quick for it is not for others.
inline constexpr int64_t kWideColumns = 1024;

/// Number of columns up to which products are quick whatever they are made of.
inline constexpr int64_t kFewColumns = 64;
/// The covariance has a low rank where there are so many times as many columns
/// as rows: it is quicker then to multiply by the rows twice.
inline constexpr int64_t kLowRank = 5;

std::vector<double> columnMeans(const MatrixView &matrix);

} // namespace mct::quantization

#endif // MCT_LIB_QUANTIZATION_PRODUCTMOMENTS_H
