// RUN: mct-opt %s --mct-lower-to-integer="io=integer" --mct-check-integer | mlir-opt-22 --tosa-attach-target="profiles=pro_int level=8k specification_version=1.0" --tosa-validate=strict-op-spec-alignment | FileCheck %s

// Factors of channels are those of the rescale, but for their signs.
// CHECK-LABEL: func.func @main
// CHECK:         tosa.mul {{.*}} -> tensor<1x4x4x3xi32>
// CHECK:         tosa.rescale {{.*}}per_channel = true
func.func @main(%x_float: tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32> {
  %x = tpc.quantize %x_float as "x" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4x3xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %factor = "tosa.const"() <{values = dense<[[[[0.25, -0.5, 1.5]]]]> : tensor<1x1x1x3xf32>}> : () -> tensor<1x1x1x3xf32>
  %y = tosa.mul %x, %factor, %shift : (tensor<1x4x4x3xf32>, tensor<1x1x1x3xf32>, tensor<1xi8>) -> tensor<1x4x4x3xf32>
  %out = tpc.quantize %y as "out" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4x3xf32>
  return %out : tensor<1x4x4x3xf32>
}
