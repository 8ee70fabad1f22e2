// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_TRAINING_TRAINABLEQUANTIZER_TD
#define MCT_TRAINING_TRAINABLEQUANTIZER_TD

include "mlir/IR/OpBase.td"

def Mct_TrainableQuantizerAttrInterface : AttrInterface<"TrainableQuantizerAttrInterface"> {
  let cppNamespace = "::mct";
  let description = [{
    The computation of a trainable quantizer: the `trainable` of a `tpc.quantize` with learned values. A new kind is one
    attribute that implements this interface and `TrainableAttrInterface`; its operands are in the order of the roles.

    All ops that are built are TOSA. Learned values that are parameters have the rank of the tensor and are repeated
    along axes of size 1.
  }];
  let methods = [
    InterfaceMethod<[{
        Returns the result of the point, of the type of its input.}],
      "::mlir::Value", "buildForward", (ins "::mct::GradientBuilder &":$builder, "::mct::tpc::QuantizeOp":$point)>,
    InterfaceMethod<[{
        Builds the gradients of the point's operands, as `DifferentiableOpInterface::buildGradients` does.}],
      "void", "buildGradients",
      (ins "::mct::GradientBuilder &":$builder, "::mct::tpc::QuantizeOp":$point, "::mlir::Value":$resultGradient,
           "::mct::OperandGradients &":$gradients)>,
    InterfaceMethod<[{
        Returns the next values of those learned values that follow the data, in the order of their roles, with the
        types of the operands.}],
      "::llvm::SmallVector<::mlir::Value>", "buildStates",
      (ins "::mct::GradientBuilder &":$builder, "::mct::tpc::QuantizeOp":$point), "", "return {};">,
    InterfaceMethod<[{
        Returns the initial values of training: one tensor, row-major, for each role, with a shape that operands of the
        point may have. `point` has no learned values yet; `weights` are the values that it quantizes, if they are
        constant. Fails with a diagnostic at the point if it has no parameters, or parameters that this quantizer cannot
        start from.}],
      "::llvm::FailureOr<::llvm::SmallVector<::mct::LearnedTensor>>", "initialize",
      (ins "::mct::tpc::QuantizeOp":$point, "::llvm::ArrayRef<float>":$weights)>,
    InterfaceMethod<[{
        Projects learned values to their valid domain, after every step: thresholds are positive, ranges not empty.
        `learned` has one tensor for each role.}],
      "void", "keepValid", (ins "::llvm::MutableArrayRef<::llvm::MutableArrayRef<float>>":$learned), "", "(void)learned;">,
    InterfaceMethod<[{
        Returns the ordinary quantizer after training, and, for a weight that is not rounded to the nearest level, the
        weights on their levels. `weights` are as for `initialize`, with their final values; `learned` is as for
        `keepValid`. Fails with a diagnostic at the point.}],
      "::llvm::FailureOr<::mct::FrozenQuantizer>", "freeze",
      (ins "::mct::tpc::QuantizeOp":$point, "::llvm::ArrayRef<float>":$weights,
           "::llvm::ArrayRef<::llvm::ArrayRef<float>>":$learned)>,
  ];
}

#endif // MCT_TRAINING_TRAINABLEQUANTIZER_TD
