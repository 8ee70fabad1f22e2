// RUN: mct-opt %s --mct-gptq="rate=0 bias-rate=0.1 epochs=100 calibration-data=%S/../../Corrections/Inputs/eight_pairs.npy" | FileCheck %s

// Weights that do not move keep their levels. The bias, 3 more than that of the float network, comes down to 0.4; by how
// much it differs now stands in the record, so that the float network can still be told: 0.4 + 0.6 is 1, as 4 - 3.
// CHECK-LABEL: func.func @main
// CHECK-DAG:     %[[KERNEL:.*]] = "tosa.const"() <{values = dense<5.000000e-01> : tensor<1x1x1x2xf32>
// CHECK-DAG:     %[[BIAS:.*]] = "tosa.const"() <{values = dense<{{0\.4[0-9]+|4\.[0-9]+e-01}}> : tensor<1xf32>
// CHECK-DAG:     %[[W:.*]] = tpc.quantize %[[KERNEL]] {{.*}} parameters(#tpc.power_of_two<threshold = [1.000000e+00], bits = 2>) corrections(#tpc.corrections<applied = ["rounded_weights"], bias_offset = [{{-0\.(59|6)[0-9]+|-(5\.9|6\.)[0-9]*e-01}}], kernel_scale = [1.000000e+00], kernel = dense<{{\[\[\[\[}}1.000000e+00, 2.500000e-01]]]]> : tensor<1x1x1x2xf32>>)
// CHECK:         tosa.conv2d %{{.*}}, %[[W]], %[[BIAS]],
func.func @main(%arg0: tensor<1x1x1x2xf32>) -> tensor<1x1x1x1xf32> {
  %rounded = "tosa.const"() <{values = dense<[[[[0.5, 0.5]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias = "tosa.const"() <{values = dense<4.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w = tpc.quantize %rounded as "conv" weight "kernel_attr" axes [0] parameters(#tpc.power_of_two<threshold = [1.0], bits = 2>) corrections(#tpc.corrections<applied = ["rounded_weights"], bias_offset = [3.0], kernel_scale = [1.0], kernel = dense<[[[[1.0, 0.25]]]]> : tensor<1x1x1x2xf32>>) : tensor<1x1x1x2xf32>
  %0 = tosa.conv2d %arg0, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  return %0 : tensor<1x1x1x1xf32>
}
