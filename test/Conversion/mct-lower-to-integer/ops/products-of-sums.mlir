// RUN: mct-opt %s --mct-lower-to-integer="io=integer" --mct-check-integer | mlir-opt-22 --tosa-attach-target="profiles=pro_int level=8k specification_version=1.0" --tosa-validate=strict-op-spec-alignment | FileCheck %s

// Products of sums, and sums of those: in i32.
// CHECK-LABEL: func.func @main
// CHECK:         tosa.mul {{.*}} -> tensor<1x4x4x2xi32>
// CHECK:         tosa.rescale
// CHECK:         tosa.mul {{.*}} -> tensor<1x4x4x2xi32>
// CHECK:         tosa.reduce_sum {{.*}} -> tensor<1x4x1x2xi32>
// CHECK:         tosa.rescale
func.func @main(%x_float: tensor<1x4x4x2xf32>, %y_float: tensor<1x4x4x2xf32>, %g_float: tensor<1x4x4x2xf32>) -> (tensor<1x4x4x2xf32>, tensor<1x4x1x2xf32>) {
  %x = tpc.quantize %x_float as "x" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4x2xf32>
  %y = tpc.quantize %y_float as "y" activation parameters(#tpc.power_of_two<threshold = [1.0], bits = 8, rounding = half_up>) : tensor<1x4x4x2xf32>
  %g = tpc.quantize %g_float as "g" activation parameters(#tpc.power_of_two<threshold = [1.0], bits = 8, is_signed = false, rounding = half_up>) : tensor<1x4x4x2xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %s = tosa.add %x, %y : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %d = tosa.sub %x, %y : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %p = tosa.mul %s, %d, %shift : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
  %products = tpc.quantize %p as "products" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8, rounding = half_up>) : tensor<1x4x4x2xf32>
  %e = tosa.mul %s, %g, %shift : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
  %t = tosa.reduce_sum %e {axis = 2 : i32} : (tensor<1x4x4x2xf32>) -> tensor<1x4x1x2xf32>
  %gated = tpc.quantize %t as "gated" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8, rounding = half_up>) : tensor<1x4x1x2xf32>
  return %products, %gated : tensor<1x4x4x2xf32>, tensor<1x4x1x2xf32>
}
