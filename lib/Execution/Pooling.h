// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_LIB_EXECUTION_POOLING_H
#define MCT_LIB_EXECUTION_POOLING_H

#include <cstdint>

namespace mct::execution {

/// A pooling window over NHWC data, in the conventions of TOSA.
struct PoolingShape {
  int64_t batch = 1;
  int64_t inputHeight = 1, inputWidth = 1, channels = 1;
  int64_t outputHeight = 1, outputWidth = 1;
  int64_t kernelHeight = 1, kernelWidth = 1;
  int64_t strideHeight = 1, strideWidth = 1;
  int64_t padTop = 0, padLeft = 0;
};

/// Computes the mean over the elements of each window that are not padding.
void averagePool(const PoolingShape &shape, const float *input, float *output);

/// Computes the largest element of each window; NaN if there is one.
void maximumPool(const PoolingShape &shape, const float *input, float *output);
void maximumPool(const PoolingShape &shape, const int8_t *input,
                 int8_t *output);

} // namespace mct::execution

#endif // MCT_LIB_EXECUTION_POOLING_H
