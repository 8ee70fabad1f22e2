// SPDX-License-Identifier: Apache-2.0
//
// Values that the tensors of an integer TOSA network can have, by interval
// arithmetic, and where an op may meet values that it is not defined for.
#ifndef MCT_INTEGERRANGES_INTEGERRANGES_H
#define MCT_INTEGERRANGES_INTEGERRANGES_H

#include "mct/IR/Intervals.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include <optional>
#include <vector>

namespace mct {

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
  /// Values that it may meet, and values that it is defined for.
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

/// Values that every integer tensor of a function can have, from the types of
/// its arguments and what `tpc.quantized` says of them, its constants, clamps,
/// tables and rescales, for each index of the last axis by itself.
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

  /// Returns whether more is known of the results of such an op than what their
  /// type says: there is a rule for it.
  static bool knows(mlir::OperationName op);

  /// Returns the range of all elements; none when it is not a tensor of
  /// integers up to 48 bits.
  std::optional<Interval> get(mlir::Value value) const;
  /// Returns one for all elements, or one for each index of the last axis;
  /// empty where `get` has none.
  llvm::ArrayRef<Interval> getChannels(mlir::Value value) const;
  /// Returns violations in program order, at most one of a kind for each op:
  /// the worst.
  llvm::ArrayRef<RangeViolation> getViolations() const { return violations; }
  llvm::ArrayRef<Accumulator> getAccumulators() const { return accumulators; }

private:
  friend class RangePropagation;

  llvm::DenseMap<mlir::Value, std::vector<Interval>> ranges;
  std::vector<RangeViolation> violations;
  std::vector<Accumulator> accumulators;
};

} // namespace mct

#endif // MCT_INTEGERRANGES_INTEGERRANGES_H
