// SPDX-License-Identifier: Apache-2.0

#include "mct/Quantizers/Grid.h"

#include "mct/Quantizers/Channels.h"
#include "mct/Quantizers/Simd.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace mct::quantization {

bool isPowerOfTwo(double value) {
  int exponent;
  return std::frexp(value, &exponent) == 0.5;
}

Grid symmetricGrid(double threshold, unsigned bits, bool isSigned) {
  int64_t half = int64_t(1) << (bits - 1);
  Grid grid;
  grid.step = std::ldexp(threshold, -static_cast<int>(bits - isSigned));
  grid.qmin = isSigned ? -half : 0;
  grid.qmax = isSigned ? half - 1 : 2 * half - 1;
  return grid;
}

Grid uniformGrid(double step, int64_t zeroPoint, unsigned bits) {
  Grid grid;
  grid.step = step;
  grid.zeroPoint = zeroPoint;
  grid.qmax = (int64_t(1) << bits) - 1;
  return grid;
}

UniformParameters uniformParametersForRange(double lo, double hi, unsigned bits,
                                            double minThreshold) {
  lo = std::min(lo, 0.0);
  hi = std::max(hi, 0.0);
  double levels = std::ldexp(1.0, static_cast<int>(bits)) - 1;
  double step = (hi - lo) / levels;
  if (!(step > 0) || !std::isfinite(step))
    return {minThreshold, 0};
  return {step, static_cast<int64_t>(std::nearbyint(-lo / step))};
}

namespace {

/// A grid in the form that the vector loop uses: levels counted from the zero
/// point.
struct FloatGrid {
  float inverse;
  float step;
  float lo;
  float hi;
  float tieUp; // 1 for half up, 0 for half to even
};

// The vector loop rounds by `kFloatRounder`.
constexpr int64_t kLargestLevel = int64_t(1) << 22;

FloatGrid floatGrid(const Grid &grid) {
  float step = static_cast<float>(grid.step);
  return {1.0f / step, step, static_cast<float>(grid.qmin - grid.zeroPoint),
          static_cast<float>(grid.qmax - grid.zeroPoint),
          grid.rounding == Rounding::HalfUp ? 1.0f : 0.0f};
}

bool fitsFloatLoop(const Grid &grid) {
  float step = static_cast<float>(grid.step);
  return std::isfinite(step) && std::isfinite(1.0f / step) &&
         grid.qmin - grid.zeroPoint >= -kLargestLevel &&
         grid.qmax - grid.zeroPoint <= kLargestLevel &&
         std::isfinite(step * static_cast<float>(grid.qmin - grid.zeroPoint)) &&
         std::isfinite(step * static_cast<float>(grid.qmax - grid.zeroPoint));
}

void fakeQuantizeInDouble(const Grid &grid, const float *input, float *output,
                          size_t count) {
  double lo = static_cast<double>(grid.qmin - grid.zeroPoint);
  double hi = static_cast<double>(grid.qmax - grid.zeroPoint);
  constexpr double kLargest = std::numeric_limits<float>::max();
  for (size_t i = 0; i < count; ++i) {
    double level = input[i] / grid.step;
    level = level > lo ? level : lo;
    level = level < hi ? level : hi;
    double even = std::nearbyint(level);
    if (grid.rounding == Rounding::HalfUp && level - even == 0.5)
      even += 1;
    output[i] =
        static_cast<float>(std::clamp(even * grid.step, -kLargest, kLargest));
  }
}

// The limits are whole numbers, so clamping before rounding gives the same
// level and keeps the argument of the rounding small. The comparisons send a
// NaN to the lower limit. Rounding half to even leaves exactly 1/2 only where
// half up goes to the next level.
MCT_VECTOR_BODY float quantizeOne(float value, const FloatGrid &grid) {
  float exact = value * grid.inverse;
  exact = exact > grid.lo ? exact : grid.lo;
  exact = exact < grid.hi ? exact : grid.hi;
  float level = (exact + kFloatRounder) - kFloatRounder;
  level += exact - level == 0.5f ? grid.tieUp : 0.0f;
  return level * grid.step;
}

template <bool HalfUp>
MCT_VECTOR_BODY void quantizeRun(const FloatGrid &grid, const float *input,
                                 float *output, size_t count) {
  const Float16 zero{}, inverse = zero + grid.inverse, step = zero + grid.step,
                        lo = zero + grid.lo, hi = zero + grid.hi,
                        rounder = zero + kFloatRounder, half = zero + 0.5f,
                        one = zero + 1.0f;
  size_t i = 0;
  for (; i + 16 <= count; i += 16) {
    Float16 exact = loadVector<Float16>(input + i) * inverse;
    exact = exact > lo ? exact : lo;
    exact = exact < hi ? exact : hi;
    Float16 level = (exact + rounder) - rounder;
    if (HalfUp)
      level += exact - level == half ? one : zero;
    storeVector(output + i, level * step);
  }
  for (; i < count; ++i)
    output[i] = quantizeOne(input[i], grid);
}

/// Element i has its own grid: the i-th of five arrays.
MCT_VECTOR_BODY void quantizeAcross(const float *inverse, const float *step,
                                    const float *lo, const float *hi,
                                    const float *tieUp, const float *input,
                                    float *output, size_t count) {
  const Float16 zero{}, rounder = zero + kFloatRounder, half = zero + 0.5f;
  size_t i = 0;
  for (; i + 16 <= count; i += 16) {
    Float16 exact =
        loadVector<Float16>(input + i) * loadVector<Float16>(inverse + i);
    Float16 lower = loadVector<Float16>(lo + i);
    Float16 upper = loadVector<Float16>(hi + i);
    exact = exact > lower ? exact : lower;
    exact = exact < upper ? exact : upper;
    Float16 level = (exact + rounder) - rounder;
    Float16 up = loadVector<Float16>(tieUp + i);
    level += exact - level == half ? up : zero;
    storeVector(output + i, level * loadVector<Float16>(step + i));
  }
  for (; i < count; ++i)
    output[i] =
        quantizeOne(input[i], {inverse[i], step[i], lo[i], hi[i], tieUp[i]});
}

} // namespace

