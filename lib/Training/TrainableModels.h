// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_LIB_TRAINING_TRAINABLEMODELS_H
#define MCT_LIB_TRAINING_TRAINABLEMODELS_H

#include "mct/Quantization/TrainableQuantizers.h"
#include "mct/Quantizers/Parameters.h"
#include "mct/Training/Training.h"

namespace mct {

/// Says that nobody implements what the point's `trainable` asks for. Fails.
llvm::LogicalResult noImplementation(tpc::QuantizeOp point);

/// Attaches models of symmetric grids, and of grids with a zero point.
void attachThresholdQuantizers(mlir::MLIRContext *context);
void attachRangeQuantizers(mlir::MLIRContext *context);
/// Attaches models that train the rounding of weights.
void attachRoundingQuantizers(mlir::MLIRContext *context);
/// Attaches models that follow the values that are seen.
void attachObservedQuantizers(mlir::MLIRContext *context);
/// Attaches models of frozen quantizers, and of those that set in.
void attachComposedQuantizers(mlir::MLIRContext *context);

//===----------------------------------------------------------------------===//
// Parts of all models
//===----------------------------------------------------------------------===//

/// Returns the shape of one parameter for each channel of the point, or, for
/// `channels` of 1, of one for all.
llvm::SmallVector<int64_t> getParameterShape(tpc::QuantizeOp point,
                                             size_t channels);

/// Returns the scale of what comes back to a threshold or a range: `given`, or
/// what the attributes say of one that is not.
double getGradientScale(tpc::QuantizeOp point, std::optional<double> given,
                        tpc::StepGradient gradient, unsigned bits,
                        bool isSigned);

/// Returns the range of the levels of each of the point's parameters,
/// `isNarrow`: without the lowest. Fails with a diagnostic where there are no
/// parameters, or levels are not evenly spaced.
llvm::FailureOr<llvm::SmallVector<quantization::TrainedRange>>
getRanges(tpc::QuantizeOp point, bool isNarrow = false);

/// Returns the ends of ranges as what a point learns: the lower ones, then the
/// upper ones.
llvm::SmallVector<LearnedTensor>
getLearnedEnds(tpc::QuantizeOp point,
               llvm::ArrayRef<quantization::TrainedRange> ranges);

/// Returns the truth, for each value, of what lies where the quantizer of the
/// point, which has one, does not cut off.
mlir::Value buildKept(GradientBuilder &b, tpc::QuantizeOp point);

/// Values in levels, and what becomes of them.
struct OnGrid {
  mlir::Value step;    // f32
  mlir::Value levels;  // the values, divided by the step
  mlir::Value clipped; // rounded to levels, halves to even, and cut off
  mlir::Value inside;  // whether that did not cut anything off
};

/// Returns the codes from `lowest` to `highest`, of steps of any shape that is
/// repeated.
OnGrid buildOnGrid(GradientBuilder &b, mlir::Value values, mlir::Value step,
                   double lowest, double highest);

/// Rounds to integers, halves to even.
mlir::Value buildRound(GradientBuilder &b, mlir::Value values);
mlir::Value buildClamp(GradientBuilder &b, mlir::Value values, double lowest,
                       double highest);

/// Returns the ordinary quantizer of a method with evenly spaced levels.
tpc::QuantizerAttrInterface
createQuantizer(mlir::MLIRContext *context, tpc::QuantizationMethod method,
                llvm::ArrayRef<quantization::SelectedParameters> parameters,
                unsigned bits, bool isSigned);

/// Returns the same quantizer, with halves going where those of the one go that
/// the point has.
tpc::QuantizerAttrInterface
withRoundingOf(tpc::QuantizeOp point, tpc::QuantizerAttrInterface parameters);

/// Visits the elements of the point's tensor in memory order, with the grid of
/// their channel.
void forEachWeight(
    tpc::QuantizeOp point, llvm::ArrayRef<quantization::Grid> grids,
    llvm::function_ref<void(size_t, const quantization::Grid &)> visit);

} // namespace mct

#endif // MCT_LIB_TRAINING_TRAINABLEMODELS_H
