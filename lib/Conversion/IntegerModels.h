// SPDX-License-Identifier: Apache-2.0
//
// Integer forms of the ops of TOSA, and of expressions of several ops.
#ifndef MCT_LIB_CONVERSION_INTEGERMODELS_H
#define MCT_LIB_CONVERSION_INTEGERMODELS_H

#include "mct/Conversion/IntegerContext.h"

namespace mct {

/// A mean of n values, n no power of two, may lie halfway between two codes,
/// and no multiplier is exactly 1 / n. One that is too large passes the
/// middle of positive sums on the right side. Where there are negative ones,
/// codes are counted from a lower one on, which the zero point of the result
/// takes back, or kNudge * sum + 1 does. What is not halfway does not reach it,
/// unless the result has steps below the 16th part of the values', or steps
/// that are no power of two of theirs.
inline constexpr int kNudge = 64;

/// Returns n where a factor is what f32 has for 1 / n, and otherwise nothing.
std::optional<double> findCount(double factor);

/// Returns the exponent by which kernels that round twice shift the mean of
/// `count` values whose steps are `ratio` codes. They multiply by a mantissa,
/// of 0.5 to 1, that they divide by what `count` is more than a power of two.
int getMeanExponent(double ratio, double count);

/// A code far beyond what is stored, and within what a rescale takes.
inline constexpr int64_t kFarCode = int64_t(1) << 20;

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

/// Model of an op whose only form are sums, which a function returns.
template <auto accumulateOp> struct AccumulatorModel;
template <typename Op,
          IntegerOr<IntegerAccumulator> (*accumulateOp)(IntegerContext &, Op)>
struct AccumulatorModel<accumulateOp>
    : IntegerOpInterface::ExternalModel<AccumulatorModel<accumulateOp>, Op> {
  using OpType = Op;

  IntegerOr<IntegerAccumulator> getAccumulator(mlir::Operation *op,
                                               IntegerContext &context) const {
    return accumulateOp(context, mlir::cast<Op>(op));
  }
};

/// Attaches such models to the ops that the functions take.
template <auto... functions>
void attachAccumulators(mlir::MLIRContext *context) {
  (AccumulatorModel<functions>::OpType::template attachInterface<
       AccumulatorModel<functions>>(*context),
   ...);
}

void attachIntegerComparisonModels(mlir::MLIRContext *context);
void attachIntegerMovementModels(mlir::MLIRContext *context);
void attachIntegerProductModels(mlir::MLIRContext *context);
void attachIntegerReductionModels(mlir::MLIRContext *context);
void attachIntegerSumModels(mlir::MLIRContext *context);
/// Attaches the model of `tpc.quantize`.
void attachIntegerPointModel(mlir::MLIRContext *context);

/// Returns the sums of a convolution, or of a matrix product with a constant
/// kernel.
IntegerOr<IntegerAccumulator> accumulateLayer(IntegerContext &context,
                                              const KernelOp &layer);

//===----------------------------------------------------------------------===//
// Expressions of several ops
//===----------------------------------------------------------------------===//

/// These return the codes of a value that ends such an expression; nothing for
/// any other value.
///
/// An element-wise expression of one stored value and of numbers: a table.
std::optional<IntegerOr<mlir::Value>> lowerTable(IntegerContext &context,
                                                 mlir::Value value,
                                                 const Encoding &encoding);
std::optional<IntegerOr<mlir::Value>> lowerSoftmax(IntegerContext &context,
                                                   mlir::Value value,
                                                   const Encoding &encoding);
std::optional<IntegerOr<mlir::Value>> lowerLayerNorm(IntegerContext &context,
                                                     mlir::Value value,
                                                     const Encoding &encoding);

/// Returns the logits of the softmax that ends with this value; null if none
/// does.
mlir::Value getSoftmaxInput(mlir::Value value);

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// Returns sums of stored codes, less their zero point, along axes, of which
/// the last one comes first.
mlir::Value sumCodes(IntegerBuilder &b, const StoredIntegers &codes,
                     llvm::ArrayRef<int64_t> axes);
/// Returns stored integers as sums of one term.
IntegerAccumulator accumulate(IntegerBuilder &b, const StoredIntegers &stored);
/// Returns what is stored as sums of one term, or sums.
IntegerOr<IntegerAccumulator> accumulate(IntegerContext &context,
                                         mlir::Value value);
/// Returns the same, in i32 and the shape of the value, as an operand of `op`.
IntegerOr<IntegerAccumulator> getTerm(IntegerContext &context,
                                      mlir::Operation *op, mlir::Value value);
/// Multiplies by one number, or by one for each position along the last axis.
IntegerOr<IntegerAccumulator> scale(IntegerContext &context,
                                    mlir::Operation *op,
                                    IntegerAccumulator sums,
                                    llvm::ArrayRef<double> factors);
/// Brings the terms of `op` to the same units, exactly where one unit is a
/// multiple of the other.
std::optional<IntegerFailure> align(IntegerBuilder &b, mlir::Operation *op,
                                    IntegerAccumulator &first,
                                    IntegerAccumulator &second);

/// Numbers that are integers times a power of two.
struct ExactCodes {
  std::vector<int64_t> values;
  double unit = 1;
  /// No integer is larger in magnitude.
  double bound = 0;
};
/// Returns nothing unless 16 bits hold the integers.
std::optional<ExactCodes> getExactCodes(llvm::ArrayRef<double> numbers);

} // namespace mct

#endif // MCT_LIB_CONVERSION_INTEGERMODELS_H