void fakeQuantize(const Grid &grid, const float *input, float *output,
                  size_t count) {
  if (!fitsFloatLoop(grid))
    return fakeQuantizeInDouble(grid, input, output, count);
  FloatGrid narrow = floatGrid(grid);
  if (grid.rounding == Rounding::HalfUp)
    runVectorLoop<quantizeRun<true>>(narrow, input, output, count);
  else
    runVectorLoop<quantizeRun<false>>(narrow, input, output, count);
}

void fakeQuantizePerChannel(llvm::ArrayRef<Grid> grids,
                            llvm::ArrayRef<int64_t> shape,
                            llvm::ArrayRef<int64_t> axes, const float *input,
                            float *output) {
  bool allFit = std::all_of(grids.begin(), grids.end(), fitsFloatLoop);
  std::vector<float> inverse, step, lo, hi, tieUp;
  auto prepareArrays = [&] {
    for (const Grid &grid : grids) {
      FloatGrid narrow = floatGrid(grid);
      inverse.push_back(narrow.inverse);
      step.push_back(narrow.step);
      lo.push_back(narrow.lo);
      hi.push_back(narrow.hi);
      tieUp.push_back(narrow.tieUp);
    }
  };
  forEachChannelRun(
      shape, axes,
      [&](size_t begin, size_t length, int64_t channel, int64_t channelStep) {
        if (channelStep == 0) {
          fakeQuantize(grids[channel], input + begin, output + begin, length);
          return;
        }
        if (!allFit) {
          for (size_t i = 0; i < length; ++i)
            fakeQuantize(grids[channel + i], input + begin + i,
                         output + begin + i, 1);
          return;
        }
        if (inverse.empty())
          prepareArrays();
        runVectorLoop<quantizeAcross>(
            &inverse[channel], &step[channel], &lo[channel], &hi[channel],
            &tieUp[channel], input + begin, output + begin, length);
      });
}

} // namespace mct::quantization
