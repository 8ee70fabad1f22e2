// RUN: mct-opt %s --mct-collapse-residual | FileCheck %s
//
// Cases that are computed by hand.

// Nothing but the identity.
// CHECK-LABEL: func.func @centre
// CHECK:         dense<{{\[\[\[\[}}0.000000e+00], [0.000000e+00], [0.000000e+00]], {{\[\[}}0.000000e+00], [1.000000e+00], [0.000000e+00]], {{\[\[}}0.000000e+00], [0.000000e+00], [0.000000e+00]]]]> : tensor<1x3x3x1xf32>
// CHECK:         tosa.conv2d
// CHECK-NOT:     tosa.add
// CHECK:         return
func.func @centre(%x: tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %k = "tosa.const"() <{values = dense<[[[[0.0], [0.0], [0.0]], [[0.0], [0.0], [0.0]], [[0.0], [0.0], [0.0]]]]> : tensor<1x3x3x1xf32>}> : () -> tensor<1x3x3x1xf32>
  %0 = tosa.conv2d %x, %k, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<1x3x3x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  %1 = tosa.add %x, %0 : (tensor<1x4x4x1xf32>, tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32>
  return %1 : tensor<1x4x4x1xf32>
}

// One row; a dilation of 2 reaches over 2 positions on each side.
// CHECK-LABEL: func.func @dilated_row
// CHECK:         dense<{{\[\[\[\[}}0.000000e+00, 0.000000e+00], [1.000000e+00, 0.000000e+00], [0.000000e+00, 0.000000e+00]]], {{\[\[\[}}0.000000e+00, 0.000000e+00], [0.000000e+00, 1.000000e+00], [0.000000e+00, 0.000000e+00]]]]> : tensor<2x1x3x2xf32>
// CHECK:         tosa.conv2d
// CHECK-NOT:     tosa.add
// CHECK:         return
func.func @dilated_row(%x: tensor<1x4x5x2xf32>) -> tensor<1x4x5x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %k = "tosa.const"() <{values = dense<[[[[0.0, 0.0], [0.0, 0.0], [0.0, 0.0]]], [[[0.0, 0.0], [0.0, 0.0], [0.0, 0.0]]]]> : tensor<2x1x3x2xf32>}> : () -> tensor<2x1x3x2xf32>
  %0 = tosa.conv2d %x, %k, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 2>, pad = array<i64: 0, 0, 2, 2>, stride = array<i64: 1, 1>} : (tensor<1x4x5x2xf32>, tensor<2x1x3x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x5x2xf32>
  %1 = tosa.add %0, %x : (tensor<1x4x5x2xf32>, tensor<1x4x5x2xf32>) -> tensor<1x4x5x2xf32>
  return %1 : tensor<1x4x5x2xf32>
}

// [height, width, channel, multiplier]: the centre of each channel. MCT fails with groups.
// CHECK-LABEL: func.func @depthwise
// CHECK:         dense<{{\[\[\[\[}}5.000000e+00], [5.000000e+00]]], {{\[\[\[}}1.000000e+00], [1.000000e+00]]], {{\[\[\[}}0.000000e+00], [0.000000e+00]]]]> : tensor<3x1x2x1xf32>
// CHECK:         tosa.depthwise_conv2d
// CHECK-NOT:     tosa.add
// CHECK:         return
func.func @depthwise(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %k = "tosa.const"() <{values = dense<[[[[5.0], [5.0]]], [[[0.0], [0.0]]], [[[0.0], [0.0]]]]> : tensor<3x1x2x1xf32>}> : () -> tensor<3x1x2x1xf32>
  %0 = tosa.depthwise_conv2d %x, %k, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<3x1x2x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  %1 = tosa.add %0, %x : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  return %1 : tensor<1x4x4x2xf32>
}

// The same with named ops of linalg.
// CHECK-LABEL: func.func @linalg
// CHECK:         arith.constant dense<{{\[\[\[\[}}1.500000e+00, 0.000000e+00], [0.000000e+00, 1.250000e+00]]]]>
// CHECK:         linalg.conv_2d_nhwc_hwcf
// CHECK-NEXT:    return
func.func @linalg(%x: tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32> {
  %k = arith.constant dense<[[[[0.5, 0.0], [0.0, 0.25]]]]> : tensor<1x1x2x2xf32>
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x2x2x2xf32>
  %f = linalg.fill ins(%c : f32) outs(%e : tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  %0 = linalg.conv_2d_nhwc_hwcf ins(%x, %k : tensor<1x2x2x2xf32>, tensor<1x1x2x2xf32>) outs(%f : tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  %1 = linalg.add ins(%0, %x : tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>) outs(%e : tensor<1x2x2x2xf32>) -> tensor<1x2x2x2xf32>
  return %1 : tensor<1x2x2x2xf32>
}
