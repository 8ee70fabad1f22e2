// RUN: mct-opt %s --mct-fold-batch-norm --split-input-file | FileCheck %s

// A scaled kernel does not fit the thresholds that were chosen for it: they stayed where they were.
// CHECK-LABEL: func.func @scaled_outputs_need_other_thresholds
// CHECK:         tpc.quantize %{{.*}} as "conv" weight "kernel_attr" axes [0] : tensor<2x1x1x1xf32>
// CHECK:         tosa.conv2d
// CHECK-NEXT:    return
func.func @scaled_outputs_need_other_thresholds(%arg0: tensor<1x4x4x1xf32>) -> tensor<1x4x4x2xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %kernel = "tosa.const"() <{values = dense<2.0> : tensor<2x1x1x1xf32>}> : () -> tensor<2x1x1x1xf32>
  %bias = "tosa.const"() <{values = dense<1.0> : tensor<2xf32>}> : () -> tensor<2xf32>
  %scale = "tosa.const"() <{values = dense<[[[[2.0, 3.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [2.0, 2.0], bits = 8>) : tensor<2x1x1x1xf32>
  %0 = tosa.conv2d %arg0, %w, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  %1 = tosa.mul %0, %scale, %shift : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
  return %1 : tensor<1x4x4x2xf32>
}

// -----

// CHECK-LABEL: func.func @scaled_inputs_need_other_thresholds
// CHECK:         tpc.quantize %{{.*}} as "conv" weight "kernel_attr" axes [0] : tensor<1x1x1x2xf32>
// CHECK:         tosa.conv2d %arg0
func.func @scaled_inputs_need_other_thresholds(%arg0: tensor<1x4x4x2xf32>) -> tensor<1x4x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %kernel = "tosa.const"() <{values = dense<2.0> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %scale = "tosa.const"() <{values = dense<[[[[2.0, 3.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %w = tpc.quantize %kernel as "conv" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [2.0], bits = 8>) : tensor<1x1x1x2xf32>
  %0 = tosa.mul %arg0, %scale, %shift : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xi8>) -> tensor<1x4x4x2xf32>
  %1 = tosa.conv2d %0, %w, %zero, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  return %1 : tensor<1x4x4x1xf32>
}
