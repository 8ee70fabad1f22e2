// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_LIB_TRAINING_GRADIENTMODELS_H
#define MCT_LIB_TRAINING_GRADIENTMODELS_H

#include "mct/Training/Training.h"

namespace mct {

/// Model of an op of another dialect whose gradient a function of this form
/// computes.
template <typename Op,
          llvm::LogicalResult (*rule)(Op, GradientBuilder &, mlir::Value,
                                      OperandGradients &)>
struct GradientModel
    : DifferentiableOpInterface::ExternalModel<GradientModel<Op, rule>, Op> {
  llvm::LogicalResult buildGradients(mlir::Operation *op,
                                     GradientBuilder &builder,
                                     mlir::Value resultGradient,
                                     OperandGradients &gradients) const {
    return rule(mlir::cast<Op>(op), builder, resultGradient, gradients);
  }
};

template <auto rule> struct RuleTraits;
template <typename Op,
          llvm::LogicalResult (*rule)(Op, GradientBuilder &, mlir::Value,
                                      OperandGradients &)>
struct RuleTraits<rule> {
  using OpType = Op;
};

/// Attaches the rules to their ops.
template <auto... rules> void attachRules(mlir::MLIRContext *context) {
  (RuleTraits<rules>::OpType::template attachInterface<
       GradientModel<typename RuleTraits<rules>::OpType, rules>>(*context),
   ...);
}

/// Attach the gradients of the ops of TOSA, which must be loaded.
void attachElementwiseGradients(mlir::MLIRContext *context);
void attachMovementGradients(mlir::MLIRContext *context);
void attachReductionGradients(mlir::MLIRContext *context);
void attachConvolutionGradients(mlir::MLIRContext *context);
void attachPoolingGradients(mlir::MLIRContext *context);
/// Attaches the gradient of `tpc.quantize`.
void attachPointGradients(mlir::MLIRContext *context);

/// Fails with a diagnostic unless all of these zero points are 0.
llvm::LogicalResult requireZero(mlir::Operation *op,
                                mlir::ValueRange zeroPoints);

/// Returns the sizes of a shape operand, which the verifier has found to be
/// constant.
llvm::SmallVector<int64_t> readSizes(mlir::Value shape);

} // namespace mct

#endif // MCT_LIB_TRAINING_GRADIENTMODELS_H
