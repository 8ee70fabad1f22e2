// SPDX-License-Identifier: Apache-2.0
//
// Integer forms of the ops of TOSA, and of expressions of several ops.
#ifndef MCT_LIB_CONVERSION_INTEGERMODELS_H
#define MCT_LIB_CONVERSION_INTEGERMODELS_H

#include "mct/Conversion/IntegerContext.h"

namespace mct {

/// Numerator of a correction for means. A mean of n values, where n is not a
/// power of two, may be halfway between two codes, and no multiplier is exactly
/// 1 / n. A multiplier that is too large rounds positive sums at the middle to
/// the right side. If there are negative sums, codes are counted from a lower
/// one, which the zero point of the result compensates, or kNudge * sum + 1 is
/// used. Values that are not halfway are not affected, unless the steps of the
/// result are below 1/16 of those of the values, or their ratio is not a power
/// of two.
inline constexpr int kNudge = 64;

/// Returns n if a factor is 1 / n in f32; otherwise none.
std::optional<double> findCount(double factor);

/// Returns the exponent by which kernels that round twice shift the mean of
/// `count` values whose steps are `ratio` codes. They multiply by a mantissa
/// from 0.5 to 1, divided by the ratio of `count` to a power of two.
int getMeanExponent(double ratio, double count);

/// A code far outside the stored range, but within the range of a rescale.
inline constexpr int64_t kFarCode = int64_t(1) << 20;

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

/// Model of an op whose only form is sums, which a function returns.
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

/// These functions return the codes of a value that ends such an expression;
/// none for any other value.
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

/// Returns the logits of the softmax that ends with this value; null if there
/// is none.
mlir::Value getSoftmaxInput(mlir::Value value);

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// Returns sums of stored codes, minus their zero point, along axes, of which
/// the last one comes first.
mlir::Value sumCodes(IntegerBuilder &b, const StoredIntegers &codes,
                     llvm::ArrayRef<int64_t> axes);
/// Returns stored integers as sums of one term.
IntegerAccumulator accumulate(IntegerBuilder &b, const StoredIntegers &stored);
/// Returns the stored integers of a value as sums of one term, or else its
/// sums.
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
/// Converts the terms of `op` to the same units, exactly if one unit is a
/// multiple of the other.
std::optional<IntegerFailure> align(IntegerBuilder &b, mlir::Operation *op,
                                    IntegerAccumulator &first,
                                    IntegerAccumulator &second);

/// Numbers that are integers times a power of two.
struct ExactCodes {
  std::vector<int64_t> values;
  double unit = 1;
  /// Bound on the magnitude of the integers.
  double bound = 0;
};
/// Returns none unless the integers fit in 16 bits.
std::optional<ExactCodes> getExactCodes(llvm::ArrayRef<double> numbers);

} // namespace mct

#endif // MCT_LIB_CONVERSION_INTEGERMODELS_H
