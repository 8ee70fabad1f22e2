// The hand-derived case of MCT's refolding: float mean 0.5 and deviation 2 (the kernel 1 on +-2, and -0.4 on 1, with
// the bias 0.9), quantized deviation 1.8. s = 2 / 1.8 = 1.1111, and the mean of the quantized layer is 0.9 - 0.3 = 0.6,
// so the bias becomes 0.5 + 1.1111 * (0.9 - 0.6) = 0.8333. In MCT's numbers the bias is 1 and the mean 0.7.
// What stands after the layer is another network now, and what is beside it is not.
// RUN: mct-opt %s --mct-correct-second-moment="calibration-data=%S/../Inputs/moments.npy" | FileCheck %s
// RUN: mct-opt %s --mct-correct-second-moment="calibration-data=%S/../Inputs/moments.npy" --mct-correct-bias="calibration-data=%S/../Inputs/moments.npy" | FileCheck %s --check-prefix=BIAS

// CHECK-LABEL: func.func @main
// CHECK:         tpc.quantize %arg0 as "in" activation statistics({{.*}}) parameters({{.*}})
// CHECK:         "tosa.const"() <{values = dense<{{\[\[\[\[}}1.111111{{[0-9]*}}, -0.44444{{[0-9]*}}]]]]>
// CHECK:         as "conv" {{.*}}threshold = [2.66666{{[0-9]*}}], bits = 4>
// CHECK-SAME:      bias_offset = [-0.16666{{[0-9]*}}], kernel_scale = [1.11111{{[0-9]*}}]
// CHECK:         dense<0.83333{{[0-9]*}}> : tensor<1xf32>
// CHECK:         tosa.conv2d
// CHECK:         as "out" activation : tensor<1x1x1x1xf32>

// The float network can still be told from it: there is nothing left to correct but the rounding of the kernel.
// BIAS:          applied = ["second_moment", "quantized_network"], bias_offset = [-0.1666{{[0-9]*}}], kernel_scale = [1.1111{{[0-9]*}}]
func.func @main(%arg0: tensor<1x1x1x2xf32>) -> tensor<1x1x1x1xf32> {
  %kernel = "tosa.const"() <{values = dense<[[[[1.0, -0.4]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<0.9> : tensor<1xf32>}> : () -> tensor<1xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %x = tpc.quantize %arg0 as "in" activation statistics(#tpc.statistics<count = 4, zeros = 0, min = -2.0, max = 2.0>) parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x1x1x2xf32>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [2.4], bits = 4>) : tensor<1x1x1x2xf32>
  %0 = tosa.conv2d %x, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  %1 = tpc.quantize %0 as "out" activation statistics(#tpc.statistics<count = 2, zeros = 0, min = -2.0, max = 2.0>) parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x1x1x1xf32>
  return %1 : tensor<1x1x1x1xf32>
}
