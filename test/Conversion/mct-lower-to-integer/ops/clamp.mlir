// RUN: mct-opt %s --mct-lower-to-integer="io=integer" --mct-check-integer | mlir-opt-22 --tosa-attach-target="profiles=pro_int level=8k specification_version=1.0" --tosa-validate=strict-op-spec-alignment | FileCheck %s

// A clamp: limits of codes.
// CHECK-LABEL: func.func @main
// CHECK:         tosa.clamp %arg0 {max_val = 77 : i8, min_val = -19 : i8}
// CHECK-NEXT: return
func.func @main(%x_float: tensor<1x256xf32>) -> tensor<1x256xf32> {
  %x = tpc.quantize %x_float as "x" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x256xf32>
  %z = tosa.clamp %x {min_val = -0.3 : f32, max_val = 1.2 : f32} : (tensor<1x256xf32>) -> tensor<1x256xf32>
  %out = tpc.quantize %z as "out" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, rounding = half_up>) : tensor<1x256xf32>
  return %out : tensor<1x256xf32>
}
