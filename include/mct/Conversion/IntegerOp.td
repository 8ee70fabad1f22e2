// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_CONVERSION_INTEGEROP_TD
#define MCT_CONVERSION_INTEGEROP_TD

include "mlir/IR/OpBase.td"

def Mct_IntegerOpInterface : OpInterface<"IntegerOpInterface"> {
  let cppNamespace = "::mct";
  let description = [{
    Ops with one result that have an integer form: ops on integers that compute what the op computes from quantized
    operands. `mct-lower-to-integer` asks for one of three forms; a failure names its reason and the op to blame.

    A model asks the context for the forms of the operands, and writes ops with the context's builder, which stands
    where the result is needed. It is asked once for each form; the context remembers the answer.
  }];
  let methods = [
    InterfaceMethod<[{Returns integers that stand for exactly the result: each element is an element of an operand, or a
        level of a constant.}],
      "::mct::IntegerOr<::mct::StoredIntegers>", "getStoredIntegers",
      (ins "::mct::IntegerContext &":$context), "",
      [{ return {::mct::IntegerReason::NoForm, $_op.getOperation()}; }]>,
    InterfaceMethod<"Returns sums of 32 or 48 bits that stand for the result before it is rounded to any grid.",
      "::mct::IntegerOr<::mct::IntegerAccumulator>", "getAccumulator",
      (ins "::mct::IntegerContext &":$context), "",
      [{ return {::mct::IntegerReason::NoForm, $_op.getOperation()}; }]>,
    InterfaceMethod<[{Returns the codes that a quantizer of this encoding makes of the result. By default those of the
        sums.}],
      "::mct::IntegerOr<::mlir::Value>", "getCodes",
      (ins "::mct::IntegerContext &":$context, "const ::mct::Encoding &":$encoding), "",
      [{ return context.roundAccumulator($_op->getResult(0), encoding); }]>,
  ];
}

#endif // MCT_CONVERSION_INTEGEROP_TD
