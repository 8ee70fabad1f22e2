// RUN: mct-opt %s --mct-collapse-residual | FileCheck %s
//
// What is known of the convolution's output (`tpc.bias`) does not hold for the sum: only the values stay.

// CHECK-LABEL: func.func @main
// CHECK-NOT:     tpc.bias
// CHECK:         "tosa.const"() <{values = dense<7.000000e+00> : tensor<1xf32>
// CHECK-NOT:     tpc.bias
// CHECK:         tosa.conv2d
func.func @main(%x: tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %k = "tosa.const"() <{values = dense<[[[[2.0]]]]> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %b = tpc.bias values(dense<[7.0]> : tensor<1xf32>) mean(dense<[0.5]> : tensor<1xf32>) deviation(dense<[3.0]> : tensor<1xf32>) : tensor<1xf32>
  %0 = tosa.conv2d %x, %k, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x1xf32>
  %1 = tosa.add %0, %x : (tensor<1x2x2x1xf32>, tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32>
  return %1 : tensor<1x2x2x1xf32>
}
