// SPDX-License-Identifier: Apache-2.0

#include "FloatErrors.h"

#include "mct/Quantizers/Simd.h"

#include <algorithm>

namespace mct::quantization {

namespace {

constexpr size_t kRun = 1024;

/// Accumulators of a loop over values, for each grid.
template <int Count> struct Lanes {
  Float16 inverse[Count], lo[Count], hi[Count], sums[Count];
};

/// Adds (v - k)^2 of the values [begin, end). Without `Clips` each value lies
/// between the first and the last level.
template <bool Weighted, bool Clips, int Count>
MCT_VECTOR_BODY void addErrors(const float *values, const float *weights,
                               size_t begin, size_t end, Lanes<Count> &lanes) {
  const Float16 rounder = Float16{} + kFloatRounder;
  for (size_t i = begin; i < end; i += 16) {
    Float16 x = loadVector<Float16>(values + i), weight{};
    if (Weighted)
      weight = loadVector<Float16>(weights + i);
    for (int j = 0; j < Count; ++j) {
      Float16 v = x * lanes.inverse[j];
      Float16 clamped = v;
      if (Clips) {
        clamped = v > lanes.lo[j] ? v : lanes.lo[j];
        clamped = clamped < lanes.hi[j] ? clamped : lanes.hi[j];
      }
      Float16 residual = v - ((clamped + rounder) - rounder);
      lanes.sums[j] +=
          Weighted ? weight * residual * residual : residual * residual;
    }
  }
}

/// Sum of (v - k)^2 for each grid of the batch.
template <bool Weighted, int Count>
MCT_VECTOR_BODY void sumErrors(const float *values, const float *weights,
                               size_t count, const GridBatch &batch,
                               const Stretch &unclipped, double *errors) {
  using Float8 = float __attribute__((vector_size(32)));
  Lanes<Count> lanes;
  Double8 totals[Count];
  for (int j = 0; j < Count; ++j) {
    lanes.inverse[j] = Float16{} + batch.inverse[j];
    lanes.lo[j] = Float16{} + batch.lo[j];
    lanes.hi[j] = Float16{} + batch.hi[j];
    totals[j] = Double8{};
  }
  for (size_t begin = 0; begin < count; begin += kRun) {
    size_t end = begin + kRun < count ? begin + kRun : count;
    size_t first = unclipped.begin < begin ? begin : unclipped.begin;
    first = first < end ? first : end;
    size_t last = unclipped.end < end ? unclipped.end : end;
    last = last < first ? first : last;
    for (int j = 0; j < Count; ++j)
      lanes.sums[j] = Float16{};
    addErrors<Weighted, true>(values, weights, begin, first, lanes);
    addErrors<Weighted, false>(values, weights, first, last, lanes);
    addErrors<Weighted, true>(values, weights, last, end, lanes);
    for (int j = 0; j < Count; ++j) {
      Float16 sum = lanes.sums[j];
      Float8 low = __builtin_shufflevector(sum, sum, 0, 1, 2, 3, 4, 5, 6, 7);
      Float8 high =
          __builtin_shufflevector(sum, sum, 8, 9, 10, 11, 12, 13, 14, 15);
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

/// Fills the unused entries of a batch that has fewer grids.
GridBatch filled(GridBatch batch) {
  for (int j = std::max(batch.count, 1); j < kBatch; ++j) {
    batch.inverse[j] = batch.inverse[0];
    batch.lo[j] = batch.lo[0];
    batch.hi[j] = batch.hi[0];
  }
  return batch;
}

} // namespace

Stretch findUnclipped(llvm::ArrayRef<float> values, size_t size,
                      const GridBatch &batch) {
  auto isBelow = [&](float value) {
    for (int j = 0; j < batch.count; ++j)
      if (value * batch.inverse[j] < batch.lo[j])
        return true;
    return false;
  };
  auto isAbove = [&](float value) {
    for (int j = 0; j < batch.count; ++j)
      if (value * batch.inverse[j] > batch.hi[j])
        return true;
    return false;
  };
  // A grid that is worth evaluating clips few values.
  Stretch stretch = {0, values.size()};
  while (stretch.begin < stretch.end && isBelow(values[stretch.begin]))
    stretch.begin += 16;
  while (stretch.begin < stretch.end &&
         isAbove(values[std::min(stretch.end, size) - 1]))
    stretch.end -= 16;
  return stretch;
}

void sumFloatErrors(const float *values, size_t count, const GridBatch &batch,
                    double *errors, Stretch unclipped) {
  if (batch.count <= 2)
    runVectorLoop<sumErrors<false, 2>>(values, nullptr, count, filled(batch),
                                       unclipped, errors);
  else
    runVectorLoop<sumErrors<false, 4>>(values, nullptr, count, filled(batch),
                                       unclipped, errors);
}

void sumWeightedFloatErrors(const float *values, const float *weights,
                            size_t count, const GridBatch &batch,
                            double *errors, Stretch unclipped) {
  runVectorLoop<sumErrors<true, 4>>(values, weights, count, filled(batch),
                                    unclipped, errors);
}

} // namespace mct::quantization
