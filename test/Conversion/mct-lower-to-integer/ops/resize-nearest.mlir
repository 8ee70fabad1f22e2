// RUN: mct-opt %s --mct-lower-to-integer="io=integer" --mct-check-integer | mlir-opt-22 --tosa-attach-target="profiles=pro_int level=8k specification_version=1.0" --tosa-validate=strict-op-spec-alignment | FileCheck %s

// The nearest value: a code.
// CHECK-LABEL: func.func @main
// CHECK:         tosa.resize {{.*}}NEAREST_NEIGHBOR{{.*}} -> tensor<1x8x10x3xi8>
// CHECK-NEXT: return
func.func @main(%x_float: tensor<1x4x5x3xf32>) -> tensor<1x8x10x3xf32> {
  %x = tpc.quantize %x_float as "x" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, is_signed = false, rounding = half_up>) : tensor<1x4x5x3xf32>
  %scale = tosa.const_shape {values = dense<[4, 2, 4, 2]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %offset = tosa.const_shape {values = dense<0> : tensor<2xindex>} : () -> !tosa.shape<2>
  %border = tosa.const_shape {values = dense<2> : tensor<2xindex>} : () -> !tosa.shape<2>
  %y = tosa.resize %x, %scale, %offset, %border {mode = NEAREST_NEIGHBOR} : (tensor<1x4x5x3xf32>, !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x8x10x3xf32>
  %out = tpc.quantize %y as "out" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, is_signed = false, rounding = half_up>) : tensor<1x8x10x3xf32>
  return %out : tensor<1x8x10x3xf32>
}
