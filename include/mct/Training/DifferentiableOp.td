// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_TRAINING_DIFFERENTIABLEOP_TD
#define MCT_TRAINING_DIFFERENTIABLEOP_TD

include "mlir/IR/OpBase.td"

def Mct_DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let cppNamespace = "::mct";
  let description = [{
    Ops with one result that have a rule for their gradient: what a small change of an operand does to a number s that
    depends on the result, from what a small change of the result does to it. "The gradient of a value" is the tensor of
    the derivatives of s by its elements, and has its type.

    Rules are asked for ops with static shapes only, and for results of real numbers.
  }];
  let methods = [
    InterfaceMethod<[{
        Builds the gradients of the operands that `gradients` wants, and hands them to it, from `resultGradient`, that of
        the result. Operands and result are there to be read. Fails with a diagnostic at the op when it has a form that
        the rule does not cover.}],
      "::llvm::LogicalResult", "buildGradients",
      (ins "::mct::GradientBuilder &":$builder, "::mlir::Value":$resultGradient,
           "::mct::OperandGradients &":$gradients)>,
    InterfaceMethod<[{
        Whether the result does not change with small changes of the operands, except where it jumps: comparisons,
        roundings. No gradient passes then, and `buildGradients` is not called.}],
      "bool", "isPiecewiseConstant", (ins), "", [{ return false; }]>,
  ];
}

#endif // MCT_TRAINING_DIFFERENTIABLEOP_TD
