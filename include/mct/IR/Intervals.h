// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic on intervals of integers, with the rounding and the limits of
// TOSA's ops.
#ifndef MCT_IR_INTERVALS_H
#define MCT_IR_INTERVALS_H

#include "mlir/IR/Types.h"
#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <optional>

namespace mct {

/// Integers from `low` to `high`, both included; never empty. Arithmetic
/// saturates at the ends of int64_t.
struct Interval {
  int64_t low = 0, high = 0;

  static Interval point(int64_t value) { return {value, value}; }
  /// Returns the values of a signless integer type read as signed; i1 has 0 and
  /// 1. None for other types and for more than 48 bits.
  static std::optional<Interval> ofType(mlir::Type type);

  bool contains(int64_t value) const { return low <= value && value <= high; }
  bool contains(Interval other) const {
    return low <= other.low && other.high <= high;
  }
  bool operator==(const Interval &other) const {
    return low == other.low && high == other.high;
  }
  bool operator!=(const Interval &other) const { return !(*this == other); }
};

/// Returns the smallest interval that contains both.
Interval unite(Interval a, Interval b);
/// Returns the intersection, or `a` if it is empty.
Interval intersect(Interval a, Interval b);
Interval add(Interval a, Interval b);
Interval subtract(Interval a, Interval b);
/// Returns the products, each divided by 2^shift with halves rounded up. 0 <=
/// shift <= 62.
Interval multiply(Interval a, Interval b, unsigned shift = 0);
/// Returns the quotients rounded towards zero, over all divisors but 0; {0, 0}
/// if there is no other divisor.
Interval divide(Interval a, Interval b);
/// Returns the clamped values.
Interval clamp(Interval a, Interval limits);
Interval absolute(Interval a);
/// Shifts arithmetically, by amounts from 0 to 62; `round` rounds halves up.
Interval shiftRight(Interval a, Interval amount, bool round);
/// Returns a * 2^amount, by amounts from 0 to 62.
Interval shiftLeft(Interval a, Interval amount);
/// Counts the leading zeros of 32-bit values.
Interval countLeadingZeros(Interval a);

/// Scaling of one value by `tosa.rescale`, after its zero point was subtracted.
struct RescaleFactor {
  int64_t multiplier = 1 << 30;
  /// Shift, 2 to 62.
  int64_t shift = 30;
  bool doubleRound = false;

  /// Returns (value * multiplier + 2^(shift-1)) >> shift.
  int64_t operator()(int64_t value) const;
  Interval operator()(Interval values) const {
    return {(*this)(values.low), (*this)(values.high)};
  }
  /// Returns the values that a 32-bit rescale is defined for.
  Interval getDomain() const {
    return {-(int64_t(1) << (shift - 1)), (int64_t(1) << (shift - 1)) - 1};
  }
};

/// Returns the results of `tosa.table`, which has 256 entries for i8, or 513
/// for i16, between which it interpolates.
Interval lookUp(llvm::ArrayRef<int64_t> table, Interval index);

} // namespace mct

#endif // MCT_IR_INTERVALS_H
