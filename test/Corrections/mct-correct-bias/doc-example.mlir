// RUN: mct-opt %s --mct-correct-bias="calibration-data=%S/../Inputs/two_samples.npy" | FileCheck %s
// RUN: mct-opt %s --mct-correct-bias="estimate=input-mean calibration-data=%S/../Inputs/two_samples.npy" | FileCheck %s --check-prefix=MEAN

// The kernel [1, 0.25] is quantized to [0.5, 0]; the inputs have the means 2 and 1, so the output lost
// 0.5 * 2 + 0.25 * 1 = 1.25 on average. Without borders and quantized inputs both estimates say so.
// CHECK-LABEL: func.func @main
// CHECK-DAG:     %[[BIAS:.*]] = "tosa.const"() <{values = dense<2.250000e+00> : tensor<1xf32>
// CHECK-DAG:     %[[W:.*]] = tpc.quantize {{.*}} corrections(#tpc.corrections<applied = ["quantized_network"], bias_offset = [1.250000e+00], kernel_scale = [1.000000e+00]>)
// CHECK:         tosa.conv2d %{{.*}}, %[[W]], %[[BIAS]],
// MEAN-DAG:        values = dense<2.250000e+00> : tensor<1xf32>
// MEAN-DAG:        corrections(#tpc.corrections<applied = ["input_mean"], bias_offset = [1.250000e+00], kernel_scale = [1.000000e+00]>)
func.func @main(%arg0: tensor<1x1x1x2xf32>) -> tensor<1x1x1x1xf32> {
  %kernel = "tosa.const"() <{values = dense<[[[[1.0, 0.25]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [1.0], bits = 2>) : tensor<1x1x1x2xf32>
  %0 = tosa.conv2d %arg0, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  return %0 : tensor<1x1x1x1xf32>
}
