// RUN: mct-opt %s --mct-lower-to-integer="io=integer" --mct-check-integer | mlir-opt-22 --tosa-attach-target="profiles=pro_int level=8k specification_version=1.0" --tosa-validate=strict-op-spec-alignment | FileCheck %s

// Values that were looked up: codes.
// CHECK-LABEL: func.func @main
// CHECK:         tosa.gather {{.*}} : (tensor<1x8x4xi8>, tensor<1x5xi32>) -> tensor<1x5x4xi8>
// CHECK:         tosa.rescale
func.func @main(%x_float: tensor<1x8x4xf32>, %indices: tensor<1x5xi32>) -> tensor<1x5x4xf32> {
  %x = tpc.quantize %x_float as "x" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x8x4xf32>
  %y = tosa.gather %x, %indices : (tensor<1x8x4xf32>, tensor<1x5xi32>) -> tensor<1x5x4xf32>
  %out = tpc.quantize %y as "out" activation parameters(#tpc.power_of_two<threshold = [1.0], bits = 8, rounding = half_up>) : tensor<1x5x4xf32>
  return %out : tensor<1x5x4xf32>
}
