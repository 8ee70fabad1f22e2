// SPDX-License-Identifier: Apache-2.0
//
// Multiplication of integers by real factors, as integer hardware does it.
#ifndef MCT_QUANTIZATION_RESCALE_H
#define MCT_QUANTIZATION_RESCALE_H

#include <cstdint>
#include <optional>

namespace mct::quantization {

enum class FactorRounding {
  /// Rounds to the nearest multiplier.
  Nearest,
  /// Rounds to one that is not below the factor.
  Up
};

/// A factor multiplier * 2^-shift. The multiplier has 31 bits and lies in
/// [2^30, 2^31), or is smaller if the shift is the largest; the shift lies in
/// [2, 62]. A power of two 2^-k has the multiplier 2^30 and the shift 30+k.
///
/// Source: TOSA 1.0, RESCALE with `scale32` and SINGLE_ROUND.
struct Rescale {
  int32_t multiplier = 1 << 30;
  int8_t shift = 30;

  /// Returns none for a factor that is not positive and finite, or that is 2^29
  /// or more.
  static std::optional<Rescale>
  get(double factor, FactorRounding rounding = FactorRounding::Nearest);

  /// Returns value * factor, rounded half up. Requires |value| < `getLimit()`.
  int64_t apply(int64_t value) const {
    return (value * multiplier + (int64_t(1) << (shift - 1))) >> shift;
  }
  /// Returns the limit of the values, which TOSA requires to be in [-limit,
  /// limit).
  int64_t getLimit() const { return int64_t(1) << (shift - 1); }

  bool operator==(const Rescale &other) const {
    return multiplier == other.multiplier && shift == other.shift;
  }
};

/// The same with a multiplier of 15 bits, in [2^14, 2^15), as TOSA uses it for
/// accumulators of 48 bits (`scale32 = false`).
struct ShortRescale {
  int16_t multiplier = 1 << 14;
  int8_t shift = 14;

  /// Returns the nearest factor; none for a factor that is not positive and
  /// finite, or that is 2^13 or more.
  static std::optional<ShortRescale> get(double factor);
};

} // namespace mct::quantization

#endif // MCT_QUANTIZATION_RESCALE_H
