// RUN: mct-opt %s --mct-fold-constants --mct-fold-batch-norm | FileCheck %s
//
// Computed by hand.

// 1: s = 6 / sqrt(9) = 2; W' = 2 * 2, b' = 0.5 + (1 - 4) * 2.
// CHECK-LABEL: func.func @backward
// CHECK-DAG:     dense<4.000000e+00> : tensor<1x1x1x1xf32>
// CHECK-DAG:     dense<-5.500000e+00> : tensor<1xf32>
// CHECK:         tosa.conv2d
// CHECK-NEXT:    return
func.func @backward(%x: tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %k = "tosa.const"() <{values = dense<[[[[2.0]]]]> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %b = "tosa.const"() <{values = dense<[1.0]> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.conv2d %x, %k, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x1xf32>
  %gamma = "tosa.const"() <{values = dense<[[[[6.0]]]]> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %beta = "tosa.const"() <{values = dense<[[[[0.5]]]]> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %mean = "tosa.const"() <{values = dense<[[[[4.0]]]]> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %variance = "tosa.const"() <{values = dense<[[[[9.0]]]]> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %rsqrt = tosa.rsqrt %variance : (tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32>
  %centered = tosa.sub %0, %mean : (tensor<1x2x2x1xf32>, tensor<1x1x1x1xf32>) -> tensor<1x2x2x1xf32>
  %normal = tosa.mul %centered, %rsqrt, %shift : (tensor<1x2x2x1xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x2x2x1xf32>
  %scaled = tosa.mul %normal, %gamma, %shift : (tensor<1x2x2x1xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x2x2x1xf32>
  %norm = tosa.add %scaled, %beta : (tensor<1x2x2x1xf32>, tensor<1x1x1x1xf32>) -> tensor<1x2x2x1xf32>
  return %norm : tensor<1x2x2x1xf32>
}

// 2: s = [2, 0.5]; W' = [1 * 2, 3 * 0.5], b' = [0 - 1 * 2, 1 + 2 * 0.5].
// CHECK-LABEL: func.func @backward_two_outputs
// CHECK-DAG:     dense<{{\[\[\[\[}}2.000000e+00]]], {{\[\[\[}}1.500000e+00]]]]> : tensor<2x1x1x1xf32>
// CHECK-DAG:     dense<[-2.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK:         tosa.conv2d
// CHECK-NEXT:    return
func.func @backward_two_outputs(%x: tensor<1x2x2x1xf32>) -> tensor<1x2x2x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %k = "tosa.const"() <{values = dense<[[[[1.0]]], [[[3.0]]]]> : tensor<2x1x1x1xf32>}> : () -> tensor<2x1x1x1xf32>
  %0 = tosa.conv2d %x, %k, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x1xf32>, tensor<2x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x2xf32>
  %gamma = "tosa.const"() <{values = dense<[[[[2.0, 1.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %beta = "tosa.const"() <{values = dense<[[[[0.0, 1.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %mean = "tosa.const"() <{values = dense<[[[[1.0, -2.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %variance = "tosa.const"() <{values = dense<[[[[1.0, 4.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %rsqrt = tosa.rsqrt %variance : (tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32>
  %centered = tosa.sub %0, %mean : (tensor<1x2x2x2xf32>, tensor<1x1x1x2xf32>) -> tensor<1x2x2x2xf32>
  %normal = tosa.mul %centered, %rsqrt, %shift : (tensor<1x2x2x2xf32>, tensor<1x1x1x2xf32>, tensor<1xi8>) -> tensor<1x2x2x2xf32>
  %scaled = tosa.mul %normal, %gamma, %shift : (tensor<1x2x2x2xf32>, tensor<1x1x1x2xf32>, tensor<1xi8>) -> tensor<1x2x2x2xf32>
  %norm = tosa.add %scaled, %beta : (tensor<1x2x2x2xf32>, tensor<1x1x1x2xf32>) -> tensor<1x2x2x2xf32>
  return %norm : tensor<1x2x2x2xf32>
}

// 3: channel-major, multiplier-minor.
// CHECK-LABEL: func.func @depthwise
// CHECK:         dense<{{\[\[\[\[}}1.000000e+00, 2.000000e+01], [3.000000e+02, 4.000000e+03]]]]> : tensor<1x1x2x2xf32>
// CHECK:         tosa.depthwise_conv2d
// CHECK-NEXT:    return
func.func @depthwise(%x: tensor<1x2x2x2xf32>) -> tensor<1x2x2x4xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %k = "tosa.const"() <{values = dense<[[[[1.0, 2.0], [3.0, 4.0]]]]> : tensor<1x1x2x2xf32>}> : () -> tensor<1x1x2x2xf32>
  %s = "tosa.const"() <{values = dense<[[[[1.0, 10.0, 100.0, 1000.0]]]]> : tensor<1x1x1x4xf32>}> : () -> tensor<1x1x1x4xf32>
  %0 = tosa.depthwise_conv2d %x, %k, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x2xf32>, tensor<1x1x2x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x4xf32>
  %norm = tosa.mul %0, %s, %shift : (tensor<1x2x2x4xf32>, tensor<1x1x1x4xf32>, tensor<1xi8>) -> tensor<1x2x2x4xf32>
  return %norm : tensor<1x2x2x4xf32>
}

// 4: TOSA's kernel is [O, KH, KW, I].
// CHECK-LABEL: func.func @transposed
// CHECK:         dense<{{\[\[\[\[}}3.000000e+00, 6.000000e+00]]]]> : tensor<1x1x1x2xf32>
// CHECK:         tosa.transpose_conv2d
// CHECK-NEXT:    return
func.func @transposed(%x: tensor<1x2x2x2xf32>) -> tensor<1x2x2x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %k = "tosa.const"() <{values = dense<[[[[1.0, 2.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %s = "tosa.const"() <{values = dense<[[[[3.0]]]]> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %0 = tosa.transpose_conv2d %x, %k, %zero, %zero, %zero {acc_type = f32, out_pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x1xf32>
  %norm = tosa.mul %0, %s, %shift : (tensor<1x2x2x1xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x2x2x1xf32>
  return %norm : tensor<1x2x2x1xf32>
}

// 6: MCT leaves a fully connected layer alone; the arithmetic is that of 1.
// CHECK-LABEL: func.func @fully_connected
// CHECK:         dense<4.000000e+00> : tensor<1x1x1xf32>
// CHECK:         tosa.matmul
// CHECK-NEXT:    {{.*}}dense<-5.500000e+00> : tensor<1x1x1xf32>
// CHECK-NEXT:    tosa.add
// CHECK-NEXT:    return
func.func @fully_connected(%x: tensor<1x2x1xf32>) -> tensor<1x2x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %k = "tosa.const"() <{values = dense<[[[2.0]]]> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %b = "tosa.const"() <{values = dense<[[[1.0]]]> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %0 = tosa.matmul %x, %k, %zero, %zero : (tensor<1x2x1xf32>, tensor<1x1x1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x1xf32>
  %1 = tosa.add %0, %b : (tensor<1x2x1xf32>, tensor<1x1x1xf32>) -> tensor<1x2x1xf32>
  %gamma = "tosa.const"() <{values = dense<[[[6.0]]]> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %beta = "tosa.const"() <{values = dense<[[[0.5]]]> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %mean = "tosa.const"() <{values = dense<[[[4.0]]]> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %variance = "tosa.const"() <{values = dense<[[[9.0]]]> : tensor<1x1x1xf32>}> : () -> tensor<1x1x1xf32>
  %rsqrt = tosa.rsqrt %variance : (tensor<1x1x1xf32>) -> tensor<1x1x1xf32>
  %centered = tosa.sub %1, %mean : (tensor<1x2x1xf32>, tensor<1x1x1xf32>) -> tensor<1x2x1xf32>
  %normal = tosa.mul %centered, %rsqrt, %shift : (tensor<1x2x1xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x2x1xf32>
  %scaled = tosa.mul %normal, %gamma, %shift : (tensor<1x2x1xf32>, tensor<1x1x1xf32>, tensor<1xi8>) -> tensor<1x2x1xf32>
  %norm = tosa.add %scaled, %beta : (tensor<1x2x1xf32>, tensor<1x1x1xf32>) -> tensor<1x2x1xf32>
  return %norm : tensor<1x2x1xf32>
}

// 7: s = [2, 0.5], f = [1, -0.5]; W' = [3 * 2, 4 * 0.5], b' = 3 * 1 - 4 * 0.5.
// CHECK-LABEL: func.func @forward
// CHECK-DAG:     dense<{{\[\[\[\[}}6.000000e+00, 2.000000e+00]]]]> : tensor<1x1x1x2xf32>
// CHECK-DAG:     dense<1.000000e+00> : tensor<1xf32>
// CHECK-NOT:     tosa.mul
// CHECK:         tosa.conv2d %arg0
// CHECK-NEXT:    return
func.func @forward(%x: tensor<1x2x2x2xf32>) -> tensor<1x2x2x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %k = "tosa.const"() <{values = dense<[[[[3.0, 4.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %gamma = "tosa.const"() <{values = dense<[[[[2.0, 1.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %beta = "tosa.const"() <{values = dense<[[[[1.0, 0.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %mean = "tosa.const"() <{values = dense<[[[[0.0, 1.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %variance = "tosa.const"() <{values = dense<[[[[1.0, 4.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %rsqrt = tosa.rsqrt %variance : (tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32>
  %centered = tosa.sub %x, %mean : (tensor<1x2x2x2xf32>, tensor<1x1x1x2xf32>) -> tensor<1x2x2x2xf32>
  %normal = tosa.mul %centered, %rsqrt, %shift : (tensor<1x2x2x2xf32>, tensor<1x1x1x2xf32>, tensor<1xi8>) -> tensor<1x2x2x2xf32>
  %scaled = tosa.mul %normal, %gamma, %shift : (tensor<1x2x2x2xf32>, tensor<1x1x1x2xf32>, tensor<1xi8>) -> tensor<1x2x2x2xf32>
  %norm = tosa.add %scaled, %beta : (tensor<1x2x2x2xf32>, tensor<1x1x1x2xf32>) -> tensor<1x2x2x2xf32>
  %0 = tosa.conv2d %norm, %k, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x1xf32>
  return %0 : tensor<1x2x2x1xf32>
}

// 8: b' = 0.5 + 1 * 1 + 1 * -1.
// CHECK-LABEL: func.func @depthwise_forward
// CHECK-DAG:     dense<{{\[\[\[\[}}2.000000e+00, 3.000000e+00]]]]> : tensor<1x1x1x2xf32>
// CHECK-DAG:     dense<5.000000e-01> : tensor<1xf32>
// CHECK-NOT:     depthwise
// CHECK:         tosa.conv2d %arg0
// CHECK-NEXT:    return
func.func @depthwise_forward(%x: tensor<1x2x2x2xf32>) -> tensor<1x2x2x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %d = "tosa.const"() <{values = dense<[[[[2.0], [3.0]]]]> : tensor<1x1x2x1xf32>}> : () -> tensor<1x1x2x1xf32>
  %db = "tosa.const"() <{values = dense<[1.0, -1.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %k = "tosa.const"() <{values = dense<[[[[1.0, 1.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %b = "tosa.const"() <{values = dense<[0.5]> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.depthwise_conv2d %x, %d, %db, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x2xf32>, tensor<1x1x2x1xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x2xf32>
  %1 = tosa.conv2d %0, %k, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x1xf32>
  return %1 : tensor<1x2x2x1xf32>
}

// 9: MCT leaves it, and needs not: b' = 9 * 1 - 9 * 0.5.
// CHECK-LABEL: func.func @into_3x3
// CHECK-DAG:     dense<{{.*}}2.000000e+00, 5.000000e-01{{.*}}> : tensor<1x3x3x2xf32>
// CHECK-DAG:     dense<4.500000e+00> : tensor<1xf32>
// CHECK-NOT:     tosa.mul
// CHECK:         tosa.conv2d %arg0
// CHECK-NEXT:    return
func.func @into_3x3(%x: tensor<1x3x3x2xf32>) -> tensor<1x1x1x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %k = "tosa.const"() <{values = dense<[[[[1.0, 1.0], [1.0, 1.0], [1.0, 1.0]], [[1.0, 1.0], [1.0, 1.0], [1.0, 1.0]], [[1.0, 1.0], [1.0, 1.0], [1.0, 1.0]]]]> : tensor<1x3x3x2xf32>}> : () -> tensor<1x3x3x2xf32>
  %gamma = "tosa.const"() <{values = dense<[[[[2.0, 1.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %beta = "tosa.const"() <{values = dense<[[[[1.0, 0.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %mean = "tosa.const"() <{values = dense<[[[[0.0, 1.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %variance = "tosa.const"() <{values = dense<[[[[1.0, 4.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %rsqrt = tosa.rsqrt %variance : (tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32>
  %centered = tosa.sub %x, %mean : (tensor<1x3x3x2xf32>, tensor<1x1x1x2xf32>) -> tensor<1x3x3x2xf32>
  %normal = tosa.mul %centered, %rsqrt, %shift : (tensor<1x3x3x2xf32>, tensor<1x1x1x2xf32>, tensor<1xi8>) -> tensor<1x3x3x2xf32>
  %scaled = tosa.mul %normal, %gamma, %shift : (tensor<1x3x3x2xf32>, tensor<1x1x1x2xf32>, tensor<1xi8>) -> tensor<1x3x3x2xf32>
  %norm = tosa.add %scaled, %beta : (tensor<1x3x3x2xf32>, tensor<1x1x1x2xf32>) -> tensor<1x3x3x2xf32>
  %0 = tosa.conv2d %norm, %k, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x3x3x2xf32>, tensor<1x3x3x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  return %0 : tensor<1x1x1x1xf32>
}

// 10: the border must stay 0. MCT folds, and makes it W * f.
// CHECK-LABEL: func.func @not_into_padding
// CHECK:         tosa.sub
// CHECK:         tosa.mul
// CHECK:         tosa.add
// CHECK:         tosa.conv2d
func.func @not_into_padding(%x: tensor<1x2x2x2xf32>) -> tensor<1x4x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %k = "tosa.const"() <{values = dense<[[[[3.0, 4.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %gamma = "tosa.const"() <{values = dense<[[[[2.0, 1.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %beta = "tosa.const"() <{values = dense<[[[[1.0, 0.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %mean = "tosa.const"() <{values = dense<[[[[0.0, 1.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %variance = "tosa.const"() <{values = dense<[[[[1.0, 4.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %rsqrt = tosa.rsqrt %variance : (tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32>
  %centered = tosa.sub %x, %mean : (tensor<1x2x2x2xf32>, tensor<1x1x1x2xf32>) -> tensor<1x2x2x2xf32>
  %normal = tosa.mul %centered, %rsqrt, %shift : (tensor<1x2x2x2xf32>, tensor<1x1x1x2xf32>, tensor<1xi8>) -> tensor<1x2x2x2xf32>
  %scaled = tosa.mul %normal, %gamma, %shift : (tensor<1x2x2x2xf32>, tensor<1x1x1x2xf32>, tensor<1xi8>) -> tensor<1x2x2x2xf32>
  %norm = tosa.add %scaled, %beta : (tensor<1x2x2x2xf32>, tensor<1x1x1x2xf32>) -> tensor<1x2x2x2xf32>
  %0 = tosa.conv2d %norm, %k, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x2x2x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  return %0 : tensor<1x4x4x1xf32>
}

// 11: MCT makes one convolution of stride 1.
// CHECK-LABEL: func.func @not_strided_depthwise
// CHECK:         tosa.depthwise_conv2d
// CHECK:         tosa.conv2d
func.func @not_strided_depthwise(%x: tensor<1x7x7x2xf32>) -> tensor<1x4x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %d = "tosa.const"() <{values = dense<[[[[2.0], [3.0]]]]> : tensor<1x1x2x1xf32>}> : () -> tensor<1x1x2x1xf32>
  %k = "tosa.const"() <{values = dense<[[[[1.0, 1.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %0 = tosa.depthwise_conv2d %x, %d, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x7x7x2xf32>, tensor<1x1x2x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  %1 = tosa.conv2d %0, %k, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  return %1 : tensor<1x4x4x1xf32>
}

// 12: MCT fails here. The fold is that of 7.
// CHECK-LABEL: func.func @chain
// CHECK:         %[[RELU:.*]] = tosa.clamp
// CHECK:         dense<{{\[\[\[\[}}6.000000e+00, 2.000000e+00]]]]> : tensor<1x1x1x2xf32>
// CHECK:         %[[CONV:.*]] = tosa.conv2d %[[RELU]]
// CHECK:         tosa.conv2d %[[CONV]]
func.func @chain(%x: tensor<1x2x2x2xf32>) -> tensor<1x1x1x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %r = tosa.clamp %x {max_val = 3.40282347E+38 : f32, min_val = 0.0 : f32} : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  %k = "tosa.const"() <{values = dense<[[[[3.0, 4.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %gamma = "tosa.const"() <{values = dense<[[[[2.0, 1.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %beta = "tosa.const"() <{values = dense<[[[[1.0, 0.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %mean = "tosa.const"() <{values = dense<[[[[0.0, 1.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %variance = "tosa.const"() <{values = dense<[[[[1.0, 4.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %rsqrt = tosa.rsqrt %variance : (tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32>
  %centered = tosa.sub %r, %mean : (tensor<1x2x2x2xf32>, tensor<1x1x1x2xf32>) -> tensor<1x2x2x2xf32>
  %normal = tosa.mul %centered, %rsqrt, %shift : (tensor<1x2x2x2xf32>, tensor<1x1x1x2xf32>, tensor<1xi8>) -> tensor<1x2x2x2xf32>
  %scaled = tosa.mul %normal, %gamma, %shift : (tensor<1x2x2x2xf32>, tensor<1x1x1x2xf32>, tensor<1xi8>) -> tensor<1x2x2x2xf32>
  %norm = tosa.add %scaled, %beta : (tensor<1x2x2x2xf32>, tensor<1x1x1x2xf32>) -> tensor<1x2x2x2xf32>
  %0 = tosa.conv2d %norm, %k, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x1xf32>
  %k3 = "tosa.const"() <{values = dense<[[[[1.0], [1.0]], [[1.0], [1.0]]]]> : tensor<1x2x2x1xf32>}> : () -> tensor<1x2x2x1xf32>
  %1 = tosa.conv2d %0, %k3, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x1xf32>, tensor<1x2x2x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  return %1 : tensor<1x1x1x1xf32>
}
