// SPDX-License-Identifier: Apache-2.0
//
// Integer forms of the ops of TOSA, and of expressions of several ops.
#ifndef MCT_LIB_CONVERSION_INTEGERMODELS_H
#define MCT_LIB_CONVERSION_INTEGERMODELS_H

#include "mct/Conversion/IntegerContext.h"

namespace mct {

/// Factor by which sums are scaled to round means. A mean of n values, where n
/// is not a power of two, may lie halfway between two codes, while no
/// multiplier is exactly 1 / n. A multiplier that is too large rounds the
/// halfway points of positive sums correctly. For negative sums, either codes
/// are counted from a lower code on, which the zero point of the result
/// compensates for, or kNudge * sum + 1 is rounded. Other means do not reach
/// the halfway point, unless the steps of the result are below 1/16 of the
/// values' steps, or their ratio is not a power of two.
inline constexpr int kNudge = 64;

/// Returns n if the factor is the f32 number nearest to 1 / n, and nothing
/// otherwise.
std::optional<double> findCount(double factor);

/// Returns the exponent by which kernels that round twice shift the mean of
/// `count` values, if `ratio` is their step divided by that of the result. They
/// multiply by a mantissa between 0.5 and 1, and divide it by `count` without
/// its power of two.
int getMeanExponent(double ratio, double count);

/// A code far outside of the stored range that a rescale still accepts.
inline constexpr int64_t kFarCode = int64_t(1) << 20;

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

/// Model of an op whose only form is sums, which `accumulateOp` returns.
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

/// Attaches such models to the ops that the functions accept.
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

/// Returns the sums of a convolution or of a matrix product with a constant
/// kernel.
IntegerOr<IntegerAccumulator> accumulateLayer(IntegerContext &context,
                                              const KernelOp &layer);

//===----------------------------------------------------------------------===//
// Expressions of several ops
//===----------------------------------------------------------------------===//

/// Each of these functions returns the codes of a value that is the result of
/// such an expression, and nothing for other values.
///
/// `lowerTable` lowers an element-wise expression of one stored value and of
/// numbers to a table.
std::optional<IntegerOr<mlir::Value>> lowerTable(IntegerContext &context,
                                                 mlir::Value value,
                                                 const Encoding &encoding);
std::optional<IntegerOr<mlir::Value>> lowerSoftmax(IntegerContext &context,
                                                   mlir::Value value,
                                                   const Encoding &encoding);
std::optional<IntegerOr<mlir::Value>> lowerLayerNorm(IntegerContext &context,
                                                     mlir::Value value,
                                                     const Encoding &encoding);

/// Returns the logits of the softmax whose result is this value, or null if
/// there is none.
mlir::Value getSoftmaxInput(mlir::Value value);

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// Returns the sums of stored codes minus their zero point along axes, which
/// are given from the last to the first.
mlir::Value sumCodes(IntegerBuilder &b, const StoredIntegers &codes,
                     llvm::ArrayRef<int64_t> axes);
/// Returns stored integers as sums of one term.
IntegerAccumulator accumulate(IntegerBuilder &b, const StoredIntegers &stored);
/// Returns the stored integers of a value as sums of one term, or its sums.
IntegerOr<IntegerAccumulator> accumulate(IntegerContext &context,
                                         mlir::Value value);
/// Returns the same as an operand of `op`: in i32 and in the shape of the
/// value.
IntegerOr<IntegerAccumulator> getTerm(IntegerContext &context,
                                      mlir::Operation *op, mlir::Value value);
/// Multiplies by one number, or by one for each position along the last axis.
IntegerOr<IntegerAccumulator> scale(IntegerContext &context,
                                    mlir::Operation *op,
                                    IntegerAccumulator sums,
                                    llvm::ArrayRef<double> factors);
/// Converts the operands of `op` to the same units. This is exact if one unit
/// is a multiple of the other.
std::optional<IntegerFailure> align(IntegerBuilder &b, mlir::Operation *op,
                                    IntegerAccumulator &first,
                                    IntegerAccumulator &second);

/// Numbers represented as integers times a power of two.
struct ExactCodes {
  std::vector<int64_t> values;
  double unit = 1;
  /// Largest magnitude of the integers.
  double bound = 0;
};
/// Returns nothing unless the integers fit into 16 bits.
std::optional<ExactCodes> getExactCodes(llvm::ArrayRef<double> numbers);

} // namespace mct

#endif // MCT_LIB_CONVERSION_INTEGERMODELS_H
