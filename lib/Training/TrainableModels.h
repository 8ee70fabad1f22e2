// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_LIB_TRAINING_TRAINABLEMODELS_H
#define MCT_LIB_TRAINING_TRAINABLEMODELS_H

#include "mct/Quantization/TrainableQuantizers.h"
#include "mct/Quantizers/Parameters.h"
#include "mct/Training/Training.h"

namespace mct {

/// Emits an error: the point's `trainable` has no implementation. Fails.
llvm::LogicalResult noImplementation(tpc::QuantizeOp point);

/// Attaches models of symmetric grids, and of grids with a zero point.
void attachThresholdQuantizers(mlir::MLIRContext *context);
void attachRangeQuantizers(mlir::MLIRContext *context);
/// Attaches models that train the rounding of weights.
void attachRoundingQuantizers(mlir::MLIRContext *context);
/// Attaches models that follow observed values.
void attachObservedQuantizers(mlir::MLIRContext *context);
/// Attaches models of frozen quantizers, and of those that are faded in.
void attachComposedQuantizers(mlir::MLIRContext *context);

//===----------------------------------------------------------------------===//
// Parts of all models
//===----------------------------------------------------------------------===//

/// Returns the shape of a parameter for each channel of the point or, if
/// `channels` is 1, of a single one.
llvm::SmallVector<int64_t> getParameterShape(tpc::QuantizeOp point,
                                             size_t channels);

/// Returns the factor of the gradient of a threshold or a range: `given`, or
/// the one that the attributes define if it is not given.
double getGradientScale(tpc::QuantizeOp point, std::optional<double> given,
                        tpc::StepGradient gradient, unsigned bits,
                        bool isSigned);

/// Returns the range of the levels of each parameter of the point; `isNarrow`:
/// without the lowest level. Fails with a diagnostic if there are no
/// parameters, or if levels are not evenly spaced.
llvm::FailureOr<llvm::SmallVector<quantization::TrainedRange>>
getRanges(tpc::QuantizeOp point, bool isNarrow = false);

/// Returns the limits of ranges as learned values of a point: first the lower,
/// then the upper ones.
llvm::SmallVector<LearnedTensor>
getLearnedEnds(tpc::QuantizeOp point,
               llvm::ArrayRef<quantization::TrainedRange> ranges);

/// Returns true for each value that the quantizer of the point, which must have
/// one, does not clip.
mlir::Value buildKept(GradientBuilder &b, tpc::QuantizeOp point);

/// Values in levels, and the result of rounding and clipping them.
struct OnGrid {
  mlir::Value step;    // f32
  mlir::Value levels;  // the values, divided by the step
  mlir::Value clipped; // rounded to levels, halves to even, and cut off
  mlir::Value inside;  // whether that did not cut anything off
};

/// Returns the codes from `lowest` to `highest`; `step` is broadcast.
OnGrid buildOnGrid(GradientBuilder &b, mlir::Value values, mlir::Value step,
                   double lowest, double highest);

/// Rounds to integers, half to even.
mlir::Value buildRound(GradientBuilder &b, mlir::Value values);
mlir::Value buildClamp(GradientBuilder &b, mlir::Value values, double lowest,
                       double highest);

/// Returns the ordinary quantizer of a method with evenly spaced levels.
tpc::QuantizerAttrInterface
createQuantizer(mlir::MLIRContext *context, tpc::QuantizationMethod method,
                llvm::ArrayRef<quantization::SelectedParameters> parameters,
                unsigned bits, bool isSigned);

/// Returns the same quantizer with the rounding of the point's quantizer.
tpc::QuantizerAttrInterface
withRoundingOf(tpc::QuantizeOp point, tpc::QuantizerAttrInterface parameters);

/// Visits the elements of the point's tensor in memory order, with the grid of
/// their channel.
void forEachWeight(
    tpc::QuantizeOp point, llvm::ArrayRef<quantization::Grid> grids,
    llvm::function_ref<void(size_t, const quantization::Grid &)> visit);

} // namespace mct

#endif // MCT_LIB_TRAINING_TRAINABLEMODELS_H
