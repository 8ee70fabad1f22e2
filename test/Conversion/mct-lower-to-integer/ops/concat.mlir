// RUN: mct-opt %s --mct-lower-to-integer="io=integer" --mct-check-integer | mlir-opt-22 --tosa-attach-target="profiles=pro_int level=8k specification_version=1.0" --tosa-validate=strict-op-spec-alignment | FileCheck %s

// Values on two grids: each is brought to that of the result first.
// CHECK-LABEL: func.func @main
// CHECK:         %[[Y:.*]] = tosa.rescale %arg1
// CHECK:         tosa.concat %arg0, %[[Y]] {{.*}} -> tensor<1x4x4x4xi8>
func.func @main(%x_float: tensor<1x4x4x2xf32>, %y_float: tensor<1x4x4x2xf32>) -> tensor<1x4x4x4xf32> {
  %x = tpc.quantize %x_float as "x" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4x2xf32>
  %y = tpc.quantize %y_float as "y" activation parameters(#tpc.power_of_two<threshold = [1.0], bits = 8, is_signed = false, rounding = half_up>) : tensor<1x4x4x2xf32>
  %z = tosa.concat %x, %y {axis = 3 : i32} : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x4x4x4xf32>
  %out = tpc.quantize %z as "out" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x4x4x4xf32>
  return %out : tensor<1x4x4x4xf32>
}
