// RUN: mct-opt %s --mct-lower-to-integer="io=integer" --mct-check-integer | mlir-opt-22 --tosa-attach-target="profiles=pro_int level=8k specification_version=1.0" --tosa-validate=strict-op-spec-alignment | FileCheck %s

// Codes are in the order of what they stand for.
// CHECK-LABEL: func.func @main
// CHECK:         tosa.argmax %arg0 {axis = 3 : i32} : (tensor<1x4x6x3xi8>) -> tensor<1x4x6xi32>
func.func @main(%x_float: tensor<1x4x6x3xf32>) -> tensor<1x4x6xi32> {
  %x = tpc.quantize %x_float as "x" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x6x3xf32>
  %a = tosa.argmax %x {axis = 3 : i32} : (tensor<1x4x6x3xf32>) -> tensor<1x4x6xi32>
  return %a : tensor<1x4x6xi32>
}
