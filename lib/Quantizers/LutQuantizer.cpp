// SPDX-License-Identifier: Apache-2.0

#include "mct/Quantizers/LutQuantizer.h"

#include "mct/Quantizers/Channels.h"
#include "mct/Quantizers/Simd.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace mct::quantization {

double tablePosition(double value, double threshold, bool isSigned,
                     unsigned tableBits) {
  double position =
      std::ldexp(value / (threshold + kTableEpsilon),
                 static_cast<int>(tableBits - (isSigned ? 1 : 0)));
  return std::clamp(position, double(tableMin(isSigned, tableBits)),
                    double(tableMax(isSigned, tableBits)));
}

/// The table that the vector loops read, in float.
struct LutFloatTable {
  float scale; // from units of the threshold to positions
  float lo, hi;
  const float *levels;
  const float *starts;
  size_t entries;
  const float *cellStart;
  const float *cellLow;
  const float *cellHigh;
};

namespace {

/// A table of at most this many entries is compared with entry by entry.
constexpr size_t kShortTable = 16;
/// Starts of the unit cells. Entries start at multiples of one half, up to a
/// rounding error, so none starts near the edge of a cell.
constexpr float kCellOffset = 0.25f;

/// Returns the number of a float in the order of floats, -0 before +0.
int64_t floatToOrder(float value) {
  auto bits = llvm::bit_cast<int32_t>(value);
  return bits >= 0 ? int64_t(bits) : -int64_t(bits & 0x7fffffff) - 1;
}
float orderToFloat(int64_t order) {
  return llvm::bit_cast<float>(
      order >= 0 ? int32_t(order)
                 : int32_t(uint32_t(-(order + 1)) | 0x80000000u));
}

/// Returns the smallest position from which `upper` wins against `lower`.
/// Distances are rounded: near zero a whole range of positions is as far from
/// one as from the other.
float firstPositionOf(float lower, float upper, bool upperWinsTies) {
  auto upperWins = [&](float position) {
    float below = position - lower, above = upper - position;
    return upperWinsTies ? above <= below : above < below;
  };
  int64_t no = floatToOrder(lower), yes = floatToOrder(upper);
  while (yes - no > 1) {
    int64_t middle = no + (yes - no) / 2;
    (upperWins(orderToFloat(middle)) ? yes : no) = middle;
  }
  return orderToFloat(yes);
}

MCT_VECTOR_BODY float levelOf(const LutFloatTable &table, float value,
                              float divisor) {
  float position = value / divisor * table.scale;
  position = position > table.lo ? position : table.lo;
  position = position < table.hi ? position : table.hi;
  float level = table.levels[0];
  for (size_t entry = 1; entry < table.entries; ++entry)
    level = position >= table.starts[entry] ? table.levels[entry] : level;
  return level;
}

/// Quantizes across channels: element i has its own divisor and threshold.
template <bool Across>
MCT_VECTOR_BODY void quantizeShort(const LutFloatTable &table,
                                   const float *divisors,
                                   const float *thresholds, const float *input,
                                   float *output, size_t count) {
  const Float16 zero{}, scale = zero + table.scale, lo = zero + table.lo,
                        hi = zero + table.hi;
  Float16 divisor = zero + divisors[0], threshold = zero + thresholds[0];
  size_t i = 0;
  for (; i + 16 <= count; i += 16) {
    if (Across) {
      divisor = loadVector<Float16>(divisors + i);
      threshold = loadVector<Float16>(thresholds + i);
    }
    Float16 position = loadVector<Float16>(input + i) / divisor * scale;
    position = position > lo ? position : lo;
    position = position < hi ? position : hi;
    Float16 level = zero + table.levels[0];
    for (size_t entry = 1; entry < table.entries; ++entry)
      level = position >= zero + table.starts[entry]
                  ? zero + table.levels[entry]
                  : level;
    storeVector(output + i, level * threshold);
  }
  for (; i < count; ++i)
    output[i] = levelOf(table, input[i], divisors[Across ? i : 0]) *
                thresholds[Across ? i : 0];
}

template <bool Across>
MCT_VECTOR_BODY void quantizeLong(const LutFloatTable &table,
                                  const float *divisors,
                                  const float *thresholds, const float *input,
                                  float *output, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    float position = input[i] / divisors[Across ? i : 0] * table.scale;
    position = position > table.lo ? position : table.lo;
    position = position < table.hi ? position : table.hi;
    // The sum is positive, so that the conversion rounds down.
    auto cell = static_cast<int32_t>((position + kCellOffset) - (table.lo - 1));
    float level = position >= table.cellStart[cell] ? table.cellHigh[cell]
                                                    : table.cellLow[cell];
    output[i] = level * thresholds[Across ? i : 0];
  }
}

float saturate(double value) {
  constexpr double kLargest = std::numeric_limits<float>::max();
  return static_cast<float>(std::clamp(value, -kLargest, kLargest));
}

} // namespace

