// SPDX-License-Identifier: Apache-2.0
//
// Ranges of the tensors of an integer TOSA network by interval arithmetic, and
// ops that may get values for which they are not defined.
#ifndef MCT_INTEGERRANGES_INTEGERRANGES_H
#define MCT_INTEGERRANGES_INTEGERRANGES_H

#include "mct/IR/Intervals.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include <optional>
#include <vector>

namespace mct {

/// An op that may get values for which it is not defined.
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
  /// Values that the op may get, and values for which it is defined.
  Interval found, allowed;
  /// Index along the last axis; none if it is the same for all.
  std::optional<int64_t> channel;
};

/// A sum: a convolution, a matrix product, or `tosa.reduce_sum`.
struct Accumulator {
  mlir::Operation *op;
  /// The largest magnitude of any partial sum of its terms and its bias, in any
  /// order; for each output channel, or one for all.
  std::vector<int64_t> magnitudes;
};

/// Ranges of every integer tensor of a function, for each index of the last
/// axis separately. They follow from the types of its arguments and their
/// `tpc.quantized`, and from its constants, clamps, tables and rescales.
///
/// The ranges are sound: no value is outside. The ends are reached by the sums
/// of convolutions with constant weights if their inputs are independent. Three
/// relations between values are kept, which softmax needs: values computed
/// element by element from one value are evaluated together (byte tables of one
/// index, or the steps of a division by Newton's method), x - max(x) is never
/// positive, and it is zero somewhere.
class IntegerRanges {
public:
  explicit IntegerRanges(mlir::func::FuncOp function);

  /// Returns whether there is a rule for the results of such an op, which gives
  /// more than the range of their type.
  static bool knows(mlir::OperationName op);

  /// Returns the range of all elements; none if the value is not a tensor of
  /// integers of up to 48 bits.
  std::optional<Interval> get(mlir::Value value) const;
  /// Returns one range for all elements, or one for each index of the last
  /// axis; empty if `get` returns none.
  llvm::ArrayRef<Interval> getChannels(mlir::Value value) const;
  /// Returns violations in program order: the worst one of each kind for each
  /// op.
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
