// RUN: mct-opt %s --mct-lower-to-integer="io=integer" --mct-check-integer | mlir-opt-22 --tosa-attach-target="profiles=pro_int level=8k specification_version=1.0" --tosa-validate=strict-op-spec-alignment | FileCheck %s

// Padding with zero points, one axis after the other: level 8k has no shapes of 8 numbers.
// CHECK-LABEL: func.func @main
// CHECK:         tosa.pad {{.*}} (tensor<1x4x8xi8>, !tosa.shape<6>, tensor<1xi8>) -> tensor<1x7x8xi8>
// CHECK:         tosa.pad {{.*}} (tensor<7x4x2xi8>, !tosa.shape<6>, tensor<1xi8>) -> tensor<7x5x2xi8>
func.func @main(%x_float: tensor<1x4x4x2xf32>) -> tensor<1x7x5x2xf32> {
  %x = tpc.quantize %x_float as "x" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, is_signed = false, rounding = half_up>) : tensor<1x4x4x2xf32>
  %fill = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %sizes = tosa.const_shape {values = dense<[0, 0, 1, 2, 0, 1, 0, 0]> : tensor<8xindex>} : () -> !tosa.shape<8>
  %z = tosa.pad %x, %sizes, %fill : (tensor<1x4x4x2xf32>, !tosa.shape<8>, tensor<1xf32>) -> tensor<1x7x5x2xf32>
  %out = tpc.quantize %z as "out" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, is_signed = false, rounding = half_up>) : tensor<1x7x5x2xf32>
  return %out : tensor<1x7x5x2xf32>
}
