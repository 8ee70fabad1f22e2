// RUN: mct-opt %s --mct-fold-batch-norm | FileCheck %s
//
// Each group of a convolution keeps its part of mean beta and deviation |gamma|.

// CHECK-LABEL: func.func @groups
// CHECK-DAG:     tpc.bias values(dense<7.000000e+00> : tensor<1xf32>) mean(dense<7.000000e+00> : tensor<1xf32>) deviation(dense<3.000000e+00> : tensor<1xf32>)
// CHECK-DAG:     tpc.bias values(dense<9.000000e+00> : tensor<1xf32>) mean(dense<9.000000e+00> : tensor<1xf32>) deviation(dense<5.000000e+00> : tensor<1xf32>)
// CHECK:         tosa.concat
// CHECK-NEXT:    return
func.func @groups(%x: tensor<1x2x2x1xf32>) -> tensor<1x2x2x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %k1 = "tosa.const"() <{values = dense<[[[[1.0]]]]> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %k2 = "tosa.const"() <{values = dense<[[[[2.0]]]]> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %inverse = "tosa.const"() <{values = dense<[[[[0.5, 0.25]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %gamma = "tosa.const"() <{values = dense<[[[[3.0, -5.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %beta = "tosa.const"() <{values = dense<[[[[7.0, 9.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %0 = tosa.conv2d %x, %k1, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x1xf32>
  %1 = tosa.conv2d %x, %k2, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x1xf32>
  %2 = tosa.concat %0, %1 {axis = 3 : i32} : (tensor<1x2x2x1xf32>, tensor<1x2x2x1xf32>) -> tensor<1x2x2x2xf32>
  %3 = tosa.mul %2, %inverse, %shift : (tensor<1x2x2x2xf32>, tensor<1x1x1x2xf32>, tensor<1xi8>) -> tensor<1x2x2x2xf32>
  %4 = tosa.mul %3, %gamma, %shift : (tensor<1x2x2x2xf32>, tensor<1x1x1x2xf32>, tensor<1xi8>) -> tensor<1x2x2x2xf32>
  %5 = tosa.add %4, %beta : (tensor<1x2x2x2xf32>, tensor<1x1x1x2xf32>) -> tensor<1x2x2x2xf32>
  return %5 : tensor<1x2x2x2xf32>
}
