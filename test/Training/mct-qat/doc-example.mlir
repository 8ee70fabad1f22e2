// RUN: mct-opt %s --mct-qat="loss=mse calibration-data=%S/../Inputs/two_samples.npy" | FileCheck %s

// One step of Adam moves everything by its rate in the direction of the target. The kernel [1, 0.25] counts as [0.5, 0]: the
// first weight is cut off, and gets no gradient; the second one is to become larger, as are the threshold and the bias.
// 0.25 + 0.003 * sqrt((1 + 0.0625) / 2) = 0.252187.
// CHECK-LABEL: func.func @main
// CHECK-DAG:     %[[KERNEL:.*]] = "tosa.const"() <{values = dense<{{\[\[\[\[}}1.000000e+00, 0.252186{{[0-9]*\]\]\]\]}}> : tensor<1x1x1x2xf32>
// CHECK-DAG:     %[[BIAS:.*]] = "tosa.const"() <{values = dense<{{1.003[0-9e+]*}}> : tensor<1xf32>
// CHECK-DAG:     %[[W:.*]] = tpc.quantize %[[KERNEL]] as "conv" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [1.00{{(2999|3000)[0-9]*(e\+00)?}}], bits = 2>) : tensor<1x1x1x2xf32>
// CHECK:         tosa.conv2d %{{.*}}, %[[W]], %[[BIAS]],
func.func @main(%arg0: tensor<1x1x1x2xf32>) -> tensor<1x1x1x1xf32> {
  %kernel = "tosa.const"() <{values = dense<[[[[1.0, 0.25]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [1.0], bits = 2>) : tensor<1x1x1x2xf32>
  %0 = tosa.conv2d %arg0, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  return %0 : tensor<1x1x1x1xf32>
}
