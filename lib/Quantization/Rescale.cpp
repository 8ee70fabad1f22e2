// SPDX-License-Identifier: Apache-2.0
#include "mct/Quantization/Rescale.h"
#include <cmath>

using namespace mct::quantization;

static constexpr int kMinShift = 2;
static constexpr int kMaxShift = 62;

/// Returns a multiplier of `bits` bits, and shift.
static std::optional<std::pair<int64_t, int>> split(double factor, int bits,
                                                    FactorRounding rounding) {
  auto round = [&](double value) {
    return rounding == FactorRounding::Up ? int64_t(std::ceil(value))
                                          : int64_t(std::llround(value));
  };
  if (!(factor > 0) || !std::isfinite(factor))
    return std::nullopt;
  int exponent;
  double mantissa = std::frexp(factor, &exponent);
  int64_t multiplier = round(std::ldexp(mantissa, bits));
  if (multiplier == int64_t(1) << bits) {
    multiplier /= 2;
    ++exponent;
  }
  int shift = bits - exponent;
  if (shift < kMinShift)
    return std::nullopt;
  if (shift > kMaxShift) {
    // The factor is too small to fill the multiplier; keep the bits that are
    // left.
    multiplier = round(std::ldexp(factor, kMaxShift));
    shift = kMaxShift;
  }
  return std::pair(multiplier, shift);
}

std::optional<Rescale> Rescale::get(double factor, FactorRounding rounding) {
  std::optional<std::pair<int64_t, int>> parts = split(factor, 31, rounding);
  if (!parts)
    return std::nullopt;
  return Rescale{int32_t(parts->first), int8_t(parts->second)};
}

std::optional<ShortRescale> ShortRescale::get(double factor) {
  std::optional<std::pair<int64_t, int>> parts =
      split(factor, 15, FactorRounding::Nearest);
  if (!parts)
    return std::nullopt;
  return ShortRescale{int16_t(parts->first), int8_t(parts->second)};
}