LutFloatTable LutQuantizer::floatTable() const {
  return {std::ldexp(1.0f, static_cast<int>(tableBits - (isSigned ? 1 : 0))),
          static_cast<float>(tableMin(isSigned, tableBits)),
          static_cast<float>(tableMax(isSigned, tableBits)),
          levels.data(),
          starts.data(),
          levels.size(),
          cellStart.data(),
          cellLow.data(),
          cellHigh.data()};
}

LutQuantizer::LutQuantizer(llvm::ArrayRef<int64_t> table,
                           llvm::ArrayRef<double> thresholds, bool isSigned,
                           unsigned tableBits)
    : entries(table.begin(), table.end()),
      thresholds(thresholds.begin(), thresholds.end()), isSigned(isSigned),
      tableBits(tableBits) {
  assert(!table.empty() && !thresholds.empty() && tableBits >= 1 &&
         tableBits <= 8 && "checked by the parser of the table");
  for (double threshold : thresholds) {
    auto narrow = static_cast<float>(threshold);
    allNarrow &= std::isfinite(narrow);
    narrowThresholds.push_back(narrow);
    divisors.push_back(narrow + static_cast<float>(kTableEpsilon));
  }

  // Position in the list of the first of equal entries.
  std::vector<std::pair<int64_t, size_t>> sorted;
  for (auto [index, entry] : llvm::enumerate(entries))
    sorted.push_back({entry, index});
  llvm::sort(sorted);
  sorted.erase(std::unique(sorted.begin(), sorted.end(),
                           [](const auto &a, const auto &b) {
                             return a.first == b.first;
                           }),
               sorted.end());
  int shift = -static_cast<int>(tableBits - (isSigned ? 1 : 0));
  for (auto [i, entry] : llvm::enumerate(sorted)) {
    auto integer = static_cast<float>(entry.first);
    levels.push_back(std::ldexp(integer, shift));
    starts.push_back(
        i == 0 ? -std::numeric_limits<float>::infinity()
               : firstPositionOf(static_cast<float>(sorted[i - 1].first),
                                 integer, entry.second < sorted[i - 1].second));
  }
  if (levels.size() <= kShortTable)
    return;

  // Cell c holds the positions from lo + c - 1 - kCellOffset.
  auto lo = static_cast<float>(tableMin(isSigned, tableBits));
  size_t cells = size_t(tableMax(isSigned, tableBits) - int64_t(lo)) + 2;
  size_t entry = 0;
  for (size_t cell = 0; cell < cells; ++cell) {
    float end = lo + static_cast<float>(cell) - kCellOffset;
    cellLow.push_back(levels[entry]);
    bool starting = entry + 1 < levels.size() && starts[entry + 1] < end;
    cellStart.push_back(starting ? starts[++entry]
                                 : std::numeric_limits<float>::infinity());
    cellHigh.push_back(levels[entry]);
  }
}

void LutQuantizer::runRow(size_t channel, const float *input, float *output,
                          size_t count) const {
  if (!std::isfinite(narrowThresholds[channel])) {
    for (size_t i = 0; i < count; ++i) {
      double value = std::isnan(input[i])
                         ? -std::numeric_limits<double>::infinity()
                         : double(input[i]);
      double position =
          tablePosition(value, thresholds[channel], isSigned, tableBits);
      size_t entry = 0;
      while (entry + 1 < levels.size() && position >= double(starts[entry + 1]))
        ++entry;
      output[i] = saturate(levels[entry] * thresholds[channel]);
    }
    return;
  }
  const LutFloatTable table = floatTable();
  if (cellStart.empty())
    runVectorLoop<quantizeShort<false>>(table, &divisors[channel],
                                        &narrowThresholds[channel], input,
                                        output, count);
  else
    runVectorLoop<quantizeLong<false>>(table, &divisors[channel],
                                       &narrowThresholds[channel], input,
                                       output, count);
}

void LutQuantizer::run(llvm::ArrayRef<int64_t> shape,
                       llvm::ArrayRef<int64_t> axes, const float *input,
                       float *output) const {
  if (thresholds.size() == 1)
    axes = {};
  const LutFloatTable table = floatTable();
  forEachChannelRun(
      shape, axes,
      [&](size_t begin, size_t length, int64_t channel, int64_t channelStep) {
        if (channelStep == 0) {
          runRow(channel, input + begin, output + begin, length);
        } else if (!allNarrow) {
          for (size_t i = 0; i < length; ++i)
            runRow(channel + i, input + begin + i, output + begin + i, 1);
        } else if (cellStart.empty()) {
          runVectorLoop<quantizeShort<true>>(
              table, &divisors[channel], &narrowThresholds[channel],
              input + begin, output + begin, length);
        } else {
          runVectorLoop<quantizeLong<true>>(
              table, &divisors[channel], &narrowThresholds[channel],
              input + begin, output + begin, length);
        }
      });
}

} // namespace mct::quantization
