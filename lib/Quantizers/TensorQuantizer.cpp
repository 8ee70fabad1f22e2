// SPDX-License-Identifier: Apache-2.0

#include "mct/Quantizers/TensorQuantizer.h"

#include "mct/Quantizers/Channels.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace mct::quantization {

TensorQuantizer::~TensorQuantizer() = default;

AffineQuantizer::AffineQuantizer(llvm::ArrayRef<Grid> grids)
    : grids(grids.begin(), grids.end()) {}

void AffineQuantizer::run(llvm::ArrayRef<int64_t> shape,
                          llvm::ArrayRef<int64_t> axes, const float *input,
                          float *output) const {
  if (grids.size() != 1) {
    fakeQuantizePerChannel(grids, shape, axes, input, output);
    return;
  }
  size_t count = 1;
  for (int64_t size : shape)
    count *= size_t(size);
  fakeQuantize(grids.front(), input, output, count);
}

/// Returns the smallest float that is nearer to `upper` than to `lower`, or as
/// near and goes up.
static float findFirstAbove(float lower, float upper, bool tieGoesUp) {
  // Two floats have an exact sum in double unless one is 2^29 times the other,
  // and then the nearest double compares with floats in the same way.
  double middle = 0.5 * (double(lower) + double(upper));
  auto start = static_cast<float>(middle);
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  if (double(start) < middle || (double(start) == middle && !tieGoesUp))
    start = std::nextafter(start, kInfinity);
  return start;
}

LevelQuantizer::LevelQuantizer(llvm::ArrayRef<std::vector<float>> levels,
                               Rounding rounding) {
  for (const std::vector<float> &ofRow : levels) {
    assert(!ofRow.empty() && "a quantizer has levels");
    auto zero = std::find(ofRow.begin(), ofRow.end(), 0.0f);
    size_t origin = zero == ofRow.end() ? 0 : size_t(zero - ofRow.begin());
    Row row;
    row.levels = ofRow;
    row.starts.push_back(-std::numeric_limits<float>::infinity());
    for (size_t i = 1; i < ofRow.size(); ++i) {
      bool isEven = (i + origin) % 2 == 0;
      row.starts.push_back(findFirstAbove(
          ofRow[i - 1], ofRow[i], rounding == Rounding::HalfUp || isEven));
    }
    rows.push_back(std::move(row));
  }
}

void LevelQuantizer::runRow(const Row &row, const float *input, float *output,
                            size_t count) {
  for (size_t i = 0; i < count; ++i) {
    // A NaN is below every start.
    auto above = std::partition_point(
        row.starts.begin() + 1, row.starts.end(),
        [value = input[i]](float start) { return value >= start; });
    output[i] = row.levels[size_t(above - row.starts.begin()) - 1];
  }
}

void LevelQuantizer::run(llvm::ArrayRef<int64_t> shape,
                         llvm::ArrayRef<int64_t> axes, const float *input,
                         float *output) const {
  if (rows.size() == 1)
    axes = {};
  forEachChannelRun(
      shape, axes,
      [&](size_t begin, size_t length, int64_t channel, int64_t channelStep) {
        if (channelStep == 0)
          return runRow(rows[channel], input + begin, output + begin, length);
        for (size_t i = 0; i < length; ++i)
          runRow(rows[channel + i], input + begin + i, output + begin + i, 1);
      });
}

} // namespace mct::quantization
