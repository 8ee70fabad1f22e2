// SPDX-License-Identifier: Apache-2.0

#include "FloatErrors.h"

#include "mct/Quantizers/Simd.h"

#include <algorithm>

namespace mct::quantization {

namespace {

constexpr size_t kRun = 1024;

/// Sum of (v - k)^2 for each grid of the batch.
template <bool Weighted, int Count>
MCT_VECTOR_BODY void sumErrors(const float *values, const float *weights,
                               size_t count, const GridBatch &batch,
                               double *errors) {
  using Float8 = float __attribute__((vector_size(32)));
  Float16 inverse[Count], lo[Count], hi[Count];
  Double8 totals[Count];
  for (int j = 0; j < Count; ++j) {
    inverse[j] = Float16{} + batch.inverse[j];
    lo[j] = Float16{} + batch.lo[j];
    hi[j] = Float16{} + batch.hi[j];
    totals[j] = Double8{};
  }
  const Float16 rounder = Float16{} + kFloatRounder;
  for (size_t begin = 0; begin < count; begin += kRun) {
    size_t end = begin + kRun < count ? begin + kRun : count;
    Float16 sums[Count];
    for (int j = 0; j < Count; ++j)
      sums[j] = Float16{};
    for (size_t i = begin; i < end; i += 16) {
      Float16 x = loadVector<Float16>(values + i), weight{};
      if (Weighted)
        weight = loadVector<Float16>(weights + i);
      for (int j = 0; j < Count; ++j) {
        Float16 v = x * inverse[j];
        Float16 clamped = v > lo[j] ? v : lo[j];
        clamped = clamped < hi[j] ? clamped : hi[j];
        Float16 residual = v - ((clamped + rounder) - rounder);
        sums[j] +=
            Weighted ? weight * residual * residual : residual * residual;
      }
    }
    for (int j = 0; j < Count; ++j) {
      Float8 low =
          __builtin_shufflevector(sums[j], sums[j], 0, 1, 2, 3, 4, 5, 6, 7);
      Float8 high = __builtin_shufflevector(sums[j], sums[j], 8, 9, 10, 11, 12,
                                            13, 14, 15);
      totals[j] += __builtin_convertvector(low, Double8);
      totals[j] += __builtin_convertvector(high, Double8);
    }
  }
  for (int j = 0; j < Count; ++j) {
    errors[j] = 0;
    for (int lane = 0; lane < 8; ++lane)
      errors[j] += totals[j][lane];
  }
}

/// Fills the places of a batch that has fewer grids.
GridBatch filled(GridBatch batch) {
  for (int j = std::max(batch.count, 1); j < kBatch; ++j) {
    batch.inverse[j] = batch.inverse[0];
    batch.lo[j] = batch.lo[0];
    batch.hi[j] = batch.hi[0];
  }
  return batch;
}

} // namespace

void sumFloatErrors(const float *values, size_t count, const GridBatch &batch,
                    double *errors) {
  if (batch.count <= 2)
    runVectorLoop<sumErrors<false, 2>>(values, nullptr, count, filled(batch),
                                       errors);
  else
    runVectorLoop<sumErrors<false, 4>>(values, nullptr, count, filled(batch),
                                       errors);
}

void sumWeightedFloatErrors(const float *values, const float *weights,
                            size_t count, const GridBatch &batch,
                            double *errors) {
  runVectorLoop<sumErrors<true, 4>>(values, weights, count, filled(batch),
                                    errors);
}

} // namespace mct::quantization
