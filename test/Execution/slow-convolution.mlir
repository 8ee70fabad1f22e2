// RUN: mct-run %s --input=%mct_data/digits_test.npy --samples=2 2>&1 | FileCheck %s

// oneDNN packs weights once, so they must be known when the module is compiled.
// CHECK: slow-convolution.mlir:[[# @LINE + 6]]:{{[0-9]+}}: remark: 'tosa.conv2d' op runs without oneDNN, slowly: its weights are not constant
// CHECK: samples 2
func.func @main(%arg0: tensor<1x8x8x1xf32>) -> tensor<1x1x1x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %w = tosa.exp %arg0 : (tensor<1x8x8x1xf32>) -> tensor<1x8x8x1xf32>
  %1 = tosa.tanh %arg0 : (tensor<1x8x8x1xf32>) -> tensor<1x8x8x1xf32>
  %0 = tosa.conv2d %1, %w, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x8x8x1xf32>, tensor<1x8x8x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  return %0 : tensor<1x1x1x1xf32>
}
