// RUN: mct-opt %s --mct-scale-input | FileCheck %s

// The kernel is 2 * (its float kernel) before and after the factor 0.75, so what is told of it stays true. Its
// parameters do not, they go.
// CHECK-DAG: values = dense<1.500000e+00> : tensor<1x1x1x1xf32>
// CHECK-DAG: tpc.quantize {{.*}} as "conv" weight "kernel_attr" corrections(#tpc.corrections<applied = ["second_moment"], bias_offset = [5.000000e-01], kernel_scale = [2.000000e+00]>)
func.func @main(%arg0: tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<2.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %bias = "tosa.const"() <{values = dense<5.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" parameters(#tpc.symmetric<threshold = [2.0], bits = 4>)
    corrections(#tpc.corrections<applied = ["second_moment"], bias_offset = [0.5], kernel_scale = [2.0]>) : tensor<1x1x1x1xf32>
  %0 = tpc.quantize %arg0 as "arg0" activation statistics(#tpc.statistics<count = 4, zeros = 0, min = -3.0, max = 2.0>)
    parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x2x2x1xf32>
  %1 = tosa.conv2d %0, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x1xf32>
  return %1 : tensor<1x2x2x1xf32>
}
