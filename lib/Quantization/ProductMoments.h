// SPDX-License-Identifier: Apache-2.0

#ifndef MCT_LIB_QUANTIZATION_PRODUCTMOMENTS_H
#define MCT_LIB_QUANTIZATION_PRODUCTMOMENTS_H

#include "mct/Quantization/LeastSquaresRounding.h"

namespace mct::quantization {

/// Number of columns above which a layer is wide: the fastest method for it is
/// not that for others.
inline constexpr int64_t kWideColumns = 1024;

/// Number of columns up to which products are fast in any case.
inline constexpr int64_t kFewColumns = 64;
/// Ratio of columns to rows from which the covariance has a low rank:
/// multiplying by the rows twice is then faster.
inline constexpr int64_t kLowRank = 5;

std::vector<double> columnMeans(const MatrixView &matrix);

} // namespace mct::quantization

#endif // MCT_LIB_QUANTIZATION_PRODUCTMOMENTS_H
