// SPDX-License-Identifier: Apache-2.0
//
// Which values the tensors of an integer TOSA network can have, by interval
// arithmetic, and where an op may meet values that it is not defined for.
#ifndef MCT_ANALYSIS_INTEGERRANGES_H
#define MCT_ANALYSIS_INTEGERRANGES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include <optional>
#include <vector>

namespace mct {

//===----------------------------------------------------------------------===//
// Intervals
//===----------------------------------------------------------------------===//

/// Integers from `low` to `high`, both included; never empty. Arithmetic
/// saturates at the ends of int64_t.
struct Interval {
  int64_t low = 0, high = 0;

  static Interval point(int64_t value) { return {value, value}; }
  /// Of a signless integer type read as signed; i1 has 0 and 1. None for other
  /// types and for more than 48 bits.
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

/// The smallest interval that holds both.
Interval unite(Interval a, Interval b);
/// What both hold, or `a` where they have nothing in common.
Interval intersect(Interval a, Interval b);
Interval add(Interval a, Interval b);
Interval subtract(Interval a, Interval b);
/// Products, each divided by 2^shift with halves rounded up. 0 <= shift <= 62.
Interval multiply(Interval a, Interval b, unsigned shift = 0);
/// Quotients rounded towards zero, over all divisors but 0; {0, 0} when there
/// is no other.
Interval divide(Interval a, Interval b);
/// Each value clamped.
Interval clamp(Interval a, Interval limits);
Interval absolute(Interval a);
/// Arithmetic, by amounts from 0 to 62; `round`: halves up.
Interval shiftRight(Interval a, Interval amount, bool round);
/// a * 2^amount, by amounts from 0 to 62.
Interval shiftLeft(Interval a, Interval amount);
/// Leading zeros of 32-bit values.
Interval countLeadingZeros(Interval a);

/// How `tosa.rescale` scales one value, whose zero point is off.
struct RescaleFactor {
  int64_t multiplier = 1 << 30;
  /// 2 to 62.
  int64_t shift = 30;
  bool doubleRound = false;

  /// (value * multiplier + 2^(shift-1)) >> shift
  int64_t operator()(int64_t value) const;
  Interval operator()(Interval values) const {
    return {(*this)(values.low), (*this)(values.high)};
  }
  /// What a 32-bit rescale is defined for.
  Interval getDomain() const {
    return {-(int64_t(1) << (shift - 1)), (int64_t(1) << (shift - 1)) - 1};
  }
};

/// What `tosa.table` looks up: 256 entries for i8, or 513 for i16, between
/// which it interpolates.
Interval lookUp(llvm::ArrayRef<int64_t> table, Interval index);

//===----------------------------------------------------------------------===//
// Ranges of a function
//===----------------------------------------------------------------------===//

/// An op that may meet values that it is not defined for.
struct RangeViolation {
  enum class Kind {
    RescaleInput, // |value| >= 2^(shift-1)
    Result,       // the result, or a sum on the way to it, leaves its type
    Divisor,      // may be zero
    ShiftAmount,  // not below the width
    Cast,         // to a type that does not hold the values
  };
  Kind kind;
  mlir::Operation *op;
  /// What it may meet, and what it is defined for.
  Interval found, allowed;
  /// Index along the last axis; none when it is the same for all.
  std::optional<int64_t> channel;
};

/// A sum: a convolution, a matrix product, or `tosa.reduce_sum`.
struct Accumulator {
  mlir::Operation *op;
  /// The largest magnitude that any of its terms and its bias can sum up to, in
  /// whatever order; for each output channel, or one for all.
  std::vector<int64_t> magnitudes;
};

/// Which values every integer tensor of a function can have, from the types of
/// its arguments, its constants, clamps, tables and rescales, for each index of
/// the last axis by itself.
///
/// Sound: no value is outside. The ends are reached by the sums of convolutions
/// with constant weights, if their inputs are independent. Three relations
/// between values are kept, which softmax needs: what is computed element by
/// element from one value (so that byte tables of one index, or the steps of a
/// division by Newton's method, are taken together), that x - max(x) is never
/// positive, and that it is zero somewhere.
class IntegerRanges {
public:
  explicit IntegerRanges(mlir::func::FuncOp function);

  /// For all elements; none when it is no tensor of integers up to 48 bits.
  std::optional<Interval> get(mlir::Value value) const;
  /// One for all elements, or one for each index of the last axis; empty where
  /// `get` has none.
  llvm::ArrayRef<Interval> getChannels(mlir::Value value) const;
  /// In program order, at most one of a kind for each op: the worst.
  llvm::ArrayRef<RangeViolation> getViolations() const { return violations; }
  llvm::ArrayRef<Accumulator> getAccumulators() const { return accumulators; }

private:
  friend class RangePropagation;

  llvm::DenseMap<mlir::Value, std::vector<Interval>> ranges;
  std::vector<RangeViolation> violations;
  std::vector<Accumulator> accumulators;
};

} // namespace mct

#endif // MCT_ANALYSIS_INTEGERRANGES_H
