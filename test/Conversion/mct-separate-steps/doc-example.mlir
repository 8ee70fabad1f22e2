// RUN: mct-opt %s --mct-separate-steps | FileCheck %s

// Steps of the kernel: 3/128 = 1.5 * 2^-6 and 1/128; of the input 1/32. Codes 32 and -64; bias 0.75 / (3/128/32) = 1024, times 2^-11.
// CHECK-LABEL: func.func @main
// CHECK:         %[[KERNEL:.*]] = "tosa.const"() <{values = dense<{{\[\[\[\[}}5.000000e-01]]], {{\[\[\[}}-5.000000e-01]]]]> : tensor<2x1x1x1xf32>
// CHECK:         %[[W:.*]] = tpc.quantize %[[KERNEL]] as "conv" weight "kernel_attr" axes [0] : tensor<2x1x1x1xf32>
// CHECK:         %[[BIAS:.*]] = "tosa.const"() <{values = dense<[5.000000e-01, 2.500000e-01]> : tensor<2xf32>
// CHECK:         %[[SUM:.*]] = tosa.conv2d %{{.*}}, %[[W]], %[[BIAS]]
// CHECK:         %[[FACTORS:.*]] = "tosa.const"() <{values = dense<{{\[\[\[\[}}1.500000e+00, 1.000000e+00]]]]> : tensor<1x1x1x2xf32>
// CHECK:         %[[PRODUCT:.*]] = tosa.mul %[[SUM]], %[[FACTORS]]
// CHECK:         return %[[PRODUCT]]
func.func @main(%arg0: tensor<1x1x1x1xf32>) -> tensor<1x1x1x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %bias = "tosa.const"() <{values = dense<[0.75, 0.25]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %kernel = "tosa.const"() <{values = dense<[[[[0.75]]], [[[-0.5]]]]> : tensor<2x1x1x1xf32>}> : () -> tensor<2x1x1x1xf32>
  %x = tpc.quantize %arg0 as "in" activation parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>) : tensor<1x1x1x1xf32>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [3.0, 1.0], bits = 8>) : tensor<2x1x1x1xf32>
  %0 = tosa.conv2d %x, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x1xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x2xf32> loc("conv")
  return %0 : tensor<1x1x1x2xf32>
}
