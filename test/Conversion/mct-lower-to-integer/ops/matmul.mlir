// RUN: mct-opt %s --mct-lower-to-integer="io=integer" --mct-check-integer | mlir-opt-22 --tosa-attach-target="profiles=pro_int level=8k specification_version=1.0" --tosa-validate=strict-op-spec-alignment | FileCheck %s

// A product of two values, one of them unsigned.
// CHECK-LABEL: func.func @main
// CHECK:         tosa.matmul {{.*}} : (tensor<2x4x6xi8>, tensor<2x6x5xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<2x4x5xi32>
// CHECK:         tosa.rescale
func.func @main(%x_float: tensor<2x4x6xf32>, %y_float: tensor<2x6x5xf32>) -> tensor<2x4x5xf32> {
  %x = tpc.quantize %x_float as "x" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<2x4x6xf32>
  %y = tpc.quantize %y_float as "y" activation parameters(#tpc.power_of_two<threshold = [1.0], bits = 8, is_signed = false, rounding = half_up>) : tensor<2x6x5xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %z = tosa.matmul %x, %y, %zero, %zero : (tensor<2x4x6xf32>, tensor<2x6x5xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x4x5xf32>
  %out = tpc.quantize %z as "out" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8, rounding = half_up>) : tensor<2x4x5xf32>
  return %out : tensor<2x4x5xf32>
}
