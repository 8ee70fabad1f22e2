// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_TRAINING_DIFFERENTIABLEOP_TD
#define MCT_TRAINING_DIFFERENTIABLEOP_TD

include "mlir/IR/OpBase.td"

def Mct_DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let cppNamespace = "::mct";
  let description = [{
    Ops with one result that have a rule for their gradient: the derivative of a number s that depends on the result
    with respect to an operand, computed from that with respect to the result. "The gradient of a value" is the tensor
    of the derivatives of s by its elements, and has its type.

    Rules are only applied to ops with static shapes, and to results of real numbers.
  }];
  let methods = [
    InterfaceMethod<[{
        Builds the gradients of the operands that `gradients` requests, and passes them to it, from `resultGradient`, that
        of the result. Operands and result may be used. Fails with a diagnostic at the op if it has a form that the rule
        does not cover.}],
      "::llvm::LogicalResult", "buildGradients",
      (ins "::mct::GradientBuilder &":$builder, "::mlir::Value":$resultGradient,
           "::mct::OperandGradients &":$gradients)>,
    InterfaceMethod<[{
        Returns whether the result does not change with small changes of the operands, except where it jumps:
        comparisons, roundings. Then no gradient passes, and `buildGradients` is not called.}],
      "bool", "isPiecewiseConstant", (ins), "", [{ return false; }]>,
  ];
}

#endif // MCT_TRAINING_DIFFERENTIABLEOP_TD
