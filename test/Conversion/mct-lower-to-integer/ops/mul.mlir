// RUN: mct-opt %s --mct-lower-to-integer="io=integer" --mct-check-integer | mlir-opt-22 --tosa-attach-target="profiles=pro_int level=8k specification_version=1.0" --tosa-validate=strict-op-spec-alignment | FileCheck %s

// A product.
// CHECK-LABEL: func.func @main
// CHECK:         tosa.mul {{.*}} -> tensor<1x256x256xi32>
// CHECK:         tosa.rescale
func.func @main(%x_float: tensor<1x256x1xf32>, %y_float: tensor<1x1x256xf32>) -> tensor<1x256x256xf32> {
  %x = tpc.quantize %x_float as "x" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x256x1xf32>
  %y = tpc.quantize %y_float as "y" activation parameters(#tpc.power_of_two<threshold = [0.5], bits = 8, rounding = half_up>) : tensor<1x1x256xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %z = tosa.mul %x, %y, %shift : (tensor<1x256x1xf32>, tensor<1x1x256xf32>, tensor<1xi8>) -> tensor<1x256x256xf32>
  %out = tpc.quantize %z as "out" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x256x256xf32>
  return %out : tensor<1x256x256xf32>
}
