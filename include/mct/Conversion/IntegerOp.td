// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_CONVERSION_INTEGEROP_TD
#define MCT_CONVERSION_INTEGEROP_TD

include "mlir/IR/OpBase.td"

def Mct_IntegerOpInterface : OpInterface<"IntegerOpInterface"> {
  let cppNamespace = "::mct";
  let description = [{
    Ops with one result that have an integer form: ops on integers that compute the same from quantized operands.
    `mct-lower-to-integer` requests one of three forms; a failure has a reason and the op at fault.

    A model requests the forms of the operands from the context, and creates ops with the context's builder, which is
    positioned where the result is needed. Each form is requested once; the context remembers it.
  }];
  let methods = [
    InterfaceMethod<[{Returns integers that represent the result exactly: each element is an element of an operand, or a
        level of a constant.}],
      "::mct::IntegerOr<::mct::StoredIntegers>", "getStoredIntegers",
      (ins "::mct::IntegerContext &":$context), "",
      [{ return {::mct::IntegerReason::NoForm, $_op.getOperation()}; }]>,
    InterfaceMethod<"Returns sums of 32 or 48 bits that represent the result before it is rounded to any grid.",
      "::mct::IntegerOr<::mct::IntegerAccumulator>", "getAccumulator",
      (ins "::mct::IntegerContext &":$context), "",
      [{ return {::mct::IntegerReason::NoForm, $_op.getOperation()}; }]>,
    InterfaceMethod<[{Returns the codes of the result for a quantizer with this encoding. By default those of the sums.}],
      "::mct::IntegerOr<::mlir::Value>", "getCodes",
      (ins "::mct::IntegerContext &":$context, "const ::mct::Encoding &":$encoding), "",
      [{ return context.roundAccumulator($_op->getResult(0), encoding); }]>,
  ];
}

#endif // MCT_CONVERSION_INTEGEROP_TD
