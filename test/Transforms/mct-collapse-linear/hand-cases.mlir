// RUN: mct-opt %s --mct-collapse-linear | FileCheck %s
//
// Computed by hand.

// 16: 1 - 2 everywhere; 1 * 0 - 1 * 1.
// CHECK-LABEL: func.func @window
// CHECK-DAG:     dense<-1.000000e+00> : tensor<1x3x3x1xf32>
// CHECK-DAG:     dense<-1.000000e+00> : tensor<1xf32>
// CHECK:         tosa.conv2d %arg0
// CHECK-NEXT:    return
func.func @window(%x: tensor<1x3x3x1xf32>) -> tensor<1x1x1x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %k1 = "tosa.const"() <{values = dense<[[[[1.0], [1.0], [1.0]], [[1.0], [1.0], [1.0]], [[1.0], [1.0], [1.0]]], [[[2.0], [2.0], [2.0]], [[2.0], [2.0], [2.0]], [[2.0], [2.0], [2.0]]]]> : tensor<2x3x3x1xf32>}> : () -> tensor<2x3x3x1xf32>
  %b1 = "tosa.const"() <{values = dense<[0.0, 1.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %k2 = "tosa.const"() <{values = dense<[[[[1.0, -1.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %b2 = "tosa.const"() <{values = dense<[0.0]> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.conv2d %x, %k1, %b1, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x3x3x1xf32>, tensor<2x3x3x1xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x2xf32>
  %1 = tosa.conv2d %0, %k2, %b2, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  return %1 : tensor<1x1x1x1xf32>
}

// MCT fails where height and width differ.
// CHECK-LABEL: func.func @kernel_of_any_shape
// CHECK-DAG:     dense<{{\[\[\[\[}}2.000000e+00], [4.000000e+00], [6.000000e+00]], {{\[\[}}8.000000e+00], [1.000000e+01], [1.200000e+01]]]]> : tensor<1x2x3x1xf32>
// CHECK-DAG:     dense<5.000000e+00> : tensor<1xf32>
// CHECK:         tosa.conv2d %arg0
// CHECK-NEXT:    return
func.func @kernel_of_any_shape(%x: tensor<1x2x3x1xf32>) -> tensor<1x1x1x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %k1 = "tosa.const"() <{values = dense<[[[[1.0], [2.0], [3.0]], [[4.0], [5.0], [6.0]]]]> : tensor<1x2x3x1xf32>}> : () -> tensor<1x2x3x1xf32>
  %b1 = "tosa.const"() <{values = dense<[1.0]> : tensor<1xf32>}> : () -> tensor<1xf32>
  %k2 = "tosa.const"() <{values = dense<[[[[2.0]]]]> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %b2 = "tosa.const"() <{values = dense<[3.0]> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.conv2d %x, %k1, %b1, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x3x1xf32>, tensor<1x2x3x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  %1 = tosa.conv2d %0, %k2, %b2, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  return %1 : tensor<1x1x1x1xf32>
}

// 17: 54 + 200 elements would become 2700.
// CHECK-LABEL: func.func @would_grow
// CHECK:         tosa.conv2d
// CHECK:         tosa.conv2d
func.func @would_grow(%x: tensor<1x3x3x3xf32>) -> tensor<1x1x1x100xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %k1 = "tosa.const"() <{values = dense<1.0> : tensor<2x3x3x3xf32>}> : () -> tensor<2x3x3x3xf32>
  %k2 = "tosa.const"() <{values = dense<1.0> : tensor<100x1x1x2xf32>}> : () -> tensor<100x1x1x2xf32>
  %0 = tosa.conv2d %x, %k1, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x3x3x3xf32>, tensor<2x3x3x3xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x2xf32>
  %1 = tosa.conv2d %0, %k2, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<100x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x100xf32>
  return %1 : tensor<1x1x1x100xf32>
}

// 17: 108 + 8 elements become 54.
// CHECK-LABEL: func.func @shrinks
// CHECK:         dense_resource<{{.*}}> : tensor<2x3x3x3xf32>
// CHECK:         tosa.conv2d %arg0
// CHECK-NEXT:    return
func.func @shrinks(%x: tensor<1x3x3x3xf32>) -> tensor<1x1x1x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %k1 = "tosa.const"() <{values = dense<1.0> : tensor<4x3x3x3xf32>}> : () -> tensor<4x3x3x3xf32>
  %k2 = "tosa.const"() <{values = dense<1.0> : tensor<2x1x1x4xf32>}> : () -> tensor<2x1x1x4xf32>
  %0 = tosa.conv2d %x, %k1, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x3x3x3xf32>, tensor<4x3x3x3xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x4xf32>
  %1 = tosa.conv2d %0, %k2, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x4xf32>, tensor<2x1x1x4xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x2xf32>
  return %1 : tensor<1x1x1x2xf32>
}

// 18
// CHECK-LABEL: func.func @second_has_a_window
// CHECK:         tosa.conv2d
// CHECK:         tosa.conv2d
func.func @second_has_a_window(%x: tensor<1x3x3x1xf32>) -> tensor<1x1x1x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %k1 = "tosa.const"() <{values = dense<[[[[1.0]]]]> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %b1 = "tosa.const"() <{values = dense<[0.0]> : tensor<1xf32>}> : () -> tensor<1xf32>
  %k2 = "tosa.const"() <{values = dense<[[[[1.0], [1.0], [1.0]], [[1.0], [1.0], [1.0]], [[1.0], [1.0], [1.0]]]]> : tensor<1x3x3x1xf32>}> : () -> tensor<1x3x3x1xf32>
  %b2 = "tosa.const"() <{values = dense<[0.0]> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.conv2d %x, %k1, %b1, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x3x3x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x3x1xf32>
  %1 = tosa.conv2d %0, %k2, %b2, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x3x3x1xf32>, tensor<1x3x3x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  return %1 : tensor<1x1x1x1xf32>
}

// 18
// CHECK-LABEL: func.func @second_pads
// CHECK:         tosa.conv2d
// CHECK:         tosa.conv2d
func.func @second_pads(%x: tensor<1x2x2x1xf32>) -> tensor<1x4x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %k1 = "tosa.const"() <{values = dense<[[[[1.0]]]]> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %b1 = "tosa.const"() <{values = dense<[0.0]> : tensor<1xf32>}> : () -> tensor<1xf32>
  %k2 = "tosa.const"() <{values = dense<[[[[1.0]]]]> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %b2 = "tosa.const"() <{values = dense<[0.0]> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.conv2d %x, %k1, %b1, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x1xf32>
  %1 = tosa.conv2d %0, %k2, %b2, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x2x2x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  return %1 : tensor<1x4x4x1xf32>
}

// MCT's pattern has strides of 1.
// CHECK-LABEL: func.func @stride
// CHECK:         tosa.conv2d
// CHECK:         tosa.conv2d
func.func @stride(%x: tensor<1x3x3x1xf32>) -> tensor<1x2x2x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %k1 = "tosa.const"() <{values = dense<[[[[2.0]]]]> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %b1 = "tosa.const"() <{values = dense<[0.0]> : tensor<1xf32>}> : () -> tensor<1xf32>
  %k2 = "tosa.const"() <{values = dense<[[[[3.0]]]]> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %b2 = "tosa.const"() <{values = dense<[0.0]> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.conv2d %x, %k1, %b1, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x3x3x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x1xf32>
  %1 = tosa.conv2d %0, %k2, %b2, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x1xf32>
  return %1 : tensor<1x2x2x1xf32>
}

// The border of the first is part of what it computes.
// CHECK-LABEL: func.func @first_pads
// CHECK-DAG:     dense<2.000000e+00> : tensor<1x3x3x1xf32>
// CHECK-DAG:     dense<2.000000e+00> : tensor<1xf32>
// CHECK:         tosa.conv2d %arg0, {{.*}}pad = array<i64: 1, 1, 1, 1>
// CHECK-NEXT:    return
func.func @first_pads(%x: tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %k1 = "tosa.const"() <{values = dense<[[[[1.0], [1.0], [1.0]], [[1.0], [1.0], [1.0]], [[1.0], [1.0], [1.0]]]]> : tensor<1x3x3x1xf32>}> : () -> tensor<1x3x3x1xf32>
  %b1 = "tosa.const"() <{values = dense<[1.0]> : tensor<1xf32>}> : () -> tensor<1xf32>
  %k2 = "tosa.const"() <{values = dense<[[[[2.0]]]]> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %b2 = "tosa.const"() <{values = dense<[0.0]> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.conv2d %x, %k1, %b1, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x2x2x1xf32>, tensor<1x3x3x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x1xf32>
  %1 = tosa.conv2d %0, %k2, %b2, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x1xf32>
  return %1 : tensor<1x2x2x1xf32>
}

// 2 * 3 * 5; ((0 * 2 + 1) * 3 + 1) * 5 + 1.
// CHECK-LABEL: func.func @chain
// CHECK-DAG:     dense<3.000000e+01> : tensor<1x1x1x1xf32>
// CHECK-DAG:     dense<2.100000e+01> : tensor<1xf32>
// CHECK:         tosa.conv2d %arg0
// CHECK-NEXT:    return
func.func @chain(%x: tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %k1 = "tosa.const"() <{values = dense<[[[[2.0]]]]> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %k2 = "tosa.const"() <{values = dense<[[[[3.0]]]]> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %k3 = "tosa.const"() <{values = dense<[[[[5.0]]]]> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %b = "tosa.const"() <{values = dense<[1.0]> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.conv2d %x, %k1, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x1xf32>
  %1 = tosa.conv2d %0, %k2, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x1xf32>
  %2 = tosa.conv2d %1, %k3, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x1xf32>
  return %2 : tensor<1x2x2x1xf32>
}

// The sum reads the first convolution.
// CHECK-LABEL: func.func @second_reader
// CHECK:         tosa.conv2d
// CHECK:         tosa.conv2d
func.func @second_reader(%x: tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %k1 = "tosa.const"() <{values = dense<[[[[2.0]]]]> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %k2 = "tosa.const"() <{values = dense<[[[[3.0]]]]> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %k3 = "tosa.const"() <{values = dense<[[[[5.0]]]]> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %b = "tosa.const"() <{values = dense<[1.0]> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.conv2d %x, %k1, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x1xf32>
  %1 = tosa.conv2d %0, %k2, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x1xf32>
  %2 = tosa.add %0, %1 : (tensor<1x2x2x1xf32>, tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32>
  return %2 : tensor<1x2x2x1xf32>
}

// 21: the bias becomes [11, 22].
// CHECK-LABEL: func.func @addition
// CHECK:         dense<[1.100000e+01, 2.200000e+01]> : tensor<2xf32>
// CHECK:         tosa.conv2d %arg0
// CHECK-NEXT:    return
func.func @addition(%x: tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %k = "tosa.const"() <{values = dense<[[[[1.0, 1.0]]], [[[1.0, 1.0]]]]> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %b = "tosa.const"() <{values = dense<[1.0, 2.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %c = "tosa.const"() <{values = dense<[[[[10.0, 20.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %0 = tosa.conv2d %x, %k, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x2xf32>
  %1 = tosa.add %c, %0 : (tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32>
  return %1 : tensor<1x1x1x2xf32>
}

// 21 without a bias.
// CHECK-LABEL: func.func @subtraction
// CHECK:         dense<[-1.000000e+01, -2.000000e+01]> : tensor<2xf32>
// CHECK:         tosa.conv2d %arg0
// CHECK-NEXT:    return
func.func @subtraction(%x: tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %k = "tosa.const"() <{values = dense<[[[[1.0, 1.0]]], [[[1.0, 1.0]]]]> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %c = "tosa.const"() <{values = dense<[[[[10.0, 20.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %0 = tosa.conv2d %x, %k, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x2xf32>, tensor<2x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x2xf32>
  %1 = tosa.sub %0, %c : (tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32>
  return %1 : tensor<1x1x1x2xf32>
}

// One number is one for every channel.
// CHECK-LABEL: func.func @number
// CHECK:         dense<1.000000e+01> : tensor<1xf32>
// CHECK:         tosa.conv2d %arg0
// CHECK-NEXT:    return
func.func @number(%x: tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %k = "tosa.const"() <{values = dense<[[[[1.0]]]]> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %c = "tosa.const"() <{values = dense<[[[[10.0]]]]> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %0 = tosa.conv2d %x, %k, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x1xf32>
  %1 = tosa.add %0, %c : (tensor<1x2x2x1xf32>, tensor<1x1x1x1xf32>) -> tensor<1x2x2x1xf32>
  return %1 : tensor<1x2x2x1xf32>
}

// The `add 3` of a hard-sigmoid stays where it is.
// CHECK-LABEL: func.func @hard_sigmoid
// CHECK:         tosa.conv2d
// CHECK:         tosa.add
// CHECK:         tosa.clamp
func.func @hard_sigmoid(%x: tensor<1x2x2x1xf32>) -> tensor<1x2x2x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %k = "tosa.const"() <{values = dense<[[[[1.0]]], [[[1.0]]]]> : tensor<2x1x1x1xf32>}> : () -> tensor<2x1x1x1xf32>
  %c = "tosa.const"() <{values = dense<[[[[3.0]]]]> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %0 = tosa.conv2d %x, %k, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x1xf32>, tensor<2x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x2xf32>
  %1 = tosa.add %0, %c : (tensor<1x2x2x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x2x2x2xf32>
  %2 = tosa.clamp %1 {max_val = 6.0 : f32, min_val = 0.0 : f32} : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %sixth = "tosa.const"() <{values = dense<0.16666667> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %3 = tosa.mul %2, %sixth, %shift : (tensor<1x2x2x2xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x2x2x2xf32>
  return %3 : tensor<1x2x2x2xf32>
}

// 21: the bias of a product is an addition, which takes the other one.
// CHECK-LABEL: func.func @product
// CHECK:         tosa.matmul
// CHECK:         dense<{{\[\[\[}}1.100000e+01, 2.200000e+01]]]> : tensor<1x1x2xf32>
// CHECK:         %[[SUM:.*]] = tosa.add
// CHECK-NEXT:    return %[[SUM]]
func.func @product(%x: tensor<1x1x1xf32>) -> tensor<1x1x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %k = "tosa.const"() <{values = dense<[[[1.0, 1.0]]]> : tensor<1x1x2xf32>}> : () -> tensor<1x1x2xf32>
  %b = "tosa.const"() <{values = dense<[[[1.0, 2.0]]]> : tensor<1x1x2xf32>}> : () -> tensor<1x1x2xf32>
  %c = "tosa.const"() <{values = dense<[[[10.0, 20.0]]]> : tensor<1x1x2xf32>}> : () -> tensor<1x1x2xf32>
  %0 = tosa.matmul %x, %k, %zero, %zero : (tensor<1x1x1xf32>, tensor<1x1x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x2xf32>
  %1 = tosa.add %0, %b : (tensor<1x1x2xf32>, tensor<1x1x2xf32>) -> tensor<1x1x2xf32>
  %2 = tosa.add %1, %c : (tensor<1x1x2xf32>, tensor<1x1x2xf32>) -> tensor<1x1x2xf32>
  return %2 : tensor<1x1x2xf32>
}

// The same with named ops of linalg: kernels are [height, width, input, output].
// CHECK-LABEL: func.func @linalg
// CHECK-DAG:     arith.constant dense<1.100000e+01> : tensor<1x1x1x1xf32>
// CHECK-DAG:     arith.constant dense<1.200000e+01> : tensor<1xf32>
// CHECK:         linalg.conv_2d_nhwc_hwcf {{.*}}ins(%arg0,
// CHECK-NEXT:    return
func.func @linalg(%x: tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32> {
  %k1 = arith.constant dense<[[[[1.0, 2.0]]]]> : tensor<1x1x1x2xf32>
  %k2 = arith.constant dense<[[[[3.0], [4.0]]]]> : tensor<1x1x2x1xf32>
  %b1 = arith.constant dense<1.0> : tensor<2xf32>
  %b2 = arith.constant dense<5.0> : tensor<1xf32>
  %e1 = tensor.empty() : tensor<1x2x2x2xf32>
  %e2 = tensor.empty() : tensor<1x2x2x1xf32>
  %i1 = linalg.broadcast ins(%b1 : tensor<2xf32>) outs(%e1 : tensor<1x2x2x2xf32>) dimensions = [0, 1, 2]
  %i2 = linalg.broadcast ins(%b2 : tensor<1xf32>) outs(%e2 : tensor<1x2x2x1xf32>) dimensions = [0, 1, 2]
  %0 = linalg.conv_2d_nhwc_hwcf ins(%x, %k1 : tensor<1x2x2x1xf32>, tensor<1x1x1x2xf32>) outs(%i1 : tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  %1 = linalg.conv_2d_nhwc_hwcf ins(%0, %k2 : tensor<1x2x2x2xf32>, tensor<1x1x2x1xf32>) outs(%i2 : tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32>
  return %1 : tensor<1x2x2x1xf32>
}
