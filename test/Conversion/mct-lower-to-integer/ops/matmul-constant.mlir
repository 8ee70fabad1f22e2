// RUN: mct-opt %s --mct-lower-to-integer="io=integer" --mct-check-integer | mlir-opt-22 --tosa-attach-target="profiles=pro_int level=8k specification_version=1.0" --tosa-validate=strict-op-spec-alignment | FileCheck %s

// A constant from the left: its codes.
// CHECK-LABEL: func.func @main
// CHECK:         dense<{{.*}}32, -16{{.*}}> : tensor<1x3x2xi8>
// CHECK:         tosa.matmul {{.*}} : (tensor<1x3x2xi8>, tensor<1x2x3xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x3x3xi32>
func.func @main(%y_float: tensor<1x2x3xf32>) -> tensor<1x3x3xf32> {
  %y = tpc.quantize %y_float as "y" activation parameters(#tpc.power_of_two<threshold = [1.0], bits = 8, rounding = half_up>) : tensor<1x2x3xf32>
  %w_float = "tosa.const"() <{values = dense<[[[0.5, -0.25], [0.75, 1.5], [-1.0, 0.125]]]> : tensor<1x3x2xf32>}> : () -> tensor<1x3x2xf32>
  %w = tpc.quantize %w_float as "w" weight "kernel_attr" axes [] parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>) : tensor<1x3x2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %z = tosa.matmul %w, %y, %zero, %zero : (tensor<1x3x2xf32>, tensor<1x2x3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x3xf32>
  %out = tpc.quantize %z as "out" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x3x3xf32>
  return %out : tensor<1x3x3xf32>
}
