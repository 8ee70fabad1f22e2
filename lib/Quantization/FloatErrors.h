// SPDX-License-Identifier: Apache-2.0

#ifndef MCT_LIB_QUANTIZATION_FLOATERRORS_H
#define MCT_LIB_QUANTIZATION_FLOATERRORS_H

#include "llvm/ADT/ArrayRef.h"

#include <cstddef>

namespace mct::quantization {

/// Grids that one pass in float evaluates together. Levels are counted from the
/// zero of the grid and at most 2^22 away from it.
constexpr int kBatch = 4;
struct GridBatch {
  int count = 0;              // of the grids, 1 to kBatch
  float inverse[kBatch] = {}; // of the step
  float lo[kBatch] = {};
  float hi[kBatch] = {};

  void add(double inverseStep, double first, double last) {
    inverse[count] = static_cast<float>(inverseStep);
    lo[count] = static_cast<float>(first);
    hi[count++] = static_cast<float>(last);
  }
};

/// The values [begin, end), both multiples of 16.
struct Stretch {
  size_t begin = 0;
  size_t end = 0;
};

/// Returns values that no grid of the batch clips, in whole blocks of 16.
/// `values` ascend up to `size` and are zeros from there on.
Stretch findUnclipped(llvm::ArrayRef<float> values, size_t size,
                      const GridBatch &batch);

/// Adds for each grid the sum of (v - level)^2, v = float(value * inverse).
/// `count` is a multiple of 16; `errors` has kBatch elements. Values that are
/// known not to be clipped take less time; the sums have the same bits.
///
/// Terms are added up in float over runs of 1024 values, then in double: the
/// relative error of a sum is at most kFloatSumLoss, in addition to that of
/// rounding v.
void sumFloatErrors(const float *values, size_t count, const GridBatch &batch,
                    double *errors, Stretch unclipped = {});
/// Does the same with each term times its weight.
void sumWeightedFloatErrors(const float *values, const float *weights,
                            size_t count, const GridBatch &batch,
                            double *errors, Stretch unclipped = {});

// A run adds 64 vectors, and each term is rounded a few times.
constexpr double kFloatSumLoss = 80 * 0x1p-24;

} // namespace mct::quantization

#endif // MCT_LIB_QUANTIZATION_FLOATERRORS_H
