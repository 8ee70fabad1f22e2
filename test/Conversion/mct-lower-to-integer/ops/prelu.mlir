// RUN: mct-opt %s --mct-lower-to-integer="io=integer" --mct-check-integer | mlir-opt-22 --tosa-attach-target="profiles=pro_int level=8k specification_version=1.0" --tosa-validate=strict-op-spec-alignment | FileCheck %s

// A ReLU with a slope for each channel: both halves in i32, each with its rescale; TOSA clamps no i32.
// CHECK-LABEL: func.func @main
// CHECK:         tosa.maximum
// CHECK:         tosa.minimum
// CHECK-COUNT-1: tosa.rescale
// CHECK:         tosa.rescale {{.*}}per_channel = true
// CHECK:         tosa.add
// CHECK-NOT:     tosa.clamp
// CHECK:         tosa.minimum
// CHECK:         tosa.maximum
// CHECK:         tosa.rescale
func.func @main(%x_float: tensor<1x16x16x3xf32>) -> tensor<1x16x16x3xf32> {
  %x = tpc.quantize %x_float as "x" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x16x16x3xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %slope = "tosa.const"() <{values = dense<[[[[0.25, -0.5, 1.5]]]]> : tensor<1x1x1x3xf32>}> : () -> tensor<1x1x1x3xf32>
  %nought = "tosa.const"() <{values = dense<0.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %below = tosa.mul %x, %slope, %shift : (tensor<1x16x16x3xf32>, tensor<1x1x1x3xf32>, tensor<1xi8>) -> tensor<1x16x16x3xf32>
  %is = tosa.greater_equal %x, %nought : (tensor<1x16x16x3xf32>, tensor<1x1x1x1xf32>) -> tensor<1x16x16x3xi1>
  %y = tosa.select %is, %x, %below : (tensor<1x16x16x3xi1>, tensor<1x16x16x3xf32>, tensor<1x16x16x3xf32>) -> tensor<1x16x16x3xf32>
  %out = tpc.quantize %y as "out" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x16x16x3xf32>
  return %out : tensor<1x16x16x3xf32>
}
