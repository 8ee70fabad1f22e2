// RUN: mct-opt %s --mct-lower-to-integer="io=integer" --mct-check-integer | mlir-opt-22 --tosa-attach-target="profiles=pro_int level=8k specification_version=1.0" --tosa-validate=strict-op-spec-alignment | FileCheck %s

// What moves values moves codes; another grid costs a rescale.
// CHECK-LABEL: func.func @main
// CHECK:         tosa.reshape {{.*}} -> tensor<1x48xi8>
// CHECK:         tosa.transpose {{.*}} -> tensor<1x2x4x6xi8>
// CHECK:         tosa.slice {{.*}} -> tensor<1x2x3x2xi8>
// CHECK:         tosa.reverse {{.*}} -> tensor<1x4x6x2xi8>
// CHECK:         tosa.tile {{.*}} -> tensor<1x4x6x6xi8>
// CHECK:         tosa.rescale
func.func @main(%x_float: tensor<1x4x6x2xf32>) -> (tensor<1x48xf32>, tensor<1x2x4x6xf32>, tensor<1x2x3x2xf32>, tensor<1x4x6x2xf32>, tensor<1x4x6x6xf32>, tensor<1x4x6x2xf32>) {
  %x = tpc.quantize %x_float as "x" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, is_signed = false, rounding = half_up>) : tensor<1x4x6x2xf32>
  %flat = tosa.const_shape {values = dense<[1, 48]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %start = tosa.const_shape {values = dense<[0, 1, 2, 0]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %size = tosa.const_shape {values = dense<[1, 2, 3, 2]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %times = tosa.const_shape {values = dense<[1, 1, 1, 3]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %reshape_y = tosa.reshape %x, %flat : (tensor<1x4x6x2xf32>, !tosa.shape<2>) -> tensor<1x48xf32>
  %reshape = tpc.quantize %reshape_y as "reshape" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, is_signed = false, rounding = half_up>) : tensor<1x48xf32>
  %transpose_y = tosa.transpose %x {perms = array<i32: 0, 3, 1, 2>} : (tensor<1x4x6x2xf32>) -> tensor<1x2x4x6xf32>
  %transpose = tpc.quantize %transpose_y as "transpose" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, is_signed = false, rounding = half_up>) : tensor<1x2x4x6xf32>
  %slice_y = tosa.slice %x, %start, %size : (tensor<1x4x6x2xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<1x2x3x2xf32>
  %slice = tpc.quantize %slice_y as "slice" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, is_signed = false, rounding = half_up>) : tensor<1x2x3x2xf32>
  %reverse_y = tosa.reverse %x {axis = 1 : i32} : (tensor<1x4x6x2xf32>) -> tensor<1x4x6x2xf32>
  %reverse = tpc.quantize %reverse_y as "reverse" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, is_signed = false, rounding = half_up>) : tensor<1x4x6x2xf32>
  %tile_y = tosa.tile %x, %times : (tensor<1x4x6x2xf32>, !tosa.shape<4>) -> tensor<1x4x6x6xf32>
  %tile = tpc.quantize %tile_y as "tile" activation parameters(#tpc.power_of_two<threshold = [1.0], bits = 8, is_signed = false, rounding = half_up>) : tensor<1x4x6x6xf32>
  %identity_y = tosa.identity %x : (tensor<1x4x6x2xf32>) -> tensor<1x4x6x2xf32>
  %identity = tpc.quantize %identity_y as "identity" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, is_signed = false, rounding = half_up>) : tensor<1x4x6x2xf32>
  return %reshape, %transpose, %slice, %reverse, %tile, %identity : tensor<1x48xf32>, tensor<1x2x4x6xf32>, tensor<1x2x3x2xf32>, tensor<1x4x6x2xf32>, tensor<1x4x6x6xf32>, tensor<1x4x6x2xf32>
}
