// RUN: mct-opt %s --mct-lower-to-integer="io=integer" --mct-check-integer | mlir-opt-22 --tosa-attach-target="profiles=pro_int level=8k specification_version=1.0" --tosa-validate=strict-op-spec-alignment | FileCheck %s

// A mean over an image: one sum, and one rescale that divides.
// CHECK-LABEL: func.func @main
// CHECK:         tosa.reshape {{.*}} -> tensor<1x24x3xi8>
// CHECK-COUNT-1: tosa.reduce_sum
// CHECK-NOT:     tosa.reduce_sum
// CHECK:         tosa.rescale
func.func @main(%x_float: tensor<1x4x6x3xf32>) -> tensor<1x1x1x3xf32> {
  %x = tpc.quantize %x_float as "x" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x6x3xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %count = "tosa.const"() <{values = dense<0.0416666679084301> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %a = tosa.reduce_sum %x {axis = 1 : i32} : (tensor<1x4x6x3xf32>) -> tensor<1x1x6x3xf32>
  %b = tosa.reduce_sum %a {axis = 2 : i32} : (tensor<1x1x6x3xf32>) -> tensor<1x1x1x3xf32>
  %m = tosa.mul %b, %count, %shift : (tensor<1x1x1x3xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x1x1x3xf32>
  %out = tpc.quantize %m as "out" activation parameters(#tpc.power_of_two<threshold = [0.5], bits = 8, rounding = half_up>) : tensor<1x1x1x3xf32>
  return %out : tensor<1x1x1x3xf32>
}
