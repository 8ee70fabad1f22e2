// RUN: mct-reduce %s --reduction-tree="traversal-mode=0 test=%S/Inputs/keeps-shift.sh" 2>/dev/null | FileCheck %s

// What stands before and after the shift is left out, or becomes zeros; MLIR's own reducer knows no way to do so.
// CHECK-LABEL: func.func @main
// CHECK-NEXT:    %[[BY:.*]] = "tosa.const"() <{values = dense<1> : tensor<1x1xi8>}>
// CHECK-NEXT:    %[[SHIFTED:.*]] = tosa.arithmetic_right_shift %arg0, %[[BY]]
// CHECK-NEXT:    return %[[SHIFTED]]
func.func @main(%x: tensor<1x4xi8>, %y: tensor<1x4xi8>) -> tensor<1x4xi8> {
  %zero = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %by = "tosa.const"() <{values = dense<1> : tensor<1x1xi8>}> : () -> tensor<1x1xi8>
  %a = tosa.bitwise_and %x, %y : (tensor<1x4xi8>, tensor<1x4xi8>) -> tensor<1x4xi8>
  %b = tosa.negate %a, %zero, %zero : (tensor<1x4xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x4xi8>
  %c = tosa.arithmetic_right_shift %b, %by {round = true} : (tensor<1x4xi8>, tensor<1x1xi8>) -> tensor<1x4xi8>
  %d = tosa.bitwise_xor %c, %y : (tensor<1x4xi8>, tensor<1x4xi8>) -> tensor<1x4xi8>
  return %d : tensor<1x4xi8>
}
