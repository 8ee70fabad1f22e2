// RUN: mct-opt %s --mct-lower-to-integer="io=integer" --mct-check-integer | mlir-opt-22 --tosa-attach-target="profiles=pro_int level=8k specification_version=1.0" --tosa-validate=strict-op-spec-alignment | FileCheck %s

// Sums in i32; the largest and the smallest are codes.
// CHECK-LABEL: func.func @main
// CHECK:         tosa.reduce_sum {{.*}} -> tensor<1x4x6x1xi32>
// CHECK:         tosa.reduce_max {{.*}} -> tensor<1x4x1x3xi8>
// CHECK:         tosa.reduce_min {{.*}} -> tensor<1x1x6x3xi8>
func.func @main(%x_float: tensor<1x4x6x3xf32>) -> (tensor<1x4x6x1xf32>, tensor<1x4x1x3xf32>, tensor<1x1x6x3xf32>) {
  %x = tpc.quantize %x_float as "x" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x6x3xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %a = tosa.reduce_sum %x {axis = 3 : i32} : (tensor<1x4x6x3xf32>) -> tensor<1x4x6x1xf32>
  %sum = tpc.quantize %a as "sum" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8, rounding = half_up>) : tensor<1x4x6x1xf32>
  %b = tosa.reduce_max %x {axis = 2 : i32} : (tensor<1x4x6x3xf32>) -> tensor<1x4x1x3xf32>
  %max = tpc.quantize %b as "max" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x1x3xf32>
  %c = tosa.reduce_min %x {axis = 1 : i32} : (tensor<1x4x6x3xf32>) -> tensor<1x1x6x3xf32>
  %min = tpc.quantize %c as "min" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x1x6x3xf32>
  return %sum, %max, %min : tensor<1x4x6x1xf32>, tensor<1x4x1x3xf32>, tensor<1x1x6x3xf32>
}
