// SPDX-License-Identifier: Apache-2.0

#include "BlockRange.h"

#include "mct/Quantizers/Simd.h"

#include <algorithm>

namespace mct::quantization {

namespace {

constexpr int32_t kMagnitudeMask = 0x7fffffff;

MCT_VECTOR_BODY void findBlockRange(const float *data, size_t count,
                                    BlockRange &range) {
  Float16 low[2], high[2];
  Int16x32 bits[2];
  for (int i = 0; i < 2; ++i) {
    low[i] = Float16{} + std::numeric_limits<float>::infinity();
    high[i] = -low[i];
    bits[i] = Int16x32{};
  }
  const Int16x32 mask = Int16x32{} + kMagnitudeMask;
  size_t i = 0;
  for (; i + 32 <= count; i += 32)
    for (int j = 0; j < 2; ++j) {
      Float16 x = loadVector<Float16>(data + i + 16 * j);
      Int16x32 magnitude = loadVector<Int16x32>(data + i + 16 * j) & mask;
      low[j] = x < low[j] ? x : low[j];
      high[j] = x > high[j] ? x : high[j];
      bits[j] = magnitude > bits[j] ? magnitude : bits[j];
    }
  for (int j = 0; j < 2; ++j)
    for (int lane = 0; lane < 16; ++lane) {
      range.min = std::min(range.min, float(low[j][lane]));
      range.max = std::max(range.max, float(high[j][lane]));
      range.largestBits = std::max(range.largestBits, int32_t(bits[j][lane]));
    }
  for (; i < count; ++i) {
    int32_t pattern;
    std::memcpy(&pattern, data + i, sizeof(pattern));
    range.min = data[i] < range.min ? data[i] : range.min;
    range.max = data[i] > range.max ? data[i] : range.max;
    range.largestBits = std::max(range.largestBits, pattern & kMagnitudeMask);
  }
}

} // namespace

BlockRange blockRange(const float *data, size_t count) {
  BlockRange range;
  runVectorLoop<findBlockRange>(data, count, range);
  return range;
}

} // namespace mct::quantization
