// A kernel of one output for each of eight inputs has eight thresholds, and as many variables as elements.
// RUN: mct-opt %s --tpc-attach-target=target=imx500 --mct-insert-quantizers --mct-select-weight-parameters --mct-make-trainable --mct-make-training-function | FileCheck %s

// 127 of 128 steps reach 0.5.
// CHECK:      weight "kernel_attr" axes [2, 3] {{.*}} parameters(#tpc.symmetric<threshold = {{\[}}[[T:0\.503937[0-9]+]], [[T]], [[T]], [[T]], [[T]], [[T]], [[T]], [[T]]], bits = 8>)
// CHECK:      func.func @main_training(
// CHECK-SAME:   %{{.*}}: tensor<1x6x6x8xf32>, %{{.*}}: tensor<8xf32>, %{{.*}}: tensor<1x1x8x1xf32>, %{{.*}}: tensor<3x3x8x1xf32>) -> tensor<1x4x4x8xf32>
func.func @main(%x: tensor<1x6x6x8xf32>) -> tensor<1x4x4x8xf32> {
  %k = "tosa.const"() <{values = dense<0.5> : tensor<3x3x8x1xf32>}> : () -> tensor<3x3x8x1xf32>
  %bias = "tosa.const"() <{values = dense<0.0> : tensor<8xf32>}> : () -> tensor<8xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.depthwise_conv2d %x, %k, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x6x6x8xf32>, tensor<3x3x8x1xf32>, tensor<8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x8xf32>
  return %0 : tensor<1x4x4x8xf32>
}
