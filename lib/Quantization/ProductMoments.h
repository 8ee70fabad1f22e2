// SPDX-License-Identifier: Apache-2.0

#ifndef MCT_LIB_QUANTIZATION_PRODUCTMOMENTS_H
#define MCT_LIB_QUANTIZATION_PRODUCTMOMENTS_H

#include "mct/Quantization/LeastSquaresRounding.h"

namespace mct::quantization {

/// A layer with more columns is wide: what is quick for it is not for others.
inline constexpr int64_t kWideColumns = 1024;

std::vector<double> columnMeans(const MatrixView &matrix);

} // namespace mct::quantization

#endif // MCT_LIB_QUANTIZATION_PRODUCTMOMENTS_H
