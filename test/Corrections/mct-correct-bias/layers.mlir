// Every kind of layer, in both IRs. Kernels of 1 become 0.5 and inputs are 1 in one sample and 3 in the other, so a
// layer that sums n inputs loses n on average.
// RUN: mct-opt %s --mct-correct-bias="calibration-data=%S/../Inputs/one_channel.npy" | FileCheck %s
// RUN: mct-opt %s --mct-correct-bias="calibration-data=%S/../Inputs/one_channel.npy function=nchw" | FileCheck %s --check-prefix=NCHW

// The taps of the depthwise kernel over the padding see nothing: of 9 there is one. The multiplier makes two channels.
// The transposed convolution makes 4 positions, each of one input. A matrix product without a bias gets an addition.
// CHECK-LABEL: func.func @main
// CHECK:         as "depthwise" {{.*}} bias_offset = [1.000000e+00, 1.000000e+00]
// CHECK:         as "transposed" {{.*}} bias_offset = [1.000000e+00]
// CHECK:         as "matmul" {{.*}} bias_offset = [1.000000e+00, 1.000000e+00]
// CHECK:         %[[PRODUCT:.*]] = tosa.matmul
// CHECK:         tosa.add %[[PRODUCT]], %{{.*}} : (tensor<1x1x2xf32>, tensor<1x1x2xf32>) -> tensor<1x1x2xf32>
// CHECK:         as "linalg" {{.*}} bias_offset = [1.000000e+00]
func.func @main(%arg0: tensor<1x1x1x1xf32>) -> (tensor<1x1x1x2xf32>, tensor<1x2x2x1xf32>, tensor<1x1x2xf32>, tensor<1x1x1x1xf32>) {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %two = "tosa.const"() <{values = dense<0.0> : tensor<2xf32>}> : () -> tensor<2xf32>
  %ones_dw = "tosa.const"() <{values = dense<1.0> : tensor<3x3x1x2xf32>}> : () -> tensor<3x3x1x2xf32>
  %w0 = tpc.quantize %ones_dw as "depthwise" weight "kernel_attr" axes [2, 3] parameters(#tpc.symmetric<threshold = [1.0, 1.0], bits = 2>) : tensor<3x3x1x2xf32>
  %0 = tosa.depthwise_conv2d %arg0, %w0, %two, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x1x1x1xf32>, tensor<3x3x1x2xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x2xf32>
  %ones_tr = "tosa.const"() <{values = dense<1.0> : tensor<1x2x2x1xf32>}> : () -> tensor<1x2x2x1xf32>
  %w1 = tpc.quantize %ones_tr as "transposed" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [1.0], bits = 2>) : tensor<1x2x2x1xf32>
  %1 = tosa.transpose_conv2d %arg0, %w1, %zero, %zero, %zero {acc_type = f32, out_pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x1x1x1xf32>, tensor<1x2x2x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x1xf32>
  %shape = tosa.const_shape {values = dense<1> : tensor<3xindex>} : () -> !tosa.shape<3>
  %row = tosa.reshape %arg0, %shape : (tensor<1x1x1x1xf32>, !tosa.shape<3>) -> tensor<1x1x1xf32>
  %ones_mm = "tosa.const"() <{values = dense<1.0> : tensor<1x1x2xf32>}> : () -> tensor<1x1x2xf32>
  %w2 = tpc.quantize %ones_mm as "matmul" weight "kernel_attr" axes [2] parameters(#tpc.symmetric<threshold = [1.0, 1.0], bits = 2>) : tensor<1x1x2xf32>
  %2 = tosa.matmul %row, %w2, %zero, %zero : (tensor<1x1x1xf32>, tensor<1x1x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x2xf32>
  %ones_la = arith.constant dense<1.0> : tensor<1x1x1x1xf32>
  %w3 = tpc.quantize %ones_la as "linalg" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [1.0], bits = 2>) : tensor<1x1x1x1xf32>
  %nothing = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x1x1x1xf32>
  %filled = linalg.fill ins(%nothing : f32) outs(%empty : tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32>
  %3 = linalg.conv_2d_nhwc_fhwc {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%arg0, %w3 : tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>) outs(%filled : tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32>
  return %0, %1, %2, %3 : tensor<1x1x1x2xf32>, tensor<1x2x2x1xf32>, tensor<1x1x2xf32>, tensor<1x1x1x1xf32>
}

// The channels of NCHW are not the last axis: channel 0 adds inputs 1 and 2 of [1, 2, 3, 6], channel 1 inputs 3 and 6.
// Both halve them; the factor of the samples is 2 on average.
// NCHW-LABEL: func.func @nchw
// NCHW:         as "linalg" {{.*}} bias_offset = [3.000000e+00, 9.000000e+00]
func.func @nchw(%arg0: tensor<1x1x1x1xf32>) -> tensor<1x2x1x2xf32> {
  %factors = "tosa.const"() <{values = dense<[[[[1.0, 2.0]], [[3.0, 6.0]]]]> : tensor<1x2x1x2xf32>}> : () -> tensor<1x2x1x2xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %x = tosa.mul %arg0, %factors, %shift : (tensor<1x1x1x1xf32>, tensor<1x2x1x2xf32>, tensor<1xi8>) -> tensor<1x2x1x2xf32>
  %identity = arith.constant dense<[[[[2.0]], [[0.0]]], [[[0.0]], [[2.0]]]]> : tensor<2x2x1x1xf32>
  %w = tpc.quantize %identity as "linalg" weight "kernel_attr" axes [0] parameters(#tpc.symmetric<threshold = [2.0, 2.0], bits = 2>) : tensor<2x2x1x1xf32>
  %nothing = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x2x1x2xf32>
  %filled = linalg.fill ins(%nothing : f32) outs(%empty : tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
  %0 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%x, %w : tensor<1x2x1x2xf32>, tensor<2x2x1x1xf32>) outs(%filled : tensor<1x2x1x2xf32>) -> tensor<1x2x1x2xf32>
  return %0 : tensor<1x2x1x2xf32>
}
