// RUN: mct-opt %s --mct-select-weight-parameters | FileCheck %s

#kernel2 = #tpc.attr_quant_config<method = symmetric, bits = 2, per_channel = true, enabled = true>
// Levels of 2 bits are -t, -t/2, 0, t/2: each channel lies on its own grid, with error 0.
// CHECK-LABEL: func.func @main
// CHECK:         tpc.quantize {{.*}} as "conv2d" weight "kernel_attr" axes [0]
// CHECK-SAME:      parameters(#tpc.symmetric<threshold = [5.000000e-01, 1.000000e+00], bits = 2>)
func.func @main() -> tensor<2x1x1x2xf32> {
  %k = "tosa.const"() <{values = dense<[[[[0.25, -0.5]]], [[[0.5, -1.0]]]]> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %w = tpc.quantize %k as "conv2d" weight "kernel_attr" axes [0] config(#kernel2) : tensor<2x1x1x2xf32>
  return %w : tensor<2x1x1x2xf32>
}
