// RUN: mct-opt %s --mct-round-weights="calibration-data=%S/../Inputs/two_samples.npy" | FileCheck %s

// The nearest levels of [1, 0.25] are [0.5, 0]. The two channels rise by 2 together from the one sample to the other, so
// that the output, which should rise by 2.5, would rise by 1. With [0.5, 0.5] it rises by 2, as near as the levels of this
// threshold, or of one half of it, allow. The bias makes up for the mean, which is 2 + 0.25 + 1 with the float weights,
// and 1 + 0.5 + bias now. An error of -0.25 in the one sample and of 0.25 in the other remains.
// CHECK-LABEL: func.func @main
// CHECK-DAG:     %[[KERNEL:.*]] = "tosa.const"() <{values = dense<5.000000e-01> : tensor<1x1x1x2xf32>
// CHECK-DAG:     %[[BIAS:.*]] = "tosa.const"() <{values = dense<1.750000e+00> : tensor<1xf32>
// CHECK-DAG:     %[[W:.*]] = tpc.quantize %[[KERNEL]] {{.*}} parameters(#tpc.power_of_two<threshold = [1.000000e+00], bits = 2>) selection(#tpc.selection<error_method = least_squares, error = [6.250000e-02]>) corrections(#tpc.corrections<applied = ["rounded_weights"], bias_offset = [7.500000e-01], kernel_scale = [1.000000e+00], kernel = dense<{{\[\[\[\[}}1.000000e+00, 2.500000e-01]]]]> : tensor<1x1x1x2xf32>>)
// CHECK:         tosa.conv2d %{{.*}}, %[[W]], %[[BIAS]],
func.func @main(%arg0: tensor<1x1x1x2xf32>) -> tensor<1x1x1x1xf32> {
  %kernel = "tosa.const"() <{values = dense<[[[[1.0, 0.25]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" axes [0] parameters(#tpc.power_of_two<threshold = [1.0], bits = 2>) : tensor<1x1x1x2xf32>
  %0 = tosa.conv2d %arg0, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  return %0 : tensor<1x1x1x1xf32>
}
