// SPDX-License-Identifier: Apache-2.0

#ifndef MCT_LIB_QUANTIZATION_BLOCKRANGE_H
#define MCT_LIB_QUANTIZATION_BLOCKRANGE_H

#include <cstddef>
#include <cstdint>
#include <limits>

namespace mct::quantization {

/// Extremes of a run of floats. Without values min is +inf and max -inf; a NaN
/// or an infinity only affects allFinite().
struct BlockRange {
  float min = std::numeric_limits<float>::infinity();
  float max = -std::numeric_limits<float>::infinity();
  /// Bits of the largest magnitude; a float's order is that of its bits.
  int32_t largestBits = 0;

  bool allFinite() const { return largestBits < 0x7f800000; }
};

BlockRange blockRange(const float *data, size_t count);

} // namespace mct::quantization

#endif // MCT_LIB_QUANTIZATION_BLOCKRANGE_H
