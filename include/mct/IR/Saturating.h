// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic that saturates at the ends of int64_t.
#ifndef MCT_IR_SATURATING_H
#define MCT_IR_SATURATING_H

#include <cstdint>
#include <limits>

namespace mct {

inline int64_t saturate(__int128 value) {
  constexpr int64_t lowest = std::numeric_limits<int64_t>::min();
  constexpr int64_t highest = std::numeric_limits<int64_t>::max();
  return value < lowest ? lowest : value > highest ? highest : int64_t(value);
}
inline int64_t addSaturating(int64_t a, int64_t b) {
  return saturate(__int128(a) + b);
}
inline int64_t multiplySaturating(int64_t a, int64_t b) {
  return saturate(__int128(a) * b);
}

} // namespace mct

#endif // MCT_IR_SATURATING_H
