// RUN: mct-opt %s --mct-correct-activation-bias -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: mct-opt %t.mlir --mct-correct-activation-bias -o %t.twice.mlir
// RUN: diff %t.mlir %t.twice.mlir

// The hand-derived case: the edges 0, 1, 2, 3 are quantized to 0, 0, 2, 2, so the bins stand for 0, 1, 2 instead of
// 0.5, 1.5, 2.5, with the means (0 + 1 + 2 * 2) / 4 = 1.25 and 1.75. The input lost 0.5, the output twice as much.
// CHECK-LABEL: func.func @main
// CHECK:         %[[X:.*]] = tpc.quantize %arg0 as "in" activation
// CHECK:         %[[W:.*]] = tpc.quantize {{.*}} as "conv" {{.*}} corrections(#tpc.corrections<applied = ["activation_bias"], bias_offset = [1.000000e+00], kernel_scale = [1.000000e+00]>)
// CHECK:         %[[BIAS:.*]] = "tosa.const"() <{values = dense<4.000000e+00> : tensor<1xf32>
// CHECK:         tosa.conv2d %[[X]], %[[W]], %[[BIAS]],
func.func @main(%arg0: tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32> {
  %kernel = "tosa.const"() <{values = dense<2.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %bias = "tosa.const"() <{values = dense<3.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %x = tpc.quantize %arg0 as "in" activation statistics(#tpc.statistics<count = 4, zeros = 0, min = 0.5, max = 2.5, histogram = #tpc.histogram<step_exponent = 0, first = 0, counts = dense<[1, 1, 2]> : tensor<3xi64>>>) parameters(#tpc.power_of_two<threshold = [4.0], bits = 1, is_signed = false>) : tensor<1x1x1x1xf32>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [4.0], bits = 8>) : tensor<1x1x1x1xf32>
  %0 = tosa.conv2d %x, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  return %0 : tensor<1x1x1x1xf32>
}
