// A constant may be larger than the single value that it meets, as the scale of a group norm is: the batch is followed
// past it in a function of one sample, and must not be looked for again in what a unit of several makes of that. Kernels
// of 1 become 0.5. The samples 1 and 3 have the mean 2; the second layer adds once and three times that, and lacks 4.
// RUN: mct-opt %s --mct-correct-bias="calibration-data=%S/../Inputs/one_channel.npy" | FileCheck %s

// CHECK-LABEL: func.func @main
// CHECK:         as "first" {{.*}} bias_offset = [1.000000e+00]
// CHECK:         as "second" {{.*}} bias_offset = [4.000000e+00]
func.func @main(%arg0: tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %one = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %ones = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %scale = "tosa.const"() <{values = dense<[[[[1.0, 3.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %w0 = tpc.quantize %one as "first" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [1.0], bits = 2>) : tensor<1x1x1x1xf32>
  %0 = tosa.conv2d %arg0, %w0, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  %1 = tosa.mul %0, %scale, %shift : (tensor<1x1x1x1xf32>, tensor<1x1x1x2xf32>, tensor<1xi8>) -> tensor<1x1x1x2xf32>
  %w1 = tpc.quantize %ones as "second" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [1.0], bits = 2>) : tensor<1x1x1x2xf32>
  %2 = tosa.conv2d %1, %w1, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  return %2 : tensor<1x1x1x1xf32>
}
