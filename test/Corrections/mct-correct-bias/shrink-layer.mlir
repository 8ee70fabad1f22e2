// Kernels of 1 become 0.5. The first channel loses 0.5 or gains it, nothing on average; the second loses 1 or nothing,
// 0.5 on average. Both have the variance 2/7 over samples, 1/28 of the mean, and the mean over the channels of squares
// of errors less variances is (0 + 0.25 - 2/28) / 2 = 5/56. Alone the second would keep 1 - 1/28 / 0.25 = 6/7 of its
// error; in this layer it keeps 5/56 / (5/56 + 1/28) = 5/7. The other factor is less: 1 - 1 / ((0 + 7 * 5/7) / 2) = 3/5.
// RUN: mct-opt %s --mct-correct-bias="calibration-data=%S/../Inputs/eight_pairs.npy" | FileCheck %s
// RUN: mct-opt %s --mct-correct-bias="calibration-data=%S/../Inputs/eight_pairs.npy shrink=false" | FileCheck %s --check-prefix=WHOLE

// CHECK: bias_offset = [0.000000e+00, 0.357142{{[0-9]*}}]
// WHOLE: bias_offset = [0.000000e+00, 5.000000e-01]
func.func @main(%arg0: tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32> {
  %kernel = "tosa.const"() <{values = dense<[[[[1.0, 0.0]]], [[[0.0, 1.0]]]]> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<0.0> : tensor<2xf32>}> : () -> tensor<2xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [1.0, 1.0], bits = 2>) : tensor<2x1x1x2xf32>
  %0 = tosa.conv2d %arg0, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x2xf32>
  return %0 : tensor<1x1x1x2xf32>
}
