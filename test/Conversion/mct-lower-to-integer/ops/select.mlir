// RUN: mct-opt %s --mct-lower-to-integer="io=integer" --mct-check-integer | mlir-opt-22 --tosa-attach-target="profiles=pro_int level=8k specification_version=1.0" --tosa-validate=strict-op-spec-alignment | FileCheck %s

// A selection by comparisons: of both values on one grid, and with a number between two codes.
// CHECK-LABEL: func.func @main
// CHECK:         tosa.greater {{.*}} : (tensor<1x256x1xi32>, tensor<1x1x256xi32>) -> tensor<1x256x256xi1>
// CHECK:         dense<39> : tensor<1x1x1xi32>
// CHECK:         tosa.greater_equal {{.*}} : (tensor<1x256x1xi32>, tensor<1x1x1xi32>) -> tensor<1x256x1xi1>
// CHECK:         tosa.logical_and
// CHECK:         tosa.select {{.*}} : (tensor<1x256x256xi1>, tensor<1x256x1xi8>, tensor<1x1x256xi8>) -> tensor<1x256x256xi8>
func.func @main(%x_float: tensor<1x256x1xf32>, %y_float: tensor<1x1x256xf32>) -> tensor<1x256x256xf32> {
  %x = tpc.quantize %x_float as "x" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x256x1xf32>
  %y = tpc.quantize %y_float as "y" activation parameters(#tpc.power_of_two<threshold = [1.0], bits = 8, rounding = half_up>) : tensor<1x1x256xf32>
  %level = "tosa.const"() <{values = dense<0.30000001192092896> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %is = tosa.greater %x, %y : (tensor<1x256x1xf32>, tensor<1x1x256xf32>) -> tensor<1x256x256xi1>
  %far = tosa.greater_equal %x, %level : (tensor<1x256x1xf32>, tensor<1x1x1xf32>) -> tensor<1x256x1xi1>
  %both = tosa.logical_and %is, %far : (tensor<1x256x256xi1>, tensor<1x256x1xi1>) -> tensor<1x256x256xi1>
  %z = tosa.select %both, %x, %y : (tensor<1x256x256xi1>, tensor<1x256x1xf32>, tensor<1x1x256xf32>) -> tensor<1x256x256xf32>
  %out = tpc.quantize %z as "out" activation parameters(#tpc.power_of_two<threshold = [1.0], bits = 8, rounding = half_up>) : tensor<1x256x256xf32>
  return %out : tensor<1x256x256xf32>
}
