// RUN: mct-opt %s --mct-fold-batch-norm | FileCheck %s
//
// One number for all channels folds like one for each, unless it is part of an operator that targets know.

// Kernel 2 * 0.5, bias 1 * 0.5 - 3.
// CHECK-LABEL: func.func @behind
// CHECK-DAG:     %[[KERNEL:.*]] = "tosa.const"() <{values = dense<1.000000e+00> : tensor<2x1x1x2xf32>
// CHECK-DAG:     %[[BIAS:.*]] = "tosa.const"() <{values = dense<-2.500000e+00> : tensor<2xf32>
// CHECK:         %[[RESULT:.*]] = tosa.conv2d %{{.*}}, %[[KERNEL]], %[[BIAS]],
// CHECK-NEXT:    return %[[RESULT]]
func.func @behind(%x: tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %k = "tosa.const"() <{values = dense<2.0> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %b = "tosa.const"() <{values = dense<1.0> : tensor<2xf32>}> : () -> tensor<2xf32>
  %s = "tosa.const"() <{values = dense<0.5> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %t = "tosa.const"() <{values = dense<-3.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %0 = tosa.conv2d %x, %k, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x2xf32>
  %1 = tosa.mul %s, %0, %shift : (tensor<1x1x1x1xf32>, tensor<1x2x2x2xf32>, tensor<1xi8>) -> tensor<1x2x2x2xf32>
  %2 = tosa.add %1, %t : (tensor<1x2x2x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x2x2x2xf32>
  return %2 : tensor<1x2x2x2xf32>
}

// A border of zeros is one before the factor too.
// CHECK-LABEL: func.func @in_front_of_a_border
// CHECK:         dense<{{.*}}1.000000e+00, 1.500000e+00{{.*}}> : tensor<1x2x2x2xf32>
// CHECK-NOT:     tosa.mul
// CHECK:         tosa.conv2d %arg0,
func.func @in_front_of_a_border(%x: tensor<1x2x2x2xf32>) -> tensor<1x3x3x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %s = "tosa.const"() <{values = dense<0.5> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %k = "tosa.const"() <{values = dense<[[[[2.0, 3.0], [2.0, 3.0]], [[2.0, 3.0], [2.0, 3.0]]]]> : tensor<1x2x2x2xf32>}> : () -> tensor<1x2x2x2xf32>
  %0 = tosa.mul %x, %s, %shift : (tensor<1x2x2x2xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x2x2x2xf32>
  %1 = tosa.conv2d %0, %k, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x3x1xf32>
  return %1 : tensor<1x3x3x1xf32>
}

// Without a border every result position reads all four offsets of 1: bias 4 * 2 + 4 * 3.
// CHECK-LABEL: func.func @offset_in_front_of_a_window
// CHECK-DAG:     dense<2.000000e+01> : tensor<1xf32>
// CHECK-NOT:     tosa.add
// CHECK:         tosa.conv2d %arg0,
func.func @offset_in_front_of_a_window(%x: tensor<1x2x2x2xf32>) -> tensor<1x1x1x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %s = "tosa.const"() <{values = dense<0.5> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %t = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %k = "tosa.const"() <{values = dense<[[[[2.0, 3.0], [2.0, 3.0]], [[2.0, 3.0], [2.0, 3.0]]]]> : tensor<1x2x2x2xf32>}> : () -> tensor<1x2x2x2xf32>
  %0 = tosa.mul %x, %s, %shift : (tensor<1x2x2x2xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x2x2x2xf32>
  %1 = tosa.add %0, %t : (tensor<1x2x2x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x2x2x2xf32>
  %2 = tosa.conv2d %1, %k, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  return %2 : tensor<1x1x1x1xf32>
}

// x * relu6(x + 3) * 1/6 in front of a convolution stays a hard-swish, and after one a hard-sigmoid.
// CHECK-LABEL: func.func @activations
// CHECK:         tosa.conv2d
// CHECK:         tosa.add
// CHECK:         tosa.clamp
// CHECK:         tosa.mul
// CHECK:         tosa.add
// CHECK:         tosa.clamp
// CHECK:         tosa.mul
// CHECK:         tosa.mul
// CHECK:         tosa.conv2d
func.func @activations(%x: tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %k = "tosa.const"() <{values = dense<2.0> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>
  %three = "tosa.const"() <{values = dense<3.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %sixth = "tosa.const"() <{values = dense<0.16666667> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %0 = tosa.conv2d %x, %k, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x2xf32>, tensor<2x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x2xf32>
  %1 = tosa.add %0, %three : (tensor<1x2x2x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x2x2x2xf32>
  %2 = tosa.clamp %1 {min_val = 0.0 : f32, max_val = 6.0 : f32} : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  %3 = tosa.mul %2, %sixth, %shift : (tensor<1x2x2x2xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x2x2x2xf32>
  %4 = tosa.add %3, %three : (tensor<1x2x2x2xf32>, tensor<1x1x1x1xf32>) -> tensor<1x2x2x2xf32>
  %5 = tosa.clamp %4 {min_val = 0.0 : f32, max_val = 6.0 : f32} : (tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  %6 = tosa.mul %3, %5, %shift : (tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>, tensor<1xi8>) -> tensor<1x2x2x2xf32>
  %7 = tosa.mul %6, %sixth, %shift : (tensor<1x2x2x2xf32>, tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x2x2x2xf32>
  %8 = tosa.conv2d %7, %k, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x2xf32>, tensor<2x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x2xf32>
  return %8 : tensor<1x2x2x2xf32>
}

// Numbers in 40 billion places are never expanded: the layer stays as it is.
// CHECK-LABEL: func.func @huge
// CHECK:         tosa.conv2d
// CHECK:         tosa.mul
func.func @huge(%x: tensor<1x2x2x1xf32>) -> tensor<1x2x2x40000000000xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %k = "tosa.const"() <{values = dense<-1.0> : tensor<40000000000x1x1x1xf32>}> : () -> tensor<40000000000x1x1x1xf32>
  %s = "tosa.const"() <{values = dense<2.0> : tensor<1x1x1x40000000000xf32>}> : () -> tensor<1x1x1x40000000000xf32>
  %0 = tosa.conv2d %x, %k, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x1xf32>, tensor<40000000000x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x40000000000xf32>
  %1 = tosa.mul %0, %s, %shift : (tensor<1x2x2x40000000000xf32>, tensor<1x1x1x40000000000xf32>, tensor<1xi8>) -> tensor<1x2x2x40000000000xf32>
  return %1 : tensor<1x2x2x40000000000xf32>
}
