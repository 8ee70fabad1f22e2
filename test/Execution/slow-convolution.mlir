// RUN: mct-run %s --input=%mct_data/digits_test.npy --samples=2 2>&1 | FileCheck %s

// oneDNN takes one bias for each channel. One number is repeated when the module is compiled, so it must be known then.
// CHECK: slow-convolution.mlir:[[# @LINE + 9]]:{{[0-9]+}}: remark: 'tosa.conv2d' op runs without oneDNN, slowly: its bias is one number for all channels, and not constant
// CHECK: samples 2
func.func @main(%arg0: tensor<1x8x8x1xf32>) -> tensor<1x8x8x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w = "tosa.const"() <{values = dense<2.0> : tensor<2x1x1x1xf32>}> : () -> tensor<2x1x1x1xf32>
  %one = tosa.const_shape {values = dense<1> : tensor<1xindex>} : () -> !tosa.shape<1>
  %rows = tosa.reduce_max %arg0 {axis = 1 : i32} : (tensor<1x8x8x1xf32>) -> tensor<1x1x8x1xf32>
  %all = tosa.reduce_max %rows {axis = 2 : i32} : (tensor<1x1x8x1xf32>) -> tensor<1x1x1x1xf32>
  %bias = tosa.reshape %all, %one : (tensor<1x1x1x1xf32>, !tosa.shape<1>) -> tensor<1xf32>
  %0 = tosa.conv2d %arg0, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x8x8x1xf32>, tensor<2x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x8x2xf32>
  return %0 : tensor<1x8x8x2xf32>
}
