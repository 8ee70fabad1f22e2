// SPDX-License-Identifier: Apache-2.0

#ifndef MCT_QUANTIZERS_GRID_H
#define MCT_QUANTIZERS_GRID_H

#include "llvm/ADT/ArrayRef.h"

#include <cstddef>
#include <cstdint>

namespace mct::quantization {

/// Rounding of a value halfway between two levels.
enum class Rounding {
  HalfToEven, // to the even level, counted from the zero point: MCT, searches
  HalfUp,     // to the larger level: integer TOSA (`rescale`, SINGLE_ROUND)
};

bool isPowerOfTwo(double value);

/// One affine grid: real value = step * (q - zeroPoint), q in [qmin, qmax].
/// `step` is positive and in the unit of the tensor.
struct Grid {
  double step = 1.0;
  int64_t zeroPoint = 0;
  int64_t qmin = 0;
  int64_t qmax = 0;
  Rounding rounding = Rounding::HalfToEven;

  bool operator==(const Grid &other) const {
    return step == other.step && zeroPoint == other.zeroPoint &&
           qmin == other.qmin && qmax == other.qmax &&
           rounding == other.rounding;
  }
  bool operator!=(const Grid &other) const { return !(*this == other); }
};

/// Returns the grid of the power-of-two and symmetric methods: step = threshold
/// / 2^(bits - signed), zero point 0, 2^bits levels from -threshold (or 0) to
/// threshold - step. `threshold` > 0, 1 <= `bits` <= 32.
Grid symmetricGrid(double threshold, unsigned bits, bool isSigned);

/// Returns the grid of the uniform method: q in [0, 2^bits - 1].
Grid uniformGrid(double step, int64_t zeroPoint, unsigned bits);

/// Step and zero point of a uniform grid.
struct UniformParameters {
  double step = 0;
  int64_t zeroPoint = 0;
};

/// Returns the uniform grid of the range [lo, hi], moved so that zero is a
/// level: a range of one sign is extended to zero, any other slides by less
/// than half a step and keeps its width. An empty range at zero, or one that is
/// not finite, gives (minThreshold, 0), never NaN. Source: MCT
/// `fix_range_to_include_zero`.
UniformParameters uniformParametersForRange(double lo, double hi, unsigned bits,
                                            double minThreshold = 0x1p-16);

/// Quantizes and dequantizes `count` values; `input` may be `output`.
///
/// In float: inv = 1 / float(step), q = clamp(round(x * inv) + zeroPoint, qmin,
/// qmax), y = float(q - zeroPoint) * float(step). The product is rounded to
/// float before it is rounded to a level, as in the deployed PyTorch quantizers
/// of mct_quantizers. Both roundings are exact for every product: half up is
/// not floor(x * inv + 0.5), whose sum would itself be rounded. A NaN becomes
/// the value of qmin, an infinity the end of its side. If the inverse of a
/// small step is not a float, or an end of the grid is beyond the largest
/// float, the computation is done in double instead, and clipped to the largest
/// float: finite values stay finite.
void fakeQuantize(const Grid &grid, const float *input, float *output,
                  size_t count);

/// Applies `fakeQuantize` with one grid per channel. The tensor has the
/// row-major `shape`; a channel is one index of `axes` (ascending, none twice),
/// its number is the row-major index over those axes, so `grids` has as many
/// entries as the product of their sizes. Without axes, one grid applies to the
/// whole tensor.
void fakeQuantizePerChannel(llvm::ArrayRef<Grid> grids,
                            llvm::ArrayRef<int64_t> shape,
                            llvm::ArrayRef<int64_t> axes, const float *input,
                            float *output);

} // namespace mct::quantization

#endif // MCT_QUANTIZERS_GRID_H
