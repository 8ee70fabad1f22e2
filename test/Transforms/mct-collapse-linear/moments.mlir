// RUN: mct-opt %s --mct-collapse-linear | FileCheck %s
//
// What is known of a layer's output (`tpc.bias`) goes with it.

// The mean is shifted like the output.
// CHECK-LABEL: func.func @addition
// CHECK:         tpc.bias values(dense<1.100000e+01> : tensor<1xf32>) mean(dense<1.050000e+01> : tensor<1xf32>) deviation(dense<3.000000e+00> : tensor<1xf32>)
// CHECK:         tosa.conv2d
func.func @addition(%x: tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %k = "tosa.const"() <{values = dense<[[[[2.0]]]]> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %b = tpc.bias values(dense<[1.0]> : tensor<1xf32>) mean(dense<[0.5]> : tensor<1xf32>) deviation(dense<[3.0]> : tensor<1xf32>) : tensor<1xf32>
  %c = "tosa.const"() <{values = dense<[[[[10.0]]]]> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %0 = tosa.conv2d %x, %k, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x1xf32>
  %1 = tosa.add %0, %c : (tensor<1x2x2x1xf32>, tensor<1x1x1x1xf32>) -> tensor<1x2x2x1xf32>
  return %1 : tensor<1x2x2x1xf32>
}

// The output is that of the second; its bias becomes 5 * 1 + 7.
// CHECK-LABEL: func.func @convolutions
// CHECK:         tpc.bias values(dense<1.200000e+01> : tensor<1xf32>) mean(dense<2.500000e-01> : tensor<1xf32>) deviation(dense<4.000000e+00> : tensor<1xf32>)
// CHECK-NOT:     tpc.bias
// CHECK:         tosa.conv2d %arg0
func.func @convolutions(%x: tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %k1 = "tosa.const"() <{values = dense<[[[[2.0]]]]> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %b1 = tpc.bias values(dense<[1.0]> : tensor<1xf32>) mean(dense<[0.5]> : tensor<1xf32>) deviation(dense<[3.0]> : tensor<1xf32>) : tensor<1xf32>
  %k2 = "tosa.const"() <{values = dense<[[[[5.0]]]]> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %b2 = tpc.bias values(dense<[7.0]> : tensor<1xf32>) mean(dense<[0.25]> : tensor<1xf32>) deviation(dense<[4.0]> : tensor<1xf32>) : tensor<1xf32>
  %0 = tosa.conv2d %x, %k1, %b1, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x1xf32>
  %1 = tosa.conv2d %0, %k2, %b2, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x1xf32>
  return %1 : tensor<1x2x2x1xf32>
}
